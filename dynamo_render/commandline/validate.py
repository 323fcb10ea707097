"""The command ``validate``: says everything that is wrong with resources, with file, line and column."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from dynamo_render import validation
from dynamo_render.checks.models import MODEL
from dynamo_render.commandline import findings, inputs, options
from dynamo_render.commandline.contract import PROGRAM, Command, Console, Stopped, UsageError
from dynamo_render.commandline.findings import Collector
from dynamo_render.commandline.progress import Progress
from dynamo_render.commandline.render import with_namespace
from dynamo_render.kinds import GROUP

_EXAMPLE = """\
dynamo-render validate graph.yaml
dynamo-render validate graphs/ --facts cluster.yaml --strict -o github
dynamo-render validate graph.yaml --old stored.yaml --as system:serviceaccount:team:planner-serviceaccount"""

_OUR_KINDS = frozenset(
    {
        "DynamoGraphDeployment",
        "DynamoComponentDeployment",
        "DynamoGraphDeploymentRequest",
        "DynamoGraphDeploymentScalingAdapter",
        "DynamoModel",
    }
)

Key = tuple[str, str, str]


def _arguments(parser: ArgumentParser) -> None:
    parser.usage = "%(prog)s [OPTION ...] INPUT ..."
    parser.add_argument(
        "inputs", metavar="INPUT", nargs="*", help="file, folder or - for standard input; several are fine"
    )
    parser.add_argument(
        "-o", "--output", choices=findings.FORMS, default="text", help="form of what is found (default: text)"
    )
    parser.add_argument("--old", metavar="FILE", help="the resources as they are stored: adds the rules for changes")
    parser.add_argument("--as", dest="user", metavar="USER", default="", help="who makes the change from --old")
    parser.add_argument(
        "--ignore", metavar="ID", action="append", default=[], help="leave this rule out; repeat it or use commas"
    )
    parser.add_argument("--strict", action="store_true", help="take warnings for errors")
    parser.add_argument("--namespace", help="namespace of resources that name none (default: default)")
    options.add_arguments(parser)


def _run(arguments: Namespace, console: Console) -> int:
    if not arguments.inputs:
        raise UsageError("name at least one INPUT: a file, a folder, or - for standard input")
    if arguments.user and arguments.old is None:
        raise UsageError("--as says who makes the change from --old, which is not given")
    ignored = frozenset(_ignored(arguments.ignore))
    report = Collector(console.stderr, strict=arguments.strict)
    try:
        surroundings = options.resolved(arguments, console, report)
    except Stopped:
        findings.written("text", report.checked, console.stderr)
        return report.status
    documents = tuple(_documents(arguments.inputs, arguments.namespace, console, report))
    stored = _stored(arguments, console, report)
    has_facts = arguments.facts is not None or bool(arguments.api_versions)
    declared = frozenset(_declared(document.value for document in documents))
    for document in documents:
        if not _is_ours(document):
            continue
        found = validation.validate(
            document.value,
            settings=surroundings.settings,
            facts=surroundings.facts if has_facts else None,
            old=stored.get(_key(document.value)),
            user=arguments.user,
            ignore=ignored,
            declared=declared,
        )
        report.document(document.source, _name(document.value), found, document.places, document.prefix)
    findings.written(arguments.output, report.checked, console.stdout)
    report.note(PROGRAM, findings.summary(report.checked))
    return report.status


def _ignored(texts: Iterable[str]) -> Iterator[str]:
    """Yield the ids that --ignore names; raises UsageError for what is no rule."""
    names = [name.strip() for text in texts for name in text.split(",") if name.strip()]
    if names:
        from dynamo_render import rules  # noqa: PLC0415 - only to check ids

        for name in names:
            if name not in rules.RULES:
                hint = rules.nearest(name) or f"`{PROGRAM} rules` lists them"
                raise UsageError(f"--ignore {name}: is no rule; {hint}")
    yield from names


def _documents(
    arguments: list[str], namespace: str | None, console: Console, report: Collector
) -> Iterator[inputs.Document]:
    found = inputs.sources(arguments, report)
    for source in Progress(console, report, len(found)).each(found):
        skipped = 0
        for document in inputs.every_document(source, console, report):
            if not source.named and _has_no_kind(document.value):
                skipped += 1
                continue
            skipped += not _is_ours(document)
            value = with_namespace(document.value, namespace)
            yield inputs.Document(document.source, value, document.places, document.prefix)
        if skipped:
            noun = "document" if skipped == 1 else "documents"
            report.note(source.name, f"skipped {skipped} {noun} of other kinds")


def _has_no_kind(value: Any) -> bool:
    """Whether a document is no Kubernetes object at all, such as settings or facts that lie beside resources."""
    return not isinstance(value, dict) or (value.get("apiVersion") is None and value.get("kind") is None)


def _is_ours(document: inputs.Document) -> bool:
    """Whether a document is to be checked: resources of our kinds, and what may be meant as one."""
    value = document.value
    if not isinstance(value, dict):
        return True
    version, kind = value.get("apiVersion"), value.get("kind")
    if not isinstance(kind, str) or not isinstance(version, str) or kind in _OUR_KINDS:
        return True
    return version.partition("/")[0] == GROUP and inputs.is_nearly_one_of(kind, _OUR_KINDS)


def _stored(arguments: Namespace, console: Console, report: Collector) -> Mapping[Key, Mapping[str, Any]]:
    """Return the resources of --old by kind, namespace and name."""
    if arguments.old is None:
        return {}
    stored = {}
    for source in inputs.sources([arguments.old], report):
        for document in inputs.every_document(source, console, report):
            value = with_namespace(document.value, arguments.namespace)
            if isinstance(value, dict):
                stored[_key(value)] = value
    return stored


def _key(value: Any) -> Key:
    metadata = value.get("metadata") if isinstance(value, dict) else None
    metadata = metadata if isinstance(metadata, dict) else {}
    kind = value.get("kind") if isinstance(value, dict) else None
    return str(kind), str(metadata.get("namespace") or "default"), str(metadata.get("name"))


def _name(value: Any) -> str:
    kind, _namespace, name = _key(value)
    return f"{kind}/{name}"


def _declared(values: Iterable[Any]) -> Iterator[Key]:
    """Yield what the inputs declare: every object, and the models that components serve."""
    for value in values:
        if not isinstance(value, dict):
            continue
        kind, namespace, name = _key(value)
        given = isinstance(value.get("metadata"), dict) and value["metadata"].get("namespace")
        yield kind, namespace if given else "", name
        spec = value.get("spec")
        services = spec.get("services") if isinstance(spec, dict) else None
        components = [spec, *(services.values() if isinstance(services, dict) else ())]
        for component in components:
            model = component.get("modelRef") if isinstance(component, dict) else None
            if isinstance(model, dict) and isinstance(model.get("name"), str):
                yield MODEL, namespace if given else "", model["name"]


COMMAND = Command(
    summary="say everything that is wrong with resources",
    description="Say what the API server, admission, the controller, Grove or LeaderWorkerSet would refuse, and what "
    "is hardly meant.",
    example=_EXAMPLE,
    arguments=_arguments,
    run=_run,
)
