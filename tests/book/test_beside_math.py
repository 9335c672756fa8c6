"""A line of a page neither begins with the comma after a formula nor ends with the bracket before one."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from one_page import build, words


@pytest.mark.parametrize(
    ("sentence", "kept"),
    [
        ("If $a$, then ($b$).", [r"\(a\),", r"(\(b\))."]),
        ("an $n$-gram of $x$", [r"\(n\)-gram"]),
        ("**$c$**: it", []),
        ("$d$ and $e$ alone", []),
        ("*see ($f$);* after", [r"(\(f\));"]),
        ("*x*, $a$, *y*. But $b$.", [r"\(a\),", r"\(b\)."]),  # two texts between that are equal
        ("*x*. But *y* $a$. But $b$. But *z*", [r"\(a\).", r"\(b\)."]),
    ],
)
def test_punctuation_stays_with_its_formula(tmp_path: Path, sentence: str, kept: list[str]) -> None:
    html, warnings = build(tmp_path, f"# Page\n\n{sentence}\n", "sphinx.ext.mathjax", "beside_math")
    assert warnings == ""
    found = re.findall(r'<span class="beside-math">((?:[^<]|<span[^>]*>[^<]*</span>)*)</span>', html)
    assert [words(one) for one in found] == kept
    plain = re.sub(r"\$(\w)\$", r"\\(\1\\)", sentence).replace("*", "")
    assert plain in words(html)
