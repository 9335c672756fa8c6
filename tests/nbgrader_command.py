"""nbgrader's commands in tests: real ones, or forks of one process that has imported nbgrader, which takes longer than
most commands themselves. Each command that tests use is a real one in at least one test.
"""

from __future__ import annotations

import atexit
import gc
import json
import os
import select
import signal
import subprocess
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

ROOT = Path(__file__).parents[1]
TIMEOUT = 300
_running: subprocess.Popen[str] | None = None  # one for each worker of pytest, from the first command on


def real_nbgrader(
    *arguments: object, cwd: Path = ROOT, term: Path | None = None, environment: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run a command in an interpreter of its own, as an instructor does."""
    command = [sys.executable, "-m", "nbgrader", *map(str, arguments)]
    env = _environment(term, environment)
    return subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True, timeout=TIMEOUT, check=False)


def nbgrader(
    *arguments: object, cwd: Path = ROOT, term: Path | None = None, environment: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run a command as `real_nbgrader` does, with the same files, output and status, in a fork."""
    if sys.platform != "linux":
        return real_nbgrader(*arguments, cwd=cwd, term=term, environment=environment)
    with tempfile.TemporaryDirectory() as folder:
        streams = [Path(folder, name) for name in ("out", "err")]
        order = {
            "streams": [os.devnull, *map(str, streams)],
            "cwd": str(cwd),
            "environment": _environment(term, environment),
            "arguments": list(map(str, arguments)),
        }
        status = _ask(json.dumps(order))
        return subprocess.CompletedProcess(arguments, status, *(each.read_text() for each in streams))


def _environment(term: Path | None, environment: dict[str, str] | None) -> dict[str, str]:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"  # nbgrader starts a bare `alembic`
    return {**os.environ, "PATH": path, **({"UNROLLED_TERM": str(term)} if term else {}), **(environment or {})}


def _ask(order: str) -> int:
    """The status of a command. Raises RuntimeError if the process that runs it is gone."""
    process = warm_process()
    assert process.stdin is not None
    assert process.stdout is not None
    answer = ""
    try:
        print(order, file=process.stdin, flush=True)
        if not select.select([process.stdout], [], [], TIMEOUT)[0]:
            raise subprocess.TimeoutExpired(order, TIMEOUT)
        answer = process.stdout.readline()
    except BrokenPipeError:
        pass
    finally:
        if not answer:
            end()
    if not answer:
        raise RuntimeError(f"the process that runs nbgrader's commands ended with status {process.returncode}")
    return int(answer)


def warm_process() -> subprocess.Popen[str]:
    """The process that has imported nbgrader. It ends when its input does, and so with the worker that started it."""
    global _running
    if _running is None:
        _running = subprocess.Popen(
            [sys.executable, __file__],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
    return _running


@atexit.register
def end() -> None:
    """End the process and what it has started."""
    global _running
    if _running is not None:
        process, _running = _running, None
        os.killpg(process.pid, signal.SIGKILL)  # its group is there until it has been waited for
        process.wait()
        for pipe in (process.stdin, process.stdout):
            assert pipe is not None
            with suppress(BrokenPipeError):  # what it has not read
                pipe.close()


def _fork_for_each_command() -> None:
    """Return in a fork for each line of the input, with the folder, the environment and the arguments in it; answer
    each with the status of the fork.
    """
    for line in sys.stdin:
        if pid := os.fork():
            print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), flush=True)
            continue
        order = json.loads(line)
        for number, path in enumerate(order["streams"]):
            os.dup2(os.open(path, os.O_RDWR | os.O_CREAT), number)
        os.environ.clear()
        os.environ.update(order["environment"])
        os.chdir(order["cwd"])
        sys.path[0] = order["cwd"]
        sys.argv[1:] = order["arguments"]
        return
    os._exit(0)


if __name__ == "__main__":
    sys.path[0] = str(ROOT)
    from nbgrader.apps.nbgraderapp import main

    gc.freeze()  # a fork would look at all that was imported once more before it ends, for half a second
    _fork_for_each_command()
    main()
