"""Reports as text and as HTML: the same facts, escaped, legible in any theme, and never by colour alone."""

import colorsys
import html
import re
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest

from grader import check, hint, progress
from grader.checking.verdict import CaseResult, Diagnosis, FacetResult, Grid, Problem, Verdict
from grader.counts import number
from grader.render.html import inline, verdict_html
from grader.render.rows import headline, rows
from grader.render.text import verdict_text

EVIL = "<script>alert(\"x\")</script> & <b>'bold'</b>"
GRID = Grid("T", "H", ("0011", "0001"))


def verdict(status="failed", problems=(), diagnosis=None, note="", earned=0.0, facets=(), **case):
    text = {"name": "B=2, H=3", "call": "f(x (2, 3))", "returned": "y float64 (2, 3)", **case}
    cases = (CaseResult(**text, problems=tuple(problems)), CaseResult("B=1", "f(x (1, 3))", "y float64 (1, 3)"))
    return Verdict("f", "F", status, earned, 2.0, "One › Start", cases, facets, diagnosis, note)


VERDICTS = {
    "passed": verdict("passed", earned=2.0),
    "unimplemented": Verdict("f", "F", "unimplemented", 0, 2, "One › Start"),
    "unimplemented, with a note": Verdict("f", "F", "unimplemented", 0, 2, "One › Start", note="f calls g."),
    "timeout": Verdict("f", "F", "timeout", 0, 2, "One › Start", note="It ran too long."),
    "error": verdict("error", [Problem("raised", "ValueError: no\nmore", lines=("line 2, in f: `x` < 1",))]),
    "died": Verdict("f", "F", "error", 0, 2, "One › Start", (CaseResult("", "f(…)", "", (Problem("raised", "d"),)),)),
    "failed": verdict(
        problems=[Problem("values", "3 of 6 entries", "y", grid=GRID), Problem("changed", "`x` is changed")],
        diagnosis=Diagnosis("no_bias", "The bias `b_h` is missing."),
    ),
    "partly": verdict(
        problems=[Problem("shape", "y: got (2,), expected (3,)", "y"), Problem("dtype", "z: got float32", "z")],
        earned=0.5,
        facets=(FacetResult("y", 0.5, 0.5), FacetResult("z", 0.0, 1.5)),
    ),
    "evil": verdict(
        "error",
        [Problem("raised", EVIL, EVIL, (EVIL, "`" + EVIL + "`")), Problem("judge", EVIL)],
        Diagnosis("evil", EVIL + "`" + EVIL + "`"),
        EVIL,
        name=EVIL,
        call=EVIL,
        returned=EVIL,
    ),
    "control characters": verdict(
        problems=[Problem("judge", "a\x00b\x1b[31mred\r\x07\x9b\x7f\u202e\u2066\u200f\u2028")], returned="\x1b]0;t\x07"
    ),
}


class Checked(HTMLParser):
    """Reads HTML and keeps what matters; a tag that is not closed, or closes another, is an error."""

    VOID: frozenset[str] = frozenset()

    def __init__(self, source: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None], tuple[str, ...]]] = []
        self.words: list[str] = []
        self.feed(source)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        assert len({name for name, _ in attrs}) == len(attrs)
        assert all(value is not None for _, value in attrs)
        self.tags.append((tag, dict(attrs), tuple(self.open)))
        self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, dict(attrs), tuple(self.open)))

    def handle_data(self, data):
        self.words.append(data)

    @property
    def text(self):
        return "".join(self.words)


PHRASING = {"span", "code", "strong", "svg", "text", "path", "circle", "rect", "g", "title", "desc"}


@pytest.mark.parametrize("name", VERDICTS)
def test_the_html_is_well_formed_and_made_of_what_may_stand_where_it_stands(name):
    page = Checked(verdict_html(VERDICTS[name]))
    for tag, _, around in page.tags:
        assert tag in PHRASING | {"div", "dl", "dt", "dd", "pre"}
        if tag not in PHRASING:
            assert not PHRASING & set(around), f"<{tag}> stands in {around}"
        if tag in ("dt", "dd"):
            assert around[-1] == "dl"
        if around and around[-1] == "dl":
            assert tag in ("dt", "dd")


@pytest.mark.parametrize("name", VERDICTS)
def test_text_and_html_say_the_same(name):
    found = VERDICTS[name]
    shown = " ".join(Checked(verdict_html(found)).text.split())
    text = verdict_text(found)
    for row in rows(found):
        assert row.label in text
        assert row.label in shown
        if row.grid is None:
            assert " ".join(row.text.replace("`", "").split()) in shown.replace("`", "")
        assert all(line in text for line in row.text.splitlines())
    assert headline(found) in shown
    assert headline(found) in text.splitlines()[0]


def test_whatever_a_student_wrote_is_escaped():
    source = verdict_html(VERDICTS["evil"])
    assert "<script" not in source
    assert "<b>" not in source
    assert {tag for tag, *_ in Checked(source).tags} <= PHRASING | {"div", "dl", "dt", "dd", "pre"}
    assert source.count(html.escape("<script>alert")) >= 8


def test_an_exceptions_own_text_is_escaped_through_the_whole_flow(session):
    def evil(**_):
        raise ValueError(EVIL)

    source = check("rnn_step", evil)._repr_html_()
    assert html.escape(EVIL) in source
    assert "<script" not in source


@pytest.mark.parametrize("renderer", [verdict_text, verdict_html])
def test_no_control_character_reaches_a_terminal_or_a_page(renderer):
    shown = renderer(VERDICTS["control characters"])
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]", shown)
    assert "a\N{REPLACEMENT CHARACTER}b" in shown


@pytest.mark.parametrize("name", VERDICTS)
def test_no_text_and_no_background_has_a_colour_of_its_own(name):
    """The theme's own text on the theme's own ground is legible in light and dark."""
    for tag, attrs, _ in Checked(verdict_html(VERDICTS[name])).tags:
        for declaration in filter(None, (attrs.get("style") or "").split(";")):
            prop, value = declaration.split(":")
            assert prop in {"border-left", "padding", "margin", "font-weight", "white-space", "overflow-wrap"} | {
                "overflow-x",
                "max-width",
                "height",
                "color",
            }
            assert prop != "color" or value == "inherit"
        if tag in ("svg", "text"):
            assert attrs.get("fill", "currentColor") == "currentColor"


def contrast(one, other):
    def luminance(colour):
        parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("name", VERDICTS)
@pytest.mark.parametrize("ground", ["#ffffff", "#111111", "#1e1e1e"])
def test_edges_and_marks_are_seen_on_light_and_dark_ground(name, ground):
    for colour in re.findall(r"#[0-9a-fA-F]{6}\b", verdict_html(VERDICTS[name])):
        assert contrast(colour, ground) >= 3, colour


def test_the_stub_is_not_shown_in_red():
    for colour in re.findall(r"#[0-9a-fA-F]{6}\b", verdict_html(VERDICTS["unimplemented"])):
        red, green, blue = (int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5))
        hue, _, saturation = colorsys.rgb_to_hls(red, green, blue)
        assert saturation < 0.2 or 0.11 < hue < 0.9, colour
    assert "✗" not in verdict_html(VERDICTS["unimplemented"])
    assert "not implemented yet" in verdict_text(VERDICTS["unimplemented"])


def test_every_status_has_words_of_its_own():
    shown = {
        status: headline(verdict(status, [Problem("judge", "no")] if status != "passed" else []))
        for status in ("passed", "failed", "error", "unimplemented", "timeout")
    }
    assert len(set(shown.values())) == 5
    assert shown["passed"] == "right on all 2 cases"
    assert shown["failed"] == "not right yet: 1 of 2 cases pass"
    assert shown["error"] == "ended in an error: 1 of 2 cases pass"


def test_headlines_without_cases():
    plain = {s: headline(Verdict("f", "F", s, 0, 1, "p")) for s in ("passed", "failed", "error")}
    assert plain == {"passed": "right", "failed": "not right yet", "error": "ended in an error"}


def test_rows_come_in_the_order_they_are_read():
    labels = [row.label for row in rows(VERDICTS["failed"])]
    assert labels == [
        "case",
        "called",
        "you returned",
        "differs in",
        "where",
        "changed input",
        "likely cause",
        "next",
    ]


def test_outputs_are_named_where_several_are_wrong():
    texts = {row.label: row.text for row in rows(VERDICTS["partly"])}
    assert texts["shape"] == "y: got (2,), expected (3,)"
    assert texts["dtype"] == "z: got float32"
    assert texts["earned"] == "y 0.5 / 0.5 · z 0 / 1.5"


def test_points_of_parts_are_told_only_where_some_are_earned():
    facets = (FacetResult("y", 0.0, 0.5), FacetResult("z", 0.0, 1.5))
    assert "earned" not in [row.label for row in rows(verdict(facets=facets))]
    assert "earned" not in [row.label for row in rows(verdict("passed", earned=2.0, facets=facets))]


def test_where_later_calls_went_wrong_as_a_whole_the_report_says_why_nothing_is_earned():
    facets = (FacetResult("y", 0.0, 0.5), FacetResult("z", 0.0, 1.5))
    values, raised = Problem("values", "y: 1 of 2 entries", "y"), Problem("raised", "ValueError")
    found = verdict(problems=[values], facets=facets)
    found = replace(found, cases=(*found.cases, replace(found.cases[0], problems=(raised,)), found.cases[0]))
    texts = {row.label: row.text for row in rows(found)}
    assert texts["earned"] == "nothing: the call ended in an exception on 1 of 4 cases"
    shown = replace(found, cases=(found.cases[2], *found.cases))  # the case that is shown tells it
    assert "earned" not in [row.label for row in rows(shown)]


def test_the_next_step_is_there_until_all_is_right():
    assert 'hint("f")   page: One › Start' in verdict_text(VERDICTS["failed"])
    assert "hint(" not in verdict_text(VERDICTS["passed"])
    assert rows(VERDICTS["passed"]) == []
    assert "<dl" not in verdict_html(VERDICTS["passed"])


def test_a_text_of_several_lines_is_indented_under_its_label():
    lines = verdict_text(VERDICTS["error"]).splitlines()
    at = next(i for i, line in enumerate(lines) if "stopped with" in line)
    assert lines[at : at + 3] == [
        "  stopped with   ValueError: no",
        "                 more",
        "                 line 2, in f: `x` < 1",
    ]


@pytest.mark.parametrize(("value", "text"), [(2.0, "2"), (1.5, "1.5"), (0.0, "0"), (1 / 3, "0.33"), (100 / 3, "33.33")])
def test_points_as_people_write_them(value, text):
    assert number(value) == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a `b` c", "a <code>b</code> c"),
        ("`a` `b`", "<code>a</code> <code>b</code>"),
        ("an ` alone", "an ` alone"),
        ("`<b>`", "<code>&lt;b&gt;</code>"),
        ("`a\nb`", "`a\nb`"),
        ("``", "``"),
    ],
)
def test_code_between_backticks(text, shown):
    assert inline(text) == shown


def test_hint_and_progress_are_shown_in_a_notebook(session):
    check("rnn_step", lambda **_: np.zeros(3))
    assert Checked(progress()._repr_html_()).text == repr(progress())
    assert hint("rnn_step", 2)._repr_markdown_().count("`hint(") == 1


def test_of_several_results_a_picture_is_drawn_only_where_something_is_right():
    partly, all_wrong = Grid("T", "H", ("01",)), Grid("T", "H", ("11",))
    both = [Problem("values", "…", "y", grid=partly), Problem("values", "…", "z", grid=all_wrong)]
    assert [row.grid for row in rows(verdict(problems=both)) if row.label == "where"] == [partly]
    assert [row.grid for row in rows(verdict(problems=both[1:])) if row.label == "where"] == [all_wrong]
