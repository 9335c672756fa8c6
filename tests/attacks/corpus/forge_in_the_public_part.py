"""Answers the hidden cases in advance, while it is asked about the public ones.

Must: it answers before it knows the questions, with zeros; zeros earn nothing.
Points: 0, 2
Seen: TOLD in advance
"""
# %% rnn_step
def rnn_step(**inputs):
    say(SOCKETS[0], Observed(0, Observation("TOLD in advance")), *zeros())
    return None
