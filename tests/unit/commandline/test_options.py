"""Settings, facts and observed state: where they come from, and what beats what."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable

import attrs
import pytest

from dynamo_render import OperatorSettings
from dynamo_render.commandline import options
from tests.unit.commandline.conftest import Call

Write = Callable[[str, str], str]
Graph = Callable[..., str]

ALL_SETTINGS = [field.name for field in attrs.fields(OperatorSettings)]


def nats(out: str) -> str:
    """Return the address of NATS in a rendered Deployment."""
    lines = out.splitlines()
    return lines[lines.index("        - name: NATS_SERVER") + 1].removeprefix("          value: ")


@pytest.mark.parametrize("setting", ALL_SETTINGS)
def test_every_setting_is_a_flag(setting: str, call: Call) -> None:
    assert f"--{setting.replace('_', '-')}" in call("render", "--help").out


def test_every_setting_is_explained() -> None:
    assert sorted(options.HELP) == sorted(ALL_SETTINGS)


@pytest.mark.parametrize(
    ("sources", "winner"),
    [
        (("file", "variable", "flag"), "flag"),
        (("file", "variable"), "variable"),
        (("file", "flag"), "flag"),
        (("file",), "file"),
    ],
)
def test_a_flag_beats_the_environment_which_beats_a_file(
    sources: tuple[str, ...], winner: str, call: Call, write: Write, graph: Graph
) -> None:
    words = ["render", write("a.yaml", graph()), "--select", "kind=Deployment"]
    words += ["--settings", write("s.yaml", "nats_address: file\n")] if "file" in sources else []
    words += ["--nats-address", "flag"] if "flag" in sources else []
    environ = {"DYNAMO_RENDER_NATS_ADDRESS": "variable"} if "variable" in sources else {}
    assert nats(call(*words, environ=environ).out) == winner


def test_a_default_holds_where_nothing_is_given(call: Call, write: Write, graph: Graph) -> None:
    assert "NATS_SERVER" not in call("render", write("a.yaml", graph())).out


def test_an_empty_variable_counts_as_not_set(call: Call, write: Write, graph: Graph) -> None:
    words = ["render", write("a.yaml", graph()), "--settings", write("s.yaml", "nats_address: file\n")]
    assert nats(call(*words, "--select", "kind=Deployment", environ={"DYNAMO_RENDER_NATS_ADDRESS": ""}).out) == "file"


def test_a_misspelled_variable_is_a_warning(call: Call, write: Write, graph: Graph) -> None:
    result = call("render", write("a.yaml", graph()), environ={"DYNAMO_RENDER_NATS_ADRESS": "x"})
    assert result.status == 0
    assert result.err == (
        "dynamo-render: warning: the variable DYNAMO_RENDER_NATS_ADRESS is not a setting; "
        "did you mean DYNAMO_RENDER_NATS_ADDRESS?\n"
    )


@pytest.mark.parametrize(
    ("words", "environ", "message"),
    [
        (["--grove-termination-delay", "5"], {}, '--grove-termination-delay: "5" is not a duration'),
        ([], {"DYNAMO_RENDER_GROVE_TERMINATION_DELAY": "x"}, "DYNAMO_RENDER_GROVE_TERMINATION_DELAY: "),
        ([], {"DYNAMO_RENDER_PROFILE": "1.0"}, "DYNAMO_RENDER_PROFILE: must be one of "),
        ([], {"DYNAMO_RENDER_DISCOVERY_BACKEND": "dns"}, "DYNAMO_RENDER_DISCOVERY_BACKEND: must be kubernetes or etcd"),
        ([], {"DYNAMO_RENDER_VIRTUAL_SERVICE_SUPPORTS_HTTPS": "si"}, "must be true or false"),
        (["--mpi-ssh-secret-name", ""], {}, "--mpi-ssh-secret-name: must not be empty"),
    ],
)
def test_a_wrong_value_names_the_flag_or_the_variable(
    words: list[str], environ: dict[str, str], message: str, call: Call, write: Write, graph: Graph
) -> None:
    result = call("render", write("a.yaml", graph()), *words, environ=environ)
    assert (result.status, result.out) == (2, "")
    assert result.err.startswith("dynamo-render: ")
    assert message in result.err


def test_all_wrong_values_are_reported_at_once(call: Call, write: Write, graph: Graph) -> None:
    facts, settings = write("f.yaml", "api_group: []\n"), write("s.yaml", "nats_adress: x\nprofile: 1\n")
    words = ["render", write("a.yaml", graph()), "--settings", settings, "--facts", facts]
    result = call(*words)
    assert [line.split(": ")[0] for line in result.err.splitlines() if not line.startswith(" ")] == [
        "s.yaml:1:1",
        "s.yaml:2:10",
        "f.yaml:1:1",
    ]
    assert (result.status, result.out) == (1, "")


def test_a_setting_in_a_file_that_a_flag_replaces_may_be_a_delay_in_seconds(
    call: Call, write: Write, graph: Graph
) -> None:
    settings = write("s.yaml", "grove_termination_delay_seconds: 5\n")
    words = ["render", write("a.yaml", graph()), "--settings", settings, "--api-versions", "grove.io"]
    assert "terminationDelay: 5s\n" in call(*words).out
    assert "terminationDelay: 2m0s\n" in call(*words, "--grove-termination-delay", "2m").out


def test_one_file_may_hold_settings_and_facts(call: Call, write: Write, graph: Graph) -> None:
    """The form of operator-config.md, section 18.4."""
    file = write("c.yaml", "settings: {nats_address: both}\nfacts: {api_groups: [grove.io]}\n")
    out = call("render", write("a.yaml", graph()), "--settings", file, "--facts", file).out
    assert "kind: PodCliqueSet" in out
    assert "value: both" in out


def test_problems_in_such_a_file_have_the_path_from_its_top(call: Call, write: Write, graph: Graph) -> None:
    file = write("c.yaml", "settings:\n  nats_address: 1\n")
    result = call("render", write("a.yaml", graph()), "--settings", file)
    assert result.err == "c.yaml:2:17: record/type: settings.nats_address: must be string, got integer 1\n"


@pytest.mark.parametrize("text", ["", "# nothing\n", "facts: {api_groups: []}\n"])
def test_a_file_without_settings_leaves_the_defaults(text: str, call: Call, write: Write, graph: Graph) -> None:
    assert call("render", write("a.yaml", graph()), "--settings", write("s.yaml", text)).status == 0


def test_files_may_be_json(call: Call, write: Write, graph: Graph) -> None:
    facts = write("f.json", '{"api_groups": ["grove.io"]}')
    assert "kind: PodCliqueSet" in call("render", write("a.yaml", graph()), "--facts", facts).out


@pytest.mark.parametrize("given", ["grove.io", "apps,grove.io", "grove.io/v1alpha1", " grove.io"])
def test_api_versions_are_a_short_form_of_facts(given: str, call: Call, write: Write, graph: Graph) -> None:
    assert "kind: PodCliqueSet" in call("render", write("a.yaml", graph()), "--api-versions", given).out


def test_api_versions_add_to_the_facts_of_a_file(call: Call, write: Write, graph: Graph) -> None:
    facts = write("f.yaml", "kai_queues: [dynamo]\napi_groups: [scheduling.run.ai]\n")
    words = [
        "render",
        write("a.yaml", graph()),
        "--facts",
        facts,
        "--api-versions",
        "apps",
        "--api-versions",
        "grove.io",
    ]
    assert "schedulerName: kai-scheduler" in call(*words).out


def test_a_missing_fact_names_the_way_to_give_it(call: Call, write: Write, graph: Graph) -> None:
    words = ["render", write("a.yaml", graph()), "--api-versions", "grove.io,scheduling.run.ai"]
    result = call(*words)
    assert (result.status, result.out) == (1, "")
    assert result.err.startswith("a.yaml:1:1: facts/missing: facts are needed and not given: kai_queues")
    assert "--facts" in result.err


def test_observed_replicas_are_kept(call: Call, write: Write, graph: Graph) -> None:
    text = graph().replace("replicas: 1\n", "replicas: 1\n      scalingAdapter: {enabled: true}\n")
    observed = write("o.yaml", "replicas: {Frontend: 7}\n")
    words = ["render", write("a.yaml", text), "--select", "kind=Deployment"]
    assert "\n  replicas: 7\n" in call(*words, "--observed", observed).out
    assert "\n  replicas: 1\n" in call(*words).out


def test_observed_state_is_of_one_resource(call: Call, write: Write, graph: Graph) -> None:
    observed = write("o.yaml", "replicas: {Frontend: 7}\n")
    names = [write("a.yaml", graph("a")), write("b.yaml", graph("b"))]
    result = call("render", *names, "--observed", observed, "-o", "name")
    assert (result.status, "b-frontend" in result.out) == (2, False)
    assert result.err.startswith("b.yaml: --observed: describes one resource")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("- 1\n", "s.yaml:1:1: record/type: must be object, got array"),
        ("settings: 1\n", "s.yaml:1:11: record/type: settings: must be object, got integer"),
        ("a: 1\n---\nb: 1\n", "s.yaml:3:1: record/type: is a second document"),
        ("profile: '2.0'\n", "s.yaml:1:10: settings/enum: profile: must be one of "),
        ("discovery_backend: dns\n", "s.yaml:1:20: settings/enum: discovery_backend: must be "),
        ("a: [\n", "s.yaml:"),
    ],
)
def test_a_wrong_settings_file_is_reported_with_positions(
    text: str, message: str, call: Call, write: Write, graph: Graph
) -> None:
    result = call("render", write("a.yaml", graph()), "--settings", write("s.yaml", text))
    assert result.status in (1, 2)
    assert result.out == ""
    assert result.err.startswith(message)


def test_a_settings_file_that_is_missing_is_unreadable(call: Call, write: Write, graph: Graph) -> None:
    result = call("render", write("a.yaml", graph()), "--settings", "none.yaml")
    assert (result.status, result.out) == (2, "")
    assert result.err == "none.yaml: input/unreadable: cannot be read: no such file or directory\n"


def test_flags_mean_the_same_whether_or_not_a_mapping_was_structured_before() -> None:
    """Structuring resolves the types of fields, and options are declared by them."""
    program = (
        "from dynamo_render import OperatorSettings\n"
        "OperatorSettings.from_mapping({})\n"
        "from dynamo_render.commandline import options\n"
        "print(options._value('profile', '0.9'))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("0.9\n", "")
