"""Which mistakes a student has met and overcome, and how the diary displays them."""

from __future__ import annotations

import ast
import os
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from typer.testing import CliRunner

from grader import check, diary, journal
from grader.checking.diagnose.altered_input import short_name
from grader.cli.commands import app
from grader.journal import Entry
from grader.manifest import UnknownIdError
from grader.mistakes import GENERAL, GENERAL_KINDS, NO_MISTAKE, Met, general_title, met, short_title
from grader.released import COURSE

ROOT = Path(__file__).parents[1]
DIAGNOSE = ROOT / "grader" / "checking" / "diagnose"


def entries(*noted: str, exercise: str = "rnn_step") -> list[Entry]:
    """Checks written as 'STATUS' or 'STATUS CAUSE'; check number n ends at second n."""
    found = []
    for second, text in enumerate(noted):
        status, _, cause = text.partition(" ")
        at = f"2026-01-05T10:00:{second:02}+00:00"
        found.append(Entry(at, exercise, status, 2.0 * (status == "passed"), 2.0, cause or None))  # type: ignore[arg-type]
    return found


def at(second: int) -> str:
    return f"2026-01-05T10:00:{second:02}+00:00"


@pytest.mark.parametrize(
    ("noted", "overcome", "since"),
    [
        (["failed a"], None, None),
        (["failed a", "passed"], "passed", 1),
        (["passed", "failed a"], None, None),
        (["failed a", "passed", "failed a"], None, None),
        (["failed a", "failed b"], "gone", 1),
        (["failed a", "error b", "passed", "passed"], "passed", 2),
        (["failed a", "passed", "failed b"], "passed", 1),
        (["failed a", "failed"], None, None),
        (["failed a", "error"], None, None),
        (["failed a", "unimplemented"], None, None),
        (["failed a", "failed needs"], None, None),
        (["failed a", "failed two results of one call"], None, None),
    ],
)
def test_when_a_mistake_is_overcome(noted: list[str], overcome: str | None, since: int | None) -> None:
    first, *_ = met(entries(*noted))
    assert (first.cause, first.overcome) == ("a", overcome)
    assert first.since == (None if since is None else at(since))


def test_counts_and_times_of_each_mistake() -> None:
    noted = entries("failed a", "failed", "failed b", "failed a", "passed")
    other = entries("failed a", exercise="one_hot")
    assert met([*noted[:2], *other, *noted[2:]]) == [
        Met("rnn_step", "a", at(0), at(3), 2, 5, "passed", at(4)),
        Met("one_hot", "a", at(0), at(0), 1, 1, None, None),
        Met("rnn_step", "b", at(2), at(2), 1, 5, "passed", at(4)),
    ]
    assert met([]) == met(entries("passed", "failed", "failed needs")) == []


def test_the_order_is_that_of_the_file_and_not_the_clock() -> None:
    failed, passed = entries("failed a", "passed")
    early = Entry("1999-01-01T00:00:00+00:00", passed.exercise, "passed", 2.0, 2.0)
    (found,) = met([failed, early])
    assert (found.overcome, found.since) == ("passed", early.at)


def test_every_general_cause_has_a_title() -> None:
    """The ids are those that occur as the first argument of `Diagnosis`, or first in a table of patterns."""
    ids: set[str] = set()
    for path in DIAGNOSE.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Diagnosis":
                first = node.args[0]
                if isinstance(first, ast.JoinedStr):
                    first = first.values[0]
                if isinstance(first, ast.Constant):
                    ids.add(first.value)
            is_table = isinstance(node, ast.Assign | ast.AnnAssign) and isinstance(node.value, ast.Tuple)
            for row in node.value.elts if is_table else ():
                texts = [each.value for each in getattr(row, "elts", ()) if isinstance(each, ast.Constant)]
                if len(texts) == 2 and all(isinstance(text, str) for text in texts):
                    ids.add(texts[0])
    assert {"sign", "order", "needs", "never_filled", "after: "} <= ids
    earlier = {"counterfactual: "}  # in diaries of earlier releases
    assert ids | earlier == {*GENERAL, *GENERAL_KINDS, *NO_MISTAKE}
    some = COURSE.checks("rnn_step").altered_inputs[0]
    assert general_title(f"altered input: {short_name(some)}") == "An input was not used as it should be."
    assert general_title("counterfactual: zeros x_t") == general_title("altered input: zeros x_t")
    assert general_title("no_tanh") is None


@pytest.mark.parametrize(
    ("message", "title"),
    [
        ("You leave out the bias. Add it.", "You leave out the bias."),
        ("You return half: use `a: b. c` here.", "You return half."),
        ("You call `np.f. g: h` once. Do not.", "You call `np.f. g: h` once."),
        ("Use 0.5 instead. Then stop.", "Use 0.5 instead."),
        ("No end", "No end"),
    ],
)
def test_short_titles(message: str, title: str) -> None:
    assert short_title(message) == title


def test_the_titles_of_all_mistakes_are_short_sentences() -> None:
    for name in COURSE.manifest.places:
        messages = COURSE.messages(name)
        assert messages.mistakes.keys() == messages.tempting.keys()
        for cause, message in messages.mistakes.items():
            title = short_title(message)
            assert 10 < len(title) <= 200, (name, cause)
            assert title.endswith((".", "?", "!")), (name, cause)
            assert title.count("`") % 2 == 0, (name, cause)


# What a student sees --------------------------------------------------------------------------------------------------


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("UNROLLED_DIARY", str(tmp_path / "diary.jsonl"))
    return tmp_path / "diary.jsonl"


def leaves_out_the_tanh(x_t, h_prev, W_xh, W_hh, b_h):
    return x_t @ W_xh + h_prev @ W_hh + b_h


def right(x_t, h_prev, W_xh, W_hh, b_h):
    return np.tanh(leaves_out_the_tanh(x_t, h_prev, W_xh, W_hh, b_h))


def negative_step(x_t, h_prev, W_xh, W_hh, b_h):
    return -right(x_t, h_prev, W_xh, W_hh, b_h)


@pytest.mark.usefixtures("session", "file")
def test_a_diary_of_real_checks() -> None:
    check("rnn_step", leaves_out_the_tanh)
    check("rnn_step", right)
    check("rnn_step", negative_step)
    text = repr(diary("ch01_vanilla_rnn"))
    messages = COURSE.messages("rnn_step")
    assert text.startswith("Your checks have met 2 mistakes in The vanilla RNN. You have overcome 1 of them.")
    assert "✓ You return the pre-activation.\n    Overcome: the exercise passed on 20" in text
    assert "○ The result had the wrong sign.\n    Still open" in text
    flat = " ".join(text.split())
    assert f"You return the pre-activation. {messages.mistakes['no_tanh']}" not in flat  # said once
    assert messages.mistakes["no_tanh"].partition(". ")[2] in flat
    assert f"Why it is tempting: {messages.tempting['no_tanh']}" in flat
    assert "The vanilla RNN › One step of a recurrent network" in flat
    assert "no known mistake in Sequences" in repr(diary("ch00_sequences"))
    assert text.partition("\n")[2] == repr(diary()).partition("\n")[2]
    assert "<h4>✓ You return the pre-activation.</h4>" in diary()._repr_html_()


@pytest.mark.usefixtures("file")
def test_an_unknown_chapter_is_told() -> None:
    with pytest.raises(UnknownIdError, match="There is no chapter 'ch01'"):
        diary("ch01")


def test_nothing_of_a_manipulated_file_is_displayed(file: Path) -> None:
    evil = "<script>alert(1)</script>\x1b[31m"
    with file.open("w") as lines:
        for exercise, cause, when in [
            (evil, "sign", at(0)),
            ("rnn_step", evil, at(0)),
            ("rnn_step", f"after: {evil}", evil),
        ]:
            entry = Entry(when, exercise, "failed", 0.0, 2.0, cause)
            lines.write(msgspec.json.encode(entry).decode() + "\n")
    found = diary()
    for shown in (repr(found), found._repr_html_(), found.page()):
        assert "The result needed one operation less, or one more." in shown
        assert "Met in 1 of 2 checks, on an unknown day." in shown
        assert "script" not in shown
        assert "\x1b" not in shown


class Outline(HTMLParser):
    """The headings and links of a page, and what it would load."""

    def __init__(self) -> None:
        super().__init__()
        self.headings: list[str] = []
        self.loads: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if re.fullmatch(r"h\d", tag):
            self.headings.append(tag)
        self.loads += [f"{tag} {name}" for name, _ in attrs if name in ("src", "data", "srcset")]
        self.loads += [tag] * (tag in ("script", "link", "iframe"))


@pytest.mark.usefixtures("session")
def test_a_title_is_not_repeated(file: Path) -> None:
    """The title of this message ends at its colon; the advice goes on behind it."""
    check("bigram_probs", lambda ids, vocab_size, alpha: _relative_frequencies(ids, vocab_size))
    for width in (40, 100):
        text = diary().text(width)
        words = " ".join(text.split())
        assert words.count("You do not add `alpha` to the counts") == 1
        assert "A pair that did not occur gets the probability 0" in words
        assert max(map(len, text.splitlines())) <= width


def _relative_frequencies(ids: Any, vocab_size: int) -> Any:
    counts = np.zeros((vocab_size, vocab_size))
    np.add.at(counts, (ids[:-1], ids[1:]), 1)
    with np.errstate(invalid="ignore"):
        return counts / counts.sum(axis=1, keepdims=True)


def test_the_command(file: Path, tmp_path: Path) -> None:
    run = CliRunner().invoke
    assert run(app, ["diary"]).output == "Your checks have met no known mistake in this course yet.\n"
    check("rnn_step", leaves_out_the_tanh)
    shown = run(app, ["diary", "ch01_vanilla_rnn"])
    assert (shown.exit_code, shown.output) == (0, diary("ch01_vanilla_rnn").text(80) + "\n")
    page = tmp_path / "page.html"
    assert run(app, ["diary", "ch01_vanilla_rnn", "--html", str(page)]).exit_code == 0
    outline = Outline()
    outline.feed(page.read_text("utf-8"))
    assert (outline.headings, outline.loads) == (["h1", "h2", "h3"], [])
    wrong = run(app, ["diary", "ch01"])
    assert (wrong.exit_code, "There is no chapter 'ch01'" in wrong.output) == (1, True)
    assert run(app, ["diary", "--path"]).output == f"{file}\n"


def test_deleting_the_diary(file: Path) -> None:
    run = CliRunner().invoke
    assert run(app, ["diary", "--clear"]).output.startswith("There is no diary")
    file.write_text("{}\n")
    assert run(app, ["diary", "--clear"], input="n\n").exit_code == 1
    assert file.exists()
    done = run(app, ["diary", "--clear", "--yes"])
    assert (done.exit_code, " ".join(done.output.split())) == (0, f"Deleted {file}")
    assert not file.exists()


def test_a_diary_that_is_turned_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UNROLLED_DIARY", "")
    assert "turned off" in CliRunner().invoke(app, ["diary"]).output
    assert CliRunner().invoke(app, ["diary", "--clear"]).exit_code == 1
    assert journal.clear() is None
    assert os.environ["UNROLLED_DIARY"] == ""
