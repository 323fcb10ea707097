"""A real API server takes our definitions without a warning, and stores of every resource what we say it stores."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dynamo_render.schemas import definition, kinds
from dynamo_render.schemas.stored import normalised
from tests.cluster import bench, processes
from tests.cluster.bench import Bench
from tests.cluster.client import Answer, Json
from tests.golden.cases import examples
from tests.strategies.schema_values import resources

BATCHES, PER_BATCH = 25, 20
"""500 resources of each kind."""

NAMES = tuple(kinds.KINDS)


@pytest.fixture(scope="module")
def server(api_server: Bench, bench_logs: Path) -> Iterator[Bench]:
    """A server of its own; the shared one says whether there can be one, and its definitions accept anything."""
    assert api_server.client.get("v1", "Namespace", "default")
    folder = bench_logs / "our-definitions"
    folder.mkdir()
    with bench.api_server(folder) as started:
        yield started


@pytest.fixture(scope="module")
def answers(server: Bench) -> dict[str, Answer]:
    """What the server said to each of our definitions; it serves them by now."""
    said = {
        name: server.client.send("POST", bench.DEFINITIONS, definition.custom_resource_definition(kind))
        for name, kind in kinds.KINDS.items()
    }
    processes.wait_until(lambda: serves_all(server), seconds=bench.DEFINITIONS_LIMIT, what="our definitions")
    return said


def serves_all(server: Bench) -> bool:
    listed = server.client.get("apiextensions.k8s.io/v1", "CustomResourceDefinition")["items"]
    established = [
        condition
        for item in listed
        for condition in (item.get("status") or {}).get("conditions") or ()
        if (condition["type"], condition["status"]) == ("Established", "True")
    ]
    found = server.client.send("GET", f"/apis/{kinds.API_VERSION}")
    return len(established) == len(kinds.KINDS) and not found.is_refusal


def stored_by(server: Bench, resource: Json) -> Answer:
    """Return the answer to a create that drops unknown keys silently; nothing stays."""
    path = server.client.path(resource["apiVersion"], resource["kind"], namespace="default")
    return server.client.send("POST", f"{path}?{urlencode({'dryRun': 'All', 'fieldValidation': 'Ignore'})}", resource)


def differences(server: Bench, given: list[Json]) -> list[Any]:
    """Return each resource on which the server and we do not agree, with both sides."""
    with ThreadPoolExecutor(4) as pool:
        said = list(pool.map(lambda resource: stored_by(server, resource), given))
    return [found for resource, answer in zip(given, said, strict=True) if (found := difference(resource, answer))]


def difference(resource: Json, answer: Answer) -> Any:
    stored, problems = normalised(resource)
    errors = [str(problem) for problem in problems if problem.severity == "error"]
    if answer.is_refusal or errors:
        agree = answer.is_refusal and bool(errors)
        return None if agree else (resource, answer.message, errors)
    ours, theirs = without_server_fields(stored), without_server_fields(answer.body)
    return None if ours == theirs else (resource, theirs, ours)


def without_server_fields(content: Json) -> Json:
    """Return *content* without the metadata that a server assigns."""
    assigned = {"creationTimestamp", "generation", "managedFields", "namespace", "resourceVersion", "uid"}
    metadata = {key: value for key, value in content["metadata"].items() if key not in assigned}
    return {**content, "metadata": metadata}


def in_default_namespace(resource: Json) -> Json:
    return {**resource, "metadata": {**resource["metadata"], "namespace": "default"}}


@pytest.mark.parametrize("name", NAMES)
def test_each_definition_is_accepted_without_a_warning(answers: dict[str, Answer], name: str) -> None:
    answer = answers[name]
    assert (answer.message, answer.warnings) == ("", ())


@pytest.mark.parametrize("name", NAMES)
def test_each_definition_is_in_structural_form(server: Bench, answers: dict[str, Answer], name: str) -> None:
    """The server says so in a condition, some time after it took the definition."""
    assert not answers[name].is_refusal
    named = f"{kinds.KINDS[name].plural}.{kinds.GROUP}"
    status = server.client.get("apiextensions.k8s.io/v1", "CustomResourceDefinition", named)["status"]
    assert [condition for condition in status["conditions"] if condition["type"] == "NonStructuralSchema"] == []


@pytest.mark.usefixtures("answers")
def test_the_examples_are_stored_as_we_say(server: Bench) -> None:
    written = [resource for example in examples() for resource in example.resources()]
    assert len(written) > 0
    assert differences(server, [in_default_namespace(resource) for resource in written]) == []


@pytest.mark.usefixtures("answers")
@pytest.mark.parametrize("name", NAMES)
def test_random_resources_are_stored_or_refused_as_we_say(server: Bench, name: str) -> None:
    @settings(max_examples=BATCHES, suppress_health_check=list(HealthCheck))
    @given(st.lists(resources(name, noise=True), min_size=PER_BATCH, max_size=PER_BATCH))
    def compare(batch: list[Json]) -> None:
        assert differences(server, batch) == []

    compare()
