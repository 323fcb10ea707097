"""API servers and etcd that go away, freeze, run full, forget or lag: faults F4, F6, F7, F15 and F25.

The API server is alone, without controllers, so that nothing but ours notices what it goes through; its graphs stay
pending.
"""

from __future__ import annotations

import asyncio
import contextlib
import http.client
import json
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import attrs
import pytest

from dynamo_controller import projection
from dynamo_controller.adapters.clock import SystemClock
from dynamo_controller.adapters.kubernetes import KubernetesCluster, Limits
from dynamo_controller.ports import Kind, Selection
from dynamo_controller.store import Store
from dynamo_controller.watch import Reflector, Surroundings
from tests.cluster import addons, bench, processes, shaking
from tests.cluster.bench import Bench
from tests.cluster.client import YAML, Access, Client, RefusedError
from tests.cluster.conftest import require
from tests.cluster.harms import Act, Asked, Harm
from tests.cluster.oracles import COMPONENT, GRAPH, GROVE, OURS
from tests.cluster.proxy import Proxy
from tests.cluster.trouble import placed
from tests.fakes.stage import RecordingLog, graph, worker

Json = dict[str, Any]
CONFIG = Kind("v1", "ConfigMap")
LIMIT, OUTAGE = 60.0, 5.0
UNCACHED = "--watch-cache=false"


@pytest.fixture(scope="module")
def lone(request: pytest.FixtureRequest, bench_logs: Path, own_definitions: list[Json | str]) -> Iterator[Bench]:
    """An API server with the definitions of this project and of nothing else, which tests may shake."""
    require(bench.API_SERVER_PROGRAMS, request.config)
    folder = bench_logs / "lone"
    folder.mkdir()
    with bench.api_server(folder, own_definitions) as started:
        yield started


# Stores that follow a server


@attrs.frozen(eq=False)
class Following:
    """A reflector of config maps behind a proxy, and what its store told: names with whether they came or went."""

    store: Store
    reflector: Reflector
    proxy: Proxy
    log: RecordingLog
    told: list[tuple[str, str]]

    def names(self) -> list[str]:
        return sorted(each["metadata"]["name"] for each in self.store)

    async def until(self, is_true: Callable[[], Any]) -> None:
        async with asyncio.timeout(LIMIT):
            while not is_true():  # noqa: ASYNC110 - a store has no event for it
                await asyncio.sleep(0.05)


@contextlib.asynccontextmanager
async def following(
    lone: Bench, folder: Path, namespace: str, *harms: Harm, page: int = 500
) -> AsyncIterator[Following]:
    told: list[tuple[str, str]] = []
    store = Store(CONFIG, _without_the_clusters_own, lambda before, now: told.append(_fate(before, now)))
    log = RecordingLog()
    with Proxy(lone, folder, *harms) as proxy:
        server = await KubernetesCluster.connected(str(proxy.kubeconfig), limits=Limits(silence=20.0))
        around = Surroundings(server, SystemClock(), log, Random(1))  # noqa: S311 - spreads delays
        reflector = Reflector(Selection(CONFIG, namespace), store, around, page=page)
        task = asyncio.create_task(reflector.run())
        try:
            yield Following(store, reflector, proxy, log, told)
        finally:
            task.cancel()
            await asyncio.wait([task])
            await server.close()


def _without_the_clusters_own(content: Json) -> Json | None:
    return None if content["metadata"]["name"] == "kube-root-ca.crt" else projection.whole(content)


def _fate(before: Any, now: Any) -> tuple[str, str]:
    return (now or before)["metadata"]["name"], "came" if before is None else "went" if now is None else "changed"


def make(client: Client, namespace: str, *names: str) -> list[Json]:
    """Create empty config maps."""
    kind = {"apiVersion": "v1", "kind": "ConfigMap"}
    return [client.create({**kind, "metadata": {"name": name, "namespace": namespace}}) for name in names]


def test_f4_a_server_that_lags_behind_the_one_asked_before_brings_nothing_back(lone: Bench, tmp_path: Path) -> None:
    namespace = "f4-lag"
    lone.ensure_namespaces([namespace])

    async def play(slow: Access, relay: shaking.SlowRelay) -> None:
        async with following(lone, tmp_path, namespace) as at_work:
            (gone,) = await asyncio.to_thread(make, lone.client, namespace, "gone")
            await at_work.until(lambda: at_work.names() == ["gone"])
            relay.delay = 2.0
            await asyncio.to_thread(lone.client.delete, gone)
            await at_work.until(lambda: at_work.names() == [])
            at_work.proxy.lead_to(slow)
            at_work.reflector._version = ""  # the connection was lost for long: a list comes next
            await asyncio.to_thread(make, lone.client, namespace, "new")
            await at_work.until(lambda: at_work.names() == ["new"])
            at_work.proxy.lead_to(lone.access)
            await asyncio.to_thread(make, lone.client, namespace, "newer")
            await at_work.until(lambda: at_work.names() == ["new", "newer"])
            relay.delay = 0.0
            assert at_work.told == [("gone", "came"), ("gone", "went"), ("new", "came"), ("newer", "came")]

    with shaking.SlowRelay(lone) as relay, shaking.second_server(lone, "lagging", storage=relay.storage) as slow:
        asyncio.run(play(slow, relay))


def test_f6_a_watch_from_a_version_that_etcd_has_forgotten_is_made_up_for_by_a_list(
    lone: Bench, tmp_path: Path
) -> None:
    namespace = "f6-compacted"
    lone.ensure_namespaces([namespace])
    is_first = True

    def forget(asked: Asked) -> None:
        nonlocal is_first
        if asked.verb == "watch" and asked.number > 3 and is_first:
            is_first = False
            lone.client.delete(kept[0])
            make(lone.client, namespace, "meanwhile")
            shaking.compact(lone)

    kept = make(lone.client, namespace, "before", "stays")

    async def play(server: Access) -> None:
        async with following(lone, tmp_path, namespace, Act(where=lambda _: True, deed=forget)) as at_work:
            at_work.proxy.lead_to(server)
            await at_work.until(lambda: at_work.names() == ["before", "stays"])
            await at_work.until(lambda: any(asked.verb == "watch" for asked in at_work.proxy.asked))
            while is_first:
                at_work.proxy.cut_all()
                await asyncio.sleep(0.5)
            await at_work.until(lambda: at_work.names() == ["meanwhile", "stays"])
            assert len(at_work.proxy.lists()) == 2
            assert at_work.told[2:] in (
                [("meanwhile", "came"), ("before", "went")],
                [("before", "went"), ("meanwhile", "came")],
            )

    with shaking.second_server(lone, "uncached-watch", UNCACHED) as server:
        asyncio.run(play(server))


def test_f7_a_list_whose_next_page_etcd_has_forgotten_is_made_again(lone: Bench, tmp_path: Path) -> None:
    namespace = "f7-pages"
    lone.ensure_namespaces([namespace])
    names = [f"c{index}" for index in range(5)]
    make(lone.client, namespace, *names)

    def forget(_asked: Asked) -> None:
        make(lone.client, namespace, "late")
        shaking.compact(lone)

    harm = Act(where=lambda asked: "continue" in asked.query, deed=forget, times=1)

    async def play(server: Access) -> None:
        async with following(lone, tmp_path, namespace, page=2) as at_work:
            at_work.proxy.lead_to(server)
            at_work.proxy.harms.append(harm)
            await at_work.until(lambda: at_work.names() == sorted([*names, "late"]))
            assert harm.done == 1
            refused = [asked for asked in at_work.proxy.asked if asked.answered == [410]]
            assert [asked.query["continue"] != "" for asked in refused] == [True]
            assert sorted(at_work.told) == [(name, "came") for name in sorted([*names, "late"])]

    with shaking.second_server(lone, "uncached-pages", UNCACHED) as server:
        asyncio.run(play(server))


# A controller as a process of its own


@attrs.frozen(eq=False)
class Program:
    """A controller that runs as a process behind a proxy."""

    process: subprocess.Popen[str]
    proxy: Proxy
    lone: Bench
    namespace: str
    log: Path
    health: int

    def probed(self, path: str) -> int:
        """Return the status that a probe gets."""
        with contextlib.closing(http.client.HTTPConnection("127.0.0.1", self.health, timeout=LIMIT)) as connection:
            connection.request("GET", path)
            return connection.getresponse().status

    def is_ready(self) -> bool:
        return self.probed("/readyz") == 200

    def components(self) -> list[str]:
        found = self.lone.client.get(OURS, COMPONENT, namespace=self.namespace)["items"]
        return sorted(each["metadata"]["name"] for each in found)

    def sees(self, *names: str) -> None:
        """Wait until there are the components of these names, and the process that has made them still lives."""
        processes.wait_until(lambda: self._holds(names), seconds=LIMIT, what=f"components {names}")
        assert self.process.poll() is None

    def _holds(self, names: Iterable[str]) -> bool:
        try:
            return self.components() == sorted(names)
        except (RefusedError, OSError):
            return False  # a server that was away answers again before it can read what is stored

    def mistakes(self) -> list[str]:
        lines = (json.loads(line) for line in self.log.read_text("utf-8").splitlines())
        return [line["message"] for line in lines if line["level"] == "error"]


@contextlib.contextmanager
def program(lone: Bench, folder: Path, namespace: str) -> Iterator[Program]:
    """Run the controller for one namespace as its users start it."""
    lone.ensure_namespaces([namespace])
    log = folder / "controller.log"
    with Proxy(lone, folder) as proxy, log.open("w") as stream:
        (health,) = processes.free_ports(1)
        words = ["run", "--kubeconfig", str(proxy.kubeconfig), "--restricted-namespace", namespace]
        words += ["--health-address", f"127.0.0.1:{health}"]
        process = subprocess.Popen([sys.executable, "-m", "dynamo_controller", *words], stderr=stream, text=True)
        running = Program(process, proxy, lone, namespace, log, health)
        try:
            yield running
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(LIMIT)
    assert process.returncode == 0
    assert running.mistakes() == []


def chat(namespace: str, **services: Any) -> Json:
    return placed(namespace, graph(**services))


TROUBLES: dict[str, Callable[[Bench], contextlib.AbstractContextManager[None]]] = {
    "server-away": shaking.away,
    "etcd-frozen": shaking.frozen,
    "server-frozen": lambda lone: shaking.frozen(lone, shaking.SERVER),
    "etcd-full": shaking.full,
}


@pytest.mark.parametrize("trouble", TROUBLES)
def test_f15_a_server_that_is_of_no_use_for_a_while_is_waited_for(lone: Bench, tmp_path: Path, trouble: str) -> None:
    namespace = f"f15-{trouble}"
    with program(lone, tmp_path, namespace) as running:
        lone.client.create(chat(namespace))
        running.sees("chat-frontend", "chat-worker")
        processes.wait_until(running.is_ready, seconds=LIMIT, what="readiness")
        asked = len(running.proxy.asked)
        with TROUBLES[trouble](lone):
            if trouble == "etcd-full":
                # Everything can still be read, so that this is no lack of readiness.
                assert lone.client.send("POST", "/api/v1/namespaces", {"metadata": {"name": "full"}}).is_refusal
                time.sleep(OUTAGE)
            else:
                processes.wait_until(lambda: not running.is_ready(), seconds=LIMIT, what="lack of readiness")
            assert running.probed("/healthz") == 200
        # A pause that doubles from half a second leaves eight questions for each watch; the client library asks twice
        # where a connection is cut. The Lease, and whoever asks whether the server is there, add a few.
        watches = {each.path for each in running.proxy.asked if each.verb == "watch"}
        assert len(running.proxy.asked) - asked < len(watches) * 8 * 2 + 60
        retried(lambda: lone.client.apply(chat(namespace, Decode=worker())))
        running.sees("chat-decode", "chat-frontend", "chat-worker")
        processes.wait_until(running.is_ready, seconds=LIMIT, what="readiness")
        # Watches go on from where they were, and where a server that was started again has forgotten that, they list
        # once.
        lists = Counter(each.path for each in running.proxy.lists() if each.path in watches)
        assert max(lists.values()) <= 2


def retried(request: Callable[[], Any]) -> None:
    """Make a request of a user, who tries again while the server comes back."""

    def is_done() -> bool:
        try:
            request()
        except Exception:  # noqa: BLE001 - whatever it was, the time limit counts
            return False
        return True

    processes.wait_until(is_done, seconds=LIMIT, what="request accepted")


def grove_definitions() -> list[str]:
    found = [text for text in addons.definition_texts() if "group: grove.io" in text]
    assert len(found) >= 3
    return found


def test_f25_an_add_on_that_comes_and_goes_is_noticed_without_a_restart(lone: Bench, tmp_path: Path) -> None:
    namespace = "f25-grove"
    with program(lone, tmp_path, namespace) as running:
        content = graph()
        content["metadata"] |= {"namespace": namespace}
        lone.client.create(content)
        running.sees("chat-frontend", "chat-worker")
        names = []
        for definition in grove_definitions():
            answer = lone.client.send("POST", bench.DEFINITIONS, definition, YAML)
            assert not answer.is_refusal, answer.message
            names.append(answer.body["metadata"]["name"])
        running.sees()
        sets = lone.client.get(GROVE, "PodCliqueSet", namespace=namespace)["items"]
        assert [each["metadata"]["name"] for each in sets] == ["chat"]
        for name in names:
            lone.client.send("DELETE", f"{bench.DEFINITIONS}/{name}")
        running.sees("chat-frontend", "chat-worker")
        asked = len(running.proxy.asked)
        time.sleep(5)
        assert len(running.proxy.asked) - asked < 20
        assert lone.client.get(OURS, GRAPH, "chat", namespace)["metadata"]["generation"] == 1
