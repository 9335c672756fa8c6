"""Commands run and measured: wall time, processor time and memory of all their processes, and when lines were printed.

Processor time holds under load, wall time does not: a run begins when the machine is quiet, and its record holds the
load that it met.

The kernel counts the processor time, whenever a descendant of the command has run (a performance event that processes
inherit). The times that a process has of the children that it waited for, as in RUSAGE_CHILDREN, lack most of a
sandbox: when the first process of a PID namespace is killed, the kernel removes the others, and gives their times to
no other process. Where the kernel does not count for us, the processor time of a run is all that the machine used
meanwhile; on a quiet machine this is the same and hardly more. It is kept beside what was counted, as a check.
"""

from __future__ import annotations

import contextlib
import ctypes
import datetime
import os
import platform
import struct
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import psutil

QUIET_LOAD = 1.5
patience = 600.0  # seconds to wait for a quiet machine
SAMPLE_SECONDS = 0.1
_PERF_EVENT_OPEN = {"x86_64": 298, "aarch64": 241}
_SOFTWARE, _TASK_CLOCK, _CLOSE_ON_EXEC = 1, 1, 8
_ATTRIBUTES = 112  # their size in bytes
_DISABLED, _INHERIT, _EXCLUDE_KERNEL, _EXCLUDE_HYPERVISOR, _ENABLE_ON_EXEC = 1, 1 << 1, 1 << 5, 1 << 6, 1 << 12


@dataclass
class Run:
    """One command. `cpu` in seconds; `machine` what all cores were busy meanwhile, with whatever else ran; `pss_mb` the
    highest sum over all its processes, 0 where it was not sampled.

    `lines` are what it printed on standard error with the seconds since its start.
    """

    status: int = 0
    wall: float = 0.0
    cpu: float = 0.0
    machine: float = 0.0
    pss_mb: float = 0.0
    load: float = 0.0
    began: float = 0.0
    output: str = ""
    lines: list[tuple[float, str]] = field(default_factory=list)


def run(command: Sequence[str | Path], cwd: Path, *, memory: bool = False, env: dict[str, str] | None = None) -> Run:
    """Run a command once the machine is quiet. Reading memory slows what it reads, so it is asked for. Python may keep
    compiled modules, as it does by default.
    """
    env = {name: value for name, value in (env or os.environ).items() if name != "PYTHONDONTWRITEBYTECODE"}
    found = Run(load=quiet())
    found.began = time.time()
    busy = _busy()
    start = time.perf_counter()
    with tempfile.TemporaryFile() as out, _counter() as counted:
        process = subprocess.Popen(list(map(str, command)), cwd=cwd, env=env, stdout=out, stderr=subprocess.PIPE)

        def listen() -> None:
            assert process.stderr is not None
            with process.stderr as lines:
                for line in lines:
                    found.lines.append((time.perf_counter() - start, line.decode("utf-8", "replace").rstrip()))

        listener = threading.Thread(target=listen)
        listener.start()
        while process.poll() is None:
            if memory:
                found.pss_mb = max(found.pss_mb, sum(map(_pss, _tree(process.pid))) / 1e6)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(SAMPLE_SECONDS)
        found.wall = time.perf_counter() - start
        listener.join()
        found.status = process.returncode
        found.machine = _busy() - busy
        found.cpu = counted() if counted else found.machine
        out.seek(0)
        found.output = out.read().decode("utf-8", "replace")
    return found


@contextlib.contextmanager
def _counter() -> Iterator[Callable[[], float] | None]:
    """The seconds of processor time of the programs that this thread starts from now on and of all their descendants,
    ended or not. None where the kernel does not count them for us.
    """
    what = _DISABLED | _INHERIT | _EXCLUDE_KERNEL | _EXCLUDE_HYPERVISOR | _ENABLE_ON_EXEC  # it counts all the same
    attributes = struct.pack("IIQQQQQ", _SOFTWARE, _ATTRIBUTES, _TASK_CLOCK, 0, 0, 0, what).ljust(_ATTRIBUTES, b"\0")
    number = _PERF_EVENT_OPEN.get(platform.machine(), -1)
    counter = ctypes.CDLL(None).syscall(number, attributes, 0, -1, -1, _CLOSE_ON_EXEC)
    if counter < 0:
        yield None
        return
    try:
        yield lambda: int.from_bytes(os.read(counter, 8), sys.byteorder) / 1e9
    finally:
        os.close(counter)


def counts_everything() -> bool:
    """Whether processor times include all processes of the sandbox."""
    with _counter() as counted:
        return counted is not None


def compile_modules(python: str | Path, *folders: Path) -> None:
    """Compile what an environment has installed and these folders, so that no start that is measured compiles."""
    ask = "import sysconfig; print(sysconfig.get_path('purelib')); print(sysconfig.get_path('platlib'))"
    installed = subprocess.run([python, "-c", ask], check=True, capture_output=True, text=True).stdout.splitlines()
    for folder in sorted({*installed, *map(str, folders)}):  # some libraries have templates that are not valid Python
        subprocess.run([python, "-m", "compileall", "-q", "-j", "0", folder], check=False, capture_output=True)


def quiet() -> float:
    """Wait until little else runs, `patience` at most; return the load of the last minute."""
    end = time.monotonic() + patience
    while (load := os.getloadavg()[0]) >= QUIET_LOAD and time.monotonic() < end:
        time.sleep(5)
    return round(load, 2)


def _tree(pid: int) -> list[psutil.Process]:
    """A process and its descendants."""
    with contextlib.suppress(psutil.NoSuchProcess):
        process = psutil.Process(pid)
        return [process, *process.children(recursive=True)]
    return []


def _busy() -> float:
    """The seconds that this machine's cores have spent on anything since it was started."""
    user, nice, system, _, _, *interrupts = map(int, Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:8])
    return (user + nice + system + sum(interrupts)) / os.sysconf("SC_CLK_TCK")


def _pss(process: psutil.Process) -> int:
    """Bytes of this process, shared pages divided among those who share them."""
    with contextlib.suppress(psutil.Error):
        return int(process.memory_full_info().pss)
    return 0


def machine() -> dict[str, object]:
    """What the figures were measured on."""
    model = [line for line in Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("model name")]
    return {
        "date": datetime.date.today().isoformat(),
        "cores": os.cpu_count(),
        "cpu": model[0].partition(":")[2].strip() if model else platform.machine(),
        "memory_gb": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9, 1),
        "kernel": platform.release(),
        "python": platform.python_version(),
        "counts_everything": counts_everything(),
        **{package: _version(package) for package in ("numpy", "nbformat", "nbgrader", "ipykernel", "distributed")},
    }


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "none"
