"""Locks the libraries that all students share, to hold the next one up or to tell another one something.

Must: a file that is not its own cannot be locked.
Points: 0, 2
Seen: TOLD ['EPERM'] ['EPERM']
"""
# %% start
import fcntl

file = os.open(np.__file__, os.O_RDONLY)
locks = {tried(lambda: fcntl.flock(file, how)) for how in (fcntl.LOCK_EX | fcntl.LOCK_NB, fcntl.LOCK_SH)}
locks.add(tried(lambda: syscall("flock", file, 2)))
others = {tried(lambda: fcntl.lockf(file, how)) for how in (fcntl.LOCK_EX | fcntl.LOCK_NB, fcntl.LOCK_SH)}
others |= {tried(lambda: fcntl.fcntl(file, command, 0)) for command in (1024, 1026, 8)}  # a lease, a watch, its owner
tell(sorted(locks), sorted(others))
