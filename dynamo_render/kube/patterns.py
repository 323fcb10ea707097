"""Regular expressions that are compiled when they are first used: most renders need few of them."""

from __future__ import annotations

import re
from typing import Any, cast


class _Pattern:
    def __init__(self, source: str, flags: int) -> None:
        self._source, self._flags = source, flags

    def __getattr__(self, name: str) -> Any:
        """Compile, and keep the method that was asked for, so that later uses find it at once."""
        found = getattr(re.compile(self._source, self._flags), name)
        setattr(self, name, found)
        return found


def pattern(source: str, flags: int = 0) -> re.Pattern[str]:
    """Return the regular expression *source*, compiled at its first use."""
    return cast("re.Pattern[str]", _Pattern(source, flags))
