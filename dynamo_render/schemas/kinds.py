"""The kinds of the API group as data: names, columns, subresources, and the classes of spec and status.

Specification: api.md section 1. What a kind renders to is not known here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from dynamo_render.kube import schema_forms
from dynamo_render.kube.schema_nodes import STRING, Field, Ref, Scalar, Struct
from dynamo_render.spec import component, graph, model, request, scaling_adapter, status, worker_metadata
from dynamo_render.spec.structure import struct_of
from dynamo_render.values import Value, frozen

GROUP: Final = "nvidia.com"
VERSION: Final = "v1alpha1"
API_VERSION: Final = f"{GROUP}/{VERSION}"
SCOPE: Final = "Namespaced"

METADATA: Final = Ref("meta/v1.ObjectMeta")
TEXT_PARAMETERS: Final = Scalar("bytes")

_RELEASE_ANNOTATIONS: Final = {
    "controller-gen.kubebuilder.io/version": "v0.16.4",
    "helm.sh/resource-policy": "keep",
}


@frozen
class Column(Value):
    """A column that ``kubectl get`` prints: its heading, its type and where its value is."""

    name: str
    type: str
    path: str


@frozen
class Scale(Value):
    """Where the scale subresource finds its three values."""

    spec_replicas: str
    status_replicas: str
    selector: str


@frozen(kw_only=True)
class CustomKind(Value):
    """One kind: how it is called, how it is listed, and the classes of what it holds."""

    name: str
    short_name: str
    spec: type
    status: type | None = None
    columns: tuple[Column, ...]
    scale: Scale | None = None
    annotations: Mapping[str, str] = _RELEASE_ANNOTATIONS

    @property
    def singular(self) -> str:
        """The name in paths and file names."""
        return self.name.lower()

    @property
    def plural(self) -> str:
        """The name of the resource in the API."""
        return f"{self.singular}s"

    @property
    def list_kind(self) -> str:
        """The kind of a list of these."""
        return f"{self.name}List"


def _age(name: str = "Age") -> Column:
    return Column(name, "date", ".metadata.creationTimestamp")


GRAPH_DEPLOYMENT: Final = CustomKind(
    name="DynamoGraphDeployment",
    short_name="dgd",
    spec=graph.GraphSpec,
    status=status.GraphStatus,
    columns=(
        Column("Ready", "string", '.status.conditions[?(@.type=="Ready")].status'),
        Column("Backend", "string", ".spec.backendFramework"),
        _age(),
    ),
)
COMPONENT_DEPLOYMENT: Final = CustomKind(
    name="DynamoComponentDeployment",
    short_name="dcd",
    spec=component.ComponentDeploymentSpec,
    status=status.ComponentDeploymentStatus,
    columns=(
        # No such field exists: the column is always empty, and stays because the released definition has it.
        Column("DynamoComponent", "string", ".spec.dynamoComponent"),
        Column("Available", "string", ".status.conditions[?(@.type=='Available')].status"),
        Column("Backend", "string", ".spec.backendFramework"),
        _age(),
    ),
)
GRAPH_DEPLOYMENT_REQUEST: Final = CustomKind(
    name="DynamoGraphDeploymentRequest",
    short_name="dgdr",
    spec=request.RequestSpec,
    status=request.RequestStatus,
    columns=(
        Column("Model", "string", ".spec.model"),
        Column("Backend", "string", ".status.backend"),
        Column("State", "string", ".status.state"),
        Column("DGD-State", "string", ".status.deployment.state"),
        _age(),
    ),
)
SCALING_ADAPTER: Final = CustomKind(
    name="DynamoGraphDeploymentScalingAdapter",
    short_name="dgdsa",
    spec=scaling_adapter.ScalingAdapterSpec,
    status=scaling_adapter.ScalingAdapterStatus,
    columns=(
        Column("DGD", "string", ".spec.dgdRef.name"),
        Column("SERVICE", "string", ".spec.dgdRef.serviceName"),
        Column("REPLICAS", "integer", ".status.replicas"),
        _age("AGE"),
    ),
    scale=Scale(".spec.replicas", ".status.replicas", ".status.selector"),
)
MODEL: Final = CustomKind(
    name="DynamoModel",
    short_name="dm",
    spec=model.ModelSpec,
    status=model.ModelStatus,
    columns=(
        Column("BaseModel", "string", ".spec.baseModelName"),
        Column("Type", "string", ".spec.modelType"),
        Column("Ready", "integer", ".status.readyEndpoints"),
        Column("Total", "integer", ".status.totalEndpoints"),
        _age(),
    ),
)
WORKER_METADATA: Final = CustomKind(
    name="DynamoWorkerMetadata",
    short_name="dwm",
    spec=worker_metadata.WorkerMetadataSpec,
    columns=(_age(),),
    annotations={},
)

KINDS: Final[Mapping[str, CustomKind]] = {
    kind.name: kind
    for kind in (
        GRAPH_DEPLOYMENT,
        COMPONENT_DEPLOYMENT,
        GRAPH_DEPLOYMENT_REQUEST,
        SCALING_ADAPTER,
        MODEL,
        WORKER_METADATA,
    )
}


def find(word: str) -> CustomKind | None:
    """Return the kind that *word* names as kubectl takes it: kind, plural, singular or short name, in any case."""
    wanted = word.lower().removesuffix(f".{GROUP}")
    return next((kind for kind in KINDS.values() if wanted in {kind.singular, kind.plural, kind.short_name}), None)


def resource_struct(kind: CustomKind, *, text_parameters: bool = False) -> Struct:
    """Return the schema of a whole resource of *kind*.

    With *text_parameters*, the parameters of endpoint picker plugins are base64 text, as the released definitions have
    them; without, they are whatever JSON the plugin takes.
    """
    fields = {
        "apiVersion": Field(STRING),
        "kind": Field(STRING),
        "metadata": Field(METADATA, "always"),
        "spec": Field(struct_of(kind.spec), "always"),
    }
    if kind.status is not None:
        fields["status"] = Field(struct_of(kind.status), "always")
    whole = Struct(kind.name, fields)
    if text_parameters:
        whole = schema_forms.replaced(whole, component.PLUGIN_PARAMETERS, TEXT_PARAMETERS)  # type: ignore[assignment]
    return whole
