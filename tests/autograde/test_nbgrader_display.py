"""What a student wrote, as formgrader and `nbgrader generate_feedback` show it: by their own templates, under the
shipped nbgrader_config.py.
"""

from html.parser import HTMLParser
from pathlib import Path

import nbformat
import pytest
from nbconvert.exporters import HTMLExporter
from nbgrader.server_extensions.formgrader.handlers import template_path
from traitlets.config import PyFileConfigLoader

from tests.hostile_answers import HOSTILE, PICTURE

ROOT = Path(__file__).parents[2]
RESOURCES = {"base_url": "", "notebook_id": "words", "student": "ada", "index": 0, "total": 1}
OF_FEEDBACK = {"nbgrader": {"notebook": "words", "score": 0, "max_score": 1, "late_penalty": 0}}


class Page(HTMLParser):
    """The tags, attributes and text of a page."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.attributes, self.text = [], [], ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.attributes += [(tag, *pair) for pair in attributes]

    def handle_data(self, data):
        self.text += data

    def of(self, tag, name):
        return [value for its, key, value in self.attributes if (its, key) == (tag, name)]


@pytest.fixture(scope="module", params=["formgrade", "feedback"])
def shown(request):
    """Show a notebook that holds this answer, in the way of one of the two."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("UNROLLED_TERM", "")  # which the file sets
        config = PyFileConfigLoader(str(ROOT / "nbgrader_config.py")).load_config()
    config.HTMLExporter.template_name = request.param
    config.HTMLExporter.extra_template_basedirs = [template_path]
    static = Path(template_path).parent / "static/node_modules/bootstrap/dist/css"
    config.HTMLExporter.extra_template_paths = [str(static)]
    config.Exporter.default_preprocessors = []
    exporter = HTMLExporter(config=config)

    def show(source, *others, attachments=None, **resources):
        answer = nbformat.v4.new_markdown_cell(source)
        answer.metadata.nbgrader = {"grade_id": "why", "grade": True, "solution": True, "points": 1, "score": 0}
        answer.attachments = attachments or {}
        notebook = nbformat.v4.new_notebook(cells=[answer, *others])
        return Page(exporter.from_notebook_node(notebook, {**RESOURCES, **OF_FEEDBACK, **resources})[0])

    return show


@pytest.mark.parametrize("kind", ["answer", "text cell", "raw cell"])
@pytest.mark.parametrize("what", HOSTILE)
def test_no_markup_of_an_answer_reaches_the_page(shown, what, kind):
    text = HOSTILE[what]
    make = {"text cell": nbformat.v4.new_markdown_cell, "raw cell": nbformat.v4.new_raw_cell}
    plain = shown("harmless")
    page = shown(text) if kind == "answer" else shown("harmless", make[kind](text))
    risky = {"script", "iframe", "object", "embed", "form", "input", "button", "style", "link", "base", "meta", "svg"}
    assert [tag for tag in page.tags if tag in risky] == [tag for tag in plain.tags if tag in risky]
    quiet = {"class", "alt", "title", "start"}
    new = [each for each in page.attributes if each[1] not in quiet and each not in plain.attributes]
    assert all(key == "src" and value.startswith("data:image/") for _, key, value in new), new
    theirs = {value for _, key, value in plain.attributes if key == "class"}
    assert not [each for each in page.attributes if each[1] == "class" and each[2] not in theirs and "btn" in each[2]]


def test_what_is_harmless_is_shown(shown):
    source = (
        "**bold**, `code`, $a < b_1$ and <b>this</b>\n\n```python\ndef f(): pass\n```\n\n"
        "| a | b |\n|--|--|\n| 1 | 2 |\n\n"
        "![mine](attachment:image.png) [a book](https://example.org/b)"
    )
    page = shown(source, attachments={"image.png": {"image/png": PICTURE}})
    assert {"strong", "code", "b", "pre", "table", "td", "img"} <= set(page.tags)
    assert "$a < b_1$" in page.text
    assert "a book (https://example.org/b)" in page.text
    assert page.of("img", "src") == [f"data:image/png;base64,{PICTURE}"]
    assert page.of("img", "alt") == ["mine"]
    assert "k" in page.of("span", "class")  # Pygments' colours


@pytest.mark.parametrize(
    "source",
    [
        '<img src="attachment:a (1).png" width="300" onclick="ran()">',
        "![x](attachment:a%20%281%29.png)",
        "![x](<attachment:a (1).png>)",
        f"![x](data:image/png;base64,{PICTURE})",
        f'<img src="data:image/png;base64,{PICTURE}">',
    ],
    ids=["HTML", "encoded", "in brackets", "in line", "in line, HTML"],
)
def test_pictures_as_editors_write_them(shown, source):
    page = shown(source, attachments={"a (1).png": {"image/png": PICTURE}})
    assert page.of("img", "src") == [f"data:image/png;base64,{PICTURE}"]
    assert page.of("img", "onclick") == []


@pytest.mark.parametrize("kind", ["text/html", 'image/png"><script>ran()</script>', "image/x"])
def test_an_attachment_that_is_no_picture_is_not_shown(shown, kind):
    page = shown("![x](attachment:a)", attachments={"a": {kind: PICTURE}})
    assert "[picture missing: a. It is not in the notebook.]" in page.text
    assert not page.of("img", "src")


@pytest.mark.parametrize("attachments", [{}, {"other.png": {"image/png": PICTURE}}, {"image.png": {}}])
def test_a_picture_that_is_not_there_is_told(shown, attachments):
    page = shown("Before ![mine](attachment:image.png) after", attachments=attachments)
    assert "Before [picture missing: image.png. It is not in the notebook.] after" in page.text


LONG = ["> " * 3_000, "<b>" * 3_000, "[" * 5_000, "*a" * 3_000, "- " * 3_000, "<div>" * 100_000, "*x* " * 100_000]


@pytest.mark.parametrize("text", LONG, ids=lambda text: text[:5])
def test_no_text_keeps_a_page_from_being_shown(shown, text):
    """What would take minutes to clean is plain text."""
    page = shown(f"{text}<script>ran()</script> end")
    assert "Student's answer" in page.text
    assert " end" in page.text
    assert page.tags.count("script") == shown("harmless").tags.count("script")


def test_long_notebooks_are_bounded_too(shown):
    cells = [nbformat.v4.new_markdown_cell("word " * 3_900) for _ in range(12)]
    tags = shown("*first*", *cells).tags
    assert tags.count("pre") == 2
    assert shown("*first*", *cells).tags == tags  # each page has its own room
