"""Settings, facts and observed state from flags, environment and files.

A flag beats the environment, the environment beats a file, a file beats the default.
"""

from __future__ import annotations

from argparse import ArgumentParser, BooleanOptionalAction, Namespace
from collections.abc import Callable, Mapping
from typing import Any

import attrs

from dynamo_render.commandline import records
from dynamo_render.commandline.contract import PROGRAM, Console, Stopped
from dynamo_render.commandline.messages import Report
from dynamo_render.errors import InvalidFacts, InvalidSettings, Problem
from dynamo_render.facts import ClusterFacts
from dynamo_render.kube import structural
from dynamo_render.observed import Observed
from dynamo_render.profiles import PROFILES
from dynamo_render.settings import OperatorSettings
from dynamo_render.values import Value, frozen

VARIABLE_PREFIX = "DYNAMO_RENDER_"
DEBUG = "DYNAMO_RENDER_DEBUG"

HELP: Mapping[str, str] = {
    "profile": "the release to follow, as documented or as shipped",
    "restricted_namespace": "the only namespace that the operator watches",
    "discovery_backend": "how components find each other",
    "nats_address": "address of NATS, such as nats://nats:4222",
    "etcd_address": "address of etcd",
    "model_express_url": "address of the model express server",
    "prometheus_endpoint": "address of Prometheus, for planners",
    "ingress_class_name": "class of the Ingress of frontends",
    "ingress_tls_secret": "Secret with the certificate of Ingress hosts",
    "ingress_host_suffix": "what follows the name of a graph in Ingress hosts",
    "virtual_service_gateway": "Istio gateway, for VirtualServices instead of Ingress objects",
    "virtual_service_supports_https": "whether that gateway serves HTTPS",
    "grove_termination_delay": "how long Grove waits before it ends a broken group, such as 15m",
    "mpi_ssh_secret_name": "Secret with the SSH key of MPI launches",
    "mpi_ssh_secret_namespace": "namespace that this Secret is copied from",
    "planner_cluster_role": "ClusterRole of planners",
    "epp_cluster_role": "ClusterRole of endpoint pickers",
    "profiling_cluster_role": "ClusterRole of profiling jobs",
    "debugger_image": "image of debug containers",
}

Json = dict[str, Any]

_CHOICES = {"profile": tuple(PROFILES), "discovery_backend": ("kubernetes", "etcd")}
_TRUTH = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}

_FIELDS = {field.name: field for field in attrs.fields(OperatorSettings)}
# By name: a type is a text until settings are structured from a mapping for the first time, and a class from then on.
_TYPES = {name: getattr(field.type, "__name__", field.type) for name, field in _FIELDS.items()}


@frozen
class Options(Value):
    """What surrounds the resources to render.

    *observed* is None unless given, and so is *objects*, all live objects that a resource with stages may look at.
    """

    settings: OperatorSettings
    facts: ClusterFacts
    observed: Observed | None
    objects: tuple[Json, ...] | None = None


@frozen
class _Given(Value):
    """A setting from a flag or a variable, which *origin* names."""

    value: Any
    origin: str


def add_arguments(parser: ArgumentParser) -> None:
    """Declare every setting as a flag, and the files."""
    files = parser.add_argument_group("files with settings and facts (YAML or JSON)")
    files.add_argument("--settings", metavar="FILE", help="how the operator is configured")
    files.add_argument("--facts", metavar="FILE", help="what the cluster has")
    files.add_argument(
        "--observed",
        metavar="FILE",
        help="live state of the one resource to render; for one with stages, the live objects",
    )
    files.add_argument(
        "--api-versions",
        metavar="GROUP",
        action="append",
        default=[],
        help="API groups of the cluster, besides those of the facts; repeat it or separate them by commas",
    )
    group = parser.add_argument_group(
        "settings",
        f"Each is a variable too, such as {VARIABLE_PREFIX}NATS_ADDRESS, and a key of the settings file: nats_address.",
    )
    for name, field in _FIELDS.items():
        _add_setting(group, name, field)


def _add_setting(group: Any, name: str, field: Any) -> None:
    flag = _flag(name)
    if _TYPES[name] == "bool":
        group.add_argument(flag, dest=_destination(name), action=BooleanOptionalAction, default=None, help=HELP[name])
        return
    shown = "15m" if name == "grove_termination_delay" else field.default
    note = f"{HELP[name]} (default: {shown})" if shown else HELP[name]
    metavar = None if name in _CHOICES else "DURATION" if _TYPES[name] == "int" else "TEXT"
    group.add_argument(flag, dest=_destination(name), metavar=metavar, choices=_CHOICES.get(name), help=note)


def resolved(arguments: Namespace, console: Console, report: Report) -> Options:
    """Return the options of a call; raises Stopped when something about them is wrong, with all of it reported."""
    steps: tuple[Callable[[Namespace, Console, Report], Any], ...] = (_settings, _facts, _observed)
    found = []
    for step in steps:
        try:
            found.append(step(arguments, console, report))
        except Stopped:
            continue
    if len(found) < len(steps):
        raise Stopped
    settings, facts, (observed, objects) = found
    return Options(settings, facts, observed, objects)


def _settings(arguments: Namespace, console: Console, report: Report) -> OperatorSettings:
    given = _given(arguments, console.environ, report)
    file = records.RecordFile("", {})
    if arguments.settings is not None:
        file = records.read(arguments.settings, "settings", console, report)
    values = {name: setting.value for name, setting in given.items()}
    try:
        if file.mapping:
            return _checked(OperatorSettings.from_mapping(_joined(file.mapping, values)))
        # Without a mapping there is nothing to structure, and no need to load what does it.
        return _checked(attrs.evolve(OperatorSettings(), **values).checked())
    except InvalidSettings as error:
        for problem in error.problems:
            if setting := given.get(str(problem.path[0])):
                report.unusable(PROGRAM, setting.origin, problem.message)
        file.report(tuple(problem for problem in error.problems if problem.path[0] not in given), report)
        raise Stopped from None


def _checked(settings: OperatorSettings) -> OperatorSettings:
    """Return *settings* if their profile exists; raises InvalidSettings otherwise."""
    if settings.profile in PROFILES:
        return settings
    message = f'must be one of {", ".join(PROFILES)}, got "{settings.profile}"'
    raise InvalidSettings([Problem("settings/enum", ("profile",), message)])


def _given(arguments: Namespace, environ: Mapping[str, str], report: Report) -> dict[str, _Given]:
    """Return the settings that flags or variables give; an empty variable counts as not set."""
    _warn_of_unknown_variables(environ, report)
    found = {}
    refused = False
    for name in _FIELDS:
        flag, variable = getattr(arguments, _destination(name)), VARIABLE_PREFIX + name.upper()
        value = environ.get(variable) or None if flag is None else flag
        origin = variable if flag is None else _flag(name)
        if value is None:
            continue
        try:
            found[name] = _Given(_value(name, value), origin)
        except ValueError as error:
            report.unusable(PROGRAM, origin, str(error))
            refused = True
    if refused:
        raise Stopped
    return found


def _value(name: str, given: str | bool) -> Any:  # noqa: FBT001 - what the parser found
    """Return the value of a setting that *given* means; raises ValueError where it means none."""
    if isinstance(given, bool) or _TYPES[name] == "str":
        return given
    if _TYPES[name] == "int":
        from dynamo_render.kube import durations  # noqa: PLC0415 - few calls give a duration

        return durations.parse(given)
    if given.lower() not in _TRUTH:
        raise ValueError(f'must be true or false, got "{given}"')
    return _TRUTH[given.lower()]


def _warn_of_unknown_variables(environ: Mapping[str, str], report: Report) -> None:
    variables = [variable for variable in sorted(environ) if variable.startswith(VARIABLE_PREFIX)]
    if not variables:
        return
    known = (DEBUG, *(VARIABLE_PREFIX + name.upper() for name in _FIELDS))
    for variable in variables:
        if variable not in known:
            hint = structural.nearest(variable, known)
            report.warning(PROGRAM, f"the variable {variable} is not a setting" + (f"; {hint}" if hint else ""))


def _joined(mapping: Mapping[str, Any], values: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the settings of a file with *values* over them, whichever way the file writes the delay."""
    if "grove_termination_delay" in values:
        mapping = {key: value for key, value in mapping.items() if key != "grove_termination_delay_seconds"}
    return {**mapping, **values}


def _facts(arguments: Namespace, console: Console, report: Report) -> ClusterFacts:
    # Also with a version behind the group, as helm and kubectl write it: grove.io/v1alpha1.
    groups = [text.strip().partition("/")[0] for texts in arguments.api_versions for text in texts.split(",")]
    if arguments.facts is None:
        return ClusterFacts(api_groups=frozenset(filter(None, groups)))
    file = records.read(arguments.facts, "facts", console, report)
    listed = file.mapping.get("api_groups", [])
    if groups and isinstance(listed, list):
        file = attrs.evolve(file, mapping={**file.mapping, "api_groups": [*listed, *filter(None, groups)]})
    return file.structured(ClusterFacts.from_mapping, report) if file.mapping else ClusterFacts()


def _observed(
    arguments: Namespace, console: Console, report: Report
) -> tuple[Observed | None, tuple[Json, ...] | None]:
    """Return live state by service, or live objects, whichever the file holds."""
    if arguments.observed is None:
        return None, None
    documents = records.documents(arguments.observed, console, report)
    objects = records.live_objects(arguments.observed, documents, report)
    if objects is not None:
        return None, objects
    file = records.only_part(arguments.observed, documents, "observed", report)
    return file.structured(_observed_of, report), None


def _observed_of(mapping: Mapping[str, Any]) -> Observed:
    from dynamo_render.records import structured  # noqa: PLC0415 - loads the converter

    return structured(Observed, mapping, InvalidFacts)


def _flag(name: str) -> str:
    return "--" + name.replace("_", "-")


def _destination(name: str) -> str:
    return f"setting_{name}"
