"""nbgrader's formgrader on a term that `grader autograde` graded, used in Chromium as a teacher would."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from nbformat import NotebookNode
from opened import opened
from playwright.sync_api import Browser, Locator, Page, expect

from grader.author.notebooks import instructor_notebook, student_notebook
from grader.cells import cell_source, notebook_bytes
from grader.gradebook import gradebook_url, open_gradebook
from grader.manifest import Chapter, load_manifest
from tests.hostile_answers import HOSTILE, PICTURE

pytestmark = pytest.mark.browser

ROOT = Path(__file__).parents[2]
CODE: dict[str, object] = {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None}
PATIENCE = 30_000  # ms: formgrader's pages ask the server for what they show


@dataclass(frozen=True)
class Term:
    """Ada has solved everything and answered; Bo has handed in the notebooks as he got them."""

    folder: Path
    chapter: Chapter
    environment: dict[str, str]

    def grade(self) -> None:
        program = "from grader.cli import main; main()"
        command = [sys.executable, "-c", program, "autograde", self.chapter.id, "--term", str(self.folder)]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False)
        assert done.returncode == 0, done.stdout + done.stderr

    def hand_in(self, student: str, solved: set[str]) -> None:
        manifest = load_manifest(ROOT / "course.toml")
        folder = self.folder / "submitted" / student / self.chapter.id
        folder.mkdir(parents=True, exist_ok=True)
        for notebook in self.chapter.notebooks:
            instructor = instructor_notebook(ROOT, manifest, self.chapter, notebook)
            submitted = student_notebook(ROOT, manifest, self.chapter, notebook)
            for cell in submitted.cells:
                if (name := grade_id(cell)) in solved:
                    cell.source = cell_source(instructor, name)
            (folder / f"{notebook.name}.ipynb").write_bytes(notebook_bytes(submitted))

    def grades(self, student: str) -> dict[str, tuple[float | None, float | None, bool]]:
        """(auto, manual, needs a human) of each cell."""
        with open_gradebook(gradebook_url(self.folder)) as gradebook:
            return {
                grade.name: (grade.auto_score, grade.manual_score, grade.needs_manual_grade)
                for notebook in gradebook.find_submission(self.chapter.id, student).notebooks
                for grade in notebook.grades
            }


def grade_id(cell: NotebookNode) -> str:
    return str(cell.metadata.get("nbgrader", {}).get("grade_id", ""))


@pytest.fixture(scope="module")
def term(tmp_path_factory: pytest.TempPathFactory) -> Term:
    home = tmp_path_factory.mktemp("formgrader")
    places = {f"JUPYTER_{kind}_DIR": str(home / kind) for kind in ("CONFIG", "DATA", "RUNTIME")}
    environment = {**os.environ, **places, "UNROLLED_TERM": str(home / "term"), "HOME": str(home)}
    environment["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    term = Term(home / "term", load_manifest(ROOT / "course.toml").chapters[0], environment)
    assert term.chapter.questions, "this chapter has no question for a human"
    term.hand_in("ada", {item.id for item in (*term.chapter.exercises, *term.chapter.questions)})
    term.hand_in("bo", set())
    term.grade()
    return term


@pytest.fixture(scope="module")
def server(term: Term) -> Iterator[str]:
    """Jupyter Server with nbgrader's extensions, in the course's folder, where nbgrader_config.py is."""
    settings = [f"--ServerApp.root_dir={term.folder.parent}", "--port=0", "--ip=127.0.0.1", "--no-browser"]
    settings += ["--allow-root", "--IdentityProvider.token=for-this-test", "--JupyterApp.answer_yes=True"]
    log = term.folder.parent / "server.log"
    with log.open("wb") as out:
        command = [sys.executable, "-m", "jupyter_server", *settings]
        process = subprocess.Popen(command, cwd=ROOT, env=term.environment, stdout=out, stderr=out)
        try:
            while not (found := re.search(r"http://127\.0\.0\.1:\d+/", log.read_text("utf-8"))):
                assert process.poll() is None, log.read_text("utf-8")
            yield found[0]
        finally:
            process.terminate()
            process.wait(30)


@pytest.fixture
def page(browser: Browser, server: str) -> Iterator[Page]:
    """The list of assignments. What leaves the machine is refused: nbgrader's page asks for a MathJax of the web."""
    with opened(browser, server, "formgrader/?token=for-this-test") as (page, _):
        page.set_default_timeout(PATIENCE)
        expect.set_options(timeout=PATIENCE)
        yield page
    expect.set_options(timeout=5_000)


def row(page: Page, text: str) -> Locator:
    """The one row of the table with a cell that says just this."""
    cell = page.locator("td", has_text=re.compile(rf"^\s*{re.escape(text)}\s*$"))
    found = page.locator("tbody tr").filter(has=cell)
    expect(found).to_have_count(1)
    return found


def worth(term: Term) -> tuple[float, float]:
    """The points of all exercises, and of the questions."""
    return sum(e.points for e in term.chapter.exercises), sum(q.points for q in term.chapter.questions)


def test_formgrader_shows_the_class(page: Page, server: str, term: Term) -> None:
    exercises, questions = worth(term)
    expect(row(page, term.chapter.id).locator(".num-submissions")).to_have_text("2")
    page.goto(f"{server}formgrader/manage_submissions/{term.chapter.id}")
    total = exercises + questions
    expect(row(page, "ada").locator(".score")).to_have_text(f"{exercises:g} / {total:g}")
    expect(row(page, "ada").locator(".status")).to_have_text("needs manual grading")
    expect(row(page, "bo").locator(".score")).to_have_text(f"0 / {total:g}")
    expect(row(page, "bo").locator(".status")).to_have_text("graded")
    page.goto(f"{server}formgrader/manage_students/ada/{term.chapter.id}")
    for notebook in term.chapter.notebooks:
        points = sum(e.points for e in notebook.exercises)
        due = points + sum(q.points for q in notebook.questions)
        expect(row(page, notebook.name).locator(".score")).to_have_text(f"{points:g} / {due:g}")


def test_what_a_human_gives_stays(page: Page, server: str, term: Term) -> None:
    exercise, question = term.chapter.exercises[0], term.chapter.questions[0]
    notebook = next(n.name for n in term.chapter.notebooks if question in n.questions)
    given = question.points / 4
    page.goto(f"{server}formgrader/manage_students/ada/{term.chapter.id}")
    row(page, notebook).locator(".name a").click()
    score, comment = page.locator(f"input.score#{question.id}"), page.locator(f"textarea#{question.id}-comment")
    saves = "() => { const own = globalThis.formgrader; return own?.grades?.loaded && own.comments?.loaded; }"
    page.wait_for_function(saves)
    expect(score).to_be_visible()
    with page.expect_response(lambda answer: "/api/grade/" in answer.url and answer.request.method == "PUT"):
        score.fill(f"{given:g}")
        score.press("Tab")
    with page.expect_response(lambda answer: "/api/comment/" in answer.url and answer.request.method == "PUT"):
        comment.fill("Say <why>, not only *that*.")
        comment.blur()
    assert term.grades("ada")[question.id] == (None, given, False)

    solved = {item.id for item in (*term.chapter.exercises, *term.chapter.questions)} - {exercise.id}
    term.hand_in("ada", solved)  # so that there is something new to grade
    term.grade()
    grades = term.grades("ada")
    assert grades[question.id][1] == given
    assert grades[f"{exercise.id}-check"] == (0, None, False)
    page.reload()
    expect(score).to_have_value(f"{given:g}")
    expect(comment).to_have_value("Say <why>, not only *that*.")
    page.goto(f"{server}formgrader/manage_submissions/{term.chapter.id}")
    points = sum((auto or 0.0) if manual is None else manual for auto, manual, _ in grades.values())
    expect(row(page, "ada").locator(".score")).to_have_text(f"{points:g} / {sum(worth(term)):g}")


def test_the_autograde_button_refuses(page: Page, server: str, term: Term) -> None:
    before = {path: path.read_bytes() for path in sorted(term.folder.rglob("*")) if path.is_file()}
    page.goto(f"{server}formgrader/manage_submissions/{term.chapter.id}")
    row(page, "bo").locator(".autograde a").click()
    told = page.locator("#error-modal")
    expect(told).to_contain_text("nbgrader does not grade this course itself")
    expect(told).to_contain_text("grader autograde CHAPTER")
    assert {path: path.read_bytes() for path in sorted(term.folder.rglob("*")) if path.is_file()} == before


def test_nothing_that_a_student_wrote_runs(page: Page, server: str, term: Term) -> None:
    """Neither in the answer's cell nor beside it; what is harmless is shown."""
    student, question = "eve", term.chapter.questions[0]
    notebook = next(n.name for n in term.chapter.notebooks if question in n.questions)
    fine = "**bold** $a < b$ `code` ![mine](attachment:image.png) ![lost](attachment:lost.png)"
    term.hand_in(student, set())
    path = term.folder / "submitted" / student / term.chapter.id / f"{notebook}.ipynb"
    tree = json.loads(path.read_text("utf-8"))
    answer = next(cell for cell in tree["cells"] if cell["metadata"].get("nbgrader", {}).get("grade_id") == question.id)
    answer["source"] = "\n\n".join([fine, *HOSTILE.values()])
    answer["attachments"] = {"image.png": {"image/png": PICTURE}}
    for text in HOSTILE.values():
        for kind in ("markdown", "raw"):
            tree["cells"].append({"cell_type": kind, "metadata": {}, "source": text})
        tree["cells"].append({**CODE, "source": f"from IPython.display import HTML\nHTML({text!r})"})
    path.write_text(json.dumps(tree), "utf-8")
    term.grade()

    page.add_init_script("window.ran = what => (window.whatRan ??= []).push(what); window.alert = window.ran;")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(f"{server}formgrader/manage_students/{student}/{term.chapter.id}")
    row(page, notebook).locator(".name a").click()
    shown = page.locator(".nbgrader_cell", has=page.locator(f"#{question.id}"))
    expect(shown.locator("strong").first).to_have_text("bold")
    expect(shown.locator("code").first).to_have_text("code")
    expect(shown).to_contain_text("$a < b$")
    expect(shown).to_contain_text("[picture missing: lost.png. It is not in the notebook.]")
    picture = shown.get_by_alt_text("mine")
    assert picture.evaluate("image => image.decode().then(() => image.naturalWidth)") == 1
    expect(page.locator("body")).to_contain_text(HOSTILE["script"])  # as text
    for link in page.locator("a:has-text('click')").all():
        link.click(force=True, no_wait_after=True)
    page.wait_for_function("() => globalThis.formgrader?.grades?.loaded")
    page.wait_for_timeout(500)
    assert page.evaluate("() => window.whatRan ?? []") == []
    assert not page.locator(".text_cell_render [onerror], .text_cell_render a[href], iframe[srcdoc]").count()
    assert not [url for url in asked if "example.org" in url or "path=" in url or url.endswith("/x")]
