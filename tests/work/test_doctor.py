"""`grader doctor`: what it says of machines that are made up, and that it examines this one."""

import importlib.metadata
import json
import os
import re
import sys
import tomllib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from grader.work import facts as module
from grader.work.doctor import LEAST, PYTHON, findings, lines
from grader.work.facts import PACKAGES, Facts, Import, facts
from tests.work.student_folder import ROOT, exercises

FINE = Facts(
    system="linux",
    machine="x86_64",
    python=(3, 12, 4),
    interpreter="/home/ann/course/.venv/bin/python",
    command="python",
    home="/home/ann",
    grader_version="0.1.0",
    grader_folder="/home/ann/course/.venv/lib/python3.12/site-packages/grader",
    owners=("unrolled-grader",),
    packages={"numpy": Import("2.4.6"), "msgspec": Import("0.22.0"), "typer": Import("0.29.2"), "rich": Import("15.0")},
    torch=Import("2.13.0+cpu"),
    torch_chapters=("ch04_gated", "ch05_encoder_decoder"),
    torch_exercises=("CharLM", "Seq2Seq"),
    ipykernel="7.4.0",
    kernels=("python3",),
    front_ends=("jupyterlab",),
    here="/home/ann/course",
    unwritable_here="",
    diary="/home/ann/.unrolled/diary.jsonl",
    unwritable_diary="",
    free_bytes=82_400_000_000,
    shadows=(),
    notebooks=41,
)

ALL_FINE = """\
✓ Python           3.12.4; grading may use 3.11, /home/ann/course/.venv/bin/python
✓ grader           0.1.0, /home/ann/course/.venv/lib/python3.12/site-packages/grader
✓ NumPy            2.4.6
✓ msgspec          0.22.0
✓ typer            0.29.2
✓ rich             15.0
✓ PyTorch          2.13.0+cpu
✓ Jupyter kernel   python3 (ipykernel 7.4.0)
✓ Jupyter          jupyterlab
✓ this folder      /home/ann/course can be written, 41 notebooks
✓ diary            /home/ann/.unrolled/diary.jsonl
✓ disk             82.4 GB free
✓ module names     no file next to a notebook hides a module"""

WINDOWS = replace(
    FINE,
    system="windows",
    python=(3, 10, 9),
    interpreter="C:\\Users\\Ann Lee\\venv\\Scripts\\python.exe",
    command="C:\\Users\\Ann Lee\\venv\\Scripts\\python.exe",
    home="C:\\Users\\Ann Lee",
    owners=("grader", "unrolled-grader"),
    packages=FINE.packages | {"numpy": Import("1.26.4"), "rich": Import(None)},
    torch=Import("2.13.0", "OSError: [WinError 126] The specified module could not be found"),
    ipykernel=None,
    kernels=(),
    front_ends=(),
    here="C:\\Program Files\\course",
    unwritable_here="Permission denied",
    diary="C:\\Users\\Ann Lee\\.unrolled\\diary.jsonl",
    unwritable_diary="Permission denied",
    free_bytes=50_000_000,
    shadows=("C:\\Program Files\\course\\numpy.py", "C:\\Program Files\\course\\random.py"),
)

PYTHON_EXE = '"C:\\Users\\Ann Lee\\venv\\Scripts\\python.exe"'
ALL_WRONG = f"""\
✗ Python           3.10.9, but 3.11 or newer is needed
                   → winget install Python.Python.3.12
✗ grader           grader also contains a package named grader, so either may be imported
                   → {PYTHON_EXE} -m pip uninstall -y grader, then install the course's wheel again
✗ NumPy            1.26.4, but 2.0 or newer is needed
                   → {PYTHON_EXE} -m pip install --upgrade "numpy>=2.0"
✓ msgspec          0.22.0
✓ typer            0.29.2
✗ rich             not installed
                   → {PYTHON_EXE} -m pip install "rich>=13"
✗ PyTorch          2.13.0, but it cannot be imported: OSError: [WinError 126] The specified module could not be found; \
needed from ch04_gated on, for CharLM, Seq2Seq
                   → winget install Microsoft.VCRedist.2015+.x64
✗ Jupyter kernel   ipykernel is not installed; notebooks need it
                   → {PYTHON_EXE} -m pip install jupyterlab ipykernel
✗ Jupyter          neither jupyterlab nor notebook is installed; other editors, such as VS Code, need neither
                   → {PYTHON_EXE} -m pip install jupyterlab
✗ this folder      C:\\Program Files\\course cannot be written: Permission denied; work in a copy
                   → xcopy /e /i "C:\\Program Files\\course" "C:\\Users\\Ann Lee\\unrolled"
✗ diary            C:\\Users\\Ann Lee\\.unrolled\\diary.jsonl cannot be written: Permission denied; \
checks work, progress is not kept
                   → setx UNROLLED_DIARY "C:\\Users\\Ann Lee\\unrolled-diary.jsonl"
✗ disk             0.1 GB free, at least 0.2 GB are needed
                   → {PYTHON_EXE} -m pip cache purge
✗ module names     numpy.py is imported in place of the module numpy; rename it
                   → ren "C:\\Program Files\\course\\numpy.py" my_numpy.py
✗ module names     random.py is imported in place of the module random; rename it
                   → ren "C:\\Program Files\\course\\random.py" my_random.py"""


def test_where_all_is_fine():
    assert "\n".join(lines(findings(FINE))) == ALL_FINE


def test_where_all_is_wrong():
    assert "\n".join(lines(findings(WINDOWS))) == ALL_WRONG
    kinds = {each.what: each.kind for each in findings(WINDOWS)}
    assert {what for what, kind in kinds.items() if kind == "missing"} == {"PyTorch", "Jupyter", "diary"}


def cure(what, **changes):
    (found,) = [each for each in findings(replace(FINE, **changes)) if each.what == what]
    return found.kind, found.found, found.cure


PIP = "python -m pip install"


@pytest.mark.parametrize(
    ("system", "machine", "command"),
    [
        ("linux", "x86_64", f'{PIP} "torch>=2.5" --index-url https://download.pytorch.org/whl/cpu'),
        ("windows", "AMD64", f'{PIP} "torch>=2.5" --index-url https://download.pytorch.org/whl/cpu'),
        ("macos", "arm64", f'{PIP} "torch>=2.5"'),
        (
            "macos",
            "x86_64",
            "PyTorch 2.5 does not exist for Macs with Intel processors; use another machine for these chapters",
        ),
    ],
)
def test_torch_is_needed_later(system, machine, command):
    kind, found, what_to_do = cure("PyTorch", torch=Import(None), system=system, machine=machine)
    assert (kind, what_to_do) == ("missing", command)
    assert found == "not installed; needed from ch04_gated on, for CharLM, Seq2Seq"


def test_a_kernel_of_another_python():
    options = '--user --name unrolled --display-name "Python (Unrolled)"'
    command = f"python -m ipykernel install {options}"
    assert cure("Jupyter kernel", kernels=()) == ("wrong", "ipykernel 7.4.0, but no kernel runs this Python", command)


def test_cures_quote_odd_paths():
    _, _, command = cure("NumPy", packages=FINE.packages | {"numpy": Import(None)}, command="/home/o'neil/a b/python")
    assert command == "'/home/o'\\''neil/a b/python' -m pip install \"numpy>=2.0\""
    _, _, command = cure("module names", shadows=("/home/ann/my course/torch.py",))
    assert command == "mv '/home/ann/my course/torch.py' '/home/ann/my course/my_torch.py'"


def test_a_diary_that_is_turned_off_is_fine():
    assert cure("diary", diary=None)[0] == "fine"


def test_a_damaged_course():
    kind, found, command = cure("grader", course_error="course.toml: cannot be read")
    assert (kind, found) == ("wrong", "its data cannot be read: course.toml: cannot be read")
    assert "--force-reinstall" in command


def test_the_versions_are_those_that_the_wheel_requires():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    required = dict(re.match(r"([\w-]+)>=([\d.]+)", each).groups() for each in project["dependencies"])
    assert set(required) == set(PACKAGES)
    assert required | {"torch": project["optional-dependencies"]["torch"][0].removeprefix("torch>=")} == LEAST
    assert project["requires-python"] == f">={'.'.join(map(str, PYTHON))}"


# --- this machine ----------------------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path, diary, monkeypatch):
    monkeypatch.setattr(module, "_imported", lambda name: Import("99.9"))  # importing all takes seconds
    exercises(tmp_path)
    return tmp_path


def test_this_machine(folder, diary):
    found = facts(folder)
    assert found.python == sys.version_info[:3]
    assert Path(found.interpreter) == Path(sys.executable)
    assert found.command in ("python", "python3", sys.executable)
    assert (found.here, found.unwritable_here, found.diary) == (str(folder), "", str(diary))
    assert found.torch_chapters == ("ch04_gated", "ch05_encoder_decoder", "ch06_attention")
    assert found.torch_exercises == ("CharLM", "Seq2Seq", "AttentionDecoder", "MapAttention")
    assert found.notebooks == len(list((ROOT / "exercises/ch01_vanilla_rnn").glob("*.ipynb")))
    assert found.ipykernel == importlib.metadata.version("ipykernel")
    assert found.shadows == ()
    assert not diary.exists()  # looking at it writes nothing
    assert not list(folder.glob("tmp*"))


def test_a_broken_package_is_found(tmp_path):
    found = module._imported("numpy")
    assert (found.version, found.error) == (np.__version__, "")
    assert module._imported("no_such_package_anywhere") == Import(None)


def test_a_package_that_fails_when_it_is_imported(tmp_path, monkeypatch):
    (tmp_path / "brittle.py").write_text("raise OSError('DLL load failed')")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    assert module._imported("brittle") == Import("unknown", "OSError: DLL load failed")


def test_files_that_hide_modules(folder):
    chapter = folder / "exercises" / "ch01_vanilla_rnn"
    (chapter / "numpy.py").touch()
    (chapter / "random").mkdir()
    (chapter / "random" / "__init__.py").touch()
    (chapter / "helper.py").touch()
    (chapter / "torch").mkdir()  # without __init__.py, the installed package comes first
    (folder / "torch.py").touch()  # no notebook is here
    assert facts(folder).shadows == (str(chapter / "numpy.py"), str(chapter / "random"))


@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() == 0, reason="an administrator may write everywhere")
def test_a_folder_that_cannot_be_written(folder, monkeypatch):
    folder.chmod(0o500)
    monkeypatch.setenv("UNROLLED_DIARY", str(folder / "below" / "diary.jsonl"))
    found = facts(folder)
    folder.chmod(0o700)
    assert (found.unwritable_here, found.unwritable_diary) == ("Permission denied", "Permission denied")


def test_a_diary_where_a_folder_is(folder, monkeypatch):
    monkeypatch.setenv("UNROLLED_DIARY", str(folder))
    assert facts(folder).unwritable_diary == "Is a directory"
    (folder / "file").touch()
    monkeypatch.setenv("UNROLLED_DIARY", str(folder / "file" / "diary.jsonl"))
    assert facts(folder).unwritable_diary != ""


def test_kernels_of_this_python(tmp_path, monkeypatch):
    def kernel(name, content):
        (tmp_path / "kernels" / name).mkdir(parents=True)
        (tmp_path / "kernels" / name / "kernel.json").write_text(content)

    kernel("ours", json.dumps({"argv": [sys.executable, "-m", "ipykernel_launcher"]}))
    kernel("another", json.dumps({"argv": ["/opt/conda/bin/python", "-m", "ipykernel_launcher"]}))
    kernel("relative", json.dumps({"argv": ["python"]}))  # whichever is first on the PATH
    kernel("damaged", "{")
    kernel("empty", json.dumps({"argv": []}))
    kernel("list", "[]")
    kernel("number", json.dumps({"argv": [3]}))
    monkeypatch.setattr(module, "_jupyter_folders", lambda: [tmp_path])
    assert list(module._kernels()) == ["ours"]


def test_the_command(grader, folder, monkeypatch):
    monkeypatch.setattr(module, "_kernels", lambda: iter(["python3"]))
    monkeypatch.setattr(module.shutil, "disk_usage", lambda path: type("Usage", (), {"free": 10**9}))
    monkeypatch.setattr(module, "_version", lambda name: None if name == "jupyterlab" else "99.9")
    status, output, error = grader("doctor", at=folder)
    assert (status, error) == (0, "")
    assert output.splitlines()[-1] == "You can begin."
    monkeypatch.setattr(module, "_imported", lambda name: Import(None if name in ("numpy", "torch") else "99.9"))
    status, output, error = grader("doctor", at=folder)
    assert (status, error) == (1, "To repair before you begin: NumPy.\n")
    assert "✗ PyTorch          not installed; needed from ch04_gated on, for CharLM" in output
    monkeypatch.setattr(module, "_imported", lambda name: Import(None if name == "torch" else "99.9"))
    status, output, _ = grader("doctor", at=folder)
    assert (status, output.splitlines()[-1]) == (0, "You can begin. Not needed at once: PyTorch.")
