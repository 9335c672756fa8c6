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
# When the check passes, you can say of two gradients whether they are the same:
# in float64 they are if the error is about 1e-7 or less, and they are not if it is above 1e-3.


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
# **By hand, once.** $f(\theta) = \theta_0^2 \, \theta_1$ at `theta` = [3.00, 2.00], with `eps` = 0.10:
#
# | entry | `f` above | `f` below | difference | divided by 0.20 |
# |---|---|---|---|---|
# | 0 | 3.10² · 2.00 = 19.22 | 2.90² · 2.00 = 16.82 | 2.40 | 12.00 |
# | 1 | 3.00² · 2.10 = 18.90 | 3.00² · 1.90 = 17.10 | 1.80 | 9.00 |
#
# The derivatives on paper are $2 \theta_0 \theta_1 = 12$ and $\theta_0^2 = 9$.
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
# One thing to know: an array of integers holds no small steps. `np.array([1, 2])` plus 1e-5, put back into the array,
# is `[1, 2]`. Write `np.array([1.0, 2.0])`.


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
# So the steps are taken in chunks of `tau`: [0, tau), [tau, 2·tau), and so on, the last one perhaps shorter.
# **The state crosses a cut, the gradient does not.**
# The forward pass has run through all steps without a break; going back, nothing passes from a chunk
# into the chunk before.
#
# | name | shape | what it is |
# |---|---|---|
# | `dh` | (B, T, H) | how the loss changes with each state by itself: what comes in from the output layer |
# | `x` | (B, T, D) | the inputs |
# | `h_0` | (B, H) | the state before the first step |
# | `h` | (B, T, H) | all states, from the forward pass |
# | `W_xh`, `W_hh` | (D, H), (H, H) | the weights |
# | `tau` | an integer | the steps of a chunk, 1 or more; it may be larger than T |
# | result `dW_xh`, `dW_hh`, `db_h` | (D, H), (H, H), (H,) | the gradients, summed over all steps and the batch |
#
# In the backward pass of one step, what reaches the state is the sum of what comes from the output layer
# and what comes back from the next step.
# Through the tanh it becomes $da_t$, and from there it goes to the weights and to the step before:
#
# $$da_t = (dh_t + \text{back}_t) \odot (1 - h_t^2), \qquad \text{back}_{t-1} = da_t W_{hh}^\top$$
#
# $$dW_{xh} = \sum_t x_t^\top da_t, \qquad dW_{hh} = \sum_t h_{t-1}^\top da_t, \qquad db_h = \sum_t da_t$$
#
# **By hand, once.** One sequence of four steps, one input, one unit, `tau` = 2;
# `W_hh` = [[0.50]], `h_0` = [[0.40]], and `x`, `h` and `dh` as in the table.
# Read it from the bottom row up, as the backward pass goes:
#
# | t | `x` | `h` | `dh` | comes back | $da$ | to `dW_xh` | to `dW_hh` |
# |---|---|---|---|---|---|---|---|
# | 0 | 1.00 | 0.60 | 0.50 | 0.24 | 0.48 | 0.48 | 0.19 |
# | 1 | −2.00 | −0.70 | 0.95 | **0.00** | 0.48 | −0.97 | 0.29 |
# | 2 | 0.50 | 0.20 | −0.30 | 0.42 | 0.12 | 0.06 | −0.08 |
# | 3 | 1.50 | 0.40 | 1.00 | 0.00 | 0.84 | 1.26 | 0.17 |
# | sum | | | | | 1.91 | 0.82 | 0.57 |
#
# In row 1 the 0.06 that row 2 would have sent back (0.12 · 0.50) is cut off.
# And yet row 2's part of `dW_hh` is its $da$ times −0.70, the state of row 1: that one crosses the cut.
#
# You may write one loop over all steps, or copy your `rnn_backward` into a cell above and use it chunk by chunk.
# Your `numerical_gradient` cannot check this one: a truncated gradient is no function's true gradient.
# When the check passes, you can train on a text of any length with the memory of one chunk.


# %% exercise="truncated_bptt"
def truncated_bptt(dh, x, h_0, h, W_xh, W_hh, tau):
    """Go back through time in chunks of tau steps: the state crosses a cut, the gradient does not.

    dh (B, T, H), x (B, T, D), h_0 (B, H), h (B, T, H), W_xh (D, H), W_hh (H, H), tau a number of steps
    -> dW_xh (D, H), dW_hh (H, H), db_h (H,), summed over all steps.
    """
    ### BEGIN SOLUTION
    dW_xh, dW_hh, db_h = np.zeros(W_xh.shape), np.zeros(W_hh.shape), np.zeros(W_hh.shape[0])
    back = np.zeros(h_0.shape)  # (B, H)
    for t in reversed(range(x.shape[1])):
        if (t + 1) % tau == 0:  # the last step of a chunk
            back = np.zeros(h_0.shape)
        da = (dh[:, t] + back) * (1 - h[:, t] ** 2)  # (B, H)
        dW_xh += x[:, t].T @ da
        dW_hh += (h[:, t - 1] if t > 0 else h_0).T @ da
        db_h += da.sum(axis=0)
        back = da @ W_hh.T
    return dW_xh, dW_hh, db_h
    ### END SOLUTION


# %% [markdown]
# ## Where you are

# %% active="ipynb"
# progress()
