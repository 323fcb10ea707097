"""What a workload kind offers: how its pods find each other, and the objects made from its plan."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from dynamo_render.kube.live import Object
from dynamo_render.kube.manifest import Manifest
from dynamo_render.plans.launch import Addressing, Role
from dynamo_render.scope import ComponentScope
from dynamo_render.values import Value, frozen

if TYPE_CHECKING:
    from dynamo_render.kube.shapes import Path, Shape


@frozen
class EffectivePod(Value):
    """One pod that a workload object leads to: its role, its rank among the nodes of a replica, its spec.

    *runtime_env* holds the variables that the orchestrator adds when the pod starts, as far as they are known offline.
    Appended ones beat those of the spec, which cannot refer to them; otherwise they stand first and give way.
    """

    component: str
    role: Role
    rank: int
    name: str
    spec: Mapping[str, Any]
    runtime_env: Mapping[str, str]
    runtime_env_is_appended: bool = False


@frozen
class PodTemplate(Value):
    """What an emitted object says about a number of equal *pods*; *name* is unique in the object.

    They are replaced when anything changes at or below one of the paths in *replaced_by*.
    """

    name: str
    pods: int
    spec: Mapping[str, Any]
    replaced_by: tuple[Path, ...]


@frozen
class Readiness(Value):
    """Whether a live workload serves what its spec asks for.

    *reason* says why not and is empty when it is ready. *service* is the replica status of its component, as a status
    holds it; None where there is nothing to count.
    """

    reason: str
    service: Mapping[str, Any] | None

    @property
    def ready(self) -> bool:
        """Whether the workload has processed its spec and every replica of it is up to date and serves."""
        return not self.reason


@frozen(kw_only=True)
class Workload(Value):
    """One workload kind.

    *build* makes the objects of a plan. An emitted object is told by *group* and *kind*; its *shape* says which entries
    of its lists are the same one after a change, *templates* yields which pods it runs, and *pods* those of one replica
    in full. *readiness* judges a live object, given its name, or that there is none. *addressing*, for kinds that span
    nodes, is used at plan time only.
    """

    build: Callable[[Any], tuple[Manifest, ...]]
    group: str
    kind: str
    shape: Callable[[], Shape]
    templates: Callable[[Manifest], Iterator[PodTemplate]] | None = None
    pods: Callable[[Manifest], Iterator[EffectivePod]] | None = None
    readiness: Callable[[str, Object | None], Readiness] | None = None
    addressing: Callable[[ComponentScope], Addressing] | None = None
