"""Excerpts of students' code: what is removed, what stays, and how much of it is shown."""

import ast
import io
import textwrap
import tokenize
import unicodedata
import warnings
from pathlib import Path

import pytest

from grader.classreport.excerpts import CUT, MOST_LINES, MOST_OF_A_LINE, excerpt
from grader.classreport.names import ADDRESS, REMOVED, Names, words_in_code
from grader.grading.release import released_notebooks
from grader.manifest import load_manifest
from tests.loops import for_each

ROOT = Path(__file__).parents[2]
RELEASED = released_notebooks(ROOT, load_manifest(ROOT / "course.toml").chapter("ch01_vanilla_rnn"))
NONE = Names([])


def shown(source, names=NONE, exercise="f"):
    return excerpt(textwrap.dedent(source), exercise, names)


def test_comments_and_docstrings_are_removed():
    source = '''\
        # @author: Zoë Miller
        """Homework of Zoë Miller,
        who is happy."""

        def f(x):  # by Zoë
            """Zoë's own."""
            # and her cat's
            s = "# no comment"  # but this is one
            """a note"""

            return x, s
        '''
    assert shown(source) == 'def f(x):\n    s = "# no comment"\n\n    return x, s'


def test_a_function_of_a_docstring_alone_keeps_its_form():
    assert shown('def f(x):\n    "Zoë"\n') == "def f(x):\n    pass"
    assert shown('class f:\n    "Zoë"\n    def g(self): "Zoë"; return 1\n').count("Zoë") == 0
    assert shown('if x:\n    "Zoë"\nelse:\n    """Zoë"""\n') == "if x:\n    pass\nelse:\n    pass"
    assert shown('match x:\n    case 1:\n        "Zoë"\n') == "match x:\n    case 1:\n        pass"


def test_a_string_that_is_a_value_stays():
    source = 'def f(x):\n    text = """one\n\n\n    two"""\n    return (\n        "three"\n        "four"\n    )'
    assert ast.dump(ast.parse(shown(source))) == ast.dump(ast.parse(source))


@pytest.mark.parametrize("ending", ["\n", "\r\n", "\r", "\x0c\n"])
def test_any_line_ending(ending):
    code = shown(ending.join(["def f(x):  # Zoë", "    y = x", "    return y", ""]))
    assert [line for line in code.splitlines() if line] == ["def f(x):", "    y = x", "    return y"]


@pytest.mark.parametrize("source", ["def f(x:\n", "f = '\\ud800\n", "\0", "(" * 500, "x = 1" * 9000, "\tx\n  y\n"])
def test_what_is_not_python_is_not_shown(source):
    assert shown(source) == ""


def test_a_warning_about_students_code_is_no_warning_here():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert shown("def f(x):\n    return x is 1, '\\d'") == "def f(x):\n    return x is 1, '\\d'"


def test_of_a_long_cell_the_definition():
    before = "".join(f"helper_{n} = {n}\n" for n in range(40))
    assert shown(f"{before}def f(x):\n    return x\n{before}") == "def f(x):\n    return x"
    long = shown(f"{before}def f(x):\n" + "".join(f"    x += {n}\n" for n in range(40)))
    assert len(long.splitlines()) == MOST_LINES + 1
    assert long.startswith("def f(x):\n    x += 0\n")
    assert long.endswith(CUT)
    wide = shown("def f(x):\n    return " + " + ".join(["x"] * 100))
    assert max(map(len, wide.splitlines())) == MOST_OF_A_LINE + 1 + len(CUT)


def test_what_controls_a_terminal_or_reverses_text_is_replaced():
    assert shown("s = '\u202egnp\x1b[31m'") == "s = '\N{REPLACEMENT CHARACTER}gnp\N{REPLACEMENT CHARACTER}[31m'"


def test_the_courses_own_code_means_the_same():
    """All solutions, without their docstrings, as an independent parse has them."""
    sources = [path for path in sorted((ROOT / "solutions").glob("*/*.py")) if path.stat().st_size < 20_000]
    assert len(sources) > 10
    for path in sources:
        source = path.read_text("utf-8")
        for statement in ast.parse(source).body:
            if isinstance(statement, ast.FunctionDef) and statement.end_lineno - statement.lineno < MOST_LINES - 1:
                own = ast.get_source_segment(source, statement)
                found = excerpt(own, statement.name, NONE)
                if CUT not in found:
                    assert ast.dump(ast.parse(found)) == ast.dump(Undocumented().visit(ast.parse(own))), path
                    tokens = tokenize.generate_tokens(io.StringIO(found).readline)
                    assert all(token.type != tokenize.COMMENT for token in tokens)


class Undocumented(ast.NodeTransformer):
    def visit_FunctionDef(self, node):
        self.generic_visit(node)
        if ast.get_docstring(node) is not None:
            node.body = node.body[1:]
        return node


def test_names_are_removed():
    names = Names(["ann.lee", "20481234", "Zoë Müller", "bo"], ["Ann-Kathrin", "Lee", "kathi99@uni.edu"])
    source = """\
        def f(x):
            annLee_W, zoe, MULLER, lee_2, bo = x
            by = "Written by ANN LEE <ann@x.org>, bo and Zoe (20481234), kathi99"
            return f20481234(x@W.T), kathrin, bold, leek, planned
        """
    assert shown(source, names) == textwrap.dedent(
        f"""\
        def f(x):
            {REMOVED}_W, {REMOVED}, {REMOVED}, {REMOVED}_2, {REMOVED} = x
            by = "Written by {REMOVED} {REMOVED} <{ADDRESS}>, {REMOVED} and {REMOVED} ({REMOVED}), {REMOVED}"
            return {REMOVED}(x@W.T), {REMOVED}, bold, leek, planned"""
    )


FORMS = [
    "Zoe\u0308",
    "zoe\u0308_2",
    "zo\u200be",
    "\u202eZoë",
    "Z\u00adoë",
    "\uff3a\uff4f\uff45",
    "ZOE\u0308\u0301",
    "𝐙𝐨𝐞",
    "zo\u2060ë",
]
FORMS += ["M\u0075\u0308ller", "mu\u0308LLER1", "Nu\u0303n\u0303ez", "x_Nun\u0303ez", "nuñez", "Nunez"]


@for_each("form", FORMS)
def test_a_name_in_another_form(form):
    """Decomposed accents split a word in two, neither of which was a name; an invisible character did, too."""
    found = Names(["zoe"], ["Zoë Müller", "Nuñez"]).without(f"a {form} b")
    assert REMOVED in found
    plain = "".join(c for c in unicodedata.normalize("NFKD", found).casefold() if c.isalpha())
    assert not any(name in plain for name in ("zoe", "muller", "nunez")), found


def test_names_are_decomposed_in_the_gradebook_too():
    assert Names(["zoe\u0308-mu\u0308ller"]).without("by Zoë Müller") == f"by {REMOVED} {REMOVED}"


def test_a_name_that_is_a_word_of_the_course_stays_as_code_only():
    names = Names(["max", "Eva", "for"], [], words_in_code(RELEASED.values()))
    code = shown("def f(x):\n    for eva in x.max(axis=0):\n        print('Max and MAX')", names)
    assert code == f"def f(x):\n    for {REMOVED} in x.max(axis=0):\n        print('{REMOVED} and {REMOVED}')"


def test_a_part_that_many_ids_share_names_no_student():
    ids = [f"student{number:02d}" for number in range(30)]
    assert Names(ids).without("student, student07, student_7, my_student29_x") == (
        f"student, {REMOVED}, student_7, my_{REMOVED}_x"
    )
    assert Names(["student01"]).without("student") == REMOVED  # then it may be a name


def test_a_long_id_is_found_within_a_word():
    assert Names(["leeann12345"]).without("xleeann12345forward and leean") == f"{REMOVED} and leean"
