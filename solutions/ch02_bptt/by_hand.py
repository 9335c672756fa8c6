# %% [markdown]
# # Gradients by hand
#
# To train a network you need to know, for every weight, how the loss would change if that weight were slightly larger.
# That rate of change is the **gradient** of the loss with respect to the weight.
# The **backward pass** computes all of them together, starting at the loss.
# In this notebook you write its central part, the backward pass of one recurrent step.
#
# As always, replace the line `raise NotImplementedError(…)` with your code, and run the cell below it.
# `hint("rnn_step_backward")` asks you a question, `hint("rnn_step_backward", 2)` explains the idea,
# and `hint("rnn_step_backward", 3)` outlines the code.
#
# Read first, in the book: *Backpropagation through time › One step backward*.
#
# **Notation.** `dx` is short for $\partial L / \partial x$, the gradient of the loss $L$ with respect to `x`.
# It has the shape of `x`, with one entry for each entry of `x`.

# %%
import numpy as np

from grader import check, hint, progress

# %% [markdown]
# ## One step, backward
#
# Write `rnn_step_backward`.
# One step of the network has run, and its results have been stored:
#
# $$a_t = x_t W_{xh} + h_{t-1} W_{hh} + b_h, \qquad h_t = \tanh(a_t)$$
#
# Suppose you know $dh_t = \partial L / \partial h_t$.
# This is the **total gradient** of the state $h_t$: it covers every way in which the state influences the loss.
# Your function passes it back through the step,
# and returns the gradients with respect to the input, the previous state, the weights and the bias.
#
# **A worked example with single numbers.** With D = 1 and H = 1, every quantity is a single number.
# The derivative of the tanh at the **pre-activation** $a_t$ is $1 - \tanh^2(a_t)$.
# Because $\tanh(a_t)$ is the state, this is $1 - h_t^2$, and your function needs neither $a_t$ nor $b_h$.
# Suppose $x_t$ = 1.50, $h_{t-1}$ = −0.40, $W_{xh}$ = 1.20, $W_{hh}$ = 0.70 and $b_h$ = −0.97.
# Then $a_t$ = 0.55 and, rounded to two decimals like all states here, $h_t$ = 0.50.
# Finally, let $dh_t$ = 0.80.
#
# Read the table from the top, because all other rows use $da_t$.
# In a product, the gradient of one factor is the **upstream gradient**, here $da_t$, times the *other* factor.
#
# | gradient with respect to | rule | here |
# |---|---|---|
# | $a_t$ | $dh_t$ times the derivative of the tanh, $1 - h_t^2$ | 0.80 · 0.75 = 0.60 |
# | $x_t$ | $da_t$ times $W_{xh}$ | 0.60 · 1.20 = 0.72 |
# | $h_{t-1}$ | $da_t$ times $W_{hh}$ | 0.60 · 0.70 = 0.42 |
# | $W_{xh}$ | $da_t$ times $x_t$ | 0.60 · 1.50 = 0.90 |
# | $W_{hh}$ | $da_t$ times $h_{t-1}$ | 0.60 · (−0.40) = −0.24 |
# | $b_h$ | $da_t$ itself | 0.60 |
#
# **One sequence, half worked out.** Two inputs, two units, still one sequence (B = 1):
#
# $$x_t = \begin{bmatrix} 1.00 & -2.00 \end{bmatrix} \quad
# h_{t-1} = \begin{bmatrix} 0.50 & -0.25 \end{bmatrix} \quad
# h_t = \begin{bmatrix} 0.50 & -0.60 \end{bmatrix} \quad
# dh_t = \begin{bmatrix} 0.80 & -0.50 \end{bmatrix}$$
#
# $$W_{xh} = \begin{bmatrix} 0.50 & -0.25 \\ 1.00 & 0.75 \end{bmatrix} \qquad
# W_{hh} = \begin{bmatrix} 0.20 & 0.50 \\ -0.60 & 0.10 \end{bmatrix}$$
#
# (The state $h_t$ was computed with `b_h` = [1.80, 0.83] and rounded.)
#
# Each unit has its own tanh, so $da_t$ = [0.80 · 0.75, −0.50 · 0.64] = [0.60, −0.32].
# An input feeds *both* units: input 0 through the first row of $W_{xh}$, input 1 through the second.
# Its gradient is therefore a sum of two contributions:
#
# | | from unit 0 | from unit 1 | sum |
# |---|---|---|---|
# | `dx_t[0, 0]` | 0.60 · 0.50 = 0.30 | −0.32 · (−0.25) = 0.08 | 0.38 |
# | `dx_t[0, 1]` | 0.60 · 1.00 = 0.60 | −0.32 · 0.75 = −0.24 | 0.36 |
#
# A weight connects one input to one unit, so its gradient is a single product:
#
# | `dW_xh` | to unit 0 | to unit 1 |
# |---|---|---|
# | from input 0 | 1.00 · 0.60 = 0.60 | 1.00 · (−0.32) = −0.32 |
# | from input 1 | −2.00 · 0.60 = −1.20 | −2.00 · (−0.32) = 0.64 |
#
# `dh_prev` and `dW_hh` work in the same way. Write them down before you write any code.
# The first case of the check is exactly this example, but the check sees only your function.
# Once it passes, compare your numbers with those under *What you wrote down*, at the end of this notebook.
#
# **Your task: the whole batch.** B sequences, one per row, go through the step at once.
# Each row has its own input, but all rows share the weights and the bias,
# so the gradient of a weight or of the bias has a contribution from every row.
#
# | name | shape | what it is |
# |---|---|---|
# | `dh_t` | (B, H) | the total gradient of the state, $\partial L / \partial h_t$ |
# | `x_t`, `h_prev`, `h_t` | (B, D), (B, H), (B, H) | input, previous state and new state, from the forward pass |
# | `W_xh`, `W_hh` | (D, H), (H, H) | the weights |
# | result `dx_t`, `dh_prev` | (B, D), (B, H) | the gradients with respect to the input and the previous state |
# | result `dW_xh`, `dW_hh`, `db_h` | (D, H), (H, H), (H,) | the gradients with respect to the weights and the bias |
#
# Return all five, in this order. Each of them earns points of its own.
# When the check passes, you have the core of backpropagation through time, which runs this step in a loop.


# %% exercise="rnn_step_backward"
def rnn_step_backward(dh_t, x_t, h_prev, h_t, W_xh, W_hh):
    """The gradients of one step of a tanh RNN.

    dh_t (B, H), x_t (B, D), h_prev (B, H), h_t (B, H), W_xh (D, H), W_hh (H, H)
    -> dx_t (B, D), dh_prev (B, H), dW_xh (D, H), dW_hh (H, H), db_h (H,).  Equation (rnn-step-backward).
    """
    ### BEGIN SOLUTION
    da_t = dh_t * (1 - h_t**2)  # (B, H)
    dx_t = da_t @ W_xh.T  # (B, D)
    dh_prev = da_t @ W_hh.T  # (B, H)
    dW_xh = x_t.T @ da_t  # (D, H): the product sums over the rows of the batch
    dW_hh = h_prev.T @ da_t  # (H, H)
    db_h = da_t.sum(axis=0)  # (H,)
    return dx_t, dh_prev, dW_xh, dW_hh, db_h
    ### END SOLUTION


# %% [markdown]
# ## What you wrote down
#
# The next cell runs your function on the one sequence above and prints its five gradients.
# If one of your numbers differs, go back to its table and work out that entry again.

# %% active="ipynb"
# dh_t, x_t, h_prev, h_t = np.array([[[0.80, -0.50]], [[1.00, -2.00]], [[0.50, -0.25]], [[0.50, -0.60]]])
# W_xh, W_hh = np.array([[0.50, -0.25], [1.00, 0.75]]), np.array([[0.20, 0.50], [-0.60, 0.10]])
#
# try:
#     gradients = rnn_step_backward(dh_t, x_t, h_prev, h_t, W_xh, W_hh)
#     for name, gradient in zip(("dx_t", "dh_prev", "dW_xh", "dW_hh", "db_h"), gradients, strict=True):
#         print(f"{name:8s}", np.round(gradient, 2).tolist())
# except (NotImplementedError, TypeError, ValueError, IndexError) as not_yet:
#     print(f"This cell waits for your code.  {not_yet}")

# %% [markdown]
# ## Your progress

# %% active="ipynb"
# progress()

# %% [markdown]
# ## A saturated unit
#
# This section is not graded.
# Two units read the same input, and each of them should reach the state 0.50.
# Unit 0 starts at 0.00 and unit 1 near −1, so the error of unit 1 is about three times as large.
# The loss is half the sum of the squared errors, so $dh_t$ is the error itself.
# In each update your function computes the gradients, and every weight moves a small step against its gradient.
# Which unit arrives first, and how many updates does the other one take? Write down a guess, then run the cell.

# %% active="ipynb"
# x_t, h_prev = np.array([[1.0]]), np.zeros((1, 2))
# W_xh, W_hh, b_h = np.zeros((1, 2)), np.zeros((2, 2)), np.array([0.0, -3.0])
#
# try:
#     for update in range(111):
#         h_t = np.tanh(x_t @ W_xh + h_prev @ W_hh + b_h)  # (1, 2)
#         if update in (0, 5, 10, 20, 40, 60, 80, 90, 95, 100, 110):
#             print(f"update {update:3d}   unit 0: {h_t[0, 0]:5.2f}   unit 1: {h_t[0, 1]:5.2f}")
#         dx_t, dh_prev, dW_xh, dW_hh, db_h = rnn_step_backward(h_t - 0.50, x_t, h_prev, h_t, W_xh, W_hh)
#         W_xh, W_hh, b_h = W_xh - 0.2 * dW_xh, W_hh - 0.2 * dW_hh, b_h - 0.2 * db_h
# except (NotImplementedError, TypeError, ValueError, IndexError) as not_yet:
#     print(f"This cell waits for your code.  {not_yet}")

# %% [markdown]
# Unit 0 arrives after about 20 updates. Unit 1 hardly moves for 60, although its error is larger:
# it is saturated, and the derivative of its tanh, $1 - h_t^2$, is 0.01 at the start and weakens the gradient.
# Once the unit has left that region, it arrives within 20 updates.
