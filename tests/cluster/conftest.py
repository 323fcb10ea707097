"""Fixtures with a real API server. Where the bench cannot be had, its tests are skipped, and in CI they fail."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NoReturn

import pytest

from dynamo_render.schemas import definition, kinds
from tests.cluster import addons, bench, binaries
from tests.cluster.bench import Bench
from tests.cluster.cache import BenchUnavailable
from tests.cluster.client import Json
from tests.cluster.trouble import SoundRuns


@pytest.fixture(scope="session")
def own_definitions() -> list[Json | str]:
    """The definitions of this project's kinds."""
    return [definition.custom_resource_definition(kind) for kind in kinds.KINDS.values()]


@pytest.fixture(scope="session")
def definitions(own_definitions: list[Json | str]) -> list[Json | str]:
    """All definitions that an API server of the bench serves."""
    try:
        return [*addons.definition_texts(), addons.pod_group_definition(), *own_definitions]
    except BenchUnavailable as reason:
        _give_up(reason)


@pytest.fixture(scope="session")
def bench_logs(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The folder of the programs' logs, which stays when a test failed."""
    folder = tmp_path_factory.mktemp("bench-logs")
    yield folder
    if request.session.testsfailed:
        _say(request.config, f"logs of the bench: {folder}")
    else:
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def api_server(request: pytest.FixtureRequest, bench_logs: Path, definitions: list[Json | str]) -> Iterator[Bench]:
    """An API server with the definitions of the add-ons and of this project, and no controllers."""
    require(bench.API_SERVER_PROGRAMS, request.config)
    folder = bench_logs / "api-server"
    folder.mkdir()
    with bench.api_server(folder, definitions) as started:
        yield started


@pytest.fixture(scope="session")
def cluster(request: pytest.FixtureRequest, bench_logs: Path, definitions: list[Json | str]) -> Iterator[Bench]:
    """An API server of its own with controller manager, scheduler and simulated GPU nodes."""
    require(bench.CLUSTER_PROGRAMS, request.config)
    folder = bench_logs / "cluster"
    folder.mkdir()
    with bench.cluster(folder, definitions) as started:
        yield started


@pytest.fixture(scope="session")
def sound(cluster: Bench, tmp_path_factory: pytest.TempPathFactory) -> SoundRuns:
    """Stories without faults on the cluster, to compare with."""
    return SoundRuns(cluster, tmp_path_factory.mktemp("sound-runs"))


@pytest.fixture(scope="session")
def kubectl(request: pytest.FixtureRequest) -> Path:
    """The path of kubectl."""
    require(("kubectl",), request.config)
    return binaries.program("kubectl")


def require(programs: Iterable[str], config: pytest.Config) -> None:
    """Build what is missing of *programs*, or skip the test with the reason; in CI it fails."""
    missing = binaries.not_built(programs)
    if missing:
        _say(config, f"building {', '.join(missing)}: once, and that takes minutes")
    try:
        for name in missing:
            binaries.program(name)
    except BenchUnavailable as reason:
        _give_up(reason)


def _give_up(reason: BenchUnavailable) -> NoReturn:
    if os.environ.get("CI") == "true":
        pytest.fail(f"CI must have the bench: {reason}", pytrace=False)
    pytest.skip(f"no bench: {reason}")


def _say(config: pytest.Config, text: str) -> None:
    # Both are absent in the worker processes of a parallel run, and the second also with `-s`.
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    capture = config.pluginmanager.get_plugin("capturemanager")
    if reporter is None:
        return
    with capture.global_and_fixture_disabled() if capture else contextlib.nullcontext():
        reporter.ensure_newline()
        reporter.write_line(text)
