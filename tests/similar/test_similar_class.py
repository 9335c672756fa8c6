"""A whole class: the demo class's independent right and wrong answers, and submissions that were disguised."""

import json
import shutil
import sys
from pathlib import Path

import pytest
from disguised import disguised
from typer.testing import CliRunner

from grader.author.demo_class import demo_class, is_broken
from grader.cells import notebook_bytes
from grader.cli import commands as cli
from grader.grading.release import released_notebooks
from grader.manifest import load_manifest
from grader.similar.look import as_tree, compare, without_names
from grader.similar.own import GivenError
from grader.similar.page import page_path, similar_page, write_page
from grader.submission.notebook import read_notebook

ROOT = Path(__file__).parents[2]
CHAPTER = load_manifest(ROOT / "course.toml").chapter("ch00_sequences")
EVIL = "</pre></script><script>alert(1)</script><img src=https://example.org/x onerror=alert(2)>"
ODD = "Zoë [red]b & é'\u202e"
# Words that would accuse someone, which no text of ours may contain.
ACCUSING = ("plagiar", "cheat", "copied", "copying", "copies", "suspect", "guilty", "offen", "culprit", "misconduct")


@pytest.fixture(scope="module")
def term(tmp_path_factory):
    """20 submissions: 18 students with independent work, two of whom have a partner with alike ones."""
    folder = tmp_path_factory.mktemp("a class")
    demo_class(ROOT, folder, CHAPTER.id, 29, 11)
    submitted = folder / "submitted"
    for number in filter(is_broken, range(29)):  # the demo class's broken notebooks all hold the same right answers
        shutil.rmtree(submitted / f"student{number + 1:02d}")
    released = released_notebooks(ROOT, CHAPTER)
    for seed, (old, new) in enumerate((("student01", "kim"), ("student11", "lee"))):
        for path in (submitted / old / CHAPTER.id).iterdir():
            other = disguised(read_notebook(path), released[path.stem], seed=seed)
            (submitted / new / CHAPTER.id).mkdir(parents=True, exist_ok=True)
            (submitted / new / CHAPTER.id / path.name).write_bytes(notebook_bytes(other))
    return folder


@pytest.fixture(scope="module")
def compared(term):
    return compare(ROOT, term, CHAPTER.id)


def names(compared):
    return {frozenset((pair.left.student, pair.right.student)) for pair in compared.found.pairs}


def test_the_planted_pairs_are_found_and_no_others(compared):
    assert len(compared.own) == 20
    assert names(compared) == {frozenset(("student01", "kim")), frozenset(("student11", "lee"))}
    for pair in compared.found.pairs:
        assert min(pair.left.share, pair.right.share) > 0.9


def test_released_notebooks_alone_give_nothing(tmp_path):
    for student in ("ann", "bo", "cy"):
        shutil.copytree(ROOT / "exercises" / CHAPTER.id, tmp_path / "submitted" / student / CHAPTER.id)
    compared = compare(ROOT, tmp_path, CHAPTER.id, share=0.1)
    assert compared.found.pairs == ()
    assert compared.found.short == ("ann", "bo", "cy")
    assert all(code.parts == () for code in compared.own.values())


def test_code_that_was_given_in_a_lecture_is_left_out(term, tmp_path):
    for path in (term / "submitted" / "student01" / CHAPTER.id).iterdir():
        shutil.copy(path, tmp_path)
    compared = compare(ROOT, term, CHAPTER.id, given=[tmp_path])
    assert names(compared) == {frozenset(("student11", "lee"))}
    page = tmp_path / "lecture.md"
    code = "\n\n".join(part.source for part in compared.own["student11"].parts)
    page.write_text(f"# Lecture\n\n```python\n{code}\n```\n", "utf-8")
    assert names(compare(ROOT, term, CHAPTER.id, given=[page])) == {frozenset(("student01", "kim"))}
    page.write_bytes(b"\xff\xfe")
    with pytest.raises(GivenError, match=r"lecture\.md"):
        compare(ROOT, term, CHAPTER.id, given=[page])


def test_hostile_submissions_are_compared_as_far_as_they_can_be(tmp_path):
    """The page holds no markup, no control character and no more than the bounds allow of what students wrote."""
    work = {
        "ann": ["def learn_bpe(a):\n" + "\n".join(f"    a = [a, {n}, a.b(a), '{EVIL}']" for n in range(40))],
        ODD: ["# mine\ndef learn_bpe(b):\n" + "\n".join(f"    b = [b, {n}, b.b(b), '{EVIL}']" for n in range(40))],
        "control": ["x = '\x1b[31m\x00\ud800\u202e'\n" * 30],
        "huge": ["x" * 300_000 + " = 1", "y = (" * 20_000],
        "nothing": [],
        "words": ["this is not Python ¿?\n" * 50],
    }
    for student, cells in work.items():
        write(tmp_path, student, cells)
    write(tmp_path, "broken", [])
    (tmp_path / "submitted" / "broken" / CHAPTER.id / "text.ipynb").write_text("not JSON")
    compared = compare(ROOT, tmp_path, CHAPTER.id)
    assert names(compared) == {frozenset(("ann", ODD))}
    assert compared.own["broken"].unreadable == ("text",)
    assert [name for name, code in compared.own.items() if code.cut] == ["huge"]
    for each in (compared, without_names(compared)):
        page = page_path(tmp_path, CHAPTER.id, each.anonymous)
        write_page(page, each)
        assert page.stat().st_mode & 0o777 == 0o600
        text = page.read_text("utf-8")
        assert "<script" not in text
        assert "<img" not in text
        assert "&lt;script&gt;alert(1)" in text
        assert not set(text) & {chr(code) for code in range(32)} - {"\n"}
        assert "\u202e" not in text
        assert len(text) < 200_000
    tree = as_tree(compared)
    json.dumps(tree, ensure_ascii=False).encode()
    assert tree["not_read"] == {"broken": ["text"]}


def write(term, student, cells):
    """The released notebooks, of which one has these cells at its end."""
    folder = term / "submitted" / student / CHAPTER.id
    shutil.copytree(ROOT / "exercises" / CHAPTER.id, folder)
    path = folder / "subwords.ipynb"
    tree = json.loads(path.read_text("utf-8"))
    for source in cells:
        cell = {"cell_type": "code", "id": "own", "metadata": {}, "outputs": [], "execution_count": None}
        tree["cells"].append({**cell, "source": source})
    path.write_text(json.dumps(tree))


def test_the_page_asks_and_accuses_no_one(term, compared):
    text = similar_page(compared)
    ours = text.partition('<section aria-labelledby="pairs">')[0].lower()
    assert "please look" in ours
    assert "no points were changed" in text.lower()
    for phrase in (
        "the obvious way",
        "worked as a pair",
        "a lecture",
        "the book’s pages",
        "the percentages are not probabilities",
        "ask both students",
        "has not been shown to be independent",
    ):
        assert phrase in " ".join(ours.split()), phrase
    for word in ACCUSING:
        assert word not in text.lower(), word
        for path in (ROOT / "grader" / "similar" / "page.py", ROOT / "grader" / "cli" / "similar.py"):
            assert word not in path.read_text("utf-8").lower(), (word, path.name)


def test_an_anonymous_page_has_no_ids(term, compared):
    assert page_path(term, CHAPTER.id, anonymous=True) != page_path(term, CHAPTER.id, anonymous=False)
    text = similar_page(without_names(compared))
    for student in compared.own:
        assert student not in text
    assert "submission 1</bdi> and <bdi>submission 2" in text
    assert "may contain names" in text
    assert "may contain names" not in similar_page(compared)


@pytest.fixture
def similar(monkeypatch, term):
    """Call the command as from the shell; return exit status, stdout and stderr."""

    def call(*arguments, of=term):
        monkeypatch.chdir(ROOT)
        result = CliRunner().invoke(cli.app, ["similar", CHAPTER.id, "--term", str(of), *map(str, arguments)])
        assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
        return result.exit_code, result.stdout, result.stderr

    return call


def test_the_command_lists_the_pairs_and_names_the_page(similar, term):
    status, printed, _ = similar()
    assert status == 0
    first, one, two, last = printed.splitlines()
    assert first == "Please look at 2 pairs of 20 submissions of ch00_sequences:"
    assert "kim (100 %) and student01 (100 %)" in one + two
    assert last.endswith("reports/ch00_sequences-similar.html")
    assert page_path(term, CHAPTER.id, anonymous=False).is_file()
    assert not any(word in printed.lower() for word in ACCUSING)


def test_the_page_is_written_where_the_option_says(similar, term, tmp_path):
    path = tmp_path / "elsewhere.html"
    status, printed, _ = similar("--out", path)
    assert status == 0
    assert printed.rstrip().endswith(str(path))
    assert path.stat().st_mode & 0o777 == 0o600
    status, _, told = similar("--out", path, "--json")
    assert (status, told) == (1, "Use only one of --out and --json.\n")


def test_the_pairs_as_json(similar, term):
    status, printed, _ = similar("--json", "--anonymous")
    assert not page_path(term, CHAPTER.id, anonymous=True).exists()
    tree = json.loads(printed)
    assert status == 0
    assert tree["submissions"] == 20
    assert [[side["student"] for side in pair["submissions"]] for pair in tree["pairs"]] == [
        ["submission 1", "submission 2"],
        ["submission 3", "submission 4"],
    ]
    assert "kim" not in printed


def test_a_comparison_needs_two(similar, tmp_path):
    status, _, told = similar(of=tmp_path)
    assert status == 1
    assert "0 submissions of ch00_sequences; a comparison needs two" in " ".join(told.split())


def test_the_library_is_asked_for_if_it_is_missing(similar, monkeypatch):
    monkeypatch.setitem(sys.modules, "copydetect", None)
    status, _, told = similar()
    assert status == 1
    assert "--editable '.[similar]'" in told
