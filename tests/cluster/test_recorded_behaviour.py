"""The released operator's recorded stories, played again with our controller on a real cluster in the shipped profile.

After each step the statuses of our resources and all other objects with their content are those that were recorded, but
for the differences that docs/controller/differences.md lists. Left out is what `tests.conformance.story_states` names
and, of objects that Kubernetes makes from ours, what is not in the recordings: Pods, ReplicaSets and EndpointSlices.
Events are compared in a test of their own, by the reasons that users look for.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import attrs
import pytest

from tests.cluster import bench, stories
from tests.cluster.bench import Bench
from tests.cluster.conftest import require
from tests.cluster.stories import Player
from tests.conformance import behaviour, deviations, story_states
from tests.conformance.story_differences import differences
from tests.conformance.story_states import State
from tests.fakes import real

Json = dict[str, Any]

STORIES = story_states.stories()
NAMES: list[Any] = list(STORIES) or [
    pytest.param("", marks=pytest.mark.skip(reason="no recorded stories beside the repository"), id="absent")
]
AT_ONE_TIME = 6
"""Stories that are played at one time, each in its own namespace."""

SOURCE = "dynamo-system"


TOLD = ("ValidationFailed", "Scaled", "AdapterDeleted", "ReconcileError")
"""Reasons of events that users look for; and that something has been created."""

LOST_RACE = "the object has been modified"
"""What the released operator says when two of its own writes met, which is no news."""

Played = list[State] | Exception

Event = tuple[str, str, str, str]
"""Kind and name of a resource, type and reason."""


@pytest.fixture(scope="module")
def stage(request: pytest.FixtureRequest, bench_logs: Path, definitions: list[Json | str]) -> Iterator[Bench]:
    """A cluster that holds nothing of other tests: here the controller looks at every namespace."""
    require(bench.CLUSTER_PROGRAMS, request.config)
    folder = bench_logs / "stories"
    folder.mkdir()
    with bench.cluster(folder, definitions) as started:
        yield started


@pytest.fixture(scope="module")
def played(stage: Bench) -> Mapping[str, Played]:
    """What the namespace of each story held after each step, or why a story could not be played."""
    _prepare(stage)
    return asyncio.run(_play_all(stage))


@pytest.mark.parametrize("story", NAMES)
def test_a_story_comes_out_as_recorded_but_for_the_listed_differences(played: Mapping[str, Played], story: str) -> None:
    recorded, ours = story_states.recorded_states(STORIES[story]), states_of(played[story])
    assert len(ours) == len(recorded)
    assert deviations.unexplained(differences(story, recorded, ours)) == []


def test_every_row_about_recorded_stories_covers_something(played: Mapping[str, Played]) -> None:
    if not STORIES:
        pytest.skip("no recorded stories beside the repository")
    found = [
        each
        for name, story in STORIES.items()
        for each in differences(name, story_states.recorded_states(story), states_of(played[name]))
    ]
    idle = [row.rule for row in deviations.rows(deviations.SEEN) if not any(row.covers(each) for each in found)]
    assert idle == []


@pytest.mark.parametrize("story", NAMES)
def test_events_that_users_look_for_are_told(stage: Bench, played: Mapping[str, Played], story: str) -> None:
    assert states_of(played[story])
    recorded = {
        (kind, name, sort, reason)
        for entry in STORIES[story]["trace"]
        for kind, name, sort, reason, message in entry["events"]
        if LOST_RACE not in message and (reason in TOLD or message.startswith("Created "))
    }
    listed = stage.client.get("v1", "Event", namespace=stories.namespace_of(STORIES[story]))["items"]
    assert recorded - {_event(live) for live in listed} == set()


def _event(live: Json) -> Event:
    subject = live["involvedObject"]
    return subject["kind"], subject["name"], live["type"], live["reason"]


def states_of(found: Played) -> list[State]:
    """Return the states of a story; raise why there are none."""
    if isinstance(found, Exception):
        raise found
    return found


async def _play_all(cluster: Bench) -> dict[str, Played]:
    settings = attrs.asdict(behaviour.SETTINGS, recurse=False)
    turns, listed = asyncio.Semaphore(AT_ONE_TIME), deviations.all_rows()
    async with real.running(cluster.kubeconfig, **settings) as at_work, stories.mirror(cluster) as seen:
        player = Player(cluster, seen, lambda: at_work.manager.is_idle)

        async def play(name: str) -> Played:
            recorded = story_states.recorded_states(STORIES[name])

            def agrees(states: list[State]) -> bool:
                index = len(states)
                latest = (each for each in differences(name, recorded, states) if len(each.mine) == index)
                return deviations.unexplained(latest, listed) == []

            async with turns:
                try:
                    return await player.play(STORIES[name], agrees)
                except Exception as error:  # noqa: BLE001 - one story that cannot be played must not end the others
                    return error

        return dict(zip(STORIES, await asyncio.gather(*map(play, STORIES)), strict=True))


def _prepare(cluster: Bench) -> None:
    """Make what the stories take for granted: the cluster roles, and the SSH key that graphs get a copy of."""
    for name in (behaviour.SETTINGS.planner_cluster_role, behaviour.SETTINGS.epp_cluster_role):
        metadata = {"name": name}
        cluster.client.apply(
            {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": metadata, "rules": []}
        )
    cluster.ensure_namespaces([SOURCE])
    key = {"private.key": "bm90IGEga2V5", "private.key.pub": "bm90IGEga2V5"}
    metadata = {"name": behaviour.SETTINGS.mpi_ssh_secret_name, "namespace": SOURCE}
    cluster.client.apply({"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "type": "Opaque", "data": key})
