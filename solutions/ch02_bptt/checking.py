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
# ## Where you are

# %% active="ipynb"
# progress()
