"""What `dynamo-controller manifests` prints, held against a real API server: every object, and the rules about pods."""

from __future__ import annotations

from typing import Any

import pytest

from dynamo_controller import manifests
from dynamo_controller.manifests import Installation
from tests.cluster.bench import Bench

Json = dict[str, Any]
NAMESPACE = "printed"


def printed(**more: Any) -> list[Json]:
    return list(manifests.objects(Installation(image="registry.test/controller:1", namespace=NAMESPACE, **more)))


@pytest.mark.parametrize("certificates", ["own", "external"])
@pytest.mark.parametrize("mode", ["cluster", "namespaced"])
def test_the_server_takes_every_object_without_a_warning(api_server: Bench, mode: str, certificates: str) -> None:
    api_server.ensure_namespaces([NAMESPACE])
    given = printed(mode=mode, certificates=certificates)
    answers = {f"{each['kind']}/{each['metadata']['name']}": api_server.client.verdict_on_apply(each) for each in given}
    assert {
        name: (each.message, each.warnings) for name, each in answers.items() if each.message or each.warnings
    } == {}


@pytest.mark.parametrize("certificates", ["own", "external"])
def test_the_pods_are_allowed_where_the_restricted_standard_is_enforced(api_server: Bench, certificates: str) -> None:
    """Pod Security Admission, which every API server has, decides."""
    level = {"pod-security.kubernetes.io/enforce": "restricted"}
    metadata = {"name": "printed-restricted", "labels": level}
    api_server.client.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": metadata})
    (deployment,) = [each for each in printed(certificates=certificates) if each["kind"] == "Deployment"]
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "controller", "namespace": "printed-restricted"},
        "spec": deployment["spec"]["template"]["spec"],
    }
    assert api_server.client.verdict_on_create(pod).message == ""
    pod["spec"] = {**pod["spec"], "securityContext": {}}
    assert "violates PodSecurity" in api_server.client.verdict_on_create(pod).message
