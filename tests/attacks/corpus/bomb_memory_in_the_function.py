"""Takes memory while it is driven on cases.

Must: a MemoryError costs the exercise.
Points: 0, 2
Seen: MemoryError
"""
# %% rnn_step
def rnn_step(**inputs):
    return np.ones(1 << 26)
