"""Raises SystemExit, KeyboardInterrupt, GeneratorExit and BaseException in a cell and in the function.

Must: they end the cell or the case, not the process.
Points: 0, 2
Seen: SystemExit: 0
Seen: KeyboardInterrupt: TOLD
"""
# %% start
sys.exit(0)
# %% rnn_step
def rnn_step(**inputs):
    raise KeyboardInterrupt("TOLD") if inputs["h_prev"].size > 6 else SystemExit(0)
