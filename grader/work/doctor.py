"""`grader doctor`: what the course needs, what was found, and the command that repairs what is missing."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath, PureWindowsPath
from typing import Literal

from grader.counts import counted
from grader.work.facts import PACKAGES, Facts, Import

PYTHON = (3, 11)
LEAST = {"numpy": "2.0", "msgspec": "0.19", "typer": "0.15", "rich": "13", "torch": "2.5"}
FREE_BYTES = 200_000_000  # for the diary, checkpoints and outputs of notebooks

Kind = Literal["fine", "wrong", "missing"]
SIGNS: dict[Kind, str] = {"fine": "✓", "wrong": "✗", "missing": "✗"}


@dataclass(frozen=True)
class Finding:
    """One thing that the course needs: what was found, and what to do unless it is fine. `wrong` must be repaired;
    what is `missing` is needed later or only for some ways of working.
    """

    what: str
    kind: Kind
    found: str
    cure: str = ""


def findings(facts: Facts) -> list[Finding]:
    """Everything that was examined, in order."""
    return [
        _python(facts),
        *_grader(facts),
        *(_package(facts, name) for name in PACKAGES),
        _torch(facts),
        _kernel(facts),
        _front_end(facts),
        *_writing(facts),
        _space(facts),
        *_shadows(facts),
    ]


def lines(found: list[Finding]) -> Iterator[str]:
    """The findings as text, each cure on a line of its own."""
    width = max(len(each.what) for each in found)
    for each in found:
        yield f"{SIGNS[each.kind]} {each.what:<{width}}   {each.found}"
        if each.cure:
            yield f"  {'':<{width}}   → {each.cure}"


def _python(facts: Facts) -> Finding:
    version, needed = (".".join(map(str, each)) for each in (facts.python, PYTHON))
    if facts.python >= PYTHON:
        grades = f"; grading may use {needed}" if facts.python[:2] > PYTHON else ""
        return Finding("Python", "fine", f"{version}{grades}, {facts.interpreter}")
    cures = {
        "windows": "winget install Python.Python.3.12",
        "macos": "brew install python@3.12",
        "linux": "sudo apt install python3.12 python3.12-venv",
    }
    return Finding("Python", "wrong", f"{version}, but {needed} or newer is needed", cures[facts.system])


def _grader(facts: Facts) -> Iterator[Finding]:
    others = [name for name in facts.owners if name != "unrolled-grader"]
    if others:
        names = " and ".join(others)
        yield Finding(
            "grader",
            "wrong",
            f"{names} also contains a package named grader, so either may be imported",
            f"{_pip(facts, 'uninstall -y', ' '.join(others))}, then install the course's wheel again",
        )
    elif facts.course_error:
        cure = _pip(facts, "install --force-reinstall --no-deps", "unrolled_grader-VERSION-py3-none-any.whl")
        yield Finding("grader", "wrong", f"its data cannot be read: {facts.course_error}", cure)
    else:
        yield Finding("grader", "fine", f"{facts.grader_version or 'not installed'}, {facts.grader_folder}")


def _package(facts: Facts, name: str) -> Finding:
    title = "NumPy" if name == "numpy" else name
    found = facts.packages[name]
    return _installed(facts, title, name, found, "wrong", "needed by every exercise" if name == "numpy" else "")


def _installed(facts: Facts, title: str, name: str, found: Import, bad: Kind, why: str) -> Finding:
    because = f"; {why}" if why else ""
    requirement = f'"{name}>={LEAST[name]}"'
    if found.version is None:
        return Finding(title, bad, f"not installed{because}", _pip(facts, "install", requirement))
    if found.error:
        found_text = f"{found.version}, but it cannot be imported: {found.error}"
        return Finding(title, bad, found_text, _pip(facts, "install --force-reinstall", requirement))
    if _numbers(found.version) < _numbers(LEAST[name]):
        found_text = f"{found.version}, but {LEAST[name]} or newer is needed"
        return Finding(title, bad, found_text, _pip(facts, "install --upgrade", requirement))
    return Finding(title, "fine", found.version)


def _torch(facts: Facts) -> Finding:
    first, *others = facts.torch_chapters or ("no chapter",)
    why = f"needed from {first} on" if others else f"needed in {first}"
    if facts.torch_exercises:
        why += f", for {', '.join(facts.torch_exercises)}"
    finding = _installed(facts, "PyTorch", "torch", facts.torch, "missing", why)
    if finding.kind == "fine":
        return Finding("PyTorch", "fine", finding.found)
    if facts.system == "macos" and facts.machine == "x86_64":
        cure = "PyTorch 2.5 does not exist for Macs with Intel processors; use another machine for these chapters"
    elif facts.torch.error and facts.system == "windows":
        cure = "winget install Microsoft.VCRedist.2015+.x64"
    elif facts.system == "macos":
        cure = finding.cure
    else:
        cure = f"{finding.cure} --index-url https://download.pytorch.org/whl/cpu"
    text = finding.found if why in finding.found else f"{finding.found}; {why}"
    return Finding("PyTorch", "missing", text, cure)


def _kernel(facts: Facts) -> Finding:
    if facts.ipykernel is None:
        cure = _pip(facts, "install", "jupyterlab ipykernel")
        return Finding("Jupyter kernel", "wrong", "ipykernel is not installed; notebooks need it", cure)
    if not facts.kernels:
        names = '--name unrolled --display-name "Python (Unrolled)"'
        cure = f"{_quoted(facts, facts.command)} -m ipykernel install --user {names}"
        return Finding("Jupyter kernel", "wrong", f"ipykernel {facts.ipykernel}, but no kernel runs this Python", cure)
    return Finding("Jupyter kernel", "fine", f"{', '.join(facts.kernels)} (ipykernel {facts.ipykernel})")


def _front_end(facts: Facts) -> Finding:
    if facts.front_ends:
        return Finding("Jupyter", "fine", " and ".join(facts.front_ends))
    text = "neither jupyterlab nor notebook is installed; other editors, such as VS Code, need neither"
    return Finding("Jupyter", "missing", text, _pip(facts, "install", "jupyterlab"))


def _writing(facts: Facts) -> Iterator[Finding]:
    if not facts.unwritable_here:
        yield Finding("this folder", "fine", f"{facts.here} can be written, {counted(facts.notebooks, 'notebook')}")
    else:
        copy = "xcopy /e /i" if facts.system == "windows" else "cp -r"
        cure = f"{copy} {_quoted(facts, facts.here)} {_quoted(facts, _in_home(facts, 'unrolled'))}"
        text = f"{facts.here} cannot be written: {facts.unwritable_here}; work in a copy"
        yield Finding("this folder", "wrong", text, cure)
    if facts.diary is None:
        yield Finding("diary", "fine", "turned off, because UNROLLED_DIARY is empty")
    elif not facts.unwritable_diary:
        yield Finding("diary", "fine", facts.diary)
    else:
        file = _quoted(facts, _in_home(facts, "unrolled-diary.jsonl"))
        cure = f"setx UNROLLED_DIARY {file}" if facts.system == "windows" else f"export UNROLLED_DIARY={file}"
        text = f"{facts.diary} cannot be written: {facts.unwritable_diary}; checks work, progress is not kept"
        yield Finding("diary", "missing", text, cure)


def _space(facts: Facts) -> Finding:
    free = f"{facts.free_bytes / 1e9:.1f} GB free"
    if facts.free_bytes >= FREE_BYTES:
        return Finding("disk", "fine", free)
    cure = _pip(facts, "cache", "purge")
    return Finding("disk", "wrong", f"{free}, at least {FREE_BYTES / 1e9:.1f} GB are needed", cure)


def _shadows(facts: Facts) -> Iterator[Finding]:
    if not facts.shadows:
        yield Finding("module names", "fine", "no file next to a notebook hides a module")
    path_of = PureWindowsPath if facts.system == "windows" else PurePosixPath
    for shadow in facts.shadows:
        path = path_of(shadow)
        new = f"my_{path.name}"
        move = (
            f"ren {_quoted(facts, shadow)} {new}"
            if facts.system == "windows"
            else f"mv {_quoted(facts, shadow)} {_quoted(facts, str(path.with_name(new)))}"
        )
        text = f"{path.name} is imported in place of the module {path.stem}; rename it"
        yield Finding("module names", "wrong", text, move)


def _in_home(facts: Facts, name: str) -> str:
    return str((PureWindowsPath if facts.system == "windows" else PurePosixPath)(facts.home) / name)


def _pip(facts: Facts, command: str, what: str) -> str:
    return f"{_quoted(facts, facts.command)} -m pip {command} {what}"


def _quoted(facts: Facts, text: str) -> str:
    """A path as one word of a command."""
    if re.fullmatch(r"[\w./\\:~-]+", text):
        return text
    return f'"{text}"' if facts.system == "windows" else "'" + text.replace("'", "'\\''") + "'"


def _numbers(version: str) -> tuple[int, ...]:
    """The numbers at the start of a version: 2.5.1+cpu is (2, 5, 1)."""
    matched = re.match(r"\d+(?:\.\d+)*", version)
    return tuple(map(int, matched[0].split("."))) if matched else ()
