"""Makes and enters namespaces: unshare, setns, clone and clone3 with every flag, raw and through the C library.

Must: none can be made. (In one of its own it would be root over more of the kernel.)
Points: 0, 2
Seen: TOLD ['ENOSYS', 'EPERM']
"""
# %% start
flags = [0x80, 0x20000, 0x2000000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000, 0x7E020080]
results = {tried(lambda: syscall("unshare", flag)) for flag in flags}
results |= {tried(lambda: syscall("clone", flag | signal.SIGCHLD, 0, 0, 0, 0)) for flag in flags}
results |= {tried(lambda: syscall("clone", flag | 0x10F00, 0, 0, 0, 0)) for flag in flags}
results |= {tried(lambda: syscall("setns", number, 0)) for number in range(8)}
results.add(tried(lambda: syscall("clone3", struct.pack("<11Q", 0x10000000, *[0] * 10), 88)))
tell(sorted(results))
