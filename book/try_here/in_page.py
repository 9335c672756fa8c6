"""What runs a reader's code in their own page. `worker.js` imports it once, and calls `start`, `run` and `ask`.

The requests and answers are JSON. `unrolledPrint` is a function of the worker, which takes text that code prints.
"""

import ast
import builtins
import contextlib
import io
import json
import linecache
import os
import sys
import time
import traceback
import warnings
from pathlib import Path

DIARY = Path("/home/diary.jsonl")
LONGEST_OUTPUT = 100_000  # characters that one run may print
PIECE = 5_000  # characters that are passed on together at most
PAUSE = 0.1  # seconds between two pieces that are shorter
LONGEST_VALUE = 4_000  # characters of a last expression's text
_CUT = "\n[what was printed beyond this is not shown]\n"
_OURS = ("<your ", "<given ", "<set-up")


class _Output(io.TextIOBase):
    """What code prints, passed on up to a number of characters: at once if nothing was for a while, else in pieces, as
    a page that is told every letter of a loop would answer nothing else.
    """

    encoding = "utf-8"

    def __init__(self, say):
        self._say, self._room = say, LONGEST_OUTPUT
        self._waiting, self._size, self._said = [], 0, 0.0

    def writable(self):
        return True

    def write(self, text):
        if not isinstance(text, str):
            raise TypeError(f"write() argument must be str, not {type(text).__name__}")
        if text and self._room >= 0:
            cut = len(text) > self._room
            self._waiting.append(text[: self._room] + _CUT * cut)
            self._size += len(text)
            self._room -= len(text)
            if cut or self._size > PIECE or time.perf_counter() - self._said > PAUSE:
                self.flush()
        return len(text)

    def flush(self):
        if self._waiting:
            self._say("".join(self._waiting))
            self._waiting, self._size, self._said = [], 0, time.perf_counter()


class _NoExit(SystemExit):
    """Raised where code would have ended Python itself."""


def _no_exit(*_):
    raise _NoExit


def _no_input(*_):
    raise RuntimeError("input() cannot ask anything on a page. Write the value into the code instead.")


def start(diary):
    """Import what checks need, and take over a diary of earlier visits. Return the versions of Python and NumPy."""
    os.environ["UNROLLED_DIARY"] = str(DIARY)
    DIARY.write_text(diary, "utf-8")
    builtins.input, os._exit, os.abort = _no_input, _no_exit, _no_exit
    import numpy

    import grader.student  # noqa: F401

    return json.dumps({"python": sys.version.split()[0], "numpy": numpy.__version__})


def run(request, say):
    """Run code after what it builds on, and check the exercise if one is named."""
    asked = json.loads(request)
    shown = []
    answer = {"status": "", "problem": "", "shown": shown, "earned": 0, "points": 0}
    began = time.perf_counter()
    space = {"__name__": "__main__"}
    output = _Output(say)
    saved = sys.stdout, sys.stderr
    sys.stdout = sys.stderr = output
    try:
        warnings.resetwarnings()
        for name, code in asked["before"]:
            _before(name, code, space, output)
        try:
            _cell(f"<your {asked['name']}>", asked["code"], space, shown, output)
            if asked["exercise"]:
                _check(asked["exercise"], space, answer, shown)
        except BaseException as error:
            answer["status"], answer["problem"] = "raised", _told(error)
    finally:
        output.flush()
        sys.stdout, sys.stderr = saved
    answer["milliseconds"] = (time.perf_counter() - began) * 1000
    answer["diary"] = DIARY.read_text("utf-8") if DIARY.exists() else ""
    return json.dumps(answer)


def _before(name, code, space, output):
    """Run a set-up or an earlier function. What it prints is left out; its exceptions are told, but stop nothing."""
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            exec(_compiled(name, code), space)
    except BaseException as error:
        output.write(_told(error) + "\n")


def _compiled(name, code):
    linecache.cache[name] = len(code), None, code.splitlines(keepends=True), name
    return compile(code, name, "exec", dont_inherit=True)


def _cell(name, code, space, shown, output):
    """Run a cell, and show the value of its last expression as a notebook does."""
    tree = ast.parse(code, name)
    linecache.cache[name] = len(code), None, code.splitlines(keepends=True), name
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, name, "exec", dont_inherit=True), space)
    if last is None:
        return
    value = eval(compile(ast.Expression(last.value), name, "eval", dont_inherit=True), space)
    if value is None:
        return
    as_html = getattr(value, "_repr_html_", None)
    html = as_html() if callable(as_html) else None
    if isinstance(html, str):
        shown.append(html)
    else:
        output.write(repr(value)[:LONGEST_VALUE] + "\n")


def _check(exercise_id, space, answer, shown):
    from grader import student

    if exercise_id not in space:
        answer["status"] = "undefined"
        answer["problem"] = f"This code defines no {exercise_id}. Keep the line that begins with  def {exercise_id}("
        return
    report = student.check(exercise_id, space[exercise_id])
    shown.append(report._repr_html_())
    answer["text"] = repr(report)
    answer["status"] = report.verdict.status
    answer["earned"], answer["points"] = report.verdict.earned, report.verdict.points


def _told(error):
    """An exception as Python prints it, with those lines only that stand in the reader's own code or before it."""
    if isinstance(error, SystemExit):
        return "The code asked Python to end (sys.exit, exit or os._exit). Nothing has to end here: remove that line."
    if isinstance(error, KeyboardInterrupt):
        return "The code raised KeyboardInterrupt."
    described = traceback.TracebackException.from_exception(error)
    each = described
    while each is not None:
        each.stack = traceback.StackSummary.from_list(
            [frame for frame in each.stack if frame.filename.startswith(_OURS)]
        )
        each = each.__cause__ or each.__context__
    told = "".join(described.format()).rstrip()
    if isinstance(error, MemoryError):
        told += "\nThis is more memory than a page has. Smaller arrays will do: the cases of the checks are small."
    return told


def ask(what):
    """`progress` or `diary`, as HTML."""
    from grader import student

    return {"progress": student.progress, "diary": student.diary}[what]()._repr_html_()
