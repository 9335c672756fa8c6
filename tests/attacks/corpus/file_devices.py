"""Makes device files, pipes with names, files that run as their owner, and files with attributes of the kernel's.

Must: no device; a named pipe and the rest lie on its own disk, and mean nothing there.
Points: 0, 2
Seen: TOLD ['EPERM']
"""
# %% start
import stat

kinds = [(stat.S_IFCHR, 1, 1), (stat.S_IFBLK, 8, 0), (stat.S_IFCHR, 1, 5), (stat.S_IFIFO, 0, 0), (stat.S_IFSOCK, 0, 0)]
results = {tried(lambda: syscall("mknodat", -100, b"node", kind | 0o666, os.makedev(*number))) for kind, *number in kinds}
Path("suid").write_text("#!/bin/sh\nid")
os.chmod("suid", 0o6755)
results |= {tried(lambda: os.setxattr("suid", "security.capability", b"\1")), tried(lambda: os.execv("suid", ["suid"]))}
tell(sorted(results))
