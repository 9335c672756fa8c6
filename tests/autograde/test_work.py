"""Student code of many kinds, run in a real child: the exact points of both exercises, and helpful messages."""

import json
import textwrap
import time
from dataclasses import replace

import pytest
from right_work import RIGHT

ARGS = "x_t, h_prev, W_xh, W_hh, b_h"
RESULT = "np.tanh(x_t @ W_xh + h_prev @ W_hh + b_h)"


def step(body):
    """rnn_step with this body."""
    return f"def rnn_step({ARGS}):\n{textwrap.indent(body, '    ')}\n"


def test_all_right(hand_in, notebook):
    result = hand_in(notebook.tree)
    assert result.points == (2, 2)
    assert (result.outcome.children, result.outcome.faults, result.plan.remarks) == (1, [], ())
    assert all(verdict.status == "passed" for verdict in result.verdicts.values())
    assert "●" in result.outputs("tenth = 2")[0].text  # the last cell drew its picture


def test_nothing_done(hand_in, session):
    from grader.cells import notebook_bytes

    result = hand_in(notebook_bytes(session.released["recurrence"]))
    assert result.points == (0, 0)
    assert all(verdict.status == "unimplemented" for verdict in result.verdicts.values())
    assert "not implemented yet" in result.shown("rnn_step")


# --- one function that is not as it should be; the other exercise scores all the same ------------------------

FUNCTIONS = {
    # what: (source, points, status, diagnosis, words that the student reads)
    "wrong arity": ("def rnn_step(x_t):\n    return x_t", 0, "error", None, "exception"),
    "no function": ("rnn_step = 3", 0, "error", None, "exception"),
    "None": (step(f"result = {RESULT}"), 0, "failed", None, "returns None"),
    "a list": (step(f"return {RESULT}.tolist()"), 0, "failed", None, "wrong type"),
    "NaN": (step(f"return {RESULT} * np.nan"), 0, "failed", None, "not finite"),
    "wrong shape": (step(f"return {RESULT}[None]"), 0, "failed", "after: squeeze of axis=-3 missing", "wrong shape"),
    "float32": (step(f"return {RESULT}.astype(np.float32)"), 0, "failed", "float32", "float32"),
    "a view": (step(f"return np.asfortranarray({RESULT})[:, ::-1][:, ::-1]"), 2, "passed", None, "2 / 2"),
    "its input": (step("return h_prev[:]"), 0, "failed", "after: is h_prev", "values differ"),
    "changes its input": (
        step(f"result = {RESULT}\nh_prev[:] = result\nreturn result"),
        0,
        "failed",
        None,
        "changes one of its inputs",
    ),
    "inputs changed and put back": (step(f"h_prev += 1\nh_prev -= 1\nreturn {RESULT}"), 0, "failed", None, "input"),
    "an exception": (step("raise ValueError('not my day')"), 0, "error", None, "exception"),
    "recursion for ever": (step(f"return rnn_step({ARGS})"), 0, "error", None, "exception"),
    "SystemExit": (step("raise SystemExit"), 0, "error", None, "exception"),
    "exit()": (step("exit()"), 0, "error", None, "exception"),
    "quit()": (step("quit()"), 0, "error", None, "exception"),
    "KeyboardInterrupt": (step("raise KeyboardInterrupt"), 0, "error", None, "exception"),
    "input()": (step(f"input('go on? ')\nreturn {RESULT}"), 2, "passed", None, "2 / 2"),
    "input() without end": (step("while not input('go on? '):\n    pass"), 0, "error", None, "exception"),
    "os._exit": (step("import os\nos._exit(0)"), 0, "error", None, "process ended"),
    "abort": (step("import os\nos.abort()"), 0, "error", None, "process ended"),
    "SIGKILL": (step("import os\nos.kill(os.getpid(), 9)"), 0, "error", None, "exception"),  # it is not permitted
    "kills the notebook's process": (
        "import os\nme = os.getpid()\n"
        + step(f"try:\n    os.kill(me, 9)\nexcept PermissionError:\n    return {RESULT}"),
        2,
        "passed",
        None,
        "2 / 2",
    ),
    "a megabyte printed": (step(f"print('x' * 1_000_000)\nreturn {RESULT}"), 2, "passed", None, "2 / 2"),
    "a huge result": (step("return np.zeros((2000, 2000))"), 0, "failed", None, "wrong type"),
    "a million values": (step("return [0] * 1_000_000"), 0, "failed", None, "wrong type"),
    "contains itself": (step("a = []\na.append(a)\nreturn a"), 0, "failed", None, "wrong type"),
    "a generator": (step(f"yield {RESULT}"), 0, "failed", None, "wrong type"),
    "a lone surrogate": (step("return '\\ud800'"), 0, "failed", None, "wrong type"),
    "raises a lone surrogate": (step("raise ValueError('\\ud800')"), 0, "error", None, "exception"),
    "an object that lies": (
        "class Liar(np.ndarray):\n    __eq__ = lambda self, other: True\n" + step(f"return ({RESULT} * 0).view(Liar)"),
        0,
        "failed",
        None,
        "",
    ),
    "a mistake": (step("return np.tanh(x_t @ W_xh + h_prev @ W_hh)"), 0, "failed", "no_bias", "b_h"),
}


@pytest.mark.parametrize("what", FUNCTIONS)
def test_a_function(hand_in, notebook, what):
    source, points, status, diagnosis, words = FUNCTIONS[what]
    notebook.cell("rnn_step")["source"] = source
    result = hand_in(notebook.tree)
    assert result.points == (points, 2)
    verdict = result["rnn_step"]
    assert (verdict.status, verdict.diagnosis and verdict.diagnosis.id) == (status, diagnosis)
    assert words in result.shown("rnn_step")
    assert 'hint("rnn_step")' in result.shown("rnn_step") or verdict
    calls_it_too = 1  # the released notebook's last cell
    assert result.outcome.children == 1 + (calls_it_too if words == "process ended" else 0)


def test_a_function_that_never_ends_costs_its_own_time_alone(hand_in, notebook):
    del notebook.cells[notebook.at("rnn_forward-check") + 1 :]
    notebook.cell("rnn_forward")["source"] = (
        "def rnn_forward(x, h_0, W_xh, W_hh, b_h):\n    while True:\n        pass\n"
    )
    result = hand_in(notebook.tree, seconds=1)
    assert result.points == (2, 0)
    assert result["rnn_forward"].status == "timeout"
    assert "rnn_forward was stopped after 1 s of running time. Does it contain a loop that never ends?" in result.shown(
        "rnn_forward"
    )
    assert result.outcome.children == 2  # both were to be examined by one process
    assert result.outcome.running < 4


@pytest.mark.parametrize("starter", ["sandbox", "plain"])
def test_an_exercise_may_take_longer_than_the_others(hand_in, notebook, session, monkeypatch, starter):
    monkeypatch.setitem(session.cases, "rnn_forward", replace(session.cases["rnn_forward"], seconds=20.0, _bytes={}))
    del notebook.cells[notebook.at("rnn_forward-check") + 1 :]
    waits = "def {0}(**inputs):\n    import time\n    time.sleep(0.5)\n    return right_{0}(**inputs)\n"
    for name in RIGHT:
        right = RIGHT[name].replace(f"def {name}(", f"def right_{name}(")
        notebook.cell(name)["source"] = f"{right}\n{waits.format(name)}"
    result = hand_in(notebook.tree, seconds=1.5, starter=starter)
    assert result.points == (0, 2)
    assert result["rnn_step"].status == "timeout"


def test_a_function_that_never_ends_comes_first(hand_in, notebook):
    notebook.cell("rnn_step")["source"] = step("while True:\n    pass")
    result = hand_in(notebook.tree, seconds_per_exercise=0.5, seconds_per_cell=1)
    assert result.points == (0, 2)
    assert result["rnn_step"].status == "timeout"
    ended = result.outputs("tenth = 2")[0]  # this cell of the release calls rnn_step, and so has no end either
    assert ended.evalue == "This cell did not finish: stopped after 1 s of running time."


def test_an_exercise_that_builds_on_a_wrong_one(hand_in, notebook):
    notebook.cell("rnn_step")["source"] = step(f"return 2 * {RESULT}")
    notebook.cell("rnn_forward")["source"] = (
        "def rnn_forward(x, h_0, W_xh, W_hh, b_h):\n"
        "    h, h_t = [], h_0\n"
        "    for t in range(x.shape[1]):\n"
        "        h_t = rnn_step(x[:, t], h_t, W_xh, W_hh, b_h)\n"
        "        h.append(h_t)\n"
        "    return np.stack(h, axis=1)\n"
    )
    result = hand_in(notebook.tree)
    assert result.points == (0, 0)
    assert result["rnn_forward"].diagnosis.id == "needs"


# --- cells of the student's own, and what they do ------------------------------------------------------------

CELLS = {
    # what: (source, a text that stands in the cell's outputs)
    "a megabyte": ("print('x' * 1_000_000)", "was not kept"),
    "SystemExit": ("raise SystemExit", "SystemExit"),
    "exit()": ("exit()", "SystemExit"),
    "quit()": ("quit()", "SystemExit"),
    "os._exit": ("import os; os._exit(0)", "This cell did not finish: the Python process ended."),
    "SIGABRT": ("import os; os.abort()", "This cell did not finish: the Python process ended."),
    "SIGKILL": ("import os; os.kill(os.getpid(), 9)", "PermissionError"),
    "a loop": ("while True: pass", "This cell did not finish: stopped after 1 s of running time."),
    "recursion": ("def f(): f()\nf()", "RecursionError"),
    "%timeit": ("%timeit 1 + 1\nprint('went on')", "went on"),
    "%time": ("%time seven = 7\nprint(seven, _ if False else '')", "7"),
    "x = %time": ("x = %time 3 + 4\nx", "7"),
    "%%time": ("%%time\nseven = 7\nprint(seven)", "7"),
    "%%timeit": ("%%timeit\nbreak this", None),
    "%%html": ("%%html\n<b>no Python</b>", None),
    "!ls": ("!ls\nfiles = !ls\nprint(len(files))", "0"),
    "?np": ("?np", None),
    "np?": ("np.tanh??", None),
    "%matplotlib": ("%matplotlib inline\nprint('on')", "on"),
    "input()": ("name = input('name: ')\nprint([name])", "['']"),
    "input() without end": ("while not input('name: '):\n    pass", "write the value into the cell"),
    "unicode": ("größe = 'żółw 亀 🐢'\nprint(größe)", "żółw 亀 🐢"),
    "surrogates in a string": ("print('\\ud800')", "?"),
    "a syntax error": ("def f(:\n    pass", "SyntaxError"),
    "an indented cell": ("    print('shifted')", "shifted"),
    "a null byte": ("x = 'a\0b'", "null"),
    "nested too deeply": ("(" * 3000 + ")" * 3000, "SyntaxError"),
    "minus, very often": ("-" * 50_000 + "1", "Error"),
    "a bad escape": ("print('\\d')", "\\d"),
    "a repr that fails": ("class A:\n    def __repr__(self): raise ValueError('no repr')\nA()", "no repr"),
    "display": ("display([1, 2])", "[1, 2]"),
    "ANSI and HTML": ("print('\\x1b[31m<script>alert(1)</script>')", "<script>"),
}


@pytest.mark.parametrize("what", CELLS)
def test_a_cell_of_ones_own(hand_in, notebook, what):
    source, words = CELLS[what]
    notebook.insert(notebook.at("rnn_step"), source)
    result = hand_in(notebook.tree, seconds=1)
    assert result.points == (2, 2)
    cell = result.notebook.cells[notebook.at("rnn_step") - 1]
    assert cell.source == source
    assert (words in json.dumps(cell.outputs, ensure_ascii=False).replace("\\\\", "\\")) if words else not cell.outputs


def test_lone_surrogates_in_a_notebook_file(hand_in, notebook):
    notebook.insert(notebook.at("rnn_step"), "print('half: \ud800')  # \udfff")
    notebook.cells.insert(
        0,
        {"cell_type": "markdown", "source": "\ud800", "metadata": {"\udfff": "\ud800"}, "attachments": {"\ud800": {}}},
    )
    notebook.cell("rnn_step")["metadata"]["nbgrader"]["comment"] = "\ud800"
    assert hand_in(notebook.tree).points == (2, 2)


@pytest.mark.parametrize(
    "source",
    [
        "def check(*args):\n    raise SystemExit",
        "check = 3",
        "hint = progress = None",
        "def print(*args):\n    raise ValueError",
        "import builtins\nbuiltins.print = builtins.input = None",
        "import grader\ngrader.check = grader.submission = None",
        "import sys\nsys.stdout = sys.stderr = None",
        "import sys\nsys.modules.clear()",
        "import sys\nsys.setrecursionlimit(60)",
        "import os, tempfile\nos.chdir(tempfile.mkdtemp())\nos.environ.clear()",
        "import warnings\nwarnings.simplefilter('error')",
        "import threading, time\nthreading.Thread(target=lambda: time.sleep(60)).start()",
        "import subprocess\nsubprocess.Popen(['sleep', '60'])",
        "import signal\nsignal.signal(signal.SIGALRM, signal.SIG_IGN)\nsignal.signal(signal.SIGCHLD, signal.SIG_IGN)",
        "get_ipython().run_line_magic('load_ext', 'autoreload')\nget_ipython().system('ls')",
    ],
)
def test_what_a_notebook_may_do_to_its_process_without_harm(hand_in, notebook, source):
    notebook.insert(notebook.first() + 1, source)
    result = hand_in(notebook.tree)
    assert result.points == (2, 2)
    assert result.outcome.children == 1
    assert result.outcome.running < 4


def test_a_notebook_that_redefines_numpy_harms_itself_alone(hand_in, notebook):
    notebook.insert(notebook.at("rnn_forward"), "np = None")
    result = hand_in(notebook.tree)
    assert result.points == (0, 0) or result.points == (2, 0)
    assert result["rnn_step"].status == "passed"  # it was driven before
    assert result["rnn_forward"].status == "error"


def test_plots(hand_in, notebook):
    notebook.append("import matplotlib.pyplot as plt\nplt.plot([1, 2])\nplt.show()\nprint('drawn')")
    result = hand_in(notebook.tree, seconds=20)
    assert result.points == (2, 2)
    assert "drawn" in result.outputs("plt.plot")[0].text


def test_helpers_in_cells_of_ones_own(hand_in, notebook):
    notebook.insert(notebook.first() + 1, "def affine(a, W):\n    return a @ W")
    notebook.cell("rnn_step")["source"] = step("return np.tanh(affine(x_t, W_xh) + affine(h_prev, W_hh) + b_h)")
    assert hand_in(notebook.tree).points == (2, 2)


def test_a_loop_in_a_late_cell_of_ones_own(hand_in, notebook):
    notebook.append("while True:\n    pass")
    notebook.append("print('the last')")
    result = hand_in(notebook.tree, seconds=1)
    assert result.points == (2, 2)
    assert result.outcome.children == 2
    assert result.outputs("the last")[0].text == "the last\n"


def test_a_notebook_may_not_take_for_ever(hand_in, notebook):
    """Many cells, each just within its own limit."""
    for number in range(20):
        notebook.insert(notebook.at("rnn_step"), f"import time\ntime.sleep(0.9)  # {number}")
    started = time.monotonic()
    result = hand_in(notebook.tree, seconds=1, seconds_per_notebook=3)
    assert time.monotonic() - started < 30
    assert result.points == (0, 0)
    assert any(fault.kind == "timeout" for fault in result.outcome.faults)


def test_more_deadly_cells_than_children(hand_in, notebook, monkeypatch):
    from grader.running import trial

    monkeypatch.setattr(trial, "MAX_CHILDREN", 2)
    for number in range(3):
        notebook.append(f"import os; os._exit({number})")
    result = hand_in(notebook.tree)
    assert result.points == (2, 2)
    assert result.outputs("_exit(1)")[0].evalue == "This cell did not finish: the Python process ended."
    assert result.outputs("_exit(2)")[0].evalue == "This cell was not run."


def test_more_deadly_cells_than_children_before_the_exercises(hand_in, notebook, monkeypatch):
    from grader.running import trial

    monkeypatch.setattr(trial, "MAX_CHILDREN", 1)
    notebook.insert(notebook.at("rnn_forward"), "import os; os._exit(0)")
    result = hand_in(notebook.tree)
    assert result.points == (2, 0)
    assert "stopped before rnn_forward was checked" in result.shown("rnn_forward")


# --- Run all: what stands above the check counts -------------------------------------------------------------


def test_defined_again_above_the_check(hand_in, notebook):
    notebook.cell("rnn_step")["source"] = step("return None")
    notebook.insert(notebook.at("rnn_step-check"), RIGHT["rnn_step"])
    assert hand_in(notebook.tree).points == (2, 2)


@pytest.mark.parametrize("above", [RIGHT["rnn_step"], step("raise NotImplementedError")])
def test_defined_again_below_the_check(hand_in, notebook, above):
    notebook.cell("rnn_step")["source"] = above
    notebook.append(step("return None") if above == RIGHT["rnn_step"] else RIGHT["rnn_step"])
    result = hand_in(notebook.tree)
    assert result.points == (2 if above == RIGHT["rnn_step"] else 0, 2)
    assert "`rnn_step` is defined again below its check cell; the definition above it was graded" in result.remarks


def test_changed_from_afar_before_the_check(hand_in, notebook):
    """The function sees the notebook as it is at its check, not as it is at the end."""
    notebook.cell("rnn_step")["source"] = step(f"return factor * {RESULT}")
    notebook.insert(notebook.at("rnn_step-check"), "factor = 1")
    notebook.append("factor = 2")
    assert hand_in(notebook.tree).points == (2, 2)


def test_the_cell_goes_on_and_fails_after_the_definition(hand_in, notebook):
    notebook.cell("rnn_step")["source"] += "\nrnn_step(1)"
    result = hand_in(notebook.tree)
    assert result.points == (2, 2)
    assert result.outputs("rnn_step(1)")[0].ename == "TypeError"


@pytest.mark.parametrize(
    ("source", "why"),
    [
        (RIGHT["rnn_step"].replace("):", ")"), "its cell stopped with SyntaxError: expected ':'"),
        ("1 / 0\n" + RIGHT["rnn_step"], "stopped with ZeroDivisionError: division by zero"),
        ("while True: pass\n" + RIGHT["rnn_step"], "stopped after 1 s of running time"),
        ("import os; os._exit(0)\n" + RIGHT["rnn_step"], "the Python process ended"),
        (RIGHT["rnn_step"].replace("rnn_step", "rnnstep"), "Define a function with exactly this name"),
        ("", "Define a function with exactly this name"),
    ],
)
def test_a_function_that_is_not_defined(hand_in, notebook, source, why):
    notebook.cell("rnn_step")["source"] = source
    result = hand_in(notebook.tree, seconds=1)
    assert result.points == (0, 2)
    assert result["rnn_step"].status == "error"
    assert "rnn_step is not defined" in result.shown("rnn_step")
    assert why.removeprefix("its cell ") in result.shown("rnn_step")


def test_a_cell_tagged_long_is_not_run_and_says_so(hand_in, notebook):
    notebook.append("while True: pass  # long")
    notebook.cells[-1]["metadata"] = {"tags": ["long", "mine"]}
    notebook.append("print('after it')")
    result = hand_in(notebook.tree, seconds=1)
    assert result.points == (2, 2)
    assert not result.outcome.faults
    (output,) = result.outputs("# long")
    assert output.evalue == "This cell was not run."
    assert result.outputs("after it")[0].text == "after it\n"


def test_an_exercise_is_run_whatever_its_tags(hand_in, notebook):
    notebook.cell("rnn_step")["metadata"]["tags"] = ["long"]
    assert hand_in(notebook.tree).points == (2, 2)


def test_odd_tags_are_ignored(hand_in, notebook):
    for tags in ("long", 3, [["long"]], None):
        notebook.append("print('run')")
        notebook.cells[-1]["metadata"] = {"tags": tags}
    assert hand_in(notebook.tree).text.count("run\\n") == 4
