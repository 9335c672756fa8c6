"""Changes the code of its own process while it runs, including the filter that forbids forks on hidden cases.

Must: without that filter it may fork while hidden cases run, because it is the student's process; it gains nothing by it.
Points: 0, 2
Seen: TOLD a fork in the hidden run
"""
# %% start
from grader.inside import child
from grader.inside import confine

confine.no_more_processes = confine._filter = lambda *_: None
sent = child._send
child._answer_cases.__defaults__ = None
tell("patched")
# %% rnn_step
def rnn_step(**inputs):
    pid = os.fork()
    if pid == 0:
        while True:
            time.sleep(1)
    raise RuntimeError("TOLD a fork in the hidden run")
