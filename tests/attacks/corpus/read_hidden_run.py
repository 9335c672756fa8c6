"""Looks in the hidden run for anything that came with the cases: on its socket, in all objects, in all frames.

Must: what is due is in no process of the student's; whatever array of the right shape is found is an input.
Points: 0, 2
Seen: TOLD part, case
"""
# %% rnn_step
def rnn_step(**inputs):
    frame, names, arrays = sys._getframe(), set(), []
    while frame is not None:
        names |= set(frame.f_locals)
        frame = frame.f_back
    for thing in gc.get_objects():
        if isinstance(thing, dict):
            names |= {key for key in thing if isinstance(key, str)}
            arrays += [value for value in thing.values() if isinstance(value, np.ndarray)]
        if type(thing).__name__ in ("Checks", "Verdict", "Facet", "Mistake"):
            return won(thing)
    if names & {"expected", "mistakes"}:
        return won(names)
    data = ctypes.create_string_buffer(999)
    if libc.recvfrom(SOCKETS[0], data, 999, socket.MSG_DONTWAIT, None, None) > 0:
        return won(data.value)
    if inputs["b_h"].size == 1:
        raise LookupError(f"TOLD {', '.join(sorted(names & {'part', 'case'}, reverse=True))}")
    due = inputs["h_prev"].shape
    fitting = [array for array in arrays if array.shape == due and array is not inputs["h_prev"]]
    return fitting[-1] if fitting else np.zeros(due)
