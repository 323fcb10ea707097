"""The documents at the top of the project stay true: links lead somewhere, commands exist, every decision is listed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = sorted(
    [ROOT / "README.md", *ROOT.glob("docs/**/*.md"), *ROOT.glob("changelog.d/*.md"), *ROOT.glob("schemas/*.md")]
)
FRAGMENT = re.compile(r"\d+(-[a-z-]+)?\.(added|changed|fixed|removed|rendering)\.md")


def without_code(text: str) -> str:
    """Return *text* without code, in which brackets mean something else."""
    return re.sub(r"```.*?```|`[^`\n]*`", "", text, flags=re.DOTALL)


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_every_relative_link_leads_to_a_file(document: Path) -> None:
    links = re.findall(r"\]\(([^)#\s]+)", without_code(document.read_text(encoding="utf-8")))
    near = [link for link in links if "://" not in link]
    assert [link for link in near if not (document.parent / link).exists()] == []


def test_every_decision_is_in_the_index() -> None:
    folder = ROOT / "docs" / "decisions"
    listed = re.findall(r"\]\((\d{4}-[^)]+)\)", (folder / "README.md").read_text(encoding="utf-8"))
    assert sorted(set(listed)) == sorted(path.name for path in folder.glob("[0-9]*.md"))


def test_every_change_fragment_has_a_known_type() -> None:
    names = [path.name for path in (ROOT / "changelog.d").iterdir() if path.name != "README.md"]
    assert [name for name in names if not FRAGMENT.fullmatch(name)] == []


def test_the_first_command_of_the_readme_reads_files_that_are_there() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    command = next(line for line in readme.splitlines() if " render examples/" in line)
    files = re.findall(r"examples/\S+", command)
    assert files
    assert [name for name in files if not (ROOT / name).is_file()] == []


def test_the_second_command_of_the_readme_is_what_ci_runs() -> None:
    """Both run nox without naming a session, which runs every check."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert "\npython3 -m venv .venv && .venv/bin/pip install -q nox && .venv/bin/nox\n" in readme
    assert '"$environment/bin/nox" "$@"' in (ROOT / ".ci" / "run").read_text(encoding="utf-8")


def test_every_session_in_the_readme_exists() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    sessions = re.findall(
        r"^def (\w+)\(session: nox.Session\) ", (ROOT / "noxfile.py").read_text(encoding="utf-8"), re.MULTILINE
    )
    named = " ".join(re.findall(r"`nox -s ([\w ]+?)(?: --.*?)?`", readme)).split()
    assert sorted(set(named) - set(sessions)) == []
    assert set(sessions) - set(named) == {"environment", "lowest"}
