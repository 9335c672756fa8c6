# %% [markdown]
# # Backward through the GRU
#
# In a tanh RNN, the previous state influences the next one along a single path, through the weights and the tanh.
# In a GRU there are four.
# In this notebook you write the backward pass of one step on your own, with autograd as the judge.
# Allow about 45 minutes.
#
# As always, replace the line `raise NotImplementedError(…)` with your code, and run the cell below it.
# `hint("gru_step_backward")` asks you a question, `hint("gru_step_backward", 2)` explains the idea,
# and `hint("gru_step_backward", 3)` outlines the code.
#
# Read first, in the book: *LSTM, GRU and deep networks › The gated recurrent unit*.
# You need the backward pass of a tanh step (chapter 2, *Gradients by hand*)
# and the gates' derivatives (*Backward through the LSTM*).
#
# The logistic function and the forward step are given: `gru_step` is a solution of the previous notebook.

# %%
import numpy as np

from grader import check, hint, progress


def sigmoid(a):
    """The logistic function of every entry of an array."""
    return 0.5 + 0.5 * np.tanh(0.5 * a)


def gru_step(x_t, h_prev, W_x, W_h, b_x, b_h):
    """One step of a GRU, with the blocks of columns in the order r, z, n."""
    from_x = np.split(x_t @ W_x + b_x, 3, axis=1)  # three blocks, (B, H) each
    from_h = np.split(h_prev @ W_h + b_h, 3, axis=1)
    r, z = sigmoid(from_x[0] + from_h[0]), sigmoid(from_x[1] + from_h[1])
    n = np.tanh(from_x[2] + r * from_h[2])
    return n + z * (h_prev - n)


# %% [markdown]
# ## One GRU step backward
#
# Write `gru_step_backward`.
# One step of the GRU has run, in PyTorch's convention:
#
# $$r_t = \sigma(x_t W_{xr} + b_{xr} + h_{t-1} W_{hr} + b_{hr}), \qquad
# z_t = \sigma(x_t W_{xz} + b_{xz} + h_{t-1} W_{hz} + b_{hz})$$
#
# $$n_t = \tanh\big(x_t W_{xn} + b_{xn} + r_t \odot (h_{t-1} W_{hn} + b_{hn})\big), \qquad
# h_t = (1 - z_t) \odot n_t + z_t \odot h_{t-1}$$
#
# Suppose you know the total gradient $dh_t = \partial L / \partial h_t$.
# Your function passes it back through the step and returns the gradients with respect to the input, the previous
# state, the weights and both biases.
# Nothing was stored in the forward pass, so your function first computes what it needs from the inputs of the step.
#
# **A map.** Each arrow says that what is on its left is used to compute what is on its right.
# The numbers mark the four paths that begin at the previous state:
#
# ```
# h_prev ──(1)────────────────────────────────────────────────┐
# h_prev ──(2)── update gate's pre-activation ──▶ z ──────────┤
# h_prev ──(3)── h_prev @ W_hn + b_hn ──┐                     ├──▶ h_t
#                                       ⊙ ──▶ a_n ──▶ n ──────┘
# h_prev ──(4)── reset gate's ──▶ r ────┘      ▲
#                pre-activation                │
#                                   x_t @ W_xn + b_xn
# ```
#
# The input has three such paths: to the pre-activations of r, z and n.
#
# **Your plan.** Go through the map from right to left, and answer these questions on paper before you write any code:
#
# 1. $h_t$ is a sum of two products of $n_t$, $z_t$ and $h_{t-1}$. What is the gradient of each of them, for $h_{t-1}$
#    along path 1 only? The update gate occurs in both products.
# 2. Which derivative leads from $n_t$ to its pre-activation, and which from a gate to its pre-activation?
# 3. Inside the tanh there is a sum, and in it a product. What is the gradient of each of the three:
#    the input's side, the reset gate, and the state's side $h_{t-1} W_{hn} + b_{hn}$?
# 4. Each of the three blocks has a pre-activation with two sides.
#    In which block do the two sides have *different* gradients?
# 5. From here on, every side is a matrix product plus a bias, as in `rnn_step_backward`.
#    What has to be added to `dh_prev` at the end?
#
# **An example with single numbers.** With D = 1 and H = 1, each block is a single column:
# $x_t$ = 0.50, $h_{t-1}$ = −0.80, `W_x` = [[0.70, −0.60, 1.20]], `W_h` = [[−1.10, 0.90, 1.50]],
# `b_x` = [0.20, 0.40, −0.30], `b_h` = [0.10, 0.30, 0.60] and $dh_t$ = 2.00.
# The forward pass and the correct results, rounded, are:
#
# | $r_t$ | $z_t$ | $n_t$ | $h_t$ |
# |---|---|---|---|
# | 0.82 | 0.42 | −0.19 | −0.45 |
#
# | | path 1 | path 2 | path 3 | path 4 | sum |
# |---|---|---|---|---|---|
# | contribution to `dh_prev` | 0.84 | −0.27 | 1.38 | 0.11 | 2.06 |
#
# | | block r | block z | block n |
# |---|---|---|---|
# | `db_x` | −0.10 | −0.30 | 1.12 |
# | `db_h` | −0.10 | −0.30 | 0.92 |
#
# If you calculate with the rounded numbers, your results may differ slightly in the second decimal.
# This is the first case of the check.
#
# | name | shape | what it is |
# |---|---|---|
# | `dh_t` | (B, H) | the total gradient of the new state, $\partial L / \partial h_t$ |
# | `x_t`, `h_prev` | (B, D), (B, H) | the input and the previous state |
# | `W_x`, `W_h` | (D, 3H), (H, 3H) | the weights, in the blocks r, z, n |
# | `b_x`, `b_h` | (3H,) | the biases, in the same blocks |
# | result `dx_t`, `dh_prev` | (B, D), (B, H) | the gradients with respect to the input and the previous state |
# | result `dW_x`, `dW_h` | (D, 3H), (H, 3H) | the gradients with respect to the weights, in the same blocks |
# | result `db_x`, `db_h` | (3H,) | the gradients with respect to the biases, in the same blocks |
#
# `dh_prev` is what this step passes back, $dh_{t-1}^{\text{next}}$ on the page:
# in a loop over time, the gradient from the output at step $t-1$ is added to it.
#
# Return all six, in this order. Each of them earns points of its own.
# All rows of the batch share the weights and the biases, so their gradients are sums over the batch.


# %% exercise="gru_step_backward"
def gru_step_backward(dh_t, x_t, h_prev, W_x, W_h, b_x, b_h):
    """The gradients of one step of a GRU in PyTorch's convention, with the blocks of columns in the order r, z, n.

    dh_t (B, H), x_t (B, D), h_prev (B, H), W_x (D, 3H), W_h (H, 3H), b_x (3H,), b_h (3H,)
    -> dx_t (B, D), dh_prev (B, H), dW_x (D, 3H), dW_h (H, 3H), db_x (3H,), db_h (3H,).  Equation (gru-step-backward).
    """
    ### BEGIN SOLUTION
    x_r, x_z, x_n = np.split(x_t @ W_x + b_x, 3, axis=1)  # (B, H) each
    h_r, h_z, h_n = np.split(h_prev @ W_h + b_h, 3, axis=1)
    r = sigmoid(x_r + h_r)
    z = sigmoid(x_z + h_z)
    n = np.tanh(x_n + r * h_n)
    dn = dh_t * (1 - z)
    dz = dh_t * (h_prev - n)
    da_n = dn * (1 - n**2)
    dr = da_n * h_n
    da_r = dr * r * (1 - r)
    da_z = dz * z * (1 - z)
    da_x = np.concatenate([da_r, da_z, da_n], axis=1)  # (B, 3H), the input's side
    da_h = np.concatenate([da_r, da_z, da_n * r], axis=1)  # (B, 3H), the state's side
    dx_t = da_x @ W_x.T
    dh_prev = dh_t * z + da_h @ W_h.T
    dW_x, dW_h = x_t.T @ da_x, h_prev.T @ da_h
    db_x, db_h = da_x.sum(axis=0), da_h.sum(axis=0)
    return dx_t, dh_prev, dW_x, dW_h, db_x, db_h
    ### END SOLUTION


# %% [markdown]
# ## Your progress

# %% active="ipynb"
# progress()

# %% [markdown]
# ## How far back does the gradient reach?
#
# This section is not graded.
# In chapter 3 you measured how a gradient shrinks on its way back through a tanh RNN. Here is the same measurement for
# a GRU. Only the last of 60 states has a gradient, and the cell prints its norm after
# 10, 20, 40 and 59 steps back, relative to the last state. As in the previous notebook, the bias $b$ of the update
# gate is the same for all 16 units, and all other weights are random.
#
# Beside it you see a tanh RNN whose weights are those of the GRU's first block. Which bias does the GRU need in order
# to pass back more of the gradient than the tanh RNN? Write down a guess, then run the cell.

# %% active="ipynb"
# rng = np.random.default_rng(0)
# D, H, T = 4, 16, 60
# x, dh_T = rng.normal(size=(T, 1, D)), rng.normal(size=(1, H))
# W_x, W_h = rng.uniform(-0.25, 0.25, size=(D, 3 * H)), rng.uniform(-0.25, 0.25, size=(H, 3 * H))
# b_h, at = np.zeros(3 * H), (10, 20, 40, 59)
#
#
# def shown(norms):
#     return "   ".join(f"lag {lag}: {norms[lag] / norms[0]:.0e}" for lag in at)
#
#
# try:
#     for b in (-2.0, 0.0, 2.0, 4.0):
#         b_x = np.concatenate([np.zeros(H), np.full(H, b), np.zeros(H)])
#         h = [np.zeros((1, H))]
#         for x_t in x:
#             h.append(gru_step(x_t, h[-1], W_x, W_h, b_x, b_h))
#         dh, norms = dh_T, [np.linalg.norm(dh_T)]
#         for x_t, h_prev in zip(x[:0:-1], h[-2:0:-1]):
#             dh = gru_step_backward(dh, x_t, h_prev, W_x, W_h, b_x, b_h)[1]
#             norms.append(np.linalg.norm(dh))
#         print(f"GRU, b = {b:2.0f}   {shown(norms)}")
#     h = [np.zeros((1, H))]
#     for x_t in x:
#         h.append(np.tanh(x_t @ W_x[:, :H] + h[-1] @ W_h[:, :H]))
#     dh, norms = dh_T, [np.linalg.norm(dh_T)]
#     for h_t in h[:1:-1]:
#         dh = (dh * (1 - h_t**2)) @ W_h[:, :H].T
#         norms.append(np.linalg.norm(dh))
#     print(f"tanh RNN      {shown(norms)}")
# except (NotImplementedError, TypeError, ValueError, IndexError) as not_yet:
#     print(f"This cell waits for your code.  {not_yet}")

# %% [markdown]
# With a bias of 4, the update gate is about 0.98, and about half of the gradient's norm is left after 40 steps:
# along path 1, each step multiplies the gradient by $z_t$ and by nothing else.
# With a bias of −2 the gate is about 0.12, the candidate replaces most of the state at every step,
# and the GRU passes back even less than the tanh RNN.
#
# The weights here are small, so the gradient of this tanh RNN vanishes quickly. As chapter 3 shows,
# one with larger or orthogonal weights passes back more.
# The network is untrained; what a trained GRU does with its gates is another question.
