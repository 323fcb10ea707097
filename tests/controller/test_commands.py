"""What plan and facts say about a fake cluster, and how settings are found and refused."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path
from random import Random
from typing import Any

import pytest

from dynamo_controller import commands, settings
from dynamo_controller.events import ClusterEvents
from dynamo_controller.manager import Outside
from dynamo_controller.planning import Plan, Planned
from dynamo_controller.settings import ControllerSettings, UnusableSettings
from dynamo_render import ClusterFacts, OperatorSettings, read_documents
from dynamo_render.kube.diff import ObjectChange
from tests.fakes.clock import FakeClock
from tests.fakes.cluster import FakeCluster
from tests.fakes.stage import RecordingLog, Stage, graph
from tests.request_passes import request, role

Json = dict[str, Any]
RENDER = {"etcd_address": "etcd:2379", "nats_address": "nats://nats:4222", "restricted_namespace": "team"}


def outside(cluster: FakeCluster) -> Outside:
    clock, log = FakeClock(), RecordingLog()
    chance = Random(1)  # noqa: S311 - spreads delays
    return Outside(cluster=cluster, clock=clock, events=ClusterEvents(cluster, clock, log), log=log, chance=chance)


async def planned(cluster: FakeCluster, **more: Any) -> Plan:
    render = OperatorSettings.from_mapping({**RENDER, **more})
    return await commands.plan(outside(cluster), cluster.for_dry_runs(), render)


def heads(plan: Plan) -> list[str]:
    return [line for line in plan.lines() if not line.startswith(" ")]


def _parsed(words: list[str]) -> Namespace:
    parser = ArgumentParser()
    settings.add_arguments(parser)
    return parser.parse_args(words)


def resolved(words: list[str], environ: dict[str, str] | None = None, file: str = "") -> Any:
    given = ["--settings", "file.yaml"] if file else []
    return settings.resolved(_parsed([*given, *words]), environ or {}, lambda _name: file)


async def test_a_plan_for_a_new_graph_lists_what_would_be_made_and_makes_nothing() -> None:
    cluster = FakeCluster()
    cluster.put(graph())
    cluster.writes.clear()
    plan = await planned(cluster)
    assert "create DynamoComponentDeployment team/chat-worker" in heads(plan)
    assert not plan.has_failed
    assert cluster.writes == []
    assert cluster.names("Event") == []


async def test_a_plan_for_what_is_in_place_is_empty() -> None:
    async with Stage() as stage:
        await stage.add(graph())
        await stage.roll_out()
    assert await planned(stage.cluster) == Plan(())


CLUSTER_WIDE: dict[str, Any] = {"restricted_namespace": "", "profiling_cluster_role": "prof"}


async def test_a_plan_for_a_new_request_goes_on_to_its_job() -> None:
    cluster = FakeCluster()
    cluster.put(role())
    cluster.put(request())
    cluster.writes.clear()
    plan = await planned(cluster, **CLUSTER_WIDE)
    assert [line for line in heads(plan) if line.startswith("create")] == [
        "create ServiceAccount team/dgdr-profiling-job",
        "create RoleBinding team/dgdr-profiling-job-binding",
        "create Job team/profile-tiny",
    ]
    assert not plan.has_failed
    assert cluster.writes == []


async def test_a_plan_for_a_request_that_waits_is_empty() -> None:
    async with Stage(**CLUSTER_WIDE) as stage:
        stage.cluster.put(role())
        await stage.add(request())
        await stage.later(1)
    assert await planned(stage.cluster, **CLUSTER_WIDE) == Plan(())


async def test_a_plan_names_the_fields_that_would_change() -> None:
    async with Stage() as stage:
        await stage.add(graph())
    stage.cluster.edit(stage.cluster.find("Deployment", "chat-worker"), {"spec": {"replicas": 7}})
    plan = await planned(stage.cluster)
    assert plan.lines() == ["change Deployment team/chat-worker", "    @@ spec.replicas @@", "    -7", "    +1"]
    assert plan.impacts == ()


async def test_a_plan_lists_what_would_be_deleted() -> None:
    async with Stage() as stage:
        await stage.add(graph())
    stage.cluster.edit(stage.cluster.find("DynamoGraphDeployment", "chat"), {"spec": {"services": {"Frontend": None}}})
    assert "delete DynamoComponentDeployment team/chat-frontend" in heads(await planned(stage.cluster))


async def test_a_plan_for_a_new_graph_goes_down_to_what_its_components_lead_to() -> None:
    cluster = FakeCluster()
    cluster.put(graph())
    plan = await planned(cluster)
    assert {"create Deployment team/chat-worker", "create Service team/chat-frontend"} <= set(heads(plan))


async def test_a_plan_for_a_changed_graph_goes_down_to_the_pods_that_are_replaced() -> None:
    async with Stage() as stage:
        await stage.add(graph())
        await stage.roll_out()
    changed = {"spec": {"services": {"Worker": {"envs": [{"name": "A", "value": "1"}]}}}}
    stage.cluster.edit(stage.cluster.find("DynamoGraphDeployment", "chat"), changed)
    plan = await planned(stage.cluster)
    assert [(impact.identity[1:], impact.restarting) for impact in plan.impacts] == [
        (("Deployment", "team", "chat-worker"), 1)
    ]
    assert "pods:" in plan.lines()


def test_what_a_secret_holds_is_not_in_a_plan() -> None:
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "mpi"}, "data": {"key": "c2VjcmV0"}}
    made = Planned("create", ObjectChange(("v1", "Secret", "team", "mpi"), None, secret))
    assert made.lines() == ["create Secret team/mpi"]


async def test_facts_can_be_read_back_and_hold_what_renders_ask_for() -> None:
    cluster = FakeCluster("grove.io")
    cluster.put(graph())
    cluster.put(
        {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": "n", "labels": {"nvidia.com/gpu.product": "H100", "nvidia.com/gpu.memory": "81559"}},
            "status": {"allocatable": {"nvidia.com/gpu": "8", "cpu": "64", "memory": "1Ti"}},
        }
    )
    text = await commands.facts(outside(cluster), OperatorSettings.from_mapping(RENDER))
    (content,) = read_documents(text)
    assert isinstance(content, dict)
    facts = ClusterFacts.from_mapping(content)
    assert facts.has_grove
    (shape,) = facts.nodes
    assert (shape.count, shape.gpus, shape.gpu_product, shape.gpu_memory_mib) == (1, 8, "H100", 81559)


def test_a_flag_beats_the_environment_which_beats_the_file_which_beats_the_default() -> None:
    file = "nats_address: file\netcd_address: file\nmodel_express_url: file\nworkers: 3\n"
    environ = {"DYNAMO_RENDER_NATS_ADDRESS": "environment", "DYNAMO_RENDER_ETCD_ADDRESS": "environment"}
    own, render = resolved(["--nats-address", "flag"], environ, file)
    assert (render.nats_address, render.etcd_address, render.model_express_url) == ("flag", "environment", "file")
    assert own == ControllerSettings(workers=3)
    assert render.discovery_backend == "kubernetes"


@pytest.mark.parametrize(
    ("words", "environ", "file", "message"),
    [
        ([], {}, "profil: x\n", "unknown setting 'profil'"),
        (["--profile", "7"], {}, "", "profile: must be one of"),
        (["--workers", "0"], {}, "", "workers: must be between 1 and 256, got 0"),
        (["--workers", "many"], {}, "", "workers: must be a whole number, got 'many'"),
        ([], {"DYNAMO_CONTROLLER_WORKERS": "-1"}, "", "workers: must be a whole number, got '-1'"),
        ([], {"DYNAMO_RENDER_VIRTUAL_SERVICE_SUPPORTS_HTTPS": "maybe"}, "", "must be true or false, got 'maybe'"),
        ([], {}, "- a\n", "must be a mapping of settings"),
        ([], {}, "a: 1\n---\nb: 2\n", "must be one document"),
        (["--log-level", "debug"], {}, "", "log_level: must be one of info, warning, error"),
        (["--metrics-address", "8080"], {}, "", 'metrics_address: must be "0", ":PORT" or "HOST:PORT", got "8080"'),
        (["--metrics-address", ":1", "--health-address", ":1"], {}, "", "health_address: is the same as metrics_add"),
        (["--leader-elect", "--leader-election-id", ""], {}, "", "leader_election_id: is needed"),
        (
            ["--leader-election-retry-period", "10s"],
            {},
            "",
            "must be less than leader_election_renew_deadline",
        ),
        (["--leader-election-lease-duration", "10.9s"], {}, "", "leader_election_renew_deadline: must be less than"),
        (["--leader-election-retry-period", "0s"], {}, "", "leader_election_retry_period: must be more than 0s"),
        (["--leader-election-retry-period", "2"], {}, "", "leader_election_retry_period: "),
        ([], {}, "leader_election_retry_period: 2\n", "must be a duration such as 15s, got 2"),
        ([], {}, "leader_elect: maybe\n", "leader_elect: must be true or false, got 'maybe'"),
        (
            ["--namespace-scope-lease-renew-interval", "30s"],
            {},
            "",
            "namespace_scope_lease_renew_interval: must be les",
        ),
        (["--discovery-backend", "zookeeper"], {}, "", "discovery_backend"),
    ],
)
def test_settings_that_cannot_be_used_are_named(
    words: list[str], environ: dict[str, str], file: str, message: str
) -> None:
    with pytest.raises(UnusableSettings) as caught:
        resolved(words, environ, file)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["--webhook-address", ":x"], "webhook_address: must be"),
        (["--webhook-address", ":9443"], "webhook_certificates: is needed where webhook_address is not 0"),
        (["--webhook-secret", "s"], 'webhook_secret: must be NAMESPACE/NAME, got "s"'),
        (["--webhook-secret", "n/s"], "webhook_service: is needed where webhook_secret is set"),
    ],
)
def test_settings_of_the_webhook_that_cannot_work_are_refused_at_the_start(words: list[str], line: str) -> None:
    with pytest.raises(UnusableSettings) as refused:
        resolved(words)
    assert refused.value.lines[0].startswith(line)


def test_everything_that_is_wrong_with_settings_is_said_at_once() -> None:
    words = ["--workers", "x", "--leader-election-retry-period", "2", "--log-level", "loud", "--etcd-address", "e"]
    environ = {"DYNAMO_CONTROLLER_ADOPT": "perhaps", "DYNAMO_RENDER_PROFILE": "8"}
    with pytest.raises(UnusableSettings) as refused:
        resolved(words, environ, "profil: x\nhealth_address: 8081\ndiscovery_backend: zk\n")
    assert [line.split(": must")[0].split(': "')[0] for line in refused.value.lines] == [
        "file.yaml: unknown setting 'profil'",
        "adopt",
        "health_address",
        "workers",
        "leader_election_retry_period",
        "log_level",
        "discovery_backend",
        "profile",
    ]


@pytest.mark.parametrize("digits", ["\u00b2", "\u0663", "9" * 5000])
def test_a_count_in_other_digits_or_in_thousands_of_them_is_no_whole_number(digits: str) -> None:
    with pytest.raises(UnusableSettings, match="workers: must be a whole number"):
        resolved(["--workers", digits])


def test_a_settings_file_that_is_no_text_is_refused_as_such(tmp_path: Path) -> None:
    file = tmp_path / "settings.yaml"
    file.write_bytes(b"a: \xff")
    with pytest.raises(UnusableSettings, match="byte 0xFF at offset 3 is no UTF-8"):
        settings.resolved(_parsed(["--settings", str(file)]), {}, lambda name: Path(name).read_text("utf-8"))


def test_durations_and_switches_are_read_from_everywhere() -> None:
    environ = {"DYNAMO_CONTROLLER_LEADER_ELECT": "true", "DYNAMO_CONTROLLER_NAMESPACE_SCOPE_LEASE_DURATION": "1m"}
    own, _ = resolved(["--leader-election-retry-period", "500ms"], environ, "leader_election_renew_deadline: 9s\n")
    assert own == ControllerSettings(
        leader_elect=True,
        leader_election_retry_period=0.5,
        leader_election_renew_deadline=9.0,
        namespace_scope_lease_duration=60.0,
    )
