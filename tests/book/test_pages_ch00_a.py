"""The labelled equations of chapter 0's first page, its drawing, and what its alt texts say."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import numpy as np
import pytest

from experiments.ch00.positions import SYMBOLS, encode, fit
from tests.book.conftest import BOOK

PAGE = (BOOK / "ch00_sequences" / "everywhere.md").read_text("utf-8")
DRAWING = BOOK / "ch00_sequences" / "drawings" / "tasks.svg"
WORDS = ["as", "sea", "class", "oops"]


@pytest.mark.parametrize("pad", ["after", "before"])
def test_the_score(pad: str) -> None:
    """Equation (position-score): the product with the inputs adds up one weight for each position."""
    rng = np.random.default_rng(0)
    w, b = rng.normal(size=(12, 27)), rng.normal()
    x = encode(WORDS, pad)
    assert x.shape == (4, 324)
    for word, score in zip(WORDS, x @ w.ravel() + b, strict=True):
        padding = "_" * (12 - len(word))
        symbols = word + padding if pad == "after" else padding + word
        terms = [w[p, SYMBOLS.index(symbols[p])] for p in range(12)]
        assert score == pytest.approx(b + sum(terms), abs=1e-12)


def test_the_derivative() -> None:
    """Equation (position-derivative): a finite difference of the loss gives the same, and `fit` takes this step."""
    x, y = encode(WORDS, "before"), np.array([1.0, 0.0, 1.0, 1.0])
    rng = np.random.default_rng(1)
    w, b = rng.normal(size=324), 0.3

    def loss(w: np.ndarray) -> float:
        signed = np.where(y == 1, 1, -1) * (x @ w + b)
        return float(np.log1p(np.exp(-signed)).mean())

    predicted = 1 / (1 + np.exp(-(x @ w + b)))
    derivative = ((predicted - y)[:, None] * x).mean(axis=0)
    for j in range(0, 324, 7):
        step = np.zeros(324)
        step[j] = 1e-6
        assert derivative[j] == pytest.approx((loss(w + step) - loss(w - step)) / 2e-6, abs=1e-8)
    at_zero = ((0.5 - y)[:, None] * x).mean(axis=0)
    np.testing.assert_allclose(fit(x, y, updates=1, lr=2.0)[0], -2 * at_zero, rtol=0, atol=1e-15)


def test_an_input_that_is_always_zero_teaches_nothing() -> None:
    """As the page says: with the padding before short words, an s in position 3 keeps its first weight."""
    x = encode(WORDS, "before")
    w = fit(x, np.array([0, 1, 0, 0]), updates=50)[0].reshape(12, 27)
    assert (w[2, : SYMBOLS.index("_")] == 0).all()
    assert np.abs(w[-1]).max() > 0.1


def test_the_drawing_has_what_its_description_says() -> None:
    (alt,) = re.findall(r"drawings/tasks\.svg\n:name: fig-tasks\n:alt: \"(.*)\"", PAGE)
    root = ElementTree.parse(DRAWING).getroot()  # our own file
    texts = [text.text or "" for text in root.iter("{http://www.w3.org/2000/svg}text")]
    for text in texts:
        assert text.removesuffix("?").lower() in alt.lower(), text
    assert len(texts) == 30
    assert texts.index("pronoun") < texts.index("verb") < texts.index("noun")
