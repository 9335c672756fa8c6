"""Prints the hidden inputs in the hidden run: to streams, to descriptors, to display, to the real streams, to a log.

Must: nothing that is printed while hidden cases run is kept.
Points: 0, 2
Seen: public
"""
# %% rnn_step
import logging


def rnn_step(**inputs):
    text = " ".join(repr(float(number)) for number in np.ravel(inputs["x_t"]))
    for stream in (sys.stdout, sys.stderr, sys.__stdout__, sys.__stderr__):
        print(text, file=stream, flush=True)
    for descriptor in (0, 1, 2, 3, 4):
        try:
            os.write(descriptor, text.encode())
        except OSError:
            pass
    logging.warning(text)
    get_ipython().run_line_magic("time", f"print({text!r})")
    return "hidden" if in_hidden_run() else "public"
