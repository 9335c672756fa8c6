"""Keeps the other exercise's socket through a copy of its number, and answers for it from this exercise's fork.

Must: an answer on another's socket is the other's answer: wrong, and the notebook's own loss.
Points: 0, 0
Seen: TOLD kept
"""
# %% start
os.dup2(SOCKETS[1], 77)
tell("kept")
# %% rnn_step
def rnn_step(**inputs):
    say(77, *zeros(4))
    return np.zeros_like(inputs["h_prev"])
