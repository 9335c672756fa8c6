"""The self-study edition, and the switch. That the class edition holds no solution is tested on the built site."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from edition import OFFER, TOLD
from one_page import build, words
from sphinx.errors import ConfigError

from grader.spec.mistake_words import MistakeWords

PAGE = "# Page\n\n```{exercise-link} rnn_forward\n```\n"
STATEMENT = "return np.stack(h, axis=1)"


def test_the_class_edition_is_the_default(tmp_path: Path) -> None:
    html, warnings = build(tmp_path, PAGE, "exercise_link")
    assert warnings == ""
    assert "<details" not in html
    assert "passed-" not in html
    assert OFFER not in html
    assert STATEMENT not in words(html)


def test_self_study_folds_a_solution_under_the_exercise(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    why = "Each state is made from the one before, $h_{t-1}$.\nSo the loop hands it on."
    monkeypatch.setattr("grader.author.other_ways.read_mistake_words", lambda path: MistakeWords(why))
    html, warnings = build(tmp_path, PAGE, "exercise_link", unrolled_edition="self-study", html_title="Book")
    assert warnings == ""
    details = re.search(r'<details class="folded solution"([^>]*)>.*?</details>', html, re.S)
    assert details is not None
    assert f'data-offer="{OFFER}" data-told="{TOLD}" id="passed-rnn_forward"' in details[1]  # for Try it here
    text = words(details[0])
    assert text.startswith("Solution of rnn_forward def rnn_forward(x, h_0, W_xh, W_hh, b_h): h, h_t = [], h_0")
    assert STATEMENT in text
    assert "Each state is made from the one before" in text
    assert "Another way." in text
    assert "SOLUTION" not in text
    assert "@SPEC" not in text
    assert "Book, self-study edition" in html


def test_another_edition_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="There are three editions"):
        build(tmp_path, PAGE, "exercise_link", unrolled_edition="teacher")
