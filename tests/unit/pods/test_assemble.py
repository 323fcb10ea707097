from __future__ import annotations

from dynamo_render.plans.pod import Overrides, ResourcePlan, VolumePlan
from dynamo_render.pods.assemble import LAYERS, assembled
from tests.scopes import pod_plan


def test_the_layers_stand_in_the_order_of_the_specification() -> None:
    assert [name for name, _layer in LAYERS] == [
        "component-type",
        "main-container",
        "component-probes",
        "resources",
        "env",
        "mounts",
        "launch",
        "pod",
        "security-context",
        "account",
        "containers",
        "volumes",
        "pull-secrets",
        "scheduler",
        "debugger",
    ]


def test_a_pod_can_be_looked_at_after_any_layer() -> None:
    plan = pod_plan(env={"A": "b"}, account="mine")
    before, after = (assembled(plan, "main", until=name) for name in ("resources", "env"))
    assert ("env" in before["containers"][0], "env" in after["containers"][0]) == (False, True)
    assert "serviceAccountName" not in after


def test_the_main_container_comes_after_the_sidecars() -> None:
    plan = pod_plan(pod_overrides=Overrides(content={"containers": [{"name": "sidecar"}]}))
    assert [found["name"] for found in assembled(plan, "main")["containers"]] == ["sidecar", "main"]


def test_the_debugger_comes_last_and_shares_processes() -> None:
    found = assembled(pod_plan(debugger_image="d"), "main")
    assert [one["name"] for one in found["containers"]] == ["main", "debugger"]
    assert found["shareProcessNamespace"] is True


def test_an_account_fills_an_empty_one_only() -> None:
    given = pod_plan(account="found", pod_overrides=Overrides(content={"serviceAccountName": "mine"}))
    assert assembled(given, "main")["serviceAccountName"] == "mine"
    assert assembled(pod_plan(account="found"), "main")["serviceAccountName"] == "found"


def test_two_pods_of_one_plan_share_no_state_with_each_other_or_the_plan() -> None:
    plan = pod_plan(
        resources=ResourcePlan(limits={"cpu": "1"}, requests={}),
        volumes=VolumePlan(mounts=(("v", "/v"),), volumes=({"name": "v", "emptyDir": {}},)),
        pod_overrides=Overrides(content={"tolerations": [{"key": "a"}]}),
    )
    first, second = assembled(plan, "main"), assembled(plan, "main")
    first["volumes"][0]["emptyDir"]["medium"] = "changed"
    first["tolerations"][0]["key"] = "changed"
    first["containers"][0]["resources"]["limits"]["cpu"] = "changed"
    assert second == assembled(plan, "main")
    assert second["containers"][0]["resources"]["limits"]["cpu"] == "1"


def test_pods_of_a_shared_plan_share_nothing() -> None:
    """A leader and its workers are made from one plan; changing one of them must not change the others."""
    overrides = {
        "main_container": Overrides(content={"args": ["run"]}),
        "pod_overrides": Overrides(content={"tolerations": [{}]}),
    }
    plan = pod_plan(**overrides, is_shared=True)
    leader, worker = assembled(plan, "leader"), assembled(plan, "worker")
    leader["tolerations"][0]["key"] = "changed"
    leader["containers"][0]["args"].append("changed")
    assert worker["tolerations"] == [{}]
    assert worker["containers"][0]["args"] == ["run"]
