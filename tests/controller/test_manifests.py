"""What an installation consists of, and what the command that prints it accepts and refuses."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest
from kubernetes_validate import validate as kubernetes_validate  # type: ignore[import-untyped]

from dynamo_controller import __main__ as program
from dynamo_controller import installing, manifests
from dynamo_controller.kinds import WATCHED
from dynamo_controller.manifests import Installation
from dynamo_controller.permissions import PERMISSIONS
from dynamo_render import ClusterFacts, OperatorSettings, read_documents, render, write_documents
from dynamo_render.kinds.shared.update_rules import may_change_replicas
from dynamo_render.satellites.access import DISCOVERY_RULES
from dynamo_render.schemas.kinds import KINDS
from tests.controller import rbac_document
from tests.fakes.stage import graph

Json = dict[str, Any]
MODES = ("cluster", "namespaced")


def made(**more: Any) -> list[Json]:
    return list(manifests.objects(Installation(**{"image": "registry.test/controller:1", **more})))


def of_kind(kind: str, **more: Any) -> list[Json]:
    return [content for content in made(**more) if content["kind"] == kind]


def names(kind: str, **more: Any) -> list[str]:
    return [content["metadata"]["name"] for content in of_kind(kind, **more)]


def pod(**more: Any) -> Json:
    (deployment,) = of_kind("Deployment", **more)
    found: Json = deployment["spec"]["template"]["spec"]
    return found


def settings(**more: Any) -> Json:
    (config,) = of_kind("ConfigMap", **more)
    (content,) = read_documents(config["data"]["settings.yaml"], "settings.yaml")
    assert isinstance(content, dict)
    return content


def rules(role: str, **more: Any) -> list[Json]:
    found = next(each for kind in ("ClusterRole", "Role") for each in of_kind(kind, **more) if names_it(each, role))
    listed: list[Json] = found["rules"]
    return listed


def rights(of: Iterable[Mapping[str, Any]]) -> set[tuple[str, str, str]]:
    """Return what rules let somebody do, one by one."""
    return {
        (group, resource, verb)
        for rule in of
        for group in rule["apiGroups"]
        for resource in rule["resources"]
        for verb in rule["verbs"]
    }


def own(role: Json) -> bool:
    """Whether a role is the controller's own."""
    return role["metadata"]["name"] in {manifests.BASE, f"{manifests.BASE}-dynamo-system"}


def names_it(content: Json, name: str) -> bool:
    return bool(content["metadata"]["name"] == name)


@pytest.mark.parametrize("mode", MODES)
def test_every_object_is_valid_for_kubernetes(mode: str) -> None:
    for content in made(mode=mode):
        if content["kind"] != "CustomResourceDefinition":
            kubernetes_validate(content, "1.34", strict=True)


@pytest.mark.parametrize("mode", MODES)
def test_no_object_comes_twice(mode: str) -> None:
    listed = [(each["kind"], each["metadata"]["name"]) for each in made(mode=mode)]
    assert len(set(listed)) == len(listed)


def test_definitions_come_first_and_then_the_namespace_that_others_are_in() -> None:
    kinds = [content["kind"] for content in made()]
    assert kinds[: len(KINDS) + 1] == ["CustomResourceDefinition"] * len(KINDS) + ["Namespace"]


def test_nobody_is_asked_before_there_is_somebody_to_ask() -> None:
    assert made()[-1]["kind"] == "ValidatingWebhookConfiguration"


@pytest.mark.parametrize("mode", MODES)
def test_every_namespaced_object_is_in_the_namespace(mode: str) -> None:
    for content in made(mode=mode, namespace="team"):
        is_wide = content["kind"].startswith(("Cluster", "CustomResource", "Namespace", "Validating"))
        if content["metadata"]["name"] != "dynamo-controller" or not content["kind"].startswith("Role"):
            assert content["metadata"].get("namespace") == (None if is_wide else "team"), content["kind"]


def test_the_lease_of_the_leader_is_where_the_released_operator_has_its_own() -> None:
    """Both take the same Lease, so that never both write."""
    (role,) = of_kind("Role")
    assert role["metadata"]["namespace"] == "kube-system" == settings()["leader_election_namespace"]
    assert [rule["resources"] for rule in role["rules"]] == [["leases"]]
    (near,) = [each for each in of_kind("Role", mode="namespaced") if names_it(each, "dynamo-controller")]
    assert near["metadata"]["namespace"] == "dynamo-system"
    assert settings(mode="namespaced")["leader_election_namespace"] == "dynamo-system"


def test_installations_for_two_namespaces_share_no_object_but_the_definitions() -> None:
    def identities(namespace: str) -> set[tuple[str, str, str]]:
        return {
            (each["kind"], each["metadata"].get("namespace", ""), each["metadata"]["name"])
            for each in made(mode="namespaced", namespace=namespace)
            if each["kind"] != "CustomResourceDefinition"
        }

    assert identities("a") & identities("b") == set()


def test_the_account_may_change_counts_that_an_adapter_holds() -> None:
    """The webhook knows who may by the name: api.md section 9.5."""
    assert may_change_replicas(f"system:serviceaccount:dynamo-system:{manifests.ACCOUNT}")


# Pods


def test_the_pod_meets_the_restricted_security_standard() -> None:
    content = pod()
    assert content["securityContext"]["runAsNonRoot"] is True
    assert content["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    (container,) = content["containers"]
    assert container["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }


def test_the_container_has_probes_and_resources() -> None:
    (container,) = pod()["containers"]
    assert container["livenessProbe"]["httpGet"]["path"] == "/healthz"
    assert container["readinessProbe"]["httpGet"]["path"] == "/readyz"
    assert container["resources"]["requests"].keys() == {"cpu", "memory"}


def test_changed_settings_restart_the_pods() -> None:
    def template(**given: Any) -> Json:
        (deployment,) = of_kind("Deployment", settings=given)
        found: Json = deployment["spec"]["template"]
        return found

    assert template(nats_address="nats://a:4222") != template(nats_address="nats://b:4222")


def test_a_private_key_is_kept_in_memory_only() -> None:
    assert pod()["volumes"][1] == {"name": "certificates", "emptyDir": {"medium": "Memory", "sizeLimit": "1Mi"}}


@pytest.mark.parametrize("mode", MODES)
def test_every_volume_is_mounted_and_every_mount_has_its_volume(mode: str) -> None:
    for has_webhook in (True, False):
        content = pod(mode=mode, has_webhook=has_webhook)
        mounts = [mount["name"] for mount in content["containers"][0]["volumeMounts"]]
        assert mounts == [volume["name"] for volume in content["volumes"]]


def test_services_select_the_pods() -> None:
    (deployment,) = of_kind("Deployment")
    labels = deployment["spec"]["template"]["metadata"]["labels"].items()
    for service in of_kind("Service"):
        assert service["spec"]["selector"].items() <= labels


# Settings


def test_in_its_own_namespace_the_controller_is_told_so() -> None:
    assert settings(mode="namespaced", namespace="team")["restricted_namespace"] == "team"
    assert "restricted_namespace" not in settings(mode="cluster")


def test_in_cluster_mode_the_roles_of_components_are_those_that_are_printed() -> None:
    found = settings()
    named = {found[f"{component}_cluster_role"] for component in ("planner", "epp", "profiling")}
    assert named <= set(names("ClusterRole"))
    assert len(named) == 3


def test_a_graph_with_planner_renders_with_the_printed_roles() -> None:
    given = {key: value for key, value in settings().items() if key in OperatorSettings.__annotations__}
    planner = {"componentType": "planner", "extraPodSpec": {"mainContainer": {"image": "registry.test/planner:1"}}}
    facts = ClusterFacts(cluster_roles=frozenset(names("ClusterRole")))
    rendered = render(graph(Planner=planner), settings=OperatorSettings.from_mapping(given), facts=facts)
    bound = [each["roleRef"]["name"] for each in rendered.objects if each["kind"] == "RoleBinding"]
    assert "dynamo-controller-planner" in bound


# Webhook: operator-config.md section 14.3


def test_the_webhooks_are_those_of_the_specification() -> None:
    (configuration,) = of_kind("ValidatingWebhookConfiguration")
    hook = configuration["webhooks"][0]
    assert [each["name"] for each in configuration["webhooks"]] == [
        "vdynamocomponentdeployment.kb.io",
        "vdynamographdeployment.kb.io",
        "vdynamomodel.kb.io",
        "vdynamographdeploymentrequest.kb.io",
    ]
    assert hook == {
        "name": "vdynamocomponentdeployment.kb.io",
        "admissionReviewVersions": ["v1"],
        "clientConfig": {
            "service": {
                "name": "dynamo-controller-webhook",
                "namespace": "dynamo-system",
                "path": "/validate-nvidia-com-v1alpha1-dynamocomponentdeployment",
            }
        },
        "failurePolicy": "Fail",
        "rules": [
            {
                "apiGroups": ["nvidia.com"],
                "apiVersions": ["v1alpha1"],
                "operations": ["CREATE", "UPDATE"],
                "resources": ["dynamocomponentdeployments"],
            }
        ],
        "sideEffects": "None",
        "timeoutSeconds": 10,
    }


def test_in_one_namespace_only_its_resources_are_asked_about() -> None:
    (configuration,) = of_kind("ValidatingWebhookConfiguration", mode="namespaced", namespace="team")
    for hook in configuration["webhooks"]:
        assert hook["namespaceSelector"] == {"matchLabels": {"kubernetes.io/metadata.name": "team"}}


def test_the_webhook_can_be_left_out_with_all_that_belongs_to_it() -> None:
    for mode in MODES:
        text = write_documents(made(mode=mode, has_webhook=False)[len(KINDS) :])
        assert "webhook" not in text


def test_cert_manager_is_asked_for_a_certificate_that_reaches_the_pod() -> None:
    certificates: Json = {"certificates": "cert-manager"}
    (certificate,) = of_kind("Certificate", **certificates)
    (configuration,) = of_kind("ValidatingWebhookConfiguration", **certificates)
    injected = configuration["metadata"]["annotations"]["cert-manager.io/inject-ca-from"]
    assert injected == f"dynamo-system/{certificate['metadata']['name']}"
    assert pod(**certificates)["volumes"][1]["secret"]["secretName"] == certificate["spec"]["secretName"]
    assert "dynamo-controller-webhook.dynamo-system.svc" in certificate["spec"]["dnsNames"]


def test_who_does_not_make_certificates_may_not_change_the_webhook_configuration() -> None:
    for more in ({"certificates": "cert-manager"}, {"certificates": "external"}, {"has_webhook": False}):
        groups = [group for rule in rules("dynamo-controller", **more) for group in rule["apiGroups"]]
        assert "admissionregistration.k8s.io" not in groups


# Permissions


@pytest.mark.parametrize("mode", MODES)
def test_no_rule_has_a_wildcard(mode: str) -> None:
    for content in made(mode=mode):
        for rule in content.get("rules") or ():
            assert "*" not in {*rule["apiGroups"], *rule["resources"], *rule["verbs"]}


def test_nothing_is_granted_twice_to_one_account_in_one_mode() -> None:
    """A right that two rules give cannot be taken away by taking out one of them."""
    granted = [
        (each.subject, mode, each.group, resource, verb, each.only)
        for each in PERMISSIONS
        for mode in each.modes
        for resource in each.resources
        for verb in each.verbs
    ]
    assert sorted(set(granted)) == sorted(granted)


@pytest.mark.parametrize("mode", MODES)
def test_whoever_grants_discovery_has_it(mode: str) -> None:
    """Kubernetes lets nobody grant what they do not have."""
    kind = "ClusterRole" if mode == "cluster" else "Role"
    (role,) = [each for each in of_kind(kind, mode=mode) if names_it(each, "dynamo-controller")]
    missing = rights(DISCOVERY_RULES) - rights(role["rules"])
    assert missing == set()


@pytest.mark.parametrize("mode", MODES)
def test_whatever_is_watched_may_be_watched(mode: str) -> None:
    roles = [*of_kind("ClusterRole", mode=mode), *of_kind("Role", mode=mode)]
    granted = rights(rule for role in roles if own(role) for rule in role["rules"])
    for each in WATCHED:
        plural = each.kind.kind.lower() + ("es" if each.kind.kind.endswith("s") else "s")
        assert {(each.kind.group, plural, "list"), (each.kind.group, plural, "watch")} <= granted


def test_secrets_of_other_namespaces_are_none_of_a_namespaced_controllers_business() -> None:
    wide = rules("dynamo-controller-team", mode="namespaced", namespace="team")
    assert [rule["resources"] for rule in wide] == [
        ["customresourcedefinitions"],
        ["queues"],
        ["validatingwebhookconfigurations"],
    ]


def test_what_a_component_role_binds_by_name_is_what_is_printed() -> None:
    bind = [rule for rule in rules("dynamo-controller") if "bind" in rule["verbs"]]
    assert [rule["resourceNames"] for rule in bind] == [
        ["dynamo-controller-planner", "dynamo-controller-epp", "dynamo-controller-dgdr-profiling"]
    ]


def test_in_one_namespace_the_accounts_of_components_are_printed() -> None:
    """The controller makes them in cluster mode only: operator-config.md section 8.1."""
    assert names("ServiceAccount", mode="namespaced")[1:] == [
        "planner-serviceaccount",
        "epp-serviceaccount",
        "dgdr-profiling-job",
    ]
    assert names("ServiceAccount", mode="cluster") == [manifests.ACCOUNT]


def test_the_document_has_every_rule_with_its_reason() -> None:
    """After a change, `python -m tests.controller.rbac_document` writes the tables."""
    page = rbac_document.PAGE.read_text("utf-8")
    assert rbac_document.tables(page) == [rbac_document.table(subject) for subject in rbac_document.SUBJECTS]


# The command


def printed(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, list[Any], str]:
    code = program.main(["manifests", "--image", "registry.test/controller:1", *words], {})
    told = capsys.readouterr()
    return code, [*read_documents(told.out, "out")], told.err


def test_the_command_prints_all_objects_as_yaml(capsys: pytest.CaptureFixture[str]) -> None:
    assert printed(capsys) == (0, made(), "")


def test_the_command_can_print_definitions_alone(capsys: pytest.CaptureFixture[str]) -> None:
    assert program.main(["manifests", "--only-definitions"], {}) == 0
    listed = [*read_documents(capsys.readouterr().out, "out")]
    assert listed == made()[: len(KINDS)]


def test_the_command_needs_an_image(capsys: pytest.CaptureFixture[str]) -> None:
    assert program.main(["manifests"], {}) == 2
    assert capsys.readouterr().err == "dynamo-controller: --image: is needed\n"


def test_the_command_puts_given_settings_into_the_settings_file(capsys: pytest.CaptureFixture[str]) -> None:
    _code, content, _ = printed(capsys, "--nats-address", "nats://nats:4222", "--workers", "3", "--context", "here")
    (config,) = [each for each in content if each["kind"] == "ConfigMap"]
    (given,) = read_documents(config["data"]["settings.yaml"], "settings.yaml")
    assert isinstance(given, dict)
    assert (given["nats_address"], given["workers"]) == ("nats://nats:4222", 3)
    assert "context" not in given


def test_the_command_takes_namespace_and_mode(capsys: pytest.CaptureFixture[str]) -> None:
    words = ("--namespace", "team", "--mode", "namespaced", "--no-webhook")
    assert printed(capsys, *words)[1] == made(namespace="team", mode="namespaced", has_webhook=False)


def test_the_authority_of_your_own_certificate_is_trusted(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    content = f"{installing.CERTIFICATE}\nPEM\n"
    (tmp_path / "ca.crt").write_text(content)
    words = ("--certificates", "external", "--authority", str(tmp_path / "ca.crt"))
    configuration = printed(capsys, *words)[1][-1]
    trusted = {hook["clientConfig"]["caBundle"] for hook in configuration["webhooks"]}
    assert trusted == {base64.b64encode(content.encode()).decode()}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--restricted-namespace", "team"), "restricted_namespace: follows from the other flags, and cannot be given"),
        (("--planner-cluster-role", "p"), "planner_cluster_role: follows from the other flags"),
        (("--certificates", "external"), "--authority: is needed with --certificates external"),
        (("--authority", "f"), "--authority: is needed with --certificates external"),
        (("--certificates", "external", "--authority", "nothing"), "nothing: no such file or directory"),
        (("--certificates", "external", "--authority", __file__), "test_manifests.py: holds no certificate"),
        (("--namespace", "My Team"), '--namespace: "My Team" is no legal namespace: it contains'),
        (("--replicas", "-1"), "--replicas: must be between 0 and 2147483647, got -1"),
        (("--image", "a b"), '--image: "a b" holds a space'),
    ],
)
def test_what_cannot_work_is_refused(capsys: pytest.CaptureFixture[str], words: tuple[str, ...], message: str) -> None:
    code, content, complaint = printed(capsys, *words)
    assert (code, content) == (2, [])
    assert message in complaint


def test_an_authority_that_is_no_text_is_refused(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "ca.crt").write_bytes(b"\x30\x82\xff")
    words = ("--certificates", "external", "--authority", str(tmp_path / "ca.crt"))
    code, content, complaint = printed(capsys, *words)
    assert (code, content) == (2, [])
    assert "byte 0x82 at offset 1 is no UTF-8" in complaint


def test_all_that_is_wrong_with_flags_is_said_at_once(capsys: pytest.CaptureFixture[str]) -> None:
    assert program.main(["manifests", "--namespace", "A", "--replicas", "-1"], {}) == 2
    said = [line.split(": ")[1] for line in capsys.readouterr().err.splitlines()]
    assert said == ["--image", "--namespace", "--replicas"]
