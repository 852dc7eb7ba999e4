"""The plugin of pytest: below a failed assertion, which dispatch of the programs it has called is
wrong, if any is.

The package's entry point `pytest11` loads this with pytest, so nothing heavy is imported before a
test has failed.
"""

from __future__ import annotations

import sys
import tempfile
from typing import TYPE_CHECKING, Any, Generator, List

import pytest  # type: ignore[import-not-found, unused-ignore]

if TYPE_CHECKING:
    from ._program import Program

#: The most programs of a test that are looked at.
MOST = 4


def pytest_addoption(parser: Any) -> None:
    """Adds the flags of this plugin."""
    group = parser.getgroup("iree-dbg")
    text = "do not look for a wrong dispatch when a test fails that has called programs of iree_dbg"
    group.addoption("--no-iree-dbg", action="store_true", help=text)
    text = "fail tests whose comparisons (`against`) are farther apart than files in DIR say"
    group.addoption("--iree-dbg-baseline", metavar="DIR", help=text)
    text = "write these files anew, instead of comparing with them"
    group.addoption("--iree-dbg-baseline-update", action="store_true", help=text)


def pytest_runtest_setup(item: Any) -> None:
    """A test begins: it has called no program yet."""
    if item.config.getoption("--iree-dbg-baseline"):
        from . import _comparison

        _comparison.made = []
    programs = sys.modules.get("iree_dbg._program")
    if programs is not None:
        programs.called.clear()


@pytest.hookimpl(hookwrapper=True)  # type: ignore[untyped-decorator, unused-ignore]
def pytest_runtest_makereport(item: Any, call: Any) -> Generator[None, Any, None]:
    """A test is over: if an assertion has failed, judges the last call of each program."""
    outcome = yield
    report = outcome.get_result()
    folder = item.config.getoption("--iree-dbg-baseline")
    if folder and call.when == "call" and report.passed:
        _compare_with_baseline(item, report, folder)
    has_failed = call.when == "call" and report.failed and call.excinfo is not None
    if not has_failed or not call.excinfo.errisinstance(AssertionError):
        return
    programs = sys.modules.get("iree_dbg._program")
    if programs is None or item.config.getoption("--no-iree-dbg"):
        return
    called: List[Program] = sorted(programs.called, key=lambda it: it.name)
    text = "\n".join(_judged(program) for program in called[:MOST])
    if text:
        report.sections.append(("iree-dbg", text))


def _compare_with_baseline(item: Any, report: Any, folder: str) -> None:
    """Fails a test that has passed, if its comparisons are worse than those of its file."""
    from . import _baseline, _comparison

    made, _comparison.made = _comparison.made, None
    if not made:
        return
    path = _baseline.file_of(item.config.rootpath / folder, item.nodeid)
    found = _baseline.errors(made)
    if item.config.getoption("--iree-dbg-baseline-update"):
        _baseline.write(path, found)
        return
    worse = _baseline.judge(path, found)
    if worse:
        report.outcome = "failed"
        report.longrepr = "\n".join(["accuracy has become worse:", *worse])


def _judged(program: "Program") -> str:
    """What is said of the last call of a program."""
    if program._last is None:
        return f"{program.name}: nothing was called"
    name, args, kwargs = program._last
    function = program[name]
    try:
        found = function.check(*args, **kwargs)
        said = f"{program.name}.{name}: {found.summary()}"
        number = found.told["first_bad"]
        if number is not None:
            folder = tempfile.mkdtemp(prefix="iree-dbg-repro-") + "/repro"
            written = function.repro(folder, *args, dispatch=number, **kwargs)
            said += f"\nthat dispatch alone, for IREE's own tools: {written}"
        return said
    except Exception as error:
        # The test has failed already; its own failure is what counts.
        return f"{program.name}.{name}: cannot be judged: {error}"
