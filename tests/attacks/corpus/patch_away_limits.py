"""Takes its limits away: rlimits, alarms, signals, the clock, its priority; then computes for ever.

Must: limits that were set can only be lowered, and the clock that counts is the grader's.
Points: 0, 2
Seen: TOLD ['EPERM', 'ValueError']
Seen: fault in cell 6: timeout
"""
# %% start
import resource

kinds = [getattr(resource, name) for name in dir(resource) if name.startswith("RLIMIT_") and name not in ("RLIMIT_NICE", "RLIMIT_RTPRIO", "RLIMIT_OFILE")]
bounded = [kind for kind in kinds if resource.getrlimit(kind)[1] != resource.RLIM_INFINITY and resource.getrlimit(kind)[1]]
results = {tried(lambda: resource.setrlimit(kind, (resource.RLIM_INFINITY,) * 2)) for kind in bounded}
results |= {tried(lambda: os.setpriority(os.PRIO_PROCESS, 0, -5)), tried(lambda: os.sched_setaffinity(0, {0}))}
time.time = time.monotonic = lambda: 0.0
tell(sorted(results))
# %% rnn_step
def rnn_step(**inputs):
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.pthread_sigmask(signal.SIG_BLOCK, set(signal.Signals))
    while True:
        pass
