"""nbgrader's commands in forks of one process do what the real commands do, and leave nothing running."""

import ast
import os
import signal
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import pytest

from tests.nbgrader_command import nbgrader, real_nbgrader, warm_process

ROOT = Path(__file__).parents[1]
CHAPTER = "ch01_vanilla_rnn"
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere all commands are real ones")


def names_in(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


@pytest.mark.system
@pytest.mark.parametrize("arguments", [["no_such_command"], ["zip_collect", CHAPTER]], ids=["refused", "done"])
def test_a_fork_does_what_the_real_command_does(tmp_path, arguments):
    done = []
    for run in (real_nbgrader, nbgrader):
        term = tmp_path / "term"
        archive = term / "downloaded" / CHAPTER / "archive"
        archive.mkdir(parents=True)
        (archive / "ada_lovelace_1_1_recurrence.ipynb").write_text("ada")
        result = run(*arguments, term=term)
        done.append((result.returncode, result.stdout, result.stderr, names_in(term)))
        term.rename(tmp_path / run.__name__)
    real, fork = done
    assert fork == real


def test_a_fork_has_the_folder_and_the_environment_of_its_command(tmp_path):
    program = "import os, sys\nprint(os.getcwd(), os.environ['WORD'], 'PATH' in os.environ)\nsys.exit(3)"
    (tmp_path / "nbgrader_config.py").write_text(program)
    for word in ("one", "two"):
        done = nbgrader("export", cwd=tmp_path, environment={"WORD": word})
        assert (done.returncode, done.stdout) == (3, f"{tmp_path} {word} True\n")
    assert "WORD" not in os.environ


@pytest.mark.system
@pytest.mark.parametrize("when", ["between two commands", "during one"])
def test_a_process_that_was_killed_is_told_and_replaced(tmp_path, when):
    killed = warm_process()
    if when == "during one":
        (tmp_path / "nbgrader_config.py").write_text("import os\nos.kill(os.getppid(), 9)\n")
    else:
        os.kill(killed.pid, signal.SIGKILL)
        os.waitid(os.P_PID, killed.pid, os.WEXITED | os.WNOWAIT)
    with pytest.raises(RuntimeError, match="that runs nbgrader's commands ended with status -9"):
        nbgrader("export", cwd=tmp_path)
    assert nbgrader("--version").returncode == 0
    assert warm_process().pid != killed.pid


@pytest.mark.system
@pytest.mark.parametrize("end", ["pass", "os.kill(os.getpid(), 9)"], ids=["it ends", "it is killed"])
def test_it_ends_with_the_process_that_started_it(end):
    """Both write to one pipe, which is read to its end: until neither is there any more."""
    program = f"import os\nfrom tests.nbgrader_command import nbgrader\nprint(nbgrader('--version').returncode)\n{end}"
    done = subprocess.run([sys.executable, "-u", "-c", program], cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert (done.stdout, done.stderr) == ("0\n", "")


def commands():
    """The subcommands that tests name in calls of each of the two functions, and of those that are made from them."""
    found = defaultdict(set)
    for path in ROOT.glob("tests/**/*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                words = [each.value for each in node.args if isinstance(each, ast.Constant)]
                found[node.func.id] |= {str(word) for word in words[:1]}
    return found


def test_each_command_is_a_real_one_in_some_test():
    found = commands()
    assert {"export", "zip_collect", "generate_feedback"} <= found["nbgrader"]
    assert found["nbgrader"] - {"--version"} <= found["real_nbgrader"] | found["hub"]
