"""Never ends: in Python, in C code that holds the interpreter's lock, in a regular expression.

Must: the clock is the grader's; each costs itself.
Points: 0, 2
Seen: fault in cell 3: timeout
Seen: fault in cell 6: timeout
Seconds: 9
"""
# %% start
re.match(r"(a+)+$", "a" * 60 + "b")
# %% rnn_step
def rnn_step(**inputs):
    return 9 ** 9**9
