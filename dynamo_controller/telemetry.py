"""What the controller measures: the metrics, by name, with their labels; nothing here decides or listens.

Every controller has a registry of its own. Specification: operator-config.md section 13.1; the metrics that start with
`dynamo_controller_` are this project's.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Mapping
from typing import NamedTuple

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4
from prometheus_client.metrics_core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from dynamo_controller.forwarding import Forwarding
from dynamo_controller.ports import (
    Answer,
    Clock,
    Cluster,
    ClusterError,
    Json,
    Object,
    Page,
    Request,
    Selection,
    WatchEvent,
)

PASS_BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)
REVIEW_BUCKETS = (0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5)
WAIT_BUCKETS = (0.001, 0.01, 0.1, 0.5, 1, 5, 10, 30, 60, 300)
REQUEST_BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)

ERROR_TYPES: Mapping[str, str] = {
    "NotFound": "not_found",
    "AlreadyExists": "already_exists",
    "Conflict": "conflict",
    "Invalid": "validation",
    "BadRequest": "bad_request",
    "Unauthorized": "unauthorized",
    "Forbidden": "forbidden",
    "Timeout": "timeout",
    "ServerTimeout": "server_timeout",
    "ServiceUnavailable": "unavailable",
    "TooManyRequests": "rate_limited",
}
"""The words of metrics for the API's own reasons; everything else is `internal`."""


class Count(NamedTuple):
    """How many resources of one kind in one namespace have one status."""

    resource_type: str
    namespace: str
    status: str
    number: int


class Metrics:
    """The metrics of one controller. Attributes are instruments; methods feed several of them at once."""

    def __init__(self) -> None:
        """Measure nothing yet."""
        self.registry = CollectorRegistry()
        self._of_passes(self.registry)
        self._of_the_process(self.registry)
        self._of_the_webhook(self.registry)
        ProcessCollector(registry=self.registry)

    def _of_passes(self, registry: CollectorRegistry) -> None:
        whose = ("resource_type", "namespace", "result")
        self.pass_seconds = Histogram(
            "dynamo_operator_reconcile_duration_seconds",
            "Seconds that a pass over a resource took",
            whose,
            buckets=PASS_BUCKETS,
            registry=registry,
        )
        self.passes = Counter("dynamo_operator_reconcile", "Passes over resources", whose, registry=registry)
        self.errors = Counter(
            "dynamo_operator_reconcile_errors",
            "Passes that failed, by what the cluster said",
            ("resource_type", "namespace", "error_type"),
            registry=registry,
        )
        self.wait_seconds = Histogram(
            "dynamo_controller_queue_wait_seconds",
            "Seconds from the first wake-up of a resource to the start of its pass",
            buckets=WAIT_BUCKETS,
            registry=registry,
        )
        self.retries = Counter(
            "dynamo_controller_queue_retries", "Passes that were put off after a failure", registry=registry
        )
        self.queued = Gauge("dynamo_controller_queue_depth", "Resources that wait for a pass, now", registry=registry)

    def _of_the_process(self, registry: CollectorRegistry) -> None:
        self.writes = Counter(
            "dynamo_controller_api_writes",
            "Changes that the API server was asked for, by its answer",
            ("verb", "kind", "result"),
            registry=registry,
        )
        self.write_seconds = Histogram(
            "dynamo_controller_api_write_duration_seconds",
            "Seconds until the API server had answered a change",
            ("verb",),
            buckets=REQUEST_BUCKETS,
            registry=registry,
        )
        self.watches = Counter(
            "dynamo_controller_watch_restarts",
            "Watches that were begun again after they had ended or broken",
            ("kind",),
            registry=registry,
        )
        self.lists = Counter(
            "dynamo_controller_lists",
            "Lists that were asked for, at the start and after a gap",
            ("kind",),
            registry=registry,
        )
        self.events = Counter(
            "dynamo_controller_events",
            "Events that were told beside resources, those that were not written again among them",
            ("type", "reason"),
            registry=registry,
        )
        self.events_dropped = Counter(
            "dynamo_controller_events_dropped",
            "Events that were told and not recorded: too many at once, the lead lost, or no time at a stop",
            registry=registry,
        )
        self.leading = Gauge(
            "dynamo_controller_leader", "1 while this process leads or no lead is needed, else 0", registry=registry
        )
        self.ready = Gauge("dynamo_controller_ready", "1 while /readyz says so, else 0", registry=registry)
        self.marked = Gauge(
            "dynamo_controller_marked_namespaces",
            "Namespaces that are left to a restricted operator",
            registry=registry,
        )

    def _of_the_webhook(self, registry: CollectorRegistry) -> None:
        self.review_seconds = Histogram(
            "dynamo_operator_webhook_duration_seconds",
            "Seconds that the answer to an admission review took",
            ("resource_type", "operation"),
            buckets=REVIEW_BUCKETS,
            registry=registry,
        )
        self.reviews = Counter(
            "dynamo_operator_webhook_requests",
            "Admission reviews",
            ("resource_type", "operation", "result"),
            registry=registry,
        )
        self.denials = Counter(
            "dynamo_operator_webhook_denials",
            "Admission reviews that were denied; the rules of the renderer are the one reason",
            ("resource_type", "operation", "reason"),
            registry=registry,
        )

    def pass_ended(self, kind: str, namespace: str, result: str, seconds: float) -> None:
        """Count a pass: its *result* is success, requeue or error."""
        self.passes.labels(kind, namespace, result).inc()
        self.pass_seconds.labels(kind, namespace, result).observe(seconds)

    def pass_failed(self, kind: str, namespace: str, cause: ClusterError | None) -> None:
        """Count why a pass failed."""
        self.errors.labels(kind, namespace, error_type(cause)).inc()

    def reviewed(self, kind: str, operation: str, is_allowed: bool, seconds: float) -> None:  # noqa: FBT001 - a callback
        """Count an answer of the webhook."""
        self.reviews.labels(kind, operation, "allowed" if is_allowed else "denied").inc()
        self.review_seconds.labels(kind, operation).observe(seconds)
        if not is_allowed:
            self.denials.labels(kind, operation, "internal").inc()

    def count_resources(self, count: Callable[[], Iterable[Count]]) -> None:
        """Tell from now on how many resources there are, counted anew whenever somebody asks."""
        self.registry.register(_Resources(count))

    async def exposed(self, _request: Request) -> Answer:
        """Answer with everything that was measured, in Prometheus' text format."""
        return Answer(200, generate_latest(_WithoutCreationTimes(self.registry)), CONTENT_TYPE_PLAIN_0_0_4)


def error_type(cause: ClusterError | None) -> str:
    """Return the word of metrics for what the cluster said."""
    return ERROR_TYPES.get(cause.reason, "internal") if cause is not None else "internal"


class Counted(Forwarding):
    """A cluster whose requests are counted."""

    def __init__(self, inner: Cluster, metrics: Metrics, clock: Clock) -> None:
        """Count nothing yet."""
        super().__init__(inner)
        self._metrics = metrics
        self._clock = clock
        self._watched: set[Selection] = set()

    async def change(self, verb: str, target: Object, send: Callable[[], Awaitable[Json]]) -> Json:
        """Count one change and its answer."""
        started, result = self._clock.monotonic(), "ok"
        try:
            return await send()
        except ClusterError as error:
            result = error_type(error)
            raise
        finally:
            self._metrics.writes.labels(verb, target["kind"], result).inc()
            self._metrics.write_seconds.labels(verb).observe(self._clock.monotonic() - started)

    async def page(self, selection: Selection, *, limit: int, next_page: str = "") -> Page:
        """Count every list by its first page, and return a part of it."""
        if not next_page:
            self._metrics.lists.labels(selection.kind.kind).inc()
        return await super().page(selection, limit=limit, next_page=next_page)

    def watch(self, selection: Selection, resource_version: str) -> AsyncIterator[WatchEvent]:
        """Count every watch of a selection after its first, and yield what happens."""
        if selection in self._watched:
            self._metrics.watches.labels(selection.kind.kind).inc()
        self._watched.add(selection)
        return super().watch(selection, resource_version)


class _Resources(Collector):
    """Counts of now: what is gone is not told any more."""

    def __init__(self, count: Callable[[], Iterable[Count]]) -> None:
        self._count = count

    def describe(self) -> Iterator[Metric]:
        yield self._family()

    def collect(self) -> Iterator[Metric]:
        family = self._family()
        for kind, namespace, status, number in self._count():
            family.add_metric((kind, namespace, status), number)
        yield family

    def _family(self) -> GaugeMetricFamily:
        return GaugeMetricFamily(
            "dynamo_operator_resources_total",
            "Resources by what their status says, now",
            labels=("resource_type", "namespace", "status"),
        )


class _WithoutCreationTimes(Collector):
    """A registry without the times at which series began: they double the page and nobody asks for them."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._registry = registry

    def collect(self) -> Iterator[Metric]:
        for family in self._registry.collect():
            kept = Metric(family.name, family.documentation, family.type, family.unit)
            kept.samples = [sample for sample in family.samples if not sample.name.endswith("_created")]
            yield kept
