"""Starts threads without end, in a cell and in the function.

Must: threads are bounded like processes; the exercise is over when it is told to stop.
Points: 0, 2
Seen: TOLD RuntimeError
Seen: RuntimeError: can't start new thread
"""
# %% start
threading.stack_size(1 << 16)
lock = threading.Lock()
lock.acquire()


def many():
    for _ in range(10_000):
        threading.Thread(target=lock.acquire, daemon=True).start()


tell(tried(many))
lock.release()
for thread in threading.enumerate():
    if thread is not threading.current_thread():
        lock.release() if lock.locked() else None
        thread.join(0.1)
# %% rnn_step
import time


def rnn_step(**inputs):
    for _ in range(10_000):
        threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
