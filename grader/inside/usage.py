"""The processor time and memory that processes use, read from /proc."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

_ACTIVE = frozenset("RD")  # R: computing, or ready to compute; D: waiting for the disk
_TICK = 1 / os.sysconf("SC_CLK_TCK")
_PAGE = os.sysconf("SC_PAGE_SIZE")
_CORES = os.cpu_count() or 1
# How far the kernel's page counts of a process may be wrong: each core keeps a part of them to itself.
_UNCOUNTED = 2 * _CORES * max(32, 2 * _CORES) * _PAGE


@dataclass(frozen=True)
class Activity:
    """Seconds of processor time so far, and whether all processes wait for something other than a processor or a disk,
    such as time, a lock or each other.
    """

    cpu: float = 0.0
    waiting: bool = True


def activity(processes: Iterable[int]) -> Activity:
    """The activity of these processes and the children that they have waited for. Ended processes are left out."""
    cpu, waiting = 0.0, True
    for process in processes:
        with suppress(OSError):
            state, *times = _stat(Path(f"/proc/{process}/stat"))
            cpu += sum(map(int, times)) * _TICK
            waiting = waiting and state not in _ACTIVE and not _has_active_thread(process)
    return Activity(cpu, waiting)


def memory(processes: Iterable[int]) -> int:
    """Bytes that these processes use together, with each page counted once. Pages of files are left out, because
    processes share the libraries' pages, and the kernel can drop them.
    """
    total = 0
    for process in processes:
        with suppress(OSError), open(f"/proc/{process}/smaps_rollup") as file:
            sizes = {line.partition(":")[0]: int(line.split()[1]) for line in file if "kB" in line}
            own = sizes["Pss_Anon"] + sizes["Pss_Shmem"] if "Pss_Anon" in sizes else sizes["Pss"]  # before 5.3
            total += own << 10
    return total


def takes_more_than(most: int, processes: Collection[int]) -> bool:
    """Whether the `memory` of these processes exceeds `most`. Reading it makes the kernel walk through all of their
    pages. A sum that counts shared pages once per process is available at once, and usually small enough to decide.
    """
    return sum(map(_at_most, processes)) > most and memory(processes) > most


@dataclass
class Growth:
    """Watches processes that share most of their memory, as copies of one process do. Measuring what they use takes
    milliseconds for each of them, so it is done only when they could have exceeded `most` since the last time.

    Where the kernel makes no huge pages (`confine.small_pages`), each page that they add costs a page fault. Files in
    memory may take `files` bytes besides. `used` and `faults` are what was last measured.
    """

    most: int
    files: int
    used: int
    faults: int | None

    def is_too_much(self, processes: Collection[int]) -> bool:
        """Whether the `memory` of these processes exceeds `most`."""
        faults = page_faults()
        if faults is not None and self.faults is not None:
            added = (faults - self.faults) * _PAGE
            if self.used + self.files + added <= self.most:
                return False
        self.used, self.faults = memory(processes), faults
        return self.used > self.most


def page_faults() -> int | None:
    """All page faults on this machine so far; None if the kernel does not say. The counts of single processes would
    miss those of a process that has ended and left what it added to a child, if no process waited for it.
    """
    with suppress(OSError), open("/proc/vmstat") as file:
        return next((int(line.split()[1]) for line in file if line.startswith("pgfault ")), None)
    return None


def _at_most(process: int) -> int:
    with suppress(OSError), open(f"/proc/{process}/status") as file:
        sizes = {line.partition(":")[0]: int(line.split()[1]) for line in file if line.startswith("Rss")}
        return (sum(sizes.get(name, 0) for name in ("RssAnon", "RssShmem")) << 10) + _UNCOUNTED
    return 0


def everyone() -> list[int]:
    """All processes in this process's /proc."""
    return [int(name) for name in os.listdir("/proc") if name.isdecimal()]


def with_descendants(process: int) -> list[int]:
    """A process and all its descendants; on systems without /proc, only the process itself."""
    found = [process]
    with suppress(OSError):
        for thread in os.listdir(f"/proc/{process}/task"):
            for child in Path(f"/proc/{process}/task/{thread}/children").read_text().split():
                found += with_descendants(int(child))
    return found


def _has_active_thread(process: int) -> bool:
    threads = os.listdir(f"/proc/{process}/task")
    return len(threads) > 1 and any(_stat(Path(f"/proc/{process}/task/{t}/stat"))[0] in _ACTIVE for t in threads)


def _stat(path: Path) -> list[str]:
    """The state of a process or thread and its times in user and kernel mode, its own and those of its children."""
    fields = path.read_text(errors="replace").rpartition(")")[2].split()  # the name before it may contain anything
    return [fields[0], *fields[11:15]]
