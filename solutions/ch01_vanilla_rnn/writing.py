# %% [markdown]
# # A network that writes
#
# So far the network reads. In this notebook it writes: it says which id comes next, reads what it has said,
# and goes on.
# It takes two functions: one that draws an id from probabilities, and the loop around everything.
#
# As always: replace the line `raise NotImplementedError(…)` with your code, and run the cell below it.
# `hint("sample_id")` asks you a question, `hint("sample_id", 2)` names the idea,
# `hint("sample_id", 3)` shows the shape of the code.
#
# Read first: *The vanilla RNN › Hello, network*, in the book.
# Nothing from the notebooks before is needed here.

# %%
import numpy as np

from grader import check, hint, progress

# %% [markdown]
# ## Drawing one id
#
# Write `sample_id`.
# The network gives each id a probability; we want one id, drawn so that each comes as often as its probability says.
# Chance comes in as a number `u` between 0 and 1, which the caller draws; given `u`,
# your function always does the same:
# **it returns the first id whose cumulative probability exceeds `u`.**
#
# | name | shape | what it is |
# |---|---|---|
# | `probs` | (V,) | the probabilities of the ids 0 … V − 1; some may be 0 |
# | `u` | a number | from 0 up to, but not including, 1 |
# | result | an integer | the id drawn |
#
# **By hand, once.** Four ids, of which id 1 cannot come:
#
# | id | 0 | 1 | 2 | 3 |
# |---|---|---|---|---|
# | `probs` | 0.20 | 0.00 | 0.50 | 0.30 |
# | cumulative | 0.20 | 0.20 | 0.70 | 1.00 |
#
# | `u` | 0.00 | 0.10 | 0.20 | 0.65 | 0.99 |
# |---|---|---|---|---|---|
# | id | 0 | 0 | 2 | 2 | 3 |
#
# Look at `u` = 0.20: the cumulative probabilities of ids 0 and 1 reach it, and neither exceeds it.
# An id of probability 0 is never drawn, whatever `u` is.
#
# One thing does not happen on paper.
# Probabilities in the machine are rounded, and may add up to a little less than 1, to 0.999999 say.
# If `u` is 0.9999995, no cumulative probability exceeds it.
# Return the last id whose probability is not 0 then.
#
# When the check passes, you can draw from any distribution over any vocabulary, and repeat a draw when you need to.


# %% exercise="sample_id"
def sample_id(probs, u):
    """Draw one id by the inverse of the cumulative distribution.

    probs (V,), u a number in [0, 1) -> the first id whose cumulative probability exceeds u, an integer.
    """
    ### BEGIN SOLUTION
    exceeds = np.flatnonzero(np.cumsum(probs) > u)
    if len(exceeds) == 0:  # rounding left the sum below 1
        return int(np.flatnonzero(probs)[-1])
    return int(exceeds[0])
    ### END SOLUTION


# %% [markdown]
# ## Writing step by step
#
# Write `generate`.
# Start from an id and a state.
# Each step reads the id, renews the state, and chooses the next id; the next step reads that one:
#
# $$h_t = \tanh(x_t W_{xh} + h_{t-1} W_{hh} + b_h), \qquad \text{logits}_t = h_t W_{hy} + b_y$$
#
# where $x_t$ is the one-hot row of the id: all zeros but for a 1 in the place of the id.
#
# | name | shape | what it is |
# |---|---|---|
# | `start_id` | an integer | the id that the first step reads |
# | `num_steps` | an integer | how many new ids to write; it may be 0 |
# | `h_0` | (1, H) | the state before the first step |
# | `W_xh`, `W_hh`, `b_h` | (V, H), (H, H), (H,) | the recurrence |
# | `W_hy`, `b_y` | (H, V), (V,) | the output layer |
# | `u` | (num_steps,) or None | a number for each step to draw with; None, or left out: always take the largest logit |
# | result `ids` | (num_steps,) | the *new* ids, integers (int64); `start_id` is not among them |
#
# **By hand, once.** Three ids, one unit:
# `W_xh` = [[0.50], [1.80], [0.90]], `W_hh` = [[0.20]], `b_h` = [−1.10],
# `W_hy` = [[0.40, −1.30, 2.20]], `b_y` = [0.00, −0.40, −0.30]; `start_id` = 1, `h_0` = [[−0.30]].
#
# Without `u` the largest logit wins at each step:
#
# | step | reads | new state | logits | new id |
# |---|---|---|---|---|
# | 0 | 1 | 0.56 | 0.23, −1.13, 0.94 | 2 |
# | 1 | 2 | −0.09 | −0.03, −0.29, −0.49 | 0 |
# | 2 | 0 | −0.55 | −0.22, 0.31, −1.51 | 1 |
#
# With `u` = [0.10, 0.95, 0.30] each id is drawn, and another text comes out:
#
# | step | reads | new state | probabilities | cumulative | `u` | new id |
# |---|---|---|---|---|---|---|
# | 0 | 1 | 0.56 | 0.30, 0.08, 0.62 | 0.30, 0.38, 1.00 | 0.10 | 0 |
# | 1 | 0 | −0.45 | 0.36, 0.52, 0.12 | 0.36, 0.88, 1.00 | 0.95 | 2 |
# | 2 | 2 | −0.28 | 0.40, 0.43, 0.18 | 0.40, 0.82, 1.00 | 0.30 | 0 |
#
# You need a step of the recurrence and a softmax; each is a line or two, and you may copy your own in.
# Logits may be as large as 1000, so take care that the softmax does not overflow.
# Your `sample_id` is at hand.
#
# When the check passes, your network writes.


# %% exercise="generate"
def generate(start_id, num_steps, h_0, W_xh, W_hh, b_h, W_hy, b_y, u=None):
    """Let the network write: read an id, choose the next one, read that, and so on.

    start_id, num_steps integers, h_0 (1, H), W_xh (V, H), W_hh (H, H), b_h (H,), W_hy (H, V), b_y (V,),
    u (num_steps,) or None -> the new ids (num_steps,), int64; greedy where u is None.
    """
    ### BEGIN SOLUTION
    ids, x_t, h_t = [], start_id, h_0
    for t in range(num_steps):
        h_t = np.tanh(W_xh[x_t] + h_t @ W_hh + b_h)  # (1, H): a one-hot row times W_xh is a row of W_xh
        logits = (h_t @ W_hy + b_y)[0]  # (V,)
        if u is None:
            x_t = int(np.argmax(logits))
        else:
            e = np.exp(logits - logits.max())
            x_t = sample_id(e / e.sum(), u[t])
        ids.append(x_t)
    return np.array(ids, dtype=np.int64)
    ### END SOLUTION


# %% [markdown]
# ## Where you are

# %% active="ipynb"
# progress()

# %% [markdown]
# ## Hello
#
# Nothing is graded here.
# These forty numbers are the network of the page *Hello, network*: three units that have learnt one word.
# Give it the letter h, and let your functions write four more.
# Then let chance choose: how often does it still spell the word, and what are its slips?
# Say a number between 0 and 20 to yourself, then run the cell.

# %% active="ipynb"
# letters = "helo"
# hello = {
#     "W_xh": np.array([[0.96, -1.05, -0.61], [0.1, 0.45, -0.1], [-0.72, 0.26, 0.25], [0.0, 0.0, 0.0]]),
#     "W_hh": np.array([[0.2, 1.26, -1.4], [-0.75, -0.11, 0.26], [0.53, -0.7, 0.04]]),
#     "b_h": np.array([0.34, -0.35, -0.46]),
#     "W_hy": np.array([[0.11, 1.43, -0.29, -1.25], [0.2, -1.89, 2.6, -0.91], [0.3, -0.89, -1.26, 1.85]]),
#     "b_y": np.array([-1.23, -0.01, 0.82, 0.42]),
# }
#
# try:
#     greedy = generate(start_id=0, num_steps=4, h_0=np.zeros((1, 3)), **hello)
#     print("always the likeliest letter:", "h" + "".join(letters[id] for id in greedy), "\n")
#     rng = np.random.default_rng(1)
#     for line in range(4):
#         for word in range(5):
#             ids = generate(start_id=0, num_steps=4, h_0=np.zeros((1, 3)), u=rng.random(4), **hello)
#             print("h" + "".join(letters[id] for id in ids), end="   ")
#         print()
# except NotImplementedError as not_yet:
#     print(f"This cell waits for your code.  {not_yet}")

# %% [markdown]
# The network knows one word, and no letter of it stands in its weights.
# To see how unsure it is, make every logit smaller: add `hello["W_hy"] /= 3` and `hello["b_y"] /= 3`,
# and run the cell again.
#
# In the notebook *capstone* your functions get a network that has read a book.
