"""Write the schemas of the custom resources, or check that they are current: inputs/ for editors, crds/ for servers.

Everything comes from `dynamo_render.schemas`; this file only names the files. Run it from anywhere with the package
installed, or with the repository as the current folder.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from dynamo_render.kube import text  # noqa: E402 - the line above makes it importable
from dynamo_render.schemas import definition, editor, kinds  # noqa: E402

CURRENT, DIFFERENT = 0, 1
FOLDERS = ("inputs", "crds")


def main(arguments: Sequence[str] | None = None) -> int:
    """Return 0 for current files, 1 for files that differ (with --check only)."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="compare only; exit 1 when a file is not current")
    options = parser.parse_args(arguments)
    wanted = files()
    found = {path: path.read_text(encoding="utf-8") for folder in FOLDERS for path in (HERE / folder).glob("*")}
    if found == wanted:
        return CURRENT
    if options.check:
        names = sorted(
            str(path.relative_to(HERE)) for path in wanted.keys() | found.keys() if stale(path, wanted, found)
        )
        print(f"not current: {', '.join(names)}; run: python schemas/generate.py", file=sys.stderr)
        return DIFFERENT
    write(wanted, found)
    return CURRENT


def files() -> dict[Path, str]:
    """Return the text of every file by its path."""
    result = {}
    for kind in kinds.KINDS.values():
        schema = json.dumps(editor.json_schema(kind), indent=2) + "\n"
        result[HERE / "inputs" / f"{kind.singular}.json"] = schema
        result[HERE / "crds" / f"{kind.plural}.yaml"] = text.write_documents(
            [definition.custom_resource_definition(kind)]
        )
    return result


def stale(path: Path, wanted: Mapping[Path, str], found: Mapping[Path, str]) -> bool:
    """Whether the file at *path* is missing, different or not wanted."""
    return wanted.get(path) != found.get(path)


def write(wanted: Mapping[Path, str], found: Mapping[Path, str]) -> None:
    """Make the folders hold exactly the *wanted* files."""
    for path in found.keys() - wanted.keys():
        path.unlink()
    for path, content in wanted.items():
        path.parent.mkdir(exist_ok=True)
        path.write_text(content, encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
