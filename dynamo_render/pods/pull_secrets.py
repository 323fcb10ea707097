"""Image pull secrets for a component's images, among the docker secrets of its namespace. rendering.md section 12.2."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping

from dynamo_render.errors import Problem
from dynamo_render.kube import registries
from dynamo_render.scope import ComponentScope

DISABLING_ANNOTATION = "nvidia.com/disable-image-pull-secret-discovery"


def planned(scope: ComponentScope) -> tuple[str, ...]:
    """Return the names of the secrets that fit the component's images, sorted."""
    index = scope.graph.namespace_facts.pull_secrets
    if not index or scope.annotations.get(DISABLING_ANNOTATION) == "true":
        return ()
    if scope.profile.image_references_follow_grammar:
        return _by_reference(scope, index)
    image = scope.spec.main_container.get("image")
    if not image:
        return ()
    return tuple(sorted(set(index.get(_host(image), ()))))


@functools.lru_cache(maxsize=1024)
def _host(image: str) -> str:
    """Return the host of an image as the released operator reads it, empty where it cannot: it ignores such images."""
    try:
        return registries.host(image)
    except registries.InvalidHost:
        return ""


def _images(scope: ComponentScope) -> Iterable[str]:
    """Yield the images of the pod: that of the main container, of init containers and of sidecars."""
    pod = scope.spec.pod
    for container in (scope.spec.main_container, *pod.get("initContainers", ()), *pod.get("containers", ())):
        if container.get("image"):
            yield container["image"]


def _warn_once(scope: ComponentScope, server: str, secrets: Iterable[str]) -> None:
    message = f'the registry "{server}" of pull secret {", ".join(secrets)} is no host and is skipped'
    problem = Problem("facts/registry", (), message, "mend the secret, or the pull_secrets among the facts", "warning")
    if problem not in scope.graph.problems:
        scope.graph.problems.append(problem)


def _by_reference(scope: ComponentScope, index: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    folded: dict[str, list[str]] = {}
    for server, secrets in index.items():
        try:
            folded.setdefault(registries.server_registry(server), []).extend(secrets)
        except registries.InvalidHost:
            _warn_once(scope, server, secrets)
    found: set[str] = set()
    for image in _images(scope):
        try:
            found.update(folded.get(registries.image_registry(image), ()))
        except registries.InvalidHost:
            continue
    return tuple(sorted(found))


def merged(written: Iterable[Mapping[str, str]], found: Iterable[str]) -> list[dict[str, str]]:
    """Return the user's references as they are, then every found name that is not among them."""
    references = [dict(reference) for reference in written]
    names = {reference.get("name") for reference in references}
    return references + [{"name": name} for name in found if name not in names]
