# %% [markdown]
# # Products of Jacobians
#
# How much does a state of a recurrent network depend on a state many steps earlier?
# The answer is a matrix, the **Jacobian** of many steps, and it is a product with one factor for each step.
# In this notebook you write the factor, then the product, and then a function that measures
# how the gradient of the loss shrinks or grows on its way back through a whole sequence.
# Allow about 45 minutes.
#
# As always, replace the line `raise NotImplementedError(…)` with your code, and run the cell below it.
# `hint("step_jacobian")` asks you a question, `hint("step_jacobian", 2)` explains the idea,
# and `hint("step_jacobian", 3)` outlines the code.
#
# Read first, in the book: *Vanishing and exploding gradients › A product of Jacobians*.

# %%
import numpy as np

from grader import check, hint, progress

# %% [markdown]
# ## The Jacobian of one step
#
# Write `step_jacobian`.
# A small change of the previous state changes every unit of the next state.
# The Jacobian of a step has one entry for each pair of units:
#
# $$h_t = \tanh(x_t W_{xh} + h_{t-1} W_{hh} + b_h), \qquad
# J_t = \frac{\partial h_t}{\partial h_{t-1}}, \qquad
# J_t[i, j] = \frac{\partial h_t[i]}{\partial h_{t-1}[j]}$$
#
# **Rows belong to outputs, columns to inputs.**
# If `h_prev[j]` grows by a small number $\varepsilon$, then `h_t[i]` grows by about `J[i, j]` · $\varepsilon$.
#
# **A worked neighbour.** Here is the Jacobian of another function: a matrix product, then a square instead of a tanh.
# It has two inputs and three outputs, so its Jacobian has three rows and two columns:
#
# $$s = v A, \qquad u_i = s_i^2, \qquad
# v = \begin{bmatrix} 1.00 & -0.50 \end{bmatrix}, \quad
# A = \begin{bmatrix} 0.40 & -0.20 & 0.30 \\ 0.60 & 0.70 & -0.80 \end{bmatrix}$$
#
# Output $i$ depends on input $j$ only through $s_i = \sum_j v_j A_{ji}$, so the chain rule has two factors:
#
# $$\frac{\partial u_i}{\partial v_j} = \frac{\partial u_i}{\partial s_i} \cdot \frac{\partial s_i}{\partial v_j}
# = 2 s_i \cdot A_{ji}$$
#
# The first factor belongs to the output alone, so it multiplies a whole *row* of the Jacobian.
# In the second one the indices are swapped:
# the Jacobian lists outputs first, whereas $A$, written for rows $v$, lists inputs first.
#
# | output | $s_i$ | derivative, $2 s_i$ | from input 0 | from input 1 |
# |---|---|---|---|---|
# | 0 | 0.10 | 0.20 | 0.20 · 0.40 = 0.08 | 0.20 · 0.60 = 0.12 |
# | 1 | −0.55 | −1.10 | −1.10 · (−0.20) = 0.22 | −1.10 · 0.70 = −0.77 |
# | 2 | 0.70 | 1.40 | 1.40 · 0.30 = 0.42 | 1.40 · (−0.80) = −1.12 |
#
# The last two columns are the Jacobian.
#
# **The step of a network, half worked out.** It has two units.
# The derivative of the tanh at the pre-activation is 1 − `h_t[i]`²:
#
# $$h_t = \begin{bmatrix} 0.60 & -0.40 \end{bmatrix}, \quad
# W_{hh} = \begin{bmatrix} 0.50 & -0.75 \\ 1.25 & 0.25 \end{bmatrix}$$
#
# Unit 1 of the previous state feeds unit 0 of the next one through `W_hh[1, 0]` = 1.25,
# and the tanh of unit 0 multiplies by 1 − 0.60² = 0.64, so `J[0, 1]` = 0.64 · 1.25 = 0.80.
# Write down the other three entries before you write any code.
# This is the first case of the check, and *What you wrote down*, near the end of this notebook, prints all four.
#
# | name | shape | what it is |
# |---|---|---|
# | `h_t` | (H,) | the state after the step, of one sequence |
# | `W_hh` | (H, H) | the recurrent weights |
# | result `J` | (H, H) | `J[i, j]` is the derivative of `h_t[i]` with respect to `h_prev[j]` |
#
# When the check passes, you have the matrix by which one step multiplies a small change of the state.


# %% exercise="step_jacobian"
def step_jacobian(h_t, W_hh):
    """The Jacobian of one step of a tanh RNN: the state after the step with respect to the previous state.

    h_t (H,), W_hh (H, H) -> J (H, H), one row for each unit of h_t.  Equation (step-jacobian).
    """
    ### BEGIN SOLUTION
    derivative = 1 - h_t**2  # (H,): one for each unit after the step
    return derivative[:, None] * W_hh.T  # row i is multiplied by the derivative of unit i
    ### END SOLUTION


# %% [markdown]
# ## The Jacobian of many steps
#
# Write `jacobian_product`.
# A change of the state $h_k$ reaches a later state $h_t$ through every step in between.
# By the chain rule, the Jacobians of these steps are multiplied as matrices:
#
# $$\frac{\partial h_t}{\partial h_k} = J_t\, J_{t-1} \cdots J_{k+1}$$
#
# Matrices do not commute, so the order matters.
# Write a change of $h_k$ as a column $v$, so that a Jacobian multiplies it from the left.
# It goes through step $k + 1$ first, which gives $J_{k+1} v$,
# and through step $t$ last. The factor of the *latest* step is therefore on the *left*.
#
# **An example, half worked out.** Two units, three states, k = 0 and t = 2.
# The rows of `h` are counted from 0, so `h[0]` is the first state:
#
# $$h = \begin{bmatrix} 0.30 & -0.70 \\ 0.60 & -0.40 \\ -0.80 & 0.20 \end{bmatrix}, \quad
# W_{hh} = \begin{bmatrix} 0.50 & -0.75 \\ 1.25 & 0.25 \end{bmatrix}$$
#
# | step | its Jacobian |
# |---|---|
# | from `h[0]` to `h[1]` | the one that you wrote down for `step_jacobian` |
# | from `h[1]` to `h[2]` | [[0.18, 0.45], [−0.72, 0.24]] |
#
# Which of the three states do these two Jacobians depend on, and which not?
#
# An entry of the product sums over the units of `h[1]`, because a change reaches `h[2]` through each of them.
# The effect of unit 1 of `h[0]` on unit 0 of `h[2]` is therefore a sum of two products:
#
# | through | to unit 0 of `h[2]` | from unit 1 of `h[0]` | product |
# |---|---|---|---|
# | unit 0 of `h[1]` | 0.18 | 0.80 | 0.144 |
# | unit 1 of `h[1]` | 0.45 | 0.21 | 0.0945 |
# | sum | | | 0.2385 |
#
# So entry [0, 1] of the product is 0.2385. Write down entry [1, 0] in the same way; you find it under
# *What you wrote down*. This is the first case of the check.
#
# **From no step to many.** If k = t there is no step in between, so there is no factor.
# A state changes by exactly as much as itself: which (H, H) matrix says so?
#
# | name | shape | what it is |
# |---|---|---|
# | `h` | (T, H) | the states of one sequence, from the forward pass |
# | `W_hh` | (H, H) | the recurrent weights |
# | `k`, `t` | integers | rows of `h`, counted from 0, with k ≤ t |
# | result | (H, H) | the derivative of `h[t]` with respect to `h[k]`, laid out like `step_jacobian` |
#
# Use your `step_jacobian` for the factors.
# When the check passes, you can say how much any state of a sequence depends on any earlier one.


# %% exercise="jacobian_product"
def jacobian_product(h, W_hh, k, t):
    """The Jacobian of the steps from h[k] to h[t] of a tanh RNN.

    h (T, H), W_hh (H, H), k <= t counted from 0 -> dh[t]/dh[k] (H, H).  Equation (jacobian-product).
    """
    ### BEGIN SOLUTION
    product = np.eye(h.shape[1])  # (H, H): no step, no change
    for s in range(k + 1, t + 1):
        product = step_jacobian(h[s], W_hh) @ product  # the later step on the left
    return product
    ### END SOLUTION


# %% [markdown]
# ## The gradient's norm against lag
#
# Write `gradient_norms_by_lag`.
# Suppose that only the last state of a sequence has a gradient from the loss.
# How large is the gradient when it has been passed back through one step, two steps, and so on?
#
# A gradient is a row, so it is multiplied by Jacobians from its right: $dh_k = dh_T \cdot \partial h_T / \partial h_k$.
# There is no need for those matrices here, though.
# In chapter 2 you passed a gradient back from one state to the previous one,
# for the whole batch at once, and that is all this function does.
#
# The number of steps through which the gradient has been passed back is the **lag** $\ell$.
# At lag 0 the gradient is `dh_T` itself.
# At lag $\ell$ it is the gradient with respect to the state $\ell$ steps earlier.
# Its size is its **Frobenius norm**: the root of the sum of the squares of *all* its entries,
# those of every unit of every sequence.
#
# **A small example.** Two sequences, three steps and one unit. The last state has the gradient 3.00 in the first
# sequence and −4.00 in the second, so the norm at lag 0 is √(3.00² + 4.00²) = 5.00.
#
# | | sequence 0 | sequence 1 |
# |---|---|---|
# | `dh_T` | 3.00 | −4.00 |
# | `h`, all three steps | 0.40, −0.50, 0.80 | −0.10, 0.20, 0.60 |
#
# With `W_hh` = [[0.50]], the three norms are 5.00, 1.39 and 0.65, rounded.
# Work out the 1.39 before you write any code: which states does it depend on?
#
# | name | shape | what it is |
# |---|---|---|
# | `dh_T` | (B, H) | the gradient of the loss with respect to the last state |
# | `h` | (B, T, H) | all states, from the forward pass; `h[:, -1]` is the last one |
# | `W_hh` | (H, H) | the recurrent weights |
# | result `norms` | (T,) | `norms[0]` is the norm at lag 0, and so on up to lag T − 1, the first state |
#
# When the check passes, you can measure how far back the loss of a network reaches.


# %% exercise="gradient_norms_by_lag"
def gradient_norms_by_lag(dh_T, h, W_hh):
    """The norm of the gradient of the last state, passed back through 0, 1, …, T - 1 steps of a tanh RNN.

    dh_T (B, H), h (B, T, H), W_hh (H, H) -> norms (T,), Frobenius norms over (B, H), entry 0 for lag 0.
    """
    ### BEGIN SOLUTION
    T = h.shape[1]
    norms, dh = np.zeros(T), dh_T
    for lag in range(T):
        norms[lag] = np.sqrt((dh**2).sum())  # over units and sequences
        dh = (dh * (1 - h[:, T - 1 - lag] ** 2)) @ W_hh.T  # (B, H): one step further back
    return norms
    ### END SOLUTION


# %% [markdown]
# ## What you wrote down
#
# The next cell runs your functions on the examples above.
# If one of your numbers differs, go back to its table and work out that entry again.

# %% active="ipynb"
# h, W_hh = np.array([[0.30, -0.70], [0.60, -0.40], [-0.80, 0.20]]), np.array([[0.50, -0.75], [1.25, 0.25]])
# dh_T, batch = np.array([[3.00], [-4.00]]), np.array([[[0.40], [-0.50], [0.80]], [[-0.10], [0.20], [0.60]]])
#
# try:
#     print("one step  ", np.round(step_jacobian(h[1], W_hh), 2).tolist())
#     print("two steps ", np.round(jacobian_product(h, W_hh, 0, 2), 4).tolist())
#     print("norms     ", np.round(gradient_norms_by_lag(dh_T, batch, np.array([[0.50]])), 2).tolist())
# except (NotImplementedError, TypeError, ValueError, IndexError) as not_yet:
#     print(f"This cell waits for your code.  {not_yet}")

# %% [markdown]
# ## Your progress

# %% active="ipynb"
# progress()

# %% [markdown]
# ## One matrix, three outcomes
#
# This section is not graded.
# The cell below runs a network of 32 units on 8 sequences of 60 steps, three times with the *same* random `W_hh`.
# Only the size of the inputs differs: no input, weak inputs and strong inputs,
# drawn at random with standard deviation 0.0, 0.1 and 1.0.
# For each run it prints the mean derivative of the tanh, and draws the gradient's norm at lags 0, 10, …, 50,
# relative to lag 0, on a logarithmic scale: two more circles are a factor of 10.
# The last number is the largest singular value of the Jacobian from `h[0, 9]` to `h[0, 59]`,
# which is the most by which those 50 steps can lengthen a small change of the first sequence's state.
#
# In which run will the gradient vanish, and in which will it explode? Write down a guess, then run the cell.

# %% active="ipynb"
# rng = np.random.default_rng(0)
# B, T, H = 8, 60, 32
# W_hh, dh_T, noise = rng.normal(size=(H, H)), rng.normal(size=(B, H)), rng.normal(size=(T, B, H))
# W_hh = 1.2 * W_hh / np.abs(np.linalg.eigvals(W_hh)).max()  # its largest eigenvalue has the absolute value 1.2
#
# try:
#     for size in (0.0, 0.1, 1.0):
#         h_t, states = np.zeros((B, H)), []
#         for t in range(T):
#             h_t = np.tanh(size * noise[t] + h_t @ W_hh)  # (B, H)
#             states.append(h_t)
#         h = np.stack(states, axis=1)  # (B, T, H)
#         norms = gradient_norms_by_lag(dh_T, h, W_hh)
#         product = jacobian_product(h[0], W_hh, 9, 59)
#         print(f"inputs of size {size}, mean derivative {np.mean(1 - h**2):.2f}")
#         for lag in range(0, 60, 10):
#             share = norms[lag] / norms[0]
#             print(f"  lag {lag:2d}  {share:.1e}  ", "●" * round(20 + 2 * np.log10(share)))
#         print(f"  50 steps, largest singular value: {np.linalg.norm(product, 2):.1e}")
# except (NotImplementedError, TypeError, ValueError, IndexError) as not_yet:
#     print(f"This cell waits for your code.  {not_yet}")

# %% [markdown]
# With the same weights, the gradient explodes without inputs, hardly changes with weak ones,
# and vanishes with strong ones.
# Without inputs all states are zero, so every derivative of the tanh is 1 and the Jacobians contain the weights alone.
# Strong inputs push the units towards −1 and 1, where the derivative is small,
# and a product of 50 small factors is tiny.
# With weak inputs, growth and shrinkage nearly balance. Change the seed in the first line and run the cell again:
# the first and the last run look much the same, whereas the middle one may end well above 1 or below it.
#
# This is one network with random weights, which has not been trained.
# Why its eigenvalues matter at all is the subject of the next notebook, *The linear case*.
