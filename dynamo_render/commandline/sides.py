"""One side of a comparison: the objects that its documents render to, or are, by what they come from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from dynamo_render import pipeline
from dynamo_render.commandline.inputs import Document
from dynamo_render.commandline.messages import Report
from dynamo_render.commandline.options import Options
from dynamo_render.commandline.render import with_namespace
from dynamo_render.errors import InvalidResource, MissingFacts, Problem
from dynamo_render.kube import manifest
from dynamo_render.kube.manifest import Manifest
from dynamo_render.values import Value, frozen

# What an object comes from: the identity of a resource, or the place of what has none.
Origin = tuple[object, ...]


@frozen
class Side(Value):
    """Objects by their origin; None for a resource that is refused."""

    objects: Mapping[Origin, tuple[Manifest, ...] | None]

    def refused(self) -> set[Origin]:
        """Return the origins that have no objects because something is wrong with them."""
        return {origin for origin, objects in self.objects.items() if objects is None}

    def without(self, origins: set[Origin]) -> list[Manifest]:
        """Return the objects of everything but *origins*, each once; of different ones the last counts."""
        kept = (objects or () for origin, objects in self.objects.items() if origin not in origins)
        return list({manifest.identity(made): made for objects in kept for made in objects}.values())


class Sides:
    """Makes sides, and reports every problem once, also when both sides have it. Warnings are for other commands."""

    def __init__(self, report: Report, namespace: str | None, environ: Mapping[str, str]) -> None:
        """Report to *report*; *namespace* is that of resources that name none."""
        self._report = report
        self._namespace = namespace
        self._environ = environ
        self._reported: set[tuple[str, str]] = set()

    def rendered(self, documents: Iterable[Document], surroundings: Options, name: str) -> Side:
        """Return what *documents* render to; *name* is how messages call the side."""
        objects: dict[Origin, tuple[Manifest, ...] | None] = {}
        for index, document in enumerate(documents):
            resource = with_namespace(document.value, self._namespace)
            origin = _identity(resource) or (document.source, index)
            objects[origin] = self._rendered(document, resource, surroundings, name)
        return Side(objects)

    def as_is(self, documents: Iterable[Document]) -> Side:
        """Return what *documents* are; those that are no objects are reported."""
        objects: dict[Origin, tuple[Manifest, ...] | None] = {}
        for document in documents:
            value = with_namespace(document.value, self._namespace)
            if identity := _identity(value):
                objects[identity] = (value,)
            else:
                message = "is no Kubernetes object: apiVersion, kind and metadata.name are needed"
                self._tell(document, [Problem("input/object", (), message)])
        return Side(objects)

    def _rendered(
        self, document: Document, resource: Any, surroundings: Options, name: str
    ) -> tuple[Manifest, ...] | None:
        try:
            return pipeline.render(
                resource, settings=surroundings.settings, facts=surroundings.facts, observed=surroundings.observed
            ).objects
        except InvalidResource as refusal:
            self._tell(document, [problem for problem in refusal.problems if problem.severity == "error"])
        except MissingFacts as error:
            self._tell(document, [Problem("facts/missing", (), str(error), "give them in a file with --facts")])
        except Exception as error:  # noqa: BLE001 - one document must not hide the others
            self._report.bug(document.source, error, self._environ)
        self._report.note(document.source, f"refused on the {name} side, so that it is not compared")
        return None

    def _tell(self, document: Document, problems: list[Problem]) -> None:
        new = [problem for problem in problems if (document.source, str(problem)) not in self._reported]
        self._reported.update((document.source, str(problem)) for problem in new)
        self._report.problems(document.source, new, document.places, document.prefix)


def _identity(value: Any) -> Origin | None:
    """Return what tells an object apart, or None for what is no object."""
    if not isinstance(value, dict) or not isinstance(value.get("metadata"), dict):
        return None
    metadata = value["metadata"]
    parts = (value.get("apiVersion"), value.get("kind"), metadata.get("namespace") or "", metadata.get("name"))
    return parts if all(isinstance(part, str) for part in parts) and parts[0] and parts[1] and parts[3] else None
