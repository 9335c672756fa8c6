"""Formulas of the course's texts as MathML, which browsers show without a script."""

from __future__ import annotations

from html import escape


def formula(tex: str) -> str:
    """A formula, given without dollars; what docutils does not know is shown as it is written."""
    from docutils.utils.math import MathError, latex2mathml

    try:
        found = latex2mathml.tex2mathml(" ".join(tex.split()))
    except MathError:
        return f"<code>{escape(tex)}</code>"
    return f'<span class="formula">{"".join(line.strip() for line in found.splitlines())}</span>'
