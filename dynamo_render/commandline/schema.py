"""The command ``schema``: prints what a server or an editor is told about a kind."""

from __future__ import annotations

import json
from argparse import ArgumentParser, Namespace
from typing import Any

from dynamo_render.commandline.contract import FINE, Command, Console, UsageError
from dynamo_render.kube import text
from dynamo_render.profiles import PROFILES

_PROFILE_VARIABLE = "DYNAMO_RENDER_PROFILE"
_NEWEST = "0.9"

_EXAMPLE = """\
dynamo-render schema dgd > dynamographdeployment.json
dynamo-render schema dgd --editor-line dynamographdeployment.json
dynamo-render schema dynamomodel --crd | kubectl apply --server-side -f -"""


def _arguments(parser: ArgumentParser) -> None:
    parser.add_argument("kind", metavar="KIND", help="kind, plural, singular or short name, such as dgd")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json-schema", action="store_true", help="print a JSON Schema for editors (default)")
    form.add_argument("--crd", action="store_true", help="print the CustomResourceDefinition")
    form.add_argument(
        "--editor-line",
        metavar="LOCATION",
        nargs="?",
        const="",
        help="print the first line of a YAML file that is edited with the schema at this path or URL "
        "(default: the kind in lower case, .json)",
    )
    parser.add_argument("--profile", choices=tuple(PROFILES), help=f"the release to follow (default: {_NEWEST})")


def _run(arguments: Namespace, console: Console) -> int:
    from dynamo_render.schemas import definition, editor, kinds  # noqa: PLC0415 - no other command needs them

    kind = kinds.find(arguments.kind)
    if kind is None:
        known = ", ".join(f"{each.name} ({each.short_name})" for each in kinds.KINDS.values())
        raise UsageError(f"there is no kind {arguments.kind!r}; kinds: {known}")
    text_parameters = _has_text_parameters(arguments, console)
    if arguments.crd:
        crd = definition.custom_resource_definition(kind, text_parameters=text_parameters)
        console.stdout.write(text.write_documents([crd]))
    elif arguments.editor_line is not None:
        console.stdout.write(editor.editor_line(arguments.editor_line or f"{kind.singular}.json") + "\n")
    else:
        console.stdout.write(_json_text(editor.json_schema(kind, text_parameters=text_parameters)))
    return FINE


def _has_text_parameters(arguments: Namespace, console: Console) -> bool:
    """Whether the profile takes parameters of picker plugins as text only; a flag beats the environment."""
    name = arguments.profile or console.environ.get(_PROFILE_VARIABLE) or _NEWEST
    profile = PROFILES.get(name)
    if profile is None:
        raise UsageError(f"{_PROFILE_VARIABLE}: there is no profile {name!r}; profiles: {', '.join(PROFILES)}")
    return not profile.epp_parameters_may_be_objects


def _json_text(schema: dict[str, Any]) -> str:
    return json.dumps(schema, indent=2) + "\n"


COMMAND = Command(
    summary="print the schema of a kind",
    description="Print what a server or an editor is told about a kind: its definition, its JSON Schema, or the line "
    "that makes an editor check and complete a YAML file with that schema.",
    example=_EXAMPLE,
    arguments=_arguments,
    run=_run,
)
