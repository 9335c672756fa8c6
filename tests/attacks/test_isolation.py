"""What the corpus assumes: hidden files stay hidden in whichever folder they are, and copies share no memory."""

import sys
from pathlib import Path

import psutil
import pytest

from grader.inside.frames import Cell, Request
from grader.manifest import Limits
from grader.running.runner import run_submission
from grader.running.sandbox import Sandbox, SandboxError, bubblewrap


def shown_by(source, hide):
    """What a cell prints in a sandbox of its own."""
    cells = (Cell(0, source),)
    request = Request(cells, {}, Limits(20, 20, 60, output_bytes=9999, result_bytes=99_999))
    with Sandbox(Limits(memory_mb=256), hide) as sandbox:
        return run_submission(request, sandbox).ends[0].printed


@pytest.mark.skipif(sys.prefix == sys.base_prefix, reason="needs a virtual environment")
def test_a_course_below_the_environment_is_hidden():
    """An environment is shown as /venv; a course in a folder of it must not be there."""
    source = "import os\nprint(os.listdir('/venv/include'), len(os.listdir('/venv/bin')) > 3)"
    assert shown_by(source, [Path(sys.prefix) / "include"]) == "[] True\n"


@pytest.mark.parametrize("where", [sys.prefix, sys.base_prefix])
def test_a_course_that_is_the_environment_is_refused(where):
    with pytest.raises(SandboxError, match=r"create the environment in a separate folder"):
        bubblewrap(3, [Path(where).resolve()])


def test_the_warm_process_has_no_memory_that_its_copies_could_share():
    """A page that is mapped as shared and writable would be one page for all students."""
    source = "print('warm')"
    cells = (Cell(0, source),)
    request = Request(cells, {}, Limits(20, 20, 60, output_bytes=9999, result_bytes=99_999))
    with Sandbox(Limits(memory_mb=256)) as sandbox:
        assert run_submission(request, sandbox).ends[0].printed == "warm\n"
        outer = psutil.Process(sandbox._process.pid).children()
        inside = [process for each in outer for process in each.children()] or outer
        assert inside
        for process in inside:
            maps = Path(f"/proc/{process.pid}/maps").read_text().splitlines()
            assert len(maps) > 50
            assert [line for line in maps if line.split()[1][1:4:2] == "ws"] == []


@pytest.mark.parametrize("line", ["%a", "!a", "a?", "x = %a b", "x = !a", ";a b", "/a b", ",a b", "%%a", "??a"])
def test_a_notebook_full_of_magics_is_read_in_bounded_time(line, monkeypatch):
    """IPython's transformer reads a cell again for each magic; the grader itself calls it, outside the sandbox."""
    from IPython.core import inputtransformer2

    from grader.submission import ipython

    read = []
    tokens = inputtransformer2.make_tokens_by_line
    monkeypatch.setattr(
        inputtransformer2, "make_tokens_by_line", lambda lines: read.append(sum(map(len, lines))) or tokens(lines)
    )
    python = ipython.ToPython()
    assert python("x = 1\n" + line) != "x = 1\n" + line or line == "%%a"
    for size in (100, 1000, 10_000, 2_000_000):
        python(f"{line}\n" * (size // len(line)))
    assert sum(read) < 10 * ipython.MAX_TRANSFORMED  # what it puts in place of a magic is longer
