"""Hooks for runs of many files: how many workers, which files come first, and which took longest."""

import os
from collections import Counter
from collections.abc import Iterable

import pytest

# How the names of the longest begin: a worker that takes one of them last keeps the others waiting.
LONG = ("test_mutants", "test_machines", "test_golden", "test_demo")
SHOWN = 10


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int | None:
    """One more than there are cores, because many tests wait: for a sandbox, or for code that never ends. The variable
    that pytest-xdist documents for it comes first.
    """
    return None if "PYTEST_XDIST_AUTO_NUM_WORKERS" in os.environ else (os.cpu_count() or 1) + 1


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The long files come first, and all others as they are collected."""
    items.sort(key=lambda item: not item.path.name.startswith(LONG))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    reports = [each for some in terminalreporter.stats.values() for each in some]
    lines = slowest_files(each for each in reports if isinstance(each, pytest.TestReport))
    if lines:
        terminalreporter.section("slowest files")
        for line in lines:
            terminalreporter.line(line)


def slowest_files(reports: Iterable[pytest.TestReport]) -> list[str]:
    """The slowest files of a run with their seconds, fixtures included, and their share of all; none of a small run."""
    seconds: Counter[str] = Counter()
    for report in reports:
        seconds[file_of(report.nodeid)] += report.duration
    whole = sum(seconds.values())
    if len(seconds) <= SHOWN or not whole:
        return []
    return [f"{each:7.1f} s  {each / whole:4.0%}  {name}" for name, each in seconds.most_common(SHOWN)]


def file_of(nodeid: str) -> str:
    return nodeid.partition("::")[0]
