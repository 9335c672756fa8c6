"""Golden reports: each `golden/*/NAME.py` is what a student wrote, and `NAME.txt` is exactly what the checks answer.

Each exercise that the file defines is checked, in the course's order.
After a change of wording write all reports anew, and read the difference as a student would:

    UPDATE_GOLDEN=1 pytest tests/test_golden.py && git diff tests/golden
"""

import linecache
import os
import warnings
from pathlib import Path

import numpy as np
import pytest

from grader import check
from grader.released import COURSE

GOLDEN = Path(__file__).parent / "golden"
FILES = sorted(GOLDEN.glob("*/*.py"))


def report(path: Path) -> str:
    """The file run as a notebook's cell, and what the checks say of what it defines."""
    source, cell = path.read_text("utf-8"), f"<golden {path.stem}>"
    linecache.cache[cell] = (len(source), None, source.splitlines(keepends=True), cell)
    namespace = {"np": np}
    exec(compile(source, cell, "exec"), namespace)
    with warnings.catch_warnings():  # as in a notebook, a warning is no error
        warnings.simplefilter("ignore")
        found = [repr(check(name, namespace[name])) for name in COURSE.manifest.places if name in namespace]
    return "\n\n".join(found) + "\n"


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_the_report_is_as_recorded(path, session):
    given, golden = report(path), path.with_suffix(".txt")
    if os.environ.get("UPDATE_GOLDEN"):
        golden.write_text(given, "utf-8")
    assert golden.exists(), f"{golden} is missing; see the top of {__file__}"
    assert given == golden.read_text("utf-8")


def test_no_report_is_left_without_its_student():
    assert {path.with_suffix(".py") for path in GOLDEN.glob("*/*.txt")} == set(FILES)


def test_every_misconception_has_its_report():
    for name in COURSE.manifest.places:
        missing = set(COURSE.messages(name).mistakes) - {path.stem for path in (GOLDEN / name).glob("*.py")}
        assert not missing


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_every_report_says_what_a_report_must(path):
    """What was called, what came back, what is due, and where to go on; it stays short and never shouts."""
    text = path.with_suffix(".txt").read_text("utf-8")
    report = text.split("\n\n")[0]
    assert "!" not in text
    assert len(report.splitlines()) <= 20
    if "   right on all " in report:
        return
    assert "  next           hint(" in report
    if "not implemented yet" in report:
        return
    assert "  called  " in report
    assert any(f"\n  {label}  " in report for label in ("you returned", "stopped with"))
    assert any(
        f"\n  {label}  " in report
        for label in ("differs in", "shape", "dtype", "what is due", "not finite", "changed input", "stopped with")
    )
