# %% [markdown]
# # A network that learns
#
# You can find out which way each weight of a network has to go. Now let it go there.
# In this notebook you build the step that moves a weight, then the loop that reads a text again and again
# until the network knows it.
#
# As always: replace the line `raise NotImplementedError(…)` with your code, and run the cell below it.
# `hint("adagrad_step")` asks you a question, `hint("adagrad_step", 2)` names the idea,
# `hint("adagrad_step", 3)` shows the shape of the code.
#
# Read first: *Backpropagation through time › Learning from real text*, in the book.
# Nothing from the notebooks before is needed here: the gradients come from a function that you are given.

# %%
import numpy as np

# %% [markdown]
# ## A step for each weight
#
# Write `adagrad_step`.
# Some weights get large gradients all the time, others a small one now and then: a letter that is rare, for example.
# *Adagrad* (Duchi, Hazan and Singer, 2011) gives each weight a step size of its own.
# It remembers, for each weight by itself, the sum of all its squared gradients so far, and divides by the root of that:
#
# $$c \leftarrow c + g^2, \qquad \theta \leftarrow \theta - \text{lr} \, \frac{g}{\sqrt{c} + \varepsilon}$$
#
# | name | shape | what it is |
# |---|---|---|
# | `theta` | any | weights, $\theta$ |
# | `grad` | that of `theta` | their gradients, $g$ |
# | `cache` | that of `theta` | the sums before this step, $c$ |
# | `lr` | a number | the learning rate |
# | `eps` | a number | $\varepsilon$, so that 0 / 0 cannot happen; 1e-8 if it is left out |
# | result `theta`, `cache` | that of `theta` | both after this step: new arrays, in this order |
#
# **By hand, once.** Three weights, `lr` = 0.10; the third has never had a gradient.
#
# | | weight 0 | weight 1 | weight 2 |
# |---|---|---|---|
# | `theta` | 1.00 | 1.00 | 1.00 |
# | `grad` | 3.00 | −0.03 | 0.00 |
# | `cache` before | 16.00 | 0.00 | 0.00 |
# | `cache` after | 25.00 | 0.00 | 0.00 |
# | its root | 5.00 | 0.03 | 0.00 |
# | step | −0.06 | 0.10 | 0.00 |
# | `theta` after | 0.94 | 1.10 | 1.00 |
#
# Weight 1 has a gradient a hundred times smaller than weight 0 and makes the longer step: it is its first.
#
# When the check passes, you can train any network whose gradients you have.


# %% exercise="adagrad_step"
def adagrad_step(theta, grad, cache, lr, eps=1e-8):
    """Move each weight downhill, by a step that shrinks with the gradients it has had.

    theta, grad, cache of one shape, lr and eps numbers -> theta, cache after the step, new arrays.
    """
    ### BEGIN SOLUTION
    cache = cache + grad**2
    return theta - lr * grad / (np.sqrt(cache) + eps), cache
    ### END SOLUTION


# %% [markdown]
# ## Where you are

# %% active="ipynb"
# progress()
