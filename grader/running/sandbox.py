"""Start the sandbox, a pre-warmed process inside bubblewrap, and communicate with it.

Processes in the sandbox see the Python prefix, the system libraries, the files of `grader/` that run a notebook,
`/dev/null`, `/dev/urandom` and an empty in-memory disk. Only that disk is writable. There is no network, no environment
and no capability. Inside the sandbox, `confine.py` isolates each submission from the next.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib.util import cache_from_source
from pathlib import Path
from typing import IO, Any

import numpy as np

from grader.codec import CodecError, decode, encode
from grader.errors import ExpectedError
from grader.inside.confine import MESSAGE, SCRATCH
from grader.manifest import Limits
from grader.running.processes import ANSWER_SECONDS, Descriptors, State, WorkerError, environment
from grader.running.seccomp import Filters, filters

UNPRIVILEGED = 65533  # the user id that root switches to; no account has it
_GRADER = Path(__file__).resolve().parents[1]
_SHOWN = (
    "capstone",
    "codec",
    *(f"checking/{name}" for name in ("calls", "case", "drivers", "fixtures", "numbers", "observing")),
    *(f"checking/{name}" for name in ("gradients", "module_cases", "modules", "tensors")),
    *(f"inside/{name}" for name in ("child", "confine", "enter", "frames", "shell", "statements", "usage", "zygote")),
)
_INSIDE = "/sandbox/grader"
_SYSTEM = ("/lib", "/lib64", "/usr/lib", "/usr/lib64")


def setup_tree(limits: Limits, programs: Filters, user: int | None) -> dict[str, Any]:
    """What `zygote.warmed_up` reads: the limits and filters of each notebook. `user` is the id to switch to."""
    return {
        "user": user,
        "preload": list(limits.preload),
        "memory": limits.memory_mb << 20,
        "disk": limits.disk_mb << 20,
        "files": limits.files,
        "processes": limits.processes,
        "cpu_seconds": limits.cpu_seconds,
        "cells_filter": np.frombuffer(programs.cells, np.uint8),
        "hidden_filter": np.frombuffer(programs.hidden, np.uint8),
    }


class SandboxError(ExpectedError):
    """The sandbox does not work on this machine; the message says what is missing and how to get it."""


@dataclass(frozen=True)
class _Notebook:
    """A notebook's processes inside the sandbox."""

    sandbox: Sandbox

    def stop(self) -> None:
        self.sandbox.say("stop")

    def state(self) -> State:
        return self.sandbox.ask("state")

    def end(self) -> None:
        self.sandbox.ask("end")


class Sandbox:
    """A warm process behind bubblewrap, started at the first notebook and again whenever it has died.

    `hide` are folders that stay invisible even if they are inside the Python prefix. `cells` returns the cells of the
    release, as source and file name, to be compiled only once (unless they are too long for a message).
    """

    def __init__(
        self, limits: Limits, hide: Sequence[Path] = (), cells: Callable[[], Iterable[tuple[str, str]]] = tuple
    ) -> None:
        self._limits = limits
        self._cells = cells
        self._hide = tuple(path.resolve() for path in hide)
        self._process: subprocess.Popen[bytes] | None = None
        self._control: socket.socket | None = None
        self._complaints: IO[bytes] | None = None
        self._is_ready = False
        self._filters = _compiled()

    def __enter__(self) -> Sandbox:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def start(self, descriptors: Descriptors) -> _Notebook:
        """Run a notebook with these descriptors. Raises WorkerError, SandboxError."""
        for attempt in (1, 2):
            control = self._warm()
            try:
                socket.send_fds(control, [encode("run")], descriptors.all)
                break
            except OSError as error:
                self.close()
                if attempt == 2:
                    raise WorkerError("the sandbox's warm process died twice") from error
        return _Notebook(self)

    def say(self, word: str) -> None:
        """Send a word to the warm process. If that is dead, so is its notebook."""
        with suppress(OSError):
            if self._control is not None:
                self._control.send(encode(word))

    def ask(self, word: str) -> State:
        """Send a word; return the state of the running notebook. Raises WorkerError if its isolation failed."""
        self.say(word)
        answer = self._answer(ANSWER_SECONDS)
        if answer is None:
            self.close()
            raise WorkerError("the sandbox's warm process died")
        if answer["broken"]:
            raise WorkerError(f"a part of the sandbox could not be set up: {answer['broken'].strip()[-500:]}")
        return State(answer["memory"], answer["cpu"], answer["waiting"])

    def close(self) -> None:
        """Kill the warm process and everything that runs inside."""
        if self._process is not None:
            with suppress(ProcessLookupError):
                self._process.kill()
            self._process.wait()
        if self._control is not None:
            self._control.close()
        if self._complaints is not None:
            self._complaints.close()
        self._process = self._control = self._complaints = None
        self._is_ready = False

    def begin(self) -> socket.socket:
        """Start the warm process if none is alive, and do not wait until it is ready."""
        if self._control is not None and self._process is not None and self._process.poll() is None:
            return self._control
        self.close()
        self._complaints = tempfile.TemporaryFile()  # noqa: SIM115 - as long as the process
        self._control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self._process = subprocess.Popen(
                bubblewrap(theirs.fileno(), self._hide),
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=self._complaints,
                env={"PATH": os.defpath},
            )
            user = UNPRIVILEGED if os.getuid() == 0 else None
            self._control.send(encode(setup_tree(self._limits, self._filters, user)))
        return self._control

    def _warm(self) -> socket.socket:
        control = self.begin()
        if not self._is_ready:
            if self._answer(ANSWER_SECONDS) != "ready":
                raise SandboxError(start_failure(self._last_words()))
            with suppress(OSError):  # if it has died, the next `run` notices
                for cell in self._cells():
                    if len(message := encode(("prepare", *cell))) <= MESSAGE:
                        control.send(message)
            self._is_ready = True
        return control

    def _last_words(self) -> str:
        """End the warm process, which did not start properly; return its error output."""
        assert self._process is not None
        assert self._complaints is not None
        self._process.kill()
        self._process.wait()
        self._complaints.seek(0)
        words = self._complaints.read().decode("utf-8", "replace")
        self.close()
        return words

    def _answer(self, seconds: float) -> Any:
        """The next message of the warm process, or None if none comes."""
        if self._control is None:
            return None
        self._control.settimeout(seconds)
        try:
            return decode(self._control.recv(MESSAGE))
        except (OSError, CodecError):
            return None


def _compiled() -> Filters:
    try:
        return filters()
    except (ImportError, OSError, RuntimeError) as error:
        raise SandboxError(
            f"libseccomp, which restricts the system calls of student code, cannot be used: {error}. "
            "On Debian and Ubuntu: apt install libseccomp2; then pip install pyseccomp."
        ) from error


def bubblewrap(control: int, hide: Sequence[Path] = ()) -> list[str]:
    """The command that starts the warm process inside bubblewrap.

    Raises SandboxError if bwrap is missing, or if a folder that has to be hidden is also needed.
    """
    program = shutil.which("bwrap")
    if program is None:
        raise SandboxError(NO_BUBBLEWRAP)
    root = os.getuid() == 0
    command = [program, "--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"]
    command += ["--die-with-parent", "--new-session", "--clearenv"]
    command += (
        ["--cap-drop", "ALL", "--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"] if root else ["--unshare-user"]
    )
    variables = environment(SCRATCH) | {"PATH": "/usr/bin", "TMPDIR": SCRATCH, "MPLCONFIGDIR": SCRATCH}
    for name, value in variables.items():
        command += ["--setenv", name, value]
    base, prefix = Path(sys.base_prefix).resolve(), Path(sys.prefix).resolve()
    interpreter = Path(sys.executable).resolve()
    for path in map(Path, _SYSTEM):
        command += _shown(path)
    if base == Path("/usr"):  # only the interpreter, under each name that the environment uses for it
        command += _bound(interpreter)
        for link in _names(Path(sys.executable)):
            command += ["--symlink", str(interpreter), str(link)]
    else:
        command += _bound(base)
    covered = [path for path in hide if any(path.is_relative_to(each) for each in (str(base), *_SYSTEM))]
    if prefix != base:
        command += [*_folders(Path("/venv/x")), "--ro-bind", str(prefix), "/venv"]
        interpreter = Path("/venv/bin/python")
        covered += [Path("/venv") / path.relative_to(prefix) for path in hide if path.is_relative_to(prefix)]
    if {base, prefix} & set(hide):
        raise SandboxError(WITHIN_PYTHON.format(prefix))
    for path in covered:
        command += ["--tmpfs", str(path), "--remount-ro", str(path)]
    for source, target in _own_files():
        command += [*_folders(target), "--ro-bind", str(source), str(target)]
    for device in ("/dev/null", "/dev/urandom"):
        command += [*_folders(Path(device)), "--dev-bind", device, device]
    command += ["--proc", "/proc", *_folders(Path(SCRATCH)), "--tmpfs", SCRATCH]
    if not base.is_relative_to("/tmp"):
        command += ["--symlink", SCRATCH, "/tmp"]
    command += ["--remount-ro", "/", "--chdir", "/", "--"]
    enter = [f"{_INSIDE}/inside/enter.py", "grader.inside.zygote", str(control)]
    return [*command, str(interpreter), "-I", "-B", *enter]


def _own_files() -> Iterator[tuple[Path, Path]]:
    """The files of `grader/` that run a notebook, with what is compiled of them, and where they are in the sandbox."""
    for name in _SHOWN:
        source, target = _GRADER / f"{name}.py", Path(_INSIDE) / f"{name}.py"
        yield source, target
        compiled = Path(cache_from_source(str(source)))  # Python checks that it belongs to the source
        if compiled.is_file():
            yield compiled, target.parent / "__pycache__" / compiled.name


def _names(path: Path) -> list[Path]:
    """The links below /usr that lead from a path to the file that it refers to."""
    found = []
    while path.is_symlink():
        path = path.parent / os.readlink(path)
        if path.is_symlink() and path.is_relative_to("/usr"):
            found.append(path)
    return found


def _shown(path: Path) -> list[str]:
    if path.is_symlink():
        return ["--symlink", os.readlink(path), str(path)]
    return _bound(path) if path.is_dir() else []


def _bound(path: Path) -> list[str]:
    return [*_folders(path), "--ro-bind", str(path), str(path)]


def _folders(path: Path) -> list[str]:
    """Create the folders above a path, because only root could enter those that bubblewrap creates itself."""
    above = [each for each in reversed(path.parents) if each != Path("/")]
    return [word for each in above for word in ("--perms", "0755", "--dir", str(each))]


WITHIN_PYTHON = (
    "The course or the term is also the folder of the Python environment {}. Student code needs the environment but "
    "must not see the course or the term: create the environment in a separate folder, such as .venv."
)
NO_BUBBLEWRAP = (
    "bubblewrap, which provides the sandbox, is not installed (no program bwrap). "
    "On Debian and Ubuntu: apt install bubblewrap; on Fedora: dnf install bubblewrap. "
    "It does not exist for macOS and Windows: grade in a Linux container or virtual machine."
)


def start_failure(complaint: str) -> str:
    """An error message of bubblewrap, with advice."""
    complaint = complaint.strip()[-600:] or "it ended without a message"
    advice = "The book's page `Grade a class` says what the sandbox needs."
    if any(words in complaint for words in ("namespace", "uid map", "Operation not permitted", "Permission denied")):
        advice = (
            "This machine does not allow bubblewrap to create user namespaces. Ubuntu 24.04 and later: allow it with "
            "an AppArmor profile for bwrap (apt install apparmor-profiles; ln -s "
            "/usr/share/apparmor/extra-profiles/bwrap-userns-restrict /etc/apparmor.d/; systemctl reload apparmor). "
            "In a container: start it with --security-opt seccomp=unconfined --security-opt apparmor=unconfined "
            "--security-opt systempaths=unconfined. Debian before 11: sysctl kernel.unprivileged_userns_clone=1."
        )
    return f"The sandbox could not be started: {complaint}. {advice}"
