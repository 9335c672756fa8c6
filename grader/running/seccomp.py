"""The system calls that student code may make: two filters, compiled by libseccomp for this machine's processor.

Every other call fails with EPERM ("Operation not permitted"), as programs expect of a forbidden call. The list is
sufficient for Python, NumPy, PyTorch and threads. It contains no calls that open a socket, start a program, trace
another process, mount a file system, or reach less common parts of the kernel.
"""

from __future__ import annotations

import errno
import signal
import tempfile
from dataclasses import dataclass
from typing import Any

_CLONE_THREAD = 0x10000
_CLONE_NEW = 0x7E020080  # every flag of clone(2) that makes a namespace
_PR_SET_NAME, _PR_GET_NAME, _PR_SET_SECCOMP = 15, 16, 22
_TCGETS, _FIONREAD, _FIOCLEX = 0x5401, 0x541B, 0x5451
# Duplicates, flags and a pipe's size. No locks, leases or owners: notebooks share the libraries' files and could use
# locks on them to communicate.
_FCNTL = (0, 1, 2, 3, 4, 1030, 1031, 1032)

_ALLOWED = """
access arch_prctl brk chdir chmod clock_getres clock_gettime clock_nanosleep close close_range copy_file_range dup
dup2 dup3 epoll_create epoll_create1 epoll_ctl epoll_pwait epoll_pwait2 epoll_wait eventfd eventfd2 exit exit_group
faccessat faccessat2 fadvise64 fallocate fchdir fchmod fchmodat fdatasync fstat fstatfs fsync ftruncate
futex futex_waitv get_robust_list getcpu getcwd getdents getdents64 getegid geteuid getgid getgroups getitimer
getpgid getpgrp getpid getppid getpriority getrandom getresgid getresuid getrlimit getrusage getsid gettid
gettimeofday getuid link linkat lseek lstat madvise membarrier mincore mkdir mkdirat mlock mmap mprotect mremap
msync munlock munmap nanosleep newfstatat open openat pause pipe pipe2 poll ppoll pread64 preadv preadv2 prlimit64
pselect6 pwrite64 pwritev pwritev2 read readahead readlink readlinkat readv recvfrom rename renameat renameat2
restart_syscall rmdir rseq rt_sigpending rt_sigprocmask rt_sigreturn rt_sigsuspend rt_sigtimedwait
sched_get_priority_max sched_get_priority_min sched_getaffinity sched_getparam sched_getscheduler sched_yield
select sendfile sendto set_robust_list set_tid_address setitimer setpgid setrlimit setsid shutdown sigaltstack
splice stat statfs statx symlink symlinkat sync_file_range sysinfo tee tgkill time timer_create timer_delete
timer_getoverrun timer_gettime timer_settime timerfd_create timerfd_gettime timerfd_settime times truncate umask
uname unlink unlinkat utime utimensat utimes wait4 waitid write writev
"""


@dataclass(frozen=True)
class Filters:
    """Two filter programs for the kernel (BPF, as `export_bpf` writes them).

    `cells` applies while a notebook's cells run. It allows forks, because the process forks at each check cell.
    `hidden` is added before a function gets hidden cases; from then on only threads can be started.
    """

    cells: bytes
    hidden: bytes


def filters() -> Filters:
    """Both programs for this machine. Raises OSError or RuntimeError if libseccomp is missing."""
    import pyseccomp as libseccomp

    refuse = libseccomp.ERRNO(errno.EPERM)
    cells = libseccomp.SyscallFilter(refuse)
    cells.set_attr(libseccomp.Attr.ACT_BADARCH, libseccomp.KILL_PROCESS)
    for name in _ALLOWED.split():
        _allow(libseccomp, cells, name)
    masked, equal = libseccomp.MASKED_EQ, libseccomp.EQ
    # A thread, or a fork as the C library makes it, but no namespaces. The newer clone3 is reported as not available,
    # so that the C library uses clone.
    _allow(libseccomp, cells, "clone", libseccomp.Arg(0, masked, _CLONE_THREAD | _CLONE_NEW, _CLONE_THREAD))
    _allow(libseccomp, cells, "clone", libseccomp.Arg(0, masked, _CLONE_THREAD | _CLONE_NEW | 0xFF, signal.SIGCHLD))
    cells.add_rule(libseccomp.ERRNO(errno.ENOSYS), "clone3")
    # Not for SIGCHLD: a process that ignores it learns neither of the end of its children nor of the time they used.
    # A number differs from SIGCHLD if one of its seven bits differs.
    for bit in (1 << place for place in range(7)):
        _allow(libseccomp, cells, "rt_sigaction", libseccomp.Arg(0, masked, bit, ~signal.SIGCHLD & bit))
    for option in (_PR_SET_NAME, _PR_GET_NAME, _PR_SET_SECCOMP):
        _allow(libseccomp, cells, "prctl", libseccomp.Arg(0, equal, option))
    for command in _FCNTL:
        _allow(libseccomp, cells, "fcntl", libseccomp.Arg(1, masked, 0xFFFFFFFF, command))
    for request in (_TCGETS, _FIONREAD, _FIOCLEX):
        _allow(libseccomp, cells, "ioctl", libseccomp.Arg(1, masked, 0xFFFFFFFF, request))

    hidden = libseccomp.SyscallFilter(libseccomp.ALLOW)
    hidden.add_rule(refuse, "clone", libseccomp.Arg(0, masked, _CLONE_THREAD, 0))
    for name in ("fork", "vfork"):
        if _known(libseccomp, name):
            hidden.add_rule(refuse, name)
    return Filters(_program(cells), _program(hidden))


def _allow(libseccomp: Any, program: Any, name: str, *arguments: object) -> None:
    """Add one rule, unless this processor does not have the call (such as `open` on arm64)."""
    if _known(libseccomp, name):
        program.add_rule(libseccomp.ALLOW, name, *arguments)


def _known(libseccomp: Any, name: str) -> bool:
    number: int = libseccomp.resolve_syscall(libseccomp.Arch.NATIVE, name)
    return 0 <= number < 1 << 31


def _program(program: Any) -> bytes:
    with tempfile.TemporaryFile() as file:
        program.export_bpf(file)
        file.seek(0)
        return file.read()
