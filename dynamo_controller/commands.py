"""What the commands of the program do, with everything passed in; they print nothing themselves."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import attrs

from dynamo_controller import survey
from dynamo_controller.kinds import RECONCILED
from dynamo_controller.manager import Outside
from dynamo_controller.planning import Plan, PlanningCluster
from dynamo_controller.ports import Cluster, Nobody
from dynamo_controller.process import Process
from dynamo_controller.reconcile import PassFailed
from dynamo_controller.settings import ControllerSettings
from dynamo_controller.shell import Key, Policy, Shell, key_of
from dynamo_render import ClusterFacts, OperatorSettings, write_documents


async def run(
    outside: Outside, settings: OperatorSettings, own: ControllerSettings, identity: str, stop: asyncio.Event
) -> None:
    """Keep all resources in place, and answer whoever asks, until *stop*. Raises CannotListen."""
    await Process(outside, settings, own, identity).run(stop)


MOST_PASSES = 10
"""Passes over one resource that a plan makes; those with stages go through several at once."""


async def facts(outside: Outside, settings: OperatorSettings) -> str:
    """Return the facts of the cluster as the text of a facts file. Raises ClusterError."""
    found = await survey.facts(await survey.surveyed(outside, settings))
    return write_documents([mapping_of(found)])


async def plan(outside: Outside, dry_run: Cluster, settings: OperatorSettings, policy: Policy | None = None) -> Plan:
    """Return what one pass over every resource would do, those included that such a pass would make.

    No pod is called.
    """
    planning = PlanningCluster(outside.cluster, dry_run)
    around = attrs.evolve(outside, cluster=planning, events=_Silent(), endpoints=Nobody())
    shell = attrs.evolve(await survey.surveyed(around, settings), policy=policy or Policy())
    seen: set[Key] = set()
    has_failed = False
    while todo := [key for key in map(key_of, survey.resources(shell)) if key not in seen]:
        for key in todo:
            seen.add(key)
            try:
                await _planned(key, shell)
            except PassFailed as error:
                has_failed = True
                outside.log.write("error", str(error), kind=key.kind.kind, namespace=key.namespace, name=key.name)
    return Plan(tuple(planning.planned), has_failed)


async def _planned(key: Key, shell: Shell) -> None:
    for _pass in range(MOST_PASSES):
        done = await RECONCILED[key.kind](key, shell)
        if done.look_again != 0:
            return


def mapping_of(found: ClusterFacts) -> dict[str, Any]:
    """Return facts as the mapping that `ClusterFacts.from_mapping` reads, without what it assumes anyway."""
    plain: dict[str, Any] = _plain(found)
    return plain


def _plain(value: Any) -> Any:
    if attrs.has(type(value)):
        fields = {field.name: getattr(value, field.name) for field in attrs.fields(type(value))}
        default = type(value)()
        return {name: _plain(inner) for name, inner in fields.items() if inner != getattr(default, name)}
    if isinstance(value, Mapping):
        return {key: _plain(inner) for key, inner in value.items()}
    if isinstance(value, frozenset):
        return sorted(value)
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    return value


class _Silent:
    """Events of a plan, which nobody is told."""

    async def tell(self, *_words: object) -> None:
        """Do nothing."""
