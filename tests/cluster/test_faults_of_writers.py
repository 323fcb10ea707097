"""Others who write at the same time, on a real cluster: faults F11 to F13, F28, F29 and F31."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

from tests.cluster import oracles, processes
from tests.cluster.bench import Bench
from tests.cluster.client import APPLY_PATCH, MERGE_PATCH
from tests.cluster.harms import Act, Asked
from tests.cluster.oracles import COMPONENT, GRAPH, OURS
from tests.cluster.trouble import CREATED, SoundRuns, Trouble, require_none, troubled
from tests.fakes.stage import graph, worker

Json = dict[str, Any]
APPS = "apps/v1"
OTHER = "somebody"
OK, CONFLICT = 200, 409
LIMIT = 30.0


def is_status_of_graph(asked: Asked) -> bool:
    return asked.is_write and asked.resource == "dynamographdeployments" and asked.subresource == "status"


def annotate(trouble: Trouble, value: str | None) -> None:
    """Annotate the graph as somebody who knows nothing of us."""
    path = trouble.bench.client.path(OURS, GRAPH, "chat", trouble.namespace)
    patch: Json = {"metadata": {"annotations": {"somebody.test/at": value}}}
    answer = trouble.bench.client.send("PATCH", path, patch, MERGE_PATCH)
    assert not answer.is_refusal, answer.message


def test_f11_a_status_that_conflicts_is_written_again_from_what_is_there(
    cluster: Bench, sound: SoundRuns, tmp_path: Path
) -> None:
    async def play() -> None:
        async with troubled(cluster, tmp_path, "f11-conflict") as trouble:
            harm = Act(where=is_status_of_graph, deed=lambda asked: annotate(trouble, str(asked.number)), times=4)
            trouble.proxy.harms.append(harm)
            await trouble.play(CREATED)
            refused = [each for each in trouble.proxy.asked if each.answered == [409]]
            assert [is_status_of_graph(each) for each in refused] == [True] * 4
            annotate(trouble, None)
            await trouble.holds(await sound.of(CREATED))

    asyncio.run(play())


def test_f12_fields_of_another_manager_are_left_and_taken_only_where_they_are_ours(
    cluster: Bench, sound: SoundRuns, tmp_path: Path
) -> None:
    async def play() -> None:
        async with troubled(cluster, tmp_path, "f12-managers") as trouble:
            await trouble.play(CREATED)
            theirs = {"metadata": {"labels": {"somebody.test/mine": "yes"}}, "spec": {"replicas": 3}}
            apply_as_other(trouble, theirs)
            await trouble.until(lambda: trouble.find("Deployment", "chat-worker", APPS)["spec"]["replicas"] == 1)
            live = trouble.find("Deployment", "chat-worker", APPS)
            assert live["metadata"]["labels"]["somebody.test/mine"] == "yes"
            owned = {entry["manager"]: entry["fieldsV1"] for entry in applies(live)}
            assert "f:replicas" in owned["dynamo-controller"]["f:spec"]
            assert "f:spec" not in owned[OTHER]
            assert owned[OTHER]["f:metadata"]["f:labels"] == {"f:somebody.test/mine": {}}
            apply_as_other(trouble, {})
            await trouble.holds(await sound.of(CREATED))

    asyncio.run(play())


def applies(live: Json) -> Iterator[Json]:
    return (entry for entry in live["metadata"]["managedFields"] if entry["operation"] == "Apply")


def apply_as_other(trouble: Trouble, content: Json) -> None:
    identity = {"name": "chat-worker", "namespace": trouble.namespace, **content.get("metadata", {})}
    whole = {"apiVersion": APPS, "kind": "Deployment", **content, "metadata": identity}
    path = trouble.bench.client.path(APPS, "Deployment", "chat-worker", trouble.namespace)
    answer = trouble.bench.client.send("PATCH", f"{path}?fieldManager={OTHER}&force=true", whole, APPLY_PATCH)
    assert not answer.is_refusal, answer.message


def test_f13_every_child_that_a_user_deletes_is_made_again(cluster: Bench, sound: SoundRuns, tmp_path: Path) -> None:
    async def play() -> None:
        async with troubled(cluster, tmp_path, "f13-deleted") as trouble:
            await trouble.play(CREATED)
            children = [each for each in oracles.live(cluster.client, trouble.namespace) if each["kind"] != GRAPH]
            assert len(children) > 7
            for child in children:
                # A component takes children with it that were to be deleted next.
                name = child["metadata"]["name"]
                path = cluster.client.path(child["apiVersion"], child["kind"], name, trouble.namespace)
                cluster.client.send("DELETE", path)
                await trouble.until(partial(is_another, cluster, path, child))
            await trouble.ready()
            await trouble.at_work.quiet()
            wanted = (await sound.of(CREATED)).state
            require_none("O1", oracles.differences(oracles.end_state(cluster.client, trouble.namespace), wanted))
            await trouble.rests()
            require_none("O5", oracles.touched(cluster.client, trouble.theirs))

    asyncio.run(play())


def is_another(cluster: Bench, path: str, before: Json) -> bool:
    answer = cluster.client.send("GET", path)
    return not answer.is_refusal and answer.body["metadata"]["uid"] != before["metadata"]["uid"]


def test_f28_no_status_tells_of_a_generation_that_is_not_there_yet_and_none_is_written_twice(
    cluster: Bench, sound: SoundRuns, tmp_path: Path
) -> None:
    story = (graph(), graph(Worker=worker(replicas=2)), graph(Decode=worker()))
    told: list[tuple[int, int]] = []

    async def play() -> None:
        async with troubled(cluster, tmp_path, "f28-status") as trouble:

            def compare(asked: Asked) -> None:
                now = trouble.find(GRAPH)["metadata"]["generation"]
                conditions = asked.content["status"].get("conditions", ())
                told.extend((each["observedGeneration"], now) for each in conditions)

            trouble.proxy.harms.append(Act(where=is_status_of_graph, deed=compare))
            await trouble.play(story)
            await trouble.holds(await sound.of(story))
            written = [each.content["status"] for each in trouble.proxy.writes(is_status_of_graph)]
            assert all(before != after for before, after in pairwise(written))
            # A generation is told when its children have been written, not before.
            first_told = next(each.number for each in trouble.proxy.writes(is_status_of_graph))
            children = trouble.proxy.writes(lambda asked: asked.resource == "dynamocomponentdeployments")
            assert [each.number < first_told for each in children[:2]] == [True, True]

    asyncio.run(play())
    assert told
    assert [pair for pair in told if pair[0] > pair[1]] == []


def test_f29_a_rollout_that_is_reverted_while_somebody_wipes_metadata_ends_where_it_began(
    cluster: Bench, sound: SoundRuns, tmp_path: Path
) -> None:
    changed = graph(Worker=worker(envs=[{"name": "PHASE", "value": "two"}]))

    async def play() -> None:
        async with troubled(cluster, tmp_path, "f29-revert") as trouble:
            await trouble.play(CREATED)
            for content in (changed, graph(), changed, graph()):
                before = generation(trouble)
                trouble.apply(content)
                await trouble.until(partial(is_newer, trouble, before))
                for kind, api_version in ((COMPONENT, OURS), ("Deployment", APPS)):
                    wipe(trouble, kind, api_version)
            await trouble.holds(await sound.of(CREATED), factor=12, templates=2)

    asyncio.run(play())


def generation(trouble: Trouble) -> int:
    return int(trouble.find("Deployment", "chat-worker", APPS)["metadata"]["generation"])


def is_newer(trouble: Trouble, before: int) -> bool:
    return generation(trouble) > before


def wipe(trouble: Trouble, kind: str, api_version: str) -> None:
    """Replace an object by itself without labels and annotations, as a careless editor does."""
    client, lost = trouble.bench.client, ("labels", "annotations", "managedFields")
    path = client.path(api_version, kind, "chat-worker", trouble.namespace)

    def is_replaced() -> bool:
        live = client.send("GET", path).body
        metadata = {key: value for key, value in live["metadata"].items() if key not in lost}
        answer = client.send("PUT", path, {**live, "metadata": metadata})
        assert answer.status in (OK, CONFLICT), answer.message
        return answer.status == OK

    processes.wait_until(is_replaced, seconds=LIMIT, what="replaced object")


def test_f31_of_a_hundred_changes_in_a_row_the_last_one_counts_and_passes_do_not_overlap(
    cluster: Bench, sound: SoundRuns, tmp_path: Path
) -> None:
    last = graph(Worker=worker(replicas=2))

    async def play() -> None:
        async with troubled(cluster, tmp_path, "f31-rapid") as trouble:
            await trouble.play(CREATED)
            contents = [graph(Worker=worker(replicas=1 + number % 3)) for number in range(100)]
            for content in (*contents, last):
                await asyncio.to_thread(trouble.apply, content)
            await trouble.holds(await sound.of((graph(), last)), factor=100)
            assert trouble.proxy.most_at_once[trouble.namespace, "chat"] == 1

    asyncio.run(play())
