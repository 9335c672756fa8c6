# %% [markdown]
# # Backward through time
#
# A recurrent network uses the same weights at every time step, so every step contributes to their gradients.
# In this notebook you add up these contributions, from the last step of a sequence to the first.
# The algorithm is **backpropagation through time**, and with it you can train the networks of chapter 1.
#
# As always, replace the line `raise NotImplementedError(…)` with your code, and run the cell below it.
# `hint("rnn_backward")` asks you a question, `hint("rnn_backward", 2)` explains the idea,
# and `hint("rnn_backward", 3)` outlines the code.
#
# Read first, in the book: *Backpropagation through time › The backward pass through time*.
# You also need the gradients of a single step, from the notebook *Gradients by hand*.
# Write them again, or copy your `rnn_step_backward` into a new cell above that of `rnn_backward`.

# %%
import numpy as np

from grader import check, hint, progress

# %% [markdown]
# ## The whole sequence, backward
#
# Write `rnn_backward`.
# The forward pass has run, and all its states have been stored:
#
# $$a_t = x_t W_{xh} + h_{t-1} W_{hh} + b_h, \qquad h_t = \tanh(a_t), \qquad t = 1, \dots, T$$
#
# Your function goes through the steps again, this time from the last to the first,
# and returns the gradients with respect to the inputs, the initial state, the weights and the bias.
#
# **Two contributions to one gradient.** The state $h_t$ influences the loss in two ways:
# through the output at step $t$, and through the next state $h_{t+1}$.
# Its gradient is therefore a sum of two contributions:
#
# $$dh_t = dh_t^{\text{out}} + dh_t^{\text{next}}$$
#
# Here $dh_t = \partial L / \partial h_t$ is the **total gradient**, `dh_t` in code.
# $dh_t^{\text{out}}$ is the contribution of the output at step $t$, which you are given as `dh[:, t]`.
# (There may be an output at every step, or only at the last one.
# At a step without an output, this contribution is zero.)
# $dh_t^{\text{next}}$ is the contribution of the next step, `dh_next` in code, which you compute yourself.
# In *Gradients by hand* the two had already been added up for you: the `dh_t` there was this total gradient.
#
# **A worked example with single numbers.** D = 1, H = 1, three steps.
# `W_xh` = −0.50, `W_hh` = 0.25, `b_h` = −0.18, `h_0` = 0.70.
# The three inputs were 0.40, −1.55 and −1.50, and the three states, rounded, −0.20, 0.50 and 0.60.
# Steps are counted as in Python, from 0, so `h[0]` is the state *after* the first step, $h_1$ in the equations above.
# Do not confuse `dh[0]` with `dh_0`: the latter is the gradient with respect to `h_0`, the state before the first step.
# Read the table from the top, because the last step comes first. The derivative in it is that of the tanh.
#
# | t | `dh[t]` | `dh_next`, from t + 1 | total, `dh_t` | derivative, `1 − h[t]²` | `da_t` | `dh_next`, for t − 1 |
# |---|---|---|---|---|---|---|
# | 2 | −1.75 | 0.00 | −1.75 | 0.64 | −1.75 · 0.64 = −1.12 | −1.12 · 0.25 = −0.28 |
# | 1 | 1.08 | −0.28 | 0.80 | 0.75 | 0.80 · 0.75 = 0.60 | 0.60 · 0.25 = 0.15 |
# | 0 | 1.10 | 0.15 | 1.25 | 0.96 | 1.25 · 0.96 = 1.20 | 1.20 · 0.25 = 0.30 |
#
# The last column is computed from `da_t` alone, so each row *replaces* the `dh_next` of the row above it.
# What the bottom row passes back belongs to the state before the first step: `dh_0` = 0.30.
#
# Each input was used once, so `dx[t]` is `da_t` · (−0.50), which gives −0.60, −0.30 and 0.56 for t = 0, 1 and 2.
# The weights and the bias were used at every step, so each step *adds* its part to their gradients:
#
# | t | `x[t]` | previous state | part of `dW_xh` | part of `dW_hh` | part of `db_h` |
# |---|---|---|---|---|---|
# | 2 | −1.50 | 0.50 | 1.68 | −0.56 | −1.12 |
# | 1 | −1.55 | −0.20 | −0.93 | −0.12 | 0.60 |
# | 0 | 0.40 | 0.70 | 0.48 | 0.84 | 1.20 |
# | sum | | | 1.23 | 0.16 | 0.68 |
#
# At t = 0 the previous state is `h_0`, which counts like any other.
#
# **What accumulates and what does not.** The gradient of a value is the sum of the contributions
# from all the places where the value was used.
# A weight was used at every step, so its gradient collects a term in every pass of the loop.
# A state was used twice, by its output and by the next step, so its gradient has two terms and no more:
# `dh_next` is not a sum over the steps, because in each pass of the loop it belongs to another state.
#
# **One sequence, half worked out.** One input, two units, two steps, one sequence:
#
# $$x = \begin{bmatrix} -1.00 \\ 2.00 \end{bmatrix} \quad
# h_0 = \begin{bmatrix} 0.50 & -0.25 \end{bmatrix} \quad
# h = \begin{bmatrix} 0.50 & -0.60 \\ 0.80 & 0.60 \end{bmatrix} \quad
# dh = \begin{bmatrix} 0.30 & -0.10 \\ 1.00 & 0.50 \end{bmatrix}$$
#
# $$W_{xh} = \begin{bmatrix} 0.30 & 0.55 \end{bmatrix} \qquad
# W_{hh} = \begin{bmatrix} 0.50 & -0.25 \\ 1.00 & 0.75 \end{bmatrix}$$
#
# (The states were computed with `b_h` = [0.85, 0.17] and rounded.
# No gradient needs `b_h`, because the derivatives of the tanh depend on the states alone.)
#
# | t | `dh[0, t]` | `dh_next`, from t + 1 | total, `dh_t` | derivatives | `da_t` | `dh_next`, for t − 1 |
# |---|---|---|---|---|---|---|
# | 1 | [1.00, 0.50] | [0.00, 0.00] | [1.00, 0.50] | [0.36, 0.64] | [0.36, 0.32] | [0.10, 0.60] |
# | 0 | [0.30, −0.10] | [0.10, 0.60] | [0.40, 0.50] | [0.75, 0.64] | ? | ? |
#
# To see where the 0.10 in the last column comes from, follow unit 0 of the previous state.
# It feeds both units, through the first row of $W_{hh}$, so its `dh_next` is 0.36 · 0.50 + 0.32 · (−0.25) = 0.10.
#
# | t | `dx[0, t]` | part of `dW_xh` | part of `dW_hh` | part of `db_h` |
# |---|---|---|---|---|
# | 1 | 0.28 | [0.72, 0.64] | [[0.18, 0.16], [−0.22, −0.19]] | [0.36, 0.32] |
# | 0 | ? | ? | ? | ? |
#
# Fill in the question marks before you write any code, and add up the parts of each gradient.
# The first case of the check is exactly this example, but the check sees only your function.
# Once it passes, compare your numbers with those under *What you wrote down*, at the end of this notebook.
#
# **Your task: the whole batch.**
#
# | name | shape | what it is |
# |---|---|---|
# | `dh` | (B, T, H) | for each state, the contribution of its output to the gradient, $dh_t^{\text{out}}$ |
# | `x` | (B, T, D) | the inputs |
# | `h_0` | (B, H) | the initial state; it need not be zero |
# | `h` | (B, T, H) | all states, from the forward pass; `h[:, t]` is the state after reading `x[:, t]` |
# | `W_xh`, `W_hh` | (D, H), (H, H) | the weights |
# | result `dx`, `dh_0` | (B, T, D), (B, H) | the gradients with respect to the inputs and to `h_0` |
# | result `dW_xh`, `dW_hh`, `db_h` | (D, H), (H, H), (H,) | those of weights and bias, summed over batch and time |
#
# Return all five, in this order. Each of them earns points of its own.
# When the check passes, you have written what `loss.backward()` does for a recurrent layer with tanh.


# %% exercise="rnn_backward"
def rnn_backward(dh, x, h_0, h, W_xh, W_hh):
    """The gradients of a tanh RNN over a batch of sequences, by backpropagation through time.

    dh (B, T, H), x (B, T, D), h_0 (B, H), h (B, T, H), W_xh (D, H), W_hh (H, H)
    -> dx (B, T, D), dh_0 (B, H), dW_xh (D, H), dW_hh (H, H), db_h (H,).  Equation (rnn-backward).
    """
    ### BEGIN SOLUTION
    dx = np.zeros(x.shape)
    dW_xh, dW_hh, db_h = np.zeros(W_xh.shape), np.zeros(W_hh.shape), np.zeros(len(W_hh))
    dh_next = np.zeros(h_0.shape)  # (B, H): no step follows the last one
    for t in reversed(range(x.shape[1])):
        h_prev = h[:, t - 1] if t > 0 else h_0  # (B, H)
        da_t = (dh[:, t] + dh_next) * (1 - h[:, t] ** 2)  # (B, H)
        dx[:, t] = da_t @ W_xh.T  # (B, D)
        dW_xh += x[:, t].T @ da_t
        dW_hh += h_prev.T @ da_t
        db_h += da_t.sum(axis=0)
        dh_next = da_t @ W_hh.T  # (B, H)
    return dx, dh_next, dW_xh, dW_hh, db_h
    ### END SOLUTION


# %% [markdown]
# ## What you wrote down
#
# The next cell runs your `rnn_backward` on the sequence of two steps above.
# You had one entry of `dx` to find. The gradients of the weights and the bias are the sums of your parts.

# %% active="ipynb"
# dh, h = np.array([[[[0.30, -0.10], [1.00, 0.50]]], [[[0.50, -0.60], [0.80, 0.60]]]])
# x, h_0 = np.array([[[-1.00], [2.00]]]), np.array([[0.50, -0.25]])
# W_xh, W_hh = np.array([[0.30, 0.55]]), np.array([[0.50, -0.25], [1.00, 0.75]])
#
# try:
#     gradients = rnn_backward(dh, x, h_0, h, W_xh, W_hh)
#     for name, gradient in zip(("dx", "dh_0", "dW_xh", "dW_hh", "db_h"), gradients, strict=True):
#         print(f"{name:6s}", np.round(gradient, 2).tolist())
# except (NotImplementedError, TypeError, ValueError, IndexError) as not_yet:
#     print(f"This cell waits for your code.  {not_yet}")

# %% [markdown]
# ## Your progress

# %% active="ipynb"
# progress()

# %% [markdown]
# ## How far back does the gradient reach?
#
# This section is not graded.
# A network with eight units reads an input at each of twelve steps, and the loss depends only on its last state.
# For three sizes of `W_hh`, the cell below calls your `rnn_backward` and draws the norm (the length) of the
# gradient with respect to the input of each step, relative to the largest one.
# At which steps will it be largest, and what will the size of `W_hh` change? Write down a guess, then run the cell.

# %% active="ipynb"
# rng = np.random.default_rng(3)
# x, h_0, W_xh = rng.normal(size=(1, 12, 5)), np.zeros((1, 8)), 0.05 * rng.normal(size=(5, 8))
# rotation, _ = np.linalg.qr(rng.normal(size=(8, 8)))  # orthogonal: it does not change the length of a state
#
# try:
#     for size in (0.5, 0.9, 1.3):
#         W_hh, h_t, states = size * rotation, h_0, []
#         for t in range(12):
#             h_t = np.tanh(x[:, t] @ W_xh + h_t @ W_hh)  # (1, 8)
#             states.append(h_t)
#         dh = np.zeros((1, 12, 8))
#         dh[:, -1] = rng.normal(size=(1, 8))  # only the last state has an output
#         dx, *_ = rnn_backward(dh, x, h_0, np.stack(states, axis=1), W_xh, W_hh)
#         norms = np.linalg.norm(dx[0], axis=1)  # (12,): one for each step
#         print(f"size {size}")
#         for t, norm in enumerate(norms / norms.max()):
#             print(f"  x[{t:2d}]  {norm:4.2f} ", "●" * round(40 * norm))
# except (NotImplementedError, TypeError, ValueError, IndexError) as not_yet:
#     print(f"This cell waits for your code.  {not_yet}")

# %% [markdown]
# With the small `W_hh`, only the last few inputs have a noticeable gradient,
# so this network can hardly learn anything from the first ones.
# With the middle size the gradient reaches back to the first step, and with the large one it is largest at that step,
# although it does not grow at every step on its way there.
# A gradient that keeps shrinking over many steps, or keeps growing, is said to **vanish** or to **explode**.
# Why this happens, and what helps against it, is the subject of the next chapter.
