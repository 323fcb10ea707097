"""The flags of the command that prints an installation. Reads files only through what it is given."""

from __future__ import annotations

import base64
import re
from argparse import ArgumentParser, BooleanOptionalAction, Namespace
from collections.abc import Callable, Iterator
from typing import Any, get_args

import attrs

from dynamo_controller import manifests
from dynamo_controller.manifests import Certificates, Installation
from dynamo_controller.permissions import Mode
from dynamo_controller.settings import ControllerSettings, UnusableSettings, no_text, written
from dynamo_render import OperatorSettings, write_documents
from dynamo_render.kube import names

CERTIFICATE = "-----BEGIN CERTIFICATE-----"
MOST_REPLICAS = 2**31 - 1

_OF_THIS_MACHINE = {"kubeconfig", "context"}


def add_arguments(parser: ArgumentParser) -> None:
    """Declare what is said about an installation beside the settings."""
    add, default = parser.add_argument, Installation(image="")
    add("--only-definitions", action="store_true", help="print the definitions of the kinds and nothing else")
    add("--image", metavar="IMAGE", help="the image with this program; needed unless only definitions are wanted")
    add("--namespace", default=default.namespace, metavar="NAME", help="where the controller runs")
    add(
        "--mode", choices=get_args(Mode), default=default.mode, help="keep graphs in all namespaces, or in its own only"
    )
    add("--webhook", action=BooleanOptionalAction, default=True, help="have resources checked before they are stored")
    add(
        "--certificates",
        choices=get_args(Certificates),
        default=default.certificates,
        help="who makes the webhook's certificate: the controller itself, cert-manager, or you",
    )
    add("--authority", metavar="FILE", help="who signed your own certificate (PEM)")
    add("--replicas", type=int, default=default.replicas, metavar="COUNT", help="how many controllers; one leads")


def installation(
    arguments: Namespace, own: ControllerSettings, render: OperatorSettings, read: Callable[[str], str]
) -> Installation:
    """Return the installation that *arguments* describe. Raises UnusableSettings for what cannot work."""
    wrong = [*_problems(arguments)]
    if wrong:
        raise UnusableSettings(wrong)
    wanted = Installation(
        namespace=arguments.namespace,
        mode=arguments.mode,
        image=arguments.image,
        has_webhook=arguments.webhook,
        certificates=arguments.certificates,
        authority=_authority(arguments, read),
        replicas=arguments.replicas,
    )
    given = {**_given(own), **_given(render)}
    decided = sorted(given.keys() & wanted.decided().keys())
    if decided:
        raise UnusableSettings([f"{name}: follows from the other flags, and cannot be given" for name in decided])
    return attrs.evolve(wanted, settings=given)


def text(arguments: Namespace, own: ControllerSettings, render: OperatorSettings, read: Callable[[str], str]) -> str:
    """Return what *arguments* ask for as YAML, in the order in which it is applied. Raises UnusableSettings."""
    if arguments.only_definitions:
        return write_documents(list(manifests.definitions()))
    return write_documents(list(manifests.objects(installation(arguments, own, render, read))))


def _problems(arguments: Namespace) -> Iterator[str]:
    if not arguments.image:
        yield "--image: is needed"
    elif re.search(r"\s", arguments.image):
        yield f'--image: "{arguments.image}" holds a space'
    if reason := names.why_not_dns_label(arguments.namespace):
        yield f'--namespace: "{arguments.namespace}" is no legal namespace: {reason}'
    if not 0 <= arguments.replicas <= MOST_REPLICAS:
        yield f"--replicas: must be between 0 and {MOST_REPLICAS}, got {arguments.replicas}"


def _authority(arguments: Namespace, read: Callable[[str], str]) -> str:
    is_external = arguments.webhook and arguments.certificates == "external"
    if is_external != bool(arguments.authority):
        raise UnusableSettings(["--authority: is needed with --certificates external, and only there"])
    if not is_external:
        return ""
    try:
        found = read(arguments.authority)
    except OSError as error:
        raise UnusableSettings([f"{arguments.authority}: {(error.strerror or str(error)).lower()}"]) from None
    except UnicodeDecodeError as error:
        raise UnusableSettings([f"{arguments.authority}: {no_text(error)}"]) from None
    if CERTIFICATE not in found:
        raise UnusableSettings([f"{arguments.authority}: holds no certificate, which would start with {CERTIFICATE}"])
    return base64.b64encode(found.encode()).decode()


def _given(settings: ControllerSettings | OperatorSettings) -> dict[str, Any]:
    """Return settings that are not the defaults, and mean the same in a pod as here."""
    default = type(settings)()
    return {
        field.name: written(getattr(settings, field.name))
        for field in attrs.fields(type(settings))
        if getattr(settings, field.name) != getattr(default, field.name) and field.name not in _OF_THIS_MACHINE
    }
