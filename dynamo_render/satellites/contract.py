"""What a satellite offers: what is planned for a graph or a component, and the objects made from that."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from dynamo_render.facts import FactQuery
from dynamo_render.kube.manifest import Manifest
from dynamo_render.scope import ComponentScope, GraphScope
from dynamo_render.spec.graph import GraphSpec
from dynamo_render.values import Value, frozen


@frozen
class Graph(Value):
    """A graph as satellites see it at plan time: scope, own fields, and components in service-name order."""

    scope: GraphScope
    spec: GraphSpec
    components: Sequence[ComponentScope]


@frozen(kw_only=True)
class GraphSatellite(Value):
    """Objects that a graph has once. *owned* is false for objects that several graphs of a namespace share."""

    planned: Callable[[Graph], Iterable[Any]]
    build: Callable[[Any], tuple[Manifest, ...]]
    owned: bool = True
    needs: Callable[[Graph], FactQuery] = lambda _graph: FactQuery()


@frozen(kw_only=True)
class ComponentSatellite(Value):
    """Objects that each component has."""

    planned: Callable[[ComponentScope], Iterable[Any]]
    build: Callable[[Any], tuple[Manifest, ...]]


@frozen(kw_only=True)
class RequestSatellite(Value):
    """Objects beside the profiling Job of a request, which plans them itself."""

    build: Callable[[Any], tuple[Manifest, ...]]
