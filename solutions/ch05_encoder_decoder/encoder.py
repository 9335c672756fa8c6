# %% [markdown]
# # The encoder
#
# A translator reads a whole sentence before it writes the first word.
# The **encoder** is the recurrent network that reads, and its final states, one for each layer, are the **context**:
# everything that the second network, the decoder, will know about the sentence.
# In this notebook you put sentences of different lengths into one array, mark which of its entries are real,
# and write the encoder.
# Allow about 50 minutes: 10 for the first exercise, 5 for the second and 35 for the third.
#
# As always, replace the line `raise NotImplementedError(…)` with your code, and run the cell below it.
# `hint("encode")` asks you a question, `hint("encode", 2)` explains the idea,
# and `hint("encode", 3)` outlines the code.
#
# Read first, in the book: *Encoder–decoder, translation and captions › From one sequence to another*, and before the
# third exercise *Encoder and context*.
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
# ## A padded batch
#
# Write `pad_batch`.
# Sentences have different lengths, but an array has rows of one length.
# So the shorter sequences of ids are filled up at their end with an id that stands for no word, the **padding**,
# until all are as long as the longest one. How many of a row's ids are real is kept in a second array.
#
# | name | type or shape | what it is |
# |---|---|---|
# | `sequences` | a list of B lists of integers | the ids of each sequence; at least one sequence is not empty |
# | `pad_id` | an integer | the id of the padding; it occurs in no sequence, and it need not be 0 |
# | result `ids` | (B, S), integers | the padded sequences, in the same order; S is the length of the longest |
# | result `lengths` | (B,), integers | the number of real ids in each row |
#
# Return both results as NumPy arrays of integers.
#
# **A worked example.** Three sequences, with `pad_id` = 9:
#
# | sequence | row of `ids` | length |
# |---|---|---|
# | [4, 2] | 4, 2, 9 | 2 |
# | [5, 3, 2] | 5, 3, 2 | 3 |
# | [2] | 2, 9, 9 | 1 |
#
# The longest sequence has three ids, so S = 3, and `ids` has the shape (3, 3).
#
# **An edge case.** A sequence may be empty. Its row consists of padding alone, and its length is 0.


# %% exercise="pad_batch"
def pad_batch(sequences, pad_id):
    """Put sequences of different lengths into one array, filled up with padding at the end of each row.

    sequences a list of B lists of ids, pad_id an id -> ids (B, S), lengths (B,).
    """
    ### BEGIN SOLUTION
    lengths = np.array([len(sequence) for sequence in sequences])
    ids = np.full((len(sequences), lengths.max()), pad_id)
    for row, sequence in zip(ids, sequences, strict=True):
        row[: len(sequence)] = sequence
    return ids, lengths
    ### END SOLUTION


# %% [markdown]
# ## Which entries are real
#
# Write `length_mask`.
# Everything that is computed for a padded batch, a state, a loss or a mean, must leave the padding out.
# A **mask** says where it is: an array of the batch's shape that is `True` at the real entries and `False` at the
# padding.
#
# | name | type or shape | what it is |
# |---|---|---|
# | `lengths` | (B,), integers | the number of real entries in each row, from 0 to S |
# | `max_length` | an integer | S, the number of columns; it may be larger than every length |
# | result `mask` | (B, S), of type `bool` | `True` where the entry is real |
#
# **An example, half worked out.** `lengths` = [3, 1, 0] and `max_length` = 4:
#
# | length | position 0 | position 1 | position 2 | position 3 |
# |---|---|---|---|---|
# | 3 | True | True | ? | ? |
# | 1 | True | ? | ? | ? |
# | 0 | ? | ? | ? | ? |
#
# Fill in the question marks. What do a position and a length have in common wherever the entry is `True`?
# This example is the first case of the check.


# %% exercise="length_mask"
def length_mask(lengths, max_length):
    """Mark the real entries of a padded batch.

    lengths (B,) integers from 0 to max_length -> (B, max_length) bool, True where the entry is real.
    """
    ### BEGIN SOLUTION
    return np.arange(max_length) < lengths[:, None]  # (S,) and (B, 1) broadcast to (B, S)
    ### END SOLUTION


# %% [markdown]
# ## The encoder
#
# Write `encode`.
# A stack of L layers of GRUs reads a padded batch: the lowest layer reads the embeddings of the ids, and every layer
# above it reads the states of the layer below, step by step. All layers start from a zero state.
# With $h_t^{\ell}$ for the state of layer $\ell$ and $E$ for the table of embeddings, this is
#
# $$h_t^{1} = \mathrm{GRU}^{1}\big(E[x_t],\; h_{t-1}^{1}\big) \qquad
# h_t^{\ell} = \mathrm{GRU}^{\ell}\big(h_t^{\ell - 1},\; h_{t-1}^{\ell}\big) \quad \text{for } \ell > 1$$
#
# The **context** consists of the final state of *every* layer,
# because each layer of the decoder will start from the state of the same layer of the encoder.
# *Final* means: after the last real id of the row. The rows of a batch end at different steps,
# and what a layer computes at the padded steps must have no influence.
#
# | name | shape | what it is |
# |---|---|---|
# | `ids` | (B, S) | the source sequences; from `lengths[b]` on, row `b` is padding, which may be any ids below V |
# | `lengths` | (B,) | the number of real ids in each row, from 0 to S |
# | `E` | (V, D) | the table of embeddings: row i is the embedding of id i |
# | `layers` | a list of L dicts | the weights of each layer, the lowest first: `W_x`, `W_h`, `b_x` and `b_h` |
# | result `context` | (L, B, H) | the state of each layer at the end of each row, the lowest layer first |
#
# The lowest layer has a `W_x` of shape (D, 3H), the others of shape (H, 3H); `W_h` has the shape (H, 3H), and the
# biases (3H,). The equations count the layers from 1, the code from 0: the lowest layer is `layers[0]`.
# `gru_cell(x_t, h_prev, layer)` runs one step of one layer for the whole batch. You can also use your `length_mask`.
#
# **A worked example.** Two sentences (B = 2) of the lengths 3 and 2, two layers (L = 2), D = H = 1, so each block of
# weights has one column. `E` = [[0.60], [0.00], [−0.50], [1.20], [−0.90]], and
#
# | | `W_x`: r, z, n | `W_h`: r, z, n | `b_x`: r, z, n | `b_h`: r, z, n |
# |---|---|---|---|---|
# | layer 0 | 0.40, −0.60, 1.50 | −0.70, 0.80, 0.90 | 0.20, −0.30, 0.10 | 0.15, 0.35, −0.20 |
# | layer 1 | −0.50, 0.90, 2.00 | 0.60, −0.40, −1.10 | 0.30, −0.80, 0.25 | −0.10, 0.45, 0.70 |
#
# | row | ids | embeddings | states of layer 0 | states of layer 1 |
# |---|---|---|---|---|
# | 0 | 3, 4, 2 | 1.20, −0.90, −0.50 | 0.62, 0.26, −0.03 | 0.42, 0.59, 0.34 |
# | 1 | 4, 2, *0* | −0.90, −0.50, *any* | −0.31, −0.51, *any* | 0.02, −0.23, *any* |
#
# Layer 1 reads the states of layer 0: in row 0, its inputs are 0.62, 0.26 and −0.03.
# Row 1 ends after two steps, so its states there are its part of the context, and what follows is padding:
#
# $$\text{context}[0] = \begin{bmatrix} -0.03 \\ -0.51 \end{bmatrix} \qquad
# \text{context}[1] = \begin{bmatrix} 0.34 \\ -0.23 \end{bmatrix}$$
#
# If both layers read the padding as well, row 1 would end with 0.16 and 0.30, and the encoder's result for a sentence
# would depend on the other sentences in the batch.
# (All entries are rounded; the code calculates with full precision.)
#
# **An edge case.** A row of length 0 has read nothing, so its state is still zero in every layer.
#
# This example is the first case of the check.


# %% exercise="encode"
def encode(ids, lengths, E, layers):
    """Read padded sequences with a stack of GRU layers, and return the state of each layer at each row's own end.

    ids (B, S), lengths (B,), E (V, D), layers a list of L dicts with W_x, W_h, b_x, b_h -> context (L, B, H).
    """
    ### BEGIN SOLUTION
    real = length_mask(lengths, ids.shape[1])  # (B, S)
    x, context = E[ids], []  # what the lowest layer reads: (B, S, D)
    for layer in layers:
        h, states = np.zeros((len(ids), len(layer["W_h"]))), []
        for t in range(ids.shape[1]):
            h = np.where(real[:, t, None], gru_cell(x[:, t], h, layer), h)  # (B, H): kept once the row has ended
            states.append(h)
        context.append(h)
        x = np.stack(states, axis=1)  # what the next layer reads: (B, S, H)
    return np.stack(context)
    ### END SOLUTION


# %% [markdown]
# ## Your progress

# %% active="ipynb"
# progress()

# %% [markdown]
# ## What a batch must not change
#
# The rest of this notebook is not graded.
# A sentence must have the same context whether it is encoded alone or together with longer ones.
# The cell encodes five sentences one by one and then all at once, with random weights, and prints for each
# sentence the largest difference between the two contexts. It uses all three of your functions.
# What should it print, and which line would be different if padding were read?

# %% active="ipynb"
# rng = np.random.default_rng(0)
# words = ["PAD", "SOS", "EOS", "the", "black", "cat", "sees", "a", "small", "dog", "sleeps"]
# sentences = ["the cat sleeps", "a dog", "the small black cat sees a small dog", "the dog sees the cat", ""]
# V, D, H, L = len(words), 6, 8, 2
# E = rng.normal(size=(V, D))
# layers = [
#     {
#         "W_x": rng.normal(size=(size, 3 * H)) / np.sqrt(size),
#         "W_h": rng.normal(size=(H, 3 * H)) / np.sqrt(H),
#         "b_x": rng.normal(size=3 * H),
#         "b_h": rng.normal(size=3 * H),
#     }
#     for size in (D, H)
# ]
# sources = [[words.index(word) for word in [*sentence.split(), "EOS"]] for sentence in sentences]
#
# try:
#     together = encode(*pad_batch(sources, 0), E, layers)  # (2, 5, 8)
#     for number, (sentence, source) in enumerate(zip(sentences, sources, strict=True)):
#         alone = encode(*pad_batch([source], 0), E, layers)[:, 0]  # (2, 8)
#         print(f"{np.abs(together[:, number] - alone).max():.2f}   {sentence!r}")
# except (NotImplementedError, TypeError, ValueError, IndexError) as not_yet:
#     print(f"This cell waits for your code.  {not_yet}")

# %% [markdown]
# Every sentence ends with ⟨eos⟩ here, so even the empty one has a length of 1 and a context of its own.
# The network is untrained, so its contexts mean nothing yet:
# the cell shows only that they do not depend on the company a sentence keeps in its batch.
# With the padding read, every line but that of the longest sentence would show a difference.
