"""Operator settings that influence rendered objects. Specification: operator-config.md sections 2.2, 2.5 and 17.1."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import attrs

from dynamo_render.errors import InvalidSettings, Problem
from dynamo_render.values import Value, frozen

MINUTE_NS = 60 * 10**9


@frozen
class OperatorSettings(Value):
    """The settings of one operator; the same for every resource it renders.

    ``grove_termination_delay`` is in nanoseconds here; a mapping may also give a duration text such as ``15m``.
    """

    profile: str = "0.9"
    restricted_namespace: str = ""
    discovery_backend: str = "kubernetes"
    nats_address: str = ""
    etcd_address: str = ""
    model_express_url: str = ""
    prometheus_endpoint: str = ""
    ingress_class_name: str = ""
    ingress_tls_secret: str = ""
    ingress_host_suffix: str = ""
    virtual_service_gateway: str = ""
    virtual_service_supports_https: bool = False
    grove_termination_delay: int = 15 * MINUTE_NS
    mpi_ssh_secret_name: str = "mpi-run-ssh-secret"  # noqa: S105 - the name of a Secret, not its content
    mpi_ssh_secret_namespace: str = ""
    planner_cluster_role: str = ""
    epp_cluster_role: str = ""
    profiling_cluster_role: str = ""
    debugger_image: str = "python:3.12-slim"

    @classmethod
    def from_mapping(cls, mapping: Mapping[str, Any]) -> OperatorSettings:
        """Return the settings that *mapping* holds; raise InvalidSettings with every unknown key and wrong value."""
        from dynamo_render import records  # noqa: PLC0415 - cattrs is loaded only when a mapping is structured

        return records.structured(cls, with_delay_in_nanoseconds(mapping), InvalidSettings).checked()

    def checked(self) -> OperatorSettings:
        """Return these settings if they are usable; raise InvalidSettings otherwise."""
        problems = tuple(_problems(self))
        if problems:
            raise InvalidSettings(problems)
        return self if self.debugger_image else attrs.evolve(self, debugger_image="python:3.12-slim")


def with_delay_in_nanoseconds(mapping: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return *mapping* with the termination delay as integer nanoseconds, whichever way it was given.

    Accepted are ``grove_termination_delay`` as nanoseconds or duration text, and ``grove_termination_delay_seconds``.
    """
    from dynamo_render.kube import durations  # noqa: PLC0415 - only needed for durations that users write

    result = dict(mapping)
    text = result.get("grove_termination_delay")
    if isinstance(text, str):
        try:
            result["grove_termination_delay"] = durations.parse(text)
        except durations.InvalidDuration as error:
            raise InvalidSettings([Problem("settings/duration", ("grove_termination_delay",), str(error))]) from None
    seconds = result.get("grove_termination_delay_seconds")
    if isinstance(seconds, int | float) and not isinstance(seconds, bool):
        if "grove_termination_delay" in mapping:
            message = "is given in seconds and as grove_termination_delay; give one of them"
            raise InvalidSettings([Problem("settings/contradiction", ("grove_termination_delay_seconds",), message)])
        del result["grove_termination_delay_seconds"]
        result["grove_termination_delay"] = int(seconds * 10**9)
    return result


def _problems(settings: OperatorSettings) -> Iterable[Problem]:
    if settings.discovery_backend not in ("kubernetes", "etcd"):
        message = f'must be kubernetes or etcd, got "{settings.discovery_backend}"'
        yield Problem("settings/enum", ("discovery_backend",), message)
    if settings.model_express_url:
        from dynamo_render.kube import registries  # noqa: PLC0415 - few operators set it

        reason = registries.why_not_url(settings.model_express_url)
        if reason:
            yield Problem("settings/url", ("model_express_url",), f'"{settings.model_express_url}" is no URL: {reason}')
    if not settings.mpi_ssh_secret_name:
        yield Problem("settings/required", ("mpi_ssh_secret_name",), "must not be empty")
