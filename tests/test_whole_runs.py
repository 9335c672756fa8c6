"""What a run of many files says at its end, and in which order it takes them."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests import whole_runs

ROOT = Path(__file__).parents[1]
FILES = [f"test_{number:02}.py" for number in range(11)]


@pytest.fixture
def run(tmp_path):
    for name in FILES:
        (tmp_path / name).write_text("def test_it():\n    pass\n")

    def run(*arguments):
        plugins = ["-p", "tests.whole_runs", "-p", "no:cacheprovider", "-c", "/dev/null", "--rootdir", "."]
        command = [sys.executable, "-m", "pytest", *plugins, *arguments]
        env = {"PYTHONPATH": str(ROOT)}
        done = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True, check=False)
        return done.returncode, done.stdout

    return run


def reports(*durations):
    """Set-up, call and tear-down of a test in each of some files."""
    return [
        pytest.TestReport(f"{name}::test_it", (name, 0, ""), {}, "passed", None, when, duration=seconds / 3)
        for name, seconds in zip(FILES, durations, strict=True)
        for when in ("setup", "call", "teardown")
    ]


def test_the_slowest_files_have_their_seconds_and_their_share():
    first, second, *_, last = whole_runs.slowest_files(reports(4, 1, 1, 1, 1, 1, 1, 1, 1, 8, 0))
    assert first.split() == ["8.0", "s", "40%", FILES[9]]
    assert second.split() == ["4.0", "s", "20%", FILES[0]]
    assert last.split()[:3] == ["1.0", "s", "5%"]


@pytest.mark.parametrize("workers", ["0", "1"])
def test_a_run_ends_with_its_ten_slowest_files_and_fails_on_none(run, workers):
    status, output = run("-n", workers)
    shown = re.findall(r"^ +[\d.]+ s +\d+%  (.*)$", output, re.MULTILINE)
    assert (status, len(shown), set(shown) < set(FILES)) == (0, 10, True)


def test_a_small_run_says_nothing(run):
    status, output = run("-n", "0", *FILES[:10], "--deselect", FILES[8])
    assert (status, "slowest files" in output) == (0, False)


def test_long_files_come_first(run, tmp_path):
    (tmp_path / "conftest.py").write_text(f"from tests import whole_runs\nwhole_runs.LONG = {('test_05', 'test_02')}\n")
    _, output = run("-n", "0", "--collect-only", "-q")
    collected = [line.partition("::")[0] for line in output.splitlines() if "::" in line]
    assert collected == [FILES[2], FILES[5], *(name for name in FILES if name not in (FILES[2], FILES[5]))]


def test_each_long_file_is_there():
    assert all(any(ROOT.glob(f"tests/**/{name}*.py")) for name in whole_runs.LONG)
