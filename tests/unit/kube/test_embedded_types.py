"""The generated table of Kubernetes types agrees with the specification's listing, known facts and its source.

Two relaxations of the custom resource schemas are not Kubernetes and so not in the table: containers of a pod override
may be missing, and a main container may have no name.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from ruamel.yaml import YAML

from dynamo_render.kube.embedded_types import TYPES

REPOSITORY = Path(__file__).resolve().parents[3]
LISTING = REPOSITORY.parent / "shared" / "spec" / "api-fields.yaml"
REFRESH = REPOSITORY / "schemas" / "refresh.py"

LISTED_TYPES = (
    "autoscaling/v2.HorizontalPodAutoscalerBehavior",
    "autoscaling/v2.MetricSpec",
    "core/v1.ConfigMapKeySelector",
    "core/v1.Container",
    "core/v1.EnvVar",
    "core/v1.PodSpec",
    "core/v1.Probe",
    "core/v1.ResourceClaim",
    "core/v1.ResourceRequirements",
    "core/v1.Toleration",
    "meta/v1.Condition",
)
ALIASED_TYPES = ("core/v1.EphemeralContainer",)

# The listing has its own entries for these and does not repeat them below a pod.
LISTED_APART = frozenset({"core/v1.Container", "core/v1.EphemeralContainer"})

# Sections about values, and the section that says where the walk below ends.
NOT_IN_THE_TABLE = frozenset({"enums", "bounds", "prunedToEmptyObject"})

# Keys Kubernetes requires and the custom resource schemas do not.
RELAXED = {"core/v1.PodSpec": {"containers"}}

SCALARS = frozenset(
    {"string", "boolean", "int32", "int64", "number", "quantity", "int-or-string", "time", "bytes", "any"},
)


class Facts(NamedTuple):
    """One row of the table with names instead of positions."""

    type: str
    emit: str
    required: bool
    default: object
    list_type: str
    list_map_keys: tuple[str, ...]


def facts(type_name: str, field: str) -> Facts:
    return Facts(*TYPES[type_name][field])


def item_type(text: str) -> str:
    """The type below all list and map prefixes."""
    while text[:2] in ("[]", "{}"):
        text = text[2:]
    return text


def rows_below(type_name: str, ends: frozenset[str], prefix: str = "") -> Iterator[tuple[str, Facts]]:
    """Every field of the type and of the types it holds, with its dotted path."""
    for name in TYPES[type_name]:
        row = facts(type_name, name)
        path = prefix + name
        yield path, row
        below = item_type(row.type)
        if below in TYPES and below not in LISTED_APART and path not in ends:
            depth = row.type[: len(row.type) - len(below)]
            yield from rows_below(below, ends, f"{path}{depth}.")


Rows = list[tuple[str, Facts]]


def paths_of_type(rows: Rows, scalar: str) -> list[str]:
    return sorted(path + row.type.removesuffix(scalar) for path, row in rows if item_type(row.type) == scalar)


def listed(section: str, empty: Any) -> Callable[[dict[str, Any]], Any]:
    """Read one section of the listing; a section that is not there says that there is nothing of the kind."""

    def read(entry: dict[str, Any]) -> Any:
        found = entry.get(section, empty)
        return sorted(found) if isinstance(found, list) else found

    return read


FROM_TABLE: dict[str, Callable[[Rows], Any]] = {
    "topLevelFields": lambda rows: sorted(path for path, _ in rows if "." not in path),
    "defaults": lambda rows: {path: row.default for path, row in rows if row.default is not None},
    "required": lambda rows: sorted(path for path, row in rows if row.required),
    "listMapKeys": lambda rows: {path: list(row.list_map_keys) for path, row in rows if row.list_type == "map"},
    "listSets": lambda rows: sorted(path for path, row in rows if row.list_type == "set"),
    "intOrString": lambda rows: paths_of_type(rows, "int-or-string"),
    "quantities": lambda rows: paths_of_type(rows, "quantity"),
}
FROM_LISTING = {
    section: listed(section, {} if section in ("defaults", "listMapKeys") else []) for section in FROM_TABLE
}


@pytest.fixture(scope="module")
def listing() -> dict[str, Any]:
    if not LISTING.exists():
        pytest.skip("the specification's field listing is not beside this checkout")
    document: dict[str, Any] = YAML(typ="safe").load(LISTING)
    return dict(document["embeddedTypes"])


def test_every_type_and_section_of_the_listing_is_compared(listing: dict[str, Any]) -> None:
    """A new entry of the listing must not pass unseen."""
    assert set(listing) == {*LISTED_TYPES, *ALIASED_TYPES}
    sections = {section for name in LISTED_TYPES for section in listing[name]}
    assert sections <= {*FROM_TABLE, *NOT_IN_THE_TABLE}
    assert {section for name in ALIASED_TYPES for section in listing[name]} == {"sameAs", "extraFields"}


@pytest.mark.parametrize("section", FROM_TABLE)
@pytest.mark.parametrize("type_name", LISTED_TYPES)
def test_the_table_says_exactly_what_the_listing_says(listing: dict[str, Any], type_name: str, section: str) -> None:
    entry = listing[type_name]
    rows = list(rows_below(type_name, frozenset(entry.get("prunedToEmptyObject", ()))))
    ours = FROM_TABLE[section](rows)
    if section == "required":
        ours = [path for path in ours if path not in RELAXED.get(type_name, ())]
    assert ours == FROM_LISTING[section](entry)


@pytest.mark.parametrize("type_name", ALIASED_TYPES)
def test_a_type_listed_as_another_one_with_more_fields_is_just_that(listing: dict[str, Any], type_name: str) -> None:
    entry = listing[type_name]
    ours = {field: row for field, row in TYPES[type_name].items() if field not in entry["extraFields"]}
    assert ours == TYPES[entry["sameAs"]]
    assert set(entry["extraFields"]) <= set(TYPES[type_name])


def test_every_type_a_field_names_is_in_the_table() -> None:
    named = {item_type(row[0]) for fields in TYPES.values() for row in fields.values()}
    assert named - SCALARS - set(TYPES) == set()


def test_exactly_the_lists_that_are_maps_have_keys_and_their_entries_have_these_fields() -> None:
    """A key that its entries lack would make every entry look alike."""
    for type_name, fields in TYPES.items():
        for field in fields:
            row = facts(type_name, field)
            assert (row.list_type == "map") == bool(row.list_map_keys), f"{type_name}.{field}"
            assert set(row.list_map_keys) <= set(TYPES.get(item_type(row.type), ())), f"{type_name}.{field}"


def test_a_container_must_have_a_name_and_always_shows_it() -> None:
    assert facts("core/v1.Container", "name") == Facts("string", "always", True, None, "", ())


def test_resources_of_a_container_are_written_even_when_empty() -> None:
    """A Go struct is never empty for the encoder, whatever omitempty says."""
    assert facts("core/v1.Container", "resources") == Facts(
        "core/v1.ResourceRequirements", "always", False, None, "", ()
    )


def test_environment_variables_are_told_apart_by_name() -> None:
    assert facts("core/v1.Container", "env") == Facts("[]core/v1.EnvVar", "non-empty", False, None, "map", ("name",))


def test_containers_of_a_pod_are_required_and_written_even_when_missing() -> None:
    assert facts("core/v1.PodSpec", "containers") == Facts(
        "[]core/v1.Container", "always", True, None, "map", ("name",)
    )


def test_the_service_of_a_grpc_probe_defaults_to_empty_text() -> None:
    """The tag lacks omitempty although the field is a pointer, so Go writes it (as null) even when it is not set."""
    assert facts("core/v1.GRPCAction", "service") == Facts("string", "always", False, "", "", ())


def test_a_container_port_is_tcp_unless_said_otherwise() -> None:
    assert facts("core/v1.ContainerPort", "protocol").default == "TCP"


def test_ports_are_told_apart_by_number_and_protocol() -> None:
    assert facts("core/v1.Container", "ports").list_map_keys == ("containerPort", "protocol")


def test_tolerations_are_replaced_as_a_whole() -> None:
    assert facts("core/v1.PodSpec", "tolerations").list_type == "atomic"


def test_spread_constraints_are_told_apart_by_topology_and_by_what_happens_when_unsatisfiable() -> None:
    row = facts("core/v1.PodSpec", "topologySpreadConstraints")
    assert (row.list_type, row.list_map_keys) == ("map", ("topologyKey", "whenUnsatisfiable"))


def test_an_empty_security_context_is_kept() -> None:
    assert facts("core/v1.PodSpec", "securityContext")[:2] == ("core/v1.PodSecurityContext", "if-set")
    assert facts("core/v1.Container", "securityContext")[:2] == ("core/v1.SecurityContext", "if-set")


def test_host_network_is_written_only_when_true() -> None:
    assert facts("core/v1.PodSpec", "hostNetwork")[:2] == ("boolean", "non-zero")


def test_a_grace_period_of_zero_seconds_is_kept() -> None:
    assert facts("core/v1.PodSpec", "terminationGracePeriodSeconds")[:2] == ("int64", "if-set")


def test_a_creation_time_nobody_set_is_left_out() -> None:
    """Its tag has omitzero, unlike the other times of the table."""
    assert facts("meta/v1.ObjectMeta", "creationTimestamp")[:2] == ("time", "non-zero")
    assert facts("meta/v1.Condition", "lastTransitionTime")[:2] == ("time", "always")


def test_a_divisor_is_written_even_when_nobody_set_it() -> None:
    """A quantity is a struct, too."""
    assert facts("core/v1.ResourceFieldSelector", "divisor")[:2] == ("quantity", "always")


def test_limits_are_a_map_of_quantities() -> None:
    assert facts("core/v1.ResourceRequirements", "limits")[:2] == ("{}quantity", "non-empty")


def test_the_fields_of_an_inlined_struct_stand_beside_their_siblings() -> None:
    assert {"name", "configMap", "emptyDir", "persistentVolumeClaim"} <= set(TYPES["core/v1.Volume"])
    assert set(TYPES["core/v1.SecretKeySelector"]) == {"name", "key", "optional"}


def test_defaults_that_refer_to_go_constants_are_none_as_in_the_custom_resource_schemas() -> None:
    assert facts("core/v1.AzureDiskVolumeSource", "cachingMode").default is None
    assert facts("core/v1.AzureDiskVolumeSource", "kind").default is None


def test_the_committed_table_is_what_its_source_says() -> None:
    """Without Go nothing can be compared; the continuous integration has Go and must not skip."""
    run = subprocess.run([sys.executable, str(REFRESH), "--check"], capture_output=True, text=True, check=False)
    if run.returncode == 2 and os.environ.get("CI") != "true":
        pytest.skip(run.stderr.strip())
    assert run.returncode == 0, run.stderr
