"""The recorded stories of requests and models, played again with our controller in the shipped profile.

As in the recordings there are no controllers but ours and no add-ons: the steps play Jobs and Deployments. Compared is
as in `test_recorded_behaviour`, with the same tables of deliberate differences.
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
from tests.cluster.client import Json
from tests.cluster.conftest import require
from tests.cluster.stories import Player
from tests.conformance import behaviour, deviations, story_states
from tests.conformance.story_differences import differences
from tests.conformance.story_states import State
from tests.fakes import real

STORIES = story_states.stories("behaviour-requests.jsonl")
NAMES: list[Any] = list(STORIES) or [
    pytest.param("", marks=pytest.mark.skip(reason="no recorded stories beside the repository"), id="absent")
]
AT_ONE_TIME = 6
"""Stories that are played at one time, each in its own namespace."""

ROLE = "prof"
OWN_SETTINGS = {"profiling_cluster_role": ROLE, "ingress_class_name": "", "ingress_host_suffix": ""}
"""Settings in which these recordings differ from the other ones."""

SOURCE = "dynamo-system"


@pytest.fixture(scope="module")
def bare_server(request: pytest.FixtureRequest, bench_logs: Path, own_definitions: list[Json | str]) -> Iterator[Bench]:
    """An API server with the definitions of this project only."""
    require(bench.API_SERVER_PROGRAMS, request.config)
    folder = bench_logs / "bare"
    folder.mkdir()
    with bench.api_server(folder, own_definitions) as started:
        yield started


@pytest.fixture(scope="module")
def played(bare_server: Bench) -> Mapping[str, list[State]]:
    """What the namespace of each story held after each step."""
    _prepare(bare_server)
    return asyncio.run(_play_all(bare_server))


@pytest.mark.parametrize("story", NAMES)
def test_a_story_comes_out_as_recorded_but_for_the_listed_differences(
    played: Mapping[str, list[State]], story: str
) -> None:
    recorded = story_states.recorded_states(STORIES[story])
    assert len(played[story]) == len(recorded)
    assert deviations.unexplained(differences(story, recorded, played[story])) == []


def test_every_row_about_these_stories_covers_something(played: Mapping[str, list[State]]) -> None:
    if not STORIES:
        pytest.skip("no recorded stories beside the repository")
    found = [
        each
        for name, story in STORIES.items()
        for each in differences(name, story_states.recorded_states(story), played[name])
    ]
    idle = [
        row.rule for row in deviations.rows(deviations.SEEN_OF_REQUESTS) if not any(row.covers(each) for each in found)
    ]
    assert idle == []


async def _play_all(server: Bench) -> dict[str, list[State]]:
    settings = {**attrs.asdict(behaviour.SETTINGS, recurse=False), **OWN_SETTINGS}
    turns, listed = asyncio.Semaphore(AT_ONE_TIME), deviations.all_rows()
    async with real.running(server.kubeconfig, **settings) as at_work, stories.mirror(server) as seen:
        player = Player(server, seen, lambda: at_work.manager.is_idle, replaces_statuses=True)

        async def play(name: str) -> list[State]:
            recorded = story_states.recorded_states(STORIES[name])

            def agrees(states: list[State]) -> bool:
                latest = (each for each in differences(name, recorded, states) if len(each.mine) == len(states))
                return deviations.unexplained(latest, listed) == []

            async with turns:
                return await player.play(STORIES[name], agrees)

        return dict(zip(STORIES, await asyncio.gather(*map(play, STORIES)), strict=True))


def _prepare(server: Bench) -> None:
    """Make what the stories take for granted: the cluster roles, and the SSH key that graphs get a copy of."""
    for name in (ROLE, behaviour.SETTINGS.planner_cluster_role, behaviour.SETTINGS.epp_cluster_role):
        role = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": name}}
        server.client.apply({**role, "rules": []})
    server.ensure_namespaces([SOURCE])
    key = {"private.key": "bm90IGEga2V5", "private.key.pub": "bm90IGEga2V5"}
    metadata = {"name": behaviour.SETTINGS.mpi_ssh_secret_name, "namespace": SOURCE}
    server.client.apply({"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "type": "Opaque", "data": key})
