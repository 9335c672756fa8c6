"""Leaves processes behind: of a session of their own, deaf to signals, forking on and on.

Must: all are dead when the notebook is over; the next one sees and feels none.
Points: 0, 2
Seen: TOLD left
"""
# %% start
for _ in range(4):
    if copied():
        os.setsid()
        signal.pthread_sigmask(signal.SIG_BLOCK, set(signal.Signals))
        os.closerange(3, 256)
        while True:
            try:
                os.fork() and os._exit(0)
                time.sleep(0.01)
            except OSError:
                pass
tell("left")
# %% next
alive = [pid for pid in range(3, 300) if tried(lambda: syscall("tgkill", pid, pid, 0)).startswith("WO")] if os.getpid() > 2 else []
tell("others alive:", alive)
if alive:
    won(alive)
