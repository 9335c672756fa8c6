"""Makes a system call by the numbers of x32, the processor's third way to call the kernel.

Must: the process is killed at the door.
Points: 0, 2
Seen: fault in cell 3: died
"""
# %% start
import platform

if platform.machine() != "x86_64":
    os._exit(0)  # arm64 has no such door here
libc.syscall(ctypes.c_long(0x40000000 | CALLS["getpid"]))
won("a call by x32's numbers")
