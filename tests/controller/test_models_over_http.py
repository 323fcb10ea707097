"""Models with real pods: servers on loopback addresses, which slices hold on the fake only, at the pods' port."""

from __future__ import annotations

import contextlib
import socket
from collections.abc import AsyncIterator, Mapping

import pytest

from dynamo_controller.adapters.http import HttpEndpoints, Limits
from dynamo_render.kinds.dynamo_model.candidates import SYSTEM_PORT
from tests.controller.model_parts import MODEL, a_slice, model
from tests.fakes.endpoints import FakeEndpoints
from tests.fakes.pods import Server, Talk, answer, endless, redirect, saying, serving, silent
from tests.fakes.stage import Stage

LOADED = answer("200 OK", '{"status": "success"}')

TALKS: Mapping[str, Talk] = {
    "127.0.0.11": saying(LOADED),
    "127.0.0.12": saying(answer("503 Busy", "busy")),
    "127.0.0.13": saying(answer("200 OK", '{"status": "error", "message": "no such key"}')),
    "127.0.0.14": saying("SSH-2.0-OpenSSH_9.6\r\n"),
    "127.0.0.15": endless,
    "127.0.0.16": saying(redirect("307 There", f"http://127.0.0.11:{SYSTEM_PORT}/v1/loras")),
    "127.0.0.17": saying(redirect("307 There", f"http://127.0.0.99:{SYSTEM_PORT}/v1/loras")),
    "127.0.0.18": silent,
}
GONE = "127.0.0.19"


@pytest.fixture(autouse=True)
def _free_port() -> None:
    """Skip where somebody has the port, or where the machine has one loopback address only."""
    for host in (*TALKS, GONE, "127.0.0.99"):
        with socket.socket() as tried:
            tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                tried.bind((host, SYSTEM_PORT))
            except OSError as error:
                pytest.skip(f"{host}:{SYSTEM_PORT} cannot be had: {error}")


@contextlib.asynccontextmanager
async def pods(*hosts: str) -> AsyncIterator[dict[str, Server]]:
    async with contextlib.AsyncExitStack() as stack:
        yield {host: await stack.enter_async_context(serving(TALKS[host], host, SYSTEM_PORT)) for host in hosts}


def over_http() -> Stage:
    return Stage(endpoints=FakeEndpoints(HttpEndpoints(Limits(seconds=1.0))))


def ready(stage: Stage) -> dict[str, bool]:
    return {each["podName"]: each["ready"] for each in stage.status("law", MODEL)["endpoints"]}


async def test_pods_are_ready_that_have_loaded_the_adapter_and_no_others() -> None:
    async with pods(*TALKS), over_http() as stage:
        await stage.add(a_slice(*TALKS, GONE))
        await stage.add(model())
        assert ready(stage) == {
            "worker-11": True,
            "worker-12": False,
            "worker-13": False,
            "worker-14": False,
            "worker-15": False,
            "worker-16": True,
            "worker-17": False,
            "worker-18": False,
            "worker-19": False,
        }


@pytest.mark.parametrize(
    ("host", "words"),
    {
        "127.0.0.12": "load LoRA failed with status 503: busy",
        "127.0.0.13": 'load LoRA failed inside the engine: {"status": "error", "message": "no such key"}',
        "127.0.0.14": "failed to call load LoRA endpoint",
        "127.0.0.15": "the answer is longer than 65536 bytes",
        "127.0.0.17": "redirected to http://127.0.0.99:9090/v1/loras, which no endpoint of the model has",
        "127.0.0.18": "no answer when the time of all calls was over, 1 s",
    }.items(),
)
async def test_the_condition_says_why_a_pod_is_not_ready(host: str, words: str) -> None:
    async with pods(host), over_http() as stage:
        await stage.add(a_slice(host))
        await stage.add(model())
        (condition,) = [each for each in stage.status("law", MODEL)["conditions"] if each["type"] == "EndpointsReady"]
        assert condition["reason"] == "NotReady"
        assert words in condition["message"]


async def test_a_pod_that_is_not_named_is_not_called() -> None:
    stranger = "127.0.0.99"
    async with pods("127.0.0.17"), serving(saying(LOADED), stranger, SYSTEM_PORT) as other, over_http() as stage:
        await stage.add(a_slice("127.0.0.17"))
        await stage.add(model())
        assert other.requests == []


async def test_an_adapter_is_taken_out_of_the_pods_that_answer_and_the_others_hold_up_nothing() -> None:
    async with pods("127.0.0.11", "127.0.0.18") as servers, over_http() as stage:
        await stage.add(a_slice("127.0.0.11", "127.0.0.18", GONE))
        await stage.add(model())
        await stage.remove(MODEL, "law")
        assert stage.cluster.names(MODEL) == []
        assert servers["127.0.0.11"].first_lines()[-1] == "DELETE /v1/loras/acme/law HTTP/1.1"
        assert "LoRAUnloadFailed" in stage.event_reasons()


async def test_a_pod_that_comes_back_gets_the_adapter_half_a_minute_later() -> None:
    async with over_http() as stage:
        await stage.add(a_slice("127.0.0.11"))
        await stage.add(model())
        assert ready(stage) == {"worker-11": False}
        async with pods("127.0.0.11"):
            await stage.later(31)
            assert ready(stage) == {"worker-11": True}
