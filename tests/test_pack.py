"""The bundle for students: what it contains, the same bytes every time, and what it must not contain."""

import hashlib
import io
import json
import os
import re
import shutil
import stat
import zipfile
from html import escape

import nbformat
import pytest
from packed_course import PAGE, ROOT, write, write_packed_course
from small_course import CHAPTER, KEPT
from typer.testing import CliRunner

from grader.author.built_book import SITE, BookError, note, sources_digest, up_to_date_book
from grader.author.course import Course
from grader.author.leaks import find_leaks, secrets_of
from grader.author.pack import PackError, check_paths, check_secrets, pack, released_files, third_party_imports
from grader.author.wheel import WheelError, archive_files, build_wheel, project, same_bytes
from grader.cli.commands import app
from grader.codec import deflate, encode
from grader.files import zip_bytes
from tests.kept_back import kept_back, planted

VERSION = project(ROOT)["version"]
TOP = f"unrolled-{VERSION}"
WHEEL = f"unrolled_grader-{VERSION}-py3-none-any.whl"
SOLUTION = "return np.tanh(x_t @ W_xh + h_prev @ W_hh + b_h)"  # of rnn_step


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    """Read only: tests that change a course copy it."""
    return write_packed_course(tmp_path_factory.mktemp("course"))


@pytest.fixture(scope="module")
def bundle(course):
    return pack(course)


@pytest.fixture(scope="module")
def files(bundle):
    return dict(archive_files(bundle.path.read_bytes()))


@pytest.fixture
def changed(course, tmp_path):
    return shutil.copytree(course, tmp_path / "course", ignore=shutil.ignore_patterns("dist"))


# --- what it contains ---------------------------------------------------------------------------------------


def test_it_contains_these_files_only(bundle, files, course):
    assert bundle.path == course / "dist" / f"{TOP}.zip"
    assert sorted(files) == [
        f"{TOP}/README.txt",
        f"{TOP}/book/{PAGE}",
        f"{TOP}/book/index.html",
        f"{TOP}/book/searchindex.js",
        f"{TOP}/exercises/{CHAPTER}/recurrence.ipynb",
        f"{TOP}/requirements.txt",
        f"{TOP}/{WHEEL}",
    ]
    released = course / "exercises" / CHAPTER / "recurrence.ipynb"
    given = json.loads(files[f"{TOP}/exercises/{CHAPTER}/recurrence.ipynb"])
    (first,) = (cell for cell in given["cells"] if "Read first" in "".join(cell["source"]))
    link = re.search(r"\[(\*[^*]+\*)\]\(\.\./\.\./book/(\S+)\)", "".join(first["source"]))
    assert f"{TOP}/book/{link[2]}" in files
    plain = "".join(first["source"]).replace(link[0], link[1])
    first["source"] = plain.splitlines(keepends=True)
    assert given == json.loads(released.read_bytes())
    assert bundle.size == bundle.path.stat().st_size
    assert (bundle.files, sum(bundle.parts.values())) == (len(files), sum(map(len, files.values())))


def test_what_the_instructions_name_is_there(files):
    readme = files[f"{TOP}/README.txt"].decode("ascii")
    named = set(re.findall(r"(?:exercises|book)/[\w/.]+\w|requirements\S*\.txt|unrolled_grader\S+?\.whl", readme))
    assert {f"exercises/{CHAPTER}/recurrence.ipynb", "book/index.html", "requirements.txt", WHEEL} <= named
    for name in named:
        assert any(path == f"{TOP}/{name}" or path.startswith(f"{TOP}/{name}/") for path in files), name
    assert 'check("rnn_step", rnn_step)' in readme
    assert f"!unzip -qo {TOP}.zip && pip install -q {TOP}/{WHEEL}\n    %cd {TOP}/exercises/{CHAPTER}\n" in readme
    assert max(map(len, readme.splitlines())) <= 120
    assert not re.search(r"[{}]", readme)


def test_the_requirements_are_the_tested_versions(files):
    lines = [line for line in files[f"{TOP}/requirements.txt"].decode().splitlines() if not line.startswith("#")]
    pins = (ROOT / "constraints.txt").read_text("utf-8").splitlines()
    assert lines[0] == f"./{WHEEL}"
    assert [line.partition("==")[0] for line in lines[1:]] == [
        *("numpy", "msgspec", "typer", "rich"),
        *("ipykernel", "jupyterlab"),
    ]
    assert set(lines[1:]) <= set(pins)


def test_the_wheel_is_whole(files):
    with zipfile.ZipFile(io.BytesIO(files[f"{TOP}/{WHEEL}"])) as wheel:
        record = wheel.read(f"unrolled_grader-{VERSION}.dist-info/RECORD").decode().splitlines()
        listed = {line.split(",")[0] for line in record}
        assert listed == set(wheel.namelist())
        assert {
            f"grader/data/rnn_step.{kind}" for kind in ("md", "cases.msgpack.zlib", "outputs.msgpack.zlib")
        } <= listed
        assert not [name for name in listed if name.endswith(".pyc")]


def test_every_entry_can_be_unpacked_anywhere(bundle):
    with zipfile.ZipFile(bundle.path) as archive:
        for entry in archive.infolist():
            assert stat.S_ISREG(entry.external_attr >> 16)
            assert entry.date_time == (1980, 1, 1, 0, 0, 0)
            assert "\\" not in entry.filename
            assert entry.flag_bits == 0  # no encryption, no names in another encoding
        texts = [name for name in archive.namelist() if name.endswith((".txt", ".ipynb"))]
        assert not [name for name in texts if b"\r" in archive.read(name)]
        assert archive.namelist() == sorted(archive.namelist())


def test_the_same_bytes_whoever_packs_them_and_when(bundle, changed):
    for path in changed.rglob("*"):
        if path.is_file():
            path.chmod(0o640)
            os.utime(path, (1_000_000_000, 1_000_000_000))
    (changed / "grader" / "__pycache__").mkdir(exist_ok=True)
    (changed / "grader" / "__pycache__" / "cells.pyc").write_bytes(b"compiled")
    mask = os.umask(0o077)
    try:
        again = pack(changed)
    finally:
        os.umask(mask)
    assert again.path.read_bytes() == bundle.path.read_bytes()


def test_chapters_that_are_chosen():
    course = Course(ROOT)
    notebooks = {
        f"{made.chapter.id}/{made.notebook.name}.ipynb": made.student
        for made in course.made
        if made.chapter.id == "ch04_gated"
    }
    packed = released_files(course, notebooks)
    folder = ROOT / "exercises" / "ch04_gated"
    assert {name for name, _ in packed} == {f"exercises/ch04_gated/{path.name}" for path in folder.iterdir()}
    assert third_party_imports(notebooks) == {
        "numpy": [f"ch04_gated/{made.notebook.name}.ipynb" for made in course.made if made.chapter.id == "ch04_gated"],
        "torch": ["ch04_gated/char_lm.ipynb", "ch04_gated/capstone.ipynb"],
    }


def test_the_instructions_for_pytorch_only_if_a_notebook_imports_it(changed, monkeypatch):
    path = changed / "solutions" / CHAPTER / "recurrence.py"
    path.write_text(path.read_text("utf-8").replace("import numpy as np\n", "import numpy as np\nimport torch\n", 1))
    from grader.author.notebooks import release_notebooks

    release_notebooks(changed, changed / "exercises")
    monkeypatch.setattr("grader.author.pack.build_wheel", lambda root: (WHEEL, zip_bytes([])))
    packed = dict(archive_files(pack(changed, book=False).path.read_bytes()))
    pin = next(line for line in (ROOT / "constraints.txt").read_text().splitlines() if line.startswith("torch=="))
    assert packed[f"{TOP}/requirements-torch.txt"].decode().splitlines()[-1] == pin
    assert f"#   exercises/{CHAPTER}/recurrence.ipynb" in packed[f"{TOP}/requirements-torch.txt"].decode()
    assert "torch" not in packed[f"{TOP}/requirements.txt"].decode()
    assert "  requirements-torch.txt\n" in packed[f"{TOP}/README.txt"].decode()
    assert "-r requirements-torch.txt" in packed[f"{TOP}/README.txt"].decode()
    assert "book/" not in packed[f"{TOP}/README.txt"].decode().partition("1. Unpack")[0]


def test_a_package_that_is_not_pinned(changed):
    path = changed / "solutions" / CHAPTER / "recurrence.py"
    path.write_text(path.read_text("utf-8").replace("import numpy as np\n", "import numpy as np\nimport jax\n", 1))
    from grader.author.notebooks import release_notebooks

    release_notebooks(changed, changed / "exercises")
    with pytest.raises(PackError, match=r"constraints\.txt pins no version of jax"):
        pack(changed, book=False)


# --- what has to be up to date ------------------------------------------------------------------------------


def test_a_changed_release_is_not_packed(changed):
    path = changed / "exercises" / CHAPTER / "recurrence.ipynb"
    notebook = nbformat.read(path, 4)
    notebook.cells[-1].source += "\n# my own code"
    nbformat.write(notebook, path)
    with pytest.raises(PackError, match=rf"exercises/{CHAPTER}/recurrence\.ipynb\. Run  grader release  first"):
        pack(changed)


def test_recorded_data_of_no_exercise(changed):
    data = changed / "grader" / "data"
    shutil.copy(data / "rnn_step.cases.msgpack.zlib", data / "old.cases.msgpack.zlib")
    with pytest.raises(PackError, match=r"grader/data/old\.cases\.msgpack\.zlib belongs to no exercise"):
        pack(changed, book=False)


def test_a_manifest_that_was_not_released(changed):
    with (changed / "grader" / "data" / "course.toml").open("a") as file:
        file.write("# later\n")
    with pytest.raises(PackError, match=r"grader/data/course\.toml"):
        pack(changed, book=False)


def test_the_book_has_to_be_built_from_these_sources(changed):
    assert up_to_date_book(changed) == changed / SITE
    write(changed / "book" / "_build" / "x.md", "not a source")
    write(changed / "book" / "__pycache__" / "x.pyc", "not a source either")
    assert up_to_date_book(changed) == changed / SITE
    write(changed / "book" / "index.md", "# Another book\n")
    with pytest.raises(BookError, match=r"have changed since it was built\. Run  make book  first"):
        pack(changed)
    note(changed / SITE, "self-study", sources_digest(changed))
    with pytest.raises(BookError, match="self-study edition"):
        pack(changed)
    (changed / SITE / ".built_from.json").unlink()
    with pytest.raises(BookError, match="does not say which sources"):
        pack(changed)
    shutil.rmtree(changed / SITE)
    with pytest.raises(BookError, match="there is no built book"):
        pack(changed)


# --- what must not be in it ---------------------------------------------------------------------------------

COLOURED = "".join(f"<span class='x'>{escape(word)}</span> " for word in SOLUTION.split())
NOTEBOOK = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(SOLUTION)])
ALTERNATIVE = """
def unit_by_unit(x_t, h_prev, W_xh, W_hh, b_h):
    h_t = np.zeros(h_prev.shape)
    for row in range(len(x_t)):
        for unit in range(len(b_h)):
            a = sum(x_t[row, d] * W_xh[d, unit] for d in range(W_xh.shape[0]))
            a += sum(h_prev[row, i] * W_hh[i, unit] for i in range(W_hh.shape[0]))
            h_t[row, unit] = np.tanh(a + b_h[unit])
    return h_t
"""
PLANTED = {
    "page": ("book/x.html", f"<pre>{COLOURED}</pre>", "solution of rnn_step"),
    "attribute": ("book/x.html", f'<p data-code="{escape(SOLUTION)}">x</p>', "solution of rnn_step"),
    "comment": ("book/x.html", f"<!-- {SOLUTION} -->", "solution of rnn_step"),
    "script": ("book/x.js", json.dumps({"x": f"a\n  {SOLUTION}\n"}), "solution of rnn_step"),
    "notebook": ("exercises/x.ipynb", nbformat.writes(NOTEBOOK), "solution of rnn_step"),
    "broken lines": ("grader/x.py", SOLUTION.replace(" + ", "\n        + "), "solution of rnn_step"),
    "another name": (
        "grader/x.py",
        f"new = {SOLUTION.removeprefix('return ')}\n",
        "expression of the solution of rnn_step",
    ),
    "another name on a page": (
        "book/x.html",
        f"<pre><span>new</span> = {escape(SOLUTION.removeprefix('return '))}</pre>",
        "expression of the solution of rnn_step",
    ),
    "a hint": (
        "grader/data/x.md",
        f"text\n```python\nnew = {SOLUTION.removeprefix('return ')}\n```\n",
        "expression of the solution of rnn_step",
    ),
    "alternative": ("grader/x.py", ALTERNATIVE, f"unit_by_unit of solutions/{CHAPTER}/rnn_step/spec.py"),
    "spec": (
        "grader/data/x.py",
        (ROOT / "solutions" / CHAPTER / "rnn_step" / "spec.py").read_text("utf-8"),
        f"oracle of solutions/{CHAPTER}/rnn_step/spec.py",
    ),
    "folder": ("solutions/ch01/x.txt", "harmless", "solutions"),
    "term": ("book/term/submitted/x.txt", "harmless", "submitted, term"),
    "recorded": ("grader/data/x.msgpack", encode({"x": SOLUTION}), "solution of rnn_step"),
    "recorded and compressed": ("grader/data/x.msgpack.zlib", deflate({"x": SOLUTION}), "solution of rnn_step"),
    "not to be searched": ("grader/data/x.msgpack.zlib", deflate({"x": SOLUTION})[:-9], "it cannot be searched"),
}


@pytest.fixture(scope="module")
def hidden(tmp_path_factory, course):
    """The folder of a term, and one of its hidden cases as a tree."""
    term = tmp_path_factory.mktemp("term")
    write(term / "hidden" / "seed", "918273645546372819\n")
    from grader.released import cases_tree, outputs_tree
    from grader.spec.compute import make_checks

    place = Course(course).manifest.place("rnn_step")
    checks = make_checks(course, place, 918273645546372819, example=False)
    trees = {"rnn_step": (cases_tree(checks), outputs_tree(checks))}
    (term / "hidden" / f"{CHAPTER}.msgpack").write_bytes(encode({"state": "x", "exercises": trees}))
    return term, trees["rnn_step"][0]["cases"][2]


@pytest.fixture(scope="module")
def secrets(course, hidden):
    return secrets_of(Course(course), [hidden[0]])


@pytest.mark.parametrize("where", PLANTED)
def test_a_planted_secret_is_found_and_named(secrets, where):
    path, text, says = PLANTED[where]
    found = find_leaks([(path, text if isinstance(text, bytes) else text.encode())], secrets)
    assert found
    assert all(leak.path == path for leak in found)
    assert any(says in leak.what for leak in found), [str(leak) for leak in found]


def test_a_planted_hidden_case_is_found(secrets, hidden):
    term, case = hidden
    number = next(text for text in map(repr, case[1]["x_t"].ravel().tolist()) if len(text) > 16)
    planted = [
        ("grader/data/x.cases.msgpack", encode({"cases": [case]})),
        ("grader/data/x.cases.msgpack.zlib", deflate({"cases": [case]})),
        ("exercises/ch01/x.json", json.dumps({"x": case[1]["x_t"].tolist()}).encode()),
        ("book/x.html", f"<td>{number}</td>".encode()),
    ]
    assert [str(leak) for leak in find_leaks(planted, secrets)] == [
        f"{path}: a hidden case of rnn_step in {term}" for path, _ in planted
    ]
    seed = [("book/x.html", b"<p>seed 918273645546372819</p>")]
    assert [leak.what for leak in find_leaks(seed, secrets)] == [f"the seed of the hidden cases in {term}"]


def test_what_students_get_anyway_is_no_secret(secrets, files):
    public = [(name, content) for name, content in files.items() if not name.endswith(".whl")]
    public += archive_files(files[f"{TOP}/{WHEEL}"])
    assert find_leaks(public, secrets) == []
    lines = ["import numpy as np", "B, T, D = x.shape", "return h", "def rnn_step(x_t, h_prev, W_xh, W_hh, b_h):"]
    assert find_leaks([("book/x.html", "\n".join(lines).encode())], secrets) == []


def test_students_get_no_other_way_and_are_not_told_why_one_works(course, files):
    sources = Course(course)
    kept = kept_back(sources)
    assert set(kept.solutions.values()) == {f"{name} (why it works)" for name in KEPT}
    public = [(name, content) for name, content in files.items() if not name.endswith(".whl")]
    assert find_leaks(public + archive_files(files[f"{TOP}/{WHEEL}"]), kept) == []
    for name in KEPT:
        for says, page in planted(sources, name).values():
            (leak, *_) = find_leaks([("book/x.html", page)], kept)
            assert says in leak.what


def test_a_planted_secret_in_the_wheel_is_found(course):
    inside = zip_bytes([("grader/render/x.py", f"def f(x):\n    {SOLUTION}\n".encode())])
    with pytest.raises(PackError, match=rf"{WHEEL}/grader/render/x\.py: a line of the solution of rnn_step"):
        check_secrets([(f"{TOP}/{WHEEL}", inside)], Course(course), [])


def test_the_command_writes_nothing_if_it_finds_a_leak(changed, monkeypatch):
    page = changed / SITE / PAGE
    page.write_text(page.read_text("utf-8") + f"<pre>{COLOURED}</pre>", "utf-8")
    monkeypatch.chdir(changed)
    monkeypatch.setattr("grader.author.pack.build_wheel", lambda root: (WHEEL, zip_bytes([])))
    done = CliRunner().invoke(app, ["pack"])
    assert done.exit_code == 1
    said = " ".join(done.output.split())
    assert f"{TOP}/book/{PAGE}: a line of the solution of rnn_step: returnnp.tanh(x_t@W_xh+h_prev@W_hh+b_h)" in said
    assert not (changed / "dist").exists()


def test_the_command_searches_for_the_hidden_cases_of_the_terms(changed, monkeypatch):
    write(changed / "term" / "hidden" / "seed", "111222333444555666")
    write(changed / "build" / "demo" / "hidden" / "seed", "777888999000111222")
    write(changed / "elsewhere" / "t" / "hidden" / "seed", "333444555666777888")
    page = changed / SITE / PAGE
    page.write_text(
        page.read_text("utf-8") + "<p>111222333444555666 777888999000111222 333444555666777888</p>", "utf-8"
    )
    monkeypatch.chdir(changed)
    monkeypatch.setenv("UNROLLED_TERM", "elsewhere/t")
    monkeypatch.setattr("grader.author.pack.build_wheel", lambda root: (WHEEL, zip_bytes([])))
    done = CliRunner().invoke(app, ["pack"])
    assert done.exit_code == 1
    assert done.output.count("the seed of the hidden cases in") == 3


def test_the_command(changed, monkeypatch):
    monkeypatch.chdir(changed / "book")
    monkeypatch.setattr("grader.author.pack.build_wheel", lambda root: (WHEEL, zip_bytes([])))
    done = CliRunner().invoke(app, ["pack", "--without-book", "--chapter", CHAPTER, "--out", "for my class.zip"])
    assert done.exit_code == 0, done.output
    assert done.output.startswith("wrote for my class.zip: 4 files, ")
    packed = dict(archive_files((changed / "book" / "for my class.zip").read_bytes()))
    assert "!unzip -qo 'for my class.zip' &&" in packed[f"{TOP}/README.txt"].decode()
    assert not [name for name in packed if "/book/" in name]
    done = CliRunner().invoke(app, ["pack", "--chapter", "ch01"])
    assert done.exit_code == 1
    assert "There is no chapter 'ch01'" in done.output


# --- paths --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("paths", "says"),
    [
        (["u/a:b.html"], "'a:b.html' is not a file name on every system"),
        (["u/what?.html"], "is not a file name"),
        (["u/a\\b.html"], "is not a file name"),
        (["u/../b.html"], "is not a file name"),
        (["/etc/b.html"], "is not a file name"),
        (["u/dot."], "is not a file name"),
        (["u/two words.html"], "is not a file name"),
        (["u/é.html"], "is not a file name"),
        (["u/AUX.html"], "is not a file name"),
        (["u/com1"], "is not a file name"),
        (["u/" + "x" * 139], "141 characters; at most 140"),
        (["u/Page.html", "u/page.html"], "u/Page.html, u/page.html: one file on Windows and macOS"),
        (["u/A/x", "u/a/y"], "u/A, u/a: one folder on Windows and macOS"),
    ],
)
def test_paths_that_some_system_cannot_unpack(paths, says):
    with pytest.raises(PackError, match=re.escape(says)):
        check_paths(paths)


def test_paths_that_all_systems_can_unpack():
    check_paths(["u/" + "x" * 138, "u/console.html", "u/_static/a-b+c@2.0.js", "u/__init__.py", "v/.nojekyll"])


def test_a_symbolic_link_in_the_book_is_refused(changed):
    (changed / SITE / "link.html").symlink_to(changed / "constraints.txt")
    with pytest.raises(PackError, match=r"link\.html: a symbolic link"):
        pack(changed)


# --- the wheel ----------------------------------------------------------------------------------------------


def test_a_wheel_that_cannot_be_built(changed):
    (changed / "pyproject.toml").write_text('[project]\nname = "x"\nversion = "not a version"\n', "utf-8")
    with pytest.raises(WheelError, match=r"could not be built(?s:.*)pip said:"):
        build_wheel(changed)
    (changed / "LICENSE").unlink()
    with pytest.raises(WheelError, match="LICENSE: there is no such file"):
        build_wheel(changed)


def test_normalising_keeps_every_file():
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name in ("b.dist-info/RECORD", "a/x.py", "b/x.py"):
            archive.writestr(name, name * 3)
    found = archive_files(same_bytes(stream.getvalue()))
    assert found == [(name, name.encode() * 3) for name in ("a/x.py", "b/x.py", "b.dist-info/RECORD")]
    assert hashlib.sha256(same_bytes(stream.getvalue())).digest() == hashlib.sha256(zip_bytes(found)).digest()
