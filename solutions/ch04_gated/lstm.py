# %% [markdown]
# # The LSTM cell
#
# A tanh network computes its whole state again at every step, which makes it hard to keep what it read fifty steps ago.
# An LSTM (long short-term memory) adds a second state that is kept unless a **gate** decides otherwise.
# In this notebook you write one step of it, and then the loop that runs it over a sequence.
# At the end, a cell with a single unit counts brackets.
# Allow about 35 minutes.
#
# As always, replace the line `raise NotImplementedError(…)` with your code, and run the cell below it.
# `hint("lstm_step")` asks you a question, `hint("lstm_step", 2)` explains the idea,
# and `hint("lstm_step", 3)` outlines the code.
#
# Read first, in the book: *LSTM, GRU and deep networks › A cell that keeps*.

# %%
import numpy as np

from grader import check, hint, progress

# %% [markdown]
# ## The logistic function
#
# A gate is the logistic function of a pre-activation, $\sigma(a) = 1 / (1 + e^{-a})$, a number between 0 and 1.
# Here it is, ready for use.
# The code contains a tanh instead of $e^{-a}$. This gives the same numbers, but cannot overflow:
# for very negative $a$ the power $e^{-a}$ is so large that NumPy prints a warning.


# %%
def sigmoid(a):
    """The logistic function of every entry of an array."""
    return 0.5 + 0.5 * np.tanh(0.5 * a)


# %% [markdown]
# ## One step of the LSTM
#
# Write `lstm_step`.
# An LSTM carries two states from step to step: the **hidden state** $h_t$, which the rest of the network sees,
# and the **cell state** $c_t$, its memory.
# One product with each weight matrix computes all pre-activations at once:
#
# $$a_t = x_t W_x + h_{t-1} W_h + b$$
#
# The 4H columns of $a_t$ are four blocks of H columns, always in the order **i, f, g, o**:
#
# | block | computed from its block $a$ | what it does |
# |---|---|---|
# | $i_t$, the **input gate** | $\sigma(a)$ | how much of the candidate is written |
# | $f_t$, the **forget gate** | $\sigma(a)$ | how much of the previous cell state is kept |
# | $g_t$, the **candidate** | $\tanh(a)$ | what could be written |
# | $o_t$, the **output gate** | $\sigma(a)$ | how much of the cell state is shown |
#
# With these, both states follow. The sign $\odot$ multiplies entry by entry, because each unit has its own gates:
#
# $$c_t = f_t \odot c_{t-1} + i_t \odot g_t, \qquad h_t = o_t \odot \tanh(c_t)$$
#
# **One gate worked out.** One sequence (B = 1), two inputs (D = 2) and two units (H = 2),
# so the weights have eight columns:
#
# $$x_t = \begin{bmatrix} 1.00 & -2.00 \end{bmatrix} \qquad
# h_{t-1} = \begin{bmatrix} 0.50 & -0.40 \end{bmatrix} \qquad
# c_{t-1} = \begin{bmatrix} 1.20 & -0.70 \end{bmatrix}$$
#
# $$W_x = \begin{bmatrix} 0.30 & -0.60 & 0.80 & 0.25 & 0.45 & -0.35 & -0.20 & 0.70 \\
# 0.10 & 0.40 & -0.15 & 0.90 & -0.15 & 0.40 & 0.65 & -0.25 \end{bmatrix}$$
#
# $$W_h = \begin{bmatrix} 0.20 & -0.50 & 0.70 & -0.30 & 0.60 & 0.90 & -0.40 & 0.35 \\
# -0.75 & 0.15 & 0.50 & 0.80 & -0.10 & -0.65 & 0.25 & -0.45 \end{bmatrix}$$
#
# $$b = \begin{bmatrix} 0.10 & -0.20 & 0.40 & 1.95 & -0.30 & 0.05 & 0.15 & -0.60 \end{bmatrix}$$
#
# The forget gate is the second block, columns 2 and 3 counted from 0:
#
# | contribution | unit 0, column 2 | unit 1, column 3 |
# |---|---|---|
# | input | 1.00 · 0.80 + (−2.00) · (−0.15) = 1.10 | 1.00 · 0.25 + (−2.00) · 0.90 = −1.55 |
# | previous hidden state | 0.50 · 0.70 + (−0.40) · 0.50 = 0.15 | 0.50 · (−0.30) + (−0.40) · 0.80 = −0.47 |
# | bias | 0.40 | 1.95 |
# | pre-activation | 1.65 | −0.07 |
# | forget gate, its σ | 0.839 | 0.483 |
# | kept of the cell state | 0.839 · 1.20 = 1.007 | 0.483 · (−0.70) = −0.338 |
#
# Unit 0 keeps most of its cell state, unit 1 about half.
# The other three blocks are computed in the same way, one of them with another function. The results are
#
# | | unit 0 | unit 1 |
# |---|---|---|
# | $i_t$ | 0.646 | 0.129 |
# | $g_t$ | 0.658 | −0.371 |
# | $o_t$ | 0.161 | 0.722 |
#
# Check one of these entries, and then write down $c_t$ and $h_t$ before you write any code.
# The first case of the check is exactly this example.
# Once it passes, compare your numbers with those under *What you wrote down*, near the end of this notebook.
#
# | name | shape | what it is |
# |---|---|---|
# | `x_t` | (B, D) | the input at this step, one row for each sequence of the batch |
# | `h_prev`, `c_prev` | (B, H) | the previous hidden state and the previous cell state |
# | `W_x`, `W_h`, `b` | (D, 4H), (H, 4H), (4H,) | the weights and the bias, four blocks of columns i, f, g, o |
# | result `h_t`, `c_t` | (B, H) | the new hidden state and the new cell state, in this order |
#
# `np.split(array, 4, axis=1)` cuts an array into four blocks of columns of equal width.
#
# When the check passes, you have the step that `torch.nn.LSTMCell` computes.


# %% exercise="lstm_step"
def lstm_step(x_t, h_prev, c_prev, W_x, W_h, b):
    """One step of an LSTM, whose blocks of columns are in the order i, f, g, o.

    x_t (B, D), h_prev (B, H), c_prev (B, H), W_x (D, 4H), W_h (H, 4H), b (4H,) -> h_t (B, H), c_t (B, H).
    Equation (lstm-gates) and equation (lstm-states).
    """
    ### BEGIN SOLUTION
    a = x_t @ W_x + h_prev @ W_h + b  # (B, 4H)
    a_i, a_f, a_g, a_o = np.split(a, 4, axis=1)  # (B, H) each
    i, f, g, o = sigmoid(a_i), sigmoid(a_f), np.tanh(a_g), sigmoid(a_o)
    c_t = f * c_prev + i * g  # (B, H): keep, then write
    h_t = o * np.tanh(c_t)  # (B, H)
    return h_t, c_t
    ### END SOLUTION


# %% [markdown]
# ## The LSTM over time
#
# Write `lstm_forward`.
# It starts from `h_0` and `c_0`, applies the same step to each input in turn, and returns *all* hidden states
# and all cell states:
#
# $$h_t, c_t = \text{step}(x_t, h_{t-1}, c_{t-1}), \qquad t = 1, \dots, T$$
#
# **An example, half worked out.** A single input, a single unit and three steps, so each block is one column.
# Most weights are 0. An input of 1 opens the input gate, and a positive hidden state closes the output gate a little:
#
# | | i | f | g | o |
# |---|---|---|---|---|
# | `W_x` | 4.00 | 0.00 | 2.00 | 0.00 |
# | `W_h` | 0.00 | 0.00 | 0.00 | −2.00 |
# | `b` | −2.00 | 3.00 | 0.00 | 1.00 |
#
# With `h_0` = 0.40 and `c_0` = −0.50, the steps are, rounded to two decimals:
#
# | t in Python | `x[0, t, 0]` | i | f | g | o | `c[0, t, 0]` | `h[0, t, 0]` |
# |---|---|---|---|---|---|---|---|
# | 0 | 1.00 | 0.88 | 0.95 | 0.96 | 0.55 | 0.37 | 0.20 |
# | 1 | 0.00 | 0.12 | 0.95 | 0.00 | 0.65 | 0.36 | 0.22 |
# | 2 | 0.50 | 0.50 | 0.95 | 0.76 | ? | ? | ? |
#
# At t = 1 there is nothing to write, so the cell state shrinks by the factor f alone.
# Which numbers of that row do you need for the last one, and where?
# Write the three missing numbers down; this is the first case of the check.
#
# | name | shape | what it is |
# |---|---|---|
# | `x` | (B, T, D) | a batch of sequences; `x[:, t]` holds the inputs of one time step |
# | `h_0`, `c_0` | (B, H) | the initial hidden state and the initial cell state; they need not be zero |
# | `W_x`, `W_h`, `b` | as above | the *same* weights at every step |
# | result `h`, `c` | (B, T, H) | `h[:, t]` and `c[:, t]` are the states after reading `x[:, t]` |
#
# Use your own `lstm_step`.
# When the check passes, you can run an LSTM over sequences of any length.


# %% exercise="lstm_forward"
def lstm_forward(x, h_0, c_0, W_x, W_h, b):
    """Run an LSTM over a batch of sequences.

    x (B, T, D), h_0 (B, H), c_0 (B, H), W_x (D, 4H), W_h (H, 4H), b (4H,) -> h (B, T, H), c (B, T, H).
    """
    ### BEGIN SOLUTION
    h, c, h_t, c_t = [], [], h_0, c_0
    for t in range(x.shape[1]):
        h_t, c_t = lstm_step(x[:, t], h_t, c_t, W_x, W_h, b)  # (B, H) each
        h.append(h_t)
        c.append(c_t)
    return np.stack(h, axis=1), np.stack(c, axis=1)  # (B, T, H) each
    ### END SOLUTION


# %% [markdown]
# ## What you wrote down
#
# The next cell runs your functions on the two examples above.
# If one of your numbers differs, go back to its table and work it out again.

# %% active="ipynb"
# x_t, h_prev, c_prev = np.array([[[1.00, -2.00]], [[0.50, -0.40]], [[1.20, -0.70]]])
# W_x = np.array([[0.30, -0.60, 0.80, 0.25, 0.45, -0.35, -0.20, 0.70],
#                 [0.10, 0.40, -0.15, 0.90, -0.15, 0.40, 0.65, -0.25]])
# W_h = np.array([[0.20, -0.50, 0.70, -0.30, 0.60, 0.90, -0.40, 0.35],
#                 [-0.75, 0.15, 0.50, 0.80, -0.10, -0.65, 0.25, -0.45]])
# b = np.array([0.10, -0.20, 0.40, 1.95, -0.30, 0.05, 0.15, -0.60])
#
# try:
#     h_t, c_t = lstm_step(x_t, h_prev, c_prev, W_x, W_h, b)
#     print("one step     c_t", np.round(c_t, 3).tolist(), "  h_t", np.round(h_t, 3).tolist())
#     x, h_0, c_0 = np.array([[[1.00], [0.00], [0.50]]]), np.array([[0.40]]), np.array([[-0.50]])
#     W_x, W_h, b = np.array([[4.0, 0.0, 2.0, 0.0]]), np.array([[0.0, 0.0, 0.0, -2.0]]), np.array([-2.0, 3.0, 0.0, 1.0])
#     h, c = lstm_forward(x, h_0, c_0, W_x, W_h, b)
#     print("three steps  c", np.round(c[0, :, 0], 2).tolist(), "  h", np.round(h[0, :, 0], 2).tolist())
# except (NotImplementedError, TypeError, ValueError, IndexError) as not_yet:
#     print(f"This cell waits for your code.  {not_yet}")

# %% [markdown]
# ## Your progress

# %% active="ipynb"
# progress()

# %% [markdown]
# ## A cell that counts brackets
#
# This section is not graded.
# The cell below runs an LSTM with one unit, whose weights were set by hand, on a line of text.
# Its two inputs say whether a character opens a bracket or closes one.
# The candidate is then almost exactly 1 or −1, and 0 for any other character.
# The input gate and the output gate are open.
#
# With a forget bias of 12 the forget gate is open too. What will the cell state be at each character?
# And what changes with a forget bias of 2, where the gate is at 0.88? Make a prediction, then run the cell.

# %% active="ipynb"
# text = "f(g(x), h((a))) = ((b"
# x = np.array([[[char == "(", char == ")"] for char in text]], dtype=float)  # (1, T, 2)
# W_x = np.array([[0.0, 0.0, 9.0, 0.0], [0.0, 0.0, -9.0, 0.0]])  # only the candidate sees the input
# W_h, zero = np.zeros((1, 4)), np.zeros((1, 1))
#
# try:
#     states = [lstm_forward(x, zero, zero, W_x, W_h, np.array([12.0, bias, 0.0, 12.0])) for bias in (12.0, 2.0)]
#     print("            forget bias 12     forget bias 2")
#     for t, char in enumerate(text):
#         numbers = [f"c {c[0, t, 0]:5.2f}  h {h[0, t, 0]:5.2f}".replace("-0.00", " 0.00") for h, c in states]
#         print(f"{t:4d}   {char}    " + "   ".join(numbers))
# except (NotImplementedError, TypeError, ValueError, IndexError) as not_yet:
#     print(f"This cell waits for your code.  {not_yet}")

# %% [markdown]
# With a forget bias of 12, the cell state is the number of brackets that are open:
# each candidate is added to a sum that hardly decays.
# The hidden state saturates: its tanh makes three open brackets nearly the same as two.
# With a forget bias of 2, the cell state loses 12 % at every step.
# A closing bracket then subtracts 1 from a content of which less than 1 is left,
# so after the last closing bracket the cell state is even below 0.
#
# This network was not trained. Whether training finds such units by itself is the question of this chapter's capstone.
