"""A plugin for pytest: ``pytest --dynamo-golden DIR`` runs the golden cases below DIR, each as one test.

It does what ``dynamo-render golden check`` does, and nothing at all without the option.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from dynamo_render.commandline.golden_cases import Case
    from dynamo_render.commandline.golden_verdicts import Verdict


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare the options of the plugin."""
    group = parser.getgroup("dynamo-render")
    group.addoption(
        "--dynamo-golden",
        metavar="DIR",
        action="append",
        default=[],
        help="run the golden cases of dynamo-render below DIR, each as one test; repeatable",
    )
    group.addoption(
        "--dynamo-golden-profile",
        metavar="NAME",
        action="append",
        default=[],
        help="a profile that every golden case which is a folder must have a result for; repeatable",
    )


# First, so that -k, --lf and whatever else selects tests selects these, too.
@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(session: pytest.Session, config: pytest.Config, items: list[pytest.Item]) -> None:
    """Add the cases to the tests."""
    for directory in config.getoption("--dynamo-golden"):
        items.extend(_collected(directory, session))


def _collected(directory: str, session: pytest.Session) -> Iterable[pytest.Item]:
    if not Path(directory).is_dir():
        raise pytest.UsageError(f"--dynamo-golden: {directory} is not a folder")
    folder: GoldenFolder = GoldenFolder.from_parent(session, name=directory, nodeid=directory)
    return folder.collect()


class GoldenFolder(pytest.Collector):
    """A folder with golden cases."""

    def collect(self) -> list[pytest.Item]:
        """Return one test for each case, and one for files that belong to none if there are any."""
        from dynamo_render.commandline import golden_cases, golden_verdicts  # noqa: PLC0415 - only with the option

        found = golden_cases.found(self.name)
        profiles = self.config.getoption("--dynamo-golden-profile")
        tests: list[pytest.Item] = [
            GoldenTest.from_parent(self, name=case.name, case=case, profiles=profiles) for case in found.cases
        ]
        if found.strays:
            strays = list(golden_verdicts.verdicts_on_strays(found))
            tests.append(GoldenTest.from_parent(self, name="superfluous files", verdicts=strays))
        return tests


class GoldenTest(pytest.Item):
    """One case: it passes when every profile renders to what is stored."""

    def __init__(
        self,
        *,
        case: Case | None = None,
        profiles: Iterable[str] = (),
        verdicts: Iterable[Verdict] = (),
        **options: Any,
    ) -> None:
        """Take a case to check, or verdicts that are there already."""
        super().__init__(**options)
        self._case = case
        self._profiles = tuple(profiles)
        self._verdicts = tuple(verdicts)

    def runtest(self) -> None:
        """Fail with everything that differs."""
        findings = [line for verdict in self._all_verdicts() for line in _shown(verdict)]
        if findings:
            raise GoldenMismatch("\n".join(findings))

    def _all_verdicts(self) -> Iterator[Verdict]:
        from dynamo_render.commandline import golden_verdicts  # noqa: PLC0415 - only with the option

        yield from self._verdicts
        if self._case is not None:
            yield from golden_verdicts.verdicts(self._case, self._profiles)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], *options: Any, **more: Any) -> Any:
        """Return the difference alone; where in this module it was found tells nobody anything."""
        if isinstance(excinfo.value, GoldenMismatch):
            return f"{excinfo.value}\n\nLook at the difference; `dynamo-render golden update` stores it."
        return super().repr_failure(excinfo, *options, **more)

    def reportinfo(self) -> tuple[str, None, str]:
        """Return where the case stands, and what it is called."""
        return (self._case.input if self._case else str(self.parent and self.parent.name), None, f"golden {self.name}")


class GoldenMismatch(Exception):
    """A case does not render to what is stored; str() shows how."""


def _shown(verdict: Verdict) -> Iterator[str]:
    from dynamo_render.commandline import golden_reports  # noqa: PLC0415 - only with the option

    for finding in verdict.findings:
        yield from golden_reports.text_of(finding)
