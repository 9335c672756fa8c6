"""The test before a class is graded: it passes if the sandbox holds, and otherwise says what is not prevented."""

import py_compile
import sys
from importlib.util import cache_from_source
from pathlib import Path

import pytest

from grader.running import sandbox, seccomp, selftest
from grader.running.sandbox import SandboxError, bubblewrap, start_failure
from grader.running.unsandboxed import Plain

CHAPTER = "ch01_vanilla_rnn"


def test_it_passes_here_and_leaves_nothing(small_course, tmp_path):
    selftest.prove(small_course, tmp_path, CHAPTER)
    assert list(tmp_path.rglob("*")) == [tmp_path / "hidden"]


def test_without_any_wall_it_names_every_gap(small_course, tmp_path, monkeypatch):
    class NoWalls(Plain):
        def __init__(self, limits, hide):
            pass

        def __enter__(self):
            return self

        def __exit__(self, *_):
            pass

    monkeypatch.setattr(selftest, "Sandbox", NoWalls)
    with pytest.raises(SandboxError) as caught:
        selftest.prove(small_course, tmp_path, CHAPTER)
    text = str(caught.value)
    for gap in (
        "a file beside the class is read",
        "a socket is opened",
        "other processes are seen",
        "a process is started while hidden cases run",
    ):
        assert gap in text
    assert "Nothing was graded." in text
    assert "a correct function gives a wrong result" not in text


@pytest.fixture
def with_command(monkeypatch):
    """Start bubblewrap with another command than the usual one."""

    def change(edit):
        monkeypatch.setattr(sandbox, "bubblewrap", lambda *given: edit(bubblewrap(*given)))

    return change


def test_one_missing_wall_is_named(small_course, tmp_path, with_command):
    def shown(command):
        where = str(tmp_path)
        link = command.index("/tmp")  # tmp_path lies where the sandbox has a link
        command[link - 2 : link + 1] = [*sandbox._folders(tmp_path), "--ro-bind", where, where]
        return command

    tmp_path.chmod(0o755)
    (tmp_path / "hidden").mkdir()
    with_command(shown)
    with pytest.raises(SandboxError, match="a file beside the class is read"):
        selftest.prove(small_course, tmp_path, CHAPTER)


def test_a_filter_that_lets_all_pass_is_named(small_course, tmp_path, monkeypatch):
    import pyseccomp as libseccomp

    everything = seccomp._program(libseccomp.SyscallFilter(libseccomp.ALLOW))
    monkeypatch.setattr(sandbox, "filters", lambda: seccomp.Filters(everything, everything))
    with pytest.raises(SandboxError) as caught:
        selftest.prove(small_course, tmp_path, CHAPTER)
    assert "a socket is opened" in str(caught.value)
    assert "a process is started while hidden cases run" in str(caught.value)
    assert "a file beside the class is read" not in str(caught.value)


@pytest.mark.parametrize(
    ("complaint", "advice"),
    [
        ("bwrap: setting up uid map: Permission denied", "AppArmor profile"),
        ("bwrap: No permissions to create a new namespace, likely because the kernel", "In a container"),
        ("bwrap: Creating new namespace failed: Operation not permitted", "--security-opt"),
        ("ModuleNotFoundError: No module named 'nunpy'", "No module named 'nunpy'"),
        ("", "it ended without a message"),
    ],
)
def test_what_bubblewrap_complains_of_comes_with_advice(complaint, advice):
    text = start_failure(complaint)
    assert text.startswith("The sandbox could not be started: ")
    assert advice in text


def test_a_warm_process_that_cannot_start_is_explained(session, with_command):
    with_command(lambda command: [*command[:1], "--no-such-option", *command[1:]])
    with sandbox.Sandbox(session.limits) as broken, pytest.raises(SandboxError, match="--no-such-option"):
        broken._warm()


def test_no_libseccomp(monkeypatch):
    def missing():
        raise RuntimeError("Unable to find libseccomp")

    monkeypatch.setattr(sandbox, "filters", missing)
    with pytest.raises(SandboxError, match="apt install libseccomp2"):
        sandbox.Sandbox(None)


def test_the_sandbox_reads_modules_that_are_compiled_already(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "pycache_prefix", str(tmp_path))
    codec = str(Path(sandbox.__file__).parents[1] / "codec.py")
    compiled = cache_from_source(codec)
    assert compiled not in sandbox.bubblewrap(0)
    py_compile.compile(codec)
    command = sandbox.bubblewrap(0)
    at = command.index(compiled)
    target = f"/sandbox/grader/__pycache__/{Path(compiled).name}"
    assert command[at - 1 : at + 2] == ["--ro-bind", compiled, target]
