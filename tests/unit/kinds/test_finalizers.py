"""What a pass does about finalizers and deletion: controllers-graph.md 3, row by row."""

from __future__ import annotations

import pytest

from dynamo_render.kinds.shared.finalizers import FINALIZER, finalizer_step


@pytest.mark.parametrize(
    ("deleting", "finalizers", "needed", "step"),
    [
        pytest.param(False, None, True, "add", id="3/1"),
        pytest.param(False, None, False, "continue", id="3/1 nothing to clean up"),
        pytest.param(False, [FINALIZER], True, "continue", id="3/2"),
        pytest.param(False, [FINALIZER], False, "continue", id="3/2 left by another operator"),
        pytest.param(True, ["foregroundDeletion", FINALIZER], True, "finalize", id="3/3"),
        pytest.param(True, [FINALIZER], False, "finalize", id="3/3 left by another operator"),
        pytest.param(True, ["foregroundDeletion"], True, "stop", id="3/4"),
        pytest.param(True, ["foregroundDeletion"], False, "stop", id="3/4 nothing to clean up"),
    ],
)
def test_the_first_thing_a_pass_does_follows_from_deletion_and_finalizer(
    deleting: bool,  # noqa: FBT001 - a column of the table
    finalizers: list[str] | None,
    needed: bool,  # noqa: FBT001 - a column of the table
    step: str,
) -> None:
    metadata: dict[str, object] = {"name": "g"}
    if finalizers is not None:
        metadata["finalizers"] = finalizers
    if deleting:
        metadata["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    assert finalizer_step({"metadata": metadata}, needed=needed) == step
