"""The table of kinds: how each of ours is kept in place, and what is watched for it. One line for one kind."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from functools import partial

import attrs

from dynamo_controller import components, graphs, projection, reconcile, routes, scaling_adapters, stages
from dynamo_controller.apply import ADAPTER
from dynamo_controller.components import COMPONENT
from dynamo_controller.gather import ACCOUNT, CLAIM, SECRET, SLICE
from dynamo_controller.graphs import CLIQUE, GRAPH, SCALING_GROUP
from dynamo_controller.models import MODEL
from dynamo_controller.ports import Kind, Object
from dynamo_controller.reconcile import Done
from dynamo_controller.requests import REQUEST
from dynamo_controller.shell import Key, Shell, Stores
from dynamo_controller.store import Projection
from dynamo_render.kube.registries import PULL_SECRET_TYPE

Route = Callable[[Object | None, Object | None, Stores], Iterable[Key]]

RECONCILED: Mapping[Kind, Callable[[Key, Shell], Awaitable[Done]]] = {
    GRAPH: partial(reconcile.reconcile, graphs.RECIPE),
    COMPONENT: partial(reconcile.reconcile, components.RECIPE),
    ADAPTER: scaling_adapters.reconcile,
    MODEL: stages.reconcile,
    REQUEST: stages.reconcile,
}
"""How a pass over each of our kinds is made."""

CALLING = frozenset({MODEL})
"""Kinds whose passes wait for answers of pods: they have workers of their own, so that none of the others waits."""


@attrs.frozen(eq=False)
class Watched:
    """What is watched of one kind: what is *kept*, whom a change concerns, what selects objects.

    *belongs* names what else an object belongs to in its namespace. Kinds with many objects of which few are looked at
    together are kept *packed*.
    """

    kind: Kind
    keep: Projection
    route: Route
    fields: str = ""
    labels: str = ""
    belongs: Callable[[Object], str] = lambda _content: ""
    packed: bool = False


WATCHED: tuple[Watched, ...] = (
    Watched(GRAPH, projection.whole, routes.graph),
    Watched(COMPONENT, projection.whole, routes.controlled, packed=True),
    Watched(ADAPTER, projection.whole, routes.controlled, belongs=projection.scaled_graph),
    Watched(MODEL, projection.whole, routes.itself),
    Watched(REQUEST, projection.whole, routes.itself),
    Watched(SLICE, projection.endpoint_slice, routes.endpoint_slice, labels=projection.MODEL_HASH_LABEL),
    Watched(SECRET, projection.pull_secret, routes.pull_secret, f"type={PULL_SECRET_TYPE}"),
    Watched(ACCOUNT, projection.account, routes.account, belongs=projection.offered_to),
    Watched(CLAIM, projection.claim, routes.claim),
    Watched(CLIQUE, projection.clique, routes.clique, belongs=projection.graph_of),
    Watched(SCALING_GROUP, projection.clique, routes.clique, belongs=projection.graph_of),
    *(
        Watched(Kind(api_version, kind), projection.child, routes.child, packed=True)
        for api_version, kind in (
            ("v1", "Service"),
            ("v1", "ConfigMap"),
            ("apps/v1", "Deployment"),
            ("batch/v1", "Job"),
            ("networking.k8s.io/v1", "Ingress"),
            ("rbac.authorization.k8s.io/v1", "Role"),
            ("rbac.authorization.k8s.io/v1", "RoleBinding"),
            ("grove.io/v1alpha1", "PodCliqueSet"),
            ("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet"),
            ("scheduling.volcano.sh/v1beta1", "PodGroup"),
            ("networking.istio.io/v1beta1", "VirtualService"),
            ("inference.networking.k8s.io/v1", "InferencePool"),
        )
    ),
)
"""Our kinds and every kind that they lead to; those whose group is not served are watched when it is."""
