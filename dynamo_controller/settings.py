"""Settings of the program: from flags, environment and a file, in this order; and those of the renderer beside them.

Values are checked before anything starts. Reads the environment and files only through what it is given.
"""

from __future__ import annotations

from argparse import ArgumentParser, BooleanOptionalAction, Namespace
from collections.abc import Callable, Mapping
from typing import Any

import attrs

from dynamo_render import InvalidSettings, OperatorSettings, Problem, read_documents
from dynamo_render.commandline.options import HELP
from dynamo_render.errors import UnreadableInput, field_path
from dynamo_render.profiles import PROFILES
from dynamo_render.values import Value

RENDER_PREFIX, PREFIX = "DYNAMO_RENDER_", "DYNAMO_CONTROLLER_"
MOST_WORKERS = 256

_TRUTH = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}

OWN_HELP: Mapping[str, str] = {
    "kubeconfig": "how to reach the cluster; without it the account of the pod is used, then KUBECONFIG",
    "context": "which context of the kubeconfig",
    "workers": "how many resources are worked on at a time",
}


@attrs.frozen(eq=False, repr=False)
class ControllerSettings(Value):
    """Settings that no rendered object depends on; empty texts stand for what is found around the process."""

    kubeconfig: str = ""
    context: str = ""
    workers: int = 8

    def checked(self) -> ControllerSettings:
        """Return these settings if they are usable; raise InvalidSettings otherwise."""
        if not 1 <= self.workers <= MOST_WORKERS:
            message = f"must be between 1 and {MOST_WORKERS}, got {self.workers}"
            raise InvalidSettings([Problem("settings/range", ("workers",), message)])
        return self


class UnusableSettings(Exception):
    """Settings cannot be used; *lines* say which and why."""

    def __init__(self, lines: list[str]) -> None:
        """Keep the lines."""
        super().__init__("\n".join(lines))
        self.lines = lines


def add_arguments(parser: ArgumentParser) -> None:
    """Declare every setting as a flag."""
    parser.add_argument("--settings", metavar="FILE", help="settings of the renderer and the controller (YAML or JSON)")
    for cls, notes in ((ControllerSettings, OWN_HELP), (OperatorSettings, HELP)):
        for field in attrs.fields(cls):
            flag = f"--{field.name.replace('_', '-')}"
            if _sort(field) == "bool":
                parser.add_argument(
                    flag, dest=field.name, action=BooleanOptionalAction, default=None, help=notes[field.name]
                )
            else:
                parser.add_argument(flag, dest=field.name, default=None, metavar="VALUE", help=notes[field.name])


def resolved(
    arguments: Namespace, environ: Mapping[str, str], read: Callable[[str], str]
) -> tuple[ControllerSettings, OperatorSettings]:
    """Return both records of settings. Raises UnusableSettings with everything that is wrong.

    A flag beats the environment, the environment beats the file, the file beats the default.
    """
    file = _file(arguments.settings, read)
    own, render = _names(ControllerSettings), _names(OperatorSettings)
    unknown = sorted(file.keys() - own - render - {"grove_termination_delay_seconds"})
    if unknown:
        raise UnusableSettings([f"{arguments.settings}: unknown setting {name!r}" for name in unknown])
    of_controller = {**_part(file, own), **_given(arguments, environ, ControllerSettings, PREFIX)}
    of_render = {key: value for key, value in file.items() if key not in own}
    of_render |= _given(arguments, environ, OperatorSettings, RENDER_PREFIX)
    try:
        return _controller(of_controller), _render(of_render)
    except InvalidSettings as error:
        lines = [f"{field_path(problem.path)}: {problem.message}" for problem in error.problems]
        raise UnusableSettings(lines) from None


def _controller(values: Mapping[str, Any]) -> ControllerSettings:
    for name, value in values.items():
        wanted = int if name == "workers" else str
        if type(value) is not wanted:
            message = f"must be {'a whole number' if wanted is int else 'a text'}, got {value!r}"
            raise InvalidSettings([Problem("settings/type", (name,), message)])
    return ControllerSettings(**values).checked()


def _render(values: Mapping[str, Any]) -> OperatorSettings:
    settings = OperatorSettings.from_mapping(values)
    if settings.profile not in PROFILES:
        message = f"must be one of {', '.join(PROFILES)}, got {settings.profile!r}"
        raise InvalidSettings([Problem("settings/enum", ("profile",), message)])
    return settings


def _file(name: str | None, read: Callable[[str], str]) -> dict[str, Any]:
    if name is None:
        return {}
    try:
        (content,) = [*read_documents(read(name), name)] or [{}]
    except OSError as error:
        raise UnusableSettings([f"{name}: {(error.strerror or str(error)).lower()}"]) from None
    except UnreadableInput as error:
        raise UnusableSettings([str(error)]) from None
    except ValueError:
        raise UnusableSettings([f"{name}: must be one document"]) from None
    if not isinstance(content, dict):
        raise UnusableSettings([f"{name}: must be a mapping of settings"])
    return content


def _given(arguments: Namespace, environ: Mapping[str, str], cls: type, prefix: str) -> dict[str, Any]:
    found = {}
    for field in attrs.fields(cls):
        text = getattr(arguments, field.name)
        if text is None:
            text = environ.get(prefix + field.name.upper()) or None
        if text is not None:
            found[field.name] = _value(field.name, _sort(field), text)
    return found


def _value(name: str, sort: str, text: Any) -> Any:
    if sort == "bool" and isinstance(text, str):
        if text.lower() not in _TRUTH:
            raise UnusableSettings([f"{name}: must be true or false, got {text!r}"])
        return _TRUTH[text.lower()]
    if sort == "int" and isinstance(text, str) and text.isdigit():
        return int(text)
    return text


def _sort(field: attrs.Attribute[Any]) -> str:
    """Return the name of a field's type, which is a text until somebody resolves the types of its class."""
    return getattr(field.type, "__name__", None) or str(field.type)


def _names(cls: type) -> set[str]:
    return {field.name for field in attrs.fields(cls)}


def _part(mapping: Mapping[str, Any], names: set[str]) -> dict[str, Any]:
    return {key: value for key, value in mapping.items() if key in names}
