"""Rewrites the runner while it runs: its send, its answer, its loop over cells, the wall before hidden cases.

Must: the runner is the student's process too; without its wall it may fork in the hidden run, and gains nothing by it.
Points: 0, 2
Seen: TOLD a fork in the hidden run
"""
# %% start
from grader.autograde.inside import child
from grader.autograde.inside import confine

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
