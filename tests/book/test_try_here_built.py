"""What the build of the book makes for Try it here: pinned files, packs, and which code of a page runs there."""

from __future__ import annotations

import hashlib
import io
import json
import tarfile
from pathlib import Path

import pytest
from one_page import build, words

from grader.author import pinned
from grader.author.in_page import as_html, scratch_cells
from grader.author.packs import make_pack, searched, unpacked
from grader.author.pinned import PinnedError, check_numpy, read_pins
from grader.author.runnable import before, set_up
from tests.conftest import ROOT

# --- pinned files -----------------------------------------------------------------------------------


@pytest.fixture
def pins(tmp_path: Path) -> Path:
    """A course whose only pinned file is in an archive beside it; the first address does not answer."""
    (tmp_path / "book" / "try_here").mkdir(parents=True)
    with tarfile.open(tmp_path / "a.tgz", "w:gz") as archive:
        entry = tarfile.TarInfo("package/x.js")
        entry.size = 4
        archive.addfile(entry, io.BytesIO(b"good"))
    (tmp_path / pinned.PINS).write_text(
        f'[files."x.js"]\nsha256 = "{hashlib.sha256(b"good").hexdigest()}"\n'
        f'from = ["{(tmp_path / "nowhere").as_uri()}", "{(tmp_path / "a.tgz").as_uri()}#package/x.js"]\n'
    )
    return tmp_path


def test_a_pinned_file_is_fetched_once_and_kept(pins: Path):
    assert pinned.pinned(pins) == {"x.js": b"good"}
    (pins / "a.tgz").unlink()
    assert pinned.pinned(pins) == {"x.js": b"good"}
    (pins / pinned.KEPT / "x.js").write_bytes(b"damaged")
    with pytest.raises(PinnedError, match=r"x\.js .* could not be had.*nowhere.*a\.tgz"):
        pinned.pinned(pins)


def test_another_file_at_the_address_is_refused(pins: Path):
    path = pins / pinned.PINS
    path.write_text(path.read_text().replace(hashlib.sha256(b"good").hexdigest(), "0" * 64))
    with pytest.raises(PinnedError, match="another file, whose SHA-256 is"):
        pinned.pinned(pins)
    assert not (pins / pinned.KEPT / "x.js").exists()


def test_numpy_is_the_one_that_was_built_for_this_pyodide():
    names = read_pins(ROOT)
    (wheel,) = (name for name in names if name.startswith("numpy-"))
    lock = {"packages": {"numpy": {"file_name": wheel, "sha256": hashlib.sha256(b"wheel").hexdigest()}}}
    files = {"pyodide-lock.json": json.dumps(lock).encode(), wheel: b"wheel"}
    check_numpy(files)
    with pytest.raises(PinnedError, match="Pin that"):
        check_numpy(files | {wheel: b"another"})


def test_without_the_pinned_files_the_book_has_no_buttons_and_says_so(tmp_path: Path):
    html, warnings = build(tmp_path, "# Page\n\n```{exercise-link} rnn_forward\n```\n", "exercise_link")
    assert warnings == ""
    script = (tmp_path / "out" / "_static" / "try_here.js").read_text("utf-8")
    assert script.startswith("//")
    assert len(script.splitlines()) == 1
    assert not (tmp_path / "out" / "_static" / "try").exists()
    assert "no buttons" in (tmp_path / "no_try_here.txt").read_text("utf-8")
    assert 'data-exercise="rnn_forward"' in html


# --- pages ------------------------------------------------------------------------------------------


def test_an_exercise_of_pytorch_says_where_it_can_be_done(tmp_path: Path):
    (tmp_path / "grader").symlink_to(ROOT / "grader")
    html, _ = build(tmp_path, "# Page\n\n```{exercise-link} CharLM\n```\n", "exercise_link")
    assert "Its check needs PyTorch" in html
    assert "jupyter lab exercises/ch04_gated/char_lm.ipynb" in words(html)
    assert "try-here" not in html


@pytest.mark.parametrize(
    "body", ["return np.tanh(x_t @ W_xh + h_prev @ W_hh + b_h)", "return h_prev * 3.25 + 1"], ids=["right", "unnamed"]
)
def test_an_exercise_that_is_shown_wrong_has_to_have_a_mistake_with_a_name(tmp_path: Path, body: str):
    page = f"# Page\n\n```{{try-it}} rnn_step\ndef rnn_step(x_t, h_prev, W_xh, W_hh, b_h):\n    {body}\n```\n"
    _, warnings = build(tmp_path, page, "try_here")
    assert "this code passes, or its mistake has no name" in warnings


# --- packs ------------------------------------------------------------------------------------------


def test_a_pack_gives_its_files_back_in_one_piece_or_many():
    files = [("a/b.txt", b"\0\n"), ("c.py", "π = 3".encode() * 100)]
    assert unpacked(make_pack("one", files).scripts) == files
    pack = make_pack("many", files, piece=20)
    assert unpacked(pack.scripts) == files
    assert pack.file_names()[:2] == ["many-00.js", "many-01.js"]
    assert make_pack("many", files, piece=20) == pack


def test_a_search_finds_what_packs_contain():
    pack = make_pack("one", [("exercise.json", json.dumps({"given": {"f": "x = secret\ny"}}).encode())])
    found = dict(searched([("book/_static/try/one.js", pack.scripts[0].encode()), ("book/index.html", b"page")]))
    assert found["book/_static/try/one.js/0.py"] == b"x = secret\ny"
    assert found["book/index.html"] == b"page"


def test_a_task_becomes_html_with_formulas_for_mathjax_and_no_markup_of_its_own():
    html = as_html("## Title\n\n$a < b$ and <b>x</b>\n\n| x |\n|---|\n| 1 |\n\n$$c$$")
    assert "<h2>" not in html
    assert "\\(a &lt; b\\)" in html
    assert "&lt;b&gt;" in html
    assert "<table>" in html
    assert "\\[c\\]" in html


# --- which code runs --------------------------------------------------------------------------------


def test_only_what_is_needed_runs_before_a_cell():
    cells = ["import numpy as np\nimport matplotlib.pyplot as plt", "x = np.ones(3)\ny = 2\nprint(x)", "plt.plot(x)"]
    found = before(cells, "print(x + 1)")
    assert found is not None
    assert found.statements == ["import numpy as np", "x = np.ones(3)"]


def test_what_changes_a_value_is_needed_too():
    cells = ["rows = []\ntotal = 0", "for n in range(3):\n    rows.append(n)\n    total += n", "unused = rows"]
    found = before(cells, "print(rows)")
    assert found is not None
    assert found.statements == ["rows = []", "total = 0", cells[1]]


@pytest.mark.parametrize("code", ["plt.plot([1])", "import torch", "nowhere + 1", "def f():\n    return nowhere\nf()"])
def test_code_that_lacks_something_is_not_offered(code: str):
    assert before(["import numpy as np\nimport matplotlib.pyplot as plt"], code) is None


def test_functions_of_exercises_are_named():
    found = before(["from solutions.ch01_vanilla_rnn.recurrence import rnn_step"], "rnn_step(1)")
    assert found is not None
    assert (found.exercises, found.statements) == (["rnn_step"], [])


def test_a_set_up_leaves_out_what_a_page_lacks_and_what_only_shows():
    cells = [
        "import numpy as np\nimport torch",
        "def f(a):\n    a[0] = np.pi\n    return a",
        "net = torch.nn.RNN(1, 1)",
        "print(1)",
    ]
    assert set_up(cells) == "import numpy as np\ndef f(a):\n    a[0] = np.pi\n    return a"


def test_hidden_cells_are_no_scratch_cells():
    page = "---\nkernelspec:\n  display_name: Python 3\n  name: python3\n---\n\n# T\n\n"
    cell = "```{code-cell} ipython3\nx = 1\n```\n\n"
    hidden = "```{code-cell} ipython3\n:tags: [remove-input]\n\ny = 2\n```\n\n"
    assert [each.code for each in scratch_cells(page + cell + hidden)] == ["x = 1"]
