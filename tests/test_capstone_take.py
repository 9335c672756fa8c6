"""`take` and `waits_for`: a capstone uses the functions of the notebooks beside it, and says which are missing."""

import ast
import json
import os
import re
import subprocess
import sys

import pytest

import grader
from grader import capstone, take, waits_for
from tests.capstones import MANIFEST, ROOT, asked

UNREADABLE = "work.ipynb cannot be read as a notebook. Open it in Jupyter, save it, and run this cell again.\n"
NO_STEP = "work.ipynb defines no step. Open it and run the cell of step to see the error.\n"


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def cell(source, **metadata):
    return {"cell_type": "code", "source": source.splitlines(keepends=True), "metadata": metadata, "outputs": []}


def write(*cells, name="work"):
    """A notebook of these cells, each a source or a cell."""
    found = [cell(each) if isinstance(each, str) else each for each in cells]
    with open(f"{name}.ipynb", "w", encoding="utf-8") as file:
        json.dump({"cells": found, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}, file)


def waited(function):
    with pytest.raises(NotImplementedError) as raised:
        function()
    waits_for(raised.value)


# A notebook that can be run -------------------------------------------------------------------------------------------


def test_functions_and_classes_are_taken_and_nothing_is_printed(capsys):
    write("import math", "print('loud')", "def step(x):\n    return math.sqrt(x)", "class Model:\n    pass\n")
    step, model = take("work", "step", "Model")
    assert step(9.0) == 3
    assert model.__name__ == "Model"
    assert capsys.readouterr().out == ""


def test_texts_checks_and_long_cells_are_not_run(capsys):
    text = {"cell_type": "markdown", "source": "step = 1", "metadata": {}}
    write(
        "step = 0", text, "check(step := 2)", cell("step = 3", tags=["long"]), {**cell("two = 2"), "source": "two = 2"}
    )
    assert take("work", "step", "two") == [0, 2]
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    "ends",
    [
        "1 / 0",
        "def step(",
        "import sys\nsys.exit()",
        "raise SystemExit(1)",
        "raise BaseException('never mind')",
        "raise GeneratorExit",
        "def endless():\n    endless()\nendless()",
        "import sys\nsys.stdout = None\n1 / 0",
    ],
)
def test_a_cell_that_fails_is_skipped_and_a_function_that_is_missing_is_named(ends, capsys):
    write(f"{ends}\nstep = 1", "def other():\n    return 7")
    step, other = take("work", "step", "other")
    assert other() == 7
    assert capsys.readouterr().out == NO_STEP
    waited(step)
    assert capsys.readouterr().out == "This cell waits for your code.  step is still missing, in work.ipynb.\n"


def test_a_notebook_that_replaces_take_is_taken_from_all_the_same(monkeypatch):
    monkeypatch.setattr(capstone, "take", take)  # and set back at the end
    monkeypatch.setattr(grader, "take", take, raising=False)
    write("import grader.capstone\ngrader.take = grader.capstone.take = lambda *_: [max]", "step = 3")
    assert take("work", "step") == [3]
    assert capstone.take("work", "step") == [max], "only the student's own process sees it"


def test_an_interruption_by_the_student_is_not_swallowed():
    write("raise KeyboardInterrupt")
    with pytest.raises(KeyboardInterrupt):
        take("work", "step")


# A notebook that cannot -----------------------------------------------------------------------------------------------


def test_a_notebook_that_is_not_there_is_named(capsys):
    (step,) = take("absent", "step")
    told = "absent.ipynb is not in this folder. Put your notebook beside this one, and run this cell again.\n"
    assert capsys.readouterr().out == told
    waited(step)
    assert capsys.readouterr().out == "This cell waits for your code.  step is still missing, in absent.ipynb.\n"


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"PK\x03\x04",
        b"\xff\xfe",
        b"{}",
        b"[]",
        b"7",
        b'{"cells": 7}',
        b'{"cells": [7]}',
        b'{"cells": [{}]}',
        b'{"cells": [{"cell_type": "code"}]}',
        b'{"cells": [{"cell_type": "code", "source": [7]}]}',
        b'{"cells": [{"cell_type": "code", "source": "", "metadata": 7}]}',
        b'{"cells": ' + b"[" * 1_000_000,
        b'{"a":' * 1_000_000,
    ],
    ids=lambda content: content[:40].decode("latin-1") + f" {len(content)}",
)
def test_a_file_that_is_no_notebook_is_named(content, here, capsys):
    (here / "work.ipynb").write_bytes(content)
    (step,) = take("work", "step")
    assert capsys.readouterr().out == UNREADABLE
    waited(step)


@pytest.mark.skipif(sys.platform == "win32", reason="has no named pipes")
def test_what_is_no_file_is_not_waited_for(here, capsys):
    os.mkfifo(here / "pipe")
    (here / "folder").mkdir()
    for target in ("pipe", "folder", "/dev/zero"):
        (here / "work.ipynb").symlink_to(target)
        take("work", "step")
        assert capsys.readouterr().out == UNREADABLE, target
        (here / "work.ipynb").unlink()
    (here / "work.ipynb").symlink_to("nowhere")
    take("work", "step")
    assert capsys.readouterr().out.startswith("work.ipynb is not in this folder.")


# What a cell waits for ------------------------------------------------------------------------------------------------


def stub(name):
    return f"def {name}():\n    raise NotImplementedError('{name}: replace this line with your code')"


def test_the_notebook_of_a_function_that_is_called_by_another_is_named_too(capsys):
    write(stub("inner"), "def outer():\n    inner()")
    (outer,) = take("work", "outer")
    waited(outer)
    told = "This cell waits for your code.  inner: replace this line with your code, in work.ipynb.\n"
    assert capsys.readouterr().out == told


def test_a_function_that_is_given_again_elsewhere_belongs_where_it_was_asked_from(capsys):
    write(stub("first_asked"), "def given_again():\n    pass", name="later")
    write(stub("given_again"), name="earlier")
    for asked_for in ([("later", "first_asked"), ("earlier", "given_again")], [("later", "first_asked")]):
        for notebook, name in asked_for:
            take(notebook, name)
        waits_for("given_again: not the expected one.")
        assert capsys.readouterr().out.endswith("given_again: not the expected one, in earlier.ipynb.\n")


def test_a_reason_that_begins_with_no_function_is_printed_alone(capsys):
    waits_for(NotImplementedError("The hundred translations above come first"))
    assert capsys.readouterr().out == "This cell waits for your code.  The hundred translations above come first.\n"


# The capstones --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("chapter", MANIFEST.chapters, ids=lambda chapter: chapter.id)
def test_every_function_that_a_capstone_takes_is_an_exercise_of_the_notebook_that_it_names(chapter):
    exercises = {exercise.id: notebook.name for notebook in chapter.notebooks for exercise in notebook.exercises}
    assert asked(chapter.id).items() <= exercises.items()
    source = (ROOT / "solutions" / chapter.id / "capstone.py").read_text("utf-8")
    assert "\nfrom grader import take, waits_for\n" in source
    assert "waits for your code" not in source, "waits_for says so"
    opened = source[source.index("# The next two cells open") : source.index("# %%\n")]
    assert re.findall(r"\*(\w+)\*", opened) == list(dict.fromkeys(asked(chapter.id).values()))


# In the process of grading --------------------------------------------------------------------------------------------


def test_it_imports_nothing_else_of_the_package():
    tree = ast.parse((ROOT / "grader" / "capstone.py").read_text("utf-8"))
    found = [node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)]
    names = {node.module if isinstance(node, ast.ImportFrom) else node.names[0].name for node in found}
    assert {name.partition(".")[0] for name in names} <= sys.stdlib_module_names


ENTERED = """
import sys
def main():
    import grader
    from grader import check, diary, hint, progress, take
    print(sorted(grader.__all__))
    with open("work.ipynb", "w") as file:
        file.write('{"cells": [{"cell_type": "code", "source": "def step(): return 7"}]}')
    print(take("work", "step")[0](), check("rnn_step", None), hint("rnn_step"), progress(), diary())
    print(sorted(name for name in sys.modules if name.startswith("grader")))
    try:
        from grader import released_too
    except ImportError as error:
        print(type(error).__name__)
"""


def test_where_a_notebook_is_graded_take_works_and_the_other_names_do_nothing(here):
    (here / "entered.py").write_text(ENTERED)
    code = (
        "import runpy, sys; sys.path.insert(0, '.'); sys.argv = ['enter.py', 'entered'];"
        f"runpy.run_path({str(ROOT / 'grader' / 'inside' / 'enter.py')!r}, run_name='__main__')"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=here)
    names, called, modules, raised = ran.stdout.splitlines()
    assert names == str(sorted(grader.__all__))
    assert called == "7 None None None None"
    assert modules == "['grader', 'grader.capstone']"
    assert raised == "ImportError"
