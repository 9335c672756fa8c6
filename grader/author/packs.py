"""Packs of files as classic scripts, which a page can load from a server and, opened as a file, from its folder.

A page that was opened as a file may not fetch anything, but it may load scripts. So each script of a pack sets one
string: base64 of gzip of a line of JSON, [[path, bytes], …], and the files' contents one after another; or, if the pack
has several scripts, a piece of it.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FOLDER = "try"  # of the site's static files
SCRIPTS = ("panel.js",)  # in it, and no packs


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
        return version_of("".join(self.scripts))

    def file_names(self) -> list[str]:
        if len(self.scripts) == 1:
            return [f"{self.name}.js"]
        return [f"{self.name}-{number:02}.js" for number in range(len(self.scripts))]

    def write(self, folder: Path) -> None:
        """Write the scripts into a folder."""
        for name, script in zip(self.file_names(), self.scripts, strict=True):
            (folder / name).write_text(script, "utf-8")


def version_of(text: str) -> str:
    """What changes with a text: a part of its address, so that browsers load it again."""
    return hashlib.sha256(text.encode()).hexdigest()[:10]


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
