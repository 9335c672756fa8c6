"""Raises NotImplementedError from a function whose name is a hidden input: reports name the function that is not written.

Must: a report on hidden cases names no function but the course's own.
Points: 0, 2
Seen: NotImplementedError: TOLD
"""
# %% rnn_step
def rnn_step(**inputs):
    name = "x" + re.sub("[^0-9]", "_", repr(float(np.ravel(inputs["x_t"])[0])))
    code = f"def {name}():\n raise NotImplementedError('TOLD')"
    space = {}
    exec(compile(code, "<cell 2>", "exec"), space)
    space[name]()
