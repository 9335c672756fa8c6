# %% [markdown]
# # Gradients by hand
#
# To train a network you need to know, for every weight, how the loss would change if that weight were slightly larger.
# That rate of change is the **gradient** of the loss with respect to the weight.
# The **backward pass** computes all of them together, starting at the loss.
# In this notebook you write two of its parts: the backward pass of one recurrent step, and the gradient at the logits.
#
# As always, replace the line `raise NotImplementedError(…)` with your code, and run the cell below it.
# `hint("rnn_step_backward")` asks you a question, `hint("rnn_step_backward", 2)` explains the idea,
# and `hint("rnn_step_backward", 3)` outlines the code.
#
# Read in the book, under *Backpropagation through time*: *One step backward* before the first exercise,
# and *From the loss to the logits* before the second.
#
# **Notation.** `dx` is short for $\partial L / \partial x$, the gradient of the loss $L$ with respect to `x`.
# It has the shape of `x`, with one entry for each entry of `x`.
#
# The second exercise needs the softmax. You wrote it in chapter 1, so here it is given.

# %%
import numpy as np

from grader import check, hint, progress


def softmax(z, axis=-1):
    """Probabilities that add up to 1 along an axis: z of any shape -> the same shape."""
    powers = np.exp(z - np.max(z, axis, keepdims=True))
    return powers / np.sum(powers, axis, keepdims=True)


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
# ## The gradient at the logits
#
# Write `cross_entropy_backward`.
# A network has computed V **logits** at every position of every sequence, and the target at each position is known.
# The loss is the **cross-entropy**: the mean of $-\ln p$ of the target over all B · T positions.
# How does the loss change with each logit?
#
# **One position, worked out in full.** Let $y$ be the target. The loss at this position is the sum of two terms:
#
# $$\ell = -\ln \frac{e^{z_y}}{\sum_j e^{z_j}} = -z_y + \ln \sum_j e^{z_j}$$
#
# - The first term depends on the target's logit alone: its derivative is −1 with respect to $z_y$, and 0 with
#   respect to all other logits.
# - The second term depends on every logit: its derivative with respect to $z_i$ is $e^{z_i} / \sum_j e^{z_j}$,
#   which is the probability $p_i$.
#
# With three ids, and id 0 as the target:
#
# | | id 0 | id 1 | id 2 | sum |
# |---|---|---|---|---|
# | `z` | 1.40 | 3.30 | 1.00 | |
# | from the second term: `p` | 0.12 | 0.80 | 0.08 | 1.00 |
# | from the first term | −1.00 | 0.00 | 0.00 | −1.00 |
# | $d\ell / dz$ | −0.88 | 0.80 | 0.08 | 0.00 |
#
# A step *against* this gradient reverses the signs:
# it raises the target's logit in proportion to $1 - p$, and lowers every other logit in proportion to its own $p$.
#
# **Two positions, half worked out.** The loss is now the mean of two losses, and the one above is the first.
# At the second position `z` is [0.00, 1.79, 1.10], and the target is id 2.
#
# | position | $d\ell / dz$ of its own loss | its part of `dlogits`, the gradient of the mean |
# |---|---|---|
# | 0 | [−0.88, 0.80, 0.08] | [−0.44, 0.40, 0.04] |
# | 1 | [0.10, 0.60, −0.70] | ? |
#
# Write down the missing part. Once the check passes, compare it with *What you wrote down*,
# at the end of this notebook.
#
# **Your task: the whole batch.**
#
# | name | shape | what it is |
# |---|---|---|
# | `logits` | (B, T, V) | the logits of the network, before the softmax |
# | `targets` | (B, T) | the target ids, integers from 0 to V − 1 |
# | result `dlogits` | (B, T, V) | the gradient of the mean over all B · T positions |
#
# Some logits are in the thousands; the `softmax` given above handles them without overflow.
# When the check passes, you have the gradient with which the backward pass of a language model starts.


# %% exercise="cross_entropy_backward"
def cross_entropy_backward(logits, targets):
    """The gradient of the mean cross-entropy with respect to the logits.

    logits (B, T, V), targets (B, T) -> dlogits (B, T, V).  Equation (cross-entropy-backward).
    """
    ### BEGIN SOLUTION
    B, T, V = logits.shape
    one_hot = np.eye(V)[targets]  # (B, T, V): a one-hot row at each position
    return (softmax(logits) - one_hot) / (B * T)
    ### END SOLUTION


# %% [markdown]
# ## What you wrote down
#
# The next cell runs your functions on the examples above:
# it prints the five gradients of the one sequence, and what position 1 contributes to the gradient of the mean.
# If one of your numbers differs, go back to its table and work out that entry again.

# %% active="ipynb"
# dh_t, x_t, h_prev, h_t = np.array([[[0.80, -0.50]], [[1.00, -2.00]], [[0.50, -0.25]], [[0.50, -0.60]]])
# W_xh, W_hh = np.array([[0.50, -0.25], [1.00, 0.75]]), np.array([[0.20, 0.50], [-0.60, 0.10]])
# logits, targets = np.array([[[1.40, 3.30, 1.00], [0.00, 1.79, 1.10]]]), np.array([[0, 2]])
#
# try:
#     gradients = rnn_step_backward(dh_t, x_t, h_prev, h_t, W_xh, W_hh)
#     for name, gradient in zip(("dx_t", "dh_prev", "dW_xh", "dW_hh", "db_h"), gradients, strict=True):
#         print(f"{name:11s}", np.round(gradient, 2).tolist())
#     print("position 1 ", np.round(cross_entropy_backward(logits, targets)[0, 1], 2).tolist())
# except (NotImplementedError, TypeError, ValueError, IndexError) as not_yet:
#     print(f"This cell waits for your code.  {not_yet}")

# %% [markdown]
# ## Your progress

# %% active="ipynb"
# progress()

# %% [markdown]
# ## Ten updates
#
# This section is not graded.
# The network below reads `h` and predicts the next letter of *hello*.
# Its weights are random, and at first it considers another `h` the most probable.
# In each round your functions compute the gradients, and every weight moves a small step against its gradient.
# What probability will `e` have after ten rounds? Write down a guess, then run the cell.

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
#         shown = "  ".join(f"{letter} {probability:.2f}" for letter, probability in zip(letters, p))
#         print(f"round {round_number:2d}   {shown}  ", "●" * round(40 * p[1]))
#         dlogits = cross_entropy_backward(logits[None], target)[0]  # (1, 4)
#         dh_t, dW_hy, db_y = dlogits @ W_hy.T, h_t.T @ dlogits, dlogits[0]
#         dx_t, dh_prev, dW_xh, dW_hh, db_h = rnn_step_backward(dh_t, x_t, h_prev, h_t, W_xh, W_hh)
#         W_xh, W_hh, b_h = W_xh - 0.3 * dW_xh, W_hh - 0.3 * dW_hh, b_h - 0.3 * db_h
#         W_hy, b_y = W_hy - 0.3 * dW_hy, b_y - 0.3 * db_y
# except (NotImplementedError, TypeError, ValueError, IndexError) as not_yet:
#     print(f"This cell waits for your code.  {not_yet}")

# %% [markdown]
# Small steps against the gradient were enough: the probability of `e` rose in every round.
# `W_hh` has not changed at all. The previous state was zero here,
# and the gradient of a weight is proportional to the value that the weight multiplies.
# With an initial state of zeros, the recurrent weights get a gradient only from the second time step on,
# and sequences of several steps are the subject of the next notebook.
