"""The rows of rendering.md section 16 (PodCliqueSet) and section 17 with controllers-graph.md section 10 (restarts)."""

from __future__ import annotations

from typing import Any

import pytest

from dynamo_render import MissingFacts, Observed, RestartStatus
from tests.small import (
    BOTH,
    DOCUMENTED,
    ETCD,
    GROVE,
    NOTHING,
    SHIPPED,
    Json,
    clique,
    graph,
    pod,
    problems,
    rendered,
    service,
    the,
    worker,
)

TWO_NODES: Json = {"multinode": {"nodeCount": 2}}
THREE_NODES: Json = {"multinode": {"nodeCount": 3}}


def template(resource: Json, profile: str, **surroundings: Any) -> Json:
    return the(rendered(resource, profile, **surroundings), "PodCliqueSet")["spec"]["template"]


@BOTH
def test_16_1_shape(profile: str) -> None:
    found = the(rendered(graph(It=service()), profile), "PodCliqueSet")
    assert (found["apiVersion"], found["metadata"]) == ("grove.io/v1alpha1", {"name": "demo", "namespace": "team-a"})
    assert (set(found), set(found["spec"])) == ({"apiVersion", "kind", "metadata", "spec"}, {"replicas", "template"})
    assert found["spec"]["replicas"] == 1
    assert {key: value for key, value in found["spec"]["template"].items() if key != "cliques"} == {
        "cliqueStartupType": "CliqueStartupTypeAnyOrder",
        "headlessServiceConfig": {"publishNotReadyAddresses": True},
        "terminationDelay": "15m0s",
    }


@BOTH
@pytest.mark.parametrize(
    ("delay", "text"),
    [
        pytest.param("15m", "15m0s", id="16.1-delay-minutes"),
        pytest.param("90m", "1h30m0s", id="16.1-delay-hours"),
        pytest.param("90s", "1m30s", id="16.1-delay-minutes-and-seconds"),
        pytest.param("1s", "1s", id="16.1-delay-seconds"),
        pytest.param("500ms", "500ms", id="16.1-delay-below-a-second"),
        pytest.param("1500ms", "1.5s", id="16.1-delay-fraction"),
        pytest.param("0s", None, id="16.1-delay-zero"),
        pytest.param("-1s", None, id="16.1-delay-negative"),
    ],
)
def test_termination_delay(profile: str, delay: str, text: str | None) -> None:
    found = template(graph(It=service()), profile, settings={**ETCD, "grove_termination_delay": delay})
    assert found.get("terminationDelay") == text


@BOTH
@pytest.mark.parametrize(
    ("name", "role", "replicas"),
    [
        pytest.param("one", "one", 4, id="16.2-single-node"),
        pytest.param("wide-ldr", "wide-ldr", 1, id="16.2-leader"),
        pytest.param("wide-wkr", "wide-wkr", 2, id="16.2-worker"),
    ],
)
def test_cliques(profile: str, name: str, role: str, replicas: int) -> None:
    resource = graph(One=service(replicas=4), Wide=service(replicas=5, **THREE_NODES))
    spec = clique(rendered(resource, profile), name)["spec"]
    assert (spec["roleName"], spec["replicas"], spec["minAvailable"]) == (role, replicas, 1)
    assert "startsAfter" not in spec


@BOTH
def test_16_2_cliques_are_in_service_order_with_the_leader_first(profile: str) -> None:
    resource = graph(b=service(**TWO_NODES), a=service(), C=service())
    assert [found["name"] for found in template(resource, profile)["cliques"]] == ["c", "a", "b-ldr", "b-wkr"]


@BOTH
@pytest.mark.parametrize(
    ("given", "replicas"),
    [
        pytest.param({}, 1, id="16.2-replicas-unset"),
        pytest.param({"replicas": 0}, 0, id="16.2-replicas-zero"),
    ],
)
def test_replicas_of_a_single_node(profile: str, given: Json, replicas: int) -> None:
    spec = clique(rendered(graph(It=service(**given)), profile), "it")["spec"]
    assert (spec["replicas"], spec["minAvailable"]) == (replicas, 1)


@BOTH
@pytest.mark.parametrize(
    ("given", "expected"),
    [
        pytest.param({"replicas": 3}, {"replicas": 3}, id="16.2-group-replicas"),
        pytest.param({"replicas": 0}, {"replicas": 0}, id="16.2-group-replicas-zero"),
        pytest.param({}, {}, id="16.2-group-replicas-unset"),
    ],
)
def test_scaling_groups(profile: str, given: Json, expected: Json) -> None:
    groups = template(graph(Wide=service(**TWO_NODES, **given), One=service()), profile)["podCliqueScalingGroups"]
    assert groups == [{"name": "wide", "cliqueNames": ["wide-ldr", "wide-wkr"], "minAvailable": 1, **expected}]


@BOTH
def test_16_2_groups_are_in_service_order(profile: str) -> None:
    groups = template(graph(b=service(**TWO_NODES), A=service(**TWO_NODES)), profile)["podCliqueScalingGroups"]
    assert [group["name"] for group in groups] == ["a", "b"]


@BOTH
@pytest.mark.parametrize(
    ("engine", "fields", "startup", "after"),
    [
        pytest.param("trtllm", TWO_NODES, "Explicit", ["it-wkr"], id="16.3-trtllm"),
        pytest.param("vllm", TWO_NODES, "AnyOrder", None, id="16.3-vllm"),
        pytest.param("sglang", TWO_NODES, "AnyOrder", None, id="16.3-sglang"),
        pytest.param("trtllm", {}, "AnyOrder", None, id="16.3-trtllm-on-one-node"),
    ],
)
def test_startup_order(profile: str, engine: str, fields: Json, startup: str, after: list[str] | None) -> None:
    found = template(graph(It=worker(engine, **fields)), profile)
    assert found["cliqueStartupType"] == f"CliqueStartupType{startup}"
    assert found["cliques"][0]["spec"].get("startsAfter") == after


# Section 16.4

KAI: Json = {"api_groups": ["grove.io", "scheduling.run.ai"], "kai_queues": ["dynamo", "research"]}
QUEUE = "nvidia.com/kai-scheduler-queue"


@BOTH
@pytest.mark.parametrize(
    ("annotations", "queue"),
    [
        pytest.param(None, "dynamo", id="16.4-queue-default"),
        pytest.param({QUEUE: "  "}, "dynamo", id="16.4-queue-blank"),
        pytest.param({QUEUE: " research "}, "research", id="16.4-queue-trimmed"),
    ],
)
def test_queue(profile: str, annotations: Json | None, queue: str) -> None:
    found = clique(rendered(graph(annotations=annotations, It=service()), profile, facts=KAI), "it")
    assert found["labels"]["kai.scheduler/queue"] == queue
    assert found["spec"]["podSpec"]["schedulerName"] == "kai-scheduler"


@BOTH
@pytest.mark.parametrize(
    ("scheduler", "injected"),
    [
        pytest.param("kai-scheduler", True, id="16.4-scheduler-kai"),
        pytest.param("", True, id="16.4-scheduler-empty"),
        pytest.param("mine", False, id="16.4-scheduler-of-the-user"),
    ],
)
def test_scheduler_of_the_user(profile: str, scheduler: str, *, injected: bool) -> None:
    found = clique(rendered(graph(It=service(pod={"schedulerName": scheduler})), profile, facts=KAI), "it")
    assert ("kai.scheduler/queue" in found["labels"]) == injected
    assert found["spec"]["podSpec"]["schedulerName"] == ("kai-scheduler" if injected else "mine")


@BOTH
@pytest.mark.parametrize(
    "facts",
    [
        pytest.param(GROVE, id="16.4-no-kai"),
        pytest.param({"api_groups": ["scheduling.run.ai"], "kai_queues": ["dynamo"]}, id="16.4-no-grove"),
    ],
)
def test_nothing_is_injected_without_both(profile: str, facts: Json) -> None:
    assert "schedulerName" not in pod(rendered(graph(It=service()), profile, facts=facts), "it")


@BOTH
def test_16_4_the_queue_label_wins_over_all_others(profile: str) -> None:
    own = {"kai.scheduler/queue": "mine"}
    written = service(labels=own, extraPodMetadata={"labels": own})
    assert clique(rendered(graph(It=written), profile, facts=KAI), "it")["labels"]["kai.scheduler/queue"] == "dynamo"


@BOTH
def test_16_4_a_missing_queue_is_refused_even_if_nobody_uses_it(profile: str) -> None:
    written = graph(annotations={QUEUE: "nowhere"}, It=service(pod={"schedulerName": "mine"}))
    assert problems(written, profile, facts=KAI) == [("CTL-12", f'metadata.annotations["{QUEUE}"]')]


@BOTH
def test_16_4_unknown_queues_are_asked_for(profile: str) -> None:
    with pytest.raises(MissingFacts) as missing:
        rendered(graph(It=service()), profile, facts={"api_groups": KAI["api_groups"]})
    assert missing.value.query.kai_queues is True


# Section 16.5


@BOTH
@pytest.mark.parametrize(
    ("label", "value"),
    [
        pytest.param("nvidia.com/selector", "demo-it", id="16.5-selector"),
        pytest.param("nvidia.com/dynamo-graph-deployment-name", "demo", id="16.5-graph"),
        pytest.param("nvidia.com/dynamo-component", "It", id="16.5-component"),
        pytest.param("nvidia.com/dynamo-namespace", "team-a-demo", id="16.5-dynamo-namespace"),
        pytest.param("nvidia.com/dynamo-component-type", "prefill", id="16.5-type"),
        pytest.param("nvidia.com/dynamo-sub-component-type", "sub", id="16.5-sub-type"),
        pytest.param("nvidia.com/dynamo-base-model-hash", "cf172107", id="16.5-model"),
        pytest.param("nvidia.com/metrics-enabled", "true", id="16.5-metrics"),
    ],
)
def test_labels(profile: str, label: str, value: str) -> None:
    written = service("prefill", subComponentType="sub", modelRef={"name": "Qwen/Qwen3"})
    labels = clique(rendered(graph(It=written), profile), "it")["labels"]
    assert (labels[label], len(labels)) == (value, 8)


@BOTH
def test_16_5_labels_without_a_value_are_absent(profile: str) -> None:
    labels = clique(rendered(graph(It=service(modelRef={"name": ""})), profile), "it")["labels"]
    assert set(labels) == {
        "nvidia.com/selector",
        "nvidia.com/dynamo-graph-deployment-name",
        "nvidia.com/dynamo-component",
        "nvidia.com/dynamo-namespace",
        "nvidia.com/metrics-enabled",
    }


@BOTH
@pytest.mark.parametrize(
    ("on_graph", "on_service", "enabled"),
    [
        pytest.param("false", None, False, id="16.5-metrics-off"),
        pytest.param("False", None, True, id="16.5-metrics-off-exactly"),
        pytest.param(None, "false", True, id="16.5-metrics-of-a-service"),
    ],
)
def test_metrics(profile: str, on_graph: str | None, on_service: str | None, *, enabled: bool) -> None:
    key = "nvidia.com/enable-metrics"
    annotations = None if on_graph is None else {key: on_graph}
    own: Json = {} if on_service is None else {"annotations": {key: on_service}}
    labels = clique(rendered(graph(annotations=annotations, It=service(**own)), profile), "it")["labels"]
    assert ("nvidia.com/metrics-enabled" in labels) == enabled


@BOTH
def test_16_5_labels_of_pods_win_over_those_of_the_component(profile: str) -> None:
    written = service(labels={"a": "component", "b": "component"}, extraPodMetadata={"labels": {"a": "pod"}})
    labels = clique(rendered(graph(It=written), profile), "it")["labels"]
    assert (labels["a"], labels["b"]) == ("pod", "component")


@pytest.mark.parametrize(
    ("profile", "selector"),
    [
        pytest.param(DOCUMENTED, "demo-it", id="16.5-operator-labels-documented"),
        pytest.param(SHIPPED, "mine", id="16.5-operator-labels-shipped"),
    ],
)
@pytest.mark.parametrize("where", ["labels", "extraPodMetadata"])
def test_operator_labels(profile: str, where: str, selector: str) -> None:
    own: Json = {"nvidia.com/selector": "mine"}
    fields: Json = {where: own if where == "labels" else {"labels": own}}
    assert clique(rendered(graph(It=service(**fields)), profile), "it")["labels"]["nvidia.com/selector"] == selector


@BOTH
def test_16_5_annotations_of_pods_win_over_those_of_the_component(profile: str) -> None:
    written = service(annotations={"a": "component", "b": "component"}, extraPodMetadata={"annotations": {"a": "pod"}})
    resource = graph(annotations={"nvidia.com/dynamo-discovery-backend": ""}, It=written)
    assert clique(rendered(resource, profile), "it")["annotations"] == {"a": "pod", "b": "component"}


@BOTH
def test_16_5_annotations_are_absent_when_there_are_none(profile: str) -> None:
    resource = graph(annotations={"nvidia.com/dynamo-discovery-backend": ""}, It=service(modelRef={"name": "m"}))
    assert "annotations" not in clique(rendered(resource, profile), "it")


# Section 17

STAMP = "nvidia.com/restartAt"
SERVICES = {"A": service(), "B": service(), "C": service()}


def stamps(
    profile: str, restart: Json | None, *, status: Json | None = None, observed: Observed | None = None, **facts: Any
) -> dict[str, str]:
    """Return the restart annotation of each service that carries one."""
    resource = graph(
        spec={} if restart is None else {"restart": restart},
        status=None if status is None else {"restart": status},
        **SERVICES,
    )
    cliques = template(resource, profile, facts={**GROVE, **facts}, observed=observed)["cliques"]
    return {one["name"].upper(): one["annotations"][STAMP] for one in cliques if STAMP in one["annotations"]}


def status(phase: str, *in_progress: str, observed_id: str = "r") -> Json:
    return {"observedID": observed_id, "phase": phase, **({"inProgress": list(in_progress)} if in_progress else {})}


ALL = {"A": "r", "B": "r", "C": "r"}
ORDER = {"id": "r", "strategy": {"order": ["C", "A", "B"]}}
PARALLEL = {"id": "r", "strategy": {"type": "Parallel"}}


@BOTH
@pytest.mark.parametrize(
    ("restart", "before", "expected"),
    [
        pytest.param(None, None, {}, id="17-no-status"),
        pytest.param(None, status("Completed"), ALL, id="17-taken-back-after-completion"),
        pytest.param(None, status("Failed"), ALL, id="17-taken-back-after-failure"),
        pytest.param(None, status("Restarting", "A"), {}, id="17-taken-back-in-flight-is-forgotten"),
        pytest.param(None, status("Completed", observed_id=""), {}, id="17-taken-back-without-id"),
        pytest.param({"id": "r"}, status("Completed"), ALL, id="17-completed"),
        pytest.param(PARALLEL, None, ALL, id="17-parallel"),
        pytest.param({"id": "r"}, None, {"A": "r"}, id="17-sequential-new"),
        pytest.param(
            {"id": "r"}, status("Completed", observed_id="old"), {"A": "r"}, id="17-sequential-new-after-another"
        ),
        pytest.param({"id": "r"}, status("Pending"), {"A": "r"}, id="17-sequential-pending"),
        pytest.param({"id": "r"}, status("Restarting"), {"A": "r"}, id="17-sequential-nobody-in-progress"),
        pytest.param(ORDER, None, {"C": "r"}, id="17-sequential-order-of-the-user"),
        pytest.param(
            ORDER, status("Restarting", "A"), {"C": "r", "A": "r"}, id="17-sequential-up-to-the-one-in-progress"
        ),
        pytest.param(
            {"id": "r"}, status("Restarting", "Gone"), ALL, id="17-sequential-one-that-is-gone-counts-as-done"
        ),
    ],
)
def test_restart_annotations(profile: str, restart: Json | None, before: Json | None, expected: Json) -> None:
    assert stamps(profile, restart, status=before) == expected


@BOTH
@pytest.mark.parametrize(
    ("restart", "before", "done", "expected"),
    [
        pytest.param(ORDER, status("Restarting", "C"), [], {"C": "r"}, id="10.3-3-current-not-done"),
        pytest.param(ORDER, status("Restarting", "C"), ["C"], {"C": "r", "A": "r"}, id="10.3-4-successor"),
        pytest.param(ORDER, status("Restarting", "B"), ["B"], ALL, id="10.3-5-no-successor"),
        pytest.param(
            {"id": "r"}, status("Restarting", "A", "B"), [], {"A": "r"}, id="10.3-3-further-entries-are-dropped"
        ),
        pytest.param(PARALLEL, status("Restarting", "A", "B"), ["A"], ALL, id="10.2-remaining"),
        pytest.param(PARALLEL, status("Restarting", "A"), ["A"], ALL, id="10.2-all-done"),
        pytest.param({"id": "r"}, status("Failed"), ["A"], {"A": "r"}, id="10.1-3-failed-stays-as-it-is"),
    ],
)
def test_restart_goes_on(profile: str, restart: Json, before: Json, done: list[str], expected: Json) -> None:
    progress = {"team-a": {"service_progress": {"demo": dict.fromkeys(done, True)}}}
    assert stamps(profile, restart, status=before, namespaces=progress) == expected


@BOTH
def test_17_others_keep_the_stamp_they_carry(profile: str) -> None:
    carried = {"team-a": {"restart_stamps": {"demo": {"A": "old", "B": "old", "C": ""}}}}
    assert stamps(profile, {"id": "r"}, namespaces=carried) == {"A": "r", "B": "old", "C": ""}


@BOTH
def test_17_observed_state_wins_over_facts_and_status(profile: str) -> None:
    observed = Observed(
        restart=RestartStatus("r", "Restarting", ("A",)), restarted=frozenset({"A"}), restart_stamps={"C": "seen"}
    )
    carried = {"team-a": {"restart_stamps": {"demo": {"C": "fact"}}}}
    found = stamps(profile, {"id": "r"}, status=status("Completed"), observed=observed, namespaces=carried)
    assert found == {"A": "r", "B": "r", "C": "seen"}


@BOTH
def test_17_both_cliques_of_a_service_carry_the_stamp(profile: str) -> None:
    cliques = template(graph(spec={"restart": {"id": "r"}}, It=service(**TWO_NODES)), profile)["cliques"]
    assert [one["annotations"][STAMP] for one in cliques] == ["r", "r"]


@BOTH
def test_17_without_grove_the_stamp_goes_through_the_component_deployment_to_the_pods(profile: str) -> None:
    result = rendered(graph(spec={"restart": {"id": "r"}}, It=service()), profile, facts=NOTHING)
    assert the(result, "DynamoComponentDeployment")["spec"]["annotations"][STAMP] == "r"
    assert the(result, "Deployment")["spec"]["template"]["metadata"]["annotations"][STAMP] == "r"
    assert the(result, "Service", "demo-it")["metadata"]["annotations"][STAMP] == "r"


@BOTH
def test_17_without_grove_the_stamp_wins_over_pod_metadata(profile: str) -> None:
    pod_metadata = {"annotations": {STAMP: "of the user"}}
    resource = graph(spec={"restart": {"id": "r"}}, It=service(extraPodMetadata=pod_metadata))
    found = the(rendered(resource, profile, facts=NOTHING), "Deployment")["spec"]["template"]["metadata"]
    assert found["annotations"][STAMP] == "r"
