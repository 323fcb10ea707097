"""The command ``render``: prints the objects, or the pods, that resources lead to."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import attrs

from dynamo_render import pipeline
from dynamo_render.commandline import inputs, options, outputs, selection
from dynamo_render.commandline.contract import PROGRAM, Command, Console, Stopped, UsageError
from dynamo_render.commandline.messages import Report, wants_colour
from dynamo_render.commandline.progress import Progress
from dynamo_render.commandline.selection import Selection
from dynamo_render.errors import InvalidResource, MissingFacts, Problem
from dynamo_render.kube.manifest import Manifest

_EXAMPLE = """\
dynamo-render render graph.yaml --api-versions grove.io --settings settings.yaml
dynamo-render render graphs/ --select kind=Service,component=Frontend -o name
kubectl get dynamographdeployments -A -o json | dynamo-render render - --pods"""


def _arguments(parser: ArgumentParser) -> None:
    parser.usage = "%(prog)s [OPTION ...] INPUT ..."
    parser.add_argument(
        "inputs", metavar="INPUT", nargs="*", help="file, folder or - for standard input; several are fine"
    )
    parser.add_argument(
        "-o", "--output", choices=outputs.FORMATS, default="yaml", help="form of the output (default: yaml)"
    )
    parser.add_argument("--output-dir", metavar="DIR", help="write one file for each object into this folder instead")
    parser.add_argument(
        "--select",
        metavar="KEY=VALUE,...",
        action="append",
        default=[],
        help=f"show only what has these values; keys: {', '.join(selection.KEYS)}; A|B takes either; "
        "repeat --select for alternatives",
    )
    parser.add_argument(
        "--status", action="store_true", help="show the status of resources with stages, not what they lead to"
    )
    parser.add_argument("--pods", action="store_true", help="show what the containers of every role and rank run")
    parser.add_argument("--namespace", help="namespace of resources that name none (default: default)")
    parser.add_argument("--strict", action="store_true", help="refuse unknown fields instead of dropping them")
    parser.add_argument("--color", choices=("auto", "always", "never"), default="auto", help="colour of messages")
    options.add_arguments(parser)


def _run(arguments: Namespace, console: Console) -> int:
    colour = wants_colour(arguments.color, console.stderr, console.environ)
    report = Report(console.stderr, colour=colour)
    if not arguments.inputs:
        raise UsageError("name at least one INPUT: a file, a folder, or - for standard input")
    if arguments.status and arguments.pods:
        raise UsageError("--status and --pods show different things: choose one")
    wanted = selection.parsed(arguments.select)
    try:
        surroundings = options.resolved(arguments, console, report)
    except Stopped:
        return report.status
    output = outputs.chosen(arguments.output, arguments.output_dir, console.stdout, report)
    renderer = _Renderer(arguments, surroundings, wanted, report, console.environ)
    for document in _documents(arguments.inputs, console, report):
        for item in renderer.items(document):
            output.write(item, document.source)
    output.close()
    renderer.conclude()
    return report.status


def _documents(arguments: list[str], console: Console, report: Report) -> Iterator[inputs.Document]:
    found = inputs.sources(arguments, report)
    for source in Progress(console, report, len(found)).each(found):
        yield from inputs.documents(source, console, report)


class _Renderer:
    """Renders one document after the other, and reports what is wrong with each without stopping."""

    def __init__(
        self,
        arguments: Namespace,
        surroundings: options.Options,
        wanted: Selection,
        report: Report,
        environ: Mapping[str, str],
    ) -> None:
        self._arguments = arguments
        self._options = surroundings
        self._wanted = wanted
        self._report = report
        self._environ = environ
        self._resources = 0
        self._shown = 0

    def items(self, document: inputs.Document) -> Iterator[Mapping[str, Any]]:
        """Yield what is to be shown of one document; nothing when it is refused."""
        self._resources += 1
        is_observed = self._options.observed is not None or self._options.objects is not None
        if is_observed and self._resources > 1:
            hint = "render the resources one by one, each with its own file"
            self._report.unusable(document.source, "--observed", "describes one resource, and this is another", hint)
            return
        resource = with_namespace(document.value, self._arguments.namespace)
        try:
            items = self._selected(resource, self._rendered(document, resource))
        except Exception as error:  # noqa: BLE001 - one document must not hide the others
            self._report.bug(document.source, error, self._environ)
            return
        self._shown += len(items)
        yield from items

    def conclude(self) -> None:
        """Say so if nothing was shown although there were resources without errors."""
        if self._report.status == 0 and not self._shown:
            text = "nothing matches --select" if self._resources else "there is nothing to render"
            if self._resources and self._wanted.is_everything:
                text = "nothing is made now"
            self._report.note(PROGRAM, text)

    def _rendered(self, document: inputs.Document, resource: Any) -> tuple[Manifest, ...]:
        """Return the objects of *resource*; none when it is refused, which is reported."""
        problems: Iterable[Problem]
        objects: tuple[Manifest, ...] = ()
        if self._arguments.status or self._options.objects is not None:
            return self._rehearsed(document, resource)
        try:
            rendered = pipeline.render(
                resource, settings=self._options.settings, facts=self._options.facts, observed=self._options.observed
            )
            problems, objects = rendered.warnings, rendered.objects
        except InvalidResource as error:
            problems = error.problems
        except MissingFacts as error:
            problems = [Problem("facts/missing", (), str(error), "give them in a file with --facts")]
        problems = [strict(problem) for problem in problems] if self._arguments.strict else problems
        self._report.problems(document.source, problems, document.places, document.prefix)
        return () if any(problem.severity == "error" for problem in problems) else objects

    def _rehearsed(self, document: inputs.Document, resource: Any) -> tuple[Manifest, ...]:
        """Return what a resource with stages comes to by itself: the objects on the way, or its status then."""
        from dynamo_render import machines  # noqa: PLC0415 - few calls ask for it

        try:
            end = machines.rehearsed(
                resource, settings=self._options.settings, facts=self._options.facts, objects=self._options.objects
            )
        except InvalidResource as error:
            self._report.problems(document.source, error.problems, document.places, document.prefix)
            return ()
        if not self._arguments.status:
            return end.objects
        metadata = {key: resource["metadata"][key] for key in ("name", "namespace") if key in resource["metadata"]}
        frame = {key: resource[key] for key in ("apiVersion", "kind")}
        return ({**frame, "metadata": metadata, "status": dict(end.status)},)

    def _selected(self, resource: Any, objects: tuple[Manifest, ...]) -> Sequence[Manifest]:
        if self._arguments.pods:
            from dynamo_render import effective  # noqa: PLC0415 - only needed for --pods

            pods = effective.pods(objects)
            return [pod for pod in pods if self._wanted.takes(selection.traits_of_pod(pod))]
        if self._wanted.is_everything or not objects:
            return objects
        name = resource["metadata"]["name"]
        return [made for made in objects if self._wanted.takes(selection.traits_of_object(made, name))]


def with_namespace(resource: Any, namespace: str | None) -> Any:
    """Return *resource* in *namespace* if it names none itself; what is no resource stays as it is."""
    metadata = resource.get("metadata") if isinstance(resource, dict) else None
    if namespace is None or not isinstance(metadata, dict) or metadata.get("namespace"):
        return resource
    return {**resource, "metadata": {**metadata, "namespace": namespace}}


def strict(problem: Problem) -> Problem:
    """Return a warning about an unknown field as an error, and any other problem as it is."""
    return attrs.evolve(problem, severity="error") if problem.rule == "schema/unknown-field" else problem


COMMAND = Command(
    summary="print the objects that the operator creates",
    description="Print every Kubernetes object that the operator creates for the resources in the inputs.",
    example=_EXAMPLE,
    arguments=_arguments,
    run=_run,
)
