"""Answers the hidden cases in advance, while it is asked about the public ones.

Must: an answer that is not due ends its exam.
Points: 0, 2
Seen: malformed, its answer could not be read
"""
# %% rnn_step
def rnn_step(**inputs):
    say(SOCKETS[0], Observed(0, Observation("TOLD in advance")), *zeros())
    return None
