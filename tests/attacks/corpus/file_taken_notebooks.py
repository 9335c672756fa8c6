"""Gives `take`, which works inside, a pipe, a link to the seed, deeply nested JSON, and notebooks that exit or replace it.

Must: no pipe can be given a name; what is no notebook is named and not waited for; no link leads out; only functions of the student's own are taken.
Points: 0, 2
Seen: TOLD fifo EPERM
Seen: TOLD pipe.ipynb is not in this folder.
Seen: TOLD bomb.ipynb cannot be read as a notebook.
Seen: TOLD seed.ipynb is not in this folder.
Seen: TOLD zero.ipynb is not in this folder.
Seen: TOLD null.ipynb cannot be read as a notebook.
Seen: TOLD exits.ipynb defines no rnn_step.
Seen: TOLD replaces.ipynb defines no rnn_step.
Seen: TOLD ['ModuleNotFoundError']
"""
# %% start
import contextlib, io, json
import grader
from grader import take, waits_for


def taken(name, *, original=take):
    with contextlib.redirect_stdout(io.StringIO()) as output:
        (function,) = original(name, "rnn_step")
    if not SECRET.search(output.getvalue().encode()):
        tell(output.getvalue().strip())
    return function


def cells(*sources):
    return json.dumps({"cells": [{"cell_type": "code", "source": source} for source in sources]})


tell("fifo", tried(lambda: os.mkfifo("fifo.ipynb")))
pipe = os.pipe()
Path("bomb.ipynb").write_text("[" * 1_000_000)
links = {"seed": f"{TERM}/hidden/seed", "zero": "/dev/zero", "null": "/dev/null", "pipe": f"/proc/self/fd/{pipe[0]}"}
for name, target in links.items():
    os.symlink(target, f"{name}.ipynb")
Path("exits.ipynb").write_text(cells("raise SystemExit(0)", "raise BaseException", "raise GeneratorExit"))
patch = "import grader.capstone\ngrader.take = grader.capstone.take = grader.check = lambda *_: [True]"
Path("replaces.ipynb").write_text(cells(patch, "from grader.checking import evaluate"))
for name in ("pipe", "bomb", "seed", "zero", "null", "exits"):
    taken(name)
rnn_step = taken("replaces")
tell(sorted({tried(lambda: __import__(f"grader.{name}", fromlist="x")) for name in ("student", "released", "journal")}))
print(grader.take("recurrence", "rnn_step"), grader.check("rnn_step", rnn_step))
# %% rnn_step
def rnn_step(x_t, h_prev, W_xh, W_hh, b_h):
    taken("pipe"), taken("seed")  # and on hidden cases
    return grader.take("replaces", "rnn_step")[0]
