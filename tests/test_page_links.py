"""Links from notebooks to the pages that they name."""

import re

import nbformat
import pytest

from grader.author.course import Course
from grader.author.page_links import BUNDLED, with_page_links
from tests.conftest import ROOT

COURSE = Course(ROOT)
MANIFEST = COURSE.manifest


def linked(source, base="https://x.example/"):
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell(source)])
    return with_page_links(notebook, MANIFEST, MANIFEST.chapter("ch01_vanilla_rnn"), base).cells[0].source


@pytest.mark.parametrize(
    ("source", "found"),
    [
        (
            "Read first: *The vanilla RNN › One step of a recurrent network*.",
            "Read first: [*The vanilla RNN › One step of a recurrent network*]"
            "(https://x.example/book/ch01_vanilla_rnn/one_step.html).",
        ),
        (
            "Read first: *The vanilla RNN › One step of a\nrecurrent network*, *Unrolling through time* and *code*.",
            "Read first: [*The vanilla RNN › One step of a\nrecurrent network*]"
            "(https://x.example/book/ch01_vanilla_rnn/one_step.html), [*Unrolling through time*]"
            "(https://x.example/book/ch01_vanilla_rnn/unrolling.html) and *code*.",
        ),
        ("Another text: *Unrolling through time*.", None),
        ("Read first: *How good is it?*", None),
    ],
)
def test_named_pages_become_links(source, found):
    assert linked(source) == (found or source)


def test_every_notebook_that_names_a_page_is_linked_to_one_that_exists():
    seen = 0
    for made in COURSE.made:
        notebook = with_page_links(made.student, MANIFEST, made.chapter, BUNDLED)
        first = [cell.source for cell in notebook.cells if "Read first" in cell.source]
        for source in first:
            targets = re.findall(r"\]\(\.\./\.\./book/(book/\w+/\w+)\.html\)", source)
            assert targets, f"{made.notebook.name}: {source}"
            assert all((ROOT / f"{target}.md").is_file() for target in targets)
            seen += len(targets)
        assert [cell.id for cell in notebook.cells] == [cell.id for cell in made.student.cells]
    assert seen >= 33
