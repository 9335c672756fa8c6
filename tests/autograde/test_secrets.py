"""Secrets: expected values and the seed stay with the grader, and hidden inputs appear in no notebook."""

import os
import re
import shutil
import stat
import struct

import numpy as np
import pytest

from grader import sources
from grader.codec import decode, encode
from grader.grading import hidden
from grader.grading.score import request_for
from grader.inside.frames import Part, part_bytes, request_bytes
from grader.manifest import Limits
from grader.spec import kept
from grader.submission.plan import plan

pytestmark = pytest.mark.usefixtures("own_hidden")

# --- what the child is sent ----------------------------------------------------------------------------------


def arrays(tree):
    """All arrays of a tree of plain values."""
    if isinstance(tree, np.ndarray):
        yield tree
    elif isinstance(tree, dict):
        for value in tree.values():
            yield from arrays(value)
    elif isinstance(tree, list | tuple):
        for value in tree:
            yield from arrays(value)


@pytest.fixture
def request_of_the_chapter(session):
    released = session.released["recurrence"]
    planned = plan(released, released, ["rnn_step", "rnn_forward"])
    return request_for(planned, session.cases, Limits())


def test_no_expected_value_is_sent(session, request_of_the_chapter):
    request = request_bytes(request_of_the_chapter)
    for name, checks in session.hidden.items():
        exercise = request_of_the_chapter.cases[name]
        sent = part_bytes(Part(exercise.driver, exercise.hidden, True))
        inputs = [array for case in checks.cases for array in arrays(dict(case.inputs))]
        outputs = [array for o in checks.expected for array in arrays(o.result)]
        mistakes = [a for vs in checks.mistakes.values() for v in vs for o in v for a in arrays(o.result)]
        assert len(outputs) == len(checks.cases) > 1
        assert len(mistakes) > 10
        assert all(array.tobytes() in sent for array in inputs)
        assert not any(array.tobytes() in request for array in inputs)
        known = {number for array in inputs for number in array.flat}
        secret = {float(n) for array in [*outputs, *mistakes] for n in np.ravel(array) if n not in known and n != 0}
        assert len(secret) > 100
        for number in secret:
            assert struct.pack("<d", number) not in sent
            assert struct.pack("<d", number) not in request


def test_no_mistake_and_no_seed_is_sent(session, request_of_the_chapter):
    seed = (session.term / "hidden" / "seed").read_text()
    for sent in (
        request_bytes(request_of_the_chapter),
        *(part_bytes(Part(e.driver, e.public + e.hidden, True)) for e in request_of_the_chapter.cases.values()),
    ):
        assert seed.encode() not in sent
        assert struct.pack(">Q", int(seed)) not in sent
        assert not any(name.encode() in sent for c in session.hidden.values() for name in c.mistakes)


def test_the_process_holds_no_judge_and_no_data(hand_in, notebook):
    notebook.append(
        "import grader, sys\n"
        "print(sorted(name for name in sys.modules if name.startswith('grader')))\n"
        "print(grader.check('rnn_step', rnn_step), grader.hint('rnn_step'), grader.progress(), grader.diary())"
    )
    result = hand_in(notebook.tree)
    assert result.points == (2, 2)
    assert result.outputs("grader.progress()")[0].text == (
        "['grader', 'grader.capstone', 'grader.checking', 'grader.checking.calls', 'grader.checking.case', "
        "'grader.checking.drivers', "
        "'grader.checking.fixtures', 'grader.checking.gradients', 'grader.checking.module_cases', "
        "'grader.checking.modules', 'grader.checking.numbers', 'grader.checking.observing', "
        "'grader.checking.tensors', 'grader.codec', "
        "'grader.inside', 'grader.inside.child', 'grader.inside.confine', 'grader.inside.frames', "
        "'grader.inside.shell', 'grader.inside.statements', 'grader.inside.usage', 'grader.inside.zygote']\n"
        "None None None None\n"
    )


# --- what is kept in the term's folder -----------------------------------------------------------------------


def test_the_seed_and_the_checks_are_their_owners_alone(session):
    folder = session.term / "hidden"
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert {path.name: stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()} == {
        "seed": 0o600,
        f"{session.chapter.id}.msgpack": 0o600,
    }


def test_private_whatever_the_umask(tmp_path):
    before = os.umask(0)
    try:
        hidden.hidden_seed(tmp_path)
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "hidden").stat().st_mode) == 0o700
    assert stat.S_IMODE((tmp_path / "hidden" / "seed").stat().st_mode) == 0o600


def test_a_seed_is_made_once_and_differs_between_terms(tmp_path):
    first = hidden.hidden_seed(tmp_path / "a")
    assert hidden.hidden_seed(tmp_path / "a") == first != hidden.hidden_seed(tmp_path / "b")


def test_a_seed_that_is_none(tmp_path):
    (tmp_path / "hidden").mkdir()
    (tmp_path / "hidden" / "seed").write_text("8675309 and a half")
    with pytest.raises(hidden.HiddenError, match=r"does not contain a number\. Restore it from a backup") as caught:
        hidden.hidden_seed(tmp_path)
    assert "8675309" not in str(caught.value)


COURSE = """
title = "A course"
[[chapters]]
id = "ch01"
title = "One"
pages = { page = "A page" }
[[chapters.notebooks]]
name = "first"
title = "First"
[[chapters.notebooks.exercises]]
id = "double"
title = "Double"
points = 2
page = "page"
"""
CHECKS = """
import numpy as np
from pathlib import Path
from grader.spec.spec import Case, Output, Spec
with open(Path(__file__).with_name("runs.txt"), "a") as file:
    file.write("x")
def cases(rng):
    yield Case({"N": 3}, {"x": rng.normal(size=3)})
SPEC = Spec(outputs=[Output("y", ("N",))], example=Case({"N": 1}, {"x": np.ones(1)}), cases=cases,
            oracle=lambda x: 2 * x)
"""


@pytest.fixture
def course(tmp_path):
    from grader.manifest import load_manifest

    root = tmp_path / "course"
    folder = root / "solutions/ch01/double"
    folder.mkdir(parents=True)
    (root / "course.toml").write_text(COURSE)
    (folder / "spec.py").write_text(CHECKS)
    return root, folder, load_manifest(root / "course.toml").chapters[0]


def test_hidden_checks_are_made_once_and_again_where_a_check_changes(course, tmp_path):
    root, folder, chapter = course
    runs = folder / "runs.txt"
    term = tmp_path / "term"
    first = hidden.hidden_checks(root, term, chapter)["double"]
    assert np.array_equal(first.expected[0].result, 2 * first.cases[0].inputs["x"])
    assert runs.read_text() == "x"
    again = hidden.hidden_checks(root, term, chapter)["double"]
    assert runs.read_text() == "x"
    assert encode(again.expected[0].result) == encode(first.expected[0].result)

    (folder / "spec.py").write_text(CHECKS.replace("size=3", "size=4").replace('"N": 3', '"N": 4'))
    changed = hidden.hidden_checks(root, term, chapter)["double"]
    assert runs.read_text() == "xx"
    assert changed.cases[0].inputs["x"].shape == (4,)

    (term / "hidden" / "ch01.msgpack").write_bytes(b"torn")
    assert hidden.hidden_checks(root, term, chapter)["double"].cases[0].inputs["x"].shape == (4,)

    other = hidden.hidden_checks(root, tmp_path / "another term", chapter)["double"]
    assert not np.array_equal(other.cases[0].inputs["x"], changed.cases[0].inputs["x"])


def test_checks_that_cannot_be_made_say_why(course, tmp_path):
    root, folder, chapter = course
    (folder / "spec.py").write_text("SPEC = 3")
    with pytest.raises(hidden.HiddenError, match=r"(?s)hidden cases of ch01 could not be computed:.*defines no SPEC"):
        hidden.hidden_checks(root, tmp_path / "term", chapter)


def test_the_state_on_file_does_not_tell_the_seed(course, tmp_path):
    root, _, chapter = course
    hidden.hidden_checks(root, tmp_path / "term", chapter)
    seed = hidden.hidden_seed(tmp_path / "term")
    content = (tmp_path / "term" / "hidden" / "ch01.msgpack").read_bytes()
    assert str(seed).encode() not in content
    assert re.fullmatch(r"[0-9a-f]{64}", decode(content)["exercises"]["double"][0])


HALF = """
[[chapters.notebooks.exercises]]
id = "half"
title = "Half"
points = 1
page = "page"
"""


@pytest.fixture
def course_of_two(course):
    """Two exercises, of which each appends to a file of its own when its checks are computed."""
    from grader.manifest import load_manifest

    root, double, _ = course
    (root / "course.toml").write_text(COURSE + HALF)
    (double.parent / "half").mkdir()
    for name in ("double", "half"):
        (double.parent / name / "spec.py").write_text(CHECKS.replace("runs", name))
    return root, double.parent, load_manifest(root / "course.toml").chapters[0]


def test_only_the_exercise_that_changed_is_computed_again(course_of_two, tmp_path):
    root, folder, chapter = course_of_two
    term = tmp_path / "term"

    def runs():
        hidden.hidden_trees(root, term, chapter)
        return [(folder / name / f"{name}.txt").read_text() for name in ("double", "half")]

    before, state = hidden.hidden_trees(root, term, chapter), hidden.hidden_state(root, term, chapter)
    assert runs() == ["x", "x"]
    (folder / "half" / "spec.py").write_text(CHECKS.replace("runs", "half").replace("2 * x", "x / 2"))
    assert runs() == ["x", "xx"]
    after = hidden.hidden_trees(root, term, chapter)
    assert encode(after["double"]) == encode(before["double"])
    assert encode(after["half"]) != encode(before["half"])
    assert hidden.hidden_state(root, term, chapter) != state

    (folder / "double" / "judge.py").write_text("judge = largest = None")  # refused: this exercise has an oracle
    with pytest.raises(hidden.HiddenError, match=r"double/spec\.py: needs either an oracle"):
        runs()
    (folder / "double" / "judge.py").unlink()
    assert runs() == ["xx", "xx"]
    for shared, text in (
        (folder / "fixtures.py", ""),
        (folder / "first.py", "def later():\n    from solutions.ch01.deep import double"),
        (folder / "deep" / "double.py", ""),
        (folder / "files" / "weights.json", "[1]"),
    ):
        before_it = runs()
        shared.parent.mkdir(exist_ok=True)
        shared.write_text(text)
        assert runs() == [each + "x" for each in before_it], shared


def test_the_state_does_not_depend_on_where_the_course_and_the_package_are(course_of_two, tmp_path, monkeypatch):
    """One of the two comes first in each order of absolute paths."""
    root, _, chapter = course_of_two
    term = tmp_path / "term"
    hidden.hidden_seed(term)
    expected = hidden.hidden_state(root, term, chapter)
    for course_at, package_at in (("a", "z"), ("z", "a")):
        shutil.copytree(root, tmp_path / course_at / "course")
        package = tmp_path / package_at / "grader"
        shutil.copytree(sources.PACKAGE, package, ignore=shutil.ignore_patterns("__pycache__", "data"))
        with monkeypatch.context() as patch:
            for module in (sources, kept):
                patch.setattr(module, "PACKAGE", package)
            assert hidden.hidden_state(tmp_path / course_at / "course", term, chapter) == expected
            (package / "codec.py").write_text("")
            assert hidden.hidden_state(tmp_path / course_at / "course", term, chapter) != expected
        shutil.rmtree(tmp_path / course_at)
        shutil.rmtree(tmp_path / package_at, ignore_errors=True)


@pytest.mark.parametrize(
    ("ending", "reason"),
    [
        ("import os; os._exit(3)", "The process that computes them ended with status 3 and no message."),
        ("import os; os.kill(os.getpid(), 9)", "was killed by signal 9. Is there enough memory?"),
    ],
)
def test_a_failure_without_a_message_has_a_reason(course, tmp_path, ending, reason):
    root, folder, chapter = course
    (folder / "spec.py").write_text(f"{CHECKS}\n{ending}\n")
    with pytest.raises(hidden.HiddenError) as caught:
        hidden.hidden_checks(root, tmp_path / "term", chapter)
    first, reason_line = str(caught.value).splitlines()
    assert first == "The hidden cases of ch01 could not be computed:"
    assert reason in reason_line


def test_cases_of_another_grader_are_refused_with_a_reason(course, tmp_path, monkeypatch):
    """The package of this process has another file than the package of the process that computes them."""
    root, _, chapter = course
    package = shutil.copytree(sources.PACKAGE, tmp_path / "grader", ignore=shutil.ignore_patterns("data"))
    (package / "codec.py").write_text("")
    for module in (sources, kept):
        monkeypatch.setattr(module, "PACKAGE", package)
    with pytest.raises(hidden.HiddenError, match=r"computed:\nThose of double were computed from other files .* now"):
        hidden.hidden_checks(root, tmp_path / "term", chapter)


def test_chapters_are_computed_ahead_in_one_process(course_of_two, tmp_path, monkeypatch):
    root, _, chapter = course_of_two
    term = tmp_path / "term"
    with hidden.computed_ahead(root, term, [chapter]) as wait:
        wait(chapter)
        monkeypatch.setattr(hidden, "_process", None)  # nothing is left to be computed
        assert hidden.hidden_trees(root, term, chapter).keys() == {"double", "half"}
        wait(chapter)  # not again
    with hidden.computed_ahead(root, term, [chapter]) as wait:  # nothing to do, so no process
        wait(chapter)


def test_what_cannot_be_computed_ahead_is_reported_when_it_is_needed(course, tmp_path):
    root, folder, chapter = course
    (folder / "spec.py").write_text("SPEC = 3")
    with hidden.computed_ahead(root, tmp_path / "term", [chapter]) as wait:
        wait(chapter)
    with pytest.raises(hidden.HiddenError, match="defines no SPEC"):
        hidden.hidden_trees(root, tmp_path / "term", chapter)


# --- what a student gets back --------------------------------------------------------------------------------

THIEF = """\
def rnn_step(x_t, h_prev, W_xh, W_hh, b_h):
    loot = "LOOT " + repr(x_t.tolist())
    global seen
    seen = loot
    import builtins, os, sys, warnings
    builtins.seen = loot
    print(loot)
    print(loot, file=sys.stderr)
    os.write(1, loot.encode())
    os.write(2, loot.encode())
    warnings.warn(loot)
    try:
        display(loot)
    except NameError:
        pass
    with open("loot", "a") as file:
        file.write(loot)
    {end}
"""
PRINTER = """\
import builtins, os, time
time.sleep(0.2)
print("seen" in globals(), hasattr(builtins, "seen"), os.path.exists("loot"))
"""
ENDS = [
    "raise ValueError(loot)",
    "raise type(loot, (Exception,), {})(loot)",
    "raise NotImplementedError(loot)",
    "eval(compile('f()', loot, 'eval'), {'f': _})",
    "return loot",
    "return {loot: loot}",
    "return x_t",
    "return type(loot, (), {})()",
    "os._exit(0)",
    "named = {}\n    exec('def LOOT_name(): raise NotImplementedError', named)\n    named['LOOT_name']()",
    "f = lambda: (_ for _ in ()).throw(NotImplementedError(loot))\n"
    "    f.__code__ = f.__code__.replace(co_name='rnn_step calls LOOT')\n    f()",
    "raise SystemExit(loot)",
]


@pytest.mark.parametrize("end", ENDS)
def test_nothing_of_a_hidden_run_is_shown(hand_in, notebook, session, end):
    """A function that tells its inputs in every way it can, and a later cell that looks for them."""
    del notebook.cells[notebook.at("rnn_forward-check") + 1 :]
    notebook.cell("rnn_step")["source"] = THIEF.format(end=end)
    notebook.append(PRINTER)
    notebook.append(PRINTER + "# and once more")
    result = hand_in(notebook.tree)
    assert result.points == (0, 2)
    outputs = [cell.outputs for cell in result.notebook.cells if cell.cell_type == "code"]
    assert "LOOT" not in str(outputs)
    assert result.outputs("once more")[0].text == "False False False\n"
    check_no_value_of_a_case(session, str(outputs))


def test_the_verdicts_of_mistakes_show_no_hidden_value(hand_in, notebook, session):
    for source in (
        "def rnn_step(x_t, h_prev, W_xh, W_hh, b_h):\n    return x_t[0, 0] * np.tanh(x_t @ W_xh + h_prev @ W_hh + b_h)",
        "def rnn_step(x_t, h_prev, W_xh, W_hh, b_h):\n    return np.tanh(x_t @ W_xh + h_prev @ W_hh)",
        "def rnn_step(x_t, h_prev, W_xh, W_hh, b_h):\n    x_t *= 2\n    return h_prev",
    ):
        notebook.cell("rnn_step")["source"] = source
        result = hand_in(notebook.tree)
        assert result.points == (0, 2)
        check_no_value_of_a_case(session, result.text)
        assert "x_t" not in result.shown("rnn_step") or "h_prev" not in result.shown("rnn_step")


def check_no_value_of_a_case(session, text):
    for checks in session.hidden.values():
        known = [
            *(a for c in checks.cases for a in arrays(dict(c.inputs))),
            *(a for o in checks.expected for a in arrays(o.result)),
        ]
        for array in known:
            for number in np.ravel(array):
                assert f"{abs(number):.6f}"[:6] not in text
    assert (session.term / "hidden" / "seed").read_text() not in text


def test_a_cell_finds_no_case_however_it_looks(hand_in, notebook, session):
    """Before the last cell has ended there is none: on no descriptor, in no file and in no memory of the process."""
    notebook.append(
        "import gc, os, sys\n"
        "kinds = ('Case', 'ExerciseCases', 'Checks', 'ndarray')\n"
        "found = [repr(o) for o in gc.get_objects() if type(o).__name__ in kinds]\n"
        "for fd in range(3, 64):\n"
        "    try:\n"
        "        os.set_blocking(fd, False)\n"
        "        found.append(os.pread(fd, 10**6, 0))\n"
        "    except OSError:\n"
        "        try:\n"
        "            found.append(os.read(fd, 10**6))\n"
        "        except OSError:\n"
        "            pass\n"
        "with open('/proc/self/maps') as maps, open('/proc/self/mem', 'rb') as memory:\n"
        "    for line in maps:\n"
        "        start, end = (int(n, 16) for n in line.split()[0].split('-'))\n"
        "        if 'rw' in line and end - start < 10**9:\n"
        "            memory.seek(start)\n"
        "            try:\n"
        "                found.append(memory.read(end - start))\n"
        "            except OSError:\n"
        "                pass\n"
        "import hashlib\n"
        "blob = b''.join(f if isinstance(f, bytes) else f.encode() for f in found)\n"
        "print(len(blob) > 10**6, [blob[i:i + 8].hex() for i in ()])\n"
        "with open('/tmp/' + 'memory-of-' + str(os.getppid()), 'wb') as file:\n"
        "    file.write(blob)\n"
    )
    path = f"/tmp/memory-of-{os.getpid()}"
    try:
        result = hand_in(notebook.tree, seconds=20, starter="plain")  # the sandbox hides /proc
        assert result.points == (2, 2)
        assert "True" in str(result.outputs("import gc, os"))
        with open(path, "rb") as file:
            memory = file.read()
    finally:
        if os.path.exists(path):
            os.unlink(path)
    assert b"def rnn_step(" in memory  # we did look at its memory
    for checks in session.hidden.values():
        for case in checks.cases:
            for array in arrays(dict(case.inputs)):
                assert array.size < 2 or array.tobytes() not in memory
