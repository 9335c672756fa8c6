"""The Makefile, in a folder of its own with programs that only note how they are called."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
TORCH = next(line for line in (ROOT / "constraints.txt").read_text("utf-8").splitlines() if line.startswith("torch=="))
INDEX = "https://download.pytorch.org/whl/cpu"

# Notes its name and arguments; `$REFUSED` holds patterns, a line each, of calls that end with status 1.
STUB = """#!/usr/bin/env bash
call="$(basename "$0") $*"
echo "$call" >> "$CALLS"
while read -r pattern; do
    if [[ -n $pattern && $call == $pattern ]]; then echo "refused: $call" >&2; exit 1; fi
done <<< "$REFUSED"
"""


@pytest.fixture
def make(tmp_path):
    """Run make; return its status, the calls of programs, stdout and stderr."""
    programs = tmp_path / ".venv" / "bin"
    programs.mkdir(parents=True)
    for name in ("Makefile", "pyproject.toml", "constraints.txt"):
        shutil.copy(ROOT / name, tmp_path)
    for name in ("python", "pip", "uv", "grader", "bwrap"):
        (programs / name).write_text(STUB)
        (programs / name).chmod(0o755)

    def run(*arguments, refused=(), path=os.environ["PATH"]):
        calls = tmp_path / "calls"
        calls.write_text("")
        environment = {**os.environ, "CALLS": str(calls), "REFUSED": "\n".join(refused), "TORCH_INDEX": INDEX}
        environment["PATH"] = path
        for name in ("MAKEFLAGS", "MAKELEVEL", "MAKEOVERRIDES"):  # these tests may themselves be run by make
            environment.pop(name, None)
        command = ["make", f"PYTHON={sys.executable}", *arguments]
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
        return done.returncode, calls.read_text().splitlines(), done.stdout, done.stderr

    return run


WHEEL = f"pip install --quiet --no-index --no-deps {TORCH}"
FROM_INDEX = f"pip install --quiet --no-deps --index-url {INDEX} --timeout 15 --retries 1 {TORCH}"
DEFAULT = f"pip install --constraint constraints.txt {TORCH}"
UV = "pip install --quiet --constraint constraints.txt uv"
COURSE = "--constraint constraints.txt --editable .[torch,book,autograde]"
TESTS = "--constraint constraints.txt --editable .[torch,book,autograde,dask,postgres,similar,dev]"
WITH_UV = "uv pip install --compile-bytecode --python .venv/bin/python "


def installing(calls):
    return [call for call in calls if call.startswith(("pip ", "uv "))]


@pytest.mark.parametrize(
    ("refused", "tried"),
    [
        ([], [WHEEL]),
        (["*--no-index*"], [WHEEL, FROM_INDEX]),
        (["*--no-index*", "*--index-url*"], [WHEEL, FROM_INDEX, DEFAULT]),
    ],
    ids=["a wheel on this machine", "the CPU index", "the default index"],
)
def test_where_pytorch_comes_from(make, tmp_path, refused, tried):
    status, calls, output, error = make(".venv/.course", refused=refused)
    assert (status, installing(calls)) == (0, [*tried, UV, WITH_UV + COURSE])
    assert error == ""
    told = [line for line in output.splitlines() if "default index" in line]
    if DEFAULT in tried:
        (line,) = told
        assert "2.7 GB" in line
    else:
        assert told == []
    assert (tmp_path / ".venv/.course").exists()
    assert make(".venv/.course")[:2] == (0, [])  # once


@pytest.mark.parametrize("refused", ["uv *", "*uv"], ids=["uv fails", "there is no uv"])
def test_what_uv_cannot_install_pip_does(make, refused):
    status, calls, *_ = make(".venv/.stamp", refused=[refused])
    assert status == 0
    assert [call for call in installing(calls) if call.startswith("pip install --constraint")] == [
        f"pip install {COURSE}",
        f"pip install {TESTS}",
    ]


def test_only_tests_need_what_tests_need(make):
    assert not any("dev" in call for call in make("course")[1])
    assert installing(make("test")[1]) == [UV, WITH_UV + TESTS]


def test_each_test_is_in_the_run_of_one_target(make):
    """Whatever its marker is; `make slow` also runs the notebooks under other conditions, by a module."""
    status, _, output, error = make("--dry-run", "test", "system", "browser", "slow")
    assert status == 0, error
    runs = [expression.strip("'") for expression in re.findall(r"^pytest .*-m ('[^']*'|\w+)", output, re.MULTILINE)]
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["pytest"]["ini_options"]
    markers = [line.partition(":")[0] for line in settings["markers"]]
    assert len(runs) == len(markers) + 1
    for marker in ["none of them", *markers]:
        marks = {each: each == marker for each in markers}
        assert sum(eval(run, {}, marks) for run in runs) == 1, marker


def test_without_pytorch_it_says_what_to_do(make, tmp_path):
    refused = ["*--no-index*", "*--index-url*", "pip install --constraint constraints.txt torch*"]
    status, calls, _, error = make("test", refused=refused)
    assert status == 2
    assert installing(calls) == [WHEEL, FROM_INDEX, DEFAULT]
    assert f"{TORCH} could not be installed in " in error
    assert "make test PYTHON=python3.12" in error
    assert "make test TORCH_INDEX=URL" in error
    assert "PIP_FIND_LINKS=FOLDER make test" in error
    assert not (tmp_path / ".venv/.stamp").exists()


@pytest.mark.parametrize(
    ("target", "which", "folder"),
    [("course", "--chapter ch01_vanilla_rnn ", "build/demo"), ("demo", "", "build/demo-all")],
)
def test_the_demo_class_is_graded_and_compared(make, target, which, folder):
    status, calls, *_ = make(target)
    assert status == 0
    assert [call for call in calls if call.startswith("grader ")] == [
        "grader release",
        f"grader demo-class --seed 3 {which}--out {folder}",
        f"grader autograde --all --term {folder}",
        f"grader demo-class --verify --out {folder}",
    ]


def test_the_bundle_is_packed_from_a_new_release_and_a_new_book(make):
    status, calls, *_ = make("pack")
    assert status == 0
    assert [call.partition(" --")[0] for call in calls if not call.startswith(("pip ", "uv "))][-3:] == [
        "grader release",
        "python book/build.py build .",
        "grader pack",
    ]
    assert make("pack", refused=["python book/build.py *"])[1][-1].startswith("python book/build.py")


def test_a_step_says_how_long_it_took_and_what_it_printed_if_it_fails(make, tmp_path):
    _, _, output, _ = make("course")
    assert re.search(r"^The book +\d+ s$", output, re.MULTILINE)
    status, _, output, error = make("course", refused=["python book/build.py *"])
    assert status == 2
    assert "build/logs/book.log" in output
    assert "refused: python book/build.py" in output + error
    status, _, output, error = make("course", refused=["grader release"])
    assert status == 2
    assert "refused: grader release" in error
    assert re.search(
        r"^The release.* failed after \d+ s; all of it is in build/logs/release.log:$", output, re.MULTILINE
    )
    assert "refused" in (tmp_path / "build/logs/release.log").read_text()


def test_what_apt_prints_is_in_its_log(make, tmp_path):
    """On a machine without bubblewrap, as root and as another user."""
    programs, others = tmp_path / ".venv" / "bin", tmp_path / "others"
    (programs / "bwrap").unlink()
    others.mkdir()
    for found in Path("/usr/bin").iterdir():
        if found.name not in ("bwrap", "id", "apt-get"):
            (others / found.name).symlink_to(found)
    for user in (0, 1000):
        (others / "id").write_text(f"#!/bin/sh\necho {user}\n")
        (others / "apt-get").write_text("#!/bin/sh\necho Reading package lists: $*\n")
        for name in ("id", "apt-get"):
            (others / name).chmod(0o755)
        status, _, output, error = make("sandbox", path=str(others))
        if user:
            assert status == 2
            assert "This needs bubblewrap libseccomp2, which only root can install." in error
        else:
            assert (status, error) == (0, "")
            assert re.fullmatch(r"Debian packages +\d+ s\n", output)
            log = (tmp_path / "build/logs/apt.log").read_text()
            assert log.splitlines()[-1].endswith("install -y --no-install-recommends bubblewrap libseccomp2")


def test_a_page_that_failed_is_named_at_the_end(make, tmp_path):
    failed = tmp_path / "build/book/_build/failed_pages.txt"
    failed.parent.mkdir(parents=True)
    failed.write_text("book/slips.md: the cell at line 3 failed, so the page has no results:\n    KeyError: 4\n")
    status, _, output, _ = make("course")
    assert status == 0
    *_, title, first, second, report = output.splitlines()
    assert (title, first + "\n" + second + "\n") == ("The book is complete but for this:", failed.read_text())
    assert report.startswith("Please report it: ")


@pytest.mark.parametrize("wrong", ["release", "autograde *", "demo-class --verify *"])
def test_what_fails_stops_it(make, wrong):
    status, calls, *_ = make("course", refused=[f"grader {wrong}"])
    assert status == 2
    # The book is built beside the grading.
    *_, last = [call for call in calls if not call.startswith("python book/build.py ")]
    assert last.startswith(f"grader {wrong.removesuffix(' *')}")
