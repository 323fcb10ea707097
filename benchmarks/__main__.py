"""Print the benchmark table: each measure with its median, its best run and its target. ``python -m benchmarks``."""

from __future__ import annotations

import argparse
import platform
import sys

from benchmarks import cold, render, stream
from benchmarks.table import Row, text


def rows(*, quick: bool) -> list[Row]:
    """Measure everything, one measure after the other."""
    return [*cold.rows(quick=quick), *render.rows(quick=quick), *stream.rows(quick=quick)]


def main() -> int:
    """Print the table; ``--quick`` measures less often."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer repetitions, fewer graphs")
    quick = parser.parse_args().quick
    print(f"{platform.python_implementation()} {platform.python_version()} on {platform.machine()}")
    print(text(rows(quick=quick)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
