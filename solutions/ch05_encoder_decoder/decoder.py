# %% [markdown]
# # One step of the decoder
#
# The **decoder** writes the translation one word at a time. At each step it reads the previous word of the translation,
# updates its state, and computes a logit for every word that could come next.
# In this notebook you write this step twice, with the two ways in which a decoder can receive the context:
# once as its initial state, and again at every step.
# Allow about 40 minutes: 25 for the first exercise and 15 for the second.
#
# As always, replace the line `raise NotImplementedError(…)` with your code, and run the cell below it.
# `hint("decode_step")` asks you a question, `hint("decode_step", 2)` explains the idea,
# and `hint("decode_step", 3)` outlines the code.
#
# Read first, in the book: *Encoder–decoder, translation and captions › Encoder and context*.
#
# You wrote one step of a GRU in chapter 4. Here it is given, with the weights of a layer in a dict.

# %%
import numpy as np

from grader import check, hint, progress


def gru_cell(x_t, h_prev, layer):
    """One step of a GRU: x_t (B, D), h_prev (B, H), a dict with W_x, W_h, b_x, b_h -> the next state (B, H)."""
    size = h_prev.shape[1]
    read, recalled = x_t @ layer["W_x"] + layer["b_x"], h_prev @ layer["W_h"] + layer["b_h"]  # (B, 3H): r, z, n
    gates = 0.5 + 0.5 * np.tanh(0.5 * (read + recalled)[:, : 2 * size])
    candidate = np.tanh(read[:, 2 * size :] + gates[:, :size] * recalled[:, 2 * size :])
    return candidate + gates[:, size:] * (h_prev - candidate)


# %% [markdown]
# ## The context as the initial state
#
# Write `decode_step`.
# The decoder is a stack of L layers of GRUs, like the encoder: at each step, the lowest layer reads the embedding of
# the previous word, and every layer above it reads the *new* state of the layer below.
# The **head**, a linear layer, turns the new state of the top layer into logits:
#
# $$s_t^{1} = \mathrm{GRU}^{1}\big(E[y_{t-1}],\; s_{t-1}^{1}\big) \qquad
# s_t^{\ell} = \mathrm{GRU}^{\ell}\big(s_t^{\ell - 1},\; s_{t-1}^{\ell}\big) \quad \text{for } \ell > 1$$
#
# $$z_t = s_t^{L} W_p + b_p$$
#
# The context does not occur in these equations. It is $s_0$, the initial state: for the first step, `s_prev` is the
# context, and `y_prev` contains the id of ⟨sos⟩. Your function need not know which step it is.
#
# | name | shape | what it is |
# |---|---|---|
# | `y_prev` | (B,), integers | the id of the previous word of each row |
# | `s_prev` | (L, B, H) | the previous state of each layer, the lowest layer first |
# | `E` | (V, D) | the table of embeddings: row i is the embedding of id i |
# | `layers` | a list of L dicts | the weights of each layer, the lowest first: `W_x`, `W_h`, `b_x` and `b_h` |
# | `W_p`, `b_p` | (H, V), (V,) | the weights and the bias of the head |
# | result `logits` | (B, V) | the logits $z_t$ of the next word, without a softmax |
# | result `s` | (L, B, H) | the new state of *each* layer, the lowest layer first |
#
# The lowest layer, `layers[0]`, has a `W_x` of shape (D, 3H), the others of shape (H, 3H); `W_h` has the shape (H, 3H),
# and the biases (3H,). Return both results as arrays, in this order: the next step needs `s` as its `s_prev`.
#
# **A worked example.** One row (B = 1), two layers (L = 2), D = H = 1, four words (V = 4).
# `E` = [[0.00], [0.80], [−1.10], [0.50]], `W_p` = [[−2.00, 0.50, 1.00, 3.00]], `b_p` = [0.10, −0.40, 0.30, −0.20], and
#
# | | `W_x`: r, z, n | `W_h`: r, z, n | `b_x`: r, z, n | `b_h`: r, z, n |
# |---|---|---|---|---|
# | layer 0 | 0.70, −0.50, 1.20 | 0.40, 0.60, −0.80 | 0.10, −0.20, 0.30 | −0.30, 0.25, 0.15 |
# | layer 1 | −0.60, 0.35, 1.50 | 0.90, −0.45, 0.55 | 0.20, −0.10, −0.40 | 0.05, −0.35, 0.65 |
#
# The previous word is `y_prev` = [1], which is ⟨sos⟩.
#
# | | reads | previous state | new state |
# |---|---|---|---|
# | layer 0 | the embedding of id 1, 0.80 | −0.03 | 0.51 |
# | layer 1 | the new state of layer 0, 0.51 | 0.34 | 0.55 |
#
# The head reads the new state of layer 1. The logit of word 0, for example, is 0.55 · (−2.00) + 0.10, which gives
# −0.99 without rounding in between, and all four are [−0.99, −0.13, 0.85, 1.44]. So word 3 is the most probable one.
# (All entries are rounded; the code calculates with full precision.)
#
# This is the first case of the check.


# %% exercise="decode_step"
def decode_step(y_prev, s_prev, E, layers, W_p, b_p):
    """One step of a decoder whose initial state is the context.

    y_prev (B,), s_prev (L, B, H), E (V, D), layers a list of L dicts with W_x, W_h, b_x, b_h, W_p (H, V), b_p (V,)
    -> logits (B, V), s (L, B, H).
    """
    ### BEGIN SOLUTION
    x, s = E[y_prev], []
    for layer, h_prev in zip(layers, s_prev, strict=True):
        x = gru_cell(x, h_prev, layer)  # (B, H): the new state, which the next layer reads
        s.append(x)
    return x @ W_p + b_p, np.stack(s)
    ### END SOLUTION


# %% [markdown]
# ## The context at every step
#
# Write `context_decode_step`.
# A context that is given only once, as the initial state, has to survive in the state while word after word is
# written. In the network of Cho et al. (2014), the decoder receives the context at every step instead.
# Here it becomes a part of the input: the embedding of the previous word and the context stand side by side in one
# row, $[E[y_{t-1}],\, c]$, first the D entries of the embedding, then the H entries of the context:
#
# $$s_t = \mathrm{GRU}\big([E[y_{t-1}],\; c],\; s_{t-1}\big) \qquad z_t = s_t W_p + b_p$$
#
# (In that paper the head reads the context and the previous word as well. Here it reads only the state.)
#
# This decoder has a single layer, so its state has no axis for layers, and its weights come one by one.
#
# | name | shape | what it is |
# |---|---|---|
# | `y_prev` | (B,), integers | the id of the previous word of each row |
# | `s_prev` | (B, H) | the previous state |
# | `context` | (B, H) | the context $c$, the same at every step |
# | `E` | (V, D) | the table of embeddings |
# | `W_x` | (D + H, 3H) | the weights from the input: D rows for the embedding, then H rows for the context |
# | `W_h`, `b_x`, `b_h` | (H, 3H), (3H,), (3H,) | the other weights of the GRU, in the blocks r, z, n |
# | `W_p`, `b_p` | (H, V), (V,) | the weights and the bias of the head |
# | result `logits` | (B, V) | the logits of the next word, without a softmax |
# | result `s` | (B, H) | the new state |
#
# `gru_cell` takes the weights of a layer as one dict with the keys `W_x`, `W_h`, `b_x` and `b_h`.
#
# **An example, half worked out.** `E`, `W_p`, `b_p`, and `W_h`, `b_x`, `b_h` of layer 0 are those of the example above.
# `y_prev` = [1] again, `s_prev` = [[0.25]], `context` = [[0.70]], and
# `W_x` = [[0.70, −0.50, 1.20], [−0.40, 0.90, 0.60]], with one row for the embedding and one for the context.
# The input is the row [0.80, 0.70].
#
# | | block r | block z | block n |
# |---|---|---|---|
# | the embedding's part of the input's side | 0.80 · 0.70 = 0.56 | −0.40 | 0.96 |
# | the context's part | 0.70 · (−0.40) = −0.28 | ? | ? |
# | `b_x` | 0.10 | −0.20 | 0.30 |
# | sum | 0.38 | ? | ? |
#
# Fill in the question marks. The new state is 0.52, and the logit of word 0 is −0.94. Which are the other three?
# This example is the first case of the check.


# %% exercise="context_decode_step"
def context_decode_step(y_prev, s_prev, context, E, W_x, W_h, b_x, b_h, W_p, b_p):
    """One step of a decoder that reads the context at every step, beside the embedding of the previous word.

    y_prev (B,), s_prev (B, H), context (B, H), E (V, D), W_x (D + H, 3H), W_h (H, 3H), b_x (3H,), b_h (3H,),
    W_p (H, V), b_p (V,) -> logits (B, V), s (B, H).
    """
    ### BEGIN SOLUTION
    x = np.concatenate([E[y_prev], context], axis=1)  # (B, D + H)
    s = gru_cell(x, s_prev, {"W_x": W_x, "W_h": W_h, "b_x": b_x, "b_h": b_h})
    return s @ W_p + b_p, s
    ### END SOLUTION


# %% [markdown]
# ## Your progress

# %% active="ipynb"
# progress()

# %% [markdown]
# ## How long does a decoder remember its context?
#
# The rest of this notebook is not graded.
# Two decoders of one layer write 40 random words, the same words for two different contexts.
# The first receives the context as its initial state, the second at every step, and starts from a zero state.
# After 1, 10, 20 and 40 words, the cell prints the distance between the logits for the two contexts, divided by the
# distance after the first word. All weights are random.
#
# What do you expect the two lines to look like? Make a guess, then run the cell.

# %% active="ipynb"
# rng = np.random.default_rng(0)
# V, D, H, T = 20, 8, 16, 40
# E, (c_1, c_2) = rng.normal(size=(V, D)), rng.uniform(-1, 1, size=(2, 1, H))
# W_from_word, W_from_context = rng.uniform(-0.5, 0.5, size=(D, 3 * H)), rng.uniform(-0.5, 0.5, size=(H, 3 * H))
# W_h, zero = rng.uniform(-0.25, 0.25, size=(H, 3 * H)), np.zeros(3 * H)
# W_p, b_p = rng.normal(size=(H, V)), np.zeros(V)
# words = rng.integers(V, size=(T, 1))
# layers = [{"W_x": W_from_word, "W_h": W_h, "b_x": zero, "b_h": zero}]
#
#
# def as_initial_state(context):
#     s, steps = context[None], []
#     for y_prev in words:
#         logits, s = decode_step(y_prev, s, E, layers, W_p, b_p)
#         steps.append(logits)
#     return np.array(steps)
#
#
# def at_every_step(context):
#     s, steps = np.zeros((1, H)), []
#     both = np.vstack([W_from_word, W_from_context])  # (D + H, 3H)
#     for y_prev in words:
#         logits, s = context_decode_step(y_prev, s, context, E, both, W_h, zero, zero, W_p, b_p)
#         steps.append(logits)
#     return np.array(steps)
#
#
# try:
#     for write in (as_initial_state, at_every_step):
#         distances = np.linalg.norm(write(c_1) - write(c_2), axis=(1, 2))
#         print(f"{write.__name__:18}" + "".join(f"{distances[t - 1] / distances[0]:8.1g}" for t in (1, 10, 20, 40)))
# except (NotImplementedError, TypeError, ValueError, IndexError) as not_yet:
#     print(f"This cell waits for your code.  {not_yet}")

# %% [markdown]
# After 20 words, the first decoder has forgotten its context: what it would write next hardly depends on what the
# encoder has read.
# The second reads the context again at each step, so the distance does not vanish.
#
# This is an untrained network with one draw of random weights, whose update gates are near 0.5.
# A trained decoder can learn to keep what it needs, so the cell shows a risk, not what happens in every translator.
