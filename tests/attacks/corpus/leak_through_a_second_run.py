"""Spends a hidden input as time, then takes all memory: the grader goes on in a fresh process, whose cells read the clock.

The first run claims the end of its cell and breaks the pipe there, so that the cells below have not ended yet.
Must: nothing is kept of what the cells of a fresh process show after hidden cases were sent.
Points: 0, 2
Seen: TOLD the first clock
Seen: fault in cell 6: memory
Seconds: 12
"""
# %% start
frame = sys._getframe()
while "work" not in frame.f_locals:
    frame = frame.f_back
again = "rnn_step" not in [cell.exercise for cell in frame.f_locals["work"].cells]
sys.modules["grader.inside.confine"].no_more_processes = lambda *_: None
tell("the first clock", time.time())
# %% rnn_step
def rnn_step(**inputs):
    if in_hidden_run():
        time.sleep(abs(float(np.ravel(inputs["x_t"])[0])) / 10)
        for _ in range(6):
            if os.fork() == 0:
                break
        kept = np.ones(20_000_000)
        time.sleep(10)
    return "public"
# %% rnn_forward
def rnn_forward(x, h_0, W_xh, W_hh, b_h):
    h, h_t = [], h_0
    for t in range(x.shape[1]):
        h_t = np.tanh(x[:, t] @ W_xh + h_t @ W_hh + b_h)
        h.append(h_t)
    return np.stack(h, axis=1)


if not again:
    say(RESULT, End(8), b"\xff" * 100)
    time.sleep(1)
# %% end
if again:
    won(f"the clock after the hidden run: {time.time()}")
