"""`grader check`: what it runs, what it prints, and its exit status."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest

from grader.work import run as module
from grader.work.printed import terminal_lines
from grader.work.python import without_magics
from grader.work.watch import changes
from tests.work.student_folder import FORWARD, RIGHT, ROOT, STEP, WITHOUT_BIAS, edited, exercises, released_cells


@pytest.fixture
def notebook(tmp_path):
    return exercises(tmp_path) / "recurrence.ipynb"


def statuses(diary):
    return [(entry["exercise"], entry["status"]) for entry in map(json.loads, diary.read_text().splitlines())]


def test_a_right_notebook(grader, notebook, diary):
    edited(notebook, RIGHT)
    before = notebook.read_bytes()
    status, output, error = grader("check", notebook)
    lines = output.splitlines()
    assert (status, error) == (0, "")
    assert lines[0] == "recurrence.ipynb: The vanilla RNN › The recurrence"
    assert lines[-3:] == [
        "✓ rnn_step      2 / 2   right on all 7 cases",
        "✓ rnn_forward   2 / 2   right on all 7 cases",
        "2 of 2 exercises right, 4 of 4 points.",
    ]
    assert statuses(diary) == [("rnn_step", "passed"), ("rnn_forward", "passed")]
    assert notebook.read_bytes() == before
    assert {path.name for path in notebook.parent.iterdir()} == {
        path.name for path in (ROOT / "exercises/ch01_vanilla_rnn").iterdir()
    }


def test_a_wrong_answer_is_reported_as_in_the_notebook(grader, notebook):
    from grader.checking.evaluate import evaluate, observe
    from grader.released import COURSE
    from grader.render.text import verdict_text

    edited(notebook, {"rnn_step": WITHOUT_BIAS})
    status, output, _ = grader("check", notebook)
    assert status == 1
    names = {}
    exec(f"import numpy as np\n{WITHOUT_BIAS}", names)
    checks, place = COURSE.checks("rnn_step"), COURSE.manifest.place("rnn_step")
    mistakes = COURSE.messages("rnn_step").mistakes
    assert verdict_text(evaluate(place, checks, mistakes, observe(checks, names["rnn_step"]))) in output
    assert "✗ rnn_forward   0 / 2   not implemented yet" in output
    assert "0 of 2 exercises right, 0 of 4 points." in output


def test_later_cells_run_after_an_error(grader, notebook):
    first = released_cells(notebook) + 1
    added = [
        "def f():\n    return 1 / 0\n\n\nf()",
        "print('still here')",
        "raise SystemExit",
        "def f(:",
        "print('last')",
    ]
    edited(notebook, RIGHT, added)
    status, output, _ = grader("check", notebook)
    assert status == 0  # the exercises are right
    assert f"Cell {first}, below rnn_forward, ended with ZeroDivisionError: division by zero\n" in output
    assert "    line 5 in <module>: f()\n    line 2 in f: return 1 / 0\n" in output
    assert f"Cell {first + 1}, below rnn_forward, printed:\n  │ still here\n" in output
    assert f"Cell {first + 2}, below rnn_forward, ended with SystemExit\n" in output
    assert f"Cell {first + 3}, below rnn_forward, ended with SyntaxError: invalid syntax\n" in output
    assert "    line 1: def f(:\n" in output
    assert "  │ last\n" in output


def test_endless_loops_are_stopped(grader, notebook, diary):
    first = released_cells(notebook) + 1
    endless = "def rnn_step(x_t, h_prev, W_xh, W_hh, b_h):\n    while True:\n        pass"
    edited(
        notebook,
        {"rnn_step": endless, "rnn_forward": FORWARD.replace("rnn_step(", "np.tanh(0 * ")},
        ["while True:\n    pass", "print('on')"],
    )
    status, output, _ = grader("check", notebook, "--seconds", "0.7")
    assert status == 1
    assert "✗ rnn_step      0 / 2   stopped: it ran longer than its time limit" in output
    assert f"Cell {first}, below rnn_forward, was stopped after 0.7 s. Does it contain a loop" in output
    assert "  │ on\n" in output
    assert statuses(diary)[0] == ("rnn_step", "timeout")


def test_a_sleep_is_stopped_too(grader, notebook):
    edited(notebook, RIGHT, ["import time\ntime.sleep(1000)"])
    status, output, _ = grader("check", notebook, "--seconds", "2")
    assert status == 0
    assert "was stopped after 2 s." in output


def test_a_loop_that_catches_everything_is_stopped_too(grader, notebook):
    endless = "        n = 0\n        while True:\n            n += 1\n"
    stubborn = f"while True:\n    try:\n{endless}    except BaseException:\n        pass"
    edited(notebook, RIGHT, [stubborn, "print('on')"])
    status, output, _ = grader("check", notebook, "--seconds", "1")
    assert status == 0
    assert "was stopped after 1 s. Does it contain a loop that never ends?" in output
    assert "  │ on\n" in output


def test_a_loop_that_ignores_the_interruption_ends_the_run(grader, notebook, monkeypatch):
    monkeypatch.setattr(module, "GRACE", 0.5)
    stubborn = "import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\nwhile True:\n    pass"
    first = released_cells(notebook) + 1
    edited(notebook, RIGHT, [stubborn, "print('never')"])
    status, output, _ = grader("check", notebook, "--seconds", "1")
    assert status == 1
    assert f"Stopped in cell {first}, below rnn_forward: it ran longer than its time limit and could" in output
    assert "The cells after it did not run." in output
    assert "✓ rnn_step      2 / 2" in output
    assert "never" not in output.replace("never ends", "")


def test_a_process_that_ends_is_reported(grader, notebook):
    first = released_cells(notebook) + 1
    edited(notebook, RIGHT, ["import os\nos.abort()"])
    status, output, _ = grader("check", notebook)
    assert status == 1
    assert f"The notebook's process ended in cell {first}, below rnn_forward." in output
    assert "Fatal Python error: Aborted" in output


def test_what_is_printed_cannot_control_the_terminal(grader, notebook):
    edited(
        notebook,
        RIGHT,
        [
            r"print('\x1b[31mred\x1b[0m \x1b]0;title\x07\x07\u202e\x9b2J héé')",
            "for i in range(5): print(i, end='\\r')",
            r"raise ValueError('\x1b[2J\x08gone')",
            r"{'\ud800'}",
        ],
    )
    status, output, _ = grader("check", notebook)
    assert status == 0
    assert "  │ red \ufffd\ufffd\ufffd2J héé\n" in output
    assert "  │ 4\n" in output
    assert "ended with ValueError: \ufffdgone\n" in output
    assert all(char.isprintable() or char == "\n" for char in output)


def test_much_output_is_cut(grader, notebook):
    edited(notebook, RIGHT, ["for i in range(100): print('line', i)", "print('x' * 3_000_000)"])
    output = grader("check", notebook)[1]
    assert "  │ line 5\n  │ … and 94 more lines; see all with --output\n" in output
    assert "[what was printed beyond this is not shown]" in output
    assert len(output) < 5_000
    assert "  │ line 99\n" in grader("check", notebook, "--output")[1]


def test_c_code_and_programs_that_print_do_not_mix_with_the_reports(grader, notebook):
    program = "subprocess.run([sys.executable, '-c', 'print(5)'])"
    code = f"import os, subprocess, sys\nos.write(1, b'{{}}\\n')\nos.write(2, b'raw\\n')\n{program}\nNone"
    edited(notebook, RIGHT, [code])
    status, output, _ = grader("check", notebook)
    assert status == 0
    assert "ended" not in output


def test_a_check_cell_that_is_gone_is_made_up_for(grader, notebook):
    edited(notebook, RIGHT | {"rnn_forward-check": "pass"}, dropped=["rnn_step-check"])
    status, output, _ = grader("check", notebook)
    assert status == 0
    assert "2 of 2 exercises right" in output


def test_a_module_that_is_not_installed(grader, notebook):
    """Only what needs it fails, as in grading."""
    edited(notebook, RIGHT, ["import no_such_module\nprint('next line')\nno_such_module.f()", "print('next cell')"])
    status, output, _ = grader("check", notebook)
    assert status == 0
    assert "ended with ModuleNotFoundError: No module named 'no_such_module'" in output
    assert "If the course needs this module, grader doctor says how to install it." in output
    assert "  │ next line\n" in output
    assert "  │ next cell\n" in output


def test_an_exercise_that_no_cell_defines(grader, notebook):
    edited(notebook, {"rnn_step": "def rnn_step(:"})
    status, output, _ = grader("check", notebook)
    assert status == 1
    assert "rnn_step   not defined: the cell that defines it is missing or has ended in an error" in output
    assert "✗ rnn_step      0 / 2   not checked" in output


def test_files_next_to_the_notebook_can_be_imported_and_read(grader, notebook):
    (notebook.parent / "helper.py").write_text(f"import numpy as np\n{STEP}\n")
    (notebook.parent / "data.txt").write_text("seven")
    edited(notebook, RIGHT | {"rnn_step": "from helper import rnn_step"}, ["print(open('data.txt').read())"])
    status, output, _ = grader("check", notebook)
    assert status == 0
    assert "  │ seven\n" in output


def test_a_file_named_grader_does_not_confuse_it(grader, notebook):
    (notebook.parent / "grader.py").write_text("raise ImportError('not this one')\n")
    edited(notebook, RIGHT)
    status, _, error = grader("check", notebook)
    assert (status, error) == (0, "Jupyter will import grader.py in place of the module of this name. Rename it.\n")


def test_a_capstone_is_not_taken_for_another_notebook(grader, notebook):
    status, output, _ = grader("check", notebook.with_name("capstone.ipynb"))
    assert status == 0
    assert output.startswith("capstone.ipynb: The vanilla RNN › Capstone")
    assert "Your instructor grades the answers to questions: why_it_writes." in output


MAGICS = [
    "%matplotlib inline\n!ls\nfiles = !ls\nx = 3\n%time x += 1\nprint(x, '4')",
    "%%html\n<b>no Python</b>",
    "len?",
    "%%time\nprint('timed')",
]


@pytest.mark.parametrize("with_ipython", [True, False])
def test_magics(grader, notebook, monkeypatch, with_ipython):
    if not with_ipython:
        monkeypatch.setattr("grader.work.python.find_spec", lambda name: None)
    first = released_cells(notebook) + 1
    edited(notebook, RIGHT, MAGICS)
    status, output, _ = grader("check", notebook)
    assert status == 0
    assert "ended with" not in output
    assert "  │ 4 4\n" in output
    assert "  │ timed\n" in output
    left = "; ".join(f"cell {first + more}, below rnn_forward" for more in range(4))
    left = f"magics and shell commands are left out of {left}."
    assert (left in output) != with_ipython


@pytest.mark.parametrize(
    ("source", "python"),
    [
        ("x = 1  # %time", "x = 1  # %time"),
        ("if x:\n    %pwd\n    y = %pwd\n", "if x:\n    pass\n    y = None\n"),
        ("%timeit -n 3 f()\n", "pass\n"),
        ("  %time f()", "  f()"),
        ("%%bash\nls", "get_ipython().run_cell_magic('bash', '', 'ls')\n"),
        ("%%capture out\nf()", "out = get_ipython().captured\nf()"),
        ("%%time\nx = %time 3\n", "\nx = None\n"),
        ("np.sum??", "pass"),
        ("this is no Python", "this is no Python"),
    ],
)
def test_magics_without_ipython(source, python):
    assert without_magics(source) == python


def test_what_a_terminal_shows():
    assert terminal_lines("a\r\nb\tc\x1b[1;31mred\x1b[m\x1b(B") == ["a", "b       cred\ufffd(B"]
    assert terminal_lines("10 %\r20 %\rdone\r") == ["done"]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("", "the file is empty"),
        ('{"cells": [', "the file is not JSON"),
        ("<<<<<<< HEAD\n{}\n=======\n{}\n>>>>>>> other\n", "it contains conflict markers of git (<<<<<<<)"),
        ('{"cells": []}', "This notebook contains no exercise of the course."),
    ],
)
def test_what_is_no_notebook_of_the_course(grader, tmp_path, content, words):
    (tmp_path / "a.ipynb").write_text(content)
    status, output, error = grader("check", "a.ipynb")
    assert (status, output) == (1, "")
    assert words in error


def test_a_notebook_that_does_not_exist(grader):
    status, _, error = grader("check", "none.ipynb")
    assert (status, error.count("none.ipynb")) == (1, 1)
    assert "Give a notebook of the folder exercises/CHAPTER" in error
    assert grader("check", "none.ipynb", "--watch") == (1, "", error)  # it is not waited for


@pytest.mark.parametrize("given", ["recurrence.ipynb", "recurrence"])
def test_a_notebook_of_another_folder_is_suggested(grader, notebook, given):
    status, output, error = grader("check", given)
    assert (status, output) == (1, "")
    assert error == f"There is no file {given}. Did you mean exercises/ch01_vanilla_rnn/recurrence.ipynb?\n"


def test_a_folder_instead_of_a_notebook(grader, notebook, tmp_path):
    error = grader("check", "exercises/ch01_vanilla_rnn")[2]
    assert error == (
        "exercises/ch01_vanilla_rnn is a folder. Give a notebook in it:  "
        "grader check exercises/ch01_vanilla_rnn/capstone.ipynb\n"
    )
    (tmp_path / "empty").mkdir()
    assert grader("check", "empty")[2] == "empty is a folder. Give a notebook.\n"


def test_what_to_do_next(grader, notebook):
    """The table at the end says it once; the notebook's own `progress()` is left to the notebook."""
    edited(notebook, {"rnn_step": STEP})
    output = grader("check", notebook)[1]
    assert output.endswith("Next: rnn_forward. If you are stuck:  grader hint rnn_forward\n")
    assert "not checked in this session" not in output


def test_the_hints_in_a_terminal(grader):
    from grader.released import COURSE

    for level, text in enumerate(COURSE.messages("rnn_step").hints, 1):
        status, output, _ = grader("hint", "rnn_step", level)
        assert status == 0
        assert " ".join(text.split()) in " ".join(output.split())
        assert (f"More:  grader hint rnn_step {level + 1}" in output) == (level < 3)
    assert grader("hint", "rnn_step", 4)[0] == 2
    status, _, error = grader("hint", "rnn_stp")
    assert (status, "There is no exercise 'rnn_stp'. Near it: rnn_step" in error) == (1, True)


@pytest.mark.system
@pytest.mark.skipif(sys.platform == "win32", reason="sends signals")
def test_ctrl_c_ends_everything(notebook, diary):
    edited(notebook, RIGHT, ["import os\nprint(os.getpid())\nopen('begun', 'w').close()\nwhile True:\n    pass"])
    begun = notebook.with_name("begun")
    command = [sys.executable, "-m", "grader", "check", str(notebook)]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    with subprocess.Popen(
        command, cwd=notebook.parent, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        for _ in range(600):
            if begun.exists():
                break
            time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        _, error = process.communicate(timeout=60)
    assert (process.returncode, error) == (130, "Stopped.\n")


# --- watching --------------------------------------------------------------------------------------------------


def test_a_saved_file_is_noticed_once_it_is_whole(tmp_path):
    path = tmp_path / "a.ipynb"
    path.write_text("1")
    steps = iter(
        [
            lambda: None,  # nothing new
            lambda: path.unlink(),  # saved by deleting and writing again
            lambda: path.write_text("12"),
            lambda: path.write_text("123"),  # still being written
            lambda: None,
            lambda: None,  # at rest: the second run
            lambda: path.write_text("1234"),
            lambda: None,  # the third run
        ]
    )
    taken = []

    def sleep(seconds):
        step = next(steps)
        taken.append(step)
        step()

    runs = changes(path, sleep)
    seen = []
    for _ in range(3):
        next(runs)
        seen.append((path.read_text(), len(taken)))
    assert seen == [("1", 0), ("123", 6), ("1234", 8)]


def test_watching_shows_what_is_new_and_ends_with_ctrl_c(grader, notebook, monkeypatch):
    edited(notebook, RIGHT, ["print('still here')"])
    wrong = STEP.replace("tanh", "sin")
    saved = iter([wrong, None, f"# the same\n{wrong}", None])

    def sleep(seconds):
        source = next(saved, "stop")
        if source == "stop":
            raise KeyboardInterrupt
        if source is not None:
            edited(notebook, {"rnn_step": source})

    monkeypatch.setattr("grader.cli.student.time.sleep", sleep)
    status, output, error = grader("check", notebook, "--watch")
    assert (status, error) == (130, "Stopped.\n")
    first, second, third, rest = output.split("Waiting for recurrence.ipynb to be saved. Ctrl-C ends.\n")
    assert rest == ""
    assert "recurrence.ipynb: The vanilla RNN" in first
    assert "still here" in first
    assert "2 of 2 exercises right, 4 of 4 points." in first
    assert second.startswith("rnn_step   0 / 2   not right yet")
    assert "still here" not in second
    assert "✗ rnn_step      0 / 2" in second
    assert second.endswith("Next: rnn_step. If you are stuck:  grader hint rnn_step\n")
    assert third == "".join(second.splitlines(keepends=True)[-2:])
