# %% [markdown]
# # The linear case
#
# On its way back through a recurrent network, a gradient is multiplied at each step by the derivative of the tanh
# and by the transpose of `W_hh`. What is left of it after fifty steps?
# Without the tanh there is an exact answer, and it depends on the **eigenvalues** of `W_hh`.
# In this notebook you compute the number that decides whether the gradient vanishes or explodes in the long run,
# and then the gradient itself, any number of steps back.
# Plan about 35 minutes.
#
# As always, replace the line `raise NotImplementedError(…)` with your code, and run the cell below it.
# `hint("spectral_radius")` asks you a question, `hint("spectral_radius", 2)` explains the idea,
# and `hint("spectral_radius", 3)` outlines the code.
#
# Read first, in the book: *Vanishing and exploding gradients › The linear case, solved*.

# %%
import numpy as np

from grader import check, hint, progress

# %% [markdown]
# ## The spectral radius
#
# Write `spectral_radius`.
# Which number tells whether the powers $W, W^2, W^3, \dots$ of a square matrix shrink or grow?
# If $W v = \lambda v$ for a vector $v$ that is not zero, the number $\lambda$ is an **eigenvalue** of $W$,
# and $W^\ell v = \lambda^\ell v$: every further factor $W$ multiplies this vector by $\lambda$ once more.
# What matters in the long run is therefore the absolute value of each eigenvalue, its *size*,
# and the largest size is the **spectral radius**:
#
# $$\rho(W) = \max_i \lvert \lambda_i \rvert$$
#
# **A worked example with real eigenvalues.** The eigenvalues of a 2 × 2 matrix have the sum $a + d$,
# which is the trace of the matrix, and the product $a d - b c$, which is its determinant:
#
# $$W = \begin{bmatrix} 0.20 & 0.25 \\ 0.40 & -0.70 \end{bmatrix}$$
#
# | | computed from the entries | here |
# |---|---|---|
# | sum of the eigenvalues | 0.20 + (−0.70) | −0.50 |
# | product of the eigenvalues | 0.20 · (−0.70) − 0.25 · 0.40 | −0.24 |
# | eigenvalues | the two numbers with this sum and this product | 0.30 and −0.80 |
# | their sizes | without the sign | 0.30 and 0.80 |
# | spectral radius | the largest size | 0.80 |
#
# The eigenvalue −0.80 is the *smaller* of the two numbers, but it decides:
# along its eigenvector, every step multiplies by −0.80, so the sign alternates and the length shrinks by 20 %.
#
# **An example with complex eigenvalues, half worked out.** The eigenvalues of a real matrix need not be real:
#
# $$W = \begin{bmatrix} 0.70 & -1.60 \\ 0.20 & -0.10 \end{bmatrix}$$
#
# | | computed from the entries | here |
# |---|---|---|
# | sum of the eigenvalues | 0.70 + (−0.10) | 0.60 |
# | product of the eigenvalues | 0.70 · (−0.10) − (−1.60) · 0.20 | 0.25 |
# | eigenvalues | the two numbers with this sum and this product | $0.30 + 0.40\,i$ and $0.30 - 0.40\,i$ |
# | spectral radius | the largest size | ? |
#
# The size of a complex number $a + b\,i$ is its **modulus**, $\lvert a + b\,i \rvert = \sqrt{a^2 + b^2}$.
# Complex eigenvalues come in such pairs, and they turn a vector as well as stretch it.
# Write down the missing number before you write any code.
# The first case of the check is exactly this matrix.
# Once it passes, compare your number with the one under *What you wrote down*, at the end of this notebook.
#
# | name | shape | what it is |
# |---|---|---|
# | `W` | (H, H) | a real matrix, not necessarily symmetric |
# | result | a number | its spectral radius |
#
# `np.linalg.eigvals(W)` returns the H eigenvalues in no particular order.
# The array is complex if one of them is, and otherwise real.
# The spectral radius can be 0 although entries of the matrix are large.
# In the matrix with the rows [0, 3] and [0, 0], for example, both eigenvalues are 0.
#
# When the check passes, you can tell the spectral radius from three numbers that are easily taken for it:
# the largest entry, the largest real part of an eigenvalue,
# and the **largest singular value**, which is the most that a *single* step can stretch a vector.


# %% exercise="spectral_radius"
def spectral_radius(W):
    """The largest size of an eigenvalue.

    W (H, H) -> a number, at least 0.  Equation (spectral-radius).
    """
    ### BEGIN SOLUTION
    eigenvalues = np.linalg.eigvals(W)  # (H,): complex if one of them is
    return float(np.abs(eigenvalues).max())  # the absolute value of a complex number is its modulus
    ### END SOLUTION


# %% [markdown]
# ## The gradient of a linear network
#
# Write `linear_gradient`.
# A network without nonlinearity, inputs and bias has the recurrence
#
# $$h_t = h_{t-1} W_{hh}$$
#
# Suppose only the last state $h_T$ appears in the loss, and you know its gradient $dh_T = \partial L / \partial h_T$.
# What is the gradient with respect to the state $\ell$ steps earlier?
# The number $\ell$ is called the **lag**.
# In chapter 2 you saw that a step passes its gradient back by multiplying it by $W_{hh}^\top$,
# and without the tanh that is all it does:
#
# $$dh_{t-1} = dh_t W_{hh}^\top \qquad \text{so} \qquad dh_{T-\ell} = dh_T \, (W_{hh}^\top)^\ell$$
#
# **The powers of a matrix from its eigenvalues.** Almost every matrix can be written as
# $W_{hh}^\top = Q \Lambda Q^{-1}$, where $\Lambda$ is a diagonal matrix with the eigenvalues
# and the columns of $Q$ are eigenvectors of $W_{hh}^\top$.
# Such a matrix is called **diagonalisable**.
# In a product of several factors $Q \Lambda Q^{-1}$, every $Q^{-1}$ in the middle cancels the $Q$ that follows it,
# so only the eigenvalues are raised to a power:
#
# $$dh_{T-\ell} = \underbrace{dh_T \, Q}_{c} \, \Lambda^\ell \, Q^{-1}$$
#
# The row $c$ holds the **coordinates** of the gradient: $dh_T$ is the sum of the rows of $Q^{-1}$,
# each times its coordinate.
# Each step back multiplies coordinate $i$ by $\lambda_i$ and does nothing else.
#
# **An example, half worked out.** Two units, and eigenvalues 0.80 and 0.50:
#
# $$W_{hh} = \begin{bmatrix} 1.10 & 0.30 \\ -0.60 & 0.20 \end{bmatrix} \qquad
# Q = \begin{bmatrix} 2.00 & 1.00 \\ 1.00 & 1.00 \end{bmatrix} \qquad
# Q^{-1} = \begin{bmatrix} 1.00 & -1.00 \\ -1.00 & 2.00 \end{bmatrix} \qquad
# dh_T = \begin{bmatrix} 3.40 & -3.80 \end{bmatrix}$$
#
# | lag | coordinate 0 | coordinate 1 | the gradient: coordinates times $Q^{-1}$ |
# |---|---|---|---|
# | 0 | 3.40 · 2.00 − 3.80 · 1.00 = 3.00 | 3.40 · 1.00 − 3.80 · 1.00 = −0.40 | [3.40, −3.80] |
# | 1 | 3.00 · 0.80 = 2.40 | −0.40 · 0.50 = −0.20 | [2.60, −2.80] |
# | 2 | ? | ? | ? |
#
# As a check, the loop of chapter 2 gives the same for lag 1:
# $dh_T W_{hh}^\top$ has the entries 3.40 · 1.10 − 3.80 · 0.30 = 2.60 and 3.40 · (−0.60) − 3.80 · 0.20 = −2.80.
# Write down the row for lag 2 before you write any code.
# The first case of the check is exactly this one, with `lag` = 2,
# and the numbers are under *What you wrote down*.
#
# | name | shape | what it is |
# |---|---|---|
# | `W_hh` | (H, H) | the recurrent weights: real, diagonalisable |
# | `dh_T` | (H,) | the gradient with respect to the last state |
# | `lag` | an integer, 0 or more | how many steps back |
# | result | (H,), float64 | the gradient with respect to the state `lag` steps earlier; for lag 0 it is `dh_T` |
#
# Your result is graded, not the way to it: a loop, a matrix power and the eigenvalues are equally good.
# In this notebook we recommend the eigenvalues, because they show what happens to each coordinate.
# `eigenvalues, Q = np.linalg.eig(A)` returns the eigenvalues of `A` and a matrix with its eigenvectors as *columns*.
# NumPy gives each column length 1, so its `Q` differs from the one above, but the product with $Q^{-1}$ does not.
#
# **When not to use them.** The method needs as many independent eigenvectors as there are units,
# and all matrices of the check have them.
# The matrix with the rows [0.9, 10] and [0, 0.9] does not: its eigenvectors lie on one line, so $Q$ has no inverse.
# NumPy still returns a `Q`, because of rounding errors, and the result is wrong without any error message.
# `np.linalg.cond(Q)`, the *condition number*, reveals this:
# it is small if the eigenvectors point in clearly different directions, and huge if they nearly lie on one line.
# A loop over the steps is right for every matrix.
#
# The gradient of a real network is real, even if some eigenvalues are complex.
# The imaginary parts cancel in the last product, because it adds the contributions of both eigenvalues of each pair.
# Rounding leaves something like $10^{-17}\,i$, and the array is still complex, so return its real part.


# %% exercise="linear_gradient"
def linear_gradient(W_hh, dh_T, lag):
    """The gradient with respect to an earlier state of the network h_t = h_prev @ W_hh.

    W_hh (H, H), dh_T (H,), lag an integer, 0 or more -> dh (H,), real.  Equation (linear-gradient).
    """
    ### BEGIN SOLUTION
    eigenvalues, Q = np.linalg.eig(W_hh.T)  # (H,) and (H, H): W_hh.T @ Q is Q * eigenvalues
    coordinates = dh_T @ Q  # (H,)
    coordinates = coordinates * eigenvalues**lag
    dh = coordinates @ np.linalg.inv(Q)  # (H,)
    return dh.real
    ### END SOLUTION


# %% [markdown]
# ## What you wrote down
#
# The next cell runs your functions on the examples above.
# If one of your numbers differs, go back to its table and work it out again.

# %% active="ipynb"
# W = np.array([[0.70, -1.60], [0.20, -0.10]])
# W_hh, dh_T = np.array([[1.10, 0.30], [-0.60, 0.20]]), np.array([3.40, -3.80])
# Q = np.array([[2.00, 1.00], [1.00, 1.00]])
#
# try:
#     print("spectral radius     ", round(float(spectral_radius(W)), 2))
#     dh = linear_gradient(W_hh, dh_T, 2)
#     print("lag 2, coordinates  ", np.round(dh @ Q, 2).tolist())
#     print("lag 2, the gradient ", np.round(dh, 2).tolist())
# except (NotImplementedError, TypeError, ValueError, IndexError) as not_yet:
#     print(f"This cell waits for your code.  {not_yet}")

# %% [markdown]
# ## Your progress

# %% active="ipynb"
# progress()

# %% [markdown]
# ## Which of them vanishes?
#
# This section is not graded.
# Below are three linear networks, and each of them breaks a rule of thumb about when a gradient vanishes:
#
# | network | `W_hh` | the rule of thumb |
# |---|---|---|
# | small entries | 40 × 40, all entries between 0 and 0.07 | small weights make gradients vanish |
# | small eigenvalues | diagonal, with the eigenvalues −1.2 and 0.5 | eigenvalues below 1 make gradients vanish |
# | small radius | the rows [0.9, 5.0] and [0.0, 0.8] | with a radius below 1, every step makes the gradient shorter |
#
# The cell prints the spectral radius, the largest singular value,
# and the norm (the length) of the gradient at six lags. At lag 0 it is 1 each time.
# Which of the three gradients have a norm above 1 at lag 5, and which at lag 100?
# Write down a guess, then run the cell.

# %% active="ipynb"
# rng = np.random.default_rng(3)
# networks = {
#     "small entries": rng.uniform(0, 0.07, size=(40, 40)),
#     "small eigenvalues": np.diag([-1.2, 0.5]),
#     "small radius": np.array([[0.9, 5.0], [0.0, 0.8]]),
# }
#
# try:
#     for name, W_hh in networks.items():
#         largest = np.linalg.norm(W_hh, 2)  # the largest singular value
#         print(f"{name}: spectral radius {spectral_radius(W_hh):.2f}, largest singular value {largest:.2f}")
#         dh_T = np.ones(len(W_hh)) / np.sqrt(len(W_hh))  # (H,), of length 1
#         for lag in (0, 1, 5, 10, 20, 100):
#             norm = np.linalg.norm(linear_gradient(W_hh, dh_T, lag))
#             print(f"  lag {lag:3d}   norm {norm:.2g}")
# except (NotImplementedError, TypeError, ValueError, IndexError) as not_yet:
#     print(f"This cell waits for your code.  {not_yet}")

# %% [markdown]
# The first two gradients explode, because both spectral radii are above 1.
# Small entries do not prevent that, since there are forty of them in every sum,
# and the eigenvalue −1.2 grows in size although it is below 1.
# The third gradient does vanish in the long run, as the radius of 0.9 says, but it grows first.
# This **transient growth** is possible because the matrix is **non-normal** ($W W^\top \ne W^\top W$):
# its largest singular value is far above its spectral radius.
# The spectral radius describes the long run, and the largest singular value limits every single step.
