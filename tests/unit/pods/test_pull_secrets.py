from __future__ import annotations

from typing import Any

import pytest

from dynamo_render import NamespaceFacts
from dynamo_render.pods import pull_secrets
from tests.scopes import component_scope, graph_scope

DIGEST = "@sha256:" + "0" * 64


def found(image: str, index: dict[str, Any], profile: str = "0.9") -> tuple[str, ...]:
    known = NamespaceFacts(pull_secrets=index)
    graph = graph_scope(profile=profile, namespace_facts=known)
    return pull_secrets.planned(component_scope({"extraPodSpec": {"mainContainer": {"image": image}}}, graph=graph))


@pytest.mark.parametrize(
    "image",
    ["ubuntu", "ubuntu:22.04", "library/ubuntu", "docker.io/a/b", "index.docker.io/a/b:1", f"a/b{DIGEST}"],
)
def test_an_image_without_a_host_is_of_docker_io(image: str) -> None:
    assert found(image, {"https://index.docker.io/v1/": ("hub",)}) == ("hub",)


@pytest.mark.parametrize(
    ("image", "host"),
    [("localhost/a", "localhost"), ("reg:5000/a/b", "reg:5000"), ("reg.example.com/a:1", "reg.example.com")],
)
def test_a_first_part_with_dot_or_port_is_a_host(image: str, host: str) -> None:
    assert found(image, {host: ("s",)}) == ("s",)


def test_names_are_sorted_and_stand_once() -> None:
    assert found("ghcr.io/a", {"ghcr.io": ("b", "a"), "https://ghcr.io": ("c", "a")}) == ("a", "b", "c")


def test_a_server_that_is_no_host_is_passed_over() -> None:
    assert found("ghcr.io/a", {"::": ("x",), "ghcr.io": ("a",)}) == ("a",)


def test_the_users_references_come_first_as_they_are() -> None:
    written = [{"name": "mine"}, {"name": "b"}]
    assert pull_secrets.merged(written, ("a", "b")) == [{"name": "mine"}, {"name": "b"}, {"name": "a"}]


def test_the_released_operator_compares_hosts_as_they_stand() -> None:
    assert found("docker.io/a", {"index.docker.io": ("hub",)}, "0.9-shipped") == ()
    assert found("ubuntu:22.04", {"ubuntu": ("odd",)}, "0.9-shipped") == ()
