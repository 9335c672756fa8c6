"""The book's local Sphinx extensions."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from types import SimpleNamespace

import pytest
from accessible_html import repair
from drawing import inline
from one_page import ROOT, build, words
from page_environment import imported, prepare
from plots import COLOURS, page_svg
from search_texts import sections
from sphinx.search import js_index
from used_icons import code_points, used_rules

SVG = '<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"><!-- x --><path d="M 0 0"/></svg>'


def test_exercise_link_reads_the_manifest(tmp_path: Path) -> None:
    html, warnings = build(tmp_path, "# Page\n\n```{exercise-link} rnn_forward\n```\n", "exercise_link")
    assert warnings == ""
    assert "Exercise: The forward pass over a sequence (2 points)" in html
    text = words(html)
    assert "In the notebook The recurrence, exercises/ch01_vanilla_rnn/recurrence.ipynb, write rnn_forward" in text
    assert 'check("rnn_forward", rnn_forward)' in text
    assert "It builds on rnn_step." in text
    assert 'id="exercise-rnn_forward"' in html
    assert "download" not in html, "a second copy of the notebook, which `grader submit` would miss"
    assert list((tmp_path / "out").rglob("*.ipynb")) == []


def test_exercise_link_names_what_is_near(tmp_path: Path) -> None:
    _, warnings = build(tmp_path, "# Page\n\n```{exercise-link} rnn_stpe\n```\n", "exercise_link")
    assert "index.md:3" in warnings
    assert "no exercise 'rnn_stpe'. Near it: rnn_step" in warnings


def test_drawing_has_a_role_and_a_name() -> None:
    assert inline(SVG, 'a "dot"') == (
        '<svg role="img" aria-label="a &quot;dot&quot;" xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1">'
        '<path d="M 0 0"/></svg>'
    )


def test_a_drawing_with_links_is_no_image_because_these_could_not_be_reached() -> None:
    found = inline(
        '<svg viewBox="0 0 1 1" xmlns="http://www.w3.org/2000/svg"><a href="x.html"><text>X</text></a></svg>', "A map."
    )
    assert found.startswith('<svg role="group" aria-label="A map."')


def test_drawing_without_words_is_refused() -> None:
    with pytest.raises(ValueError, match="what is to be seen"):
        inline(SVG, " ")


def test_mending_twice_changes_nothing_more() -> None:
    once = repair('<div id="pst-primary-sidebar"><button class="btn search-button" aria-label="Search">')
    assert (
        once
        == '<div role="region" aria-label="Book sidebar" id="pst-primary-sidebar"><button class="btn search-button">'
    )
    assert repair(once) == once


def test_pages_compute_with_one_thread(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What kernels inherit; monkeypatch restores all that `prepare` sets."""
    names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
    for name in (*names, "PYTHONPATH", "MATPLOTLIBRC", "IPYTHONDIR"):
        monkeypatch.setenv(name, "8")
    prepare(SimpleNamespace(srcdir=tmp_path, doctreedir=tmp_path / "doctrees"))
    assert [os.environ[name] for name in names] == ["1", "1", "1"]


def test_a_page_depends_on_all_that_its_solutions_import(tmp_path: Path) -> None:
    for name, text in {"a": "from solutions.b import f\n", "b": "f = 1\n", "c": "g = 1\n"}.items():
        (tmp_path / "solutions").mkdir(exist_ok=True)
        (tmp_path / "solutions" / f"{name}.py").write_text(text, "utf-8")
    found = imported(tmp_path, "text\n\nfrom solutions.a import f\n")
    assert {path.name for path in found} == {"a.py", "b.py"}


def test_a_page_depends_on_the_records_of_experiments() -> None:
    found = imported(ROOT, "from experiments.ch01.hello import load_weights\n")
    assert {path.name for path in found} >= {"hello.py", "hello_weights.json"}


def test_a_page_depends_on_modules_that_it_imports_by_name(tmp_path: Path) -> None:
    folder = tmp_path / "experiments" / "ch01"
    folder.mkdir(parents=True)
    for name in ("run.py", "other.py", "unused.py", "run.json"):
        (folder / name).write_text("", "utf-8")
    for text in (
        "from experiments.ch01 import run, other as o\n",
        "from experiments.ch01 import (\n    run,\n    other,\n)\n",
    ):
        assert {path.name for path in imported(tmp_path, text)} == {"run.py", "other.py", "run.json"}


PLOT = """<?xml version="1.0"?>
<svg xmlns:xlink="http://www.w3.org/1999/xlink" width="100pt" height="50pt" viewBox="0 0 100 50">
 <metadata>when</metadata>
 <defs>
  <style type="text/css">*{stroke-linejoin: round}</style>
 </defs>
 <g id="figure_1"><path id="m1" d="M 12.345678 0.015625" clip-path="url(#p1)" style="stroke: #0072b2; fill: #123456"/>
 <use xlink:href="#m1"/><clipPath id="p1"/></g>
</svg>"""


def test_a_plot_takes_the_colours_of_its_page() -> None:
    assert page_svg(PLOT, "plot2-").partition("<g>")[2] == (
        '<path id="plot2-m1" d="M 12.35 0.015625" clip-path="url(#plot2-p1)" '
        'style="stroke: var(--u-plot-0); fill: #123456"/>'
        '<use href="#plot2-m1"/><clipPath id="plot2-p1"/></g></svg>'
    )


def test_every_colour_of_the_style_has_a_place_on_the_page() -> None:
    style = (ROOT / "book/_static/unrolled.mplstyle").read_text("utf-8")
    used = {f"#{colour.lower()}" for colour in re.findall(r"\b[0-9A-F]{6}\b", style)}
    assert len(used) >= 8
    assert used <= set(COLOURS)


BACKGROUNDS = {"light": ("#ffffff", "#f3f4f5"), "dark": ("#121212", "#29313d")}  # the page, and its boxes


@pytest.mark.parametrize("scheme", BACKGROUNDS)
def test_lines_of_plots_stand_out_by_day_and_by_night(scheme: str) -> None:
    css = (ROOT / "book/_static/book.css").read_text("utf-8")
    light, dark = re.findall(r"^html(?:\[data-theme=\"dark\"\])? \{(.*?)^\}", css, re.M | re.S)[:2]
    block = light if scheme == "light" else dark
    lines = dict(re.findall(r"--(u-plot-(?:\d|line)|u-accent): (#[0-9a-f]{6});", block))
    assert len(lines) == 7
    for name, colour in lines.items():
        for background in BACKGROUNDS[scheme]:
            assert contrast(colour, background) >= 3, (name, colour, background)


def contrast(one: str, other: str) -> float:
    """The ratio of WCAG 2."""
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def luminance(colour: str) -> float:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_the_search_index_has_words_and_no_numbers(tmp_path: Path) -> None:
    build(tmp_path, "# Two thousand\n\nIn 2014, 10_000 sentences and W_1 of the *café*.\n", "short_index")
    text = (tmp_path / "out" / "searchindex.js").read_text("utf-8")
    index = js_index.loads(text)
    assert set(index["terms"]) == {"10_000", "sentenc", "w_1", "café"}
    assert set(index["titleterms"]) == {"two", "thousand"}
    assert text.count(" ") == 2  # in the title


PAGE = """# Gates

:::{note}
A *gate* decides, `x < 3`, and $h_t$ is kept.
:::

## Forget
One word.

### Cell
Another.

```{raw} html
<p>Seen<script>hidden()</script></p>
```

## Reset
- first
- second
"""


def test_the_texts_for_excerpts_are_those_of_the_pages_by_section(tmp_path: Path) -> None:
    build(tmp_path, PAGE, "search_texts", others={"more": "# More\n\nText.\n"})
    file = (tmp_path / "out" / "_static" / "search_texts.js").read_text("utf-8")
    texts = json.loads(file.removeprefix("window.searchTexts = ").removesuffix(";\n"))
    assert texts == {
        "index": [
            ["gates", "Gates Note A gate decides, x < 3, and h_t is kept."],
            ["forget", "Forget One word."],
            ["cell", "Cell Another. Seen"],
            ["reset", "Reset first second"],
        ],
        "more": [["more", "More Text."]],
    }
    assert "search_excerpts.js" not in (tmp_path / "out" / "index.html").read_text("utf-8")
    assert "search_excerpts.js" in (tmp_path / "out" / "search.html").read_text("utf-8")


def test_text_behind_an_inner_section_belongs_to_the_outer_one() -> None:
    html = '<div class="body"><section id="a"><h1>A</h1><section id="b">B</section>end</section></div><p>menu</p>'
    assert sections(html) == [("a", "A"), ("b", "B"), ("a", "end")]


SHEET = (
    '.fa-lg{font-size:1.25em}.fa-sun:before{content:"\\f185"}.fa-plus:before,.fa-add:before{content:"+"}'
    '.fa-0:before{content:"\\30 "}@font-face{font-weight:900;src:url(../webfonts/fa-solid-900.woff2) format("woff2"),'
    'url(../webfonts/fa-solid-900.ttf) format("truetype")}.toc:after{content:"\\f107"}html{--icon:"\uf019"}'
)


def test_a_style_sheet_keeps_the_icons_that_are_used() -> None:
    kept = used_rules(SHEET, {"fa-lg", "fa-sun", "fa-solid"})
    assert kept == (
        '.fa-lg{font-size:1.25em}.fa-sun:before{content:"\\f185"}@font-face{font-weight:900;'
        'src:url(../webfonts/fa-solid-900.woff) format("woff")}.toc:after{content:"\\f107"}html{--icon:"\uf019"}'
    )
    assert used_rules(kept, {"fa-sun"}) == kept
    assert code_points(kept) == {0xF185, 0xF107, 0xF019}
    assert used_rules(SHEET, {"fa-add"}).count("content") == 2  # another name of the same icon
