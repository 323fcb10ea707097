"""Every entry of a room's table has a unit test, a golden case that uses it, and a line in docs/reference/rooms.md.

Which entries a golden case uses is read from its plan, not from its name: a case counts if the entry's builder runs.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from dynamo_render.backends import BACKENDS
from dynamo_render.components import COMPONENTS
from dynamo_render.kinds import KINDS
from dynamo_render.kinds.contract import Inputs
from dynamo_render.plans.pod import PodPlan
from dynamo_render.plans.workload import PodCliqueSetPlan
from dynamo_render.profiles import PROFILES
from dynamo_render.satellites import COMPONENT_SATELLITES, GRAPH_SATELLITES, REQUEST_SATELLITES
from dynamo_render.workloads import WORKLOADS
from tests.golden.cases import Case, golden_cases

ROOT = Path(__file__).resolve().parents[2]
DOCUMENT = (ROOT / "docs" / "reference" / "rooms.md").read_text("utf-8")
PACKAGE = "dynamo_render."


def module_of(function: Callable[..., Any]) -> str:
    """Return the module of an entry's function, from the package: ``components.frontend``."""
    return function.__module__.removeprefix(PACKAGE)


def entries() -> Iterator[tuple[str, str, str]]:
    """Yield room, entry and module of every entry."""
    for name, component in COMPONENTS.items():
        yield "components", name, module_of(component.base)
    for name, backend in BACKENDS.items():
        yield "backends", name, module_of(backend.launched)
    for name, workload in WORKLOADS.items():
        yield "workloads", name, module_of(workload.build)
    for table in (GRAPH_SATELLITES, COMPONENT_SATELLITES, REQUEST_SATELLITES):
        for name, satellite in table.items():
            yield "satellites", name, module_of(satellite.build)
    for (_, name), kind in KINDS.items():
        yield "kinds", name, module_of(kind.read)
    for name in PROFILES:
        yield "profiles", name, "profiles.release_" + re.sub(r"[.-]", "_", name)


ENTRIES = [pytest.param(*entry, id=f"{entry[0]}-{entry[1]}") for entry in entries()]


@pytest.mark.parametrize(("room", "entry", "module"), ENTRIES)
def test_an_entry_is_a_file_of_its_room(room: str, entry: str, module: str) -> None:
    path = ROOT / "dynamo_render" / module.replace(".", "/")
    assert module.startswith(f"{room}."), entry
    assert path.with_suffix(".py").is_file() or (path / "__init__.py").is_file()


@pytest.mark.parametrize(("room", "entry", "module"), ENTRIES)
def test_an_entry_has_a_unit_test(room: str, entry: str, module: str) -> None:
    name = f"test_{module.rpartition('.')[2]}.py"
    assert (ROOT / "tests" / "unit" / room / name).is_file(), f"{entry} is tested in tests/unit/{room}/{name}"


@pytest.mark.parametrize(("room", "entry", "module"), ENTRIES)
def test_an_entry_has_a_golden_case(room: str, entry: str, module: str) -> None:
    assert (room, entry) in used_by_goldens(), f"no golden case uses {module}"


@pytest.mark.parametrize(("room", "entry", "module"), ENTRIES)
def test_an_entry_has_a_line_in_the_documents(room: str, entry: str, module: str) -> None:
    (section,) = re.findall(rf"^## [^\n]*`{room}`\n(.*?)(?=^## |\Z)", DOCUMENT, re.MULTILINE | re.DOTALL)
    (line,) = [line for line in section.splitlines() if line.startswith(f"| `{entry}` |")]
    assert f"dynamo_render/{module.replace('.', '/')}" in line


def test_the_documents_name_no_entry_that_is_gone() -> None:
    listed = re.findall(r"^\| `([^`]+)` \|", DOCUMENT, re.MULTILINE)
    assert sorted(listed) == sorted(entry for _room, entry, _module in entries())


@functools.cache
def used_by_goldens() -> frozenset[tuple[str, str]]:
    """Return room and entry of everything that some golden case uses."""
    return frozenset(used for case in golden_cases() for profile in PROFILES for used in used_by(case, profile))


def used_by(case: Case, profile: str) -> Iterator[tuple[str, str]]:
    """Yield room and entry of everything that is planned for a case; nothing for what is refused."""
    settings, facts, observed = case.settings(profile), case.facts(), case.observed()
    for resource in case.resources():
        kind = KINDS.get((resource["apiVersion"], resource["kind"]))
        if kind is None or not (case.folder / f"expected/{profile}.yaml").exists():
            continue
        inputs = Inputs(settings=settings, facts=facts, profile=PROFILES[profile], observed=observed)
        plan = kind.plan(kind.read(resource, inputs.profile), inputs, [])
        yield "kinds", resource["kind"]
        yield "profiles", profile
        for component in resource["spec"].get("services", {"": resource["spec"]}).values():
            yield "components", component.get("componentType", "")
        for step in plan.steps:
            yield "workloads" if step.entry in WORKLOADS else "satellites", step.entry
            for pod in pods_of(step.plan):
                yield "backends", pod.launch.backend


def pods_of(plan: Any) -> Iterator[PodPlan]:
    """Yield the pods of a workload's plan."""
    if isinstance(plan, PodCliqueSetPlan):
        yield from (clique.pod for clique in plan.cliques)
    elif isinstance(getattr(plan, "pod", None), PodPlan):
        yield plan.pod
