# %% [markdown]
# # Gradients by hand
#
# A loss is one number. For each number that went into it, a gradient says how the loss would change if that
# number were a little larger.
# You compute gradients from the loss backward: first for what the loss was made of, then for what *that* was made of.
# In this notebook you take the first two steps of that way, through the softmax and through one step of the network.
#
# As always: replace the line `raise NotImplementedError(…)` with your code, and run the cell below it.
# `hint("rnn_step_backward")` asks you a question, `hint("rnn_step_backward", 2)` names the idea,
# `hint("rnn_step_backward", 3)` shows the shape of the code.
#
# Read first, in the book: *Backpropagation through time › The unrolled graph*, then *The backward pass by hand*.
# The notebooks come after both pages: this one, and behind it *Back through time*.
#
# **One word for all of it.** The gradient of the loss with respect to `x` is called `dx`,
# and it has the shape of `x`: one number for each number.
#
# You have met the softmax in the chapter before. Here it is given.

# %%
import numpy as np

from grader import check, hint, progress


def softmax(z, axis=-1):
    """Probabilities that add up to 1 along an axis: z of any shape -> the same shape."""
    powers = np.exp(z - np.max(z, axis, keepdims=True))
    return powers / np.sum(powers, axis, keepdims=True)


# %% [markdown]
# ## Where the blame starts
#
# Write `cross_entropy_backward`.
# A network gave V logits at each place of each sequence, and then the targets came.
# The loss is the mean of $-\ln p$ of the target over all B · T places.
# How much is each single logit to blame?
#
# **One place, in full.** The loss there is a difference of two simple parts:
#
# $$\ell = -\ln \frac{e^{z_y}}{\sum_j e^{z_j}} = -z_y + \ln \sum_j e^{z_j}$$
#
# - The first part sees the target's logit alone: its derivative is −1 for $z_y$ and 0 for all others.
# - The second part sees every logit: its derivative with respect to $z_i$ is $e^{z_i} / \sum_j e^{z_j}$.
#   You know that number: it is $p_i$.
#
# With three ids, and id 0 as the target:
#
# | | id 0 | id 1 | id 2 | sum |
# |---|---|---|---|---|
# | `z` | 1.40 | 3.30 | 1.00 | |
# | from the second part: `p` | 0.12 | 0.80 | 0.08 | 1.00 |
# | from the first part | −1.00 | 0.00 | 0.00 | −1.00 |
# | $d\ell / dz$ | −0.88 | 0.80 | 0.08 | 0.00 |
#
# Training takes a step *against* the gradient, so each sign is turned round:
# the logit of what came rises, the more the less it was believed in ($1 - p$),
# and every other one falls, by as much as it was believed in ($p$).
#
# **Two places, half of it.** The loss is now the mean of two losses, of which the one above is the first.
# At the second place `z` is [0.00, 2.08, 0.00], and id 1 was right.
#
# | place | $d\ell / dz$ of its own loss | its part in the mean |
# |---|---|---|
# | 0 | [−0.88, 0.80, 0.08] | [−0.44, 0.40, 0.04] |
# | 1 | [0.10, −0.20, 0.10] | ? |
#
# Write it down. Under *What you wrote down*, at the end of this notebook, you can compare.
#
# **The batch is yours.**
#
# | name | shape | what it is |
# |---|---|---|
# | `logits` | (B, T, V) | the network's guesses, before the softmax |
# | `targets` | (B, T) | the ids that came, integers from 0 to V − 1 |
# | result `dlogits` | (B, T, V) | the gradient of the mean over all B · T places |
#
# Some logits are in the thousands; the softmax above can take them.
# When the check passes, you have the gradient in which every backward pass of a language model begins.


# %% exercise="cross_entropy_backward"
def cross_entropy_backward(logits, targets):
    """The gradient of the mean cross-entropy with respect to the logits.

    logits (B, T, V), targets (B, T) -> dlogits (B, T, V).  Equation (cross-entropy-backward).
    """
    ### BEGIN SOLUTION
    B, T, V = logits.shape
    came = np.eye(V)[targets]  # (B, T, V): a one-hot row at each place
    return (softmax(logits) - came) / (B * T)
    ### END SOLUTION


# %% [markdown]
# ## One step, backward
#
# Write `rnn_step_backward`.
# Somebody tells you `dh_t`: how the loss would change with each entry of the state $h_t$, in every way that it can.
# Here that is the *whole* blame of $h_t$. In the next notebook it is made of two parts, and called $g_t$.
# You know how $h_t$ was made, and hand the blame on to everything that it was made of:
#
# $$a_t = x_t W_{xh} + h_{t-1} W_{hh} + b_h, \qquad h_t = \tanh(a_t)$$
#
# **One number each, in full.** With D = 1 and H = 1 all of it is school arithmetic.
# The derivative of the tanh at $a$ is $1 - \tanh^2(a)$.
# The forward pass has already computed that tanh: it is $h_t$, so nothing has to be computed again.
# The slope is one minus the square of $h_t$; neither the sum $a_t$ nor $b_h$ is needed, and your function gets neither.
# Say $x_t$ = 0.50, $h_{t-1}$ = −0.40, $W_{xh}$ = 1.20, $W_{hh}$ = 0.70 and $b_h$ = 0.23.
# Then $a_t$ = 0.55, and $h_t$ = 0.50 came out, rounded to two digits as all states here.
# And say $dh_t$ = 0.80.
#
# | blame of | is | here |
# |---|---|---|
# | $a_t$ | $dh_t$ times the slope, $1 - h_t^2$ | 0.80 · 0.75 = 0.60 |
# | $x_t$ | that of $a_t$, times what $x_t$ was multiplied by | 0.60 · 1.20 = 0.72 |
# | $h_{t-1}$ | that of $a_t$, times what $h_{t-1}$ was multiplied by | 0.60 · 0.70 = 0.42 |
# | $W_{xh}$ | that of $a_t$, times what $W_{xh}$ was multiplied by | 0.60 · 0.50 = 0.30 |
# | $W_{hh}$ | that of $a_t$, times what $W_{hh}$ was multiplied by | 0.60 · (−0.40) = −0.24 |
# | $b_h$ | that of $a_t$ | 0.60 |
#
# **One row, half of it.** Two inputs, two units, still one sequence (B = 1):
#
# $$x_t = \begin{bmatrix} 1.00 & -2.00 \end{bmatrix} \quad
# h_{t-1} = \begin{bmatrix} 0.50 & -0.25 \end{bmatrix} \quad
# h_t = \begin{bmatrix} 0.50 & -0.60 \end{bmatrix} \quad
# dh_t = \begin{bmatrix} 0.80 & -0.50 \end{bmatrix}$$
#
# $$W_{xh} = \begin{bmatrix} 0.50 & -0.25 \\ 1.00 & 0.75 \end{bmatrix} \qquad
# W_{hh} = \begin{bmatrix} 0.20 & 0.50 \\ -0.60 & 0.10 \end{bmatrix}$$
#
# (The state $h_t$ came out with `b_h` = [1.80, 0.83].)
#
# Each unit has its own slope, so $da_t$ = [0.80 · 0.75, −0.50 · 0.64] = [0.60, −0.32].
# An input reaches *both* units: input 0 through the first row of $W_{xh}$, input 1 through the second.
# What it is to blame for adds up.
# And each weight is on one path only, from one input to one unit.
#
# | | from unit 0 | from unit 1 | together |
# |---|---|---|---|
# | `dx_t[0, 0]` | 0.60 · 0.50 = 0.30 | −0.32 · (−0.25) = 0.08 | 0.38 |
# | `dx_t[0, 1]` | 0.60 · 1.00 = 0.60 | −0.32 · 0.75 = −0.24 | 0.36 |
#
# | `dW_xh` | to unit 0 | to unit 1 |
# |---|---|---|
# | of input 0 | 1.00 · 0.60 = 0.60 | 1.00 · (−0.32) = −0.32 |
# | of input 1 | −2.00 · 0.60 = −1.20 | −2.00 · (−0.32) = 0.64 |
#
# `dh_prev` and `dW_hh` go the same way: write them down before you program.
# The check's first case is this very row. It sees your function, and not your paper:
# to compare the two, go to *What you wrote down* when the check passes.
#
# **The batch is yours.** B rows go through the step at once.
# An input belongs to one row; a weight and a bias serve all rows, and are blamed by all of them.
#
# | name | shape | what it is |
# |---|---|---|
# | `dh_t` | (B, H) | the gradient with respect to `h_t` |
# | `x_t`, `h_prev`, `h_t` | (B, D), (B, H), (B, H) | input, state before and state after, from the forward pass |
# | `W_xh`, `W_hh` | (D, H), (H, H) | the weights |
# | result `dx_t`, `dh_prev` | (B, D), (B, H) | gradients with respect to the input and to the state before |
# | result `dW_xh`, `dW_hh`, `db_h` | (D, H), (H, H), (H,) | gradients with respect to the weights and the bias |
#
# Return all five, in this order. Each of them has points of its own.
# When the check passes, the chapter's calculus is behind you: backpropagation through time is this step in a loop.


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
    dW_xh = x_t.T @ da_t  # (D, H): the sum over the rows of the batch is in the product
    dW_hh = h_prev.T @ da_t  # (H, H)
    db_h = da_t.sum(axis=0)  # (H,)
    return dx_t, dh_prev, dW_xh, dW_hh, db_h
    ### END SOLUTION


# %% [markdown]
# ## What you wrote down
#
# Your functions, on the examples above: the part of place 1 in the mean, and the five gradients of the row.
# Where your paper says something else, follow one of its numbers back to the table.

# %% active="ipynb"
# logits, targets = np.array([[[1.40, 3.30, 1.00], [0.00, 2.08, 0.00]]]), np.array([[0, 1]])
# dh_t, x_t, h_prev, h_t = np.array([[[0.80, -0.50]], [[1.00, -2.00]], [[0.50, -0.25]], [[0.50, -0.60]]])
# W_xh, W_hh = np.array([[[0.50, -0.25], [1.00, 0.75]], [[0.20, 0.50], [-0.60, 0.10]]])
#
# try:
#     print("place 1 ", np.round(cross_entropy_backward(logits, targets)[0, 1], 2).tolist())
#     gradients = rnn_step_backward(dh_t, x_t, h_prev, h_t, W_xh, W_hh)
#     for name, gradient in zip(("dx_t", "dh_prev", "dW_xh", "dW_hh", "db_h"), gradients, strict=True):
#         print(f"{name:8s}", np.round(gradient, 2).tolist())
# except (NotImplementedError, TypeError, ValueError, IndexError) as not_yet:
#     print(f"This cell waits for your code.  {not_yet}")

# %% [markdown]
# ## Where you are

# %% active="ipynb"
# progress()

# %% [markdown]
# ## One step downhill, and again
#
# Nothing is graded here.
# The network below reads `h` and is asked for the next letter of *hello*.
# It knows nothing yet: its weights are random, and it happens to believe in another `h`.
# In each round your two functions say who is to blame, and every weight moves a little against its gradient.
# How sure of `e` will it be after ten rounds? Say a number, then run the cell.

# %% active="ipynb"
# letters = "helo"
# x_t, target = np.eye(4)[[letters.index("h")]], np.array([[letters.index("e")]])  # (1, 4), (1, 1)
#
# rng = np.random.default_rng(3)
# h_prev = np.zeros((1, 3))
# W_xh, W_hh, b_h = rng.normal(size=(4, 3)), rng.normal(size=(3, 3)), np.zeros(3)
# W_hy, b_y = rng.normal(size=(3, 4)), np.zeros(4)
#
# try:
#     for round_number in range(11):
#         h_t = np.tanh(x_t @ W_xh + h_prev @ W_hh + b_h)  # (1, 3)
#         logits = h_t @ W_hy + b_y  # (1, 4)
#         p = softmax(logits)[0]
#         shares = "  ".join(f"{letter} {share:.2f}" for letter, share in zip(letters, p))
#         print(f"round {round_number:2d}   {shares}  ", "●" * round(40 * p[1]))
#         dlogits = cross_entropy_backward(logits[None], target)[0]  # (1, 4)
#         dh_t, dW_hy, db_y = dlogits @ W_hy.T, h_t.T @ dlogits, dlogits[0]
#         dx_t, dh_prev, dW_xh, dW_hh, db_h = rnn_step_backward(dh_t, x_t, h_prev, h_t, W_xh, W_hh)
#         W_xh, W_hh, b_h = W_xh - 0.3 * dW_xh, W_hh - 0.3 * dW_hh, b_h - 0.3 * db_h
#         W_hy, b_y = W_hy - 0.3 * dW_hy, b_y - 0.3 * db_y
# except (NotImplementedError, TypeError, ValueError, IndexError) as not_yet:
#     print(f"This cell waits for your code.  {not_yet}")

# %% [markdown]
# Nobody told the network the answer; it was told, in each round, which way is down.
# `W_hh` has not moved at all: the state before was zero, and what was multiplied by zero cannot be blamed.
# It takes a second step in time to teach a memory anything. That is the next notebook.
