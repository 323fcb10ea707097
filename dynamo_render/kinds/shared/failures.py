"""Why a pass over a resource did not get to its end, as a value for its status. controllers-graph.md section 12.

Nothing here decides whether or when the pass is tried again.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from dynamo_render.errors import Problem, field_path
from dynamo_render.values import Value, frozen

# Problems of these rules depend on the cluster or on what a render finds; all others are the resource's own.
_FOUND_WHILE_RENDERING = ("CTL-", "facts/")


@frozen
class Failure(Value):
    """What went wrong, in words.

    *sort* is ``invalid`` for a resource that only its user can mend, ``finalizer`` for clean-up before deletion,
    ``foreign`` where everything was applied but objects that belong to somebody else, and ``error`` for the rest.
    """

    sort: Literal["invalid", "error", "finalizer", "foreign"]
    text: str

    @property
    def is_at_the_end(self) -> bool:
        """Whether the pass did all it could, so that what it saw of live objects is worth telling."""
        return self.sort == "foreign"


def refused(problems: Iterable[Problem]) -> Failure:
    """Return the failure of a render that was refused for *problems*; its warnings are not told.

    The resource is invalid if one of them is its own fault: then those alone are told, as the released operator does,
    which looks at the cluster only after it has validated.
    """
    errors = [problem for problem in problems if problem.severity == "error"]
    own = [problem for problem in errors if not problem.rule.startswith(_FOUND_WHILE_RENDERING)]
    text = "\n".join(f"{field_path(problem.path)} {problem.message}".strip() for problem in own or errors)
    return Failure("invalid" if own else "error", text)


def in_the_way(objects: Iterable[tuple[str, str]]) -> Failure:
    """Return the failure of a pass that met *objects*, kinds with names, which are not the resource's to change."""
    named = ", ".join(f'{kind} "{name}"' for kind, name in sorted(objects))
    return Failure("foreign", f"not changed, because another owner has them: {named}")
