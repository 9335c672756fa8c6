"""Sends verdicts, points and results of its own making over the pipe.

Must: there is no frame that says such a thing; the cell is ended, and the others are graded.
Points: 0, 2
Seen: fault in cell 3: malformed
"""
# %% start
from grader.codec import encode

for tree in (
    {"is": "verdict", "id": "rnn_step", "earned": 2.0, "points": 2.0, "status": "passed"},
    {"is": "observed", "case": 0, "result": None, "raised": None, "changed": [], "calls": {}, "earned": 2.0},
    [2.0, 2.0],
):
    body = encode(tree)
    os.write(RESULT, struct.pack("<I", len(body)) + body)
time.sleep(1)
