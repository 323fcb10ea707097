"""Laws of the objects that come out: they are legal, and everything that one names is there.

Where the specified behaviour breaks a law, the law names the exception; decision 0009 lists them all.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dynamo_render import InvalidResource, Rendered
from dynamo_render.kube import manifest, names
from tests import manifests, output_schemas
from tests.strategies import situations
from tests.strategies.situations import Situation

Json = dict[str, Any]

both_profiles = pytest.mark.parametrize("profile", [situations.PROFILE, situations.SHIPPED])
valid_situations = given(situations.situations())
valid_graphs = given(situations.graph_situations())

TYPE_LABEL = "nvidia.com/dynamo-component-type"
TARGET_LABEL = "nvidia.com/dynamo-deployment-target-type"
DISCOVERY = "nvidia.com/dynamo-discovery-backend"
SHELLS = ("sh", "/bin/sh", "bash")


def rendered_as_far_as_accepted(situation: Situation) -> Rendered | None:
    """Return the render, or None where the shipped profile refuses what only it might have accepted."""
    try:
        return situation.rendered()
    except InvalidResource:
        assert not situation.is_documented
        return None


@both_profiles
@given(data=st.data())
def test_every_object_fits_the_schema_of_its_kind(profile: str, data: st.DataObject) -> None:
    rendered = rendered_as_far_as_accepted(data.draw(situations.situations(profile)))
    for made in rendered.objects if rendered else ():
        assert output_schemas.problems(made) == [], manifests.title(made)


@valid_situations
def test_no_list_that_the_api_server_keeps_as_a_map_holds_a_key_twice(situation: Situation) -> None:
    for made in situation.rendered().objects:
        assert output_schemas.repeated_entries(made) == [], manifests.title(made)


@both_profiles
@given(data=st.data())
def test_no_two_objects_have_the_same_identity(profile: str, data: st.DataObject) -> None:
    rendered = rendered_as_far_as_accepted(data.draw(situations.situations(profile)))
    identities = [manifest.identity(made) for made in rendered.objects] if rendered else []
    assert len(set(identities)) == len(identities)


@both_profiles
@given(data=st.data())
def test_every_object_is_in_the_namespace_of_its_resource(profile: str, data: st.DataObject) -> None:
    situation = data.draw(situations.situations(profile))
    rendered = rendered_as_far_as_accepted(situation)
    for made in rendered.objects if rendered else ():
        assert made["metadata"]["namespace"] == situation.namespace


@valid_situations
def test_every_name_is_legal_for_its_kind(situation: Situation) -> None:
    for made in situation.rendered().objects:
        why_not = names.why_not_dns_label_starting_with_letter if made["kind"] == "Service" else names.why_not_dns_label
        assert why_not(made["metadata"]["name"]) is None, manifests.title(made)


@valid_situations
def test_every_label_and_annotation_is_legal(situation: Situation) -> None:
    rendered = situation.rendered()
    metadata = [made["metadata"] for made in rendered.objects]
    labels = [part.get("labels", {}) for part in metadata] + [pod.labels for pod in manifests.pods(rendered.objects)]
    for part in labels:
        assert [key for key in part if not names.is_qualified_name(key)] == []
        assert [value for value in part.values() if not names.is_label_value(value)] == []
    for part in metadata:
        assert [key for key in part.get("annotations", {}) if not names.is_annotation_key(key)] == []


@valid_situations
def test_every_variable_stands_once_in_its_container(situation: Situation) -> None:
    for pod in manifests.pods(situation.rendered().objects):
        for container in pod.containers:
            variables = [entry["name"] for entry in container.get("env", ())]
            assert len(set(variables)) == len(variables), pod.of


@both_profiles
@given(data=st.data())
def test_every_mount_has_its_volume_in_the_pod(profile: str, data: st.DataObject) -> None:
    rendered = rendered_as_far_as_accepted(data.draw(situations.situations(profile)))
    for pod in manifests.pods(rendered.objects if rendered else ()):
        volumes = {volume["name"] for volume in pod.spec.get("volumes", ())}
        mounted = {mount["name"] for container in pod.containers for mount in container.get("volumeMounts", ())}
        assert mounted - volumes == set(), pod.of


@valid_situations
def test_a_shell_script_stays_a_script_that_a_shell_accepts(situation: Situation) -> None:
    """A launch changes and wraps what the user wrote; every script of the strategies is valid before that."""
    scripts = {
        script
        for pod in manifests.pods(situation.rendered().objects)
        for container in pod.containers
        for script in scripts_of(container)
    }
    for script in sorted(scripts):
        checked = subprocess.run(["sh", "-n"], input=script.encode(), capture_output=True, check=False)  # noqa: S607
        assert checked.stderr == b"", script


def scripts_of(container: Any) -> Iterator[str]:
    """Yield what a container gives to a shell as its script."""
    words = [*container.get("command", ()), *container.get("args", ())]
    if len(words) > 2 and words[0] in SHELLS and words[1] in ("-c", "-lc"):
        yield words[2]


@valid_situations
def test_every_deployment_selects_its_own_pods(situation: Situation) -> None:
    for made in manifests.of_kind(situation.rendered().objects, "Deployment"):
        labels = made["spec"]["template"]["metadata"]["labels"]
        assert manifests.selects(made["spec"]["selector"]["matchLabels"], labels)


@valid_situations
def test_no_deployment_selects_the_pods_of_another(situation: Situation) -> None:
    deployments = manifests.of_kind(situation.rendered().objects, "Deployment")
    for made in deployments:
        others = [other for other in deployments if other is not made]
        selector = made["spec"]["selector"]["matchLabels"]
        templates = [other["spec"]["template"]["metadata"]["labels"] for other in others]
        assert [labels for labels in templates if manifests.selects(selector, labels)] == []


@valid_situations
def test_every_service_selects_a_rendered_pod(situation: Situation) -> None:
    rendered = situation.rendered()
    pods = list(manifests.pods(rendered.objects))
    for made in manifests.of_kind(rendered.objects, "Service"):
        selector = made["spec"]["selector"]
        is_found = any(manifests.selects(selector, pod.labels) for pod in pods)
        assert is_found or may_select_nothing(selector, situation, rendered), manifests.title(made)


def may_select_nothing(selector: Json, situation: Situation, rendered: Rendered) -> bool:
    """Whether decision 0009 names a reason why the Services with this *selector* find no pod."""
    specs = [made["spec"] for made in manifests.of_kind(rendered.objects, "DynamoComponentDeployment")]
    specs += [situation.resource["spec"]] if situation.resource["kind"] == "DynamoComponentDeployment" else []
    spanning = [spec for spec in specs if "multinode" in spec]
    has_no_type = selector.get(TYPE_LABEL) == ""
    is_debug_of_several_nodes = selector.get(TARGET_LABEL) == "debug" and bool(spanning)
    has_no_replica = any(spec.get("replicas") == 0 for spec in spanning)
    has_no_orchestrator = bool(spanning) and not manifests.of_kind(rendered.objects, "LeaderWorkerSet")
    return has_no_type or is_debug_of_several_nodes or has_no_replica or has_no_orchestrator


@valid_graphs
def test_every_pool_selects_the_frontends_of_its_graph(situation: Situation) -> None:
    """Without a frontend in the Dynamo namespace of the endpoint picker there is nothing to select (decision 0009)."""
    rendered = situation.rendered()
    for made in manifests.of_kind(rendered.objects, "InferencePool"):
        selector = made["spec"]["selector"]["matchLabels"]
        frontends = [pod for pod in manifests.pods(rendered.objects) if pod.labels.get(TYPE_LABEL) == "frontend"]
        there = [pod for pod in frontends if pod.labels["nvidia.com/dynamo-namespace"] == pool_namespace(selector)]
        assert [pod.of for pod in there if not manifests.selects(selector, pod.labels)] == []


def pool_namespace(selector: Json) -> str:
    """Return the Dynamo namespace that a pool selects."""
    return str(selector["nvidia.com/dynamo-namespace"])


@valid_graphs
def test_every_backend_of_an_ingress_a_route_or_a_pool_is_a_rendered_service(situation: Situation) -> None:
    rendered = situation.rendered()
    services = manifests.named(rendered.objects, "Service")
    for made in rendered.objects:
        for service in backends_of(made):
            assert service in services or picker_has_no_service(made, situation, rendered), manifests.title(made)


def backends_of(made: Any) -> Iterator[str]:
    """Yield the Services that an object sends requests to."""
    spec = made.get("spec", {})
    if made["kind"] == "Ingress":
        yield from (path["backend"]["service"]["name"] for rule in spec["rules"] for path in rule["http"]["paths"])
    elif made["kind"] == "VirtualService":
        yield from (route["destination"]["host"] for http in spec["http"] for route in http["route"])
    elif made["kind"] == "InferencePool":
        yield spec["endpointPickerRef"]["name"]


def picker_has_no_service(made: Any, situation: Situation, rendered: Rendered) -> bool:
    """Whether *made* is a pool on Grove without Kubernetes discovery, where only frontends have Services."""
    on_grove = bool(manifests.of_kind(rendered.objects, "PodCliqueSet"))
    return made["kind"] == "InferencePool" and on_grove and graph_discovery(situation) != "kubernetes"


def graph_discovery(situation: Situation) -> str:
    """Return the discovery backend of a graph: its annotation before the setting."""
    annotations = situation.resource["metadata"].get("annotations") or {}
    return str(annotations.get(DISCOVERY, situation.settings.get("discovery_backend", "kubernetes")))


@valid_graphs
def test_every_config_map_secret_claim_and_account_is_rendered_or_declared(situation: Situation) -> None:
    rendered = situation.rendered()
    known = set(declared(situation)) | {(made["kind"], made["metadata"]["name"]) for made in rendered.objects}
    for pod in manifests.pods(rendered.objects):
        missing = {named for named in manifests.references(pod.spec) if named not in known}
        assert missing - set(managed_elsewhere(situation)) == set(), pod.of


def declared(situation: Situation) -> Iterator[tuple[str, str]]:
    """Yield (kind, name) of what a resource, its settings or its facts say to exist."""
    spec = situation.resource["spec"]
    yield from manifests.references(situation.resource)
    for component in spec["services"].values():
        yield from (("PersistentVolumeClaim", mount["name"]) for mount in component.get("volumeMounts", ()))
        if "envFromSecret" in component:
            yield "Secret", component["envFromSecret"]
    yield "Secret", situation.settings.get("mpi_ssh_secret_name", "mpi-run-ssh-secret")
    yield "ServiceAccount", "default"
    here = situation.facts["namespaces"][situation.namespace]
    yield "ServiceAccount", here.get("component_service_account", "default")
    yield from (("Secret", name) for secrets in here.get("pull_secrets", {}).values() for name in secrets)


def managed_elsewhere(situation: Situation) -> Iterator[tuple[str, str]]:
    """Yield (kind, name) of what decision 0009 lets a graph's pods name although nothing renders or declares it."""
    graph = situation.resource["metadata"]["name"]
    services = situation.resource["spec"]["services"].values()
    if situation.settings.get("restricted_namespace"):
        yield from (("ServiceAccount", "planner-serviceaccount"), ("ServiceAccount", "epp-serviceaccount"))
    own = {(service.get("annotations") or {}).get(DISCOVERY) for service in services}
    if "kubernetes" in own and graph_discovery(situation) != "kubernetes":
        yield "ServiceAccount", f"{graph}-k8s-service-discovery"
    if sum(service.get("componentType") == "epp" for service in services) > 1:
        yield "ConfigMap", f"{graph}-epp-config"


@valid_graphs
def test_every_role_binding_binds_a_rendered_account_to_a_role_that_is_there(situation: Situation) -> None:
    rendered = situation.rendered()
    accounts, roles = (manifests.named(rendered.objects, kind) for kind in ("ServiceAccount", "Role"))
    cluster_roles = {situation.settings.get("planner_cluster_role"), situation.settings.get("epp_cluster_role")}
    for made in manifests.of_kind(rendered.objects, "RoleBinding"):
        role = made["roleRef"]
        assert {subject["name"] for subject in made["subjects"]} <= accounts
        assert role["name"] in (roles if role["kind"] == "Role" else cluster_roles)


@valid_graphs
def test_every_clique_that_another_names_is_in_the_set(situation: Situation) -> None:
    for made in manifests.of_kind(situation.rendered().objects, "PodCliqueSet"):
        template = made["spec"]["template"]
        cliques = [clique["name"] for clique in template["cliques"]]
        awaited = {name for clique in template["cliques"] for name in clique["spec"].get("startsAfter", ())}
        grouped = {name for group in template.get("podCliqueScalingGroups", ()) for name in group["cliqueNames"]}
        assert awaited | grouped <= set(cliques)
        assert len(set(cliques)) == len(cliques)


@valid_situations
def test_every_leader_worker_set_names_the_pod_group_of_its_pods(situation: Situation) -> None:
    rendered = situation.rendered()
    groups = manifests.named(rendered.objects, "PodGroup")
    for made in manifests.of_kind(rendered.objects, "LeaderWorkerSet"):
        template = made["spec"]["leaderWorkerTemplate"]
        for part in (template["leaderTemplate"], template["workerTemplate"]):
            assert part["metadata"]["annotations"]["scheduling.k8s.io/group-name"] in groups


@valid_graphs
def test_every_scaling_adapter_names_a_service_of_the_graph(situation: Situation) -> None:
    for made in manifests.of_kind(situation.rendered().objects, "DynamoGraphDeploymentScalingAdapter"):
        target = made["spec"]["dgdRef"]
        assert target["name"] == situation.resource["metadata"]["name"]
        assert target["serviceName"] in situation.resource["spec"]["services"]
