"""Settings and facts from mappings: strict types, every problem at once, contradictions named."""

from __future__ import annotations

from typing import Any

import pytest

from dynamo_render import ClusterFacts, FactQuery, InvalidFacts, InvalidSettings, NodeShape, OperatorSettings
from dynamo_render.errors import field_path

MINUTE = 60 * 10**9


def test_settings_default_to_a_bare_operator_of_the_documented_profile() -> None:
    settings = OperatorSettings.from_mapping({})
    assert settings == OperatorSettings()
    assert (settings.profile, settings.discovery_backend, settings.grove_termination_delay) == (
        "0.9",
        "kubernetes",
        15 * MINUTE,
    )


@pytest.mark.parametrize(
    ("given", "nanoseconds"),
    [
        ({"grove_termination_delay": "15m"}, 15 * MINUTE),
        ({"grove_termination_delay": "1h30m"}, 90 * MINUTE),
        ({"grove_termination_delay": 5}, 5),
        ({"grove_termination_delay_seconds": 900}, 15 * MINUTE),
        ({"grove_termination_delay_seconds": 0.5}, 500_000_000),
    ],
)
def test_the_termination_delay_may_be_given_in_three_ways(given: dict[str, Any], nanoseconds: int) -> None:
    assert OperatorSettings.from_mapping(given).grove_termination_delay == nanoseconds


@pytest.mark.parametrize(
    ("given", "path"),
    [
        ({"nats_address": 1}, "nats_address"),
        ({"virtual_service_supports_https": "true"}, "virtual_service_supports_https"),
        ({"grove_termination_delay": "15"}, "grove_termination_delay"),
        ({"grove_termination_delay": True}, "grove_termination_delay"),
        ({"discovery_backend": "consul"}, "discovery_backend"),
        ({"mpi_ssh_secret_name": ""}, "mpi_ssh_secret_name"),
        ({"nats_adress": "x"}, "nats_adress"),
        ({"grove_termination_delay": "1m", "grove_termination_delay_seconds": 1}, "grove_termination_delay_seconds"),
    ],
)
def test_unusable_settings_name_the_field(given: dict[str, Any], path: str) -> None:
    with pytest.raises(InvalidSettings) as refused:
        OperatorSettings.from_mapping(given)
    assert path in {field_path(problem.path) for problem in refused.value.problems}


def test_an_unknown_setting_names_the_nearest_known_one() -> None:
    with pytest.raises(InvalidSettings) as refused:
        OperatorSettings.from_mapping({"nats_adress": "x"})
    assert refused.value.problems[0].hint == "did you mean nats_address?"


def test_all_unusable_settings_are_reported_at_once() -> None:
    with pytest.raises(InvalidSettings) as refused:
        OperatorSettings.from_mapping({"nats_address": 1, "etcd_address": [], "zzz": 1})
    assert {problem.path for problem in refused.value.problems} == {("nats_address",), ("etcd_address",), ("zzz",)}


def test_an_empty_debugger_image_means_the_default() -> None:
    assert OperatorSettings.from_mapping({"debugger_image": ""}).debugger_image == "python:3.12-slim"


def test_facts_are_structured_to_the_last_field() -> None:
    facts = ClusterFacts.from_mapping(
        {
            "api_groups": ["grove.io", "scheduling.run.ai"],
            "kai_queues": ["dynamo"],
            "nodes": [{"count": 4, "gpus": 8, "gpu_product": "H100"}],
            "gpus_per_node": 8,
            "namespaces": {
                "team": {
                    "pull_secrets": {"nvcr.io": ["a", "b"]},
                    "component_service_account": None,
                    "restart_stamps": {"graph": {"Decode": "7"}},
                    "service_progress": {"graph": {"Decode": True}},
                    "pvcs": ["models"],
                    "mpi_secret": False,
                }
            },
        }
    )
    assert facts.has_grove
    assert facts.has_kai
    assert facts.nodes == (NodeShape(count=4, gpus=8, gpu_product="H100"),)
    assert facts.view("team").pull_secrets == {"nvcr.io": ("a", "b")}
    assert facts.view("team").pvcs == frozenset({"models"})
    assert facts.view("elsewhere").pvcs is None


@pytest.mark.parametrize(
    ("given", "path"),
    [
        ({"api_groups": "grove.io"}, "api_groups"),
        ({"namespaces": []}, "namespaces"),
        ({"namespaces": {"a": {"pvcs": [1]}}}, "namespaces.a.pvcs[0]"),
        ({"namespaces": {"a": {"pull_secrets": {"nvcr.io": "x"}}}}, 'namespaces.a.pull_secrets["nvcr.io"]'),
        ({"namespaces": {"a": {"pull_secrets": {"nvcr.io": []}}}}, 'namespaces.a.pull_secrets["nvcr.io"]'),
        ({"nodes": [{"gpus": -1}]}, "nodes[0].gpus"),
        ({"kai_queues": ["dynamo"]}, "kai_queues"),
        ({"gpus_per_node": 4, "nodes": [{"gpus": 8}]}, "gpus_per_node"),
        ({"gruops": []}, "gruops"),
    ],
)
def test_unusable_or_contradicting_facts_name_the_field(given: dict[str, Any], path: str) -> None:
    with pytest.raises(InvalidFacts) as refused:
        ClusterFacts.from_mapping(given)
    assert path in {field_path(problem.path) for problem in refused.value.problems}


def test_leader_worker_sets_need_their_scheduler_too() -> None:
    assert not ClusterFacts(api_groups=frozenset({"leaderworkerset.x-k8s.io"})).has_leader_worker_set
    both = frozenset({"leaderworkerset.x-k8s.io", "scheduling.volcano.sh"})
    assert ClusterFacts(api_groups=both).has_leader_worker_set


def test_joined_queries_ask_for_what_either_asks_for() -> None:
    first = FactQuery(api_groups=frozenset({"a"}), kai_queues=True)
    second = FactQuery(api_groups=frozenset({"b"}), nodes=True)
    joined = first.joined(second)
    assert joined == FactQuery(api_groups=frozenset({"a", "b"}), kai_queues=True, nodes=True)
    assert str(joined) == "api_groups (a, b); kai_queues; nodes"


@pytest.mark.parametrize("text", ["x", "x:8080", "a b", "http://mx:8000", "http://mx", ""])
def test_a_model_express_url_may_lack_scheme_and_host(text: str) -> None:
    """operator-config.md 2.6, row 3."""
    assert OperatorSettings.from_mapping({"model_express_url": text}).model_express_url == text


@pytest.mark.parametrize("text", ["10.0.0.1:8080", ":foo", "http://h:abc", "http://[::1", "%zz"])
def test_a_model_express_url_that_cannot_be_parsed_is_refused(text: str) -> None:
    """operator-config.md 2.6, row 3."""
    with pytest.raises(InvalidSettings) as refused:
        OperatorSettings.from_mapping({"model_express_url": text})
    assert [problem.path for problem in refused.value.problems] == [("model_express_url",)]
