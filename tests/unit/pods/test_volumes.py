from __future__ import annotations

from typing import Any

import pytest

from dynamo_render.backends import BACKENDS
from dynamo_render.pods import volumes
from tests.scopes import component_scope, graph_scope

OFF = {"sharedMemory": {"disabled": True}}


def planned(*mounts: dict[str, Any], engine: str = "vllm", profile: str = "0.9") -> Any:
    scope = component_scope({**OFF, "volumeMounts": list(mounts)}, graph=graph_scope(profile=profile))
    return volumes.planned(scope, BACKENDS[engine]), scope.graph.problems


def test_claims_keep_the_users_order_and_shared_memory_comes_last() -> None:
    mounts = [{"name": name, "mountPoint": f"/{name}"} for name in "ba"]
    found = volumes.planned(component_scope({"volumeMounts": mounts}), BACKENDS["none"])
    assert [name for name, _path in found.mounts] == ["b", "a", "shared-memory"]


@pytest.mark.parametrize(("profile", "root"), [("0.9", "/root/.cache/vllm"), ("0.9-shipped", None)])
def test_the_cache_root_may_be_the_engines_default(profile: str, root: str | None) -> None:
    plan, _ = planned({"name": "c", "useAsCompilationCache": True}, profile=profile)
    assert (plan.mounts, plan.cache_root) == ((("c", "/root/.cache/vllm"),), root)


@pytest.mark.parametrize(
    ("mount", "engine", "rules"),
    [
        ({"name": "", "mountPoint": "/m"}, "vllm", ["CTL-07"]),
        ({"name": "c", "useAsCompilationCache": True}, "sglang", ["CTL-08"]),
        ({"name": "c", "useAsCompilationCache": True}, "none", ["CTL-08"]),
        ({"name": "", "useAsCompilationCache": True}, "none", ["CTL-07", "CTL-08"]),
    ],
)
def test_a_mount_without_name_or_place_is_a_problem(mount: dict[str, Any], engine: str, rules: list[str]) -> None:
    _, problems = planned(mount, engine=engine)
    assert [problem.rule for problem in problems] == rules


@pytest.mark.parametrize(
    ("shared", "sizes"),
    [({}, ["8Gi"]), ({"size": "1Gi"}, ["1Gi"]), ({"size": "0"}, ["8Gi"]), ({"disabled": True}, [])],
)
def test_shared_memory_has_a_default_size(shared: dict[str, Any], sizes: list[str]) -> None:
    found = volumes.planned(component_scope({"sharedMemory": shared}), BACKENDS["none"])
    assert [volume["emptyDir"]["sizeLimit"] for volume in found.volumes] == sizes
