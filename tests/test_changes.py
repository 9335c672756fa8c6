"""Small changes to a reference solution: what they find, what they make, and how they fail."""

import inspect
import re
import sys
import textwrap

import numpy as np
import pytest

from grader.checking.case import Case
from grader.checking.drivers import drive
from grader.manifest import load_manifest
from grader.messages import MessageError
from grader.spec.changes import ChangeError, change, define, plain_code
from grader.spec.load import SpecError, load_messages, load_spec, reference_code
from grader.spec.mistake_words import MistakeWords, read_mistake_words
from grader.spec.spec import Facet, Output, Spec, instead
from tests.conftest import ROOT
from tests.small_course import write_small_course

MODULE = '''
"""A notebook."""

def other(x):
    return x


def walk(x, y):
    """Walk.

    From the first to the last.
    """
    ### BEGIN SOLUTION
    total = 0  # nothing yet
    for t in range(3):
        # each step

        total += x[t]
        y = "# no comment"
    return total, y
    ### END SOLUTION
'''

CODE = """\
def walk(x, y):
    total = 0
    for t in range(3):
        total += x[t]
        y = "# no comment"
    return total, y
"""


def changed(*texts):
    return change(*texts).apply(CODE)


def test_plain_code_is_the_code_alone():
    assert plain_code(MODULE, "walk") == CODE
    with pytest.raises(KeyError):
        plain_code(MODULE, "run")


def test_a_change_within_a_line_and_more_in_order():
    assert changed("x[t]", "x[t + 1]", ("t + 1", "t - 1")) == CODE.replace("x[t]", "x[t - 1]")


def test_spaces_at_the_ends_of_one_line_count():
    assert changed(" = 0", " = 1") == CODE.replace("total = 0", "total = 1")


def test_lines_are_found_at_their_indentation_and_written_there():
    new = changed(
        """
        for t in range(3):
            total += x[t]
        """,
        """
        t = 0
        while t < 3:
            total += x[t]
            t += 1
        """,
    )
    assert new == textwrap.dedent(
        """\
        def walk(x, y):
            total = 0
            t = 0
            while t < 3:
                total += x[t]
                t += 1
                y = "# no comment"
            return total, y
        """
    )


def test_one_line_becomes_several_from_the_middle_of_a_line():
    assert "        step = x[t]\n        total += step\n" in changed("total += x[t]", "step = x[t]\ntotal += step")


def test_a_line_taken_out_leaves_no_blank_one():
    assert changed("total += x[t]", "") == CODE.replace("        total += x[t]\n", "")


@pytest.mark.parametrize(
    ("texts", "says"),
    [
        (("x[s]", "x[t]"), "occurs nowhere:\nx[s]"),
        (("total", "sum"), "occurs 3 times:\ntotal"),
        (("total += x[t]\ntotal", "a"), "occurs nowhere:\ntotal += x[t]\ntotal"),
        (("x[t]", "x[s]", ("x[t]", "x[r]")), "pair 2: this text must occur once"),
        (
            ("x[t]", "x[s]", ("x[t]", "x[r]")),
            "occurs nowhere:\nx[t]\nAfter the pairs before it, the code is\n" + CODE.replace("x[t]", "x[s]"),
        ),
        (("x[t]", "x[t]"), "it changes nothing"),
        (("x[t]", "x[s]", ("x[s]", "x[t]")), "it changes nothing"),
        (
            ("x[t]", "x[t"),
            "the result is not valid Python ('[' was never closed, line 4):\n" + CODE.replace("x[t]", "x[t"),
        ),
        (("total = 0\nfor t in range(3):", "for t in range(3):\n    total = 0\nfor"), "the result is not valid Python"),
    ],
)
def test_a_change_that_does_not_fit_says_what_was_looked_for(texts, says):
    with pytest.raises(ChangeError) as caught:
        changed(*texts)
    assert says in str(caught.value)


# In a spec -----------------------------------------------------------------------------------------------------------


@pytest.fixture
def spec():
    return Spec([Output("y")], Case({}, {}), lambda rng: (), facets=[Facet("a"), Facet("b")])


@pytest.mark.parametrize(
    ("name", "keeps", "says"),
    [
        ("not good", ["a"], "mistake 'not good': its name is not an identifier"),
        ("there", ["a"], "mistake 'there': the name is used already"),
        ("new", ["a", "c", "d"], "mistake 'new': it keeps 'c, d', but no facet has that name"),
    ],
)
def test_a_mistake_that_is_not_complete_is_refused(spec, name, keeps, says):
    spec.mistakes({"there": len})
    with pytest.raises(ValueError, match=says.replace("'", ".")):
        spec.mistakes({name: len}, keeps)


def test_ways_keep_their_order(spec):
    first, second = change("a", "b"), len
    spec.mistakes({"new": [first, second], **instead("c", {"d": "e", "f": "g"})}, ["a"])
    assert [(name, its.ways, its.keeps) for name, its in spec.named_mistakes.items()] == [
        ("new", [first, second], ("a",)),
        ("d", [change("c", "e")], ("a",)),
        ("f", [change("c", "g")], ("a",)),
    ]


WORDS = "# Why it works\n\nIt\ndoes.\n\n# Mistakes\n\n## new\n\nA message\nof two lines.\n\n> It\n> tempts.\n"


def test_messages_become_one_paragraph(tmp_path):
    path = tmp_path / "mistakes.md"
    assert read_mistake_words(path) == MistakeWords()
    path.write_text(WORDS)
    assert read_mistake_words(path) == MistakeWords(
        "It\ndoes.", {"new": "A message of two lines."}, {"new": "It tempts."}
    )


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("A message\nof two lines.", "", "new has no message"),
        ("> It\n> tempts.", "", "new lacks a line '> …'"),
        ("## new", "## not good", "the heading 'not good' is no name of a mistake"),
        ("# Mistakes\n", "# Mistakes\n\n## new\n\nA.\n\n> B.\n", "the heading 'new' stands twice"),
        ("# Mistakes\n", "# Mistakes\n\nThese.\n", "there is text above the first mistake: 'These.'"),
        ("# Mistakes", "# Errors", "its headings of the first level are to be '# Why it works' and '# Mistakes'"),
    ],
)
def test_words_that_are_not_complete_are_refused(tmp_path, old, new, says):
    path = tmp_path / "mistakes.md"
    path.write_text(WORDS.replace(old, new))
    with pytest.raises(MessageError, match=re.escape(says)):
        read_mistake_words(path)


@pytest.fixture
def course(tmp_path):
    return write_small_course(tmp_path)


@pytest.fixture
def place(course):
    return load_manifest(course / "course.toml").place("rnn_forward")


def edit(course, name, old, new):
    path = course / "solutions/ch01_vanilla_rnn" / name
    text = path.read_text("utf-8")
    assert old in text
    path.write_text(text.replace(old, new), "utf-8")


def test_a_changed_solution_uses_its_module_and_shows_its_lines():
    place = load_manifest(ROOT / "course.toml").place("rnn_forward")
    spec = load_spec(ROOT, place)
    mistake = spec.named_mistakes["loops_over_the_batch"]
    way, *_ = mistake.functions
    assert inspect.getsource(way) == mistake.ways[0].apply(reference_code(ROOT, place))
    assert drive("call", way, next(iter(spec.cases(np.random.default_rng(0))))).raised.lines[0].text == (
        "line 4, in rnn_forward: h_t = rnn_step(x_t, h_t, W_xh, W_hh, b_h)"
    )


def test_a_solution_that_was_rewritten_names_every_change_that_fits_no_longer(course, place):
    assert load_spec(course, place).named_mistakes["time_axis_first"].functions
    edit(course, "recurrence.py", "return np.stack(h, axis=1)", "return np.stack(h, 1)")
    with pytest.raises(SpecError) as caught:
        load_spec(course, place)
    said = str(caught.value)
    assert "rnn_forward/spec.py: mistake 'time_axis_first', way 1: this text must occur once" in said
    assert "occurs nowhere:\nnp.stack(h, axis=1)\n" in said
    assert "mistake 'last_state_only', way 1: " in said
    assert "h_0_comes_first" not in said
    assert said.endswith("The code is\n" + reference_code(course, place))


def test_mistakes_may_be_in_a_file_of_their_own(course, place):
    before = {name: entry.ways for name, entry in load_spec(course, place).named_mistakes.items()}
    folder = course / "solutions/ch01_vanilla_rnn/rnn_forward"
    text = (folder / "spec.py").read_text("utf-8")
    at = slice(text.index("SPEC.mistakes("), text.index("@SPEC.alternative"))
    head = (
        "from grader.spec.spec import change, instead\nfrom solutions.ch01_vanilla_rnn.rnn_forward.spec import SPEC\n"
    )
    (folder / "mistakes.py").write_text(head + text[at], "utf-8")
    with pytest.raises(SpecError, match=r"spec.py: has mistakes beside mistakes.py; move them there"):
        load_spec(course, place)
    (folder / "spec.py").write_text(text.replace(text[at], ""), "utf-8")
    for _ in range(2):  # nothing of the first time is left
        assert {name: entry.ways for name, entry in load_spec(course, place).named_mistakes.items()} == before
    edit(course, "recurrence.py", "return np.stack(h, axis=1)", "return np.stack(h, 1)")
    with pytest.raises(SpecError, match=r"rnn_forward/mistakes.py: mistake 'time_axis_first', way 1"):
        load_spec(course, place)


def test_a_spec_takes_what_another_has_from_its_own_course(course, place, tmp_path):
    other = write_small_course(tmp_path / "other")
    edit(other, "rnn_step/spec.py", "B=1, D=3, H=2", "B=1, D=3, H=7")
    here = "solutions.ch01_vanilla_rnn"
    for root in (course, other, course):
        for package in ("solutions", "solutions/ch01_vanilla_rnn"):  # as in a whole course
            (root / package / "__init__.py").touch()
        path = root / "solutions/ch01_vanilla_rnn/rnn_forward/spec.py"
        path.write_text(f"from {here}.rnn_step.spec import cases as theirs\n" + path.read_text("utf-8"), "utf-8")
        before = {name: module for name, module in sys.modules.items() if name.startswith("solutions")}
        cases = load_spec(root, place).cases.__globals__["theirs"](np.random.default_rng(0))
        assert any(case.sizes["H"] == 7 for case in cases) == (root == other)
        assert before == {name: module for name, module in sys.modules.items() if name.startswith("solutions")}


def test_a_mistake_that_nobody_can_make_is_refused(course, place):
    old = '"last_state_only": change("return np.stack(h, axis=1)", "return h_t")'
    edit(course, "rnn_forward/spec.py", old, '"last_state_only": []')
    with pytest.raises(SpecError, match=r"mistake 'last_state_only' has no ways"):
        load_spec(course, place)


@pytest.mark.parametrize("heading", ["Mistake", "Tempting"])
def test_a_message_may_not_stand_among_the_hints(course, place, heading):
    assert (
        load_messages(course, place).mistakes["last_state_only"].startswith("You return only the state after the last")
    )
    path = course / "solutions/ch01_vanilla_rnn/rnn_forward/hints.md"
    path.write_text(path.read_text("utf-8") + f"\n## {heading}: last_state_only\n\nTwice.\n", "utf-8")
    with pytest.raises(MessageError, match=r"hints.md: the messages of mistakes belong into mistakes.md"):
        load_messages(course, place)


def test_words_and_mistakes_are_the_same_ones_in_the_order_of_the_words(course, place):
    names = list(load_spec(course, place).named_mistakes)
    path = course / "solutions/ch01_vanilla_rnn/rnn_forward/mistakes.md"
    text = path.read_text("utf-8")
    path.write_text(text.replace(f"## {names[0]}\n", "## another\n"))
    with pytest.raises(SpecError, match=r"mistakes.md: another is not a mistake of the spec"):
        load_spec(course, place)
    head, *parts = re.split(r"^(?=## )", text, flags=re.MULTILINE)
    path.write_text("".join([head, *(part.rstrip() + "\n\n" for part in reversed(parts))]))
    assert list(load_spec(course, place).named_mistakes) == names[::-1]
    path.write_text("".join([head, *parts[1:]]))
    with pytest.raises(SpecError, match=rf"mistakes.md: {names[0]} is missing"):
        load_spec(course, place)


def test_two_courses_may_give_their_code_the_same_name():
    codes = ["def f():\n    return 1\n", "def f():\n    return 2\n"]
    made = [define("f", code, inspect.getmodule(load_spec), "f, wrong 1") for code in codes]
    assert [inspect.getsource(function) for function in made] == codes
