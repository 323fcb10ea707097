"""Settings of the program: from flags, environment and a file, in this order; and those of the renderer beside them.

Values are checked before anything starts. Reads the environment and files only through what it is given.
"""

from __future__ import annotations

import re
from argparse import ArgumentParser, BooleanOptionalAction, Namespace
from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise
from typing import Any, TypeVar

import attrs

from dynamo_controller.ports import OFF, Address, BadAddress
from dynamo_render import InvalidSettings, OperatorSettings, Problem, read_documents
from dynamo_render.commandline.options import HELP
from dynamo_render.errors import UnreadableInput, field_path
from dynamo_render.kube import durations
from dynamo_render.profiles import PROFILES
from dynamo_render.values import Value

RENDER_PREFIX, PREFIX = "DYNAMO_RENDER_", "DYNAMO_CONTROLLER_"
MOST_WORKERS = 256
LOG_LEVELS = ("info", "warning", "error")
SECOND_NS = 10**9

Seconds = float
"""The type of settings that are durations; users write `15s` or `1m30s`."""

Record = TypeVar("Record")

_TRUTH = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}

OWN_HELP: Mapping[str, str] = {
    "kubeconfig": "how to reach the cluster; without it the account of the pod is used, then KUBECONFIG",
    "context": "which context of the kubeconfig",
    "workers": "how many resources are worked on at a time",
    "adopt": "take over the fields that the released operator has written, and prune those that nobody wants",
    "allow_profile_rollouts": "let a changed profile replace the pods of every resource that it concerns",
    "log_level": "from which level on log lines are written: info, warning or error",
    "metrics_address": 'where metrics are served at /metrics, ":8080" for example; "0" is off',
    "health_address": 'where /healthz and /readyz are served, ":8081" for example; "0" is off',
    "leader_elect": "whether this process may write only while it holds a Lease; needed where two may run",
    "leader_election_id": "the name of that Lease; by default the one of the released operator",
    "leader_election_namespace": "its namespace; empty for restricted_namespace or, without it, that of the pod",
    "leader_election_lease_duration": "after how long without a renewal another process takes the Lease",
    "leader_election_renew_deadline": "after how long without a renewal this process stops writing",
    "leader_election_retry_period": "how often the Lease is renewed or asked for",
    "namespace_scope_lease_duration": "how long cluster-wide controllers leave restricted_namespace to us without news",
    "namespace_scope_lease_renew_interval": "how often they are told so",
    "operator_version": "what the Lease of a restricted controller says about its version",
    "webhook_address": 'where the admission webhook listens, ":9443" for example; "0" is off',
    "webhook_certificates": "the folder with the webhook's certificate: tls.crt and tls.key",
    "webhook_secret": "NAMESPACE/NAME of the Secret for a certificate of our own making; empty where others make it",
    "webhook_service": "the Service in front of the webhook, which a certificate of our own making is for",
    "webhook_configuration": "the ValidatingWebhookConfiguration that is told to trust a certificate of our own making",
}


@attrs.frozen(eq=False, repr=False)
class ControllerSettings(Value):
    """Settings that no rendered object depends on; empty texts stand for what is found around the process."""

    kubeconfig: str = ""
    context: str = ""
    workers: int = 8
    adopt: bool = False
    allow_profile_rollouts: bool = False
    log_level: str = "info"
    metrics_address: str = OFF
    health_address: str = OFF
    leader_elect: bool = False
    leader_election_id: str = "dynamo.nvidia.com"
    leader_election_namespace: str = ""
    leader_election_lease_duration: Seconds = 15.0
    leader_election_renew_deadline: Seconds = 10.0
    leader_election_retry_period: Seconds = 2.0
    namespace_scope_lease_duration: Seconds = 30.0
    namespace_scope_lease_renew_interval: Seconds = 10.0
    operator_version: str = "unknown"
    webhook_address: str = OFF
    webhook_certificates: str = ""
    webhook_secret: str = ""
    webhook_service: str = ""
    webhook_configuration: str = ""

    def checked(self) -> ControllerSettings:
        """Return these settings if they are usable; raise InvalidSettings otherwise."""
        problems = [*_range_problems(self), *_lease_problems(self), *_address_problems(self), *_webhook_problems(self)]
        if problems:
            raise InvalidSettings(problems)
        return self


def _range_problems(own: ControllerSettings) -> Iterator[Problem]:
    if not 1 <= own.workers <= MOST_WORKERS:
        yield Problem("settings/range", ("workers",), f"must be between 1 and {MOST_WORKERS}, got {own.workers}")

    if own.log_level not in LOG_LEVELS:
        message = f'must be one of {", ".join(LOG_LEVELS)}, got "{own.log_level}"'
        yield Problem("settings/enum", ("log_level",), message)
    if own.leader_elect and not own.leader_election_id:
        yield Problem("settings/missing", ("leader_election_id",), "is needed where leader_elect is true")


def _lease_problems(own: ControllerSettings) -> Iterator[Problem]:
    """Yield durations that could leave two processes writing at a time; a Lease counts in whole seconds, cut off.

    Specification: operator-config.md section 2.6.
    """
    rising = (
        ("leader_election_retry_period", "leader_election_renew_deadline", "leader_election_lease_duration"),
        ("namespace_scope_lease_renew_interval", "namespace_scope_lease_duration"),
    )
    for names in rising:
        for name in names:
            if getattr(own, name) <= 0:
                yield Problem("settings/range", (name,), "must be more than 0s")
        for shorter, longer in pairwise(names):
            limit, words = getattr(own, longer), longer
            if longer == names[-1]:
                limit, words = int(limit), f"the whole seconds of {longer}"
            if getattr(own, shorter) >= limit:
                yield Problem("settings/range", (shorter,), f"must be less than {words}")


def _address_problems(own: ControllerSettings) -> Iterator[Problem]:
    taken: dict[Address, str] = {}
    for name in ("metrics_address", "health_address", "webhook_address"):
        try:
            address = Address.parsed(getattr(own, name))
        except BadAddress as error:
            yield Problem("settings/address", (name,), str(error))
            continue
        if address is not None and address.port and address in taken:
            yield Problem("settings/address", (name,), f"is the same as {taken[address]}")
        if address is not None:
            taken[address] = name


def _webhook_problems(own: ControllerSettings) -> Iterator[Problem]:
    is_on = own.webhook_address != OFF
    if is_on and not own.webhook_certificates:
        yield Problem("settings/missing", ("webhook_certificates",), "is needed where webhook_address is not 0")
    if own.webhook_secret:
        if [*map(bool, own.webhook_secret.split("/"))] != [True, True]:
            message = f'must be NAMESPACE/NAME, got "{own.webhook_secret}"'
            yield Problem("settings/form", ("webhook_secret",), message)
        for name in ("webhook_service", "webhook_configuration"):
            if not getattr(own, name):
                yield Problem("settings/missing", (name,), "is needed where webhook_secret is set")


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
    own, render = _names(ControllerSettings), _names(OperatorSettings) | {"grove_termination_delay_seconds"}
    lines = [f"{arguments.settings}: unknown setting {name!r}" for name in sorted(file.keys() - own - render)]
    of_controller = {**_part(file, own), **_given(arguments, environ, ControllerSettings, PREFIX, lines)}
    of_render = {**_part(file, render), **_given(arguments, environ, OperatorSettings, RENDER_PREFIX, lines)}
    found = _tried(_controller, of_controller, lines), _tried(_render, of_render, lines)
    if lines or found[0] is None or found[1] is None:
        raise UnusableSettings(lines)
    return found[0], found[1]


def _tried(read: Callable[[Mapping[str, Any]], Record], values: Mapping[str, Any], lines: list[str]) -> Record | None:
    """Return the record that *values* make, or None where they make none; then *lines* say why."""
    try:
        return read(values)
    except InvalidSettings as error:
        lines += [f"{field_path(problem.path)}: {problem.message}" for problem in error.problems]
    return None


def _controller(values: Mapping[str, Any]) -> ControllerSettings:
    sorts = {field.name: _sort(field) for field in attrs.fields(ControllerSettings)}
    typed, problems = {}, list[Problem]()
    for name, value in values.items():
        try:
            typed[name] = _typed(name, sorts[name], value)
        except InvalidSettings as error:
            problems += error.problems
    own = ControllerSettings(**typed)
    if problems:
        # What settings must be to one another is not said while some of them are unknown.
        raise InvalidSettings([*problems, *_range_problems(own), *_address_problems(own)])
    return own.checked()


_WORDS: Mapping[str, tuple[type, str]] = {
    "str": (str, "a text"),
    "int": (int, "a whole number"),
    "bool": (bool, "true or false"),
    "Seconds": (str, "a duration such as 15s"),
}


def _typed(name: str, sort: str, value: Any) -> Any:
    """Return the value of a setting, durations in seconds. Raises InvalidSettings."""
    wanted, words = _WORDS[sort]
    if type(value) is not wanted:
        raise InvalidSettings([Problem("settings/type", (name,), f"must be {words}, got {value!r}")])
    return _seconds(name, str(value)) if sort == "Seconds" else value


def written(value: Any) -> Any:
    """Return the value of a setting as a file says it."""
    return durations.format(round(value * SECOND_NS)) if isinstance(value, float) else value


def _seconds(name: str, text: str) -> float:
    try:
        return durations.parse(text) / SECOND_NS
    except durations.InvalidDuration as error:
        raise InvalidSettings([Problem("settings/duration", (name,), str(error))]) from None


def _render(values: Mapping[str, Any]) -> OperatorSettings:
    problems, profile = list[Problem](), values.get("profile")
    if isinstance(profile, str) and profile not in PROFILES:
        message = f"must be one of {', '.join(PROFILES)}, got {profile!r}"
        problems.append(Problem("settings/enum", ("profile",), message))
    try:
        settings = OperatorSettings.from_mapping(values)
    except InvalidSettings as error:
        raise InvalidSettings([*error.problems, *problems]) from None
    if problems:
        raise InvalidSettings(problems)
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
    except UnicodeDecodeError as error:
        raise UnusableSettings([f"{name}: {no_text(error)}"]) from None
    except ValueError:
        raise UnusableSettings([f"{name}: must be one document"]) from None
    if not isinstance(content, dict):
        raise UnusableSettings([f"{name}: must be a mapping of settings"])
    return content


def no_text(error: UnicodeDecodeError) -> str:
    """Return what is wrong with a file that is not UTF-8."""
    return f"byte 0x{error.object[error.start]:02X} at offset {error.start} is no UTF-8"


def _given(
    arguments: Namespace, environ: Mapping[str, str], cls: type, prefix: str, lines: list[str]
) -> dict[str, Any]:
    """Return what flags and variables say, but for what means nothing, of which *lines* get to tell."""
    found = {}
    for field in attrs.fields(cls):
        text = getattr(arguments, field.name)
        if text is None:
            text = environ.get(prefix + field.name.upper()) or None
        if _sort(field) == "bool" and isinstance(text, str) and text.lower() not in _TRUTH:
            lines.append(f"{field.name}: must be true or false, got {text!r}")
        elif text is not None:
            found[field.name] = _value(_sort(field), text)
    return found


def _value(sort: str, text: Any) -> Any:
    if sort == "bool" and isinstance(text, str):
        return _TRUTH[text.lower()]
    # Python has more digits than these ten, and refuses to read thousands of them.
    if sort == "int" and isinstance(text, str) and re.fullmatch("[0-9]{1,99}", text):
        return int(text)
    return text


def _sort(field: attrs.Attribute[Any]) -> str:
    """Return the name of a field's type, which is a text until somebody resolves the types of its class."""
    return getattr(field.type, "__name__", None) or str(field.type)


def _names(cls: type) -> set[str]:
    return {field.name for field in attrs.fields(cls)}


def _part(mapping: Mapping[str, Any], names: set[str]) -> dict[str, Any]:
    return {key: value for key, value in mapping.items() if key in names}
