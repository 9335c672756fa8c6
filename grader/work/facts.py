"""What `grader doctor` finds on this machine, as plain values. `doctor` decides what they mean."""

from __future__ import annotations

import importlib.util
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Literal

import grader
from grader import journal
from grader.errors import ExpectedError
from grader.submission.course import manifest

System = Literal["windows", "macos", "linux"]

PACKAGES = ("numpy", "msgspec", "typer", "rich")  # what the wheel requires
_SHADOWED = {"grader", "msgspec", "typer", "rich", "numpy", "torch", "matplotlib", "IPython", "ipykernel"}
_OWNER = "unrolled-grader"  # the distribution that contains the package `grader`


@dataclass(frozen=True)
class Import:
    """A package: its version, None if it is not installed, and the reason if it is but cannot be imported."""

    version: str | None
    error: str = ""


@dataclass(frozen=True)
class Facts:
    """One machine. `python` is the version, `interpreter` the path of this Python, and `command` what starts it in a
    shell: its name if that is found first, else the path.

    `owners` are the distributions that contain a package `grader`. `torch_chapters` need PyTorch, in particular for
    `torch_exercises`. `kernels` are the names of the Jupyter kernels that run this Python. `unwritable` says for the
    current folder and the diary's folder why nothing can be written there, empty if it can; None if there is no diary.
    `shadows` are files with the name of a module that notebooks import, next to notebooks.
    """

    system: System
    machine: str
    python: tuple[int, int, int]
    interpreter: str
    command: str
    home: str
    grader_version: str
    grader_folder: str
    owners: tuple[str, ...]
    packages: dict[str, Import]
    torch: Import
    torch_chapters: tuple[str, ...]
    torch_exercises: tuple[str, ...]
    ipykernel: str | None
    kernels: tuple[str, ...]
    front_ends: tuple[str, ...]
    here: str
    unwritable_here: str
    diary: str | None
    unwritable_diary: str
    free_bytes: int
    shadows: tuple[str, ...]
    notebooks: int
    course_error: str = ""


def facts(here: Path) -> Facts:
    """Examine this machine and this folder. Starts Python to import NumPy and PyTorch, which takes seconds."""
    entries = journal.path()
    chapters, exercises, error = _torch_needs()
    notebook_folders = list(_notebook_folders(here))
    return Facts(
        system={"Windows": "windows", "Darwin": "macos"}.get(platform.system(), "linux"),  # type: ignore[arg-type]
        machine=platform.machine(),
        python=sys.version_info[:3],
        interpreter=sys.executable,
        command=_command(),
        home=str(Path.home()),
        grader_version=_version(_OWNER) or "",
        grader_folder=str(Path(grader.__file__).parent),
        owners=tuple(sorted(set(metadata.packages_distributions().get("grader", ())))),
        packages={name: _imported(name) for name in PACKAGES},
        torch=_imported("torch"),
        torch_chapters=chapters,
        torch_exercises=exercises,
        ipykernel=_version("ipykernel"),
        kernels=tuple(_kernels()),
        front_ends=tuple(name for name in ("jupyterlab", "notebook") if _version(name)),
        here=str(here),
        unwritable_here=_unwritable(here),
        diary=None if entries is None else str(entries),
        unwritable_diary="" if entries is None else _unwritable_file(entries),
        free_bytes=shutil.disk_usage(here).free,
        shadows=tuple(shadows_in(notebook_folders)),
        notebooks=sum(len(list(folder.glob("*.ipynb"))) for folder in notebook_folders),
        course_error=error,
    )


def _command() -> str:
    names = (name for name in ("python", "python3") if (found := shutil.which(name)) and _is_this_python(found))
    return next(names, sys.executable)


def _version(distribution: str) -> str | None:
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return None


def _imported(name: str) -> Import:
    """Import a package in a new process, away from the current folder, because a failing import may end the process."""
    version = _version(name)
    if importlib.util.find_spec(name) is None:
        return Import(None)
    try:
        done = subprocess.run(
            [sys.executable, "-P", "-c", f"import {name}"],
            cwd=Path(sys.executable).parent,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=120,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return Import(version or "unknown", str(error))
    lines = done.stderr.decode("utf-8", "replace").strip().splitlines()
    reason = (lines or [f"exit status {done.returncode}"])[-1] if done.returncode else ""
    return Import(version or "unknown", reason)


def _torch_needs() -> tuple[tuple[str, ...], tuple[str, ...], str]:
    """The chapters that preload PyTorch, and their exercises that are PyTorch modules, from the course's data."""
    try:
        course = manifest()
    except ExpectedError as error:
        return (), (), str(error)
    chapters = [chapter for chapter in course.chapters if "torch" in course.limits(chapter).preload]
    ids = [exercise.id for chapter in chapters for exercise in chapter.exercises]
    try:
        from grader.released import COURSE

        modules = [name for name in ids if COURSE.driver(name) == "module"]
    except (ImportError, OSError, ValueError) as error:  # without NumPy, its own line says so
        return tuple(chapter.id for chapter in chapters), (), str(error) if isinstance(error, OSError) else ""
    return tuple(chapter.id for chapter in chapters), tuple(modules), ""


def _kernels() -> Iterator[str]:
    """The names of the kernels that run this Python, among those that Jupyter would find.

    The folders are those of `jupyter --paths`: https://docs.jupyter.org/en/latest/use/jupyter-directories.html
    """
    found = set()
    for folder in _jupyter_folders():
        own = folder.is_relative_to(sys.prefix)
        for file in sorted(folder.glob("kernels/*/kernel.json")):
            try:
                command = json.loads(file.read_bytes())["argv"][0]
            except (OSError, ValueError, LookupError, TypeError):
                continue
            if isinstance(command, str) and (_is_this_python(command) or (own and "python" in Path(command).stem)):
                found.add(file.parent.name)
    yield from sorted(found)


def _jupyter_folders() -> list[Path]:
    given = [Path(each) for each in os.environ.get("JUPYTER_PATH", "").split(os.pathsep) if each]
    shared: Sequence[Path]
    if sys.platform == "win32":
        user = Path(os.environ.get("APPDATA") or Path.home()) / "jupyter"
        shared = [Path(os.environ.get("PROGRAMDATA") or "C:/ProgramData") / "jupyter"]
    else:
        own = Path.home() / ("Library/Jupyter" if sys.platform == "darwin" else ".local/share/jupyter")
        data = os.environ.get("XDG_DATA_HOME")
        user = Path(data) / "jupyter" if data and sys.platform != "darwin" else own
        shared = [Path("/usr/local/share/jupyter"), Path("/usr/share/jupyter")]
    user = Path(os.environ.get("JUPYTER_DATA_DIR") or user)
    return [*given, user, Path(sys.prefix) / "share" / "jupyter", *shared]


def _is_this_python(command: str) -> bool:
    """Whether a path is this interpreter. Links are not followed: an environment's Python is a link to another one."""
    path = Path(command)
    return path.is_absolute() and os.path.normcase(path.parent) == os.path.normcase(Path(sys.executable).parent)


def _unwritable(folder: Path) -> str:
    try:
        with tempfile.TemporaryFile(dir=folder):
            return ""
    except OSError as error:
        return error.strerror or str(error)


def _unwritable_file(path: Path) -> str:
    """Why a file cannot be written, which need not exist; nor need its folder."""
    if path.exists():
        try:
            with open(path, "ab"):
                return ""
        except OSError as error:
            return error.strerror or str(error)
    folder = next((each for each in path.parents if each.exists()), path.parent)
    return _unwritable(folder)


def _notebook_folders(here: Path) -> Iterator[Path]:
    """This folder and those of the chapters below it, if they contain notebooks."""
    for folder in (here, *sorted(here.glob("ch*")), *sorted(here.glob("exercises/*"))):
        if folder.is_dir() and any(folder.glob("*.ipynb")):
            yield folder


def shadows_in(folders: Sequence[Path]) -> Iterator[str]:
    """Files and packages next to notebooks that would be imported in place of a module of the same name."""
    names = _SHADOWED | set(sys.stdlib_module_names)
    for folder in folders:
        for path in sorted(folder.iterdir()):
            is_module = path.suffix == ".py" or (path / "__init__.py").is_file()
            if is_module and path.stem in names and path.resolve() != Path(grader.__file__).resolve().parent:
                yield str(path)
