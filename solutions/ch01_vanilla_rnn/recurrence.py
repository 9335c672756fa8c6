# %% [markdown]
# # The recurrence
#
# A recurrent network reads a sequence one step at a time and summarises what it has read in a **hidden state**.
# In this notebook you write one step of such a network, and then the loop that runs it over a whole sequence.
# Together they form the recurrent layer on which the rest of this chapter builds.
#
# **How this works.** In each exercise, replace the line `raise NotImplementedError(…)` with your code.
# Then run the cell below it: the check calls your function on a few small cases and reports what it found.
# You can run it as often as you like.
# If you are stuck, `hint("rnn_step")` asks a question, `hint("rnn_step", 2)` explains the idea, and
# `hint("rnn_step", 3)` outlines the code.
#
# Read first, in the book: *The vanilla RNN › One step of a recurrent network*.

# %%
import numpy as np

from grader import check, hint, progress

# %% [markdown]
# ## One step of the recurrence
#
# Write `rnn_step`.
# It computes the new state from the input at this step and the previous state:
#
# $$a_t = x_t W_{xh} + h_{t-1} W_{hh} + b_h, \qquad h_t = \tanh(a_t)$$
#
# The sum $a_t$, to which the tanh is applied, is called the **pre-activation**.
#
# | name | shape | what it is |
# |---|---|---|
# | `x_t` | (B, D) | the input at this step, one row for each sequence of the batch |
# | `h_prev` | (B, H) | the previous state, $h_{t-1}$ |
# | `W_xh` | (D, H) | the weights from the input to the state |
# | `W_hh` | (H, H) | the recurrent weights, from the previous state to the new one |
# | `b_h` | (H,) | the bias |
# | result `h_t` | (B, H) | the new state |
#
# Inputs and states are rows, so each weight matrix stands to the right of what it multiplies.
#
# **A worked example.** One sequence (B = 1), two inputs (D = 2), two units (H = 2):
#
# $$x_t = \begin{bmatrix} 1 & 2 \end{bmatrix} \quad
# h_{t-1} = \begin{bmatrix} 0.70 & 0.30 \end{bmatrix} \quad
# W_{xh} = \begin{bmatrix} 0.45 & 0.15 \\ -0.55 & -0.75 \end{bmatrix} \quad
# W_{hh} = \begin{bmatrix} 0.10 & 0.50 \\ 0.40 & -0.80 \end{bmatrix} \quad
# b_h = \begin{bmatrix} -0.35 & 0.25 \end{bmatrix}$$
#
# | contribution | unit 0 | unit 1 |
# |---|---|---|
# | input | 1 · 0.45 + 2 · (−0.55) = −0.65 | 1 · 0.15 + 2 · (−0.75) = −1.35 |
# | previous state | 0.70 · 0.10 + 0.30 · 0.40 = 0.19 | 0.70 · 0.50 + 0.30 · (−0.80) = 0.11 |
# | bias | −0.35 | 0.25 |
# | pre-activation | −0.81 | −0.99 |
# | new state, its tanh | −0.67 | −0.76 |
#
# So `h_t` is `[[-0.67, -0.76]]`, to two decimals.
#
# When the check passes, you have the piece of code that every network in this chapter repeats.


# %% exercise="rnn_step"
def rnn_step(x_t, h_prev, W_xh, W_hh, b_h):
    """One step of a tanh RNN.

    x_t (B, D), h_prev (B, H), W_xh (D, H), W_hh (H, H), b_h (H,) -> h_t (B, H).  Equation (rnn-step).
    """
    ### BEGIN SOLUTION
    return np.tanh(x_t @ W_xh + h_prev @ W_hh + b_h)  # (B, H)
    ### END SOLUTION


# %% [markdown]
# ## The forward pass over a sequence
#
# Write `rnn_forward`.
# It starts from `h_0`, applies the same step to each input in turn, and returns *all* the states:
#
# $$h_t = \tanh(x_t W_{xh} + h_{t-1} W_{hh} + b_h), \qquad t = 1, \dots, T$$
#
# | name | shape | what it is |
# |---|---|---|
# | `x` | (B, T, D) | a batch of sequences; `x[:, t]` holds the inputs of one time step, a row for each sequence |
# | `h_0` | (B, H) | the initial state; it need not be zero |
# | `W_xh`, `W_hh`, `b_h` | as above | the *same* weights at every step |
# | result `h` | (B, T, H) | `h[:, t]` is the state after reading `x[:, t]` |
#
# The equation counts the steps from 1, but Python counts from 0.
# So the state $h_1$ is `h[:, 0]`, while $h_0$ is the separate array `h_0` and not part of the result.
#
# **A worked example.** Take the weights from above, let `h_0` be the previous state from above, and read three inputs:
#
# | t in Python | `x[0, t]` | from the input | from the previous state | pre-activation | `h[0, t]` |
# |---|---|---|---|---|---|
# | 0 | [1, 2] | [−0.65, −1.35] | [0.19, 0.11] | [−0.81, −0.99] | [−0.67, −0.76] |
# | 1 | [0, 0] | [0.00, 0.00] | [−0.37, 0.27] | [−0.72, 0.52] | [−0.62, 0.48] |
# | 2 | [−1, 1] | [−1.00, −0.90] | [0.13, −0.69] | [−1.22, −1.34] | [−0.84, −0.87] |
#
# At t = 1 the input is zero, so the new state depends only on the previous one and the bias.
# This is how the network remembers: what it read at t = 0 reaches the later states through `W_hh`.
#
# You may call your own `rnn_step` or write the step out again.
# When the check passes, you can run a recurrent layer over sequences of any length.


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
# ## Your progress

# %% active="ipynb"
# progress()

# %% [markdown]
# ## A network that oscillates
#
# This section is not graded.
# The network below has two units. Its `W_hh` rotates the state by a tenth of a full turn at every step,
# without changing its length.
# The first input is 1 and all later inputs are 0.
# What will the first unit do? Make a prediction, then run the cell.

# %% active="ipynb"
# tenth = 2 * np.pi / 10
# W_hh = np.array([[np.cos(tenth), np.sin(tenth)], [-np.sin(tenth), np.cos(tenth)]])
# W_xh, b_h = np.array([[1.0, 0.0]]), np.zeros(2)
#
# x = np.zeros((1, 24, 1))  # one sequence, 24 steps, one input
# x[0, 0, 0] = 1.0  # an impulse at the first step, then zeros
#
# try:
#     h = rnn_forward(x, np.zeros((1, 2)), W_xh, W_hh, b_h)  # (1, 24, 2)
#     h_next = rnn_step(np.zeros((1, 1)), h[:, -1], W_xh, W_hh, b_h)  # (1, 2), one step further
#     for t, h_t in enumerate([*h[0], h_next[0]]):
#         print(f"t = {t:2d}  {h_t[0]:+.2f} ", " " * round(20 + 24 * h_t[0]) + "●")
# except NotImplementedError as not_yet:
#     print(f"This cell waits for your code.  {not_yet}")

# %% [markdown]
# Only the first input was not zero, so the oscillation comes from the recurrent weights.
# It dies out because the tanh pulls the state towards zero at every step, and a rotation does not make up for that.
# How long a state can remember, and how it can be made to remember longer, are questions for later chapters.
