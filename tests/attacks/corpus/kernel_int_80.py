"""Makes a 32-bit system call by int 0x80, from code that it has written itself.

Must: the process is killed at the door.
Points: 0, 2
Seen: fault in cell 3: died
"""
# %% start
import mmap
import platform

if platform.machine() != "x86_64":
    os._exit(0)  # arm64 has no such door here
code = mmap.mmap(-1, 4096, prot=7)
code.write(b"\xb8\x14\x00\x00\x00\xcd\x80\xc3")  # mov eax, 20 (getpid); int 0x80; ret
ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(code)))()
won("a 32-bit system call")
