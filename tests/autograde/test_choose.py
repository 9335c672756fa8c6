"""Which of a submission's files is which notebook: by what stands in them, whatever they are called."""

import json
import re
from pathlib import Path
from types import SimpleNamespace

import pytest

from grader.cells import grade_id, notebook_bytes
from grader.grading.grade import grade
from grader.grading.report import remark_line
from grader.manifest import load_manifest
from grader.submission import choose as module
from grader.submission.bindings import lacks_code
from grader.submission.choose import choose
from grader.submission.notebook import read_notebook
from grader.submission.readable import UnreadableError
from tests.loops import for_each

ROOT = Path(__file__).parents[2]
CHAPTERS = load_manifest(ROOT / "course.toml").chapters


@pytest.fixture(scope="module", params=[chapter.id for chapter in CHAPTERS])
def every(request):
    """A chapter of the course with its released notebooks."""
    chapter = next(chapter for chapter in CHAPTERS if chapter.id == request.param)
    folder = ROOT / "exercises" / chapter.id
    return SimpleNamespace(
        chapter=chapter, released={n.name: read_notebook(folder / f"{n.name}.ipynb") for n in chapter.notebooks}
    )


def unnamed(notebook):
    for cell in notebook.cells:
        cell.metadata.pop("nbgrader", None)


def functions_alone(notebook):
    notebook.cells = [cell for cell in notebook.cells if cell.source.startswith(("def ", "class "))] or notebook.cells
    unnamed(notebook)


def merged(notebook):
    functions = [cell for cell in notebook.cells if cell.source.startswith("def ")]
    if functions:
        functions[0].source = "\n\n".join(cell.source for cell in functions)
        notebook.cells = [cell for cell in notebook.cells if cell not in functions[1:]]


@pytest.mark.parametrize("change", [lambda notebook: None, unnamed, merged, functions_alone])
@pytest.mark.parametrize(
    "rename",
    [
        "{} (1)",
        "ann_{}",
        lambda name, names: name.upper(),
        lambda name, names: f"{'abcdefghij'[names.index(name)]}",
        lambda name, names: names[names.index(name) - 1],  # the name of another notebook
    ],
)
def test_all_notebooks_renamed_at_once(every, tmp_path, rename, change):
    names = list(every.released)
    due = {}
    for name, released in every.released.items():
        path = tmp_path / (f"{rename.format(name) if isinstance(rename, str) else rename(name, names)}.ipynb")
        due[name] = path.name
        path.write_bytes(notebook_bytes(released))
        notebook = read_notebook(path)
        change(notebook)
        path.write_bytes(notebook_bytes(notebook))
    chosen = choose(tmp_path, every.chapter, every.released)
    assert {name: each.file for name, each in chosen.items()} == due
    exchanged = {*due.values()} == {f"{name}.ipynb" for name in names}  # nothing to be done
    assert all(len(each.remarks) == (not exchanged) for each in chosen.values())


def test_notebooks_under_their_names(every, tmp_path):
    for name, released in every.released.items():
        (tmp_path / f"{name}.ipynb").write_bytes(notebook_bytes(released))
    chosen = choose(tmp_path, every.chapter, every.released)
    assert {name: each.file for name, each in chosen.items()} == {name: f"{name}.ipynb" for name in every.released}
    assert not any(each.remarks for each in chosen.values())


# --- one notebook --------------------------------------------------------------------------------------------


@pytest.fixture
def released(session):
    return notebook_bytes(session.released["recurrence"])


@pytest.fixture
def half(session, right):
    """The second exercise alone is written."""
    tree = json.loads(json.dumps(right))
    for cell, stub in zip(tree["cells"], session.released["recurrence"].cells, strict=True):
        if grade_id(stub) == "rnn_step":
            cell["source"] = stub.source
    return json.dumps(tree).encode()


@pytest.fixture
def graded(session, starters, tmp_path):
    def run(files):
        for name, content in files.items():
            (tmp_path / name).write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
        graded = grade(session, starters["plain"], "ada", tmp_path)
        return graded.earned, list(map(remark_line, graded.remarks))

    return run


OF_TWO = "recurrence: several versions: {} is the most complete and was graded; not graded: {}"


@pytest.mark.parametrize(
    "name", ["recurrence (1).ipynb", "Recurrence.ipynb", "ann_recurrence.ipynb", "recurrence.ipynb.txt", "x.IPYNB"]
)
def test_another_name(graded, right, name):
    words = f"there is no file recurrence.ipynb; {name} was graded instead"
    assert graded({name: right, "notes.ipynb": {"cells": []}}) == (4, [words])


def test_emptied_cells_are_not_written(graded, right, half):
    emptied = json.loads(json.dumps(right))
    for cell in emptied["cells"]:
        if cell["metadata"].get("nbgrader", {}).get("solution"):
            cell["source"] = ""
    words = OF_TWO.format("final.ipynb", "recurrence.ipynb")
    assert graded({"recurrence.ipynb": emptied, "final.ipynb": half}) == (2, [words])


STEP = "def rnn_step(x_t, h_prev, W_xh, W_hh, b_h):\n"
UNWRITTEN = [
    "    pass",
    "    ...",
    '    """Not yet."""',
    "    return",
    "    return None",
    "    raise NotImplementedError",
]
UNWRITTEN += [
    "    raise NotImplementedError()",
    "    raise NotImplementedError('later') from None",
    "    # later\n    pass",
]
UNWRITTEN += ['    """Not yet."""\n    x = 1\n    raise NotImplementedError', "    pass\n    ...\n    return None"]


@for_each("body", UNWRITTEN)
def test_a_stub_in_other_words_is_not_written(body):
    """`pass` and a bare `raise NotImplementedError` counted, so that the file with them was graded."""
    assert lacks_code(STEP + body, "rnn_step")
    assert lacks_code(STEP + "    return 1\n\n\n" + STEP + body, "rnn_step")  # the last definition counts
    assert not lacks_code(STEP + body + "\n\n\n" + STEP + "    return x_t", "rnn_step")
    assert not lacks_code(STEP + "    return x_t", "rnn_step")


GIVEN = "class Net(nn.Module):\n    def __init__(self):\n        self.a = 1\n\n    def forward(self, x):\n"
GIVEN += "        y = x\n"


def test_a_part_that_is_given_is_not_written():
    stub = GIVEN + "        raise NotImplementedError('Net: replace this line with your code')"
    for end in ("", "        pass", "        return None", "        raise NotImplementedError", stub[len(GIVEN) :]):
        assert lacks_code(GIVEN + end, "Net", stub)
    assert not lacks_code(GIVEN + "        return y", "Net", stub)
    assert not lacks_code(GIVEN + "        return y\n\n    def extra(self):\n        pass", "Net", stub)
    assert not lacks_code("Net = make()", "Net", stub)
    assert not lacks_code("class Net(:", "Net", stub)
    assert not lacks_code(STEP + "    return " + "-" * 5000 + "1", "rnn_step", STEP + "    raise NotImplementedError")


@pytest.mark.parametrize("body", ["    pass", "    raise NotImplementedError"])
def test_the_file_with_stubs_in_other_words(graded, right, half, body):
    emptied = json.loads(json.dumps(right))
    for cell in emptied["cells"]:
        if cell["metadata"].get("nbgrader", {}).get("solution"):
            cell["source"] = re.match(r"def \w+\(.*?\):\n", cell["source"])[0] + body
    assert graded({"recurrence.ipynb": emptied, "final.ipynb": half}) == (
        2,
        [OF_TWO.format("final.ipynb", "recurrence.ipynb")],
    )


@pytest.mark.parametrize("empty", ["released", b'{"cells": []}', b"", b"not JSON"])
def test_an_empty_notebook_under_the_right_name(graded, right, released, empty):
    files = {"recurrence.ipynb": released if empty == "released" else empty, "final.ipynb": right}
    told = [] if empty == "released" else [OF_TWO.format("final.ipynb", "recurrence.ipynb")]
    assert graded(files) == (4, told)


def test_the_file_with_most_exercises(graded, right, half, released):
    files = {"recurrence.ipynb": half, "b.ipynb": right, "c.ipynb": released}
    assert graded(files) == (4, [OF_TWO.format("b.ipynb", "recurrence.ipynb")])


def test_a_copy_with_fewer_exercises(graded, right, half):
    assert graded({"recurrence.ipynb": right, "a.ipynb": half}) == (4, [OF_TWO.format("recurrence.ipynb", "a.ipynb")])


def test_a_tie_goes_to_the_right_name_and_then_to_the_first(graded, right, tmp_path):
    other = json.loads(json.dumps(right).replace("np.stack(h, axis=1)", "np.stack(h, axis=0)"))
    files = {"recurrence.ipynb": right, "a.ipynb": other}
    assert graded(files) == (4, [OF_TWO.format("recurrence.ipynb", "a.ipynb")])
    (tmp_path / "recurrence.ipynb").rename(tmp_path / "b.ipynb")
    absent = "there is no file recurrence.ipynb; a.ipynb was graded instead"
    assert graded({}) == (2, [absent, OF_TWO.format("a.ipynb", "b.ipynb")])


def test_the_same_file_twice(graded, right):
    assert graded({"recurrence.ipynb": right, "recurrence (1).ipynb": right}) == (4, [])


def test_hidden_files_are_no_notebooks(graded, right, tmp_path):
    (tmp_path / ".ipynb_checkpoints").mkdir()
    (tmp_path / ".ipynb_checkpoints" / "recurrence-checkpoint.ipynb").write_text(json.dumps(right))
    fork = b"\0\5\x16\7\0\2\0\0Mac OS X"
    assert graded({"._recurrence.ipynb": fork, ".recurrence.ipynb": right}) == (
        0,
        ["recurrence: there is no file recurrence.ipynb"],
    )
    assert graded({"recurrence (1).ipynb": right})[0] == 4


def test_a_link_is_not_followed(graded, right, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "a.ipynb").write_text(json.dumps(right))
    (tmp_path / "recurrence.ipynb").symlink_to(tmp_path / "elsewhere" / "a.ipynb")
    assert graded({}) == (0, ["recurrence: the file is a link; submit the notebook itself"])


def test_the_one_file_in_which_nothing_was_recognised(graded):
    """It is looked at, so that what is wrong with it is told."""
    absent = "there is no file recurrence.ipynb; final.ipynb was graded instead"
    assert graded({"final.ipynb": b""}) == (0, [absent, "recurrence: the file is empty"])


def test_not_everything_is_read(session, right, tmp_path, monkeypatch):
    monkeypatch.setattr(module, "MOST_OTHERS", 2)
    for name in ("a", "b", "c"):
        (tmp_path / f"{name}.ipynb").write_text("{}")
    (tmp_path / "c.ipynb").write_text(json.dumps(right))
    chosen = choose(tmp_path, session.chapter, session.released)["recurrence"]
    assert isinstance(chosen.plan, UnreadableError)
    monkeypatch.setattr(module, "MOST_OTHERS", 3)
    assert choose(tmp_path, session.chapter, session.released)["recurrence"].file == "c.ipynb"


def test_another_notebook_finds_a_renamed_one(session, starters, notebook, tmp_path):
    """As a capstone reads the notebooks beside it."""
    notebook.append("import os\nassert os.path.isfile('recurrence.ipynb')\nprint('it is there')")
    (tmp_path / "mine.ipynb").write_text(json.dumps(notebook.tree))
    grade(session, starters["plain"], "ada", tmp_path)
    path = session.term / "autograded" / "ada" / session.chapter.id / "recurrence.ipynb"
    assert "it is there\\n" in path.read_text()
