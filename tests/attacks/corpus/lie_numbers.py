"""Returns NaN, infinities, huge integers, booleans, strings of numbers, complex numbers: what compares oddly.

Must: shape and dtype must be right, and every number near what is due.
Points: 0, 2
Seen: complex
"""
# %% rnn_step
def rnn_step(**inputs):
    due = inputs["h_prev"].shape
    kinds = [np.full(due, np.nan), np.full(due, np.inf), 16**4000, True, "0.5", np.zeros(due, complex), np.zeros(due, "f2"), {float("nan"): 1}]
    calls = rnn_step.__dict__.setdefault("calls", [])
    calls.append(kinds[len(calls) % len(kinds)])
    if len(due) == 2 and due[0] == 1:
        raise ValueError(f"complex {kinds[5].dtype}")
    return calls[-1]
