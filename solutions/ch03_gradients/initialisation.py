# %% [markdown]
# # Initialising recurrent weights
#
# Before the first update, the recurrent weights are random,
# and their scale decides how far back the first gradients reach.
# In this notebook you write two ways to choose it.
# The first gives any random matrix the spectral radius that you ask for.
# Plan about 10 minutes for the first exercise and 25 for the second.
#
# As always, replace the line `raise NotImplementedError(…)` with your code, and run the cell below it.
# `hint("scale_to_spectral_radius")` asks you a question, `hint("scale_to_spectral_radius", 2)` explains the idea,
# and `hint("scale_to_spectral_radius", 3)` outlines the code.
#
# Read first, in the book: *Vanishing and exploding gradients › Initialising a network that remembers*.

# %%
import numpy as np

from grader import check, hint, progress

# %% [markdown]
# ## Scaling to a spectral radius
#
# Write `scale_to_spectral_radius`.
# The long-run growth of a gradient depends on the spectral radius of the recurrent weights,
# the largest size of an eigenvalue.
# How do you get random weights with a spectral radius of exactly 0.9?
# If $W v = \lambda v$, then $(s W) v = (s \lambda) v$ for every number $s$:
# a common factor multiplies every eigenvalue and leaves the eigenvectors as they are.
#
# **A worked example.** The spectral radius should be 0.75.
# This matrix is triangular, so its eigenvalues are the entries on its diagonal; those of other matrices are not:
#
# $$W = \begin{bmatrix} 0.40 & 0.30 \\ 0.00 & -0.50 \end{bmatrix} \qquad
# s = \frac{0.75}{0.50} = 1.50 \qquad
# s W = \begin{bmatrix} 0.60 & 0.45 \\ 0.00 & -0.75 \end{bmatrix}$$
#
# | | before | after |
# |---|---|---|
# | eigenvalues | 0.40 and −0.50 | 0.60 and −0.75 |
# | spectral radius | 0.50 | 0.75 |
#
# | name | shape | what it is |
# |---|---|---|
# | `W` | (H, H) | a real matrix whose spectral radius is not 0 |
# | `rho` | a number above 0 | the spectral radius that the result should have |
# | result | (H, H) | `W` times a positive number, as a new array |
#
# You wrote `spectral_radius` in the notebook *The linear case*.
# You can copy it into the cell, above the new function, or compute the radius inside it.


# %% exercise="scale_to_spectral_radius"
def scale_to_spectral_radius(W, rho):
    """Multiply a matrix by the positive number that gives it this spectral radius.

    W (H, H) with a spectral radius above 0, rho a number above 0 -> (H, H), a new array.
    """
    ### BEGIN SOLUTION
    radius = np.abs(np.linalg.eigvals(W)).max()
    return W * (rho / radius)
    ### END SOLUTION


# %% [markdown]
# ## Your progress

# %% active="ipynb"
# progress()
