"""The webhook of a printed installation, asked by a real API server: what it refuses, and what happens without answer.

Row F27 of the fault list: down, slow, a certificate that nobody trusts, one that is replaced.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import copy
import signal
import ssl
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import attrs
import pytest

from dynamo_controller.adapters.authority import SystemAuthority
from dynamo_controller.adapters.certificate_files import CertificateFiles
from dynamo_controller.adapters.clock import SystemClock
from dynamo_controller.adapters.kubernetes import KubernetesCluster
from dynamo_controller.admission import Surroundings
from dynamo_controller.admitting import admitting
from dynamo_controller.certificates import KEEP_SECONDS, POLL_SECONDS
from dynamo_controller.events import ClusterEvents
from dynamo_controller.manager import Outside
from dynamo_controller.manifests import Installation
from dynamo_controller.settings import ControllerSettings
from dynamo_render import OperatorSettings
from tests.cluster import installation, processes
from tests.cluster.bench import Bench
from tests.cluster.client import Answer
from tests.fakes import real
from tests.fakes.stage import RecordingLog, graph, worker

Json = dict[str, Any]
OURS, GRAPH = "nvidia.com/v1alpha1", "DynamoGraphDeployment"
LIMIT = 30.0


@attrs.frozen(eq=False)
class Place:
    """An installation for one namespace on a bench, with a *port* on which its webhook is looked for."""

    bench: Bench
    installation: Installation
    port: int
    folder: Path

    @property
    def namespace(self) -> str:
        return self.installation.namespace

    def graph(self, name: str = "chat", **services: Json) -> Json:
        content = graph(name, **services)
        content["metadata"]["namespace"] = self.namespace
        return content

    def verdict(self, content: Json) -> Answer:
        """Return what the server would say to a create; nothing is stored."""
        return self.bench.client.verdict_on_create(content)

    def is_fine(self) -> bool:
        return not self.verdict(self.graph()).is_refusal

    def wait_until_refused(self, text: str) -> None:
        def is_refused() -> bool:
            return text in self.verdict(self.graph()).message

        processes.wait_until(is_refused, seconds=LIMIT, what=f"refusal with {text!r}")

    def wait_until_fine(self) -> None:
        processes.wait_until(self.is_fine, seconds=LIMIT, what="answer of the webhook")


@pytest.fixture
def place(api_server: Bench, request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Place]:
    """An installation in a namespace of its own, whose webhook configuration goes at the end."""
    namespace = f"hook-{request.node.name.removeprefix('test_').replace('_', '-')}"[:50].strip("-")
    made = Installation(image=installation.IMAGE, mode="namespaced", namespace=namespace)
    installation.installed(api_server, made)
    (port,) = processes.free_ports(1)
    installation.routed(api_server, made, port)
    yield Place(api_server, made, port, tmp_path)
    api_server.client.send("DELETE", api_server.client.path(*installation.HOOKS, made.place.configuration))


class QuickClock(SystemClock):
    """Minutes pass in seconds."""

    SPEED = 30.0

    def monotonic(self) -> float:
        return super().monotonic() * self.SPEED

    async def sleep(self, seconds: float) -> None:
        await super().sleep(seconds / self.SPEED)


@contextlib.asynccontextmanager
async def answering(place: Place, **more: Any) -> AsyncIterator[RecordingLog]:
    """Answer reviews as the controller's account, with a clock that is quick."""
    cluster = await KubernetesCluster.connected(str(installation.login(place.bench, place.folder, place.namespace)))
    clock, log = QuickClock(), RecordingLog()
    chance = Random(1)  # noqa: S311 - spreads delays
    outside = Outside(cluster=cluster, clock=clock, events=ClusterEvents(cluster, clock, log), log=log, chance=chance)
    decided = {key: value for key, value in place.installation.decided().items() if key.startswith("webhook_")}
    own = ControllerSettings(
        **{
            **decided,
            "webhook_address": f"localhost:{place.port}",
            "webhook_certificates": str(place.folder),
            **more,
        }
    )
    around = Surroundings(settings=OperatorSettings(restricted_namespace=place.namespace))
    try:
        async with admitting(own, around, outside, lambda *_words: None):
            yield log
    finally:
        await cluster.close()


def test_what_the_rules_refuse_is_not_stored_and_the_user_reads_why(place: Place) -> None:
    async def story() -> None:
        async with answering(place):
            await asyncio.to_thread(place.wait_until_fine)
            refused = await asyncio.to_thread(place.verdict, place.graph(Worker=worker(ingress={"enabled": True})))
            assert refused.status == 403
            assert 'admission webhook "vdynamographdeployment.kb.io" denied the request: ' in refused.message
            assert "spec.services.Worker.ingress.host: " in refused.message
            warned = await asyncio.to_thread(place.verdict, place.graph(Worker=worker(dynamoNamespace="old")))
            assert warned.status == 201
            assert [text.partition(": ")[0] for text in warned.warnings] == ["spec.services.Worker.dynamoNamespace"]

    asyncio.run(story())


def test_an_update_is_held_against_what_is_stored_and_a_deletion_is_not(place: Place) -> None:
    def story() -> None:
        client = place.bench.client
        place.wait_until_fine()
        held = place.graph(Worker=worker(scalingAdapter={"enabled": True}))
        client.create(held)
        more = copy.deepcopy(held)
        more["spec"]["services"]["Worker"]["replicas"] = 2
        refused = client.verdict_on_apply(more)
        assert "spec.services.Worker.replicas: belongs to the scaling adapter" in refused.message
        client.patch_status(held, {"state": "pending"})
        client.delete(held)

    async def answered() -> None:
        async with answering(place):
            await asyncio.to_thread(story)

    asyncio.run(answered())


def test_in_another_namespace_nobody_is_asked(place: Place) -> None:
    """Nobody answers here, and everything would be refused."""
    place.bench.ensure_namespaces(["hook-elsewhere"])
    place.wait_until_refused("failed calling webhook")
    elsewhere = place.graph()
    elsewhere["metadata"]["namespace"] = "hook-elsewhere"
    assert place.verdict(elsewhere).status == 201


# F27


def test_f27_a_webhook_that_is_down_lets_nothing_slip_through_and_answers_when_it_is_back(place: Place) -> None:
    place.wait_until_refused("connection refused")

    async def story() -> None:
        async with answering(place):
            await asyncio.to_thread(place.wait_until_fine)
        await asyncio.to_thread(place.wait_until_refused, "connection refused")
        async with answering(place):
            await asyncio.to_thread(place.wait_until_fine)

    asyncio.run(story())


def test_f27_an_authority_that_is_not_trusted_is_refused_until_the_controller_has_told_the_server(place: Place) -> None:
    """Somebody replaces the bundle in the configuration; the controller looks once a minute."""
    assert KEEP_SECONDS == 60.0
    stranger = SystemAuthority().issued(["stranger"]).authority

    def replaced() -> None:
        trust(place, stranger)
        place.wait_until_refused("x509")
        place.wait_until_fine()

    async def story() -> None:
        async with answering(place):
            await asyncio.to_thread(place.wait_until_fine)
            await asyncio.to_thread(replaced)

    asyncio.run(story())


def test_f27_a_certificate_for_another_name_is_refused_and_a_right_one_taken_without_a_restart(place: Place) -> None:
    """Somebody else makes the certificates here, and first a wrong one."""
    assert POLL_SECONDS == 10.0
    authority, files = SystemAuthority(), CertificateFiles(place.folder)
    wrong, right = authority.issued(["other.svc"]), authority.issued(place.installation.place.names)
    files.write(wrong.certificate, wrong.key)

    def mended() -> None:
        trust(place, wrong.authority + right.authority)
        place.wait_until_refused("certificate is valid for other.svc")
        files.write(right.certificate, right.key)
        place.wait_until_fine()

    async def story() -> None:
        async with answering(place, webhook_secret=""):
            await asyncio.to_thread(mended)

    asyncio.run(story())


def test_f27_a_certificate_that_nears_its_end_is_replaced_without_a_refusal(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    refusals: list[str] = []
    path = place.bench.client.path("v1", "Secret", "webhook-server-cert", place.namespace)

    def shown() -> str:
        return ssl.get_server_certificate(("localhost", place.port))

    def stored() -> str:
        return base64.b64decode(place.bench.client.send("GET", path).body["data"]["tls.crt"]).decode()

    def ask_until(is_true: Callable[[], bool], what: str) -> None:
        def is_over() -> bool:
            answer = place.verdict(place.graph())
            refusals.extend([answer.message] if answer.is_refusal else [])
            return is_true()

        processes.wait_until(is_over, seconds=LIMIT, what=what)

    def replaced() -> None:
        place.wait_until_fine()
        first = stored()
        assert shown() == first
        monkeypatch.setattr("dynamo_controller.certificates.RENEW_DAYS", 366.0)
        ask_until(lambda: stored() != first, "new certificate")
        monkeypatch.undo()
        ask_until(lambda: shown() == stored(), "new certificate in use")

    async def story() -> None:
        async with answering(place):
            await asyncio.to_thread(replaced)

    asyncio.run(story())
    assert refusals == []


def test_f27_a_webhook_that_does_not_answer_in_time_is_as_good_as_none(place: Place) -> None:
    """The program as it is installed, stopped by a signal while it holds its port."""
    installation.changed(place.bench, place.installation, {"timeoutSeconds": 1}, {})
    login = installation.login(place.bench, place.folder, place.namespace)
    folder = {"webhook_certificates": str(place.folder), "webhook_address": f"localhost:{place.port}"}
    off = {"metrics_address": "0", "health_address": "0"}
    settings = installation.settings_file(place.installation, place.folder, **folder, **off)
    words = [sys.executable, "-m", "dynamo_controller", "run", "--kubeconfig", str(login), "--settings", str(settings)]
    with subprocess.Popen(words, stderr=subprocess.PIPE, text=True) as program:
        try:
            place.wait_until_fine()
            program.send_signal(signal.SIGSTOP)
            refused = place.verdict(place.graph())
            assert "context deadline exceeded" in refused.message
            program.send_signal(signal.SIGCONT)
            place.wait_until_fine()
        finally:
            program.send_signal(signal.SIGCONT)
            program.send_signal(signal.SIGTERM)
        _, log = program.communicate(timeout=LIMIT)
    assert program.returncode == 0, log


def test_f27_the_controllers_own_writes_are_refused_too_tried_again_ever_less_often_and_then_go_through(
    place: Place,
) -> None:
    """A scaled adapter writes the count to its graph, which admission looks at."""
    client = place.bench.client
    adapter = client.path(OURS, f"{GRAPH}ScalingAdapter", "chat-worker", place.namespace)

    def count() -> Any:
        live = client.get(OURS, GRAPH, "chat", place.namespace)
        return live["spec"]["services"]["Worker"]["replicas"]

    def scaled() -> None:
        body = {"spec": {"replicas": 3}}
        answer = client.send("PATCH", f"{adapter}/scale", body, "application/merge-patch+json")
        assert not answer.is_refusal, answer.message

    async def story() -> None:
        login = installation.login(place.bench, place.folder, place.namespace)
        async with real.running(login, place.namespace) as at_work:

            def attempts() -> int:
                return len([write for write in at_work.cluster.writes if write[:2] == ("merge", GRAPH)])

            async with answering(place):
                await asyncio.to_thread(place.wait_until_fine)
                held = place.graph(Worker=worker(scalingAdapter={"enabled": True}))
                held["metadata"]["annotations"] = {"nvidia.com/enable-grove": "false"}
                await asyncio.to_thread(client.create, held)
                await at_work.until(lambda: not client.send("GET", adapter).is_refusal)
                await at_work.quiet()
            await asyncio.to_thread(place.wait_until_refused, "connection refused")
            scaled()
            await asyncio.sleep(6.0)
            assert count() == 1
            assert 2 <= attempts() <= 10
            async with answering(place):
                await at_work.until(lambda: count() == 3)

    asyncio.run(story())


def trust(place: Place, authorities: str) -> None:
    """Let the API server trust *authorities* for the webhook."""
    live = place.bench.client.get(*installation.HOOKS, place.installation.place.configuration)
    bundle = base64.b64encode(authorities.encode()).decode()
    for hook in live["webhooks"]:
        hook["clientConfig"]["caBundle"] = bundle
    path = place.bench.client.path(*installation.HOOKS, place.installation.place.configuration)
    answer = place.bench.client.send("PATCH", path, {"webhooks": live["webhooks"]}, "application/merge-patch+json")
    assert not answer.is_refusal, answer.message
