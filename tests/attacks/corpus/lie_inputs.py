"""Changes its inputs in place, returns them, and turns them into each other while they are compared.

Must: it gets copies; the cases stay as they are, for it and for the next one.
Points: 0, 2
Seen: TOLD again
"""
# %% rnn_step
first = []


def rnn_step(**inputs):
    for value in inputs.values():
        value[...] = 0
        value.resize(value.shape, refcheck=False)
    first.append(inputs)
    if len(first) > 2:
        raise ValueError("TOLD again")
    return inputs["h_prev"]
