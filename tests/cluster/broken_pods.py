"""Component deployments whose pods are of the right types and say something that may not be, made with a seed.

Every value fits its schema, so that only rules about pods can refuse it; whether one does is not known here.
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any

from dynamo_render.kube import schema_nodes
from dynamo_render.kube.schema_nodes import ListOf, MapOf, Node, Scalar, Struct
from tests.cluster.resources import NAMESPACE

Json = dict[str, Any]

MOST_FIELDS = 3
DEEPEST = 5

TEXTS = (
    *("a", "Always", "Never", "OnFailure", "IfNotPresent", "http", "TCP", "UDP", "Upper", "x y", "-x", "a" * 64, "/a"),
    *("", "a/b", "../a", "a:b", "10.0.0.1", "500m", "metadata.name", "RuntimeDefault", "A_B", "1", "data", "Exists"),
)
KEYS = ("a", "cpu", "memory", "nvidia.com/gpu", "example.com/key", "not a key", "hugepages-2Mi", "a" * 64)
NUMBERS = (0, 1, 2, -1, 80, 8080, 65535, 65536, 1000, 2**31 - 1)
AMOUNTS = ("1", "0", "-1", "500m", "1Gi", "1.5", "100Mi")
OTHERS: dict[str, tuple[Any, ...]] = {
    "boolean": (True, False),
    "number": (0, 1, 0.5),
    "int-or-string": (80, "http", "Upper_case", 0, 70000, "25%", ""),
    "time": ("2026-01-02T03:04:05Z",),
    "bytes": ("YQ==",),
    "quantity": AMOUNTS,
    "duration": ("5s",),
    "any": ({},),
}

# Fields of which users write nothing else than what the tests of types hold, or which drown all others in refusals.
LEFT_OUT = frozenset({"ephemeralContainers", "overhead", "resourceClaims", "priority", "os", "containers", "volumes"})


def resources(seed: int, count: int) -> Iterator[Json]:
    """Yield *count* component deployments; the same for the same *seed*."""
    random = Random(seed)  # noqa: S311 - mistakes, no secrets
    for _ in range(count):
        yield _resource(random)


def _resource(random: Random) -> Json:
    container: Json = {"image": "registry.example/engine:1", **_some_fields("core/v1.Container", random)}
    pod: Json = _some_fields("core/v1.PodSpec", random) if random.random() < 0.6 else {}
    if random.random() < 0.3:
        pod["volumes"] = [_named_volume(random) for _ in range(random.randint(1, 2))]
    spec: Json = {"dynamoNamespace": "chat", "componentType": random.choice(("worker", "frontend", ""))}
    spec["extraPodSpec"] = {**pod, "mainContainer": container}
    if random.random() < 0.2:
        spec[random.choice(("livenessProbe", "readinessProbe"))] = _fitting(schema_nodes.Ref("core/v1.Probe"), random)
    metadata = {"name": "broken", "namespace": NAMESPACE}
    return {
        "apiVersion": "nvidia.com/v1alpha1",
        "kind": "DynamoComponentDeployment",
        "metadata": metadata,
        "spec": spec,
    }


def _some_fields(name: str, random: Random) -> Json:
    fields = schema_nodes.embedded(name).fields
    chosen = random.sample(sorted(fields.keys() - LEFT_OUT), random.randint(0, MOST_FIELDS))
    return {key: _fitting(fields[key].node, random) for key in chosen}


def _named_volume(random: Random) -> Json:
    fields = schema_nodes.embedded("core/v1.Volume").fields
    # A server without the feature of image volumes drops them before it looks at anything else.
    sources = random.sample(sorted(fields.keys() - {"name", "image"}), random.choice((0, 1, 1, 1, 2)))
    name = random.choice(("data", "cache", "Upper", "a" * 64))
    return {"name": name, **{source: _fitting(fields[source].node, random, 2) for source in sources}}


def _fitting(node: Node, random: Random, depth: int = 0) -> Any:
    """Return a value that the schema *node* takes."""
    found = schema_nodes.referred(node) if isinstance(node, schema_nodes.Ref) else node
    if isinstance(found, Scalar):
        return _leaf(found, random)
    if isinstance(found, ListOf):
        return [_fitting(found.item, random, depth + 1)] if random.random() < 0.9 else []
    if isinstance(found, MapOf):
        return {random.choice(KEYS): _fitting(found.item, random, depth + 1)}
    return _mapping(found, random, depth)


def _mapping(struct: Struct, random: Random, depth: int) -> Json:
    optional = [key for key in sorted(struct.fields) if not struct.fields[key].required]
    count = 0 if depth > DEEPEST else min(len(optional), random.choice((0, 1, 1, 2)))
    required = [key for key, field in struct.fields.items() if field.required]
    chosen = [*required, *random.sample(optional, count)]
    return {key: _fitting(struct.fields[key].node, random, depth + 1) for key in chosen}


def _leaf(node: Scalar, random: Random) -> Any:
    if node.kind == "string":
        return random.choice(node.enum or TEXTS)
    return random.choice(OTHERS.get(node.kind, NUMBERS))
