"""``pytest --dynamo-golden DIR`` runs the golden cases below DIR, each as one test."""

from __future__ import annotations

import io
import shutil
import tomllib
from pathlib import Path

import pytest

from dynamo_render.commandline.contract import Console
from dynamo_render.commandline.main import main

pytest_plugins = ["pytester"]

ROOT = Path(__file__).resolve().parents[2]
PLUGIN = "dynamo_render.pytest_plugin"
GRAPH = """\
apiVersion: nvidia.com/v1alpha1
kind: DynamoGraphDeployment
metadata: {name: agg, namespace: team-a}
spec:
  services:
    Frontend: {componentType: frontend, extraPodSpec: {mainContainer: {image: "example.com/runtime:1"}}}
"""


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with two cases, of which the second has changed since it was stored.

    Made before `pytester` starts, which forgets modules that are loaded later: some of ours do not load twice.
    """
    folder = tmp_path_factory.mktemp("stored")
    (folder / "two").mkdir()
    (folder / "settings.yaml").write_text("restricted_namespace: team-a\n", encoding="utf-8")
    (folder / "one.yaml").write_text(GRAPH, encoding="utf-8")
    (folder / "two" / "input.yaml").write_text(GRAPH, encoding="utf-8")
    assert main(["golden", "update", str(folder)], Console(None, io.StringIO(), io.StringIO(), {})) == 0
    (folder / "two" / "input.yaml").write_text(GRAPH.replace(":1", ":2"), encoding="utf-8")
    return folder


@pytest.fixture
def cases(stored: Path, pytester: pytest.Pytester) -> Path:
    """Return a copy of the cases in the folder where pytest will run."""
    return shutil.copytree(stored, pytester.path / "graphs")


@pytest.fixture(autouse=True)
def _only_our_plugin(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    monkeypatch.setenv("PYTHONPATH", str(ROOT))


def run(pytester: pytest.Pytester, *arguments: str) -> pytest.RunResult:
    """Return what pytest says with our plugin, whether it is installed or not."""
    return pytester.runpytest_subprocess("-p", PLUGIN, *arguments)


def test_every_case_is_one_test(pytester: pytest.Pytester, cases: Path) -> None:
    result = run(pytester, "--dynamo-golden", cases.name)
    result.assert_outcomes(passed=1, failed=1)


def test_a_failure_shows_what_differs_and_nothing_of_the_plugin(pytester: pytest.Pytester, cases: Path) -> None:
    result = run(pytester, "--dynamo-golden", cases.name)
    result.stdout.fnmatch_lines(
        [
            "graphs/two/expected/0.9.yaml: differs: objects: 2 changed",
            "@@ spec.template.spec.containers[[]name=main].image @@",
            "-example.com/runtime:1",
            "+example.com/runtime:2",
        ]
    )
    result.stdout.no_fnmatch_line("*Traceback*")
    result.stdout.no_fnmatch_line("*runtest*")


def test_cases_run_beside_other_tests(pytester: pytest.Pytester, cases: Path) -> None:
    pytester.makepyfile("def test_other(): pass")
    run(pytester, "--dynamo-golden", cases.name).assert_outcomes(passed=2, failed=1)


def test_cases_are_selected_like_other_tests(pytester: pytest.Pytester, cases: Path) -> None:
    run(pytester, "--dynamo-golden", cases.name, "-k", "one").assert_outcomes(passed=1, deselected=1)


def test_superfluous_files_are_a_test_that_fails(pytester: pytest.Pytester, cases: Path) -> None:
    (cases / "gone.expected.yaml").write_text("", encoding="utf-8")
    result = run(pytester, "--dynamo-golden", cases.name, "-k", "superfluous")
    result.assert_outcomes(failed=1, deselected=2)
    result.stdout.fnmatch_lines(["graphs/gone.expected.yaml: superfluous: there is no gone.yaml beside it"])


def test_a_profile_can_be_asked_for(pytester: pytest.Pytester, cases: Path) -> None:
    (cases / "two" / "input.yaml").write_text(GRAPH, encoding="utf-8")
    profiles = ("--dynamo-golden-profile", "0.9", "--dynamo-golden-profile", "0.9-shipped")
    result = run(pytester, "--dynamo-golden", cases.name, *profiles)
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["graphs/two/expected/0.9-shipped.yaml: missing: *"])


def test_a_folder_that_is_not_there_is_an_error(pytester: pytest.Pytester) -> None:
    result = run(pytester, "--dynamo-golden", "nowhere")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*--dynamo-golden: nowhere is not a folder"])


def test_nothing_happens_without_the_option(pytester: pytest.Pytester, cases: Path) -> None:
    assert cases.is_dir()
    assert run(pytester).ret == pytest.ExitCode.NO_TESTS_COLLECTED


def test_pytest_finds_the_plugin_by_itself_once_the_package_is_installed() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    assert project["project"]["entry-points"]["pytest11"] == {PLUGIN: PLUGIN}
