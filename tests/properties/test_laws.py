"""Laws of `render` that hold for any input: what it depends on, what it leaves alone, what it answers to nonsense."""

from __future__ import annotations

import copy
import json
import os
import subprocess
import sys
from pathlib import Path
from random import Random
from typing import Any

import attrs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dynamo_render import (
    ClusterFacts,
    FactQuery,
    InvalidFacts,
    InvalidResource,
    InvalidSettings,
    MissingFacts,
    NamespaceFacts,
    OperatorSettings,
    Owner,
    needs,
    render,
)
from dynamo_render.kube import manifest
from dynamo_render.kube.schema_nodes import Findings
from dynamo_render.spec import structure
from dynamo_render.spec.component import ComponentDeploymentSpec
from dynamo_render.spec.graph import GraphSpec
from tests import manifests
from tests.strategies import graphs, mutations, situations
from tests.strategies.situations import Situation

Json = dict[str, Any]

ROOT = Path(__file__).resolve().parents[2]
FEW = max(3, settings().max_examples // 10)
SPEC_CLASSES = {"DynamoGraphDeployment": GraphSpec, "DynamoComponentDeployment": ComponentDeploymentSpec}

both_profiles = pytest.mark.parametrize("profile", [situations.PROFILE, situations.SHIPPED])

RENDERS_LINES = """
import json, sys
from dynamo_render import ClusterFacts, InvalidFacts, InvalidResource, Observed, OperatorSettings, records, render

for line in sys.stdin:
    resource, settings, facts, observed = json.loads(line)
    try:
        rendered = render(
            resource,
            settings=OperatorSettings.from_mapping(settings),
            facts=ClusterFacts.from_mapping(facts),
            observed=records.structured(Observed, observed, InvalidFacts),
        )
    except InvalidResource as error:
        print(json.dumps([str(problem) for problem in error.problems]))
    else:
        print(json.dumps([rendered.objects, list(map(str, rendered.owners)), list(map(str, rendered.warnings))]))
"""


def rendered_in_a_fresh_process(lines: str, seed: str) -> bytes:
    """Return what a new interpreter with the hash seed *seed* prints for the situations in *lines*."""
    command = [sys.executable, "-c", RENDERS_LINES]
    surroundings = {**os.environ, "PYTHONHASHSEED": seed}
    return subprocess.run(
        command, input=lines.encode(), env=surroundings, cwd=ROOT, check=True, capture_output=True
    ).stdout


def outcome(situation: Situation) -> tuple[object, ...]:
    """Return everything that a render says, problems and warnings sorted, as their order may follow the input's."""
    try:
        rendered = situation.rendered()
    except InvalidResource as error:
        return "refused", sorted(map(str, error.problems))
    except MissingFacts as error:
        return "missing", error.query
    return rendered.objects, rendered.owners, sorted(map(str, rendered.warnings))


def rendered_or_reject(situation: Situation) -> Any:
    """Return the render of a situation, or None for what only the shipped profile might have accepted."""
    try:
        return situation.rendered()
    except InvalidResource:
        assert not situation.is_documented
        return None


@given(st.lists(situations.situations() | situations.situations(situations.SHIPPED), min_size=1, max_size=8))
@settings(max_examples=FEW)
def test_the_same_input_gives_the_same_bytes_under_any_hash_seed(batch: list[Situation]) -> None:
    lines = "".join(f"{json.dumps([s.resource, s.settings, s.facts, s.observed])}\n" for s in batch)
    assert rendered_in_a_fresh_process(lines, "1") == rendered_in_a_fresh_process(lines, "2")


@both_profiles
@given(data=st.data())
def test_inputs_are_unchanged_by_rendering(profile: str, data: st.DataObject) -> None:
    situation = data.draw(situations.situations(profile))
    before = copy.deepcopy((situation.resource, situation.settings, situation.facts, situation.observed))
    outcome(situation)
    assert (situation.resource, situation.settings, situation.facts, situation.observed) == before


@both_profiles
@given(data=st.data())
def test_results_share_no_mutable_state_with_inputs_or_each_other(profile: str, data: st.DataObject) -> None:
    """Every mapping and list in two renders of the same input is met once only, and none of them in the input."""
    situation = data.draw(situations.situations(profile))
    operator, facts = OperatorSettings.from_mapping(situation.settings), ClusterFacts.from_mapping(situation.facts)
    try:
        renders = [render(situation.resource, settings=operator, facts=facts) for _ in range(2)]
    except InvalidResource:
        return
    inputs = [situation.resource, situation.settings, situation.facts, facts.mpi_source or {}]
    given_parts = {id(part) for whole in inputs for part in manifests.mutable_parts(whole)}
    made_parts = [
        id(part) for rendered in renders for made in rendered.objects for part in manifests.mutable_parts(made)
    ]
    assert len(set(made_parts)) == len(made_parts)
    assert given_parts.isdisjoint(made_parts)


@both_profiles
@given(data=st.data(), random=st.randoms(use_true_random=False))
def test_the_order_of_maps_in_the_input_has_no_effect(profile: str, data: st.DataObject, random: Random) -> None:
    situation = data.draw(situations.situations(profile))
    if data.draw(st.booleans()):
        situation = situation.with_resource(data.draw(mutations.mutated(situation.resource)))
    other = Situation(
        mutations.shuffled(situation.resource, random),
        mutations.shuffled(situation.settings, random),
        mutations.shuffled(situation.facts, random),
        mutations.shuffled(situation.observed, random),
    )
    assert outcome(other) == outcome(situation)


@given(situations.situations(), st.randoms(use_true_random=False))
def test_the_order_of_sets_in_the_facts_has_no_effect(situation: Situation, random: Random) -> None:
    facts = copy.deepcopy(situation.facts)
    for key in ("api_groups", "kai_queues", "cluster_roles"):
        random.shuffle(facts.get(key, []))
    for here in facts["namespaces"].values():
        for secrets in here.get("pull_secrets", {}).values():
            random.shuffle(secrets)
    assert outcome(attrs.evolve(situation, facts=facts)) == outcome(situation)


@given(situations.situations())
def test_what_the_strategies_call_valid_is_rendered(situation: Situation) -> None:
    """Not a law of `render`, but of the strategies: the other laws would hold for nothing if graphs were refused."""
    assert situation.rendered().objects != ()


@given(situations.graph_situations(related=True))
def test_an_object_that_is_wanted_twice_is_wanted_the_same(situation: Situation) -> None:
    """Objects of one identity stand once in the result; if they differed, one of them would be lost without a word.

    Services whose computed names meet are refused; the shipped profile loses an object there (decision 0009).
    """
    try:
        situation.rendered()
    except InvalidResource as error:
        refused = {problem.rule for problem in error.problems if problem.severity == "error"}
        assert refused == {"names/collision"}
        return
    seen: dict[tuple[str, ...], Json] = {}
    for made in situation.built():
        assert seen.setdefault(manifest.identity(made), made) == made


@both_profiles
@given(data=st.data())
def test_a_component_deployment_of_a_graph_renders_what_the_graph_renders_for_it(
    profile: str, data: st.DataObject
) -> None:
    """A controller sees the component deployment alone; it must come to the same objects as the graph's render."""
    situation = data.draw(situations.graph_situations(profile))
    rendered = rendered_or_reject(situation)
    if rendered is None:
        return
    owner_of = {manifest.identity(made): who for made, who in zip(rendered.objects, rendered.owners, strict=True)}
    graph = {"apiVersion": graphs.API_VERSION, "kind": "DynamoGraphDeployment"}
    for made in manifests.of_kind(rendered.objects, "DynamoComponentDeployment"):
        name = made["metadata"]["name"]
        owner = {**graph, "name": situation.resource["metadata"]["name"], "uid": "1", "controller": True}
        resource = copy.deepcopy(dict(made))
        resource["metadata"]["ownerReferences"] = [owner]
        alone = attrs.evolve(situation, resource=resource, observed={}).rendered()
        # A model's Service may belong to another component of the graph that wanted it first.
        own = [made for made in alone.objects if owner_of.get(manifest.identity(made), name) in (name, _owner(name))]
        assert own == [made for made in rendered.objects if owner_of[manifest.identity(made)] == _owner(name)]
        assert [made for made in alone.objects if made not in rendered.objects] == []


def _owner(name: str) -> Owner:
    return Owner(graphs.API_VERSION, "DynamoComponentDeployment", name)


@both_profiles
@given(data=st.data())
def test_the_facts_that_needs_asks_for_are_enough(profile: str, data: st.DataObject) -> None:
    situation = data.draw(situations.situations(profile))
    operator, facts = OperatorSettings.from_mapping(situation.settings), ClusterFacts.from_mapping(situation.facts)
    try:
        full = render(situation.resource, settings=operator, facts=facts)
    except InvalidResource:
        return
    query = needs(situation.resource, operator)
    less = render(situation.resource, settings=operator, facts=asked_for(query, facts))
    assert (less.objects, less.owners, less.warnings) == (full.objects, full.owners, full.warnings)


def asked_for(query: FactQuery, facts: ClusterFacts) -> ClusterFacts:
    """Return what a cluster with *facts* answers to *query*, and nothing else."""
    return ClusterFacts(
        api_groups=facts.api_groups & query.api_groups,
        kai_queues=facts.kai_queues if query.kai_queues else None,
        cluster_roles=None if facts.cluster_roles is None else facts.cluster_roles & query.cluster_roles,
        nodes=facts.nodes if query.nodes else (),
        gpus_per_node=facts.gpus_per_node if query.nodes else None,
        mpi_source=facts.mpi_source if query.mpi_secret_namespaces else None,
        namespaces={name: _asked_for_in(name, query, here) for name, here in facts.namespaces.items()},
    )


def _asked_for_in(name: str, query: FactQuery, here: NamespaceFacts) -> NamespaceFacts:
    claims = {claim for namespace, claim in query.claims if namespace == name}
    stamped = {graph for namespace, graph in query.restart_stamps if namespace == name}
    restarting = {graph for namespace, graph in query.service_progress if namespace == name}
    return NamespaceFacts(
        pull_secrets=here.pull_secrets if name in query.pull_secret_namespaces else {},
        component_service_account=(
            here.component_service_account if name in query.service_account_namespaces else None
        ),
        restart_stamps={graph: stamps for graph, stamps in here.restart_stamps.items() if graph in stamped},
        service_progress={graph: ready for graph, ready in here.service_progress.items() if graph in restarting},
        pvcs=None if here.pvcs is None else here.pvcs & claims,
        mpi_secret=here.mpi_secret if name in query.mpi_secret_namespaces else None,
    )


@given(situations.situations(situations.SHIPPED))
def test_what_is_written_reads_back_as_it_was_written(situation: Situation) -> None:
    """What a typed client leaves out of a spec is lost once; a second reading loses nothing more."""
    cls = SPEC_CLASSES[situation.resource["kind"]]
    read = structure.decoder_of(cls)
    once = structure.encoded(read(situation.resource["spec"], None, Findings()))
    again = read(once, None, Findings())
    assert structure.encoded(again) == once
    assert structure.encoded(read(structure.encoded(again), None, Findings())) == once


@both_profiles
@given(data=st.data())
def test_nonsense_in_a_resource_is_refused_or_rendered(profile: str, data: st.DataObject) -> None:
    """Nothing else is ever raised than the documented exceptions, whatever stands in the resource."""
    situation = data.draw(situations.situations(profile))
    resource = data.draw(mutations.mutated(situation.resource))
    assert outcome(situation.with_resource(resource)) != ()


@given(st.data())
def test_nonsense_in_settings_and_facts_is_refused_or_read(data: st.DataObject) -> None:
    situation = data.draw(situations.situations())
    for read, given_mapping, refusal in (
        (OperatorSettings.from_mapping, situation.settings, InvalidSettings),
        (ClusterFacts.from_mapping, situation.facts, InvalidFacts),
    ):
        try:
            read(data.draw(mutations.mutated(given_mapping)))
        except refusal as error:
            assert error.problems != ()  # noqa: PT017 - either outcome is right, another exception is not


@given(st.data())
def test_any_json_value_is_refused_or_rendered(data: st.DataObject) -> None:
    value = data.draw(mutations.json_values())
    with pytest.raises(InvalidResource):
        render(value)
