"""Reads memory, environment, descriptors and mounts of this and of other processes from /proc.

Must: /proc is empty, and cannot be written.
Points: 0, 2
Seen: TOLD [] {'ENOENT'} EROFS
"""
# %% start
names = ["mem", "environ", "maps", "fd", "mountinfo", "cmdline", "root", "cwd", "status", "task"]
paths = [f"/proc/{who}/{name}" for who in ("self", "1", os.getpid(), os.getppid(), GRADER, "thread-self") for name in names]
tell(os.listdir("/proc"), {tried(lambda: open(path).read()) for path in [*paths, "/proc/kcore", "/proc/mounts"]}, tried(lambda: os.mkdir("/proc/x")))
