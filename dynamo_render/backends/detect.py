"""Which framework a worker's command starts, and what to do when that contradicts the resource (rendering.md §14).

The caller asks for worker types only; every other component type has the backend ``none``.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from typing import Final

from dynamo_render.kube.patterns import pattern

FRAMEWORKS: Final = ("vllm", "sglang", "trtllm")

_SEGMENT = pattern(r"[^|&;]+")
_PYTHON = pattern(r"python[0-9.]*[ \t\n\f\r]")
_MODULE_OPTION = pattern(r"-m[ \t\n\f\r]")


class BackendMismatch(ValueError):
    """The command starts another framework than the resource names."""

    def __init__(self, detected: str, explicit: str) -> None:
        """Keep both names beside the message."""
        self.detected = detected
        self.explicit = explicit
        super().__init__(
            f'backend framework mismatch: detected "{detected}" from command but explicitly configured as "{explicit}"'
        )


class BackendAmbiguous(ValueError):
    """The command starts several frameworks and the resource names none."""

    def __init__(self, seen: tuple[str, ...]) -> None:
        """Keep the names in the order of `FRAMEWORKS`."""
        self.seen = seen
        super().__init__(f"could not determine backend framework: the command starts {' and '.join(seen)}")


class BackendUnsupported(ValueError):
    """The resource names a framework that does not exist."""

    def __init__(self, explicit: str) -> None:
        """Keep the name beside the message."""
        self.explicit = explicit
        super().__init__(f"unsupported backend framework: {explicit}")


def choose(command: Sequence[str], args: Sequence[str], explicit: str | None) -> str:
    """Return the backend of a worker: what its command starts, else *explicit*, else ``none``.

    Raises `BackendMismatch`, `BackendAmbiguous` (only without *explicit*) or `BackendUnsupported`.
    """
    seen = detected(command, args)
    if len(seen) == 1 and explicit and explicit != seen[0]:
        raise BackendMismatch(seen[0], explicit)
    if len(seen) == 1:
        return seen[0]
    if explicit:
        return _supported(explicit)
    if seen:
        raise BackendAmbiguous(seen)
    return "none"


def detected(command: Sequence[str], args: Sequence[str]) -> tuple[str, ...]:
    """Return the frameworks that the words start as Python modules, in the order of `FRAMEWORKS`."""
    return _detected_in(" ".join((*command, *args)))


@functools.lru_cache(maxsize=256)
def _detected_in(text: str) -> tuple[str, ...]:
    if "dynamo." not in text:
        return ()
    tails = tuple(_module_tails(text))
    return tuple(name for name in FRAMEWORKS if any(f"dynamo.{name}" in tail for tail in tails))


def _module_tails(text: str) -> Iterator[str]:
    """Yield what follows the first ``python … -m`` of each part between separators.

    The first place is enough, because whatever matches after a later one also matches after the first; so the time is
    linear in the text.
    """
    for segment in _SEGMENT.findall(text):
        python = _PYTHON.search(segment)
        option = _MODULE_OPTION.search(segment, python.end()) if python else None
        if option:
            yield segment[option.end() :]


def _supported(explicit: str) -> str:
    if explicit not in FRAMEWORKS:
        raise BackendUnsupported(explicit)
    return explicit
