"""Returns as much as can be sent, and more, for each case; and writes to the pipe endlessly.

Must: results are limited for a notebook's pipe, and for the public and for the hidden cases of each exercise.
Points: 0, 2
Seen: fault in cell 3: too much
Seen: fault in cell 6: too much
Seconds: 9
"""
# %% start
while True:
    say(RESULT, Observed(0, Observation(np.zeros(100_000))))
# %% rnn_step
def rnn_step(**inputs):
    return np.ones(1_000_000)
