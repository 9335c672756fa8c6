"""Kills all processes that it can name: every number, its group, its parent, the first process, the grader.

Must: it reaches its own notebook at most. The grader starts a fresh process, which skips that cell.
Points: 0, 2
Seen: TOLD ['EPERM', 'ESRCH']
Seen: died
"""
# %% start
pids = [-1, 0, 1, os.getppid(), GRADER, -os.getpgrp(), 2**22]
results = {tried(lambda: os.kill(pid, signal.SIGKILL)) for pid in pids}
results |= {tried(lambda: syscall("pidfd_send_signal", pid, 9, 0, 0)) for pid in pids}
results |= {tried(lambda: syscall("tgkill", pid, pid, 9)) for pid in (GRADER + 1000, 2**21)}
tell(sorted(results))
# %% end
for pid in range(1, 200):
    for number in (signal.SIGTERM, signal.SIGKILL):
        try:
            syscall("tgkill", pid, pid, int(number))
        except OSError:
            pass
