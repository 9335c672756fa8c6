"""A page of feedback: what it says and in which words, and that no student's text is ever more than text."""

import dataclasses
import html
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from grader.checking.verdict import CaseResult, Diagnosis, FacetResult, Grid, Problem, Verdict
from grader.feedback.page import Beside, feedback_page
from grader.gradebook.scores import Recorded, Score
from grader.grading.grade import Graded
from grader.manifest import load_manifest
from grader.messages import Messages
from grader.released import Released
from grader.render.picture import grid_svg
from grader.render.rows import rows
from grader.submission.fault import Fault
from grader.submission.remark import Ended, LeftOut, OddCell, OtherName, Remark, Unreadable

ROOT = Path(__file__).parents[2]
MANIFEST = load_manifest(ROOT / "course.toml")
CHAPTER = MANIFEST.chapter("ch01_vanilla_rnn")
MESSAGES: dict[str, Messages] = {e.id: Released(ROOT / "grader" / "data").messages(e.id) for e in CHAPTER.exercises}
HINTS = {name: messages.hints[0] for name, messages in MESSAGES.items()}
WHERE = {exercise.id: notebook.name for notebook in CHAPTER.notebooks for exercise in notebook.exercises}
GRID = Grid("T", "H", ("0011", "0001"))


def verdict(name, status="passed", **more):
    exercise = MANIFEST.place(name).exercise
    earned = more.pop("earned", exercise.points if status == "passed" else 0.0)
    page = MANIFEST.place(name).page_title
    return Verdict(name, exercise.title, status, float(earned), float(exercise.points), page, **more)


def graded(*changed, public=(), **more):
    """A submission in which all is right but for these verdicts."""
    verdicts = {n: {e: verdict(e) for e in WHERE if WHERE[e] == n} for n in (nb.name for nb in CHAPTER.notebooks)}
    for each in changed:
        verdicts[WHERE[each.id]][each.id] = each
    seen = {notebook: {v.id: v for v in public if WHERE[v.id] == notebook} for notebook in verdicts}
    return Graded("ann", verdicts, seen, answers=more.pop("answers", {"capstone": {"why_it_writes": "digest"}}), **more)


def page(*changed, manifest=MANIFEST, **more):
    return feedback_page(manifest, CHAPTER, graded(*changed, **more), HINTS)


class Reader(HTMLParser):
    """The tags, attributes and text of a page, as a browser reads them."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.attributes, self.texts = [], [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.attributes += [(tag, *pair) for pair in attributes]

    def handle_data(self, data):
        self.texts.append(data)

    def handle_comment(self, data):
        raise AssertionError(data)


def words(text):
    reader = Reader(text.partition("</style>")[2])
    return re.sub(r"\s+", " ", "".join(reader.texts))


CASE = CaseResult(
    "B=2, T=4",
    "rnn_forward(x (2, 4, 1))",
    "h float64 (2, 4, 3)",
    (Problem("values", "3 of 8 entries, first at [0, 2]: got 0.25, expected 0.75", "h", grid=GRID),),
)
OPEN = verdict(
    "rnn_forward",
    "failed",
    cases=(CASE, CaseResult("B=1", "rnn_forward(…)", "h float64 (1, 1, 1)")),
    facets=(FacetResult("one time step", 0.5, 0.5), FacetResult("several time steps", 0.0, 1.5)),
    diagnosis=Diagnosis("late", "Every result is one time step too late."),
    earned=0.5,
)
HIDDEN = dataclasses.replace(OPEN, cases=(), note="On hidden cases the values differ from the expected ones.")


def test_points_for_each_exercise_and_in_all():
    text = words(page(HIDDEN, public=[OPEN]))
    assert (
        "13.5 of 15 points from the exercises. The questions are worth 2 more points, given by your instructor." in text
    )
    assert "One step of the recurrence✓ right2 of 2" in text
    assert "The forward pass over a sequence✗ not right yet0.5 of 2" in text
    assert "All exercises13.5 of 15" in text


def test_a_public_case_in_the_words_of_the_notebooks_check():
    text = page(HIDDEN, public=[OPEN])
    read = words(text)
    for row in rows(OPEN):
        if row.label not in ("next", "earned", "where"):
            assert f"{row.label}{row.text}" in read
    assert grid_svg(GRID) in text
    assert "Not right yet: 1 of 2 cases pass. The first that fails:" in read
    assert (
        "Hidden cases On hidden cases the values differ from the expected ones. The likely cause is the same." in read
    )
    assert read.count("Every result is one time step too late.") == 1
    assert read.count("one time step 0.5 / 0.5 · several time steps 0 / 1.5") == 1  # those of hidden cases


def test_another_cause_on_hidden_cases_is_told_beside():
    other = dataclasses.replace(HIDDEN, diagnosis=Diagnosis("sign", "Every number has the wrong sign."))
    read = words(page(other, public=[OPEN]))
    assert "Every result is one time step too late." in read
    assert "Every number has the wrong sign." in read
    assert "The likely cause is the same." not in read


def test_right_on_public_cases_and_wrong_on_hidden_ones():
    read = words(page(HIDDEN, public=[verdict("rnn_forward", cases=(CASE, CASE))]))
    assert "Public cases All of them pass. The mistake shows only on hidden cases." in read
    assert CASE.call not in read


def test_what_never_ran_has_its_note_alone():
    read = words(page(verdict("rnn_step", "timeout", note="rnn_step was stopped after 5 s.")))
    assert (
        "0 of 2 points, stopped: it ran longer than its time limit noternn_step was stopped after 5 s. A question"
        in read
    )
    assert "Public cases" not in read


def test_a_stub_says_what_to_do():
    stub = verdict("rnn_step", "unimplemented")
    read = words(page(stub, public=[stub]))
    assert "○ 0 of 2 points, not implemented yet what to doreplace the line that raises NotImplementedError" in read
    assert "Public cases" not in read


def test_the_first_hint_is_folded_and_no_other_is_there():
    every = [dataclasses.replace(verdict(name, "failed"), note="On hidden cases …") for name in HINTS]
    text = page(*every, public=[dataclasses.replace(v, cases=(CASE,)) for v in every])
    for name, messages in MESSAGES.items():
        start = text.index(f'id="{name}"')
        folded = re.search(r"<details>(.*?)</details>", text[start:], re.DOTALL)[1]
        assert (
            " ".join(messages.hints[0].split()) in words("</style>" + folded).replace("`", "")
            or "`" in messages.hints[0]
        )
        assert f'hint("{name}", 2)' in html.unescape(folded)
        for later in messages.hints[1:]:
            assert html.escape(later.splitlines()[0]) not in text
    assert text.count("<details>") == len(HINTS)
    assert "<details open" not in text


def test_the_books_page_is_named_and_linked_where_the_manifest_says_where_it_is():
    assert "Read again: The vanilla RNN › One step of a recurrent network" in words(page(HIDDEN))
    assert 'href="http' not in page(HIDDEN)
    for url in ("https://example.org/book/", "../../../book"):
        linked = page(HIDDEN, manifest=dataclasses.replace(MANIFEST, book_url=url))
        address = f"{url.rstrip('/')}/book/ch01_vanilla_rnn/one_step.html#exercise-rnn_forward"
        assert f'<a href="{address}" rel="noreferrer">The vanilla RNN › One step of a recurrent network</a>' in linked


def test_questions_wait_for_a_person_or_were_left_empty():
    assert "Explain why it writesyour instructor will read and grade your answer– of 2" in words(page())
    assert "Explain why it writesno answer found0 of 2" in words(page(answers={"capstone": {"why_it_writes": ""}}))
    assert "appear here if they were recorded before this page was made." in words(page())


def with_scores(*changed, scores, late=0.0, **more):
    return feedback_page(MANIFEST, CHAPTER, graded(*changed, **more), HINTS, Recorded(scores, late))


def test_what_a_person_gave_counts_and_what_the_checks_gave_stands_beside():
    scores = {
        "rnn_forward": Score(manual=1.5, comment="The idea\n\nis <right>."),
        "rnn_step": Score(extra=0.5),
        "why_it_writes": Score(manual=1.0, comment="Say why."),
    }
    text = with_scores(HIDDEN, public=[OPEN], scores=scores)
    read = words(text)
    assert "15 of 15 points from the exercises. The checks gave 13.5; your instructor changed that." in read
    assert "1 of 2 points from the questions." in read
    assert (
        "The forward pass over a sequence✗ not right yet; the checks gave 0.5, which your instructor changed1.5 of 2"
        in read
    )
    assert "One step of the recurrence✓ right; the checks gave 2, which your instructor changed2.5 of 2" in read
    assert "✗ 0.5 of 2 points from the checks, 1.5 from your instructor, not right yet" in read
    assert "Explain why it writesgraded by your instructor1 of 2" in read
    assert "All exercises15 of 15" in read
    assert (
        "Your instructor's comments The forward pass over a sequence The idea is <right>. "
        "Explain why it writes Say why." in read
    )
    assert "<dd>The idea\n\nis &lt;right&gt;.</dd>" in text


def test_every_page_has_a_grand_total_and_says_which_attempt_counts():
    beside = Beside("Ann Lee (ann)", "Attempt 1 of 2 counts.")
    read = words(feedback_page(MANIFEST, CHAPTER, graded(), HINTS, beside=beside))
    assert "For Ann Lee (ann)" in read
    assert "Total: 15 of 17 points so far." in read
    assert "Attempt 1 of 2 counts." in read
    assert "Total15 of 17" in read


def test_a_notebook_that_is_missing_is_not_called_an_error():
    lost = [verdict(name, "missing", note="This notebook was not submitted.") for name in ("rnn_step", "rnn_forward")]
    read = words(page(*lost))
    assert "○ not submitted" in read
    assert "error" not in read


def test_a_late_penalty_is_named_with_what_it_leaves():
    scores = {"rnn_forward": Score(manual=1.5), "why_it_writes": Score(manual=1.0)}
    read = words(with_scores(HIDDEN, public=[OPEN], scores=scores, late=4.25))
    assert "14.5 of 15 points from the exercises." in read
    assert "Total: 11.25 of 17 points." in read
    assert "Submitted late: a penalty of 4.25 points is subtracted." in read
    assert "All exercises14.5 of 15 Late penalty−4.25 Total11.25 of 17" in read
    read = words(with_scores(scores={}, late=1.0))
    assert "Total: 14 of 17 points so far. 15 of 15 points from the exercises." in read
    assert "a penalty of 1 point is subtracted." in read
    assert "late" not in words(page())


def test_a_new_answer_keeps_its_points_until_a_person_has_looked():
    scores = {"why_it_writes": Score(manual=1.0, needs_a_human=True)}
    read = words(with_scores(scores=scores))
    assert "Explain why it writesgraded by your instructor, who will review it again1 of 2" in read


def test_a_gradebook_that_no_person_touched_changes_nothing():
    scores = {name: Score() for name in WHERE} | {"why_it_writes": Score(needs_a_human=True)}
    assert with_scores(HIDDEN, public=[OPEN], scores=scores) == page(HIDDEN, public=[OPEN])


def test_a_result_without_sandbox_is_stamped():
    stamp = "Not final. This submission was graded without the sandbox that isolates its code"
    assert stamp in words(page(sandboxed=False))
    assert stamp not in words(page())


def test_a_notebook_that_could_not_be_read_is_told_of_once():
    note = "The notebook could not be read: the file is empty. Open it in Jupyter, save it, and hand it in again."
    lost = [verdict(name, "error", note=note) for name in WHERE if WHERE[name] == "recurrence"]
    text = page(*lost)
    assert words(text).count(note) == 1
    for name in (v.id for v in lost):
        assert f'href="#{name}"' in text
        assert f'id="{name}"' in text


def test_an_exercise_that_is_newer_than_the_result():
    old = graded()
    del old.verdicts["writing"]
    read = words(feedback_page(MANIFEST, CHAPTER, old, HINTS))
    assert "Sampling one tokennot graded yet– of 2" in read


# --- a student's text ----------------------------------------------------------------------------------------

EVIL = [
    "</script><script>alert(1)</script>",
    "</style><style>*{display:none}</style>",
    "\"><img src=x onerror=alert(1)>' onmouseover='alert(1)",
    '<a href="javascript:alert(1)">javascript:alert(1)</a>',
    "<!-- --><![CDATA[ ]]></title><base href=//evil.example><meta http-equiv=refresh content=0>",
    "</code></pre></main></html><iframe srcdoc='<p>'>",
    "`</code><svg onload=alert(1)>`",
    "&lt;script&gt; &#60;script&#62; {{7*7}} {0} {cell}",
]
CONTROL = "\x00\x07\x1b[31m\x1b]0;title\x07\x9b\r\x7f\u202e\u202a\u2066\u2069\u200f\u061c\u2028\ud800"


def everywhere(text):
    """A submission that says this wherever a student's text can come to stand."""
    case = CaseResult(text, text, text, (Problem("raised", text, text, (text, text)), Problem("judge", text, text)))
    facets = (FacetResult(text, 0.5, 1), FacetResult(text, 0, 1))
    each = {"facets": facets, "diagnosis": Diagnosis("a", text), "note": text, "earned": 0.5}
    wrong = [verdict(name, "failed", **each) for name in HINTS]
    shown = [dataclasses.replace(v, cases=(case, case), diagnosis=Diagnosis("b", text)) for v in wrong]
    remarks = (
        Remark(Unreadable(text), "recurrence"),
        Remark(Unreadable(text), text),
        Remark(OddCell("undefined", text), "recurrence"),
        Remark(LeftOut(text, 4_100_000)),
        Remark(OtherName("recurrence.ipynb", False, text)),
    )
    return dataclasses.replace(graded(*wrong, public=shown, remarks=remarks), student=text)


def everything_said(text):
    return feedback_page(MANIFEST, CHAPTER, everywhere(text), HINTS)


@pytest.mark.parametrize("text", EVIL)
def test_a_students_text_is_text_and_nothing_else(text):
    evil, harmless = Reader(everything_said(text)), Reader(everything_said("harmless"))
    assert [tag for tag in evil.tags if tag != "code"] == [tag for tag in harmless.tags if tag != "code"]
    fixed = [(tag, name, value) for tag, name, value in harmless.attributes if name != "aria-label"]
    assert [(tag, name, value) for tag, name, value in evil.attributes if name != "aria-label"] == fixed
    assert not [name for _, name, _ in evil.attributes if name.startswith("on")]
    assert {value[0] for _, name, value in evil.attributes if name == "href"} == {"#"}
    assert "".join(evil.texts).replace("`", "").count(text.replace("`", "")) > 8 * 6


def test_characters_that_control_are_replaced():
    text = everything_said(f"a{CONTROL}b")
    assert not set(CONTROL) - set("[31m]0;title") & set(text)
    assert re.search("a\N{REPLACEMENT CHARACTER}+", text)
    assert text.encode("utf-8")


@pytest.mark.parametrize("unit", ["x", "\n", "<", "`a`", "\N{COMBINING ACUTE ACCENT}"])
def test_a_page_stays_small_whatever_a_student_writes(unit):
    text = everything_said(unit * 30_000)
    assert len(html.unescape(text)) < 2_000_000
    assert len(everything_said(unit * 60_000)) == len(text)


def test_remarks_without_end_are_cut():
    remarks = tuple(Remark(Ended(Fault("timeout", n, 5)), "recurrence", f"cell {n + 1}") for n in range(3000))
    text = page(remarks=remarks)
    assert text.count("<li>") == 21
    assert "2980 more remarks are not shown." in text


def test_nothing_is_fetched_and_nothing_may_be():
    text = everything_said("https://example.org/x.png")
    reader = Reader(text)
    policy = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
    at = reader.attributes.index(("meta", "http-equiv", "Content-Security-Policy"))
    assert reader.attributes[at + 1] == ("meta", "content", policy)
    assert reader.tags[:4] == ["html", "head", "meta", "meta"]  # the policy stands before all that it is for
    assert not {"script", "link", "img", "iframe", "object", "embed", "form", "base", "video", "use"} & set(reader.tags)
    assert not {"src", "srcset", "action", "data", "poster", "xlink:href"} & {name for _, name, _ in reader.attributes}
    style = text.partition("<style>")[2].partition("</style>")[0]
    assert "url(" not in style
    assert "@import" not in style
