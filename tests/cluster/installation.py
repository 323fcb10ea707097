"""An installation as `dynamo-controller manifests` prints it, on a bench, and logins of the accounts in it.

Nothing on a bench routes to pods: the API server reaches the webhook through a Service that is another name of this
machine, and the program of the test listens here.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from dynamo_controller import manifests
from dynamo_controller.manifests import Installation
from tests.cluster.bench import Bench

Json = dict[str, Any]
IMAGE = "registry.test/dynamo-controller:1"
HOOKS = ("admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration")
MERGE_KEYS = "application/strategic-merge-patch+json"


def installed(bench: Bench, installation: Installation, *, without: Iterable[str] = ()) -> list[Json]:
    """Apply an installation, but for the kinds *without*, and return its objects as stored."""
    kept = [content for content in manifests.objects(installation) if content["kind"] not in without]
    return [bench.client.apply(content) for content in kept]


def routed(bench: Bench, installation: Installation, port: int, *, seconds: int = 10) -> None:
    """Let the API server find the webhook on a *port* of this machine, and wait for an answer for so many *seconds*."""
    place = installation.place
    metadata = {"name": place.service, "namespace": place.namespace}
    there = bench.client.path("v1", "Service", place.service, place.namespace)
    bench.client.send("DELETE", there)
    spec = {"type": "ExternalName", "externalName": "localhost"}
    bench.client.create({"apiVersion": "v1", "kind": "Service", "metadata": metadata, "spec": spec})
    changed(bench, installation, {"timeoutSeconds": seconds}, {"port": port})


def changed(bench: Bench, installation: Installation, hook: Json, service: Json) -> None:
    """Change every webhook of an installation, and the Service that it names."""
    name = installation.place.configuration
    live = bench.client.get(*HOOKS, name)
    patch = [
        {**hook, "name": each["name"], "clientConfig": {"service": {**each["clientConfig"]["service"], **service}}}
        for each in live["webhooks"]
    ]
    answer = bench.client.send("PATCH", bench.client.path(*HOOKS, name), {"webhooks": patch}, MERGE_KEYS)
    assert not answer.is_refusal, answer.message


def login(bench: Bench, folder: Path, namespace: str, account: str = manifests.ACCOUNT) -> Path:
    """Return a kubeconfig for a service account, with a new token that is good for an hour."""
    path = f"/api/v1/namespaces/{namespace}/serviceaccounts/{account}/token"
    asked = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {"expirationSeconds": 3600}}
    answer = bench.client.send("POST", path, asked)
    assert not answer.is_refusal, answer.message
    content = json.loads(bench.kubeconfig.read_text("utf-8"))
    content["users"] = [{"name": "tests", "user": {"token": answer.body["status"]["token"]}}]
    made = folder / f"{account}.{namespace}.kubeconfig"
    made.write_text(json.dumps(content))
    return made


def settings_file(installation: Installation, folder: Path, **more: Any) -> Path:
    """Return a settings file with what the installation's ConfigMap holds, and *more*."""
    path = folder / "settings.json"
    path.write_text(json.dumps({**installation.all_settings(), **more}))
    return path
