"""Texts with formulas as HTML: paragraphs with code, emphasis and TeX, which becomes MathML. Browsers show it without a
script.
"""

from __future__ import annotations

import re
from html import escape

from grader.render.html import inline

_CODE_OR_FORMULA = re.compile(r"(`[^`]+`|\$[^$]+\$)")
_PUNCTUATION = re.compile(r'(<span class="formula">(?:(?!</span>).)*</span>[.,;:?)]+)')
_EMPHASIS = re.compile(r"\*([^*\s](?:[^*]*[^*\s])?)\*")


def formula(tex: str) -> str:
    """A formula, given without dollars; what docutils does not know is shown as it is written."""
    from docutils.utils.math import MathError, latex2mathml

    try:
        found = latex2mathml.tex2mathml(" ".join(tex.split()))
    except MathError:
        return f"<code>{escape(tex)}</code>"
    return f'<span class="formula">{"".join(line.strip() for line in found.splitlines())}</span>'


def paragraphs(markdown: str) -> str:
    """What authors write as Markdown, of which paragraphs, code, emphasis and `$formulas$` are understood."""
    found = (" ".join(each.split()) for each in re.split(r"\n\s*\n", markdown))
    return "".join(f"<p>{with_formulas(each)}</p>\n" for each in found if each)


def with_formulas(text: str) -> str:
    """A line of such a text. Punctuation stays on the line of the formula before it."""
    html = "".join(map(_piece, _CODE_OR_FORMULA.split(text)))
    return _PUNCTUATION.sub(r'<span class="kept">\1</span>', html)


def _piece(text: str) -> str:
    """A formula, code, or what stands between those."""
    if text[:1] == "$" == text[-1:] and len(text) > 1:
        return formula(text[1:-1])
    return inline(text) if text[:1] == "`" else _EMPHASIS.sub(r"<em>\1</em>", inline(text))
