"""Changes what the process has of settings: limits, mask, priority, signals, warnings, random state, NumPy's errors.

Must: the next copy has none of it.
Points: 0, 2
Seen: TOLD set
"""
# %% start
import resource
import warnings

tell("set")
for pid in (0, 1, os.getppid()):
    for kind in (resource.RLIMIT_FSIZE, resource.RLIMIT_NPROC):
        try:
            resource.prlimit(pid, kind, (100, 100))
        except OSError:
            pass
os.umask(0o777)
signal.signal(signal.SIGALRM, signal.SIG_IGN)
warnings.filterwarnings("error")
np.seterr(all="raise")
# %% next
import resource

left = [os.umask(0o22) == 0o777, np.geterr()["over"] == "raise", signal.getsignal(signal.SIGALRM) == signal.SIG_IGN]
left += [resource.getrlimit(kind)[0] == 100 for kind in (resource.RLIMIT_FSIZE, resource.RLIMIT_NPROC)]
tell(left)
if any(left):
    won(left)
