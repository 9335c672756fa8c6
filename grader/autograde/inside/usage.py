"""What processes use, as the kernel tells it to whoever may look at them from outside."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

_ACTIVE = frozenset("RD")  # it computes or would, were a processor free; it waits for the disk
_TICK = 1 / os.sysconf("SC_CLK_TCK")
_CORES = os.cpu_count() or 1
# By how much the kernel's counts of a process's pages may be out: each core keeps a part of them to itself.
_UNCOUNTED = 2 * _CORES * max(32, 2 * _CORES) * os.sysconf("SC_PAGE_SIZE")


@dataclass(frozen=True)
class Activity:
    """Seconds of processor time so far, and whether all wait for something that is neither a processor nor a disk:
    for time to pass, for a lock, for one another.
    """

    cpu: float = 0.0
    waiting: bool = True


def activity(processes: Iterable[int]) -> Activity:
    """What these processes and all that they have waited for come to. Of those that have ended nothing is known."""
    cpu, waiting = 0.0, True
    for process in processes:
        with suppress(OSError):
            state, *times = _stat(Path(f"/proc/{process}/stat"))
            cpu += sum(map(int, times)) * _TICK
            waiting = waiting and state not in _ACTIVE and not _has_active_thread(process)
    return Activity(cpu, waiting)


def memory(processes: Iterable[int]) -> int:
    """Bytes that these processes take together, each page counted once. Pages of files are left out: the libraries'
    belong to nobody, and the kernel can drop them.
    """
    total = 0
    for process in processes:
        with suppress(OSError), open(f"/proc/{process}/smaps_rollup") as file:
            sizes = {line.partition(":")[0]: int(line.split()[1]) for line in file if "kB" in line}
            own = sizes["Pss_Anon"] + sizes["Pss_Shmem"] if "Pss_Anon" in sizes else sizes["Pss"]  # before 5.3
            total += own << 10
    return total


def takes_more_than(most: int, processes: Collection[int]) -> bool:
    """Whether the `memory` of these processes is more than that. To find it, the kernel walks through all of their
    pages; a sum that counts shared pages for each process is at hand, and mostly small enough to answer.
    """
    return sum(map(_at_most, processes)) > most and memory(processes) > most


def _at_most(process: int) -> int:
    with suppress(OSError), open(f"/proc/{process}/status") as file:
        sizes = {line.partition(":")[0]: int(line.split()[1]) for line in file if line.startswith("Rss")}
        return (sum(sizes.get(name, 0) for name in ("RssAnon", "RssShmem")) << 10) + _UNCOUNTED
    return 0


def everyone() -> list[int]:
    """The processes that this one's /proc shows."""
    return [int(name) for name in os.listdir("/proc") if name.isdecimal()]


def with_descendants(process: int) -> list[int]:
    """A process and all that it has started, and they; of systems without /proc, it alone."""
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
    """The state of a process or thread and its times: in user and kernel mode, its own and of children waited for."""
    fields = path.read_text(errors="replace").rpartition(")")[2].split()  # before that stands its name, whatever it is
    return [fields[0], *fields[11:15]]
