"""What `validate` says of a resource is what a real API server says under strict field validation, path by path.

The seed of the random mistakes is `SEED` of the environment, 0 without it; a failure names it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from random import Random
from typing import Any
from urllib.parse import urlencode

import pytest

from dynamo_render.schemas.kinds import API_VERSION
from dynamo_render.schemas.stored import normalised
from tests.cluster import client, resources, verdicts
from tests.cluster.bench import Bench
from tests.cluster.broken import broken
from tests.cluster.client import Answer, Client

Json = dict[str, Any]

SEED = int(os.environ.get("SEED", "0"))
WITH_MISTAKES = 3_200
FEWEST = 3_000
MOST_SHOWN = 20

STRICT = urlencode({"dryRun": "All", "fieldValidation": "Strict"})

# What only one of the listed differences is about: too rare to come up in every random run.
RARE: tuple[Json, ...] = (
    {"kind": "DynamoModel", "metadata": {"generateName": "model-"}, "spec": {"modelName": "a", "baseModelName": "a"}},
    {"kind": "DynamoModel", "metadata": {"name": "model"}},
    {
        "kind": "DynamoGraphDeploymentScalingAdapter",
        "metadata": {"name": "adapter"},
        "spec": {"replicas": 2.0, "dgdRef": {"name": "a", "serviceName": "a"}},
    },
)


def documents(seed: int, count: int) -> Iterator[Json]:
    """Yield every resource as it is written, and *count* with mistakes; the same for the same *seed*."""
    written = resources.written()
    yield from (entry for kind in written for entry in written[kind])
    yield from (resources.in_namespace({"apiVersion": API_VERSION, **rare}) for rare in RARE)
    random = Random(seed)  # noqa: S311 - mistakes, no secrets
    kinds = (*resources.MAIN_KINDS * 4, *resources.OTHER_KINDS)
    for _ in range(count):
        yield broken(random.choice(written[random.choice(kinds)]), random)


def asker(server: Client) -> Callable[[Json], Answer]:
    """Return what asks for a create that is refused for unknown fields; its path never depends on the metadata."""

    def ask(resource: Json) -> Answer:
        collection = server.path(resource["apiVersion"], resource["kind"], namespace=resources.NAMESPACE)
        return server.send("POST", f"{collection}?{STRICT}", resource)

    return ask


@pytest.fixture(scope="module")
def asked(api_server: Bench) -> list[tuple[Json, Answer]]:
    """Each document and the server's answer to it."""
    given = list(documents(SEED, WITH_MISTAKES))
    return list(zip(given, client.answers(asker(api_server.client), given, threads=8), strict=True))


def test_the_verdicts_and_paths_are_those_of_the_server_but_for_the_listed(asked: list[tuple[Json, Answer]]) -> None:
    assert len(asked) >= FEWEST
    known = verdicts.listed()
    found = [
        f"{line}\n    {resource}" for resource, said in asked for line in verdicts.differences(resource, said, known)
    ]
    assert found[:MOST_SHOWN] == [], f"{len(found)} differences with SEED={SEED}"


def test_a_good_part_of_the_documents_is_refused_and_a_good_part_accepted(asked: list[tuple[Json, Answer]]) -> None:
    refused = sum(said.is_refusal for _, said in asked)
    assert len(asked) / 5 < refused < len(asked) * 4 / 5


def test_every_listed_difference_still_exists(asked: list[tuple[Json, Answer]]) -> None:
    lines = [line for resource, said in asked for line in verdicts.differences(resource, said, ())]
    unused = [pattern.words.pattern for pattern in verdicts.listed() if not any(map(pattern.matches, lines))]
    assert unused == []


def test_normal_forms_are_refused_where_validate_refuses_for_its_schema(asked: list[tuple[Json, Answer]]) -> None:
    """Two ways through the same schemas: what the server would store, and what a render reads."""
    found = []
    for resource, said in asked:
        errors = [str(problem) for problem in normalised(resource)[1] if problem.severity == "error"]
        ours = [str(problem) for problem in verdicts.of_the_server(resource).values()]
        if errors and not ours:
            found.append((errors, said.message, resource))
    assert found[:MOST_SHOWN] == [], f"SEED={SEED}"
