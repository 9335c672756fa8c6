"""Notebooks of stateless functions are tested with fewer processes, and with the same results."""

import shutil
from dataclasses import replace

import pytest
from right_work import RIGHT

from grader.author.demo_class import demo_class
from grader.grading import grade
from grader.grading.session import open_session
from grader.running.runner import run_submission
from grader.running.sandbox import Sandbox
from grader.submission import plan
from grader.submission.bindings import bindings_of
from tests.small_course import ROOT

STATELESS = [
    "",
    '"""Words."""\npass',
    "import numpy as np\nfrom numpy import tanh, exp\nfrom math import sqrt\nfrom grader import check, hint, progress",
    "n, EPS, SIZES, nothing = 3, -1e-9, (2, (3, 4)), None",
    "a = b = 1",
    RIGHT["rnn_step"],
    RIGHT["rnn_forward"],
    "def f(x: np.ndarray, axis: int = -1, *, k=None) -> np.ndarray:\n    y = x.copy()\n    y[0] += 1\n    return y.T",
    "def f(x):\n    def g(y):\n        return y * f(x - 1)\n    return [g(a) for a in x if a.any()]",
    "def f(x):\n    with np.errstate(all='ignore'):\n        return (lambda a: a / 0)(x)",
    "def f(x):\n    try:\n        raise NotImplementedError(f'{x}')\n    except ValueError:\n        return None",
    "def f(x):\n    while True:\n        print(x)",
    "def f(rng):\n    return np.random.default_rng(0).random() + rng.random(3)",
]
WITHIN = [  # a state, but one of the notebook's own
    "x = []",
    "cache = {}",
    "weights = np.zeros(3)",
    "step = lambda x: x",
    "f(1)",
    "for i in range(3):\n    print(rng.random(3))",
    "def f(x, seen=[]):\n    return x",
    "@decorator\ndef f(x):\n    return x",
    "del np",
]
STATEFUL = [
    "import os",
    "import grader",
    "from grader import check, take",
    "rng.random",
    "np.random.random(3)",
    "np.random.seed(0)",
    "import numpy.random",
    "from numpy import *",
    "from numpy import random",
    "from .numpy import tanh",
    "class A:\n    pass",
    "np.pi = 3",
    "def f(x):\n    global count\n    count = 1",
    "def f(x):\n    n = 0\n    def g():\n        nonlocal n\n        n += 1\n    return g",
    "def f(x):\n    f.calls += 1",
    "def f(x):\n    f.__defaults__[0].append(x)",
    "def f(x):\n    import random\n    return random.random()",
    "def f(x):\n    return np.random.rand(3)",
    "def f(x):\n    np.seterr(all='raise')",
    "def f(x):\n    np.save('x.npy', x)",
    "def f(x):\n    return open('notes')",
    "def f(x):\n    return getattr(np, 'ran' + 'dom')",
    "def f(x):\n    exec('y = 1', globals())",
    "def f(x):\n    return [c for c in ().__class__.__base__.__subclasses__()]",
    "def f(x):\n    class A:\n        pass",
    "async def f(x):\n    return x",
]


@pytest.mark.parametrize("source", STATELESS)
def test_stateless(source):
    assert bindings_of(source).stateless
    assert bindings_of(source).stays_within


@pytest.mark.parametrize("source", WITHIN)
def test_a_state_of_the_notebook_s_own(source):
    assert not bindings_of(source).stateless
    assert bindings_of(source).stays_within


@pytest.mark.parametrize("source", STATEFUL)
def test_stateful(source):
    assert not bindings_of(source).stateless
    assert not bindings_of(source).stays_within


def shares(result):
    return {cell.exercise: cell.shares for cell in result.plan.cells if cell.exercise}


def test_which_forks_are_left_out(hand_in, notebook):
    assert shares(hand_in(notebook.tree)) == {"rnn_step": True, "rnn_forward": True}
    notebook.append("mine = rnn_step")  # not the release's: there is one fork, for both
    assert shares(hand_in(notebook.tree)) == {"rnn_step": True, "rnn_forward": False}
    notebook.insert(notebook.at("rnn_forward"), "table = {}")
    assert shares(hand_in(notebook.tree)) == {"rnn_step": False, "rnn_forward": False}


def test_each_function_sees_the_names_of_its_own_check(hand_in, notebook):
    """A helper that is defined further down is not there yet; one that is defined again later is still the old one."""
    notebook.cell("rnn_step")["source"] = "def rnn_step(x_t, h_prev, W_xh, W_hh, b_h):\n    return later(x_t)\n"
    notebook.cell("rnn_forward")["source"] += "\n\ndef later(x):\n    return x\n"
    result = hand_in(notebook.tree)
    assert shares(result)["rnn_step"]
    assert result.points == (0, 2)
    assert result["rnn_step"].cases[0].problems[0].text == "NameError: name 'later' is not defined"

    notebook.cell("rnn_step")["source"] = "a = 1\n" + RIGHT["rnn_step"].replace("+ b_h", "+ a * b_h")
    notebook.cell("rnn_forward")["source"] = "a = 2\n" + RIGHT["rnn_forward"]
    result = hand_in(notebook.tree)
    assert shares(result)["rnn_step"]
    assert result.points == (2, 2)


LOOP, EXIT, MEMORY = (
    ("while True:\n        pass", "timeout"),
    ("raise SystemExit", "error"),
    ("return [0] * 10**9", "error"),
)


@pytest.mark.parametrize(
    ("starter", "body", "status"),
    [("sandbox", *LOOP), ("sandbox", *EXIT), ("sandbox", *MEMORY), ("plain", *LOOP), ("plain", *EXIT)],
)
def test_what_one_exercise_does_to_a_shared_process_costs_it_alone(hand_in, notebook, starter, body, status):
    notebook.cell("rnn_step")["source"] = f"def rnn_step(x_t, h_prev, W_xh, W_hh, b_h):\n    {body}\n"
    result = hand_in(notebook.tree, seconds=1, starter=starter)
    assert shares(result)["rnn_step"]
    assert result.points == (0, 2)
    assert result["rnn_step"].status == status
    notebook.cell("rnn_step")["source"] = RIGHT["rnn_step"]
    notebook.cell("rnn_forward")["source"] = f"def rnn_forward(x, h_0, W_xh, W_hh, b_h):\n    {body}\n"
    result = hand_in(notebook.tree, seconds=1, starter=starter)
    assert result.points == (2, 0)
    assert result["rnn_forward"].status == status


@pytest.mark.parametrize(
    "chapter",
    [
        pytest.param("ch01_vanilla_rnn", marks=pytest.mark.system),
        pytest.param("ch02_bptt", marks=pytest.mark.slow),
    ],
)
def test_a_class_gets_the_same_with_a_process_a_notebook_and_a_fork_a_check(chapter, tmp_path, monkeypatch):
    """Right, wrong, crashing and unwritten work of every kind."""
    demo_class(ROOT, tmp_path, chapter, 17, seed=3)
    shutil.rmtree(tmp_path / "submitted" / "student01")  # an endless loop takes as long either way
    session = open_session(ROOT, tmp_path, chapter)
    shared = []
    real = plan._without_needless_forks

    def watched(cells, released):
        marked = real(cells, released)
        shared.extend(cell.shares for cell in marked if cell.exercise)
        return marked

    def one_by_one(requests, starter):
        return [run_submission(request, starter) for request in requests]

    found = []
    for way, run in ((watched, grade.run_together), (lambda cells, released: tuple(cells), one_by_one)):
        monkeypatch.setattr(plan, "_without_needless_forks", way)
        monkeypatch.setattr(grade, "run_together", run)
        with Sandbox(session.limits, hide=(ROOT, tmp_path)) as sandbox:
            graded = [
                grade.grade_or_fault(session, sandbox, folder.name, folder / chapter, sandboxed=True)
                for folder in sorted((tmp_path / "submitted").iterdir())
            ]
        found.append([replace(each, seconds={}) for each in graded])
    assert found[0] == found[1]
    assert sum(shared) > len(shared) / 4
