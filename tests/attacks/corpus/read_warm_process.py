"""Reads the memory of the processes around it, by every call that can.

Must: it sees no process but its own, and each call is refused.
Points: 0, 2
Seen: TOLD parent 1 {'EPERM'}
"""
# %% start
class Area(ctypes.Structure):
    _fields_ = [("base", ctypes.c_void_p), ("length", ctypes.c_size_t)]


buffer = ctypes.create_string_buffer(64)
ours, theirs = Area(ctypes.addressof(buffer), 64), Area(id(sys), 64)
results = set()
for pid in (os.getppid(), os.getpid(), 1, 2, 3, GRADER):
    for name in ("process_vm_readv", "process_vm_writev"):
        results.add(tried(lambda: syscall(name, pid, ctypes.byref(ours), 1, ctypes.byref(theirs), 1, 0)))
    for request in (0, 2, 16, 0x4206):  # traceme, peekdata, attach, seize
        results.add(tried(lambda: syscall("ptrace", request, pid, 0, 0)))
    for name in ("pidfd_open", "process_madvise", "pidfd_getfd", "kcmp"):
        results.add(tried(lambda: syscall(name, pid, 0, 0, 0, 0)))
tell("parent", os.getppid(), results)
