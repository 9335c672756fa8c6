# %% [markdown]
# # Checking gradients
#
# How do you know that a backward pass is right?
# A wrong gradient raises no error, and a network that uses it often still learns, only more slowly or less well.
# In this notebook you write the two functions of a **gradient check**:
# one computes a gradient from nothing but values of the loss, and the other measures how far two gradients are apart.
# With them you can test any backward pass, whoever wrote it.
#
# As always, replace the line `raise NotImplementedError(…)` with your code, and run the cell below it.
# `hint("relative_error")` asks you a question, `hint("relative_error", 2)` explains the idea,
# and `hint("relative_error", 3)` outlines the code.
#
# Read first, in the book: *Backpropagation through time › Checking gradients*.

# %%
import numpy as np

from grader import check, hint, progress

# %% [markdown]
# ## Comparing two gradients
#
# Write `relative_error`.
# When are two gradients the same?
# If they were computed in two ways, they rarely agree to the last digit,
# so we need a number that says how far apart they are.
# A difference of 0.001 means little between entries near 1000, but a lot between entries near 0.001.
# The **relative error** therefore divides the difference of two entries by their size, and the largest quotient counts:
#
# $$\max_i \frac{|a_i - b_i|}{|a_i| + |b_i|}$$
#
# | name | shape | what it is |
# |---|---|---|
# | `a`, `b` | any, the same for both | two gradients |
# | result | a number | the largest error of an entry: 0 if all entries are equal, at most 1 |
#
# Where both entries are 0 they agree, so their error is 0.
# This is the only exception: tiny entries are compared like any others.
#
# **A worked example.** Four entries:
#
# | | entry 0 | entry 1 | entry 2 | entry 3 |
# |---|---|---|---|---|
# | `a` | 4.00 | −0.10 | 0.00 | 2.00 |
# | `b` | 4.10 | −0.30 | 0.00 | 2.00 |
# | $\lvert a - b\rvert$ | 0.10 | 0.20 | 0.00 | 0.00 |
# | $\lvert a\rvert + \lvert b\rvert$ | 8.10 | 0.40 | 0.00 | 4.00 |
# | error | 0.01 | 0.50 | 0.00 | 0.00 |
#
# The result is 0.50. In entry 1, `b` is three times as large as `a`, and the other entries cannot make up for that.
#
# When the check passes, you can tell whether two gradients agree.
# The rule of thumb for float64 is that of the page: below 1e-7 the gradient is right, above 1e-3 something is wrong,
# and in between you should take a closer look.
# The rule has one exception: 0 against 1e-13 gives 1.0, although the two may differ by rounding alone.
# So look at the two entries themselves before you search for a mistake.


# %% exercise="relative_error"
def relative_error(a, b):
    """Compare two arrays entry by entry; the largest error counts.

    a, b of the same shape -> the largest of abs(a - b) / (abs(a) + abs(b)), a number; 0 / 0 is 0.
    """
    ### BEGIN SOLUTION
    size = np.abs(a) + np.abs(b)
    errors = np.abs(a - b) / np.where(size > 0, size, 1.0)
    return float(errors.max())
    ### END SOLUTION


# %% [markdown]
# ## A numerical gradient
#
# Write `numerical_gradient`.
# How can you find a gradient without any calculus?
# Increase one entry of `theta` a little and evaluate `f`, then decrease it a little and evaluate `f` again.
# The difference of the two values, divided by the distance between the two points,
# approximates the partial derivative with respect to this entry:
#
# $$\frac{\partial f}{\partial \theta_i} \approx
# \frac{f(\theta + \varepsilon e_i) - f(\theta - \varepsilon e_i)}{2 \varepsilon}$$
#
# Here $e_i$ is 1 in the position of entry $i$ and 0 everywhere else.
# The right-hand side is called a **central difference**, and an array with one of them for each entry
# is a **numerical gradient**.
#
# | name | shape | what it is |
# |---|---|---|
# | `f` | a function | `f(theta)` is a number |
# | `theta` | any, float64 | the point at which the gradient is wanted |
# | `eps` | a number | the step $\varepsilon$; 1e-5 by default |
# | result | that of `theta` | one partial derivative for each entry |
#
# **A worked example.** `theta` is a matrix of one row, [[3.00, 2.00]], and `eps` = 0.10.
# The function is $f(\theta) = \theta_{00}^2 + 3\, \theta_{00}\, \theta_{01}$.
#
# | entry | `f`, entry + 0.10 | `f`, entry − 0.10 | difference | divided by 0.20 |
# |---|---|---|---|---|
# | [0, 0] | 3.10² + 3 · 3.10 · 2.00 = 28.21 | 2.90² + 3 · 2.90 · 2.00 = 25.81 | 2.40 | 12.00 |
# | [0, 1] | 3.00² + 3 · 3.00 · 2.10 = 27.90 | 3.00² + 3 · 3.00 · 1.90 = 26.10 | 1.80 | 9.00 |
#
# The derivatives on paper agree: $2\, \theta_{00} + 3\, \theta_{01} = 12$ and $3\, \theta_{00} = 9$.
# This is the first case of the check. To try it, use
# `f = lambda theta: theta[0, 0] ** 2 + 3 * theta[0, 0] * theta[0, 1]`.
# Because this function is quadratic, every `eps` gives the exact derivatives, apart from rounding.
# For most functions the result depends on the step, so use the `eps` that is passed.
#
# You may change `theta` while you work, which saves copies of large arrays.
# When your function returns, however, `theta` must be what it was, *bit for bit*, because it belongs to the caller.
# This is less simple than it sounds. What does the next cell print? Decide before you run it.

# %% active="ipynb"
# print(0.7 + 1e-5 - 2e-5 + 1e-5 == 0.7)

# %% [markdown]
# When the check passes, you can approximate the gradient of any function that changes smoothly with its argument.
# It takes two calls of `f` for each entry, which is far too slow for training,
# but good enough to check a backward pass that is fast.
#
# One pitfall remains: an array of integers cannot hold small steps, because every value that you assign to it
# is cut off to an integer.
# In `np.array([1, 2])` the entries plus 1e-5 are 1 and 2 again, and minus 1e-5 they are 0 and 1.
# The two points are then 1 apart, but the difference is divided by 2e-5, so the gradient is far too large.
# Write `np.array([1.0, 2.0])`.


# %% exercise="numerical_gradient"
def numerical_gradient(f, theta, eps=1e-5):
    """Find the gradient of f at theta by central differences.

    f(theta) -> a number, theta of any shape, eps a number -> an array like theta; theta is left unchanged.
    """
    ### BEGIN SOLUTION
    gradient = np.zeros_like(theta)
    for index in np.ndindex(theta.shape):
        old = theta[index]
        theta[index] = old + eps
        above = f(theta)
        theta[index] = old - eps
        below = f(theta)
        theta[index] = old  # the stored number: adding and subtracting steps would round
        gradient[index] = (above - below) / (2 * eps)
    return gradient
    ### END SOLUTION


# %% [markdown]
# ## Your progress

# %% active="ipynb"
# progress()
