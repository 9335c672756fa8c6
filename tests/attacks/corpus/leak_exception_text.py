"""Raises the hidden inputs: as text, as type, as cause, as note, as the name of the function that raises.

Must: of a hidden run the student sees that it raised, and nothing else.
Points: 0, 2
Seen: TOLD in the hidden run
"""
# %% rnn_step
def rnn_step(**inputs):
    if not in_hidden_run():
        raise ValueError("public")
    digits = " ".join(repr(float(number)) for number in np.concatenate([np.ravel(value) for value in inputs.values()]))
    source = f"def {'f' + re.sub('[^0-9]', '_', digits[:300])}():\n raise type(digits[:1000], (ValueError,), {{}})(digits)"
    space = {"digits": "TOLD in the hidden run " + digits}
    exec(compile(source, f"<cell 2> {digits[:200]}", "exec"), space)
    next(value for name, value in space.items() if name.startswith("f"))()
