"""The API server over HTTP: the only importer of the client library.

The library is asked for configuration, authentication and transport; requests and answers are plain JSON. Nothing is
retried here, and nothing is decided.
"""

from __future__ import annotations

import asyncio
import os
import ssl
from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Self
from urllib.parse import quote, urlencode

import attrs
import orjson
from aiohttp import ClientError, ClientTimeout
from kubernetes_asyncio import client, config

from dynamo_controller.adapters import answers
from dynamo_controller.adapters.transport import Transport
from dynamo_controller.ports import (
    FIELD_MANAGER,
    UNREACHABLE,
    ClusterError,
    FieldPath,
    Json,
    Kind,
    Object,
    Page,
    Selection,
)
from dynamo_controller.ports import WatchEvent as Event

APPLY_PATCH, MERGE_PATCH, JSON = "application/apply-patch+yaml", "application/merge-patch+json", "application/json"
JSON_PATCH = "application/json-patch+json"

FAREWELL_SECONDS = 0.3

FIRST_REFUSAL = 400


@attrs.frozen
class Limits:
    """Seconds that a *request* may take, after which the server ends a *watch*, and in which a watch may be silent.

    A server sends a bookmark every minute, so that a longer *silence* means that the connection is gone.
    """

    request: float = 60.0
    watch: int = 300
    silence: float = 90.0


class BadConfiguration(Exception):
    """There is no usable way to a cluster; the message says why."""


@attrs.frozen
class _Where:
    plural: str
    namespaced: bool


class KubernetesCluster:
    """`dynamo_controller.ports.Cluster` over HTTP."""

    def __init__(
        self, api: client.ApiClient, transport: Transport, *, dry_run: bool = False, limits: Limits | None = None
    ) -> None:
        """Send nothing yet; in a *dry run* the server stores nothing that is applied."""
        self._api = api
        self._transport = transport
        self._dry_run = dry_run
        self._limits = limits or Limits()
        self._served: dict[str, dict[str, _Where]] = {}

    @classmethod
    async def connected(
        cls, kubeconfig: str | None = None, context: str | None = None, *, limits: Limits | None = None
    ) -> Self:
        """Return a cluster by a kubeconfig file or, without one, by the service account of this pod.

        Raises BadConfiguration.
        """
        if kubeconfig is not None and _is_missing(kubeconfig):
            raise BadConfiguration(f"{kubeconfig}: no such file")
        configuration = client.Configuration()
        try:
            if kubeconfig is None:
                config.load_incluster_config(client_configuration=configuration)  # type: ignore[no-untyped-call]
            else:
                await config.load_kube_config(
                    config_file=kubeconfig, context=context, client_configuration=configuration, persist_config=False
                )
            api = client.ApiClient(configuration)
        except Exception as error:  # the library raises whatever parsing a broken file raises
            raise BadConfiguration(f"{kubeconfig or 'the account of this pod'}: {_words(error)}") from error
        return cls(api, Transport(api.rest_client, configuration.host or ""), limits=limits)

    async def close(self) -> None:
        """Close all connections."""
        await self._api.close()
        # The farewell of TLS takes a few turns of the loop, and nothing tells when it is over.
        await asyncio.sleep(FAREWELL_SECONDS)

    def for_dry_runs(self) -> KubernetesCluster:
        """Return the same cluster over the same connections, which stores nothing that is applied."""
        return KubernetesCluster(self._api, self._transport, dry_run=True, limits=self._limits)

    async def reach(self) -> None:
        """Return when the server says that it can serve, its storage included."""
        await self._answer("GET", "/readyz", {})

    async def groups(self) -> frozenset[str]:
        """Return the names of the API groups that are served."""
        answer = await self._send("GET", "/apis")
        self._served.clear()
        return frozenset(group["name"] for group in answer["groups"])

    async def get(self, kind: Kind, namespace: str, name: str) -> Json | None:
        """Return an object, or None where there is none or the kind is not served."""
        try:
            return await self._send("GET", await self._path(kind, namespace, name))
        except ClusterError as error:
            if error.is_missing:
                return None
            raise

    async def page(self, selection: Selection, *, limit: int, next_page: str = "") -> Page:
        """Return a part of a list; its items carry apiVersion and kind as single objects do."""
        query = {"limit": str(limit), "continue": next_page, **_selectors(selection)}
        answer = await self._send("GET", await self._path(selection.kind, selection.namespace), query)
        frame = {"apiVersion": selection.kind.api_version, "kind": selection.kind.kind}
        listed = answer["metadata"]
        items = tuple({**frame, **item} for item in answer.get("items") or ())
        return Page(items, listed.get("resourceVersion", ""), listed.get("continue", ""))

    async def watch(self, selection: Selection, resource_version: str) -> AsyncIterator[Event]:
        """Yield what happens after *resource_version* until the server ends it."""
        query = {
            "watch": "true",
            "allowWatchBookmarks": "true",
            "resourceVersion": resource_version,
            "timeoutSeconds": str(self._limits.watch),
            **_selectors(selection),
        }
        path = await self._path(selection.kind, selection.namespace)
        limit = ClientTimeout(connect=self._limits.request, sock_read=self._limits.silence)
        response = await self._request("GET", path, query, limit=limit)
        async with response:
            if response.status >= FIRST_REFUSAL:
                raise answers.refusal(response.status, await response.read(), response.headers)
            try:
                async for line in answers.lines(response.content.iter_any()):
                    yield answers.event(line)
            except _TRANSPORT as error:
                raise _lost("Interrupted", "watch interrupted", error) from error

    async def apply(self, content: Object, *, force: bool) -> Json:
        """Apply on the server's side as `FIELD_MANAGER` and return what is stored."""
        query = {
            "fieldManager": FIELD_MANAGER,
            "force": str(force).lower(),
            "dryRun": "All" if self._dry_run else "",
            # To warn of fields that nobody hears of, a server reads every object a second time.
            "fieldValidation": "Ignore",
        }
        return await self._send("PATCH", await self._own_path(content), query, content, APPLY_PATCH)

    async def create(self, content: Object) -> Json:
        """Create an object and return it as stored."""
        path = await self._path(_kind(content), content["metadata"].get("namespace", ""))
        return await self._send("POST", path, {"fieldManager": FIELD_MANAGER}, content)

    async def delete(self, target: Object) -> None:
        """Delete the object with the identity and the uid of *target*, its dependents in the background."""
        options = {"propagationPolicy": "Background", "preconditions": {"uid": target["metadata"]["uid"]}}
        await self._send("DELETE", await self._own_path(target), {}, options)

    async def merge(self, target: Object, patch: Object) -> Json:
        """Merge *patch* into the object unless it has changed since *target* was read, and return it."""
        return await self._merge(await self._own_path(target), target, patch)

    async def merge_status(self, target: Object, patch: Object) -> Json:
        """Merge *patch* into the status of the object unless it has changed since *target* was read."""
        return await self._merge(f"{await self._own_path(target)}/status", target, {"status": patch})

    async def replace_status(self, target: Object, status: Object) -> Json:
        """Make *status* the whole status of the object, nulls included, unless it has changed since it was read."""
        # A merge would take nulls out. The version in the patch makes it fail as a conflict when it is an old one.
        patch = [
            {"op": "replace", "path": "/metadata/resourceVersion", "value": target["metadata"]["resourceVersion"]},
            {"op": "add", "path": "/status", "value": status},
        ]
        path = f"{await self._own_path(target)}/status"
        return await self._send("PATCH", path, {"fieldManager": FIELD_MANAGER}, patch, JSON_PATCH)

    async def remove_fields(self, target: Object, paths: Sequence[FieldPath]) -> Json:
        """Remove the fields at *paths* unless the object has changed since *target* was read, and return it."""
        version = target["metadata"]["resourceVersion"]
        patch: list[Json] = [{"op": "replace", "path": "/metadata/resourceVersion", "value": version}]
        patch += [{"op": "remove", "path": _pointer(path)} for path in paths]
        own = await self._own_path(target)
        return await self._send("PATCH", own, {"fieldManager": FIELD_MANAGER}, patch, JSON_PATCH)

    async def scale(self, kind: Kind, namespace: str, name: str, replicas: int) -> None:
        """Set the scale subresource of an object."""
        path = f"{await self._path(kind, namespace, name)}/scale"
        await self._send("PATCH", path, {"fieldManager": FIELD_MANAGER}, {"spec": {"replicas": replicas}}, MERGE_PATCH)

    async def _merge(self, path: str, target: Object, patch: Object) -> Json:
        same = {"resourceVersion": target["metadata"]["resourceVersion"]}
        body = {**patch, "metadata": {**patch.get("metadata", {}), **same}}
        return await self._send("PATCH", path, {"fieldManager": FIELD_MANAGER}, body, MERGE_PATCH)

    async def _own_path(self, content: Object) -> str:
        metadata = content["metadata"]
        return await self._path(_kind(content), metadata.get("namespace", ""), metadata["name"])

    async def _path(self, kind: Kind, namespace: str = "", name: str = "") -> str:
        where = await self._where(kind)
        inside = f"/namespaces/{quote(namespace, safe='')}" if where.namespaced and namespace else ""
        return f"{_root(kind)}{inside}/{where.plural}" + (f"/{quote(name, safe='')}" if name else "")

    async def _where(self, kind: Kind) -> _Where:
        if kind.kind not in self._served.get(kind.api_version, {}):
            # Asked again for a kind that is missing: its definition may be newer than the last answer.
            listed = await self._send("GET", _root(kind))
            self._served[kind.api_version] = {
                entry["kind"]: _Where(entry["name"], entry["namespaced"])
                for entry in listed["resources"]
                if "/" not in entry["name"]
            }
        found = self._served[kind.api_version].get(kind.kind)
        if found is None:
            raise ClusterError(404, "NotFound", f"{kind.kind} is not served in {kind.api_version}")
        return found

    async def _send(
        self,
        method: str,
        path: str,
        query: Mapping[str, str] | None = None,
        body: Object | list[Json] | None = None,
        content: str = JSON,
    ) -> Json:
        return answers.content(await self._answer(method, path, query or {}, body, content), f"{method} {path}")

    async def _answer(
        self,
        method: str,
        path: str,
        query: Mapping[str, str],
        body: Object | list[Json] | None = None,
        content: str = JSON,
    ) -> bytes:
        response = await self._request(method, path, query, body, content)
        try:
            async with response:
                text: bytes = await response.read()
        except _TRANSPORT as error:
            raise _lost("Interrupted", f"{method} {path}", error) from error
        if response.status >= FIRST_REFUSAL:
            raise answers.refusal(response.status, text, response.headers)
        return text

    async def _request(
        self,
        method: str,
        path: str,
        query: Mapping[str, str],
        body: Object | list[Json] | None = None,
        content: str = JSON,
        limit: ClientTimeout | None = None,
    ) -> Any:
        headers = {"Accept": JSON, "Content-Type": content, "User-Agent": FIELD_MANAGER}
        given = {name: value for name, value in query.items() if value}
        url = f"{self._api.configuration.host}{path}" + (f"?{urlencode(given)}" if given else "")
        text = None if body is None else orjson.dumps(body)
        try:
            await self._api.update_params_for_auth(headers, [], ["BearerToken"])
            return await self._transport.request(
                method, url, headers, text, limit or ClientTimeout(total=self._limits.request)
            )
        except _TRANSPORT as error:
            raise _lost("Unreachable", f"{method} {path}", error) from error


# A chunk or a header that is broken is a ValueError in places.
_TRANSPORT = (ClientError, OSError, asyncio.TimeoutError, ValueError)


def _lost(reason: str, what: str, error: Exception) -> ClusterError:
    """Return the error of a connection that broke while *what* was asked."""
    return ClusterError(UNREACHABLE, reason, f"{what}: {str(error) or repr(error)}")


def _is_missing(kubeconfig: str) -> bool:
    """Say whether no file of the list *kubeconfig* is there, where the library goes on with an empty one."""
    return not any(Path(name).exists() for name in kubeconfig.split(os.pathsep))


def _words(error: Exception) -> str:
    """Return on one line what the library could not use, and why."""
    if isinstance(error, ssl.SSLError):
        return f"a certificate or a key that it names cannot be used: {error}"
    if isinstance(error, OSError):
        return f"{error.filename or 'a program that it names'}: {(error.strerror or str(error)).lower()}"
    if isinstance(error, TypeError | AttributeError | LookupError | UnicodeError):
        return f"holds something else than a kubeconfig does ({type(error).__name__}: {error})"
    return " ".join(str(error).split())


def _kind(content: Object) -> Kind:
    return Kind(content["apiVersion"], content["kind"])


def _pointer(path: FieldPath) -> str:
    """Return a path as RFC 6901 writes it."""
    return "".join("/" + str(part).replace("~", "~0").replace("/", "~1") for part in path)


def _root(kind: Kind) -> str:
    return f"/apis/{kind.api_version}" if kind.group else f"/api/{kind.api_version}"


def _selectors(selection: Selection) -> dict[str, str]:
    return {"labelSelector": selection.labels, "fieldSelector": selection.fields}
