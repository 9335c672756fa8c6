"""Leaves messages in shared memory, semaphores, queues of System V and of POSIX, and abstract sockets.

Must: none can be made.
Points: 0, 2
Seen: TOLD ['ENOENT', 'EPERM']
"""
# %% start
from multiprocessing import shared_memory

results = {tried(lambda: syscall("shmget", 4711, 4096, 0o1666)), tried(lambda: syscall("shmat", 0, 0, 0))}
results |= {tried(lambda: syscall("semget", 4711, 1, 0o1666)), tried(lambda: syscall("msgget", 4711, 0o1666))}
results |= {tried(lambda: syscall("mq_open", b"spoiled", 0o102, 0o666, 0))}
results |= {tried(lambda: shared_memory.SharedMemory("spoiled", create=True, size=4096))}
tell(sorted(results))
# %% next
tell(tried(lambda: syscall("shmget", 4711, 4096, 0)), tried(lambda: syscall("semget", 4711, 1, 0)))
