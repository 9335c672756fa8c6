# %% [markdown]
# # Checking and cutting
#
# A backward pass is easy to get wrong and hard to see through: a network with a wrong gradient still learns,
# only worse.
# In this notebook you build the instrument that finds such mistakes in any gradient, whoever wrote it.
# Then you cut the backward pass into pieces, as everybody does who trains on long texts.
#
# As always: replace the line `raise NotImplementedError(…)` with your code, and run the cell below it.
# `hint("relative_error")` asks you a question, `hint("relative_error", 2)` names the idea,
# `hint("relative_error", 3)` shows the shape of the code.
#
# Read first: *Backpropagation through time › Checking gradients*, in the book;
# for the last exercise also *Truncated backpropagation*.
# The last exercise needs the backward pass of one step, as in the notebook *through_time*.

# %%
import numpy as np

from grader import check, hint, progress

# %% [markdown]
# ## How far apart two gradients are
#
# Write `relative_error`.
# Two ways to work out a gradient never agree to the last digit, so we need a number that says how far apart they are.
# Whether 0.001 is much depends on what it is compared with; so each entry is compared with its own size,
# and the worst entry counts:
#
# $$\max_i \frac{|a_i - b_i|}{|a_i| + |b_i|}$$
#
# | name | shape | what it is |
# |---|---|---|
# | `a`, `b` | any, the same for both | two gradients |
# | result | a number | the largest error of an entry: 0 if all entries are equal, 1 at most |
#
# Where both entries are 0 they agree, and their error is 0.
# That is the only exception: two tiny entries are compared like any others.
#
# **By hand, once.** Four entries:
#
# | | entry 0 | entry 1 | entry 2 | entry 3 |
# |---|---|---|---|---|
# | `a` | 4.00 | −0.10 | 0.00 | 2.00 |
# | `b` | 4.10 | −0.30 | 0.00 | 2.00 |
# | $\lvert a - b\rvert$ | 0.10 | 0.20 | 0.00 | 0.00 |
# | $\lvert a\rvert + \lvert b\rvert$ | 8.10 | 0.40 | 0.00 | 4.00 |
# | error | 0.01 | 0.50 | 0.00 | 0.00 |
#
# The result is 0.50. Entry 1 is three times too large in `b`, and no agreement elsewhere makes up for that.
#
# When the check passes, you can say of two gradients whether they are the same.
# In float64 the rule is that of the page: below 1e-7 they are, above 1e-3 something is wrong, in between look closer.
# One exception: 0 against 1e-13 gives 1.0, and both may be the same number but for rounding.
# So before you hunt for a mistake, look at the two entries themselves.


# %% exercise="relative_error"
def relative_error(a, b):
    """Compare two arrays entry by entry; the worst entry counts.

    a, b of the same shape -> the largest of abs(a - b) / (abs(a) + abs(b)), a number; 0 / 0 is 0.
    """
    ### BEGIN SOLUTION
    size = np.abs(a) + np.abs(b)
    errors = np.abs(a - b) / np.where(size > 0, size, 1.0)
    return float(errors.max())
    ### END SOLUTION


# %% [markdown]
# ## A gradient from nothing but values
#
# Write `numerical_gradient`.
# It takes any function `f` of an array, and finds its gradient by asking for values alone:
# move one entry a little up, then a little down, and see how much the value changes.
#
# $$\frac{\partial f}{\partial \theta_i} \approx
# \frac{f(\theta + \varepsilon e_i) - f(\theta - \varepsilon e_i)}{2 \varepsilon}$$
#
# where $e_i$ is 0 but for a 1 in the place of entry $i$. This is the *central difference*.
#
# | name | shape | what it is |
# |---|---|---|
# | `f` | a function | `f(theta)` is a number |
# | `theta` | any, float64 | where the gradient is wanted |
# | `eps` | a number | how far to move; 1e-5 if it is left out |
# | result | that of `theta` | one partial derivative for each entry |
#
# **By hand, once.** `theta` is a matrix of one row, [[3.00, 2.00]], and `eps` = 0.10;
# the function is $f(\theta) = \theta_{00}^2 + 3\, \theta_{00}\, \theta_{01}$.
#
# | entry | `f` above | `f` below | difference | divided by 0.20 |
# |---|---|---|---|---|
# | [0, 0] | 3.10² + 3 · 3.10 · 2.00 = 28.21 | 2.90² + 3 · 2.90 · 2.00 = 25.81 | 2.40 | 12.00 |
# | [0, 1] | 3.00² + 3 · 3.00 · 2.10 = 27.90 | 3.00² + 3 · 3.00 · 1.90 = 26.10 | 1.80 | 9.00 |
#
# The derivatives on paper are $2\, \theta_{00} + 3\, \theta_{01} = 12$ and $3\, \theta_{00} = 9$.
# This is the check's first case. To try it: `f = lambda theta: theta[0, 0] ** 2 + 3 * theta[0, 0] * theta[0, 1]`.
# For this function any `eps` gives the derivatives, but for rounding; for most functions a long step gives
# another number than a short one. So use the `eps` that is passed.
#
# You may change `theta` while you work, and that saves copies of large arrays.
# When your function returns, `theta` has to be what it was, *bit for bit*: it is somebody's network.
# This is less simple than it sounds. Say aloud what the next cell prints, then run it.

# %% active="ipynb"
# print(0.7 + 1e-5 - 2e-5 + 1e-5 == 0.7)

# %% [markdown]
# When the check passes, you can find the gradient of anything that you can compute.
# It takes two calls of `f` for each entry, so nobody trains with it: it is there to check what is fast.
#
# One thing to know: an array of integers holds no small steps, as what is put into it is cut to an integer.
# In `np.array([1, 2])` the entries plus 1e-5 are 1 and 2 again, and minus 1e-5 they are 0 and 1.
# That is a whole step, divided by a tiny one: the gradient comes out enormous. Write `np.array([1.0, 2.0])`.


# %% exercise="numerical_gradient"
def numerical_gradient(f, theta, eps=1e-5):
    """Find the gradient of f at theta by central differences.

    f(theta) -> a number, theta of any shape, eps a number -> an array like theta; theta is left as it was.
    """
    ### BEGIN SOLUTION
    gradient = np.zeros_like(theta)
    for index in np.ndindex(theta.shape):
        old = theta[index]
        theta[index] = old + eps
        above = f(theta)
        theta[index] = old - eps
        below = f(theta)
        theta[index] = old  # the number itself: steps there and back would round
        gradient[index] = (above - below) / (2 * eps)
    return gradient
    ### END SOLUTION


# %% [markdown]
# ## The gradient stops, the state goes on
#
# Write `truncated_bptt`.
# The backward pass of a long text would need all of its states at once.
# So the steps are taken in chunks of `tau`, the last one perhaps shorter.
# **The state crosses a cut, the gradient does not.**
# The forward pass has run through all steps without a break; going back, nothing passes from a chunk
# into the chunk before.
#
# Here steps are counted from 0, as in Python: the chunks are the steps 0 to tau − 1, tau to 2·tau − 1, and so on.
# The page counts from 1. Its step tau, which ends the first chunk, is step tau − 1 here.
#
# | name | shape | what it is |
# |---|---|---|
# | `dh` | (B, T, H) | the gradient with respect to each state, through what looked at it |
# | `x` | (B, T, D) | the inputs |
# | `h_0` | (B, H) | the state before the first step |
# | `h` | (B, T, H) | all states, from the forward pass |
# | `W_xh`, `W_hh` | (D, H), (H, H) | the weights |
# | `tau` | an integer | the steps of a chunk, 1 or more; it may be larger than T |
# | result `dW_xh`, `dW_hh`, `db_h` | (D, H), (H, H), (H,) | the gradients, summed over all steps and the batch |
#
# The backward pass of one step you know. What reaches the state is the sum of what comes through what looked at it
# and of what comes back from the step after, which is called $dh_{\text{prev}}^{(t+1)}$, as on the page.
# Through the tanh the sum becomes $da_t$, and from there it goes to the weights and to the step before:
#
# $$da_t = \bigl(dh_t + dh_{\text{prev}}^{(t+1)}\bigr) \odot (1 - h_t^2), \qquad
# dh_{\text{prev}}^{(t)} = da_t W_{hh}^\top$$
#
# $$dW_{xh} = \sum_t x_t^\top da_t, \qquad dW_{hh} = \sum_t h_{t-1}^\top da_t, \qquad db_h = \sum_t da_t$$
#
# **By hand, once.** One sequence of five steps, one input, one unit, `tau` = 3;
# `W_hh` = [[0.50]], `h_0` = [[0.40]], and `x`, `h` and `dh` as in the table.
# (The states are chosen for round slopes, and so that all sums come out: no forward pass gives just these.)
# Read it from the top: the last step comes first.
#
# | t | `x` | `h` | `dh` | from the step after | `da` | part of `dW_xh` | part of `dW_hh` |
# |---|---|---|---|---|---|---|---|
# | 4 | −1.00 | 0.80 | 2.50 | 0.00 | 0.90 | −0.90 | −0.54 |
# | 3 | 0.50 | −0.60 | 0.05 | 0.45 | 0.32 | 0.16 | 0.16 |
# | 2 | 2.00 | 0.50 | 0.80 | **0.00** | 0.60 | 1.20 | 0.36 |
# | 1 | −1.50 | 0.60 | −0.05 | 0.30 | 0.16 | −0.24 | −0.08 |
# | 0 | 1.00 | −0.50 | −0.48 | 0.08 | −0.30 | −0.30 | −0.12 |
# | sum | | | | | 1.68 | −0.08 | −0.22 |
#
# Step 3 would have sent 0.32 · 0.50 = 0.16 back to step 2: that is cut off.
# And yet its part of `dW_hh` is its `da` times 0.50, the state of step 2: that one crosses the cut.
# The check's first case is this very sequence.
#
# You may write one loop over all steps, or copy your `rnn_backward` into a cell above and use it chunk by chunk.
# Your `numerical_gradient` cannot check this one: a truncated gradient is no function's true gradient.
#
# When the check passes, you know what happens inside every training loop that reads a long text:
# it reads a chunk, calls a whole backward pass such as `rnn_backward` on that chunk alone, and carries the state on
# to the next chunk. Nobody has to cut anything: what is not carried back is cut.
# `train_char_rnn`, in the next notebook, is such a loop. It moves the weights after each chunk,
# and needs the memory of one chunk however long the text is.


# %% exercise="truncated_bptt"
def truncated_bptt(dh, x, h_0, h, W_xh, W_hh, tau):
    """Go back through time in chunks of tau steps: the state crosses a cut, the gradient does not.

    dh (B, T, H), x (B, T, D), h_0 (B, H), h (B, T, H), W_xh (D, H), W_hh (H, H), tau a number of steps
    -> dW_xh (D, H), dW_hh (H, H), db_h (H,), summed over all steps.
    """
    ### BEGIN SOLUTION
    dW_xh, dW_hh, db_h = np.zeros(W_xh.shape), np.zeros(W_hh.shape), np.zeros(W_hh.shape[0])
    dh_next = np.zeros(h_0.shape)  # (B, H): what comes back from the step after
    for t in reversed(range(x.shape[1])):
        if (t + 1) % tau == 0:  # the last step of a chunk
            dh_next = np.zeros(h_0.shape)
        da = (dh[:, t] + dh_next) * (1 - h[:, t] ** 2)  # (B, H)
        dW_xh += x[:, t].T @ da
        dW_hh += (h[:, t - 1] if t > 0 else h_0).T @ da
        db_h += da.sum(axis=0)
        dh_next = da @ W_hh.T
    return dW_xh, dW_hh, db_h
    ### END SOLUTION


# %% [markdown]
# ## Where you are

# %% active="ipynb"
# progress()
