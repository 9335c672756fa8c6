"""Build the package's wheel for students, with the same bytes in every build."""

from __future__ import annotations

import io
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
import zipfile
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from grader.errors import ExpectedError
from grader.files import zip_bytes

_SETUPTOOLS = 77  # the first that knows `license = "BSD-3-Clause"` as pyproject.toml has it
_SOURCES = ("pyproject.toml", "README.md", "LICENSE")
_LAST_WORDS = 1500  # characters of pip's output that an error repeats


class WheelError(ExpectedError):
    """The wheel could not be built; the message says why and what to do."""


def project(root: Path) -> dict[str, Any]:
    """The table `[project]` of pyproject.toml. Raises WheelError if it cannot be read."""
    path = root / "pyproject.toml"
    try:
        table: dict[str, Any] = tomllib.loads(path.read_text("utf-8"))["project"]
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, KeyError) as error:
        raise WheelError(f"{path}: cannot be read: {error}") from error
    return table


def build_wheel(root: Path) -> tuple[str, bytes]:
    """(name, content) of the wheel of the course folder's package. Raises WheelError.

    It is built from a copy, so that nothing is left behind. If setuptools is installed, no connection is needed;
    otherwise pip gets it.
    """
    with tempfile.TemporaryDirectory(prefix="unrolled-wheel-") as folder:
        source, made = Path(folder, "source"), Path(folder, "made")
        source.mkdir()
        for name in _SOURCES:
            if not (root / name).is_file():
                raise WheelError(f"{root / name}: there is no such file. The wheel cannot be built without it.")
            shutil.copyfile(root / name, source / name)
        shutil.copytree(root / "grader", source / "grader", ignore=_ignored)
        isolation = ["--no-build-isolation"] if _setuptools_is_new_enough() else []
        command = [sys.executable, "-m", "pip", "wheel", ".", "--no-deps", *isolation, "--wheel-dir", str(made)]
        done = subprocess.run(command, cwd=source, capture_output=True, text=True, errors="replace", check=False)
        wheels = sorted(made.glob("*.whl")) if made.is_dir() else []
        if done.returncode or len(wheels) != 1:
            advice = "" if isolation else f'  Try first:  python -m pip install "setuptools>={_SETUPTOOLS}"'
            reason = (done.stderr.strip() or done.stdout.strip())[-_LAST_WORDS:]
            raise WheelError(f"The wheel could not be built.{advice}\npip said:\n{reason}")
        return wheels[0].name, same_bytes(wheels[0].read_bytes())


def same_bytes(wheel: bytes) -> bytes:
    """A wheel with the same files, but without the times and modes of the machine that built it."""
    files = sorted(archive_files(wheel), key=lambda file: (".dist-info/" in file[0], file[0]))
    return zip_bytes(files)


def archive_files(content: bytes) -> list[tuple[str, bytes]]:
    """The files of a zip, as (path, content)."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return [(entry.filename, archive.read(entry)) for entry in archive.infolist() if not entry.is_dir()]


def _ignored(folder: str, names: list[str]) -> list[str]:
    links = [name for name in names if Path(folder, name).is_symlink()]
    return [*links, *(name for name in names if name == "__pycache__" or name.startswith(".") or name.endswith(".pyc"))]


def _setuptools_is_new_enough() -> bool:
    try:
        major = re.match(r"\d+", version("setuptools"))
    except PackageNotFoundError:
        return False
    return major is not None and int(major[0]) >= _SETUPTOOLS
