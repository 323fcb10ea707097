"""Labels and annotations of components: the user's beside the operator's own. rendering.md sections 16.5, 18 and 19."""

from __future__ import annotations

from collections.abc import Mapping

from dynamo_render.errors import Problem
from dynamo_render.kube import names
from dynamo_render.profiles import Profile
from dynamo_render.scope import METRICS_ANNOTATION
from dynamo_render.spec.component import ComponentSpec

COMPONENT = "nvidia.com/dynamo-component"
NAMESPACE = "nvidia.com/dynamo-namespace"
GRAPH = "nvidia.com/dynamo-graph-deployment-name"
SELECTOR = "nvidia.com/selector"
MODEL_HASH = "nvidia.com/dynamo-base-model-hash"
MODEL = "nvidia.com/dynamo-base-model"

OWNED_LABELS = frozenset(
    {
        COMPONENT,
        NAMESPACE,
        GRAPH,
        SELECTOR,
        MODEL_HASH,
        "nvidia.com/dynamo-component-type",
        "nvidia.com/dynamo-sub-component-type",
        "nvidia.com/dynamo-discovery-backend",
        "nvidia.com/dynamo-discovery-enabled",
        "nvidia.com/metrics-enabled",
        "nvidia.com/dynamo-deployment-target-type",
        "nvidia.com/managed-by",
        "kai.scheduler/queue",
        "role",
        "instance-id",
    }
)
OWNED_ANNOTATIONS = frozenset(
    {
        "nvidia.com/last-applied-hash",
        "nvidia.com/last-applied-generation",
        MODEL,
        "scheduling.k8s.io/group-name",
        "dgdr.nvidia.com/additional-resources",
    }
)

Path = tuple["str | int", ...]


class UserMetadata:
    """The labels and annotations that users may set on a component, without the operator's own if it keeps these."""

    def __init__(
        self,
        spec: ComponentSpec,
        profile: Profile,
        path: Path,
        problems: list[Problem],
        allowed: frozenset[str] = frozenset(),
    ) -> None:
        """Read the metadata of *spec*; the operator's keys that are *allowed* pass."""
        self._protected = profile.operator_metadata_is_protected
        self._path, self._problems, self._allowed = path, problems, allowed
        self.labels = self._kept(spec.labels, OWNED_LABELS, "labels")
        self.annotations = self._kept(spec.annotations, OWNED_ANNOTATIONS, "annotations")
        self.pod_labels: dict[str, str] = {}
        self.pod_annotations: dict[str, str] = {}
        extra = spec.extra_pod_metadata
        if extra is not None:
            self.pod_labels = self._kept(extra.labels, OWNED_LABELS, "extraPodMetadata", "labels")
            self.pod_annotations = self._kept(extra.annotations, OWNED_ANNOTATIONS, "extraPodMetadata", "annotations")

    def _kept(self, given: Mapping[str, str] | None, owned: frozenset[str], *field: str) -> dict[str, str]:
        result = dict(given) if given else {}
        if not self._protected or owned.isdisjoint(result):
            return result
        for key in sorted(owned.intersection(result) - self._allowed):
            del result[key]
            message = "belongs to the operator; the value given here is not used"
            self._problems.append(Problem("metadata/owned", (*self._path, *field, key), message, None, "warning"))
        return result


def identity_labels(service: str, dynamo_namespace: str, graph: str) -> dict[str, str]:
    """Return the labels that say which component of which graph an object belongs to."""
    return {COMPONENT: service, NAMESPACE: dynamo_namespace, GRAPH: graph}


def type_labels(spec: ComponentSpec) -> dict[str, str]:
    """Return the labels that say what kind of component a pod runs."""
    labels = {}
    if spec.component_type:
        labels["nvidia.com/dynamo-component-type"] = spec.component_type
    if spec.sub_component_type:
        labels["nvidia.com/dynamo-sub-component-type"] = spec.sub_component_type
    return labels


def model_labels(spec: ComponentSpec) -> dict[str, str]:
    """Return the label by which a model's Service finds its pods."""
    model = spec.model_ref
    return {MODEL_HASH: names.model_hash(model.name)} if model is not None and model.name else {}


def model_annotations(spec: ComponentSpec) -> dict[str, str]:
    """Return the annotation that spells the model out."""
    model = spec.model_ref
    return {MODEL: model.name} if model is not None and model.name else {}


def metrics_labels(annotations: Mapping[str, str]) -> dict[str, str]:
    """Return the label that has pods scraped, unless *annotations* turn it off."""
    return {} if annotations.get(METRICS_ANNOTATION) == "false" else {"nvidia.com/metrics-enabled": "true"}
