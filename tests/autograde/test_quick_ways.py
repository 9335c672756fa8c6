"""Shortcuts that save time give the same results as the slow way."""

import ast
import json
import mmap
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import pytest
from right_work import RIGHT

from grader.checking.observing import caught
from grader.grading import judging, pool, score
from grader.grading.grade import grade
from grader.grading.judging import VerdictCache
from grader.inside import statements
from grader.inside.frames import file_of
from grader.inside.statements import Lost, Ran, prepare, run_statements
from grader.inside.usage import memory, takes_more_than
from grader.submission.bindings import bindings_of, bound_names

CELLS = [
    "",
    "x = 1\nx + 1",
    "x = 1\ny = x + 1",
    "def f():\n    return 1 / 0\n",
    "import math, no_such_module, json\njson.dumps(math.pi)",
    "import no_such_module\na = 1\nno_such_module.f()\nb = 2\nb",
    "from no_such_module import *\nc = anything\nd = 1",
    "try:\n    import no_such_module\nexcept ImportError:\n    e = 1",
    "x = 1\n1 / 0\ny = 2",
    "return 1",
    "def f(:",
    "from __future__ import annotations\ndef g(x: nobody): pass",
    "z = [i for i in range(3)]; z",
]


def ran(source, plain):
    """What came of a cell, and the names that it left."""
    module, found, lost = ModuleType("__main__"), Ran(), Lost()
    raised = None
    try:
        run_statements(source, file_of(3), module.__dict__, lost, found, plain)
    except BaseException as error:
        raised = caught(error)
    names = {name: repr(value).partition(" at 0x")[0] for name, value in vars(module).items() if name != "__builtins__"}
    return raised, names, None if raised else repr(found.value), found.raised, found.missing, lost


@pytest.mark.parametrize("source", CELLS)
def test_a_cell_that_is_compiled_at_once_or_before(source, monkeypatch):
    monkeypatch.setattr(statements, "_prepared", {})
    slow = ran(source, plain=False)
    assert ran(source, bindings_of(source).plain) == slow
    prepare(source, file_of(3))
    assert len(statements._prepared) == (source not in ("return 1", "def f(:"))
    assert ran(source, bindings_of(source).plain) == slow


def test_which_cells_are_plain():
    assert [bindings_of(source).plain for source in CELLS] == [
        source in ("", *CELLS[2:4], *CELLS[7:10]) for source in CELLS
    ]


def test_released_cells_are_prepared_under_the_names_that_they_run_under(session, right):
    sources = ["".join(cell["source"]) for cell in right["cells"]]
    same = [(s, file_of(i)) for i, s in enumerate(sources) if right["cells"][i]["cell_type"] == "code"]
    changed = {cell for cell in same if cell not in session.cells}
    assert {source for source, _ in changed} == set(RIGHT.values())


@pytest.mark.parametrize("source", ["x = 1\ndef f():\n    y = 2\n", "class A:\n    def f(self):\n        pass"])
def test_functions_without_global_statements_need_not_be_looked_into(source):
    assert bound_names(ast.parse(source), within=False) == bound_names(ast.parse(source))
    assert "deep" in bindings_of("def f():\n    def g():\n        global deep\n").names


def test_memory_is_never_more_than_what_is_at_hand_says():
    with mmap.mmap(-1, 20_000_000) as shared:  # counted as shared memory
        shared.write(bytes(20_000_000))
        own = bytearray(os.urandom(1)) * 30_000_000
        taken = memory([os.getpid()])
        assert taken > 50_000_000
        for most in (0, taken - 1_000_000, taken + 10_000_000, 1 << 40):
            assert takes_more_than(most, [os.getpid()]) == (most < taken)
        del own
    assert not takes_more_than(0, [])


GROWING = """
import contextlib, mmap, os, resource, signal
from grader.inside import confine, usage

measured, real = [], usage.memory
usage.memory = lambda processes: measured.append(1) or real(processes)
confine.small_pages()
us = [os.getpid()]
written = b"1" * 16_000_000
before = usage.page_faults()
with mmap.mmap(-1, len(written), flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS) as asked:
    asked.madvise(mmap.MADV_HUGEPAGE)
    asked.write(written)
assert usage.page_faults() - before >= len(written) // mmap.PAGESIZE  # no huge pages, even for who asks
del written


def ours():  # other processes of the machine have page faults too
    return sum(resource.getrusage(who).ru_minflt for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))


of_the_machine, usage.page_faults = usage.page_faults, ours
own = real(us)
growth = usage.Growth(own + 50_000_000, 1_000_000, own, usage.page_faults())
assert not growth.is_too_much(us) and not measured
held = bytearray(b"1") * 30_000_000
assert not growth.is_too_much(us) and not measured
del held
held = bytearray(b"1") * 30_000_000  # as many faults again, for no more memory
assert not growth.is_too_much(us) and len(measured) == 1
usage.page_faults = lambda: None  # where the kernel does not say
assert not growth.is_too_much(us) and len(measured) == 2
usage.page_faults = of_the_machine
growth = usage.Growth(own + 50_000_000, 1_000_000, real(us), usage.page_faults())
signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # so that a child's page faults are in no process's count
first, then, before_it = os.pipe(), os.pipe(), ours()
if (adder := os.fork()) == 0:
    more = bytearray(b"1") * 40_000_000
    if survivor := os.fork():
        os.write(first[1], survivor.to_bytes(4, "little"))
        os._exit(0)
    os.close(then[1])
    os.read(then[0], 1)
    os._exit(0)
survivor = int.from_bytes(os.read(first[0], 4), "little")
with contextlib.suppress(ChildProcessError):
    os.waitpid(adder, 0)
assert ours() - before_it < 5_000  # its memory was added by a process that no process's count has
assert growth.is_too_much([*us, survivor])
"""


def test_memory_is_measured_when_there_were_page_faults_enough_for_too_much():
    subprocess.run([sys.executable, "-c", GROWING], check=True)


# --- what was judged before ------------------------------------------------------------------------------------


@pytest.fixture
def judged(session, starters, monkeypatch, tmp_path):
    """Grade a notebook and return its verdicts, with the exercises that were judged for it."""
    calls = tmp_path / "calls"  # of several processes
    real = score.evaluate

    def evaluate(place, *rest, **more):
        with calls.open("a") as file:
            print(place.exercise.id, file=file)
        return real(place, *rest, **more)

    monkeypatch.setattr(score, "evaluate", evaluate)
    own = replace(session, cache=VerdictCache())
    submitted = tmp_path / "ada"
    submitted.mkdir()

    def run(tree, **changes):
        (submitted / "recurrence.ipynb").write_text(json.dumps(tree))
        calls.write_text("")
        graded = grade(replace(own, **changes), starters["plain"], "ada", submitted)
        return graded.verdicts, graded.public, sorted(calls.read_text().split())

    return run


def test_the_same_results_are_judged_once(judged, notebook):
    *first, calls = judged(notebook.tree)
    assert calls == ["rnn_forward", "rnn_step"]
    notebook.cell("rnn_step")["source"] += "\n# in other words"
    *second, calls = judged(notebook.tree)
    assert (second, calls) == (first, [])


def test_other_results_are_judged_anew(judged, notebook):
    judged(notebook.tree)
    notebook.cell("rnn_step")["source"] = RIGHT["rnn_step"].replace("np.tanh", "np.sin")
    *wrong, calls = judged(notebook.tree)
    assert "rnn_step" in calls
    assert calls.count("rnn_step") == 2  # and on public cases, which the student may see
    assert wrong == list(judged(notebook.tree, cache=VerdictCache())[:2])


def test_what_was_right_alone_is_judged_anew_where_it_builds_on_what_is_wrong(judged, notebook):
    """The verdict of an exercise depends on those that it needs."""
    notebook.cell("rnn_forward")["source"] = RIGHT["rnn_forward"].replace("np.tanh", "np.sin")
    judged(notebook.tree)
    notebook.cell("rnn_step")["source"] = RIGHT["rnn_step"].replace("np.tanh", "np.cos")
    *wrong, calls = judged(notebook.tree)
    assert wrong == list(judged(notebook.tree, cache=VerdictCache())[:2])
    assert calls.count("rnn_forward") == 2


def test_the_oldest_verdicts_are_forgotten(monkeypatch):
    monkeypatch.setattr(judging, "MAX_CACHED", 2)
    cache, calls = VerdictCache(), []
    for key in "abcab":
        cache(key, lambda key=key: calls.append(key))
    assert calls == list("abcab")
    cache("b", lambda: calls.append("again"))
    assert calls == list("abcab")


def test_a_traceback_holds_no_line_of_the_graders(hand_in, notebook):
    notebook.append("def f():\n    return 1 / 0\n\nf()")
    (output,) = hand_in(notebook.tree).outputs("1 / 0")
    assert output.traceback == [
        "line 4, in <module>: f()",
        "line 2, in f: return 1 / 0",
        "ZeroDivisionError: division by zero",
    ]


def test_workers_are_copies_of_what_this_process_would_import(tmp_path):
    """Not of a package of the same name that lies in the folder where the command is called."""
    (tmp_path / "grader").mkdir()
    (tmp_path / "grader" / "__init__.py").write_text("raise SystemExit('not this one')")
    script = tmp_path / "script.py"
    script.write_text(
        "import os, sys\n"
        "from concurrent.futures import ProcessPoolExecutor\n"
        "from multiprocessing import get_context\n"
        "def loaded():\n"
        "    return sys.modules['grader.grading.warm'].__file__, os.environ.get('OMP_NUM_THREADS')\n"
        "if __name__ == '__main__':\n"
        "    sys.path.pop(0)\n"
        "    from grader.grading import pool\n"
        "    before = set(os.environ)\n"
        "    pool.begin()\n"
        "    assert set(os.environ) - before <= {*pool.LIBRARY_THREADS}\n"
        "    with ProcessPoolExecutor(1, mp_context=get_context('forkserver')) as workers:\n"
        "        print(*workers.submit(loaded).result())\n"
    )
    own = str(Path(pool.__file__).parents[3])
    done = subprocess.run(
        [sys.executable, script], cwd=tmp_path, env=os.environ | {"PYTHONPATH": own}, capture_output=True, text=True
    )
    assert done.stdout == f"{Path(pool.__file__).with_name('warm.py')} 1\n", done.stderr
