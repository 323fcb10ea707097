"""Small requests for tests, what their Jobs leave, and passes over them. Holds no expectation of its own."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from dynamo_render import OperatorSettings, machines
from dynamo_render.kinds.shared.machine import Annotate, Create, Delete, Outcome, Seen, Step
from dynamo_render.kube import manifest, text

Json = dict[str, Any]

REQUEST = "DynamoGraphDeploymentRequest"
SETTINGS = OperatorSettings(profiling_cluster_role="prof")
SHIPPED = OperatorSettings(profiling_cluster_role="prof", profile="0.9-shipped")


def request(name: str = "tiny", *, config: Any = None, metadata: Json | None = None, **spec: Any) -> Json:
    """Return a request in ``team``; *spec* has fields of its spec, those of profilingConfig among them."""
    profiling = {key: spec.pop(key) for key in ("configMapRef", "outputPVC", "profilerImage") if key in spec}
    own: Json = {"profilerImage": "prof:1", "config": {"sla": {"ttft": 200}} if config is None else config}
    return {
        "apiVersion": "nvidia.com/v1alpha1",
        "kind": REQUEST,
        "metadata": {"name": name, "namespace": "team", "uid": f"uid-of-{name}", "generation": 1, **(metadata or {})},
        "spec": {"model": "acme/chat", "backend": "vllm", "profilingConfig": {**own, **profiling}, **spec},
    }


def config_map(name: str, **data: str) -> Json:
    """Return a ConfigMap; in the names of its keys, two underscores stand for a dot."""
    content = {key.replace("__", "."): value for key, value in data.items()}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": "team"}, "data": content}


def generated(name: str = "gen", **metadata: Any) -> Json:
    """Return a graph as a profiler writes it."""
    image = {"mainContainer": {"image": "registry.test/rt:1"}}
    services = {"Frontend": {"componentType": "frontend", "replicas": 1, "extraPodSpec": image}}
    frame = {"apiVersion": "nvidia.com/v1alpha1", "kind": "DynamoGraphDeployment"}
    return {**frame, "metadata": {"name": name, **metadata}, "spec": {"services": services}}


DATA: Json = {
    "apiVersion": "v1",
    "kind": "ConfigMap",
    "metadata": {"name": "planner-profile-data"},
    "data": {"prefill_raw_data.json": '{"a": [1, 2]}'},
}


def output(*objects: Json, name: str = "tiny") -> Json:
    """Return the ConfigMap that a profiling Job leaves with *objects*, or with a graph and its data."""
    return config_map(
        f"dgdr-output-{name}", config_with_planner__yaml=text.write_documents(objects or (DATA, generated()))
    )


def job(*conditions: str, name: str = "tiny", message: str = "") -> Json:
    """Return the profiling Job of a request with *conditions* that are true."""
    owner = {"apiVersion": "nvidia.com/v1alpha1", "kind": REQUEST, "name": name, "uid": f"uid-of-{name}"}
    metadata = {"name": f"profile-{name}", "namespace": "team", "ownerReferences": [{**owner, "controller": True}]}
    status = {"conditions": [{"type": each, "status": "True", "message": message} for each in conditions]}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata, "status": status}


def role(name: str = "prof") -> Json:
    """Return the role that profilers are bound to."""
    return {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": name}}


def in_state(state: str, resource: Json | None = None, **status: Any) -> Json:
    """Return a request that has come to *state*, with the annotation that passes leave."""
    resource = resource or request()
    started = machines.advance(request_at_first(resource), settings=OperatorSettings(), seen=Seen()).actions
    notes = {k: v for each in started if isinstance(each, Annotate) for k, v in each.annotations.items()}
    metadata = {**resource["metadata"], "annotations": {**notes, **resource["metadata"].get("annotations", {})}}
    told = {"state": state, "observedGeneration": 1, "backend": "vllm", **status}
    return {**resource, "metadata": metadata, "status": told}


def request_at_first(resource: Json) -> Json:
    """Return *resource* as its user wrote it."""
    return {key: value for key, value in resource.items() if key != "status"}


class Pass:
    """One pass over a request among *objects*, all there are; *refused* has answers to actions by their id."""

    def __init__(
        self,
        resource: Json,
        *objects: Json,
        settings: OperatorSettings = SETTINGS,
        refused: dict[str, Outcome] | None = None,
    ) -> None:
        self.resource = resource
        self.objects = list(objects)
        self.settings = settings
        self.refused = refused or {}
        self.done: list[str] = []
        self.step = self._advanced()

    def _advanced(self) -> Step:
        seen = Seen()
        while True:
            while asked := machines.lookups(self.resource, settings=self.settings, seen=seen):
                for lookup in asked:
                    seen = seen.with_found(lookup, [each for each in self.objects if lookup.takes(each)])
            step = machines.advance(self.resource, settings=self.settings, seen=seen)
            if not step.waiting(seen):
                return step
            for action in step.waiting(seen):
                self.done.append(action.id)
                seen = seen.with_outcome(action.id, self.refused.get(action.id) or self._carried_out(action))

    def _carried_out(self, action: Any) -> Outcome:
        if isinstance(action, Delete):
            self.objects.remove(dict(action.target))
        elif isinstance(action, Annotate):
            annotations = {**self.resource["metadata"].get("annotations", {}), **action.annotations}
            self.resource = {**self.resource, "metadata": {**self.resource["metadata"], "annotations": annotations}}
        elif isinstance(action, Create):
            for each in self.objects:
                if manifest.identity(each) == manifest.identity(action.content):
                    return Outcome("exists", content=each)
            made = {**action.content, "metadata": {**action.content["metadata"], "uid": f"uid-{len(self.objects)}"}}
            if action.owned:
                owner = {"uid": self.resource["metadata"]["uid"], "controller": True}
                made["metadata"]["ownerReferences"] = [owner]
            self.objects.append(made)
            return Outcome("done", content=made)
        return Outcome("done")

    @property
    def status(self) -> Json:
        """The status after the pass."""
        return dict(self.resource.get("status", {})) if self.step.status is None else self.step.status

    @property
    def after(self) -> Json:
        """The request as it is stored after the pass."""
        return {**self.resource, "status": self.status}

    @property
    def events(self) -> list[str]:
        """The reasons of the events."""
        return [event.reason for event in self.step.events]

    def condition(self, kind: str) -> tuple[str, str, str]:
        """Return status, reason and message of a condition."""
        (found,) = [each for each in self.status.get("conditions", ()) if each["type"] == kind]
        return found["status"], found["reason"], found["message"]

    def made(self, kind: str) -> list[Json]:
        """Return the objects of one kind."""
        return of_kind(self.objects, kind)


def of_kind(objects: Iterable[Json], kind: str) -> list[Json]:
    """Return the *objects* of one kind, in their order."""
    return [each for each in objects if each["kind"] == kind]
