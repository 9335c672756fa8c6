"""What must be true of the pages' sources."""

from __future__ import annotations

import ast
import builtins
import json
import re
from pathlib import Path

import pytest
import yaml
from edition import with_lectures
from myst_nb.core.read import is_myst_markdown_notebook

from grader.manifest import load_manifest

ROOT = Path(__file__).parents[2]
PAGES = sorted(page for page in (ROOT / "book").rglob("*.md"))
NOTEBOOKS = sorted((ROOT / "exercises").glob("ch*/*.ipynb"))
LABEL = re.compile(r"^```\{math\}\n(?:.*\n)*?:label: (\S+)$", re.M)
EQUATION = re.compile(r"Equation \(([\w-]+)\)")


def page_id(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("page", PAGES, ids=page_id)
def test_no_reference_that_prints_question_marks(page: Path) -> None:
    """Sphinx resolves the role eq and warns; MathJax resolves these, or prints (???) in silence."""
    assert re.findall(r"\\eqref|\\ref\{|\\label\{", page.read_text("utf-8")) == []


@pytest.mark.parametrize("page", PAGES, ids=page_id)
def test_only_a_page_with_code_has_the_header_of_a_notebook(page: Path) -> None:
    """For any other page the build would start a kernel that has nothing to do: two seconds each."""
    text = page.read_text("utf-8")
    assert is_myst_markdown_notebook(text) == ("{code-cell}" in text)


def test_every_page_is_in_the_contents() -> None:
    """The book builds what _toc.yml names and no more, so a page left out would vanish unseen."""
    contents = yaml.safe_load((ROOT / "_toc.yml").read_text("utf-8"))
    named = {contents["root"], *files(contents.get("parts", []))}
    written = {page.relative_to(ROOT).with_suffix("").as_posix() for page in PAGES}
    assert named == {page for page in written if not page.startswith("book/lectures/")}
    assert {contents["root"], *files(with_lectures(ROOT)["parts"])} == written


def test_chapters_have_one_number_everywhere() -> None:
    """In the side bar, on the front page, in its drawing and in links: the number in the id of `course.toml`."""
    titles = [(chapter.id[:4], chapter.title) for chapter in load_manifest(ROOT / "course.toml").chapters]
    assert [chapter for chapter, _ in titles] == [f"ch{number:02}" for number in range(len(titles))]
    named = [f"{number}. {title}" for number, (_, title) in enumerate(titles)]
    parts = yaml.safe_load((ROOT / "_toc.yml").read_text("utf-8"))["parts"]
    assert [part["caption"] for part in parts if part["chapters"][0]["file"].startswith("book/ch")] == named
    for part in parts:
        folders = {Path(file).parent.name[:4] for file in files(part["chapters"])}
        assert len(folders) == 1, part
        assert folders == {f"ch0{part.get('caption', '')[:1]}"} or folders == {"book"}, part
    front = (ROOT / "book" / "index.md").read_text("utf-8")
    assert re.findall(r"^\*\*(.+)\*\* \(chapter (\d)\)", front, re.M) == [
        (title, str(number)) for number, (_, title) in enumerate(titles)
    ]
    drawn = (ROOT / "book" / "drawings" / "chapters.svg").read_text("utf-8")
    assert re.findall(r"<text [^>]*>(\d\. [^<]*)</text>", drawn) == named


def test_texts_call_a_chapter_by_its_number() -> None:
    """*Chapter 5*, not *chapter 05*, in pages and notebooks, and a link that names one chapter leads to it."""
    texts = {page_id(page): page.read_text("utf-8") for page in PAGES}
    for notebook in NOTEBOOKS:
        cells = json.loads(notebook.read_text("utf-8"))["cells"]
        texts[page_id(notebook)] = "\n".join("".join(cell["source"]) for cell in cells)
    for name, text in texts.items():
        assert re.findall(r"[Cc]hapters? 0\d.*", text) == [], name
        for words, target in re.findall(r"\[([^\]\[]*)\]\(([^)\s]*)\)", text):
            numbers = re.findall(r"\b[Cc]hapter (\d)\b", words)
            if len(numbers) == 1:
                assert f"ch0{numbers[0]}_" in target, (name, words, target)


def files(entries: list[dict]) -> set[str]:
    found: set[str] = set()
    for entry in entries:
        found |= {entry["file"]} if "file" in entry else set()
        found |= files(entry.get("chapters", []) + entry.get("sections", []))
    return found


def test_every_equation_is_implemented_or_tested() -> None:
    """A definition is named in the docstring of the function that implements it, an identity in a test's."""
    written = {label for page in PAGES for label in LABEL.findall(page.read_text("utf-8"))}
    implemented = equations_named_in(ROOT / "solutions")
    tested = equations_named_in(ROOT / "tests" / "book")
    assert written - implemented - tested == set()
    assert implemented - written == set(), "a docstring names an equation that no page has"


def equations_named_in(folder: Path) -> set[str]:
    """The labels after 'Equation' in the docstrings of all functions below a folder."""
    found: set[str] = set()
    for module in folder.rglob("*.py"):
        for node in ast.walk(ast.parse(module.read_text("utf-8"))):
            if isinstance(node, ast.FunctionDef):
                found |= set(EQUATION.findall(ast.get_docstring(node) or ""))
    return found


def test_the_map_of_the_chapters_says_what_the_pages_need() -> None:
    """An arrow for each chapter that a page names under Need; chapters 0 and 1, used by all, have only their first."""
    needed = set()
    for page in (ROOT / "book").glob("ch0*/*.md"):
        need = re.search(r"^- \*\*Need\*\*:(.*)$", page.read_text("utf-8"), re.M)
        assert need, page
        for earlier in re.findall(r"\]\(\.\./ch0(\d)", need[1]):
            needed.add((int(earlier), int(page.parent.name[3])))
    (alt,) = re.findall(r"^:alt: \"Seven boxes(.*)\"$", (ROOT / "book" / "index.md").read_text("utf-8"), re.M)
    dashed = {(int(a), int(b)) for a, b in re.findall(r"from (\d) to (\d)", alt)}
    drawn = (ROOT / "book" / "drawings" / "chapters.svg").read_text("utf-8")
    assert drawn.count("line dashed") == len(dashed)
    needed = {(a, b) for a, b in needed if a > 0}
    assert needed == {(n, n + 1) for n in range(1, 6)} | dashed | {(1, n) for n in range(2, 7)}


CELL = re.compile(r"^```\{code-cell\}[^\n]*\n(---\n.*?^---\n|(?::[^\n]*\n)*)(.*?)^```$", re.M | re.S)
IMPORT = re.compile(r"^from (experiments(?:\.\w+)*) import (\([^)]*\)|.*)$", re.M)


@pytest.mark.parametrize("page", PAGES, ids=page_id)
def test_code_that_is_shown_fits_beside_the_contents(page: Path) -> None:
    """On a screen of 1,280 pixels a line has room for 76 characters, in a folded cell for 75; more would be cut off."""
    text = page.read_text("utf-8")
    assert len(CELL.findall(text)) == len(re.findall(r"^```\{code-cell\}", text, re.M))
    room = [(code, 75 if "hide-" in options else 76) for options, code in shown(page)]
    assert [line for code, most in room for line in code.splitlines() if len(line) > most] == []


CONTINUED = {"heads.md": "self_attention.md"}  # a page that says that its code continues another's


@pytest.mark.parametrize("page", PAGES, ids=page_id)
def test_code_that_is_shown_can_be_typed_from_the_page(page: Path) -> None:
    """It takes no name from a cell that is hidden, but for the functions that its exercises ask for."""
    course = load_manifest(ROOT / "course.toml")
    known = set(dir(builtins)) | {exercise.id for chapter in course.chapters for exercise in chapter.exercises}
    if page.name in CONTINUED:
        known |= {name for _, code in shown(page.with_name(CONTINUED[page.name])) for name in names(code)[0]}
    known |= {name for code in listings(page) for name in names(code)[0]}
    missing = []
    for _, code in shown(page):
        if "glue" in code:
            continue  # a folded cell that computes what the page prints
        defined, used = names(code)
        missing += sorted(used - defined - known)
        known |= defined
    assert missing == []


def shown(page: Path) -> list[tuple[str, str]]:
    """The options and the code of the cells that a reader sees, folded code included."""
    return [(options, code) for options, code in CELL.findall(page.read_text("utf-8")) if "remove-" not in options]


def listings(page: Path) -> list[str]:
    """The functions that the page shows from files."""
    found = []
    for file, name in re.findall(
        r"^```\{literalinclude\} (\S+\.py)\n(?::.*\n)*?:pyobject: (\w+)", page.read_text("utf-8"), re.M
    ):
        tree = ast.parse((page.parent / file).read_text("utf-8"))
        found += [ast.unparse(node) for node in tree.body if getattr(node, "name", None) == name]
    return found


def names(code: str) -> tuple[set[str], set[str]]:
    """The names that a piece of code defines anywhere, and those that it uses."""
    defined, used = set(), set()
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Name):
            (used if isinstance(node.ctx, ast.Load) else defined).add(node.id)
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            defined.add(node.name)
        elif isinstance(node, ast.arg):
            defined.add(node.arg)
        elif isinstance(node, ast.ExceptHandler) and node.name:
            defined.add(node.name)
        elif isinstance(node, ast.alias):
            defined.add((node.asname or node.name).partition(".")[0])
    return defined, used


def records_read(text: str) -> set[str]:
    """The modules of the records that a page's code reads."""
    found, module_of = set(), {}
    for module, names in IMPORT.findall(text):
        for name in re.findall(r"\w+(?: as \w+)?", names):
            original, _, alias = name.partition(" as ")
            module_of[alias or original] = f"{module}.{original}"
    for name, sibling in re.findall(r'\b(\w+)\.RESULTS_FILE(?:\.with_name\("(\w+)\.json"\))?', text):
        module = module_of[name]
        found.add(f"{module.rpartition('.')[0]}.{sibling}" if sibling else module)
    if re.search(r"(?<![\w.])RESULTS_FILE\b(?!\.with_name)(?=\.)", text):
        found.add(module_of["RESULTS_FILE"].removesuffix(".RESULTS_FILE"))
    if "load_weights" in module_of:
        found.add(f"{module_of['load_weights'].removesuffix('.load_weights')}_weights")
    for name in re.findall(r'\brecorded\("(\w+)"\)', text):
        found.add(f"{module_of['recorded'].removesuffix('.record.recorded')}.{name}")
    return found


@pytest.mark.parametrize("page", PAGES, ids=page_id)
def test_a_page_names_the_command_of_each_record_that_it_shows(page: Path) -> None:
    text = page.read_text("utf-8")
    named = set(re.findall(r"(?:python -m |\{made\} )(experiments[\w.]+)", text))
    assert records_read(text) - named == set()
