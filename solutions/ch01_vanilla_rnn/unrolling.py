# %% [markdown]
# # Unrolling through time
#
# With your `rnn_forward` a network can read a sequence of any length.
# In this notebook you write two functions around that recurrence:
# one joins its two weight matrices into a single one, as many papers do,
# and the other decides which class a sequence belongs to, when the sequences of a batch differ in length.
#
# As before, replace the line `raise NotImplementedError(…)` with your code, and run the cell below it.
# `hint("concatenated_weights")` asks a question, `hint("concatenated_weights", 2)` explains the idea,
# and `hint("concatenated_weights", 3)` outlines the code.
#
# Read first, in the book: *The vanilla RNN › Unrolling through time*.

# %%
import numpy as np

from grader import check, hint, progress

# %% [markdown]
# ## One weight matrix instead of two
#
# Write `concatenated_weights`.
# Many papers put the input and the previous state side by side in one row, `[x_t, h_prev]`, of shape (B, D + H).
# A single matrix can then do the work of two.
# Build this matrix $W$, such that for *every* input and every state
#
# $$[x_t,\; h_{t-1}]\, W = x_t W_{xh} + h_{t-1} W_{hh}$$
#
# | name | shape | what it is |
# |---|---|---|
# | `W_xh` | (D, H) | the weights from the input to the state |
# | `W_hh` | (H, H) | the recurrent weights |
# | result `W` | (D + H, H) | the weights from both together to the state |
#
# **A worked example.** Take the numbers of your first step, in *The recurrence*:
# `x_t` = [[1, 2]], `h_prev` = [[0.70, 0.30]], `W_xh` = [[0.45, 0.15], [−0.55, −0.75]]
# and `W_hh` = [[0.10, 0.50], [0.40, −0.80]].
# The row is [1, 2, 0.70, 0.30]: the input, then the previous state.
# It has four entries, so `W` has four rows. Column 0 of `W` belongs to unit 0, column 1 to unit 1:
#
# | | row times column | sum |
# |---|---|---|
# | unit 0 | 1 · 0.45 + 2 · (−0.55) + 0.70 · 0.10 + 0.30 · 0.40 | −0.46 |
# | unit 1 | 1 · 0.15 + 2 · (−0.75) + 0.70 · 0.50 + 0.30 · (−0.80) | −1.24 |
#
# Adding the bias, [−0.35, 0.25], gives −0.81 and −0.99, the pre-activations of that step.
#
# Where D = H, several wrong matrices have the right shape too, so compare the numbers as well.
# When the check passes, you can read papers that write $W[x_t, h_{t-1}]$,
# and code that stores the weights of a layer in one array.


# %% exercise="concatenated_weights"
def concatenated_weights(W_xh, W_hh):
    """Join W_xh and W_hh into one matrix, to be multiplied by [x_t, h_prev].

    W_xh (D, H), W_hh (H, H) -> W (D + H, H), so that [x_t, h_prev] @ W is x_t @ W_xh + h_prev @ W_hh.
    """
    ### BEGIN SOLUTION
    return np.concatenate([W_xh, W_hh], axis=0)  # (D + H, H)
    ### END SOLUTION


# %% [markdown]
# ## Classifying a whole sequence
#
# Write `classify_last`.
# It reads each sequence to its end, and computes C logits $z$ from the last state, one for each class:
#
# $$z = h_{\text{last}} W_{hy} + b_y$$
#
# Sequences of different lengths share one array, so the shorter ones are filled up with **padding**,
# values without meaning.
# The last state of a row is therefore the state after its last *real* input.
#
# | name | shape | what it is |
# |---|---|---|
# | `x` | (B, T, D) | a batch of sequences, padded to T steps |
# | `lengths` | (B,) | the number of real steps in each row, from 1 to T |
# | `h_0` | (B, H) | the initial state |
# | `W_xh`, `W_hh`, `b_h` | (D, H), (H, H), (H,) | the recurrence: $h_t = \tanh(x_t W_{xh} + h_{t-1} W_{hh} + b_h)$ |
# | `W_hy`, `b_y` | (H, C), (C,) | the output layer |
# | result `logits` | (B, C) | one row for each sequence |
#
# **A worked example.** Two sequences (B = 2), one input, one unit, two classes:
# `W_xh` = [[0.80]], `W_hh` = [[−0.90]], `b_h` = [0.10], both initial states are 0.00, `W_hy` = [[−1.00, −1.50]],
# `b_y` = [0.35, −0.40].
#
# | row | `x[row, :, 0]` | length | states | last real state | logits |
# |---|---|---|---|---|---|
# | 0 | −0.50, 0.20, −1.20 | 3 | −0.29, 0.48, −0.86 | −0.86 | 1.21, 0.89 |
# | 1 | 1.60, 1.80, 1.90 | 1 | 0.88, 0.63, 0.78 | 0.88 | −0.53, −1.72 |
#
# Row 1 has length 1. Its other two inputs are padding, so the states computed from them are not used.
#
# You need the recurrence here: write its loop out again,
# or copy your `rnn_step` and `rnn_forward` from *The recurrence* into a cell of their own above this one.
# When the check passes, you can classify sequences of any length: reviews, sensor readings, melodies.


# %% exercise="classify_last"
def classify_last(x, lengths, h_0, W_xh, W_hh, b_h, W_hy, b_y):
    """Read padded sequences and compute the logits of each from its last real state.

    x (B, T, D), lengths (B,), h_0 (B, H), W_xh (D, H), W_hh (H, H), b_h (H,), W_hy (H, C), b_y (C,) -> logits (B, C).
    """
    ### BEGIN SOLUTION
    h, h_t = [], h_0
    for t in range(x.shape[1]):
        h_t = np.tanh(x[:, t] @ W_xh + h_t @ W_hh + b_h)  # (B, H)
        h.append(h_t)
    last = np.stack(h, axis=1)[np.arange(len(lengths)), lengths - 1]  # (B, H)
    return last @ W_hy + b_y  # (B, C)
    ### END SOLUTION


# %% [markdown]
# ## Your progress

# %% active="ipynb"
# progress()

# %% [markdown]
# ## A memory of one unit
#
# This section is not graded.
# The network below has a single unit, which controls a lamp:
# `+` switches the lamp on, `-` switches it off, and at `.` no button is pressed.
# Its weights were chosen by hand, not trained.
# The rows have different lengths, and their padding contains button presses that do not count.
# Which lamps are on at the end? Make a prediction, then run the cell.

# %% active="ipynb"
# rows = ["+", "+..........", "+....-", "-.-.-.+.....", "+-+-+-+-", "-..........."]
#
# T = max(map(len, rows))
# padded = [row.ljust(T, "-" if row[0] == "+" else "+") for row in rows]
# pressed = {"+": 1.0, "-": -1.0, ".": 0.0}
# x = np.array([[pressed[button] for button in row] for row in padded])  # (6, 12)
# lengths = np.array([len(row) for row in rows])
#
# try:
#     logits = classify_last(
#         x=x[:, :, None],  # (6, 12, 1)
#         lengths=lengths,
#         h_0=np.zeros((6, 1)),
#         W_xh=np.array([[6.0]]),  # large, so that a button press outweighs the previous state
#         W_hh=np.array([[2.0]]),  # without a press, the unit keeps its state
#         b_h=np.zeros(1),
#         W_hy=np.array([[-2.0, 2.0]]),  # classes: 0 is off, 1 is on
#         b_y=np.zeros(2),
#     )
#     for row, (off, on) in zip(rows, logits, strict=True):
#         print(f"{row:12}  {'●' if on > off else '○'}  logits: off {off:+.2f}, on {on:+.2f}")
# except NotImplementedError as not_yet:
#     print(f"This cell waits for your code.  {not_yet}")

# %% [markdown]
# The unit stores the last button press through up to eleven steps without input.
# `W_hh` makes this possible: replace 2.0 with 0.5 and see how both logits return to 0.
