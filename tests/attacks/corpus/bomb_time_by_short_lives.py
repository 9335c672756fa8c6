"""Computes in one short-lived process after another and hides that they end; another process stops itself.

Must: their time counts for the notebook that started them, and a stopped process counts as waiting.
Points: 0, 2
Seen: TOLD EPERM EPERM EPERM
Seen: fault in cell 15: timeout
Seen: fault in cell 6: timeout
Seconds: 9
"""
# %% start
ignored = (ctypes.c_char * 152)(*struct.pack("Q", 1))
tell(
    tried(lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN)),
    tried(lambda: syscall("rt_sigaction", int(signal.SIGCHLD), ignored, None, 8)),
    tried(lambda: syscall("rt_sigaction", int(signal.SIGCHLD) | 1 << 32, ignored, None, 8)),
)
# %% rnn_step
def rnn_step(**inputs):
    while True:
        signal.raise_signal(signal.SIGSTOP)
# %% end
while True:
    if os.fork() == 0:
        end = time.process_time() + 0.02
        while time.process_time() < end:
            pass
        os._exit(0)
    os.wait()
