# %% [markdown]
# # Initialising recurrent weights
#
# Before the first update, the recurrent weights are random,
# and their scale decides how far back the first gradients reach.
# In this notebook you write two ways to choose it.
# The first gives any random matrix the spectral radius that you ask for.
# The second draws a random orthogonal matrix, all of whose eigenvalues have the modulus 1.
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
# ## A random orthogonal matrix
#
# Write `orthogonal_init`.
# An **orthogonal** matrix changes no length: $\lVert v Q \rVert = \lVert v \rVert$ for every row $v$.
# Its columns have length 1 and are perpendicular, which is the same as $Q^\top Q = I$.
# All its eigenvalues have the modulus 1 and all its singular values are 1,
# so this matrix alone makes a gradient neither vanish nor explode, however often the gradient passes through it.
#
# How do you draw one at random, so that no direction is preferred?
# More precisely, $M Q$ and $Q M$ must have the same distribution as $Q$, for every fixed orthogonal matrix $M$.
# Only one distribution has this property, the **uniform** or **Haar** distribution.
# With n = 1 it is that of a coin: $Q$ is 1 or −1, each with probability 1/2.
#
# **Two decompositions of one matrix.** A matrix with independent standard normal entries prefers no direction,
# and its **QR decomposition** $A = Q R$ has an orthogonal $Q$ and an upper triangular $R$.
# But a matrix has several such decompositions:
#
# $$A = \begin{bmatrix} 3.00 & 1.00 \\ 4.00 & -2.00 \end{bmatrix}$$
#
# | | $Q$ | $R$ |
# |---|---|---|
# | first | [[−0.60, −0.80], [−0.80, 0.60]] | [[−5.00, 1.00], [0.00, −2.00]] |
# | second | [[0.60, −0.80], [0.80, 0.60]] | [[5.00, −1.00], [0.00, −2.00]] |
#
# Check that both products are $A$. What is the difference between the two rows of the table?
# There are two more decompositions: write them down.
#
# `np.linalg.qr(A)` returns the first of the four. It follows a rule of its own:
# if $Q$ has two or more rows, its upper left entry is never positive.
# So the $Q$ that it returns for a random matrix is orthogonal, but not uniformly distributed.
# You need your own rule for choosing one of the four (in general, of the $2^n$),
# and your choice must not depend on which of them the library happens to return.
#
# | name | shape | what it is |
# |---|---|---|
# | `rng` | a random generator | the only source of random numbers: `rng.normal(size=…)` and so on |
# | `n` | an integer above 0 | the number of rows and columns |
# | result `Q` | (n, n) | a random orthogonal matrix, float64, a different one at each call |
#
# No single result is right, so your matrices are not compared with others.
# Instead, the check calls your function up to 600 times with one generator
# and tests whether the results are orthogonal, whether they come from `rng`
# (a new generator with the same seed must give the same matrices again), and whether their distribution is uniform.
# Use a QR decomposition or any other way.


# %% exercise="orthogonal_init"
def orthogonal_init(rng, n):
    """Draw a uniformly distributed orthogonal matrix.

    rng a random generator, n an integer above 0 -> Q (n, n).
    """
    ### BEGIN SOLUTION
    Q, R = np.linalg.qr(rng.normal(size=(n, n)))
    return Q * np.sign(np.diag(R))  # column j times the sign of R[j, j], so that R would have a positive diagonal
    ### END SOLUTION


# %% [markdown]
# ## Your progress

# %% active="ipynb"
# progress()

# %% [markdown]
# ## What the signs do
#
# The rest of this notebook is not graded.
# The next cell draws 2,000 orthogonal 2 × 2 matrices with `np.linalg.qr` alone and 2,000 with your function,
# and draws a histogram of the upper left entry. One circle stands for 25 matrices.
#
# For a uniformly distributed matrix, this entry is the cosine of a random angle,
# so values near −1 and 1 are more frequent than those near 0, but the histogram is symmetric.
# What will be missing without the signs? Write down a guess, then run the cell.

# %% active="ipynb"
# rng = np.random.default_rng(0)
#
# try:
#     alone = [np.linalg.qr(rng.normal(size=(2, 2)))[0][0, 0] for _ in range(2000)]
#     yours = [orthogonal_init(rng, 2)[0, 0] for _ in range(2000)]
#     for name, entries in {"np.linalg.qr alone": alone, "orthogonal_init": yours}.items():
#         print(name)
#         for left, count in zip(np.arange(-1, 1, 0.25), np.histogram(entries, np.linspace(-1, 1, 9))[0], strict=True):
#             print(f"  {left:5.2f} to {left + 0.25:5.2f}  {count:4d}  ", "●" * round(count / 25))
# except (NotImplementedError, TypeError, ValueError, IndexError) as not_yet:
#     print(f"This cell waits for your code.  {not_yet}")

# %% [markdown]
# ## Two initialisations compared
#
# The cell below passes a gradient back through 100 steps, for two networks of 64 units:
# one with a random matrix that your `scale_to_spectral_radius` has given the radius 1,
# and one with your `orthogonal_init`, whose radius is 1 anyway. Both are run twice:
# without a nonlinearity, and with a tanh and weak inputs (standard deviation 0.1).
# It prints the gradient's norm at some lags, relative to lag 0, and the singular values of `W_hh`.
#
# Both matrices have the same spectral radius. In which column will they differ most, and which network keeps
# its gradient for 100 steps? Write down a guess, then run the cell.

# %% active="ipynb"
# rng = np.random.default_rng(0)
# T, H = 100, 64
# dh_T, noise, lags = rng.normal(size=H), 0.1 * rng.normal(size=(T, H)), (1, 10, 50, 99)
#
#
# def gradient_norms(W_hh, nonlinear):
#     h = np.zeros((T + 1, H))
#     for t in range(T * nonlinear):
#         h[t + 1] = np.tanh(noise[t] + h[t] @ W_hh)  # (H,)
#     norms, dh = [], dh_T
#     for lag in range(T):
#         norms.append(np.linalg.norm(dh))
#         dh = (dh * (1 - h[T - lag] ** 2)) @ W_hh.T  # the derivative is 1 if all h are 0
#     return np.array(norms) / norms[0]
#
#
# try:
#     matrices = {
#         "radius 1  ": scale_to_spectral_radius(rng.normal(size=(H, H)), 1.0),
#         "orthogonal": orthogonal_init(rng, H),
#     }
#     for name, W_hh in matrices.items():
#         values = np.linalg.svd(W_hh, compute_uv=False)
#         print(f"{name}  singular values from {values.min():.2f} to {values.max():.2f}")
#         for nonlinear in (False, True):
#             norms = gradient_norms(W_hh, nonlinear)
#             print("  tanh  " if nonlinear else "  linear", *(f"  lag {lag}: {norms[lag]:7.2g}" for lag in lags))
# except (NotImplementedError, TypeError, ValueError, IndexError) as not_yet:
#     print(f"This cell waits for your code.  {not_yet}")

# %% [markdown]
# Without a nonlinearity, the orthogonal matrix keeps the norm exactly, at every lag.
# The other matrix has the same spectral radius, but its singular values range from nearly 0 to about 2:
# it lengthens some directions and shortens others, so the norm first varies and then slowly falls,
# because only the eigenvectors with the largest eigenvalues survive many steps.
#
# With a tanh, both lose the gradient, the orthogonal one more slowly in this run:
# the derivative of the tanh is below 1 wherever a state is not 0, and this factor enters at every step.
# An orthogonal initialisation removes one of the two causes, the weights, and only before the first update,
# because training changes the weights. These are two networks that have not been trained;
# whether such a network *learns* more easily is a question for the experiments of the chapter.
