"""Metrics: names and labels of the specification, counts of what there is now, and requests that are counted."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families

from dynamo_controller import inventory
from dynamo_controller.adapters.log import JsonLog
from dynamo_controller.forwarding import Fenced
from dynamo_controller.ports import ClusterError, Kind, Request, Selection
from dynamo_controller.telemetry import Count, Counted, Metrics, error_type
from tests.fakes.clock import FakeClock
from tests.fakes.cluster import FakeCluster
from tests.fakes.stage import Stage, graph

Json = dict[str, Any]
GRAPH = "DynamoGraphDeployment"
CONFIG = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c", "namespace": "team"}, "data": {"a": "b"}}

OF_THE_SPECIFICATION = {
    "dynamo_operator_reconcile_duration_seconds": {"resource_type", "namespace", "result"},
    "dynamo_operator_reconcile_total": {"resource_type", "namespace", "result"},
    "dynamo_operator_reconcile_errors_total": {"resource_type", "namespace", "error_type"},
    "dynamo_operator_resources_total": {"resource_type", "namespace", "status"},
    "dynamo_operator_webhook_duration_seconds": {"resource_type", "operation"},
    "dynamo_operator_webhook_requests_total": {"resource_type", "operation", "result"},
    "dynamo_operator_webhook_denials_total": {"resource_type", "operation", "reason"},
}


async def page(metrics: Metrics) -> str:
    answer = await metrics.exposed(Request("GET", "/metrics"))
    assert answer.content_type.startswith("text/plain")
    return answer.body.decode()


async def test_the_page_has_the_metrics_of_the_specification_with_their_labels() -> None:
    metrics = Metrics()
    metrics.pass_ended(GRAPH, "team", "success", 0.2)
    metrics.pass_failed(GRAPH, "team", None)
    metrics.reviewed(GRAPH, "CREATE", is_allowed=False, seconds=0.1)
    metrics.count_resources(lambda: [Count(GRAPH, "team", "pending", 2)])
    found: dict[str, set[str]] = {}
    for family in text_string_to_metric_families(await page(metrics)):
        for sample in family.samples:
            name = sample.name.removesuffix("_bucket").removesuffix("_sum").removesuffix("_count")
            found.setdefault(name, set()).update(set(sample.labels) - {"le"})
    assert {name: found[name] for name in OF_THE_SPECIFICATION} == OF_THE_SPECIFICATION


async def test_the_page_has_no_times_of_creation() -> None:
    metrics = Metrics()
    metrics.pass_ended(GRAPH, "team", "success", 0.2)
    assert "_created" not in await page(metrics)
    assert "process_resident_memory_bytes" in await page(metrics)


def test_buckets_are_those_of_the_specification() -> None:
    metrics = Metrics()
    metrics.pass_ended(GRAPH, "team", "success", 0.03)
    labels = {"resource_type": GRAPH, "namespace": "team", "result": "success"}
    for bucket, expected in (("0.005", 0), ("0.025", 0), ("0.05", 1), ("60.0", 1), ("+Inf", 1)):
        name = "dynamo_operator_reconcile_duration_seconds_bucket"
        assert metrics.registry.get_sample_value(name, {**labels, "le": bucket}) == expected


def test_controllers_in_one_process_do_not_count_for_each_other() -> None:
    one, other = Metrics(), Metrics()
    one.retries.inc()
    assert other.registry.get_sample_value("dynamo_controller_queue_retries_total") == 0


@pytest.mark.parametrize(
    ("reason", "expected"),
    [("Invalid", "validation"), ("TooManyRequests", "rate_limited"), ("Unreachable", "internal"), ("", "internal")],
)
def test_what_the_cluster_says_has_one_word(reason: str, expected: str) -> None:
    assert error_type(ClusterError(500, reason, "no")) == expected


async def test_passes_are_counted_by_their_result_and_errors_by_their_cause() -> None:
    async with Stage() as stage:
        words = "cannot patch"
        refuse = [True]

        def fault(verb: str, target: Json) -> ClusterError | None:
            is_meant = refuse and verb == "apply" and target["kind"] == "DynamoComponentDeployment"
            return ClusterError(403, "Forbidden", words) if is_meant else None

        stage.cluster.faults.append(fault)
        await stage.add(graph())
        value = stage.manager._outside.metrics.registry.get_sample_value
        whose = {"resource_type": GRAPH, "namespace": "team"}
        failed = value("dynamo_operator_reconcile_total", {**whose, "result": "error"})
        assert failed
        assert value("dynamo_operator_reconcile_errors_total", {**whose, "error_type": "forbidden"}) == failed
        assert value("dynamo_controller_queue_retries_total") == failed
        refuse.clear()
        await stage.later(60)
        assert value("dynamo_operator_reconcile_total", {**whose, "result": "success"})


async def test_resources_are_counted_as_they_are_now() -> None:
    async with Stage() as stage:

        def counted() -> dict[tuple[str, str], int]:
            counts = stage.manager.tally.counts(stage.manager.leaves_out)
            return {(each.resource_type, each.status): each.number for each in counts}

        await stage.add(graph())
        assert counted() == {(GRAPH, "pending"): 1, ("DynamoComponentDeployment", "not_ready"): 2}
        await stage.roll_out()
        assert counted() == {(GRAPH, "successful"): 1, ("DynamoComponentDeployment", "ready"): 2}
        await stage.remove(GRAPH, "chat")
        assert counted() == {}


@pytest.mark.parametrize(
    ("kind", "status", "expected"),
    [
        (GRAPH, {}, "unknown"),
        (GRAPH, {"state": "failed"}, "failed"),
        ("DynamoGraphDeploymentRequest", {"state": "Profiling"}, "Profiling"),
        ("DynamoComponentDeployment", {"conditions": [{"type": "Available", "status": "False"}]}, "not_ready"),
        ("DynamoModel", {"totalEndpoints": 0, "readyEndpoints": 0}, "not_ready"),
        ("DynamoModel", {"totalEndpoints": 2, "readyEndpoints": 1}, "not_ready"),
        ("DynamoModel", {"totalEndpoints": 2, "readyEndpoints": 2}, "ready"),
        ("DynamoGraphDeploymentScalingAdapter", {"selector": "a=b", "replicas": 0}, "not_ready"),
        ("DynamoGraphDeploymentScalingAdapter", {"replicas": 1}, "not_ready"),
        ("DynamoGraphDeploymentScalingAdapter", {"selector": "a=b", "replicas": 1}, "ready"),
    ],
)
def test_the_status_of_a_resource_is_one_word(kind: str, status: Json, expected: str) -> None:
    """operator-config.md section 13.2."""
    assert inventory.STATUS[kind]({"kind": kind, "status": status}) == expected


async def test_changes_lists_and_watches_are_counted() -> None:
    metrics, cluster = Metrics(), FakeCluster()
    counted = Counted(cluster, metrics, FakeClock())
    value = metrics.registry.get_sample_value
    stored = await counted.create(CONFIG)
    with pytest.raises(ClusterError):
        await counted.create(CONFIG)
    await counted.delete(stored)
    selection = Selection(Kind("v1", "ConfigMap"))
    await counted.page(selection, limit=1)
    for _ in range(3):
        counted.watch(selection, "1")
    written = {"verb": "create", "kind": "ConfigMap"}
    assert value("dynamo_controller_api_writes_total", {**written, "result": "ok"}) == 1
    assert value("dynamo_controller_api_writes_total", {**written, "result": "already_exists"}) == 1
    assert value("dynamo_controller_lists_total", {"kind": "ConfigMap"}) == 1
    assert value("dynamo_controller_watch_restarts_total", {"kind": "ConfigMap"}) == 2


async def test_what_is_objected_to_is_not_sent_and_reads_are_never_objected_to() -> None:
    cluster = FakeCluster()
    stored = cluster.put({**CONFIG})
    fenced = Fenced(cluster, lambda target: f"not {target['kind']}")
    kind = Kind("v1", "ConfigMap")
    cluster.writes.clear()
    for attempt in (
        fenced.apply(CONFIG, force=True),
        fenced.create(CONFIG),
        fenced.delete(stored),
        fenced.merge(stored, {"data": {}}),
        fenced.merge_status(stored, {}),
        fenced.scale(kind, "team", "c", 3),
    ):
        with pytest.raises(ClusterError, match="ConfigMap was held back: not ConfigMap"):
            await attempt
    assert cluster.writes == []
    assert await fenced.get(kind, "team", "c") == stored


def test_the_log_leaves_out_what_is_below_its_level() -> None:
    stream = io.StringIO()
    log = JsonLog(stream, FakeClock(), "warning")
    log.write("info", "one")
    log.write("warning", "two", key="value")
    log.write("error", "three")
    lines = [json.loads(line) for line in stream.getvalue().splitlines()]
    assert [line["message"] for line in lines] == ["two", "three"]
    assert lines[0] == {"time": "2026-01-01T00:00:00Z", "level": "warning", "message": "two", "key": "value"}
