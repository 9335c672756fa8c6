# %% [markdown]
# # Text into numbers
#
# A neural network computes with numbers, so the first step of every language model is to replace text by numbers, and
# the last one is to turn numbers into text again.
# In this notebook the pieces of text, the **tokens**, are single characters.
# You write the functions from text to ids and back, and then two that turn an id into the input of a network:
# a one-hot vector, or an embedding.
# Plan about 10 minutes for each of the four functions.
#
# Replace the line `raise NotImplementedError(…)` with your code, and run the cell below it, which checks it.
# `hint("encode_text")` asks you a question, `hint("encode_text", 2)` explains the idea,
# and `hint("encode_text", 3)` outlines the code.
#
# Read first, in the book: *Sequences and language models › Text into numbers*.

# %%
import numpy as np

from grader import check, hint, progress

# %% [markdown]
# ## From text to ids
#
# Write `encode_text`.
# A **vocabulary** gives each token it contains an **id**, an integer from 0 on.
# Here it is a dict from characters to ids, and it may have one more key, `"<unk>"`:
# the id of every character that it does not contain.
#
# | name | shape | what it is |
# |---|---|---|
# | `text` | a string of T characters | the text, possibly empty |
# | `vocab` | a dict | the id of each character, in any order, and perhaps the id of `"<unk>"` |
# | result `ids` | (T,), int64 | the id of each character of the text |
#
# If the text contains an unknown character and the vocabulary has no `"<unk>"`, raise a `KeyError` that names the
# character: `raise KeyError("x")` for an x.
# Guessing an id would be worse: the program would run without an error, but on a different text.
#
# **A worked example.** `vocab` = `{"h": 3, "l": 0, "o": 4, "e": 1, "<unk>": 2}` and `text` = `"hold"`:
#
# | t | character | in the vocabulary | `ids[t]` |
# |---|---|---|---|
# | 0 | h | yes | 3 |
# | 1 | o | yes | 4 |
# | 2 | l | yes | 0 |
# | 3 | d | no | 2 |
#
# Without the entry for `"<unk>"`, the same call ends in `KeyError: 'd'`.
# The ids of an empty text are an empty array of integers: which dtype does `np.array([])` have?
# The first case of the check is this example.


# %% exercise="encode_text"
def encode_text(text, vocab):
    """Replace each character by its id, and an unknown one by the id of "<unk>"; without "<unk>", raise KeyError.

    text a string of T characters, vocab a dict from character to id -> ids (T,), int64.
    """
    ### BEGIN SOLUTION
    ids = np.zeros(len(text), dtype=np.int64)
    for t, character in enumerate(text):
        if character in vocab:
            ids[t] = vocab[character]
        elif "<unk>" in vocab:
            ids[t] = vocab["<unk>"]
        else:
            raise KeyError(character)
    return ids
    ### END SOLUTION


# %% [markdown]
# ## From ids to text
#
# Write `decode_ids`, the inverse of `encode_text`.
# A language model predicts ids, and a reader wants to see text.
#
# | name | shape | what it is |
# |---|---|---|
# | `ids` | (T,) | ids from the vocabulary, possibly none |
# | `vocab` | a dict | the id of each character, as above; no two keys have the same id |
# | result `text` | a string | what the ids stand for, without anything in between |
#
# **A worked example.** With the vocabulary of the last example,
# `{"h": 3, "l": 0, "o": 4, "e": 1, "<unk>": 2}`, and `ids` = [3, 1, 2, 4]:
#
# | t | `ids[t]` | key |
# |---|---|---|
# | 0 | 3 | h |
# | 1 | 1 | e |
# | 2 | 2 | <unk> |
# | 3 | 4 | o |
#
# The result is `"he<unk>o"`: which character was unknown cannot be recovered.
# The dict is not sorted by id. The vocabulary answers "which id has this character?"; what do you need instead?
# The first case of the check is this example.


# %% exercise="decode_ids"
def decode_ids(ids, vocab):
    """Put together the text that these ids stand for.

    ids (T,), vocab a dict from character to id -> a string.
    """
    ### BEGIN SOLUTION
    characters = {index: character for character, index in vocab.items()}
    return "".join(characters[int(index)] for index in ids)
    ### END SOLUTION


# %% [markdown]
# ## One-hot vectors
#
# Write `one_hot`.
# An id is a name, not a quantity: id 4 is not twice as much of anything as id 2.
# A **one-hot vector** names the token without suggesting an order or a size.
# It has one entry for each id of the vocabulary, and all of them are 0 except the one at the position of the id, which
# is 1.
#
# | name | shape | what it is |
# |---|---|---|
# | `ids` | (…) | an array of ids, of any shape: a single id (), a text (T,), a batch (B, T), possibly empty |
# | `vocab_size` | an integer | the number of ids, V |
# | result `vectors` | (…, V), float64 | the vector of each id, along a new last axis |
#
# An id below 0 or above V − 1 has no vector: raise an `IndexError`.
# If your code indexes an array, NumPy raises it for an id that is too large, but takes −1 for the last entry,
# so check for negative ids yourself.
#
# **A worked example.** `ids` = [2, 0] and V = 3:
#
# | id | entry 0 | entry 1 | entry 2 |
# |---|---|---|---|
# | 2 | 0 | 0 | 1 |
# | 0 | 1 | 0 | 0 |
#
# The first case of the check is this example.


# %% exercise="one_hot"
def one_hot(ids, vocab_size):
    """One vector for each id, with a 1 at its position and 0 elsewhere; an id outside 0 to V - 1 is an IndexError.

    ids of any shape (…), vocab_size an integer V -> (…, V), float64.
    """
    ### BEGIN SOLUTION
    if ids.size and (ids.min() < 0 or ids.max() >= vocab_size):
        raise IndexError(f"ids must be between 0 and {vocab_size - 1}")
    return np.eye(vocab_size)[ids]
    ### END SOLUTION


# %% [markdown]
# ## Embeddings
#
# Write `embed`.
# An **embedding** gives each id a vector of D numbers, its row of the matrix $E$.
# These numbers are *parameters*: training adjusts them.
# Multiplying a one-hot vector by $E$ selects one row, so an embedding is a linear layer, a product with a matrix,
# whose input is one-hot:
#
# $$\text{embed}(i) = \text{onehot}(i)\, E = E_i$$
#
# | name | shape | what it is |
# |---|---|---|
# | `ids` | (…) | an array of ids from 0 to V − 1, of any shape |
# | `E` | (V, D) | the vector of each id, one per row |
# | result `vectors` | (…, D) | the vector of each of the `ids` |
#
# **A worked example.** Three ids, so V = 3, and D = 2, with
# `E` = [[0.20, -1.50], [0.70, 0.40], [-0.90, 1.10]] and `ids` = [2, 0, 2]:
#
# | t | id | one-hot vector | its product with E |
# |---|---|---|---|
# | 0 | 2 | 0, 0, 1 | −0.90, 1.10 |
# | 1 | 0 | 1, 0, 0 | 0.20, −1.50 |
# | 2 | 2 | 0, 0, 1 | ?, ? |
#
# You may compute the product, with your `one_hot`, or find a way that does not multiply by zeros. Both are accepted.
# The first case of the check is this example.


# %% exercise="embed"
def embed(ids, E):
    """The row of E for each id.

    ids of any shape (…), E (V, D) -> (…, D).
    """
    ### BEGIN SOLUTION
    return one_hot(ids, E.shape[0]) @ E
    ### END SOLUTION


# %% [markdown]
# ## Your progress

# %% active="ipynb"
# progress()

# %% [markdown]
# ## There and back
#
# The rest of this notebook is not graded.
# The cell builds a vocabulary from a sentence, and encodes and decodes other words with it.
# Which characters will be lost? Make a guess, then run the cell, and try words of your own.

# %% active="ipynb"
# sentence = "the cat sat on the mat"
# vocab = {character: index for index, character in enumerate(["<unk>", *sorted(set(sentence))])}
# try:
#     print(vocab)
#     for text in ("the man sat", "a tiny cat", "Tom sat"):
#         ids = encode_text(text, vocab)
#         print(f"{text!r:15}{decode_ids(ids, vocab)!r:35}{ids}")
# except (NotImplementedError, TypeError, ValueError, KeyError) as not_yet:
#     print(f"This cell waits for your code.  {not_yet}")

# %% [markdown]
# A vocabulary of characters from a long text loses little, because a new text has hardly any new characters.
# A vocabulary of words loses far more, which is the reason for the subwords of the next notebook.
