"""The tables of docs/controller/rbac.md, made of the table in the code; run as a script, it writes them there."""

from __future__ import annotations

import re
from pathlib import Path

from dynamo_controller.permissions import BOTH, COMPONENT_ROLES, CONFIGURATION, PERMISSIONS, Subject

PAGE = Path(__file__).resolve().parents[2] / "docs" / "controller" / "rbac.md"
SUBJECTS: tuple[Subject, ...] = ("controller", "planner", "epp", "profiling")
"""Whose tables the page has, in their order."""

_PLACES = {"resources": "where resources are", "cluster": "cluster", "lead": "namespace of the leader's Lease"}
_ABOUT = {"": "", CONFIGURATION: ", the controller's own only", COMPONENT_ROLES: ", the component roles only"}


def table(subject: Subject) -> str:
    """Return the table of one account as Markdown."""
    rows = ["| Group | Resources | Verbs | Where | Mode | Reason |", "|---|---|---|---|---|---|"]
    for each in PERMISSIONS:
        if each.subject == subject:
            resources = ", ".join(f"`{name}`" for name in each.resources)
            mode = "both" if each.modes == BOTH else each.modes[0]
            where = f"{_PLACES[each.scope]}{_ABOUT[each.only]}"
            group = f"`{each.group}`" if each.group else "core"
            rows.append(f"| {group} | {resources} | {', '.join(each.verbs)} | {where} | {mode} | {each.reason} |")
    return "".join(f"{row}\n" for row in rows)


def tables(page: str) -> list[str]:
    """Return the tables that are in a page."""
    return re.findall(r"(?:^\|.*\n)+", page, re.MULTILINE)


def written(page: str) -> str:
    """Return the page with the tables of the code in place of its own."""
    for old, subject in zip(tables(page), SUBJECTS, strict=True):
        page = page.replace(old, table(subject), 1)
    return page


if __name__ == "__main__":
    PAGE.write_text(written(PAGE.read_text("utf-8")), "utf-8")
