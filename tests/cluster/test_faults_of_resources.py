"""Resources that are wrong, too large, or go from one shape to another and back: F19, F34 and F35 on a real cluster."""

from __future__ import annotations

import asyncio
from collections import Counter
from functools import partial
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings

from tests.cluster import oracles
from tests.cluster.bench import Bench
from tests.cluster.client import RefusedError
from tests.cluster.harms import Refusal
from tests.cluster.oracles import GRAPH, OURS
from tests.cluster.trouble import CREATED, SoundRuns, Trouble, require_none, troubled
from tests.fakes.stage import graph, worker
from tests.strategies.graphs import graphs

Json = dict[str, Any]
CROWD, SHAPES, ACCEPTED = 60, 40, 6
INVALID: Json = {"services": {"Worker": worker(replicas=0), "worker": worker(replicas=0)}}
"""Two services whose objects would have the same names; a server's schema cannot see that."""


def small(name: str) -> Json:
    content = graph(name)
    content["spec"]["services"] = {"Worker": worker(replicas=0)}
    return content


def condition(trouble: Trouble, name: str) -> Json:
    found = trouble.find(GRAPH, name)
    conditions = found.get("status", {}).get("conditions") or [{}]
    return {**conditions[0], "generation": found["metadata"]["generation"]}


def is_told(trouble: Trouble, name: str, generation: int | None = None) -> bool:
    """Whether the status is about the newest spec, good or bad."""
    found = condition(trouble, name)
    return found.get("observedGeneration") == (generation or found["generation"])


def has_failed(trouble: Trouble, name: str) -> bool:
    """Whether the server has refused a part of it, or something that it needs is not there."""
    return condition(trouble, name).get("reason") == "failed_to_reconcile_the_resources"


def events(trouble: Trouble, name: str) -> Counter[str]:
    found = trouble.bench.client.get("v1", "Event", namespace=trouble.namespace)["items"]
    return Counter(each["reason"] for each in found if each["involvedObject"]["name"] == name)


def test_f19_graphs_that_always_fail_are_told_so_and_do_not_hold_up_a_crowd(cluster: Bench, tmp_path: Path) -> None:
    invalid = {**small("poison-invalid"), "spec": INVALID}
    refusal = Refusal(
        where=lambda asked: asked.is_write and asked.name.startswith("poison-refused-"),
        status=500,
        reason="InternalError",
    )

    async def play() -> None:
        async with troubled(cluster, tmp_path, "f19-poison", refusal) as trouble:
            for content in (invalid, small("poison-refused"), *(small(f"good-{number}") for number in range(CROWD))):
                await asyncio.to_thread(trouble.apply, content)
            good = [f"good-{number}" for number in range(CROWD)]
            await trouble.until(lambda: all_ready(trouble, good))
            await trouble.until(lambda: "reason" in condition(trouble, "poison-refused"))
            assert condition(trouble, "poison-invalid")["reason"] == "ValidationFailed"
            assert "spec.services" in condition(trouble, "poison-invalid")["message"]
            assert condition(trouble, "poison-refused")["status"] == "False"
            attempts = refusal.done
            await asyncio.sleep(5)
            # Delays double from a tenth of a second: what has failed for a while is rarely tried.
            assert refusal.done - attempts <= 6
            assert events(trouble, "poison-invalid")["ValidationFailed"] == 1
            assert events(trouble, "poison-refused")["ReconcileError"] == 1
            trouble.proxy.harms.clear()
            await trouble.until(lambda: is_ready(trouble, "poison-refused"), seconds=180)

    asyncio.run(play())


def all_ready(trouble: Trouble, names: list[str]) -> bool:
    found = trouble.bench.client.get(OURS, GRAPH, namespace=trouble.namespace)["items"]
    states = {each["metadata"]["name"]: each.get("status", {}).get("state") for each in found}
    return all(states.get(name) == "successful" for name in names)


def is_ready(trouble: Trouble, name: str) -> bool:
    return condition(trouble, name).get("status") == "True"


def shapes() -> list[Json]:
    """Return specs of all sorts, the same in every run: valid ones, and some that are not."""
    found: list[Json] = []

    @settings(max_examples=SHAPES, derandomize=True, database=None, suppress_health_check=list(HealthCheck))
    @given(graphs(multinode=False))
    def collect(drawn: Json) -> None:
        found.append(drawn["spec"])

    collect()
    return found


def test_f34_whatever_a_graph_becomes_it_comes_back_to_what_it_was(
    cluster: Bench, sound: SoundRuns, tmp_path: Path
) -> None:
    async def play() -> None:
        wanted = without_claims((await sound.of(CREATED)).state)
        taken = 0
        async with troubled(cluster, tmp_path, "f34-shapes") as trouble:
            await trouble.play(CREATED)
            for spec in (INVALID, *shapes()):
                try:
                    await asyncio.to_thread(trouble.apply, {**graph(), "spec": spec})
                except RefusedError:
                    continue
                taken += 1
                await trouble.until(lambda: is_told(trouble, "chat") or has_failed(trouble, "chat"))
                trouble.apply(graph())
                await trouble.ready()
                await trouble.at_work.quiet()
                found = without_claims(oracles.end_state(cluster.client, trouble.namespace))
                require_none(f"O1 after {spec}", oracles.differences(found, wanted))
            await trouble.rests()
            require_none("O5", oracles.touched(cluster.client, trouble.theirs))
        assert taken >= ACCEPTED

    asyncio.run(play())


def without_claims(state: Any) -> dict[str, Json]:
    """Claims stay: they hold their user's data."""
    return {name: content for name, content in state.items() if not name.startswith("PersistentVolumeClaim/")}


def test_f35_names_over_their_limits_are_refused_before_anything_is_written(cluster: Bench, tmp_path: Path) -> None:
    name = "l" * 60

    async def play() -> None:
        async with troubled(cluster, tmp_path, "f35-names") as trouble:
            trouble.apply(graph(name))
            await trouble.until(partial(is_told, trouble, name))
            told = condition(trouble, name)
            assert (told["status"], told["reason"]) == ("False", "ValidationFailed")
            assert "spec.services.Worker" in told["message"]
            assert "at most 63" in told["message"]
            assert [each.target for each in trouble.proxy.writes() if each.name != name] == []

    asyncio.run(play())


def test_f35_annotations_over_their_limit_are_told_in_the_words_of_the_server(cluster: Bench, tmp_path: Path) -> None:
    large = graph("large", Worker=worker(annotations={"large.test/a": "x" * 262_145}))

    async def play() -> None:
        async with troubled(cluster, tmp_path, "f35-annotations") as trouble:
            trouble.apply(large)
            await trouble.until(lambda: condition(trouble, "large").get("status") == "False")
            await trouble.until(lambda: "Too long" in condition(trouble, "large")["message"])
            assert "annotations" in condition(trouble, "large")["message"]

    asyncio.run(play())


def test_f35_a_graph_as_large_as_etcd_takes_is_told_what_does_not_fit_and_leaves_others_alone(
    cluster: Bench, tmp_path: Path
) -> None:
    """Its component is larger than itself, by labels and defaults, and does not fit any more."""
    values = [{"name": f"BULK_{number}", "value": "x" * 100_000} for number in range(7)]
    bulky = graph("bulky", Worker=worker(envs=values))

    async def play() -> None:
        async with troubled(cluster, tmp_path, "f35-bulky") as trouble:
            trouble.apply(bulky)
            trouble.apply(small("slim"))
            await trouble.until(lambda: is_ready(trouble, "slim"))
            await trouble.until(lambda: is_told(trouble, "bulky") or "message" in condition(trouble, "bulky"))
            assert trouble.at_work.log.mistakes() == []

    asyncio.run(play())
