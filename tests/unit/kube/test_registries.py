"""Registries: both host rules of operator-config.md section 5 and decision D-24, and the index of pull secrets."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from dynamo_render.kube import registries

HOSTS = {
    "nvcr.io/nvidia/ai-dynamo/vllm-runtime:0.8.0": "nvcr.io",
    "https://nvcr.io/v1/": "nvcr.io",
    "my-registry.com:5005/registry1": "my-registry.com:5005",
    "localhost:5000/x:y": "localhost:5000",
    "NVCR.IO/x": "NVCR.IO",
    "reg.io/a/b@sha256:abcd": "reg.io",
    "[::1]:5000/x": "[::1]:5000",
    "oci://reg.io/x": "reg.io",
    "reg.io:/x": "reg.io:",
    "docker.io": "docker.io",
    "docker.io/library/ubuntu:22.04": "docker.io",
    "https://index.docker.io/v1/": "index.docker.io",
    "ubuntu": "ubuntu",
    "ubuntu:22": "ubuntu:22",
    "library/ubuntu:latest": "library",
    "ubuntu@sha256:0123": "sha256:0123",
    # rules below the table
    "user:pw@reg.io/x": "reg.io",
    "a@b:c@reg.io": "reg.io",
    "//foo://x": "foo:",
    "reg.io?x#y": "reg.io",
    "reg.io#%41": "reg.io",
    "reg.io/%41": "reg.io",
    "reg.io#\x01": "reg.io",
    "reg.io?%zz": "reg.io",
    "%C3%A4.io": "\u00e4.io",
    "a%25b": "a%b",
    "%80.io": r"\x80.io",
    "\u00e4.io": "\u00e4.io",
    "a b@reg.io".replace(" ", "%20"): "reg.io",
    "reg_~!$&'()*+,;=<>\"": "reg_~!$&'()*+,;=<>\"",
    "reg.io/a b": "reg.io",
}

NO_HOSTS = [
    "ubuntu:22.04",
    "ubuntu:latest",
    "ubuntu@sha256:abc",
    "",
    "/foo",
    "http:///x",
    "https://",
    "://x",
    "foo/http://x",
    "1http://x/y",
    "///foo://x",
    "http:foo://x",
    "a b.io",
    "a\\b",
    "a^b",
    "a{b",
    "a}b",
    "a|b",
    "a`b",
    "reg.io\x01/x",
    "reg.io/x\x7f",
    "reg.io?\n",
    "a b@reg.io",
    "a[b@reg.io",
    "%41.io",
    "%zz.io",
    "%2.io",
    "%@reg.io",
    "reg.io/%zz",
    "reg.io#%z",
    "[::1",
    "[::1]x",
    "[::1]:http",
    "reg.io:\u0661",
]

REGISTRIES_OF_IMAGES = {
    "ubuntu": "docker.io",
    "ubuntu:22.04": "docker.io",
    "ubuntu:5000": "docker.io",
    "library/ubuntu:latest": "docker.io",
    "me/app:1": "docker.io",
    "docker.io/me/app:1": "docker.io",
    "index.docker.io/me/app:1": "docker.io",
    "INDEX.docker.io/me/app": "docker.io",
    "nvcr.io/nvidia/ai-dynamo/vllm-runtime:0.8.0": "nvcr.io",
    "NVCR.IO/x": "nvcr.io",
    "nvcr.io": "docker.io",
    "localhost/x": "localhost",
    "localhost:5000/x:y": "localhost:5000",
    "registry:5000/x": "registry:5000",
    "[::1]:5000/x": "[::1]:5000",
    "[FE80::1]/x": "[fe80::1]",
    f"ubuntu@sha256:{'a' * 64}": "docker.io",
    f"reg.io/a/b:1.0@sha256:{'0' * 64}": "reg.io",
    "a__b/c-d--e/f.g_h": "docker.io",
    f"reg.io/{'a' * 64}": "reg.io",
}

NO_IMAGES = [
    "",
    " ubuntu",
    "ubuntu\n",
    "Ubuntu",
    "NVCR/x",
    "https://nvcr.io/x",
    "/x",
    "x/",
    "a//b",
    "a___b",
    "a..b",
    "-a",
    "ubuntu:",
    "ubuntu:-x",
    f"ubuntu:{'x' * 129}",
    "ubuntu@",
    "ubuntu@sha256:abcd",
    "ubuntu@sha256",
    "reg.io:/x",
    "reg.io:http/x",
    "-reg.io/x",
    "reg..io/x",
    "reg_a.io/x",
    "[::1/x",
    "user@reg.io/x",
    f"reg.io/{'a' * 256}",
    "a" * 64,
]


def secret(
    name: str, config: Any, *, namespace: str = "team-a", kind: str = registries.PULL_SECRET_TYPE
) -> dict[str, Any]:
    """A pull secret whose configuration is *config*, given as a value or as the exact text."""
    text = config if isinstance(config, str) else json.dumps(config)
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": name, "namespace": namespace},
        "type": kind,
        "data": {registries.PULL_SECRET_KEY: base64.b64encode(text.encode()).decode()},
    }


EXAMPLE = [
    secret("regcred-b", {"auths": {"https://nvcr.io": {}, "nvcr.io/nvidia": {}}}),
    secret("regcred-a", {"auths": {"nvcr.io": {}, "my-registry.com:5005/x": {}}}),
    secret("hub", {"auths": {"https://index.docker.io/v1/": {}}}),
]


@pytest.mark.parametrize(("text", "host"), HOSTS.items())
def test_the_released_operator_reads_a_host_as_from_a_url(text: str, host: str) -> None:
    assert registries.host(text) == host


@pytest.mark.parametrize("text", NO_HOSTS)
def test_a_text_that_is_no_url_with_a_host_is_refused(text: str) -> None:
    with pytest.raises(registries.InvalidHost):
        registries.host(text)


def test_an_invalid_host_is_a_value_error() -> None:
    assert issubclass(registries.InvalidHost, ValueError)


@pytest.mark.parametrize("text", ["user:secret@reg.io:http/x", "https://user:secret@reg.io:x", "user:sec/ret@reg.io/x"])
def test_a_message_never_shows_a_password(text: str) -> None:
    with pytest.raises(registries.InvalidHost) as caught:
        registries.host(text)
    assert not any(part in str(caught.value) for part in ("user", "sec", "ret@"))


@pytest.mark.parametrize(("reference", "registry"), REGISTRIES_OF_IMAGES.items())
def test_an_image_comes_from_the_registry_of_its_reference(reference: str, registry: str) -> None:
    assert registries.image_registry(reference) == registry


@pytest.mark.parametrize("reference", NO_IMAGES)
def test_what_is_no_image_reference_is_refused(reference: str) -> None:
    with pytest.raises(registries.InvalidHost, match="is no image reference"):
        registries.image_registry(reference)


@pytest.mark.parametrize(
    ("key", "registry"),
    [
        ("https://index.docker.io/v1/", "docker.io"),
        ("index.docker.io", "docker.io"),
        ("docker.io", "docker.io"),
        ("https://NVCR.io", "nvcr.io"),
        ("nvcr.io/nvidia", "nvcr.io"),
        ("my-registry.com:5005/x", "my-registry.com:5005"),
        ("http://localhost:5000/v2/", "localhost:5000"),
        ("reg.io:", "reg.io"),
        ("[::1]:5000", "[::1]:5000"),
    ],
)
def test_a_credential_is_for_the_registry_of_its_server(key: str, registry: str) -> None:
    assert registries.server_registry(key) == registry


@pytest.mark.parametrize("key", ["", "https://", "a b"])
def test_a_key_without_a_host_is_refused(key: str) -> None:
    with pytest.raises(registries.InvalidHost):
        registries.server_registry(key)


def test_the_exact_index_of_the_worked_example_holds() -> None:
    index, _ = registries.pull_secret_index(EXAMPLE, rule="exact")
    assert index == {
        "team-a": {
            "nvcr.io": ("regcred-a", "regcred-b"),
            "my-registry.com:5005": ("regcred-a",),
            "index.docker.io": ("hub",),
        }
    }


def test_the_reference_index_knows_docker_hub_by_one_name() -> None:
    index, _ = registries.pull_secret_index(EXAMPLE, rule="reference")
    assert index["team-a"]["docker.io"] == ("hub",)


def test_namespaces_and_hosts_come_in_ascending_order() -> None:
    secrets = [secret("s", {"auths": {"b.io": {}, "a.io": {}}}, namespace=namespace) for namespace in ("z", "a")]
    index, _ = registries.pull_secret_index(secrets, rule="exact")
    assert [(namespace, list(hosts)) for namespace, hosts in index.items()] == [
        ("a", ["a.io", "b.io"]),
        ("z", ["a.io", "b.io"]),
    ]


@pytest.mark.parametrize("kind", ["Opaque", "kubernetes.io/dockercfg", ""])
def test_secrets_of_another_type_are_passed_over(kind: str) -> None:
    assert registries.pull_secret_index([secret("s", "no JSON", kind=kind)], rule="exact") == ({}, ())


@pytest.mark.parametrize(
    ("config", "hosts"),
    [
        ('{"AUTHS": {"a.io": 1}}', ["a.io"]),
        ('{"auth\u017f": {"a.io": {}}}', ["a.io"]),
        ('{"auths": {"a.io": null}, "Auths": {"b.io": []}}', ["a.io", "b.io"]),
        ('{"auths": {"a.io": {}}, "auths": null, "auths": {"b.io": {}}}', ["b.io"]),
        ('{"auths": {"a.io": {}, "a.io": {}}}', ["a.io"]),
        ('{"credHelpers": {"a.io": "x"}, "auths": {"b.io": {}}}', ["b.io"]),
        (f'{{"auths": {{"a.io": {"9" * 5000}}}}}', ["a.io"]),
        (' {"auths": {"a.io": {}}}\n', ["a.io"]),
    ],
)
def test_the_configuration_is_read_as_go_reads_it(config: str, hosts: list[str]) -> None:
    index, _ = registries.pull_secret_index([secret("s", config)], rule="exact")
    assert list(index["team-a"]) == hosts


@pytest.mark.parametrize("config", ["null", "{}", '{"auths": null}', '{"auths": {}}'])
def test_a_configuration_may_hold_no_host(config: str) -> None:
    assert registries.pull_secret_index([secret("s", config)], rule="exact") == ({}, ())


def test_line_breaks_in_base64_do_not_matter() -> None:
    broken = secret("s", {"auths": {"a.io": {}}})
    data = broken["data"][registries.PULL_SECRET_KEY]
    broken["data"][registries.PULL_SECRET_KEY] = f"{data[:8]}\r\n{data[8:]}\n"
    index, _ = registries.pull_secret_index([broken], rule="exact")
    assert index == {"team-a": {"a.io": ("s",)}}


MALFORMED = {
    "no data": ({**secret("bad", ""), "data": None}, "has no data under .dockerconfigjson"),
    "other data": ({**secret("bad", ""), "data": {"x": "eA=="}}, "has no data under .dockerconfigjson"),
    "empty data": (secret("bad", ""), "has no data under .dockerconfigjson"),
    "no base64": ({**secret("bad", ""), "data": {".dockerconfigjson": "e30"}}, "is no base64"),
    "no JSON": (secret("bad", "{"), "the configuration is no JSON"),
    "not a JSON constant": (secret("bad", '{"auths": {"a.io": NaN}}'), "the configuration is no JSON"),
    "trailing data": (secret("bad", "{} x"), "the configuration is no JSON"),
    "byte order mark": (secret("bad", "\ufeff{}"), "the configuration is no JSON"),
    "too deep": (secret("bad", "[" * 100_000), "the configuration is no JSON"),
    "a list": (secret("bad", "[]"), "the configuration is not a JSON object"),
    "auths is a list": (secret("bad", {"auths": []}), "auths is not a JSON object"),
    "auths is a text": (secret("bad", {"auths": "x"}), "auths is not a JSON object"),
    "empty key": (secret("bad", {"auths": {"nvcr.io": {}, "": {}}}), "names no registry"),
    "key without host": (secret("bad", {"auths": {"https://": {}}}), "names no registry"),
}


@pytest.mark.parametrize(("bad", "reason"), MALFORMED.values(), ids=MALFORMED)
def test_a_malformed_secret_aborts_the_exact_index(bad: dict[str, Any], reason: str) -> None:
    """The released operator keeps its previous index, for all namespaces."""
    with pytest.raises(registries.InvalidPullSecret, match=f"^pull secret team-a/bad: .*{reason}"):
        registries.pull_secret_index([*EXAMPLE, bad], rule="exact")


@pytest.mark.parametrize(("bad", "reason"), MALFORMED.values(), ids=MALFORMED)
def test_a_malformed_secret_is_reported_by_the_reference_index(bad: dict[str, Any], reason: str) -> None:
    _, skipped = registries.pull_secret_index([bad], rule="reference")
    assert [(entry.namespace, entry.name, reason in entry.reason) for entry in skipped] == [("team-a", "bad", True)]


@pytest.mark.parametrize("bad", [bad for bad, _ in MALFORMED.values()], ids=MALFORMED)
def test_a_malformed_secret_leaves_the_reference_index_as_it_is_without_it(bad: dict[str, Any]) -> None:
    index, _ = registries.pull_secret_index([bad, *EXAMPLE], rule="reference")
    assert index == registries.pull_secret_index(EXAMPLE, rule="reference")[0]


def test_skipped_secrets_come_in_ascending_order() -> None:
    bad = [secret(name, "{", namespace=namespace) for namespace, name in (("b", "x"), ("a", "z"), ("a", "y"))]
    _, skipped = registries.pull_secret_index(bad, rule="reference")
    assert [entry[:2] for entry in skipped] == [("a", "y"), ("a", "z"), ("b", "x")]


def test_an_invalid_pull_secret_says_which_and_why() -> None:
    with pytest.raises(registries.InvalidPullSecret) as caught:
        registries.pull_secret_index([secret("bad", "[]")], rule="exact")
    problem = caught.value
    assert (problem.namespace, problem.name, problem.reason) == (
        "team-a",
        "bad",
        "the configuration is not a JSON object",
    )


def test_a_skip_reason_never_shows_a_credential() -> None:
    config = {"auths": {"https://user:secret@reg.io:http": {"auth": "c2VjcmV0"}}}
    _, skipped = registries.pull_secret_index([secret("bad", config)], rule="reference")
    assert "secret" not in skipped[0].reason
