"""A class of 40 in which every odd file and notebook occurs at once, downloaded as Canvas, Moodle and Gradescope name
and nest files: all points are as planted, whoever is not in the roster is listed, and the remarks fit one screen.
"""

import json
import re
import shutil
import unicodedata
from functools import cache, partial

import pytest
from test_as_students_save import ODD, PASS
from test_downloads import CHAPTER, ROOT, download
from typer.testing import CliRunner

from grader.author.course import Course
from grader.cells import cell_source, grade_id
from grader.cli import commands as cli
from grader.gradebook import gradebook_url
from grader.gradebook.enrolment import enrol
from grader.gradebook.roster import Student
from tests.nbgrader_command import nbgrader

pytestmark = pytest.mark.system
SCREEN = 50  # lines


@cache
def solved():
    """The chapter's notebooks with the course's solutions, as text, by name."""
    found = {}
    for made in (made for made in Course(ROOT).made if made.chapter.id == CHAPTER):
        tree = json.loads((ROOT / "exercises" / CHAPTER / f"{made.notebook.name}.ipynb").read_text("utf-8"))
        for cell in tree["cells"]:
            if cell["metadata"].get("nbgrader", {}).get("solution") and cell["cell_type"] == "code":
                cell["source"] = cell_source(made.instructor, grade_id(cell))
        found[made.notebook.name] = json.dumps(tree)
    return found


def at(tree, name):
    return next(i for i, cell in enumerate(tree["cells"]) if grade_id(cell) == name)


def edited(change):
    """A submission whose first notebook was edited."""

    def files():
        tree = json.loads(solved()["recurrence"])
        change(tree, tree["cells"][at(tree, "rnn_step")], tree["cells"][at(tree, "rnn_step-check")])
        return named() | {"recurrence.ipynb": json.dumps(tree)}

    return files


def named(form="{}.ipynb"):
    return {form.format(name): text for name, text in solved().items()}


def without_first(**others):
    files = named()
    del files["recurrence.ipynb"]
    return files | {name.replace("_", ".", 1): text for name, text in others.items()}


def numbered():
    return {f"rnn-{number}.ipynb": text for number, text in enumerate(solved().values(), 1)}


def litter():
    return without_first() | {"recurrence.ipynb:Zone.Identifier": "[ZoneTransfer]", "Thumbs.db": "x"}


def conflict():
    lines = solved()["recurrence"].replace(', "', ',\n"').splitlines(keepends=True)
    lines[3:3] = ["<<<<<<< HEAD\n", "=======\n", ">>>>>>> theirs\n"]
    return named() | {"recurrence.ipynb": "".join(lines)}


def copied():
    released = (ROOT / "exercises" / CHAPTER / "recurrence.ipynb").read_text("utf-8")
    return named() | {"recurrence.ipynb": released, "my recurrence.ipynb": solved()["recurrence"]}


def renamed(tree, cell, check):
    cell["source"] = f"{cell['source']}\n\nmine = rnn_step\ndel rnn_step\n"
    check["source"] = 'check("rnn_step", mine)'
    forward = tree["cells"][at(tree, "rnn_forward")]
    forward["source"] = forward["source"].replace("rnn_step(", "mine(")


def in_a_class(tree, cell, check):
    cell["source"] += "\n\nclass Cell:\n    step = staticmethod(rnn_step)\n"
    check["source"] = 'check("rnn_step", Cell.step)'


def as_text(kind, tree, cell, check):
    cell["cell_type"] = kind
    for name in ("outputs", "execution_count"):
        cell.pop(name, None)


def below(first, tree, cell, check):
    cell["source"] = f"{first}\n{cell['source']}"


def to_a_file(tree, cell, check):
    below("%%writefile mine.py\nimport numpy as np", tree, cell, check)
    more = {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None}
    tree["cells"].insert(at(tree, "rnn_step-check"), more | {"source": "from mine import rnn_step"})


def of_another_python(tree, cell, check):
    tree["metadata"]["language_info"] = {"name": "python", "version": "3.99.0"}
    cell["source"] = ODD
    independent(tree)


def independent(tree):
    """Let the second exercise not need the first."""
    forward = tree["cells"][at(tree, "rnn_forward")]
    forward["source"] = (
        "def rnn_forward(x, h_0, W_xh, W_hh, b_h):\n    h, h_t = [], h_0\n    for t in range(x.shape[1]):\n"
        "        h_t = np.tanh(x[:, t] @ W_xh + h_t @ W_hh + b_h)\n        h.append(h_t)\n"
        "    return np.stack(h, axis=1)\n"
    )


def stale(tree, cell, check):
    cell["source"] = cell["source"].replace("np.tanh", "np.sin")
    check["outputs"] = [{"output_type": "stream", "name": "stdout", "text": PASS}]
    independent(tree)


def nothing_done():
    return {path.name: path.read_text("utf-8") for path in (ROOT / "exercises" / CHAPTER).glob("*.ipynb")}


BOTH = ("rnn_step", "rnn_forward")
ROWS = {
    # what: (files, the exercises that get no points)
    "numbered": (numbered, ()),
    ".json": (partial(named, "{}.ipynb.json"), ()),
    ".txt": (partial(named, "{}.ipynb.txt"), ()),
    ".IPYNB": (partial(named, "{}.IPYNB"), ()),
    "litter": (litter, BOTH),
    "conflict": (conflict, BOTH),
    "copied": (copied, ()),
    "renamed": (edited(renamed), ()),
    "a class": (edited(in_a_class), ()),
    "Markdown": (edited(partial(as_text, "markdown")), ()),
    "raw": (edited(partial(as_text, "raw")), ()),
    "%%time": (edited(partial(below, "\n%%time")), ()),
    "%%prun": (edited(partial(below, "%%prun -q")), ()),
    "%%capture": (edited(partial(below, "%%capture out")), ()),
    "%%writefile": (edited(to_a_file), ()),
    "another Python": (edited(of_another_python), ("rnn_step",)),
    "another Python, too": (edited(of_another_python), ("rnn_step",)),
    "input()": (edited(partial(below, "name = input('Name: ')")), ()),
    "not submitted": (without_first, BOTH),
    "stale": (edited(stale), ("rnn_step",)),
    "stale, too": (edited(stale), ("rnn_step",)),
    "on time": (named, ()),
    "late": (named, ()),
    "no time": (named, ()),
    "a PDF": (lambda: named() | {"notes.pdf": "%PDF"}, ()),
    "damaged": (lambda: named() | {"recurrence.ipynb": solved()["recurrence"][:-90]}, BOTH),
    "nothing done": (nothing_done, None),
    "decomposed": (named, ()),
    "not in the roster": (named, ()),
} | {f"ordinary {number}": (named, ()) for number in range(11)}
TIMES = {  # of students whose notebooks are due on 2026-03-01 23:59 in New York
    "on time": "2026-03-01 23:00:00 -0500",
    "late": "2026-03-02 09:00:00 -0500",
    "no time": "02/03/2026",
}


def student(number, what):
    first, last = f"Given{number}", "Núñez" if what == "decomposed" else f"Nr{number}"
    return Student(f"{first} {last}", first, last, f"s{number}@example.edu", str(12_300 + number))


PEOPLE = {what: student(number, what) for number, what in enumerate(ROWS)}


# --- one class in the archives of four systems ---------------------------------------------------------------


def apart(text):
    return unicodedata.normalize("NFD", text)


def canvas():
    """One folder for all; a number behind a name that was used before."""
    found = {}
    for number, (what, student) in enumerate(PEOPLE.items()):
        late = "_LATE" * (what == "late")
        name = apart(f"{student.last_name}{student.first_name}".lower())
        for place, (file, text) in enumerate(ROWS[what][0]().items()):
            found[f"{name}{late}_{student.lms_user_id}_{70_000 + 100 * number + place}_{file}"] = text
    return "submissions.zip", found


def moodle():
    found = {}
    for number, (what, student) in enumerate(PEOPLE.items()):
        for file, text in ROWS[what][0]().items():
            found[f"{apart(student.id)}_{880_000 + number}_assignsubmission_file/{file}"] = text
    return "DL_2025_26_WS-The vanilla RNN-4711.zip", found


def gradescope():
    found, people = {}, []
    for number, (what, student) in enumerate(PEOPLE.items()):
        folder = f"submission_{990_000 + number}"
        people.append(f"{folder}:\n  :submitters:\n  - :name: {student.id}\n    :email: {student.email}\n")
        found |= {f"assignment_4711_export/{folder}/{file}": text for file, text in ROWS[what][0]().items()}
    found["assignment_4711_export/submission_metadata.yml"] = "---\n" + "".join(people)
    return "assignment_4711_export.zip", found


def teams():
    """Pairs: who has a time, is missing in the roster or needs an own row stays alone with an ordinary student."""
    rows, others = [*ROWS][:29], [*ROWS][29:]
    pairs = dict(zip(rows[:11], others, strict=True))
    return {what: [what, *([pairs[what]] if what in pairs else [])] for what in rows}


def moodle_teams():
    found = {}
    for number, what in enumerate(teams()):
        for file, text in ROWS[what][0]().items():
            found[f"Team {number}_{660_000 + number}_assignsubmission_file/{file}"] = text
    return "DL_2025_26_WS-The vanilla RNN-4712.zip", found


SYSTEMS = {"canvas": canvas, "moodle": moodle, "moodle teams": moodle_teams, "gradescope": gradescope}


def planted(system):
    """The points of each student by id, before lateness."""
    chapter = next(made.chapter for made in Course(ROOT).made if made.chapter.id == CHAPTER)
    points = {exercise.id: exercise.points for exercise in chapter.exercises}
    found = {}
    for what, together in teams().items() if system == "moodle teams" else [(what, [what]) for what in ROWS]:
        lost = points if ROWS[what][1] is None else ROWS[what][1]
        found |= {PEOPLE[each].id: sum(points.values()) - sum(points[name] for name in lost) for each in together}
    return found


def run(*arguments):
    done = CliRunner().invoke(cli.app, list(map(str, arguments)))
    assert "Traceback" not in done.output
    return done


@pytest.mark.parametrize("system", SYSTEMS)
def test_a_class_of_forty(tmp_path, system):
    term = tmp_path / "term"
    term.mkdir()
    (term / "term.toml").write_text(
        f'timezone = "America/New_York"\n[late]\nshare = 0.1\n[due]\n{CHAPTER} = 2026-03-01 23:59:00\n'
    )
    enrol(gradebook_url(term), [student for what, student in PEOPLE.items() if what != "not in the roster"])
    if system == "moodle teams":
        rows = [f"Team {n},{PEOPLE[each].id}\n" for n, pair in enumerate(teams().values()) for each in pair]
        (term / "groups.csv").write_text("group,id\n" + "".join(rows))
    name, files = SYSTEMS[system]()
    (term / "downloaded" / CHAPTER / "archive").mkdir(parents=True)
    download(term, name, files)
    done = nbgrader("zip_collect", CHAPTER, "--log-level=WARN", term=term)
    print(done.stderr)
    odd = PEOPLE["not in the roster"]
    unknown = {"canvas": odd.lms_user_id, "gradescope": odd.email}.get(system, odd.id)
    expected = planted(system)
    expected[unknown] = expected.pop(odd.id)
    folders = {path.name for path in (term / "submitted").iterdir()}
    assert folders == set(expected)
    (listed,) = [line for line in done.stderr.splitlines() if unknown in line]
    assert ("may be groups" if system == "moodle" else "Not in the roster") in listed
    assert not {"2025", "2026", "4711", "4712"} & {*re.findall(r"\w+", done.stderr.replace(name, ""))}
    assert len(done.stderr.splitlines()) <= 12
    for what, text in TIMES.items():
        (term / "submitted" / PEOPLE[what].id / CHAPTER / "timestamp.txt").write_text(text)
    dry = run("autograde", CHAPTER, "--term", term, "--dry-run")
    print(dry.output)
    tree = json.loads(run("autograde", CHAPTER, "--term", term, "--json", "--workers", "2").stdout)
    earned = {each["student"]: sum(its["earned"] for its in each["exercises"].values()) for each in tree["students"]}
    assert earned == expected
    late = {each["student"] for each in tree["students"] if each["late_penalty"]}
    assert late == {PEOPLE["late"].id}
    said = run("autograde", CHAPTER, "--term", term)
    print(said.output)
    told = said.output.partition("Needs manual review:")[2]
    assert 10 <= len(told.splitlines()) <= SCREEN
    for what, words in {
        "stale": "saw a pass that grading does not confirm",
        "no time": "timestamp.txt contains '02/03/2026'",
        "conflict": "conflict markers of git",
        "another Python": "was written with Python 3.99",
        "not submitted": "missing notebook: recurrence",
        "input()": "calls input()",
        "renamed": "names another function",
        "Markdown": "had become a text cell",
    }.items():
        assert any(PEOPLE[what].id in line and words in line for line in told.splitlines()), what
    shutil.rmtree(term)
