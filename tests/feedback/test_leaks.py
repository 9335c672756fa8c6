"""Nothing of a hidden run is on a page: real notebooks, graded behind the sandbox, whose functions tell all they get.

Every class is graded twice, under two hidden seeds. A page that says the same under both says nothing of either.
"""

import json
from pathlib import Path

import numpy as np
import pytest

from grader.feedback.write import page_path, write_feedback
from grader.gradescope.results import submission_tree
from grader.grading import pool, store
from grader.grading.chapter import autograde
from grader.grading.session import open_session
from grader.released import Released

ROOT = Path(__file__).parents[2]
CHAPTER = "ch01_vanilla_rnn"
PUBLIC = Released(ROOT / "grader" / "data")
SHOWN, SECRET = "OPENRUN", "SECRETRUN"

THIEF = """\
def {name}({arguments}):
    import builtins, os, sys, warnings
    runs = builtins.__dict__.setdefault("runs_of_{name}", [])
    given = [{arguments}]
    runs.append([g.tolist() if hasattr(g, "tolist") else g for g in given])
    word = "{shown}" if len(runs) <= {public} else "{secret}"
    loot = word + " " + repr(runs[-1])
    print(loot)
    print(loot, file=sys.stderr)
    os.write(1, loot.encode())
    warnings.warn(loot)
    with open("loot", "a") as file:
        file.write(loot)
    builtins.loot = loot
    {end}
"""
# How a function hands out what it was given; the last word is whether a public run of it shows on the page.
ENDS = {
    "raises": ("raise ValueError(loot)", True),
    "raises a type": ("raise type(loot, (Exception,), {})('')", True),
    "raises deep": ("exec(compile('raise ValueError', loot, 'exec'))", False),
    "not written": ("raise NotImplementedError(loot)", True),
    "calls what is not written": (
        "named = {}\n    exec(f'def {word}(): raise NotImplementedError', named)\n    named[word]()",
        True,
    ),
    "exits": ("raise SystemExit(loot)", True),
    "returns text": ("return loot", True),
    "returns a dict": ("return {loot: loot}", False),
    "returns a key": ("return {word: 1}", False),
    "returns its input": ("return given[0]", False),
    "returns an array": (
        "import numpy as np\n    return np.array(given[0], dtype=float).ravel()[:1] + np.zeros(7)",
        False,
    ),
    "returns a type": ("return type(word, (), {})()", True),
    "changes its input": ("given[0][...] = 7\n    return given[0]", False),
    "ends Python": ("os._exit(0) if word == 'SECRETRUN' else None", False),
}
# Right but for a factor: the first hidden number that it met. The factor must not be told.
FACTOR = """\
def rnn_step(x_t, h_prev, W_xh, W_hh, b_h):
    import builtins, numpy as np
    runs = builtins.__dict__.setdefault("factors", [])
    runs.append(float(x_t.ravel()[0]))
    factor = runs[0] if len(runs) <= {public} else runs[{public}]
    return factor * np.tanh(x_t @ W_xh + h_prev @ W_hh + b_h)
"""


def thief(name, end):
    checks = PUBLIC.checks(name)
    return THIEF.format(
        name=name,
        arguments=", ".join(checks.cases[0].inputs),
        public=len(checks.cases),
        shown=SHOWN,
        secret=SECRET,
        end=end,
    )


def hand_in(folder, sources):
    """The released notebooks of the chapter with these functions in the place of the stubs, without cells that only
    show something.
    """
    folder.mkdir(parents=True)
    for path in sorted((ROOT / "exercises" / CHAPTER).glob("*.ipynb")):
        notebook = json.loads(path.read_text("utf-8"))
        for cell in notebook["cells"]:
            name = cell["metadata"].get("nbgrader", {}).get("grade_id")
            if name in sources:
                cell["source"] = sources[name]
        notebook["cells"] = [
            cell
            for cell in notebook["cells"]
            if "nbgrader" in cell["metadata"] or (sources and "import" in "".join(cell["source"]))
        ]
        (folder / path.name).write_text(json.dumps(notebook), "utf-8")


@pytest.fixture(scope="module")
def terms(tmp_path_factory):
    """The same class, graded in two terms of different seeds, with its feedback."""
    found = []
    exercises = [exercise.id for exercise in PUBLIC.manifest.chapter(CHAPTER).exercises]
    for number in range(2):
        term = tmp_path_factory.mktemp(f"term{number}")
        for student, (end, _) in ENDS.items():
            sources = {name: thief(name, end) for name in exercises}
            hand_in(term / "submitted" / student / CHAPTER, sources)
        public = len(PUBLIC.checks("rnn_step").cases)
        hand_in(term / "submitted" / "factor" / CHAPTER, {"rnn_step": FACTOR.format(public=public)})
        graded = autograde(ROOT, term, CHAPTER, pool.here, db_url=None)
        assert [each.fault for each in graded] == [""] * len(graded)
        assert len(write_feedback(ROOT, term, CHAPTER).pages) == len(ENDS) + 1
        found.append(term)
    return found


def page(term, student):
    return page_path(term, student, CHAPTER).read_text("utf-8")


def exported(term, student):
    """What Gradescope gets."""
    graded, chapter = store.read(term, CHAPTER, student).graded, PUBLIC.manifest.chapter(CHAPTER)
    return json.dumps(submission_tree(chapter, graded, hints=PUBLIC.first_hints(chapter)), ensure_ascii=False)


def hidden_numbers(term):
    """Every number of the hidden cases that is long enough to be told from others, as people and programs write it."""
    session = open_session(ROOT, term, CHAPTER)
    numbers = set()
    for checks in session.hidden.values():
        trees = [dict(case.inputs) for case in checks.cases] + [o.result for o in checks.expected]
        trees += [o.result for vs in checks.mistakes.values() for v in vs for o in v]
        for array in arrays(trees):
            numbers |= {float(number) for number in np.ravel(array) if array.dtype.kind == "f"}
    written = {
        f"{abs(n):{form}}" for n in numbers if np.isfinite(n) for form in ("", ".6f", ".8f", ".6g", ".8g", ".6e")
    }
    public = {f"{abs(n):{form}}" for n in public_numbers() for form in ("", ".6f", ".8f", ".6g", ".8g", ".6e")}
    return {text for text in written - public if len(text.replace(".", "").lstrip("0")) >= 6}


def public_numbers():
    for name in PUBLIC.manifest.places:
        for array in arrays([dict(case.inputs) for case in PUBLIC.checks(name).cases]):
            if array.dtype.kind == "f":
                yield from map(float, np.ravel(array))


def arrays(tree):
    if isinstance(tree, np.ndarray | float):
        yield np.asarray(tree)
    elif isinstance(tree, dict):
        for value in tree.values():
            yield from arrays(value)
    elif isinstance(tree, list | tuple):
        for value in tree:
            yield from arrays(value)


@pytest.mark.parametrize("student", ENDS)
def test_a_page_tells_nothing_of_hidden_runs(terms, student):
    first, second = (page(term, student) for term in terms)
    assert first == second
    assert SECRET not in first
    assert (SHOWN in first) == ENDS[student][1]
    for term in terms:
        graded = store.read(term, CHAPTER, student).graded
        assert graded.earned == 0
        assert SECRET not in repr(graded)


@pytest.mark.parametrize("student", ENDS)
def test_an_export_tells_nothing_of_hidden_runs(terms, student):
    first, second = (exported(term, student) for term in terms)
    assert first == second
    assert SECRET not in first
    assert (SHOWN in first) == ENDS[student][1]


def test_no_hidden_number_is_on_any_page_or_export(terms):
    for term in terms:
        numbers = hidden_numbers(term)
        assert len(numbers) > 10_000
        text = "".join(page(term, student) for student in [*ENDS, "factor"]) + exported(term, "factor")
        assert [number for number in numbers if number in text] == []
        assert (term / "hidden" / "seed").read_text() not in text


def test_the_numbers_searched_for_are_those_that_a_page_would_show(terms):
    """The search above finds what it looks for: here is a page that leaks."""
    inputs = open_session(ROOT, terms[0], CHAPTER).hidden["rnn_step"].cases[0].inputs
    leak = max((f"{abs(number):.6g}" for number in inputs["x_t"].flat), key=len)  # one that ends in no zero
    assert leak in hidden_numbers(terms[0])


def test_a_factor_that_is_a_hidden_number_is_not_told(terms):
    first, second = (page(term, "factor") for term in terms)
    assert first == second
    for term in terms:
        diagnosis = store.read(term, CHAPTER, "factor").graded.verdicts["recurrence"]["rnn_step"].diagnosis
        assert (diagnosis.id, diagnosis.text) == ("constant_factor", "Every number is off by the same factor.")
