"""A page whose code fails is named, with its cell, and says so itself; the others are built."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.system

ROOT = Path(__file__).parents[2]
HEAD = "---\nfile_format: mystnb\nkernelspec:\n  name: python3\n---\n\n# {title}\n\n"
PAGE = (
    HEAD
    + "# {title}\n\nWords before.\n\n```{{code-cell}}\na = 1\n```\n\n```{{code-cell}}\n{code}\n```\n\nWords after.\n"
)


def built(folder: Path, code: str) -> tuple[dict[str, str], str | None]:
    """The text of the pages `good` and `other`, whose second cell is `code`, and what is said of failed pages."""
    (folder / "good.md").write_text(PAGE.format(title="Good", code="print(a + 40)"), "utf-8")
    (folder / "other.md").write_text(PAGE.format(title="Other", code=code), "utf-8")
    (folder / "index.md").write_text("# All\n\n```{toctree}\ngood\nother\n```\n", "utf-8")
    settings = {
        "extensions": "myst_nb,failed_pages",
        "exclude_patterns": "_build",
        "nb_execution_mode": "force",
        "nb_execution_in_temp": "1",
        "html_theme": "basic",
    }
    out = folder / "_build" / "html"
    options = [word for name, value in settings.items() for word in ("-D", f"{name}={value}")]
    subprocess.run(
        [sys.executable, "-m", "sphinx", "-q", "-C", *options, str(folder), str(out)],
        env={**os.environ, "PYTHONPATH": str(ROOT / "book" / "_ext")},
        stderr=subprocess.DEVNULL,
        check=True,
    )
    said = out.parent / "failed_pages.txt"
    pages = {name: (out / f"{name}.html").read_text("utf-8") for name in ("good", "other")}
    return pages, said.read_text("utf-8") if said.exists() else None


def test_a_failed_page_is_named_with_its_cell_and_the_rest_is_built(tmp_path: Path) -> None:
    pages, said = built(tmp_path, "b = 2\nassert b == 3, 'not three'")
    assert said == (
        "other.md: the cell at line 18 failed, so the page has no results:\n    AssertionError: not three\n"
    )
    assert "results and figures are missing here" in pages["other"]
    assert "Words after." in pages["other"]
    assert "results and figures are missing here" not in pages["good"]
    assert "41" in pages["good"]
    pages, said = built(tmp_path, "b = 3\nassert b == 3, 'not three'")
    assert said is None
    assert "results and figures are missing here" not in pages["other"]
