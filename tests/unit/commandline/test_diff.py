"""The command `diff` prints what changes, by object and path, and which pods restart because of it."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

Call = Callable[..., Any]
Write = Callable[[str, str], str]
Graph = Callable[..., str]

IMAGE = "registry.example/runtime"
GROVE = ("--api-versions", "grove.io")


@pytest.fixture
def two(write: Write, graph: Graph) -> tuple[str, str]:
    """Return two files with a graph that differ in an image."""
    return write("a.yaml", graph()), write("b.yaml", graph(**{":1": ":2"}))


def test_nothing_is_printed_where_nothing_differs(call: Call, two: tuple[str, str]) -> None:
    result = call("diff", two[0], two[0])
    assert (result.status, result.out, result.err) == (0, "", "")


def test_a_difference_is_shown_by_object_and_path(call: Call, two: tuple[str, str]) -> None:
    result = call("diff", *two, *GROVE)
    assert result.status == 1
    assert result.out.splitlines()[:5] == [
        "--- PodCliqueSet team-a/agg (grove.io/v1alpha1)",
        "+++ PodCliqueSet team-a/agg (grove.io/v1alpha1)",
        "@@ spec.template.cliques[name=frontend].spec.podSpec.containers[name=main].image @@",
        f"-{IMAGE}:1",
        f"+{IMAGE}:2",
    ]


def test_pods_that_restart_are_named_with_the_reason(call: Call, two: tuple[str, str]) -> None:
    assert call("diff", *two, *GROVE).out.partition("\n\n")[2].splitlines() == [
        "1 object changed, 0 added, 0 removed",
        "1 pod restarting, 0 starting, 0 stopping (of 1)",
        "  PodCliqueSet team-a/agg (grove.io/v1alpha1): frontend (1 restart)",
        "      spec.template.cliques[name=frontend].spec.podSpec.containers[name=main].image",
    ]


def test_a_changed_template_has_an_exit_code_of_its_own_on_request(call: Call, two: tuple[str, str]) -> None:
    assert call("diff", *two, "--detailed-exitcode").status == 3


def test_a_change_without_restart_keeps_the_exit_code(call: Call, write: Write, graph: Graph) -> None:
    new = write("b.yaml", graph(**{"replicas: 1": "replicas: 2"}))
    result = call("diff", write("a.yaml", graph()), new, *GROVE, "--detailed-exitcode")
    assert result.status == 1
    assert "0 pods restarting, 1 starting, 0 stopping (of 1)" in result.out


def test_no_difference_is_fine_with_detailed_exit_codes(call: Call, two: tuple[str, str]) -> None:
    assert call("diff", two[1], two[1], "--detailed-exitcode").status == 0


def test_an_added_graph_is_shown_whole(call: Call, write: Write, graph: Graph) -> None:
    old, new = write("a.yaml", graph()), write("b.yaml", graph() + "---\n" + graph("other"))
    lines = call("diff", old, new, *GROVE).out.splitlines()
    start = lines.index("+++ PodCliqueSet team-a/other (grove.io/v1alpha1)")
    assert lines[start - 1] == "--- /dev/null"
    assert lines[start + 1 : start + 4] == ["@@ added @@", "+apiVersion: grove.io/v1alpha1", "+kind: PodCliqueSet"]


def test_folders_are_compared_by_resource_and_not_by_file(call: Call, write: Write, graph: Graph) -> None:
    for name, text in {
        "a/x.yaml": graph(),
        "a/y.yaml": graph("two"),
        "b/both.yaml": graph("two") + "---\n" + graph(),
    }.items():
        write(name, text)
    assert call("diff", "a", "b").status == 0


def test_one_input_is_rendered_under_two_profiles(call: Call, two: tuple[str, str]) -> None:
    arguments = ("--restricted-namespace", "team-a", "--from-profile", "0.9-shipped", "--to-profile")
    result, same = (call("diff", two[0], *arguments, profile) for profile in ("0.9", "0.9-shipped"))
    assert (result.status, result.err, same.status) == (1, "", 0)
    assert "@@ spec.template.spec.containers[name=main].readinessProbe.exec @@" in result.out


def test_one_input_is_rendered_for_two_clusters(call: Call, write: Write, two: tuple[str, str]) -> None:
    facts = write("grove.yaml", "api_groups: [grove.io]\n")
    result = call("diff", two[0], "--to-facts", facts)
    assert "--- Deployment team-a/agg-frontend (apps/v1)\n+++ /dev/null" in result.out
    assert "--- /dev/null\n+++ PodCliqueSet team-a/agg (grove.io/v1alpha1)" in result.out


def test_one_input_is_rendered_under_two_settings(call: Call, write: Write, two: tuple[str, str]) -> None:
    write("old.yaml", "nats_address: nats://old:4222\n")
    write("new.yaml", "nats_address: nats://new:4222\n")
    result = call("diff", two[0], "--from-settings", "old.yaml", "--to-settings", "new.yaml", *GROVE)
    assert result.out.splitlines()[2:5] == [
        "@@ spec.template.cliques[name=frontend].spec.podSpec.containers[name=main].env[name=NATS_SERVER].value @@",
        "-nats://old:4222",
        "+nats://new:4222",
    ]


def test_what_only_one_side_gives_replaces_what_holds_for_both(call: Call, write: Write, two: tuple[str, str]) -> None:
    write("both.yaml", "nats_address: nats://both:4222\n")
    write("new.yaml", "nats_address: nats://new:4222\n")
    result = call("diff", two[0], "--settings", "both.yaml", "--to-settings", "new.yaml")
    assert "-nats://both:4222\n" in result.out
    assert "+nats://new:4222\n" in result.out


def test_standard_input_can_be_rendered_in_two_ways(call: Call, write: Write, graph: Graph) -> None:
    settings = write("etcd.yaml", "discovery_backend: etcd\n")
    result = call("diff", "-", "--to-settings", settings, stdin=graph().encode())
    assert (result.status, result.err) == (1, "")
    assert "--- ServiceAccount team-a/agg-k8s-service-discovery (v1)\n+++ /dev/null\n" in result.out


def test_json_holds_objects_pods_and_numbers(call: Call, two: tuple[str, str]) -> None:
    data = json.loads(call("diff", *two, *GROVE, "-o", "json").out)
    path = "spec.template.cliques[name=frontend].spec.podSpec.containers[name=main].image"
    head = {"apiVersion": "grove.io/v1alpha1", "kind": "PodCliqueSet", "namespace": "team-a", "name": "agg"}
    fields = [{"path": path, "change": "replaced", "old": f"{IMAGE}:1", "new": f"{IMAGE}:2"}]
    pods = {"template": "frontend", "restarting": 1, "starting": 0, "stopping": 0, "because": [path]}
    assert data == {
        "objects": [{**head, "change": "changed", "fields": fields}],
        "pods": [{**head, **pods}],
        "summary": {
            "objects": {"changed": 1, "added": 0, "removed": 0},
            "pods": {"before": 1, "restarting": 1, "starting": 0, "stopping": 0},
        },
    }


def test_json_is_printed_where_nothing_differs_too(call: Call, two: tuple[str, str]) -> None:
    data = json.loads(call("diff", two[0], two[0], "-o", "json").out)
    assert (data["objects"], data["pods"]) == ([], [])


def test_colours_are_for_terminals_or_on_request(call: Call, two: tuple[str, str]) -> None:
    assert "\x1b" not in call("diff", *two).out
    assert f"\x1b[32m+{IMAGE}:2\x1b[0m\n" in call("diff", *two, "--color", "always").out


def test_a_refused_resource_is_reported_and_not_taken_for_removed(call: Call, write: Write, graph: Graph) -> None:
    old = write("a.yaml", graph() + "---\n" + graph("two"))
    new = write("b.yaml", graph(**{":1": ":2"}) + "---\n" + graph("two", **{"replicas: 1": "replicas: -1"}))
    result = call("diff", old, new, *GROVE)
    assert result.status == 1
    assert "PodCliqueSet team-a/two" not in result.out
    assert f"+{IMAGE}:2" in result.out
    assert "b.yaml:" in result.err
    assert "b.yaml: note: refused on the new side, so that it is not compared" in result.err


def test_a_problem_of_both_sides_is_reported_once(call: Call, write: Write, graph: Graph) -> None:
    bad = write("bad.yaml", graph(**{"replicas: 1": "replicas: -1"}))
    result = call("diff", bad, "--to-profile", "0.9-shipped")
    assert result.status == 1
    assert result.err.count("spec.services.Frontend.replicas:") == 1


def test_an_unreadable_side_is_not_compared(call: Call, write: Write, two: tuple[str, str]) -> None:
    result = call("diff", two[0], write("bad.yaml", "a: [\n"))
    assert (result.status, result.out) == (2, "")


def test_objects_are_compared_as_they_are_on_request(call: Call, write: Write) -> None:
    map_ = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: m}\ndata: {a: '1'}\n"
    write("old/m.yaml", map_)
    write("new/m.yaml", map_.replace("'1'", "'2'"))
    result = call("diff", "old", "new", "--as-is")
    assert result.out.splitlines()[:5] == [
        "--- ConfigMap m (v1)",
        "+++ ConfigMap m (v1)",
        "@@ data.a @@",
        '-"1"',
        '+"2"',
    ]


def test_what_render_wrote_compares_like_what_it_was_rendered_from(call: Call, two: tuple[str, str]) -> None:
    for name, folder in zip(two, ("old", "new"), strict=True):
        assert call("render", name, "--output-dir", folder).status == 0
    written, rendered = (
        json.loads(call("diff", *words, "-o", "json").out) for words in (("old", "new", "--as-is"), two)
    )
    assert written["summary"] == rendered["summary"]
    assert sorted(map(str, written["objects"])) == sorted(map(str, rendered["objects"]))


def test_what_is_no_object_is_reported(call: Call, write: Write) -> None:
    result = call("diff", write("a.yaml", "a: 1\n"), write("b.yaml", "a: 2\n"), "--as-is")
    assert result.status == 1
    assert "a.yaml:1:1: input/object: is no Kubernetes object" in result.err


def test_text_of_several_lines_is_compared_line_by_line(call: Call, write: Write) -> None:
    text = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: m}\ndata:\n  a: |\n    one\n    two\n    three\n"
    result = call("diff", write("a.yaml", text), write("b.yaml", text.replace("two", "2")), "--as-is")
    assert result.out.splitlines()[3:8] == [" |", "   one", "-  two", "+  2", "   three"]


def test_control_characters_do_not_reach_a_terminal(call: Call, write: Write) -> None:
    text = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: m}\ndata: {"\\x1b[31m": "VALUE"}\n'
    result = call("diff", write("a.yaml", text), write("b.yaml", text.replace("VALUE", "\\x1b[32m")), "--as-is")
    assert result.status == 1
    assert "\x1b" not in result.out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "name the old and the new INPUT"),
        (("a.yaml",), "name a second INPUT, or what differs"),
        (("a.yaml", "b.yaml", "c.yaml"), "name the old and the new INPUT"),
        (("-", "-"), "standard input can be one side only"),
        (("a.yaml", "b.yaml", "--as-is", "--to-profile", "0.9"), "--to-profile has no meaning"),
    ],
)
def test_a_call_that_makes_no_sense_says_why(call: Call, words: tuple[str, ...], message: str) -> None:
    result = call("diff", *words)
    assert (result.status, result.out) == (2, "")
    assert message in result.err


def test_live_state_is_refused_for_several_resources(call: Call, write: Write, graph: Graph) -> None:
    both = write("a.yaml", graph() + "---\n" + graph("two"))
    observed = write("observed.yaml", "restarted: []\n")
    result = call("diff", both, "--to-profile", "0.9-shipped", "--observed", observed)
    assert result.status == 2
    assert "describes one resource" in result.err
