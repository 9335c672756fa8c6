"""Commands run and measured: wall time, processor time and memory of all their processes, and when lines were printed.

Processor time holds under load, wall time does not: a run begins when the machine is quiet, and its record holds the
load that it met.
"""

from __future__ import annotations

import contextlib
import datetime
import os
import platform
import subprocess
import tempfile
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import psutil

QUIET_LOAD = 1.5
patience = 600.0  # seconds to wait for a quiet machine
SAMPLE_SECONDS = 0.1


@dataclass
class Run:
    """One command. `cpu` in seconds; `pss_mb` the highest sum over all its processes, 0 where it was not sampled.

    `lines` are what it printed on standard error with the seconds since its start.
    """

    status: int = 0
    wall: float = 0.0
    cpu: float = 0.0
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
    start = time.perf_counter()
    with tempfile.TemporaryFile() as out:
        process = subprocess.Popen(list(map(str, command)), cwd=cwd, env=env, stdout=out, stderr=subprocess.PIPE)

        def listen() -> None:
            assert process.stderr is not None
            for line in process.stderr:
                found.lines.append((time.perf_counter() - start, line.decode("utf-8", "replace").rstrip()))

        listener = threading.Thread(target=listen)
        listener.start()
        while process.poll() is None:
            tree = _tree(process.pid)
            found.cpu = max(found.cpu, sum(map(_cpu, tree)))
            if memory:
                found.pss_mb = max(found.pss_mb, sum(map(_pss, tree)) / 1e6)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(SAMPLE_SECONDS)
        found.wall = time.perf_counter() - start
        listener.join()
        found.status = process.returncode
        out.seek(0)
        found.output = out.read().decode("utf-8", "replace")
    return found


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


def _cpu(process: psutil.Process) -> float:
    """Seconds of this process, and of those of its children that it has waited for."""
    with contextlib.suppress(psutil.Error):
        times = process.cpu_times()
        return float(times.user + times.system + times.children_user + times.children_system)
    return 0.0


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
        **{package: _version(package) for package in ("numpy", "nbformat", "nbgrader", "ipykernel", "distributed")},
    }


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "none"
