"""Every case in ``golden/`` renders, byte for byte, to what is stored beside it.

``pytest tests/golden --golden-update`` stores what the cases render to now. Read the difference before you commit it,
and add a ``rendering`` fragment: a golden says that a person looked.
"""

from __future__ import annotations

import pytest

from dynamo_render.profiles import PROFILES
from tests.golden.cases import Case, Outcome, golden_cases, stored_files, wanted_files


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("case", golden_cases(), ids=lambda case: case.name)
def test_a_case_renders_to_what_is_stored(case: Case, profile: str, *, golden_update: bool) -> None:
    outcome = case.outcome(profile)
    if golden_update:
        store(case, profile, outcome)
    stored = case.folder / outcome.file
    assert stored.is_file(), (
        f"{case.name} has no {outcome.file}; look at the result, then store it with --golden-update"
    )
    assert outcome.text == stored.read_bytes().decode("utf-8")


def test_no_result_is_missing_and_none_is_left_over() -> None:
    """A file whose case is gone or that no profile leads to would be believed by readers and checked by nobody."""
    assert sorted(stored_files()) == sorted(wanted_files())


def store(case: Case, profile: str, outcome: Outcome) -> None:
    """Write the outcome of a case in one profile, in place of what was stored for that profile."""
    for folder in ("expected", "problems"):
        (case.folder / folder / f"{profile}.yaml").unlink(missing_ok=True)
    path = case.folder / outcome.file
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(outcome.text.encode("utf-8"))
    for folder in ("expected", "problems"):
        if (case.folder / folder).is_dir() and not any((case.folder / folder).iterdir()):
            (case.folder / folder).rmdir()
