# %% [markdown]
# # The recurrence
#
# A recurrent network reads a sequence one step at a time, and keeps what it has read so far in a *state*.
# In this notebook you build the step, then the loop that runs it over a whole sequence.
# That is the entire network: everything else in this chapter is put on top of it.
#
# **How this works.** In each exercise, replace the line `raise NotImplementedError(…)` with your code.
# Then run the cell below it.
# The check calls your function on a few small cases and tells you what it saw.
# Run it as often as you like.
# If you are stuck, `hint("rnn_step")` asks you a question, `hint("rnn_step", 2)` names the idea, and
# `hint("rnn_step", 3)` shows the shape of the code.
#
# Read first: *The vanilla RNN › One step*, in the book; for the last exercise also *Unrolling*.

# %%
import numpy as np

from grader import check, hint, progress

# %% [markdown]
# ## One step of the recurrence
#
# Write `rnn_step`.
# It takes the input of one time step and the state before it, and returns the state after it:
#
# $$h_t = \tanh(x_t W_{xh} + h_{t-1} W_{hh} + b_h)$$
#
# | name | shape | what it is |
# |---|---|---|
# | `x_t` | (B, D) | the input at this step, one row for each sequence of the batch |
# | `h_prev` | (B, H) | the state before this step, $h_{t-1}$ |
# | `W_xh` | (D, H) | weights from input to state |
# | `W_hh` | (H, H) | weights from state to state |
# | `b_h` | (H,) | bias |
# | result `h_t` | (B, H) | the state after this step |
#
# Inputs and states are rows, so every weight matrix stands on the right.
#
# **By hand, once.** One sequence (B = 1), two inputs (D = 2), two units (H = 2):
#
# $$x_t = \begin{bmatrix} 1 & 2 \end{bmatrix} \quad
# h_{t-1} = \begin{bmatrix} 0.20 & -0.10 \end{bmatrix} \quad
# W_{xh} = \begin{bmatrix} 0.50 & -0.30 \\ 0.10 & 0.40 \end{bmatrix} \quad
# W_{hh} = \begin{bmatrix} 0.60 & 0.10 \\ -0.20 & 0.30 \end{bmatrix} \quad
# b_h = \begin{bmatrix} 0.10 & -0.20 \end{bmatrix}$$
#
# | part | unit 0 | unit 1 |
# |---|---|---|
# | from the input | 1 · 0.50 + 2 · 0.10 = 0.70 | 1 · (−0.30) + 2 · 0.40 = 0.50 |
# | from the state | 0.20 · 0.60 + (−0.10) · (−0.20) = 0.14 | 0.20 · 0.10 + (−0.10) · 0.30 = −0.01 |
# | bias | 0.10 | −0.20 |
# | sum | 0.94 | 0.29 |
# | tanh of the sum | 0.74 | 0.28 |
#
# So `h_t` is `[[0.74, 0.28]]`, to two decimals.
#
# When the check passes, you have the one piece of code that every network in this chapter repeats.


# %% exercise="rnn_step"
def rnn_step(x_t, h_prev, W_xh, W_hh, b_h):
    """One step of a tanh RNN.

    x_t (B, D), h_prev (B, H), W_xh (D, H), W_hh (H, H), b_h (H,) -> h_t (B, H).  Equation (rnn-step).
    """
    ### BEGIN SOLUTION
    return np.tanh(x_t @ W_xh + h_prev @ W_hh + b_h)  # (B, H)
    ### END SOLUTION


# %% [markdown]
# ## The whole sequence
#
# Write `rnn_forward`.
# It starts from `h_0`, reads `x` from the first time step to the last, and returns *all* the states:
#
# $$h_t = \tanh(x_t W_{xh} + h_{t-1} W_{hh} + b_h), \qquad t = 1, \dots, T$$
#
# | name | shape | what it is |
# |---|---|---|
# | `x` | (B, T, D) | a batch of sequences; `x[:, t]` is one time step of all of them |
# | `h_0` | (B, H) | the state before the first step; it need not be zero |
# | `W_xh`, `W_hh`, `b_h` | as above | the *same* weights at every step |
# | result `h` | (B, T, H) | `h[:, t]` is the state after reading `x[:, t]` |
#
# The equation counts steps from 1, Python from 0.
# So the state $h_1$ is `h[:, 0]`, and $h_0$ is not in the result.
#
# **By hand, once.** Take the weights and the state from above, call that state `h_0`, and read three inputs:
#
# | t in Python | `x[0, t]` | from the input | from the state | with the bias | `h[0, t]` |
# |---|---|---|---|---|---|
# | 0 | [1, 2] | [0.70, 0.50] | [0.14, −0.01] | [0.94, 0.29] | [0.74, 0.28] |
# | 1 | [0, 0] | [0.00, 0.00] | [0.38, 0.16] | [0.48, −0.04] | [0.45, −0.04] |
# | 2 | [−1, 1] | [−0.40, 0.70] | [0.28, 0.03] | [−0.02, 0.53] | [−0.02, 0.49] |
#
# Look at the second row. The input is silent, and yet the state is not: it remembers.
#
# You may call your own `rnn_step`, or write the step out again.
# When the check passes, you can run a recurrent network over any sequence, of any length.


# %% exercise="rnn_forward"
def rnn_forward(x, h_0, W_xh, W_hh, b_h):
    """Run a tanh RNN over a batch of sequences.

    x (B, T, D), h_0 (B, H), W_xh (D, H), W_hh (H, H), b_h (H,) -> h (B, T, H).  Equation (rnn-unrolled).
    """
    ### BEGIN SOLUTION
    h, h_t = [], h_0
    for t in range(x.shape[1]):
        h_t = rnn_step(x[:, t], h_t, W_xh, W_hh, b_h)  # (B, H)
        h.append(h_t)
    return np.stack(h, axis=1)  # (B, T, H)
    ### END SOLUTION


# %% [markdown]
# ## One matrix instead of two
#
# Write `concatenated_weights`.
# Put the input and the state side by side in one row, `[x_t, h_prev]`, of shape (B, D + H).
# Then one matrix can do the work of two. Build that matrix $W$, so that for *every* input and every state
#
# $$[x_t,\; h_{t-1}]\, W = x_t W_{xh} + h_{t-1} W_{hh}$$
#
# | name | shape | what it is |
# |---|---|---|
# | `W_xh` | (D, H) | weights from input to state |
# | `W_hh` | (H, H) | weights from state to state |
# | result `W` | (D + H, H) | weights from the two together to the state |
#
# **By hand, once.** With the numbers from the first exercise the row is `[1, 2, 0.20, −0.10]`: the input,
# then the state.
# It has four entries, so `W` has four rows. Unit 0 reads them with the first column of `W`, unit 1 with the second:
#
# | | entry by entry | sum |
# |---|---|---|
# | unit 0 | 1 · 0.50 + 2 · 0.10 + 0.20 · 0.60 + (−0.10) · (−0.20) | 0.84 |
# | unit 1 | 1 · (−0.30) + 2 · 0.40 + 0.20 · 0.10 + (−0.10) · 0.30 | 0.49 |
#
# Add the bias, and 0.94 and 0.29 are there again: it is the same network.
#
# Where D = H, several wrong matrices have a shape that fits as well.
# The numbers tell them apart, and so does the check.
#
# When the check passes, you can read papers that write $W[x_t, h_{t-1}]$,
# and code that keeps all its weights in one array.


# %% exercise="concatenated_weights"
def concatenated_weights(W_xh, W_hh):
    """The one matrix that does what W_xh and W_hh do together.

    W_xh (D, H), W_hh (H, H) -> W (D + H, H), so that [x_t, h_prev] @ W is x_t @ W_xh + h_prev @ W_hh.
    """
    ### BEGIN SOLUTION
    return np.concatenate([W_xh, W_hh], axis=0)  # (D + H, H)
    ### END SOLUTION


# %% [markdown]
# ## Where you are

# %% active="ipynb"
# progress()

# %% [markdown]
# ## Strike the bell
#
# Nothing is graded here.
# The network below has two units. Its `W_hh` turns the state by a tenth of a circle at every step,
# and neither stretches nor shrinks it.
# We touch the network once, at the first step, and then leave it alone.
# What will the first unit do? Say it to yourself, then run the cell.

# %% active="ipynb"
# tenth = 2 * np.pi / 10
# W_hh = np.array([[np.cos(tenth), np.sin(tenth)], [-np.sin(tenth), np.cos(tenth)]])
# W_xh, b_h = np.array([[1.0, 0.0]]), np.zeros(2)
#
# x = np.zeros((1, 24, 1))  # one sequence, 24 steps, one input
# x[0, 0, 0] = 1.0  # one touch, then silence
#
# try:
#     h = rnn_forward(x, np.zeros((1, 2)), W_xh, W_hh, b_h)  # (1, 24, 2)
#     h_next = rnn_step(np.zeros((1, 1)), h[:, -1], W_xh, W_hh, b_h)  # (1, 2), one step further
#     for t, h_t in enumerate([*h[0], h_next[0]]):
#         print(f"t = {t:2d}  {h_t[0]:+.2f} ", " " * round(20 + 24 * h_t[0]) + "●")
# except NotImplementedError as not_yet:
#     print(f"This cell waits for your code.  {not_yet}")

# %% [markdown]
# The input has been silent since the first step: all that swings is the memory.
# It also fades, because each `tanh` presses the state towards zero.
# How fast a memory fades, and how to make it last, is a question for the chapters to come.
