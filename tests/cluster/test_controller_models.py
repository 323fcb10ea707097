"""Models on a real API server, with a real pod: a server of the test on this machine's own address, at the pods' port.

No controller of Kubernetes makes slices here: the test does, as the endpoint slice controller would.
"""

from __future__ import annotations

import asyncio
import os
import socket
from typing import Any

import pytest

from dynamo_controller.adapters.http import HttpEndpoints, Limits
from dynamo_render.kinds.dynamo_model.candidates import SYSTEM_PORT
from tests.cluster.bench import Bench
from tests.fakes import real
from tests.fakes.pods import Talk, answer, endless, redirect, saying, serving, silent
from tests.fakes.real import Running

Json = dict[str, Any]
OURS = "nvidia.com/v1alpha1"
SLICES = "discovery.k8s.io/v1"
BASE_HASH = "fb68f5a6"
GONE = "198.51.100.7"
"""An address for documents, which nobody has."""

LOADED = answer("200 OK", '{"status": "success"}')
QUICK = HttpEndpoints(Limits(seconds=2.0))


@pytest.fixture
def address() -> str:
    """An address of this machine that slices may hold: the loopback address is refused there."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asked:
        try:
            asked.connect(("192.0.2.1", 9))  # sends nothing; the system chooses the address that it would send from
            found = str(asked.getsockname()[0])
        except OSError:
            found = "127.0.0.1"
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as tried:
        tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            tried.bind((found, SYSTEM_PORT))
        except OSError as error:
            _give_up(f"port {SYSTEM_PORT} cannot be had: {error}")
    if found.startswith("127."):
        _give_up("this machine has no address but the loopback one")
    return found


def _give_up(reason: str) -> None:
    if os.environ.get("CI") == "true":
        pytest.fail(f"CI must have an address for pods: {reason}", pytrace=False)
    pytest.skip(reason)


def model(namespace: str, kind: str = "lora", **spec: Any) -> Json:
    own = {"modelName": "acme/law", "baseModelName": "Qwen/Qwen3-0.6B", "modelType": kind, **spec}
    metadata = {"name": "law", "namespace": namespace}
    return {"apiVersion": OURS, "kind": "DynamoModel", "metadata": metadata, "spec": own}


def a_slice(namespace: str, *addresses: str, ready: bool = True) -> Json:
    labels = {
        "nvidia.com/dynamo-base-model-hash": BASE_HASH,
        "kubernetes.io/service-name": f"dynamo-model-{BASE_HASH}",
    }
    endpoints = [
        {
            "addresses": [address],
            "conditions": {"ready": ready},
            "targetRef": {"kind": "Pod", "name": f"worker-{index}", "namespace": namespace},
        }
        for index, address in enumerate(addresses)
    ]
    metadata = {"name": f"dynamo-model-{BASE_HASH}-x", "namespace": namespace, "labels": labels}
    frame = {"apiVersion": SLICES, "kind": "EndpointSlice", "metadata": metadata}
    return {**frame, "addressType": "IPv4", "endpoints": endpoints, "ports": [{"name": "system", "port": SYSTEM_PORT}]}


def told(server: Bench, namespace: str) -> Json:
    """Return the status, with the condition of the endpoints as `condition`."""
    status: Json = server.client.get(OURS, "DynamoModel", "law", namespace).get("status", {})
    found = [each for each in status.get("conditions", ()) if each["type"] == "EndpointsReady"]
    return {**status, "condition": found[0] if found else {"reason": "", "message": ""}}


def is_gone(server: Bench, namespace: str) -> bool:
    found = server.client.get(OURS, "DynamoModel", namespace=namespace)["items"]
    return found == []


FAILURES: dict[str, tuple[Talk, str]] = {
    "refuses": (saying(answer("503 Busy", "busy")), "load LoRA failed with status 503: busy"),
    "fails inside": (saying(answer("200 OK", '{"status": "error", "message": "no such key"}')), "no such key"),
    "speaks nonsense": (saying("SSH-2.0-OpenSSH_9.6\r\n"), "failed to call load LoRA endpoint"),
    "never answers": (silent, "no answer when the time of all calls was over"),
    "answers without end": (endless, "longer than 65536 bytes"),
    "redirects elsewhere": (saying(redirect("307 There", "http://127.0.0.1:1/")), "redirected to http://127.0.0.1:1/"),
    "hangs up": (saying(""), "failed to call load LoRA endpoint"),
}


def test_an_adapter_is_loaded_whatever_its_pod_has_done_before_and_taken_out_again(
    api_server: Bench, address: str
) -> None:
    """One pod through all of its moods; each change of its slice makes the controller call it again."""
    namespace = "controller-models"
    api_server.ensure_namespaces([namespace])

    async def changed(at_work: Running, *addresses: str, ready: bool, until: str, words: str = "") -> None:
        api_server.client.apply(a_slice(namespace, *addresses, ready=ready))

        def arrived() -> bool:
            condition = told(api_server, namespace)["condition"]
            return condition["reason"] == until and words in condition["message"]

        await at_work.until(arrived)

    async def story() -> None:
        async with real.running(api_server.kubeconfig, namespace, endpoints=QUICK) as at_work:
            api_server.client.create(model(namespace, source={"uri": "s3://b/law"}))
            await at_work.until(lambda: told(api_server, namespace)["condition"]["reason"] == "NoEndpoints")
            async with serving(saying(LOADED), address, SYSTEM_PORT) as pod:
                ready = True
                await changed(at_work, address, ready=ready, until="AllEndpointsReady")
                assert pod.requests[0].startswith(b"POST /v1/loras HTTP/1.1\r\n")
                assert pod.requests[0].endswith(b'\r\n\r\n{"lora_name":"acme/law","source":{"uri":"s3://b/law"}}')
                for talk, words in FAILURES.values():
                    pod.talk = talk
                    ready = not ready
                    await changed(at_work, address, ready=ready, until="NotReady", words=words)
                pod.talk = saying(LOADED)
                await changed(at_work, address, GONE, ready=not ready, until="NotReady", words="worker-1")
                assert (
                    told(api_server, namespace)["readyEndpoints"],
                    told(api_server, namespace)["totalEndpoints"],
                ) == (1, 2)
                await changed(at_work, address, ready=ready, until="AllEndpointsReady")
                await at_work.quiet()
                await deleted(at_work)
                assert pod.first_lines()[-1] == "DELETE /v1/loras/acme/law HTTP/1.1"

    async def deleted(at_work: Running) -> None:
        api_server.client.delete(model(namespace))
        await at_work.until(lambda: is_gone(api_server, namespace))

    asyncio.run(story())


def test_a_pod_that_has_gone_is_told_and_does_not_hold_up_the_deletion(api_server: Bench, address: str) -> None:
    namespace = "controller-models-gone"
    api_server.ensure_namespaces([namespace])

    async def story() -> None:
        async with real.running(api_server.kubeconfig, namespace, endpoints=QUICK) as at_work:
            api_server.client.create(a_slice(namespace, address))
            api_server.client.create(model(namespace, source={"uri": "s3://b/law"}))
            await at_work.until(lambda: told(api_server, namespace)["condition"]["reason"] == "NotReady")
            assert "worker-0: failed to call" in told(api_server, namespace)["condition"]["message"]
            api_server.client.delete(model(namespace))
            await at_work.until(lambda: is_gone(api_server, namespace))

    asyncio.run(story())


def test_an_invalid_model_is_told_so_and_can_be_deleted(api_server: Bench) -> None:
    namespace = "controller-models-invalid"
    api_server.ensure_namespaces([namespace])

    async def story() -> None:
        async with real.running(api_server.kubeconfig, namespace) as at_work:
            api_server.client.create(model(namespace, source={"uri": "ftp://x"}))
            await at_work.until(lambda: told(api_server, namespace).get("conditions"))
            (valid,) = told(api_server, namespace)["conditions"]
            assert (valid["type"], valid["status"], valid["reason"]) == ("Valid", "False", "ValidationFailed")
            api_server.client.delete(model(namespace))
            await at_work.until(lambda: is_gone(api_server, namespace))

    asyncio.run(story())


def test_the_next_controller_finds_models_as_they_are_and_writes_nothing(api_server: Bench, address: str) -> None:
    namespace = "controller-models-rest"
    api_server.ensure_namespaces([namespace])

    async def story() -> None:
        async with serving(saying(LOADED), address, SYSTEM_PORT) as pod:
            async with real.running(api_server.kubeconfig, namespace, endpoints=QUICK) as at_work:
                api_server.client.create(a_slice(namespace, address))
                api_server.client.create(model(namespace, source={"uri": "s3://b/law"}))
                await at_work.until(lambda: told(api_server, namespace)["condition"]["reason"] == "AllEndpointsReady")
            before = api_server.client.get(OURS, "DynamoModel", "law", namespace)
            async with real.running(api_server.kubeconfig, namespace, endpoints=QUICK) as next_one:
                await next_one.quiet()
                assert next_one.cluster.writes == []
            assert api_server.client.get(OURS, "DynamoModel", "law", namespace) == before
            assert len(pod.requests) == 2
            api_server.client.delete(a_slice(namespace, address))

    asyncio.run(story())
