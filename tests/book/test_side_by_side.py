"""Pages run side by side before they are read, once each, under the key that reading looks for, and in the same way."""

from __future__ import annotations

import json
import os
import re
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import side_by_side
from jupyter_cache import get_cache
from jupyter_cache.cache import db
from jupyter_cache.cache.main import JupyterCacheBase
from jupyter_cache.executors.utils import ExecutionResult
from myst_nb.core.config import NbParserConfig
from myst_nb.core.read import create_nb_reader
from myst_parser.config.main import MdParserConfig
from one_page import ROOT

HEAD = """---
file_format: mystnb
orphan: true
kernelspec:
  name: python3
  display_name: Python 3
---

# Page
"""
# Each leaves a line in a file and waits for the other's: were they to run one after another, neither would meet anyone.
MEETS = """\
import time
from pathlib import Path
with open("{own}.runs", "a") as file:
    file.write("ran\\n")
until = time.monotonic() + 120
while not Path("{other}.runs").exists() and time.monotonic() < until:
    time.sleep(0.05)
print("met" if Path("{other}.runs").exists() else "did not meet", "the other")
"""
# What a kernel does when it is asked to end.
ENDS = """\
import atexit
from pathlib import Path
atexit.register(Path("{own}.ended").touch)
print({what!r})
"""
BUILD = "import os, sys; os.cpu_count = lambda: 2; from sphinx.cmd.build import main; sys.exit(main(sys.argv[1:]))"
SETTINGS = (
    "extensions=myst_nb,side_by_side",
    "nb_execution_mode=cache",
    "nb_merge_streams=1",
    "exclude_patterns=book",
    "html_theme=basic",
)


def page(*cells: str) -> str:
    return HEAD + "".join(f"\n```{{code-cell}} ipython3\n{code}\n```\n" for code in cells)


def built(folder: Path, pages: dict[str, str], *options: str) -> subprocess.CompletedProcess[str]:
    """Build pages beside an index."""
    for name, page in pages.items():
        (folder / f"{name}.md").write_text(page, "utf-8")
    (folder / "index.md").write_text("# Index\n", "utf-8")
    if not (folder / "book").exists():
        (folder / "book").symlink_to(ROOT / "book")
    return subprocess.run(
        [sys.executable, "-c", BUILD, "-C", *options, *(f"-D{setting}" for setting in SETTINGS), ".", "out"],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT / "book" / "_ext"), "JUPYTER_PATH": str(folder)},
        capture_output=True,
        text=True,
    )


def html(folder: Path, page: str) -> str:
    return (folder / "out" / f"{page}.html").read_text("utf-8")


@pytest.mark.system
def test_two_pages_run_at_a_time_and_what_fails_is_told_as_it_is_read(tmp_path: Path) -> None:
    pages = {
        "fails": page("1 / 0"),
        "here": page(MEETS.format(own="here", other="there")),
        "there": page(MEETS.format(own="there", other="here")),
    }
    done = built(tmp_path, pages)
    assert done.returncode == 0, done.stderr
    for name in ("here", "there"):
        assert "met the other" in html(tmp_path, name)
        assert (tmp_path / f"{name}.runs").read_text() == "ran\n"
    assert done.stderr.count("Executing notebook failed: CellExecutionError") == 1
    assert "fails.md" in done.stderr


# The command of a kernel that does not start the first time.
STARTS_LATER = """\
import sys
from pathlib import Path
if not (tried := Path(__file__).with_name("tried")).exists():
    tried.touch()
    sys.exit("no port is free")
from ipykernel.kernelapp import launch_new_instance
launch_new_instance()
"""


@pytest.mark.system
def test_a_page_whose_kernel_did_not_start_runs_as_it_is_read(tmp_path: Path) -> None:
    kernel = tmp_path / "kernels" / "later"
    kernel.mkdir(parents=True)
    (kernel / "start.py").write_text(STARTS_LATER, "utf-8")
    spec = {"argv": [sys.executable, str(kernel / "start.py"), "-f", "{connection_file}"], "display_name": "Later"}
    (kernel / "kernel.json").write_text(json.dumps({**spec, "language": "python"}), "utf-8")
    pages = {"good": page("print('ran')"), "later": page("print('ran')").replace("python3", "later")}
    done = built(tmp_path, pages, "-W", "--keep-going")
    assert done.returncode == 0, done.stderr
    assert re.search(r"later\.md: will run again as it is read, because of RuntimeError", done.stdout)
    assert re.search(r"good\.md: ran after", done.stdout)
    for name in pages:
        assert "<span></span>ran" in html(tmp_path, name)


class Pages:
    """Pages of a book, run by a function in place of kernels."""

    def __init__(self, folder: Path, count: int, monkeypatch: pytest.MonkeyPatch) -> None:
        self.names = [f"page{number}" for number in range(count)]
        for name in self.names:
            (folder / f"{name}.md").write_text(page(f"{name} = 1"), "utf-8")
        self.app = SimpleNamespace()
        self.config = NbParserConfig(execution_mode="cache", execution_cache_path=str(folder / "cache"))
        self.env = SimpleNamespace(
            srcdir=str(ROOT),
            doc2path=lambda name: str(folder / f"{name}.md"),
            myst_config=MdParserConfig(),
            mystnb_config=self.config,
        )
        monkeypatch.setattr(os, "cpu_count", lambda: 8)
        monkeypatch.setattr(side_by_side, "_run", lambda notebook, cwd, *_: ExecutionResult(notebook, cwd, 0.1))

    def run(self) -> None:
        side_by_side.run(self.app, self.env, self.names)  # type: ignore[arg-type]

    def kept(self) -> int:
        return len(get_cache(self.config.execution_cache_path).list_cache_records())


def test_a_locked_cache_ends_no_build(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pages = Pages(tmp_path, 2, monkeypatch)
    assert pages.kept() == 0
    impatient = partial(db.create_engine, connect_args={"timeout": 0.1})
    monkeypatch.setattr(db, "create_engine", impatient)
    with closing(sqlite3.connect(tmp_path / "cache" / db.DB_NAME, isolation_level=None)) as other:
        for lock in ("IMMEDIATE", "EXCLUSIVE"):  # others may read, or may not
            other.execute(f"BEGIN {lock}")
            pages.run()
            other.execute("ROLLBACK")
            assert pages.kept() == 0
    pages.run()
    assert pages.kept() == 2


def test_pages_are_put_into_the_cache_one_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pages, keep, together, most = Pages(tmp_path, 12, monkeypatch), JupyterCacheBase.cache_notebook_bundle, [], []

    def slowly(cache: JupyterCacheBase, *args: Any, **options: Any) -> Any:
        together.append(1)
        most.append(len(together))
        time.sleep(0.02)
        try:
            return keep(cache, *args, **options)
        finally:
            together.pop()

    monkeypatch.setattr(JupyterCacheBase, "cache_notebook_bundle", slowly)
    pages.run()
    assert pages.kept() == 12
    assert set(most) == {1}


@pytest.mark.system
def test_kernels_are_killed_side_by_side_and_as_pages_are_read(tmp_path: Path) -> None:
    pages = {name: page(ENDS.format(own=name, what="first")) for name in ("here", "there")}
    assert built(tmp_path, pages).returncode == 0
    assert built(tmp_path, {"here": page(ENDS.format(own="here", what="second"))}).returncode == 0
    assert "second" in html(tmp_path, "here")
    assert "first" in html(tmp_path, "there")
    assert list(tmp_path.glob("*.ended")) == []


# Each prints the same; a flush sends what was printed before it.
IN_ONE = "print('hello')\nprint('a: 1\\n\\nb')"
IN_SEVERAL = """\
print("hello", end="", flush=True)
print(flush=True)
print("a: ", end="", flush=True)
print("1\\n", flush=True)
print("b")"""
PRINTED = re.compile(r'<div class="cell_output.*?<pre><span></span>(.*?)</pre>', re.S)


@pytest.mark.system
def test_a_page_is_the_same_in_however_many_messages_it_is_printed(tmp_path: Path) -> None:
    expected = ["hello\na: 1\n\nb\n"] * 2
    assert built(tmp_path, {"here": page(IN_ONE, IN_SEVERAL), "there": page("1")}).returncode == 0
    assert PRINTED.findall(html(tmp_path, "here")) == expected  # it ran beside the other
    assert built(tmp_path, {"here": page(IN_SEVERAL, IN_ONE)}).returncode == 0
    assert PRINTED.findall(html(tmp_path, "here")) == expected  # it ran as it was read


# The last result of a cell is sent seconds after the reply that it has ended.
LATE = """\
import time
kernel = get_ipython().kernel
publish = kernel._publish_status
def late(status, channel, parent=None):
    parent = parent or kernel.get_parent(channel)
    if status == "idle":
        kernel.iopub_thread.schedule(lambda: time.sleep({seconds}))
        kernel.session.send(kernel.iopub_socket, "stream", {{"name": "stdout", "text": "late\\n"}}, parent=parent)
    publish(status, channel, parent)
kernel._publish_status = late
"""


def notebook(folder: Path, *cells: str) -> Any:
    path = str(folder / "page.md")
    reader = create_nb_reader(path, MdParserConfig(), NbParserConfig(), page(*cells))
    assert reader is not None
    return reader.read(page(*cells))


@pytest.mark.system
def test_what_a_cell_puts_out_late_is_on_the_page(tmp_path: Path) -> None:
    done = side_by_side._run(notebook(tmp_path, LATE.format(seconds=6)), str(tmp_path), 60, False)
    assert done.err is None
    assert [output.text for output in done.nb.cells[-1].outputs] == ["late\n"]


@pytest.mark.system
def test_what_a_cell_puts_out_too_late_fails_the_page(tmp_path: Path) -> None:
    late = notebook(tmp_path, LATE.format(seconds=6))
    done = side_by_side._run(late, str(tmp_path), 60, False, iopub_timeout=1)
    assert "Timeout waiting for IOPub output" in str(done.err)
