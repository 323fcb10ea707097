"""The rows of rendering.md section 9 (merging), section 10 (resources), section 11 (volumes and caches)."""

from __future__ import annotations

from typing import Any

import pytest

from tests.small import (
    BOTH,
    DOCUMENTED,
    SHIPPED,
    Json,
    graph,
    main,
    pod,
    problems,
    rendered,
    service,
    worker,
)

PICKER = {"configMapRef": {"name": "a", "key": "b"}}


def container(written: Json, profile: str, name: str = "it") -> Json:
    return main(rendered(graph(It=written), profile), name)


# Section 9.1: kinds of fields. The base value is that of a type; a row says what the user gives and what comes out.

EXEC = {"exec": {"command": ["true"]}}


def with_probe(probe: Json) -> Json:
    return service("frontend", main={"livenessProbe": probe})


@pytest.mark.parametrize(
    ("probe", "documented", "shipped"),
    [
        pytest.param({"failureThreshold": 9}, {"failureThreshold": 9}, {"failureThreshold": 9}, id="9.1-integer"),
        pytest.param(
            {"failureThreshold": 0, **EXEC}, {"failureThreshold": None}, {"failureThreshold": 3}, id="9.1-integer-zero"
        ),
        pytest.param(
            {"periodSeconds": 9},
            {"initialDelaySeconds": None},
            {"initialDelaySeconds": 15},
            id="9.1-unset-numbers-stay",
        ),
        pytest.param(
            {"httpGet": {"path": "/x", "port": "http"}},
            {"httpGet": {"path": "/x", "port": "http"}},
            {"httpGet": {"path": "/x", "port": "http"}},
            id="9.1-string",
        ),
        pytest.param(
            {"httpGet": {"path": "", "port": "http"}},
            {"httpGet": {"port": "http"}},
            {"httpGet": {"path": "/live", "port": "http"}},
            id="9.1-string-empty",
        ),
        pytest.param(
            {"httpGet": {"port": "http", "httpHeaders": [{"name": "A", "value": "b"}]}},
            {"httpGet": {"port": "http", "httpHeaders": [{"name": "A", "value": "b"}]}},
            {"httpGet": {"path": "/live", "port": "http", "httpHeaders": [{"name": "A", "value": "b"}]}},
            id="9.3-headers-replace",
        ),
        pytest.param(
            EXEC,
            {"httpGet": None, **EXEC},
            {"httpGet": {"path": "/live", "port": "http"}, **EXEC},
            id="9.3-other-handler",
        ),
        pytest.param(
            {"httpGet": {"port": 8080}},
            {"httpGet": {"port": 8080}},
            {"httpGet": {"path": "/live", "port": "http"}},
            id="9.3-numeric-port",
        ),
        pytest.param(
            {"httpGet": {"port": "web"}},
            {"httpGet": {"port": "web"}},
            {"httpGet": {"path": "/live", "port": "web"}},
            id="9.3-named-port",
        ),
    ],
)
def test_probe_merge(probe: Json, documented: Json, shipped: Json) -> None:
    for profile, expected in ((DOCUMENTED, documented), (SHIPPED, shipped)):
        found = container(with_probe(probe), profile)["livenessProbe"]
        assert {key: found.get(key) for key in expected} == expected


@pytest.mark.parametrize(
    ("grpc", "documented", "shipped"),
    [
        pytest.param(
            {"port": 1}, {"port": 1, "service": ""}, {"port": 1, "service": "inference-extension"}, id="9.3-grpc-port"
        ),
        pytest.param({"port": 1, "service": "s"}, *[{"port": 1, "service": "s"}] * 2, id="9.3-grpc-service"),
    ],
)
def test_probe_merge_of_a_picker(grpc: Json, documented: Json, shipped: Json) -> None:
    written = service("epp", eppConfig=PICKER, main={"livenessProbe": {"grpc": grpc}})
    assert container(written, DOCUMENTED)["livenessProbe"]["grpc"] == documented
    assert container(written, SHIPPED)["livenessProbe"]["grpc"] == shipped


@BOTH
@pytest.mark.parametrize(
    ("field", "value"),
    [
        pytest.param("command", ["run"], id="9.1-list-replaces-whole-command"),
        pytest.param("args", ["-x"], id="9.1-list-replaces-whole-args"),
        pytest.param(
            "ports", [{"containerPort": 1, "name": "one", "protocol": "TCP"}], id="9.1-list-replaces-whole-ports"
        ),
    ],
)
def test_lists_replace(profile: str, field: str, value: object) -> None:
    assert container(service("frontend", main={field: value}), profile)[field] == value


@pytest.mark.parametrize("field", ["command", "args", "ports"], ids="9.1-empty-list-{}".format)
def test_empty_lists(field: str) -> None:
    written = service("frontend", main={field: []})
    assert field not in container(written, DOCUMENTED)
    assert container(written, SHIPPED)[field]


@pytest.mark.parametrize(
    ("value", "documented", "shipped"),
    [
        pytest.param(5, 5, 5, id="9.1-pointer"),
        pytest.param(0, 0, 60, id="9.1-pointer-to-zero"),
        pytest.param(None, 60, 60, id="9.1-pointer-null"),
    ],
)
def test_pointers_with_a_base(value: int | None, documented: int, shipped: int) -> None:
    resource = graph(It=service(pod={"terminationGracePeriodSeconds": value}))
    assert pod(rendered(resource, DOCUMENTED), "it")["terminationGracePeriodSeconds"] == documented
    assert pod(rendered(resource, SHIPPED), "it")["terminationGracePeriodSeconds"] == shipped


@BOTH
@pytest.mark.parametrize(
    ("fields", "kept"),
    [
        pytest.param({"automountServiceAccountToken": False}, True, id="9.1-pointer-without-base-false"),
        pytest.param({"affinity": {}}, True, id="9.1-pointer-without-base-empty"),
        pytest.param({"priority": 0}, True, id="9.1-pointer-without-base-zero"),
        pytest.param({"nodeSelector": {"a": ""}}, True, id="9.1-map"),
        pytest.param({"nodeSelector": {}}, False, id="9.1-map-empty"),
        pytest.param({"hostNetwork": True}, True, id="9.1-boolean"),
        pytest.param({"hostNetwork": False}, False, id="9.1-boolean-false"),
        pytest.param({"tolerations": []}, False, id="9.1-list-empty-without-base"),
    ],
)
def test_fields_without_a_base(profile: str, fields: Json, *, kept: bool) -> None:
    found = pod(rendered(graph(It=service(pod=fields)), profile), "it")
    assert {key: found[key] for key in fields if key in found} == (fields if kept else {})


# Section 9.2: where it shows


@BOTH
def test_9_2_name_renames_the_main_container(profile: str) -> None:
    result = rendered(graph(It=service(main={"name": "engine"})), profile)
    assert [found["name"] for found in pod(result, "it")["containers"]] == ["engine"]


@BOTH
def test_9_2_args_alone_keep_the_command(profile: str) -> None:
    found = container(service("frontend", main={"args": ["-m", "mine"]}), profile)
    assert (found["command"], found["args"]) == (["python3"], ["-m", "mine"])


@BOTH
def test_9_2_ports_of_the_user_drop_the_default_but_not_the_probes_that_name_it(profile: str) -> None:
    found = container(worker(main={"ports": [{"containerPort": 1, "protocol": "TCP"}]}), profile)
    assert [port["containerPort"] for port in found["ports"]] == [1]
    assert found["livenessProbe"]["httpGet"]["port"] == "system"


@BOTH
def test_9_2_mounts_and_volumes_of_the_user_drop_those_of_the_picker(profile: str) -> None:
    own = {"name": "own", "mountPath": "/own"}
    volume = {"name": "own", "emptyDir": {}}
    written = service(
        "epp",
        eppConfig=PICKER,
        main={"volumeMounts": [own]},
        pod={"volumes": [volume]},
        sharedMemory={"disabled": True},
    )
    result = rendered(graph(It=written), profile)
    assert main(result, "it")["volumeMounts"] == [own]
    assert pod(result, "it")["volumes"] == [volume]


@BOTH
@pytest.mark.parametrize(
    ("component_type", "fields"),
    [
        pytest.param("other", {"restartPolicy": "Never"}, id="9.2-restartPolicy"),
        pytest.param("epp", {"serviceAccountName": "mine"}, id="9.2-serviceAccountName-epp"),
        pytest.param("planner", {"serviceAccountName": "mine"}, id="9.2-serviceAccountName-planner-on-grove"),
    ],
)
def test_strings_of_the_pod(profile: str, component_type: str, fields: Json) -> None:
    more: Json = {"eppConfig": PICKER} if component_type == "epp" else {}
    found = pod(rendered(graph(It=service(component_type, pod=fields, **more)), profile), "it")
    assert {key: found[key] for key in fields} == fields


@BOTH
def test_9_2_sidecars_come_before_the_main_container(profile: str) -> None:
    written = service(pod={"containers": [{"name": "sidecar", "image": "i"}]})
    assert [found["name"] for found in pod(rendered(graph(It=written), profile), "it")["containers"]] == [
        "sidecar",
        "main",
    ]


# Section 10


def resources(given: Json, profile: str, **container_fields: Any) -> Json:
    return container(service(resources=given, main=container_fields), profile)["resources"]


SIDES = pytest.mark.parametrize("side", ["limits", "requests"])


@BOTH
@SIDES
@pytest.mark.parametrize(
    ("item", "out"),
    [
        pytest.param({"cpu": "2000m"}, {"cpu": "2"}, id="10-cpu"),
        pytest.param({"memory": "1024Mi"}, {"memory": "1Gi"}, id="10-memory"),
        pytest.param({"cpu": ""}, {}, id="10-empty"),
        pytest.param({"custom": {"a/b": "1k"}}, {"a/b": "1k"}, id="10-custom"),
        pytest.param({"cpu": "1", "custom": {"cpu": "2"}}, {"cpu": "2"}, id="10-custom-wins-over-cpu"),
        pytest.param({"gpuType": "x"}, {}, id="10-gpu-type-without-gpu"),
    ],
)
def test_amounts(profile: str, side: str, item: Json, out: Json) -> None:
    assert resources({side: item}, profile) == ({side: out} if out else {})


@pytest.mark.parametrize(
    ("side", "item", "documented", "shipped"),
    [
        pytest.param("limits", {"gpu": "2"}, {"nvidia.com/gpu": "2"}, {"nvidia.com/gpu": "2"}, id="10-gpu-limit"),
        pytest.param("limits", {"gpu": "0"}, {"nvidia.com/gpu": "0"}, {"nvidia.com/gpu": "0"}, id="10-gpu-limit-zero"),
        pytest.param("limits", {"gpu": "2", "gpuType": "x"}, {"x": "2"}, {"x": "2"}, id="10-gpu-type-limit"),
        pytest.param(
            "limits",
            {"gpu": "2", "custom": {"nvidia.com/gpu": "3"}},
            {"nvidia.com/gpu": "3"},
            {"nvidia.com/gpu": "3"},
            id="10-custom-wins-over-gpu",
        ),
        pytest.param("requests", {"gpu": "2"}, {"nvidia.com/gpu": "2"}, None, id="10-gpu-request"),
        pytest.param("requests", {"gpu": "2", "gpuType": "x"}, {"x": "2"}, None, id="10-gpu-type-request"),
    ],
)
def test_gpus(side: str, item: Json, documented: Json, shipped: Json | None) -> None:
    assert resources({side: item}, DOCUMENTED) == {side: documented}
    assert resources({side: item}, SHIPPED) == ({side: shipped} if shipped else {})


@BOTH
def test_10_sides_do_not_default_each_other(profile: str) -> None:
    assert resources({"limits": {"cpu": "1"}, "requests": {"memory": "1Gi"}}, profile) == {
        "limits": {"cpu": "1"},
        "requests": {"memory": "1Gi"},
    }


@BOTH
def test_10_amounts_lie_over_those_of_the_main_container_key_by_key(profile: str) -> None:
    under = {"limits": {"cpu": "9", "ephemeral-storage": "1Gi"}, "requests": {"cpu": "9"}}
    found = resources({"limits": {"cpu": "1"}}, profile, resources=under)
    assert found == {"limits": {"cpu": "1", "ephemeral-storage": "1Gi"}, "requests": {"cpu": "9"}}


@BOTH
def test_10_claims_are_appended(profile: str) -> None:
    found = resources({"claims": [{"name": "b"}, {"name": "a"}]}, profile, resources={"claims": [{"name": "a"}]})
    assert found == {"claims": [{"name": "a"}, {"name": "b"}, {"name": "a"}]}


@BOTH
@pytest.mark.parametrize(
    ("item", "field"),
    [
        pytest.param({"cpu": "x"}, "cpu", id="10-error-cpu"),
        pytest.param({"memory": " 1"}, "memory", id="10-error-memory-with-blank"),
        pytest.param({"custom": {"a": ""}}, "custom.a", id="10-error-custom-empty"),
    ],
)
@SIDES
def test_quantities_that_are_none(profile: str, side: str, item: Json, field: str) -> None:
    at = f"spec.services.It.resources.{side}.{field}"
    assert problems(graph(It=service(resources={side: item})), profile) == [("CTL-04", at)]


@BOTH
def test_10_gpus_of_the_main_container_do_not_count_for_a_launch(profile: str) -> None:
    line = "python3 -m dynamo.vllm --tensor-parallel-size 16"
    amounts = {"resources": {"limits": {"nvidia.com/gpu": "8"}}}
    written = service("worker", main={"args": [line], **amounts}, multinode={"nodeCount": 2})
    assert container(written, profile, "it-ldr")["args"] == [line]


# Section 11

SHARED = {"name": "shared-memory", "mountPath": "/dev/shm"}  # noqa: S108 - the path inside the container


@BOTH
def test_11_order_of_mounts_and_volumes(profile: str) -> None:
    written = worker(
        "trtllm",
        main={"args": ["python3 -m dynamo.trtllm"], "volumeMounts": [{"name": "own", "mountPath": "/own"}]},
        pod={"volumes": [{"name": "own", "emptyDir": {}}]},
        volumeMounts=[{"name": "b", "mountPoint": "/b"}, {"name": "a", "mountPoint": "/a"}],
        multinode={"nodeCount": 2},
    )
    result = rendered(graph(It=written), profile)
    order = ["own", "b", "a", "shared-memory", "mpi-run-ssh-secret"]
    assert [mount["name"] for mount in main(result, "it-ldr")["volumeMounts"]] == order
    assert [volume["name"] for volume in pod(result, "it-ldr")["volumes"]] == order


@BOTH
def test_11_mounts_come_after_those_of_a_picker(profile: str) -> None:
    written = service("epp", eppConfig=PICKER, volumeMounts=[{"name": "a", "mountPoint": "/a"}])
    names = [mount["name"] for mount in container(written, profile)["volumeMounts"]]
    assert names == ["epp-config", "hf-cache", "a", "shared-memory"]


@BOTH
def test_11_a_claim_mounted_twice_is_two_volumes(profile: str) -> None:
    twice = [{"name": "a", "mountPoint": "/one"}, {"name": "a", "mountPoint": "/two"}]
    written = service(volumeMounts=twice, sharedMemory={"disabled": True})
    claim = {"name": "a", "persistentVolumeClaim": {"claimName": "a"}}
    assert pod(rendered(graph(It=written), profile), "it")["volumes"] == [claim, claim]


def mounted(engine: str | None, mount: Json) -> Json:
    written = service() if engine is None else worker(engine)
    return graph(It={**written, "volumeMounts": [{"name": "c", **mount}]})


@BOTH
@pytest.mark.parametrize(
    ("engine", "mount", "path"),
    [
        pytest.param(None, {"mountPoint": "/m"}, "/m", id="11-mount-point"),
        pytest.param(None, {"mountPoint": "/m", "useAsCompilationCache": True}, "/m", id="11-cache-with-mount-point"),
        pytest.param("vllm", {"useAsCompilationCache": True}, "/root/.cache/vllm", id="11-cache-default-vllm"),
    ],
)
def test_mount_paths(profile: str, engine: str | None, mount: Json, path: str) -> None:
    found = main(rendered(mounted(engine, mount), profile), "it")["volumeMounts"]
    assert found == [{"name": "c", "mountPath": path}, SHARED]


@BOTH
@pytest.mark.parametrize(
    ("engine", "mount", "rule", "field"),
    [
        pytest.param("vllm", {}, "SVC-V03", "mountPoint", id="11-error-no-mount-point"),
        pytest.param("sglang", {"useAsCompilationCache": True}, "CTL-08", "mountPoint", id="11-error-cache-sglang"),
        pytest.param("trtllm", {"useAsCompilationCache": True}, "CTL-08", "mountPoint", id="11-error-cache-trtllm"),
        pytest.param(None, {"useAsCompilationCache": True}, "CTL-08", "mountPoint", id="11-error-cache-no-engine"),
        pytest.param("vllm", {"name": "", "mountPoint": "/m"}, "CTL-07", "name", id="11-error-no-name"),
    ],
)
def test_mounts_that_are_refused(profile: str, engine: str | None, mount: Json, rule: str, field: str) -> None:
    assert problems(mounted(engine, mount), profile) == [(rule, f"spec.services.It.volumeMounts[0].{field}")]


@BOTH
@pytest.mark.parametrize(
    ("given", "size"),
    [
        pytest.param(None, "8Gi", id="11-shared-memory-absent"),
        pytest.param({"size": "2048Mi"}, "2Gi", id="11-shared-memory-size"),
        pytest.param({"disabled": False, "size": "1Gi"}, "1Gi", id="11-shared-memory-not-disabled"),
        pytest.param({"disabled": True}, None, id="11-shared-memory-disabled"),
        pytest.param({"disabled": True, "size": "1Gi"}, None, id="11-shared-memory-disabled-with-size"),
    ],
)
def test_shared_memory(profile: str, given: Json | None, size: str | None) -> None:
    own: Json = {} if given is None else {"sharedMemory": given}
    result = rendered(graph(It=service(**own)), profile)
    volume = {"name": "shared-memory", "emptyDir": {"medium": "Memory", "sizeLimit": size}}
    assert pod(result, "it").get("volumes") == (None if size is None else [volume])
    assert main(result, "it").get("volumeMounts") == (None if size is None else [SHARED])
