"""The rows of rendering.md section 23 (picker, claims, access, MPI secret)."""

from __future__ import annotations

import pytest

from dynamo_render import Observed, read_documents
from tests.small import (
    BOTH,
    DOCUMENTED,
    ETCD,
    GROVE,
    KUBERNETES,
    NOTHING,
    SHIPPED,
    Json,
    graph,
    names,
    of_kind,
    problems,
    rendered,
    service,
    the,
    warnings,
    worker,
)

LABELS = {
    "nvidia.com/dynamo-graph-deployment-name": "demo",
    "nvidia.com/dynamo-component": "It",
    "nvidia.com/dynamo-component-type": "epp",
}
REFERENCE = {"configMapRef": {"name": "a", "key": "b"}}


def picker(config: Json) -> Json:
    return service("epp", eppConfig={"config": {"plugins": [], "schedulingProfiles": [], **config}})


def config_text(config: Json, profile: str) -> str:
    made = the(rendered(graph(It=picker(config)), profile), "ConfigMap")
    assert (made["metadata"]["name"], made["metadata"]["labels"]) == ("demo-epp-config", LABELS)
    (text,) = made["data"].values()
    assert list(made["data"]) == ["epp-config-dynamo.yaml"]
    return text


def config_of(config: Json, profile: str) -> Json:
    (document,) = read_documents(config_text(config, profile))
    assert isinstance(document, dict)
    return document


@BOTH
def test_23_1_kind_and_version_are_forced(profile: str) -> None:
    found = config_of({"kind": "Mine", "apiVersion": "v0"}, profile)
    assert (found["kind"], found["apiVersion"]) == (
        "EndpointPickerConfig",
        "inference.networking.x-k8s.io/v1alpha1",
    )


@BOTH
def test_23_1_keys_are_sorted(profile: str) -> None:
    lines = [
        line.split(":")[0] for line in config_text({"featureGates": ["g"]}, profile).splitlines() if line[0] not in "- "
    ]
    assert lines == ["apiVersion", "kind", "featureGates", "plugins", "schedulingProfiles"]


@BOTH
@pytest.mark.parametrize(
    ("config", "key", "value"),
    [
        pytest.param({}, "plugins", [], id="23.1-top-plugins"),
        pytest.param({}, "schedulingProfiles", [], id="23.1-top-schedulingProfiles"),
        pytest.param({}, "featureGates", None, id="23.1-top-featureGates-omitted"),
        pytest.param({"featureGates": []}, "featureGates", None, id="23.1-top-featureGates-empty"),
        pytest.param({"featureGates": ["g"]}, "featureGates", ["g"], id="23.1-top-featureGates"),
        pytest.param({}, "saturationDetector", None, id="23.1-top-saturationDetector-omitted"),
        pytest.param(
            {"plugins": [{"type": "t"}]},
            "plugins",
            [{"name": "", "type": "t", "parameters": None}],
            id="23.1-plugin-always-written",
        ),
        pytest.param(
            {"plugins": [{"type": "t", "name": "n", "parameters": "AQ=="}]},
            "plugins",
            [{"name": "n", "type": "t", "parameters": "AQ=="}],
            id="23.1-plugin",
        ),
        pytest.param(
            {"schedulingProfiles": [{"name": "p", "plugins": []}]},
            "schedulingProfiles",
            [{"name": "p", "plugins": []}],
            id="23.1-profile",
        ),
        pytest.param(
            {"schedulingProfiles": [{"name": "p", "plugins": [{"pluginRef": "r"}, {"pluginRef": "s", "weight": 2}]}]},
            "schedulingProfiles",
            [{"name": "p", "plugins": [{"pluginRef": "r", "weight": None}, {"pluginRef": "s", "weight": 2}]}],
            id="23.1-profile-plugin",
        ),
        pytest.param(
            {"saturationDetector": {}},
            "saturationDetector",
            {"metricsStalenessThreshold": "0s"},
            id="23.1-saturation-always-written",
        ),
        pytest.param(
            {
                "saturationDetector": {
                    "queueDepthThreshold": 0,
                    "kvCacheUtilThreshold": 0,
                    "metricsStalenessThreshold": "1m",
                }
            },
            "saturationDetector",
            {"metricsStalenessThreshold": "1m0s"},
            id="23.1-saturation-zeros-omitted",
        ),
        pytest.param(
            {"saturationDetector": {"queueDepthThreshold": 5, "kvCacheUtilThreshold": 0.8}},
            "saturationDetector",
            {"queueDepthThreshold": 5, "kvCacheUtilThreshold": 0.8, "metricsStalenessThreshold": "0s"},
            id="23.1-saturation",
        ),
    ],
)
def test_picker_config(profile: str, config: Json, key: str, value: object) -> None:
    assert config_of(config, profile).get(key) == value


@BOTH
def test_23_1_unknown_keys_are_dropped_with_a_warning(profile: str) -> None:
    result = rendered(graph(It=picker({"plugins": [{"type": "t", "weight": 1}]})), profile)
    assert warnings(result) == [("schema/unknown-field", "spec.services.It.eppConfig.config.plugins[0].weight")]


@BOTH
def test_23_1_a_config_map_of_the_user_means_none_of_ours(profile: str) -> None:
    assert of_kind(rendered(graph(It=service("epp", eppConfig=REFERENCE)), profile), "ConfigMap") == []


@BOTH
def test_23_1_the_forced_keys_appear_in_the_component_deployment(profile: str) -> None:
    made = the(rendered(graph(It=picker({})), profile, facts=NOTHING), "DynamoComponentDeployment")
    assert made["spec"]["eppConfig"]["config"]["kind"] == "EndpointPickerConfig"


@BOTH
def test_23_1_of_several_pickers_the_first_by_name_counts(profile: str) -> None:
    result = rendered(graph(B=service("epp", eppConfig=REFERENCE), A=service("epp", eppConfig=REFERENCE)), profile)
    assert the(result, "InferencePool")["spec"]["endpointPickerRef"]["name"] == "demo-a"


@BOTH
@pytest.mark.parametrize(
    ("fields", "namespace"),
    [
        pytest.param({}, "team-a-demo", id="23.2-pool"),
        pytest.param({"globalDynamoNamespace": True}, "dynamo", id="23.2-pool-of-the-global-namespace"),
    ],
)
def test_inference_pool(profile: str, fields: Json, namespace: str) -> None:
    made = the(rendered(graph(It=service("epp", eppConfig=REFERENCE, **fields)), profile), "InferencePool")
    selector = {"nvidia.com/dynamo-component-type": "frontend", "nvidia.com/dynamo-namespace": namespace}
    assert made == {
        "apiVersion": "inference.networking.k8s.io/v1",
        "kind": "InferencePool",
        "metadata": {"name": "demo-pool", "namespace": "team-a", "labels": LABELS},
        "spec": {
            "targetPorts": [{"number": 8000}],
            "selector": {"matchLabels": selector},
            "endpointPickerRef": {"kind": "Service", "name": "demo-it", "port": {"number": 9002}},
        },
    }


CLAIM = {"name": "b", "create": True, "storageClass": "fast", "size": "1024Mi", "volumeAccessMode": "ReadWriteMany"}


def known(*claims: str) -> Json:
    return {**GROVE, "namespaces": {"team-a": {"pvcs": list(claims)}}}


@BOTH
def test_23_3_claim(profile: str) -> None:
    assert the(rendered(graph(spec={"pvcs": [CLAIM]}, It=service()), profile), "PersistentVolumeClaim") == {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": "b", "namespace": "team-a"},
        "spec": {
            "accessModes": ["ReadWriteMany"],
            "resources": {"requests": {"storage": "1Gi"}},
            "storageClassName": "fast",
        },
    }


@BOTH
@pytest.mark.parametrize(
    ("claims", "facts", "created"),
    [
        pytest.param([CLAIM, {**CLAIM, "name": "a"}], GROVE, ["b", "a"], id="23.3-list-order"),
        pytest.param([{"name": "x"}], GROVE, [], id="23.3-existence-unknown"),
        pytest.param([{"name": "x"}], known("x"), [], id="23.3-exists"),
        pytest.param([{"name": "x", "create": False}, CLAIM], known("x"), ["b"], id="23.3-mixed"),
    ],
)
def test_claims(profile: str, claims: list[Json], facts: Json, created: list[str]) -> None:
    result = rendered(graph(spec={"pvcs": claims}, It=service()), profile, facts=facts)
    assert names(result, "PersistentVolumeClaim") == created


def access_labels(name: str) -> Json:
    return {
        "app.kubernetes.io/managed-by": "dynamo-operator",
        "app.kubernetes.io/component": "rbac",
        "app.kubernetes.io/name": name,
    }


RBAC = "rbac.authorization.k8s.io"


def bound(name: str, role: Json) -> Json:
    return {
        "apiVersion": f"{RBAC}/v1",
        "kind": "RoleBinding",
        "metadata": {"name": f"{name}-binding", "namespace": "team-a", "labels": access_labels(name)},
        "subjects": [{"kind": "ServiceAccount", "name": name, "namespace": "team-a"}],
        "roleRef": {"apiGroup": RBAC, **role},
    }


@BOTH
def test_23_4_discovery_access(profile: str) -> None:
    name = "demo-k8s-service-discovery"
    result = rendered(graph(It=service()), profile, settings=KUBERNETES)
    account, role = the(result, "ServiceAccount"), the(result, "Role")
    metadata = {"name": name, "namespace": "team-a", "labels": access_labels(name)}
    assert account == {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": metadata}
    assert role["metadata"] == {**metadata, "name": f"{name}-role"}
    watch = ["get", "list", "watch"]
    every = ["create", "get", "list", "watch", "update", "patch", "delete"]
    assert role["rules"] == [
        {"apiGroups": [""], "resources": ["endpoints"], "verbs": watch},
        {"apiGroups": ["discovery.k8s.io"], "resources": ["endpointslices"], "verbs": watch},
        {"apiGroups": ["nvidia.com"], "resources": ["dynamoworkermetadatas"], "verbs": every},
    ]
    assert the(result, "RoleBinding") == bound(name, {"kind": "Role", "name": f"{name}-role"})


WIDE = {"discovery_backend": "etcd", "planner_cluster_role": "p", "epp_cluster_role": "e"}


@BOTH
@pytest.mark.parametrize(
    ("written", "account", "role"),
    [
        pytest.param(service("planner"), "planner-serviceaccount", "p", id="23.5-planner"),
        pytest.param(service("epp", eppConfig=REFERENCE), "epp-serviceaccount", "e", id="23.5-epp"),
    ],
)
def test_access_in_cluster_wide_mode(profile: str, written: Json, account: str, role: str) -> None:
    result = rendered(graph(It=written), profile, settings=WIDE)
    assert the(result, "ServiceAccount", account)["metadata"]["labels"] == access_labels(account)
    assert the(result, "RoleBinding", f"{account}-binding") == bound(account, {"kind": "ClusterRole", "name": role})


@BOTH
def test_23_5_nothing_in_restricted_mode(profile: str) -> None:
    result = rendered(graph(It=service("planner")), profile, settings={**WIDE, "restricted_namespace": "team-a"})
    assert of_kind(result, "ServiceAccount") == []


@BOTH
@pytest.mark.parametrize(
    "facts",
    [pytest.param({**GROVE, "cluster_roles": ["e"]}, id="23.5-error-role-missing")],
)
def test_cluster_role_that_is_missing(profile: str, facts: Json) -> None:
    found = problems(graph(It=service("planner")), profile, settings=WIDE, facts=facts)
    assert found == [("CTL-13", "")]


@BOTH
def test_an_account_whose_role_no_setting_names_is_left_out_with_a_warning(profile: str) -> None:
    """Decision 0007: the released operator does not start without the setting; a render shows the rest."""
    result = rendered(graph(It=service("planner")), profile, settings={**WIDE, "planner_cluster_role": ""})
    accounts = [made["metadata"]["name"] for made in of_kind(result, "ServiceAccount")]
    assert "planner-serviceaccount" not in accounts
    assert "access/role-not-set" in {problem.rule for problem in result.warnings}


MPI = worker("trtllm", multinode={}, resources={"limits": {"gpu": "1"}})
SOURCE = {"type": "Opaque", "data": {"private.key": "a2V5"}, "metadata": {"name": "ignored"}}


@pytest.mark.parametrize(
    ("written", "present", "documented", "shipped"),
    [
        pytest.param(MPI, False, 1, 1, id="23.6-copied"),
        pytest.param(MPI, True, 0, 0, id="23.6-there-already"),
        pytest.param(service(), False, 0, 1, id="23.6-whatever-the-framework"),
    ],
)
def test_mpi_secret(written: Json, *, present: bool, documented: int, shipped: int) -> None:
    facts = {**GROVE, "mpi_source": SOURCE, "namespaces": {"team-a": {"mpi_secret": present}}}
    for profile, count in ((DOCUMENTED, documented), (SHIPPED, shipped)):
        assert len(of_kind(rendered(graph(It=written), profile, facts=facts), "Secret")) == count


@BOTH
def test_23_6_type_and_data_only(profile: str) -> None:
    facts = {**GROVE, "mpi_source": SOURCE, "namespaces": {"team-a": {"mpi_secret": False}}}
    settings = {**ETCD, "mpi_ssh_secret_name": "keys", "mpi_ssh_secret_namespace": "operators"}
    assert the(rendered(graph(It=MPI), profile, settings=settings, facts=facts), "Secret") == {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": "keys", "namespace": "team-a"},
        "type": "Opaque",
        "data": {"private.key": "a2V5"},
    }


@BOTH
def test_scaling_adapter(profile: str) -> None:
    """controllers-graph.md section 7.3."""
    made = rendered(graph(It=service(scalingAdapter={"enabled": True}, replicas=2)), profile)
    adapter = the(made, "DynamoGraphDeploymentScalingAdapter")
    labels = {"nvidia.com/dynamo-graph-deployment-name": "demo", "nvidia.com/dynamo-component": "It"}
    assert adapter["metadata"] == {"name": "demo-it", "namespace": "team-a", "labels": labels}
    assert adapter["spec"] == {"replicas": 2, "dgdRef": {"name": "demo", "serviceName": "It"}}


@BOTH
def test_replicas_that_an_adapter_holds_win(profile: str) -> None:
    written = graph(It=service(scalingAdapter={"enabled": True}, replicas=2))
    result = rendered(written, profile, observed=Observed(replicas={"It": 7}), facts=NOTHING)
    assert the(result, "Deployment")["spec"]["replicas"] == 7
