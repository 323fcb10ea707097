"""One request as a pass sees it: its spec, the one that it started from if that was another, and its status."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import attrs

from dynamo_render.kinds.contract import Inputs, Reading
from dynamo_render.kinds.dynamo_graph_deployment_request import rules
from dynamo_render.kinds.dynamo_graph_deployment_request.rules import STARTED_FROM
from dynamo_render.kinds.shared.conditions import Status
from dynamo_render.kube import live
from dynamo_render.kube.live import Object
from dynamo_render.kube.structural import copied
from dynamo_render.profiles import Profile
from dynamo_render.settings import OperatorSettings
from dynamo_render.spec.request import DeploymentOverrides, ProfilingConfig, RequestSpec
from dynamo_render.values import Value, frozen

__all__ = ["ADDITIONAL", "GRAPH_UID", "STARTED_FROM", "Request", "request_of", "started_from"]

ADDITIONAL = "dgdr.nvidia.com/additional-resources"
GRAPH_UID = "dgdr.nvidia.com/deployment-uid"


@frozen(kw_only=True)
class Request(Value):
    """A request: *spec* is the one that counts, *resource* what is stored.

    *is_edited* says that these two disagree, *is_noted* that what profiling started from can be read at all.
    """

    resource: Object
    reading: Reading
    spec: RequestSpec
    is_edited: bool
    is_noted: bool
    inputs: Inputs

    @property
    def name(self) -> str:
        """The request's name."""
        return str(self.resource["metadata"]["name"])

    @property
    def namespace(self) -> str:
        """The request's namespace."""
        return self.resource["metadata"].get("namespace") or "default"

    @property
    def uid(self) -> str:
        """What tells the request from another one of its name; empty outside of a cluster."""
        return self.resource["metadata"].get("uid") or ""

    @property
    def generation(self) -> int:
        """The generation of the spec that counts; after an edit, the one before it."""
        observed = live.observed_generation(self.resource)
        return observed if self.is_edited and observed else live.generation(self.resource)

    @property
    def profile(self) -> Profile:
        """The profile of the pass."""
        return self.inputs.profile

    @property
    def settings(self) -> OperatorSettings:
        """The operator's settings."""
        return self.inputs.settings

    @property
    def status(self) -> Status:
        """A copy of the status, whose conditions have no times."""
        status: Status = copied(dict(live.status(self.resource)))
        if "conditions" in status:
            status["conditions"] = [_timeless(condition) for condition in status["conditions"]]
        return status

    @property
    def state(self) -> str:
        """The stage that the status tells; empty at first."""
        return str(live.status(self.resource).get("state") or "")

    @property
    def overrides(self) -> DeploymentOverrides:
        """What the graph gets instead of what profiling chose; nothing where overrides do not count."""
        counts = self.spec.auto_apply or not self.profile.overrides_need_auto_apply
        return (self.spec.deployment_overrides if counts else None) or DeploymentOverrides()

    def annotation(self, key: str) -> str:
        """Return an annotation of the request; empty without it."""
        return str((self.resource["metadata"].get("annotations") or {}).get(key) or "")


def request_of(resource: Object, inputs: Inputs) -> Request:
    """Return *resource* as a pass sees it."""
    started = _started_from(resource)
    is_edited = started is not None and started != resource.get("spec")
    counting = {**resource, "spec": started} if is_edited else resource
    reading = rules.read(counting, inputs.profile)
    spec: RequestSpec = reading.spec
    if reading.spec.profiling_config is None:  # which the schema has refused
        spec = attrs.evolve(spec, profiling_config=ProfilingConfig())
    return Request(
        resource=resource,
        reading=reading,
        spec=spec,
        is_edited=is_edited,
        is_noted=started is not None,
        inputs=inputs,
    )


def started_from(resource: Object) -> str:
    """Return the spec of *resource* as its annotation holds it."""
    return json.dumps(resource.get("spec"), separators=(",", ":"), sort_keys=True, ensure_ascii=False)


def _started_from(resource: Object) -> Mapping[str, Any] | None:
    """Return the spec that profiling started from; None before that, and where the annotation has been spoiled."""
    text = (resource["metadata"].get("annotations") or {}).get(STARTED_FROM)
    if not text or not live.status(resource).get("state"):
        return None
    try:
        spec = json.loads(text)
    except ValueError:
        return None
    return spec if isinstance(spec, dict) else None


def _timeless(condition: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in condition.items() if key != "lastTransitionTime"}
