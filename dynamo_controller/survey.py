"""One look at a whole cluster without watching it: what `facts` and `plan` go by."""

from __future__ import annotations

from random import Random

import dynamo_render
from dynamo_controller import gather
from dynamo_controller.kinds import RECONCILED
from dynamo_controller.manager import Outside
from dynamo_controller.ports import Object
from dynamo_controller.shell import Groups, Key, Shell
from dynamo_controller.watch import Surroundings
from dynamo_controller.watching import Watching
from dynamo_render import ClusterFacts, FactQuery, InvalidResource, OperatorSettings


async def surveyed(outside: Outside, settings: OperatorSettings) -> Shell:
    """Return a shell that knows the cluster as it is now. Raises ClusterError."""
    around = Surroundings(outside.cluster, outside.clock, outside.log, Random(0))  # noqa: S311 - never asked
    watching = Watching(around, settings.restricted_namespace, _sleep_on, lambda _uid: None)
    groups = await outside.cluster.groups()
    for reflector in watching.reflectors(groups):
        await reflector.list()
    return Shell(
        cluster=outside.cluster,
        clock=outside.clock,
        events=outside.events,
        log=outside.log,
        stores=watching.stores,
        groups=Groups(groups),
        settings=settings,
        endpoints=outside.endpoints,
    )


def _sleep_on(key: Key, *, urgent: bool = False) -> None:
    """Hear of a wake-up, and make no pass: a survey looks at everything once."""


def resources(shell: Shell) -> list[Object]:
    """Return every resource that a run would keep in place: kinds as their table has them, by namespace and name."""
    places = {kind.kind: place for place, kind in enumerate(RECONCILED)}
    return sorted(
        (resource for kind in RECONCILED for resource in shell.stores.all(kind)),
        key=lambda each: (places[each["kind"]], each["metadata"].get("namespace", ""), each["metadata"]["name"]),
    )


async def facts(shell: Shell) -> ClusterFacts:
    """Return everything that renders of the cluster's resources ask for; invalid resources ask for nothing."""
    query = FactQuery(nodes=True)
    for resource in resources(shell):
        try:
            query = query.joined(dynamo_render.needs(resource, shell.settings))
        except InvalidResource as error:
            shell.log.write("warning", f"{resource['metadata']['name']}: {error.problems[0].message}")
    return await gather.facts(query, shell)
