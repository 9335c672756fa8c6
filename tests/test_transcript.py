"""`grader transcript`: all reports of an exercise, and what a change does to them."""

import os
import subprocess
import sys

import pytest

from tests.conftest import ROOT

MESSAGE = "You cut all sequences to the length of the shortest."


@pytest.fixture
def run(tmp_path):
    """Runs commands in a copy of the course that git knows, and returns their status and output."""
    run_git = {"env": {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull}, "check": True}
    copy = tmp_path / "copy"
    subprocess.run(["git", "clone", "-q", "--shared", str(ROOT), str(copy)], **run_git)
    names = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, stdout=subprocess.PIPE, **run_git).stdout.split(b"\0")
    for name in map(os.fsdecode, filter(None, names)):
        if (ROOT / name).is_file():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            (copy / name).write_bytes((ROOT / name).read_bytes())
    author = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
    subprocess.run(["git", *author, "commit", "-qam", "As it stands", "--allow-empty"], cwd=copy, **run_git)

    def call(*arguments):
        environment = {**os.environ, "PYTHONPATH": str(copy)}
        command = [sys.executable, "-m", "grader", *arguments]
        done = subprocess.run(command, cwd=copy, env=environment, capture_output=True, text=True, check=False)
        return done.returncode, done.stdout, done.stderr

    call.folder = copy
    return call


@pytest.mark.system
def test_a_corrected_message_is_the_only_difference(run):
    assert run("transcript", "pad_batch")[1] == (ROOT / "tests/golden/pad_batch.md").read_text("utf-8")
    assert run("transcript", "pad_batch", "--against", "HEAD") == (0, "The reports are the same.\n", "")
    words = run.folder / "solutions/ch05_encoder_decoder/pad_batch/mistakes.md"
    text = words.read_text("utf-8")
    assert text.count(MESSAGE) == 1
    words.write_text(text.replace(MESSAGE, "All sequences are as short as the shortest."), "utf-8")
    assert run("release", "pad_batch")[0] == 0
    status, said, _ = run("transcript", "pad_batch", "--against", "HEAD")
    changed = [line for line in said.splitlines()[2:] if line[:1] in "+-"]
    assert status == 0
    assert {line[0] for line in changed} == {"+", "-"}
    assert all(MESSAGE.split()[-1] in line for line in changed)


@pytest.mark.system
def test_a_revision_that_git_does_not_know_and_an_exercise_that_the_course_does_not_know(run):
    status, said, why = run("transcript", "pad_batch", "--against", "nowhere")
    assert (status, said) == (1, "")
    assert "nowhere" in why
    assert "Traceback" not in why
    status, said, why = run("transcript", "pad_bach")
    assert (status, said) == (1, "")
    assert "pad_batch" in why
