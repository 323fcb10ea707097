"""`golden check` tells what a folder of resources no longer renders to, and `golden update` stores what it does."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

Call = Callable[..., Any]
Write = Callable[[str, str], str]
Graph = Callable[..., str]

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def stored(call: Call, write: Write, graph: Graph) -> Callable[..., None]:
    """Return a function that writes files into the folder g, and stores what they render to."""

    def store(**files: str) -> None:
        for name, text in (files or {"one.yaml": graph()}).items():
            write(f"g/{name}", text)
        assert call("golden", "update", "g").status == 0

    return store


def contents(folder: Path) -> Mapping[str, bytes]:
    """Return every file below *folder* with its content."""
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_our_own_cases_are_what_they_were(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    result = call("golden", "check", "golden", "--profile", "0.9", "--profile", "0.9-shipped")
    assert (result.out, result.status) == ("", 0)


def test_a_folder_of_resources_is_held_by_two_commands(call: Call, write: Write, graph: Graph, tmp_path: Path) -> None:
    write("g/a.yaml", graph())
    write("g/team/b.yaml", graph("b"))
    update = call("golden", "update", "g")
    assert (update.status, update.out) == (0, "")
    assert "written g/a.expected.yaml\nwritten g/team/b.expected.yaml\n" in update.err
    assert call("golden", "check", "g").status == 0
    rendered = call("render", "g/a.yaml").out
    assert (tmp_path / "g/a.expected.yaml").read_text("utf-8") == rendered


def test_a_second_update_changes_nothing(call: Call, stored: Callable[..., None], tmp_path: Path) -> None:
    stored()
    before = contents(tmp_path)
    assert "written" not in call("golden", "update", "g").err
    assert contents(tmp_path) == before


def test_a_difference_is_shown_by_object_and_path(
    call: Call, stored: Callable[..., None], write: Write, graph: Graph
) -> None:
    stored()
    write("g/one.yaml", graph(**{":1": ":2"}))
    result = call("golden", "check", "g")
    assert result.status == 1
    lines = result.out.splitlines()
    assert lines[0] == "g/one.expected.yaml: differs: objects: 2 changed"
    start = lines.index("--- Deployment team-a/agg-frontend (apps/v1)")
    assert lines[start + 1 : start + 5] == [
        "+++ Deployment team-a/agg-frontend (apps/v1)",
        "@@ spec.template.spec.containers[name=main].image @@",
        "-registry.example/runtime:1",
        "+registry.example/runtime:2",
    ]


def test_check_never_writes(
    call: Call, stored: Callable[..., None], write: Write, graph: Graph, tmp_path: Path
) -> None:
    stored()
    write("g/one.yaml", graph(**{":1": ":2"}))
    write("g/new.yaml", graph("new"))
    write("g/folder/input.yaml", graph("folder"))
    before = contents(tmp_path)
    assert call("golden", "check", "g").status == 1
    assert contents(tmp_path) == before


def test_a_missing_expectation_is_a_finding(call: Call, write: Write, graph: Graph) -> None:
    write("g/one.yaml", graph())
    result = call("golden", "check", "g")
    assert result.status == 1
    assert result.out.startswith("g/one.expected.yaml: missing: ")


def test_an_expectation_without_its_file_is_a_finding(call: Call, stored: Callable[..., None], tmp_path: Path) -> None:
    stored()
    (tmp_path / "g/one.yaml").rename(tmp_path / "g/two.yaml")
    lines = call("golden", "check", "g").out.splitlines()
    assert [line.rsplit(":", 1)[0] for line in lines] == [
        "g/two.expected.yaml: missing",
        "g/one.expected.yaml: superfluous",
    ]


def test_update_leaves_an_expectation_without_its_file_to_the_user(
    call: Call, stored: Callable[..., None], tmp_path: Path
) -> None:
    stored()
    (tmp_path / "g/one.yaml").rename(tmp_path / "g/two.yaml")
    result = call("golden", "update", "g")
    assert result.status == 1
    assert (tmp_path / "g/one.expected.yaml").exists()


def test_files_without_resources_are_not_cases(call: Call, stored: Callable[..., None], graph: Graph) -> None:
    stored(
        **{
            "one.yaml": graph(),
            "map.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: m}\n",
            "values.yaml": "a: 1\n",
            "notes.txt": "x",
        }
    )
    assert call("golden", "check", "g").err == "g: note: 1 case, 0 findings\n"


def test_other_spacing_in_an_expectation_is_told_from_other_objects(
    call: Call, stored: Callable[..., None], tmp_path: Path
) -> None:
    stored()
    path = tmp_path / "g/one.expected.yaml"
    path.write_text("# a comment\n" + path.read_text("utf-8"), encoding="utf-8")
    result = call("golden", "check", "g")
    assert result.status == 1
    assert "differs: holds the same objects in another order, or written in another way\n" in result.out
    assert "-# a comment\n" in result.out


def test_line_ends_of_another_system_are_no_difference(call: Call, stored: Callable[..., None], tmp_path: Path) -> None:
    stored()
    path = tmp_path / "g/one.expected.yaml"
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    assert call("golden", "check", "g").status == 0


@pytest.mark.parametrize("broken", ["a: [", "- 1\n- 2\n", "just text\n", "\xff"])
def test_a_broken_expectation_is_a_difference(
    call: Call, stored: Callable[..., None], tmp_path: Path, broken: str
) -> None:
    stored()
    (tmp_path / "g/one.expected.yaml").write_bytes(broken.encode("latin-1"))
    result = call("golden", "check", "g")
    assert result.status == 1
    assert result.out.startswith("g/one.expected.yaml: differs: ")


def test_settings_and_facts_of_folders_above_hold_below(
    stored: Callable[..., None], graph: Graph, tmp_path: Path
) -> None:
    stored(
        **{
            "settings.yaml": "nats_address: nats://top:4222\netcd_address: http://top:2379\n",
            "facts.yaml": "api_groups: [grove.io]\n",
            "team/settings.yaml": "nats_address: nats://team:4222\n",
            "team/one.yaml": graph(),
        }
    )
    expected = (tmp_path / "g/team/one.expected.yaml").read_text("utf-8")
    assert "kind: PodCliqueSet" in expected
    assert "nats://team:4222" in expected
    assert "http://top:2379" in expected
    assert "nats://top:4222" not in expected


def test_variables_of_the_environment_do_not_count(call: Call, stored: Callable[..., None]) -> None:
    """A case means the same on every machine."""
    stored()
    assert call("golden", "check", "g", environ={"DYNAMO_RENDER_NATS_ADDRESS": "nats://here:4222"}).status == 0


def test_a_folder_holds_one_result_for_each_profile(call: Call, write: Write, graph: Graph, tmp_path: Path) -> None:
    write("g/settings.yaml", "restricted_namespace: team-a\n")
    write("g/case/input.yaml", graph())
    arguments = ("--profile", "0.9", "--profile", "0.9-shipped")
    assert call("golden", "update", "g", *arguments).status == 0
    assert sorted(contents(tmp_path / "g/case")) == ["expected/0.9-shipped.yaml", "expected/0.9.yaml", "input.yaml"]
    arguments = ("--profile", "0.9-shipped", "--restricted-namespace", "team-a")
    rendered = call("render", "g/case/input.yaml", *arguments).out
    assert (tmp_path / "g/case/expected/0.9-shipped.yaml").read_text("utf-8") == rendered


def test_profiles_without_a_result_are_held_only_on_request(
    call: Call, stored: Callable[..., None], graph: Graph
) -> None:
    stored(**{"settings.yaml": "restricted_namespace: team-a\n", "case/input.yaml": graph()})
    assert call("golden", "check", "g").status == 0
    result = call("golden", "check", "g", "--profile", "0.9-shipped")
    assert result.out.startswith("g/case/expected/0.9-shipped.yaml: missing: ")


def test_the_profile_of_a_file_is_that_of_its_settings(
    call: Call, stored: Callable[..., None], graph: Graph, tmp_path: Path
) -> None:
    settings = "profile: 0.9-shipped\nrestricted_namespace: team-a\n"
    stored(**{"settings.yaml": settings, "one.yaml": graph()})
    rendered = call("render", "g/one.yaml", "--settings", "g/settings.yaml").out
    assert (tmp_path / "g/one.expected.yaml").read_text("utf-8") == rendered


def test_a_folder_holds_what_its_input_is_refused_for(
    call: Call, stored: Callable[..., None], graph: Graph, tmp_path: Path
) -> None:
    stored(**{"case/input.yaml": graph(**{"replicas: 1": "replicas: -1"})})
    problems = (tmp_path / "g/case/problems/0.9.yaml").read_text("utf-8")
    assert "path: spec.services.Frontend.replicas\n" in problems
    assert call("golden", "check", "g").status == 0


def test_a_case_that_is_refused_now_says_why(
    call: Call, stored: Callable[..., None], write: Write, graph: Graph
) -> None:
    stored(**{"case/input.yaml": graph()})
    write("g/case/input.yaml", graph(**{"replicas: 1": "replicas: -1"}))
    result = call("golden", "check", "g")
    assert result.out.startswith("g/case/expected/0.9.yaml: differs: the case is refused now\n")
    assert "+  path: spec.services.Frontend.replicas\n" in result.out


def test_update_turns_a_refusal_into_objects(
    call: Call, stored: Callable[..., None], write: Write, graph: Graph, tmp_path: Path
) -> None:
    stored(**{"case/input.yaml": graph(**{"replicas: 1": "replicas: -1"})})
    write("g/case/input.yaml", graph())
    assert "the case was refused and renders to" in call("golden", "check", "g").out
    update = call("golden", "update", "g")
    assert "written g/case/expected/0.9.yaml\nremoved g/case/problems/0.9.yaml\n" in update.err
    assert [name for name in contents(tmp_path / "g/case") if "problems" in name] == []


def test_a_file_that_is_refused_is_a_finding_with_the_reason(
    call: Call, write: Write, graph: Graph, tmp_path: Path
) -> None:
    write("g/one.yaml", graph(**{"replicas: 1": "replicas: -1"}))
    for action in ("check", "update"):
        result = call("golden", action, "g")
        assert result.status == 1
        assert result.out.startswith("g/one.yaml: refused: ")
        assert "spec.services.Frontend.replicas" in result.out
    assert list(contents(tmp_path / "g")) == ["one.yaml"]


@pytest.mark.parametrize(
    "name",
    ["case/expected/0.8.yaml", "case/problems/0.9.yaml", "case/fact.yaml", "gone/expected/0.9.yaml", "x.expected.yaml"],
)
def test_files_that_no_case_reads_are_findings(
    call: Call, stored: Callable[..., None], write: Write, graph: Graph, name: str
) -> None:
    stored(**{"case/input.yaml": graph()})
    write(f"g/{name}", "[]\n")
    result = call("golden", "check", "g")
    assert (result.status, result.out.count("\n")) == (1, 1)
    assert result.out.startswith(f"g/{name}: superfluous: ")


def test_two_files_with_the_same_expectation_are_a_finding(
    call: Call, stored: Callable[..., None], write: Write, graph: Graph
) -> None:
    stored()
    write("g/one.yml", graph("other"))
    assert call("golden", "check", "g").out.startswith("g/one.yml: superfluous: one.yaml has the same")


def test_live_state_beside_an_input_holds_for_that_case(
    stored: Callable[..., None], graph: Graph, tmp_path: Path
) -> None:
    stored(
        **{
            "facts.yaml": "api_groups: [grove.io]\n",
            "case/input.yaml": graph(),
            "case/observed.yaml": "restart_stamps: {Frontend: r7}\n",
        }
    )
    assert "nvidia.com/restartAt: r7" in (tmp_path / "g/case/expected/0.9.yaml").read_text("utf-8")


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("one.yaml", "a: [\n", "g/one.yaml:2:1: input/unreadable"),
        ("settings.yaml", "nats_adress: x\n", "g/settings.yaml:1:1: record/unknown-key: nats_adress"),
        ("settings.yaml", "profile: '0.8'\n", "g/settings.yaml:1:10: settings/enum: profile"),
        ("facts.yaml", "- 1\n", "g/facts.yaml:1:1: record/type"),
    ],
)
def test_what_cannot_be_used_is_named_with_its_position(
    call: Call, stored: Callable[..., None], write: Write, name: str, text: str, message: str
) -> None:
    stored()
    write(f"g/{name}", text)
    result = call("golden", "check", "g")
    assert result.status == 2
    assert message in result.out


def test_a_folder_without_cases_is_an_error(call: Call, write: Write) -> None:
    """In CI it is a path with a typing error, and not a success."""
    write("g/notes.txt", "x")
    result = call("golden", "check", "g")
    assert result.status == 2
    assert "holds no case" in result.err


def test_what_is_no_folder_is_an_error(call: Call) -> None:
    assert call("golden", "check", "nowhere").status == 2


def test_cases_can_be_picked_by_name(call: Call, stored: Callable[..., None], write: Write, graph: Graph) -> None:
    stored(**{"a/one.yaml": graph(), "b/two.yaml": graph("two")})
    write("g/b/two.yaml", graph("three"))
    assert call("golden", "check", "g", "--case", "a/*").status == 0
    assert call("golden", "check", "g", "--case", "b/*").status == 1


def test_junit_has_one_test_for_each_case_and_profile(
    call: Call, stored: Callable[..., None], write: Write, graph: Graph
) -> None:
    stored(**{"one.yaml": graph(), "two.yaml": graph("two")})
    write("g/two.yaml", graph("two", **{":1": ":2 & <x>"}))
    result = call("golden", "check", "g", "-o", "junit")
    assert result.status == 1
    suite = ET.fromstring(result.out).find("testsuite")  # noqa: S314 - our own output
    assert suite is not None
    assert (suite.get("tests"), suite.get("failures")) == ("2", "1")
    assert [test.get("name") for test in suite] == ["one[0.9]", "two[0.9]"]
    failure = suite[1].find("failure")
    assert failure is not None
    assert "+registry.example/runtime:2 & <x>" in (failure.text or "")


def test_github_gets_one_line_for_each_finding(
    call: Call, stored: Callable[..., None], write: Write, graph: Graph
) -> None:
    stored()
    write("g/one.yaml", graph(**{":1": ":2%"}))
    lines = call("golden", "check", "g", "-o", "github").out.splitlines()
    assert len(lines) == 1
    assert lines[0].startswith(
        "::error file=g/one.expected.yaml,title=golden one[0.9]::differs: objects: 2 changed%0A---"
    )
    assert "%0A+registry.example/runtime:2%25%0A" in lines[0]


def test_colours_are_for_terminals_or_on_request(
    call: Call, stored: Callable[..., None], write: Write, graph: Graph
) -> None:
    stored()
    write("g/one.yaml", graph(**{":1": ":2"}))
    assert "\x1b" not in call("golden", "check", "g").out
    assert "\x1b[32m+registry.example/runtime:2\x1b[0m\n" in call("golden", "check", "g", "--color", "always").out


def test_a_link_that_leads_back_up_is_not_followed(call: Call, stored: Callable[..., None], tmp_path: Path) -> None:
    stored()
    (tmp_path / "g/loop").symlink_to(tmp_path / "g", target_is_directory=True)
    assert call("golden", "check", "g").err == "g: note: 1 case, 0 findings\n"


def test_control_characters_of_a_stored_file_do_not_reach_a_terminal(
    call: Call, stored: Callable[..., None], tmp_path: Path
) -> None:
    stored()
    path = tmp_path / "g/one.expected.yaml"
    path.write_text("# \x1b[31m\n" + path.read_text("utf-8"), encoding="utf-8")
    result = call("golden", "check", "g")
    assert result.status == 1
    assert "\x1b" not in result.out
