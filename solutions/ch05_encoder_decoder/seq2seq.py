# %% [markdown]
# # An encoder–decoder in PyTorch
#
# You have written every part of an encoder–decoder in NumPy.
# In this notebook you build one that can be trained, from the layers of PyTorch.
# The first exercise is the whole model for translation, with an encoder that reads padded sources of different lengths.
# The second lets a decoder start from something that is not a sequence at all: a picture.
# Plan about 40 minutes for the model and 10 for the second exercise.
#
# As always, replace the line `raise NotImplementedError(…)` with your code, and run the cell below it.
# `hint("Seq2Seq")` asks you a question, `hint("Seq2Seq", 2)` explains the idea,
# and `hint("Seq2Seq", 3)` outlines the code.
#
# Read first, in the book: *Encoder–decoder, translation and captions › Translation, for real* and, for the second
# exercise, *Captions*.

# %%
import numpy as np
import torch

from grader import check, hint, progress

# %% [markdown]
# ## The encoder–decoder
#
# Write `forward` of the class `Seq2Seq`, an **encoder–decoder** with teacher forcing.
# The encoder reads a batch of source sentences. Its final states, the **context**, are all that the decoder learns
# about them: the decoder starts from the context, reads the words of the target sentence
# and predicts after each of them the next one.
# `__init__` is given. It creates five submodules, which hold all weights of the model:
#
# | submodule | given | returns |
# |---|---|---|
# | `self.source_embedding` | ids of source words (B, S) | a vector for each word, (B, S, D) |
# | `self.encoder` | vectors (B, S, D), and an initial state | outputs (B, S, H), final states (L, B, H) |
# | `self.target_embedding` | ids of target words (B, T) | a vector for each word, (B, T, D) |
# | `self.decoder` | vectors (B, T, D), and an initial state | outputs (B, T, H), final states (L, B, H) |
# | `self.head` | outputs (B, T, H) | logits (B, T, V) |
#
# Encoder and decoder are GRUs of L layers, so a state is a single tensor, not a pair.
# `self.encoder(x)` starts from zeros, and `self.decoder(x, state)` from the `state` that it is given.
# The **outputs** are the states of the top layer at every step, the **final states** those of every layer at the last.
#
# | name | shape | what it is |
# |---|---|---|
# | `source` | (B, S) | ids of the source words, a tensor of integers; shorter rows are padded with `pad_id` |
# | `source_lengths` | (B,) | the number of words of each row, without padding, at least 1, in any order |
# | `target_in` | (B, T) | the inputs of the decoder: ⟨sos⟩ and the target words but the last, as in teacher forcing |
# | result `logits` | (B, T, V) | after each of these inputs, the logits of the next target word, without a softmax |
#
# **Padding changes nothing.** Each row's context must be the state after its own last word.
# A GRU that is run over the padded tensor also reads the padding, which changes its state at every step,
# even if the padding's embedding is zero.
# PyTorch's tool against this is `torch.nn.utils.rnn.pack_padded_sequence`.
# It removes the padding from a padded tensor, and a GRU accepts the **packed** sequence that it returns
# in place of a tensor. The final states are then those after each row's own last word.
# Look at its arguments in the documentation (`torch.nn.utils.rnn.pack_padded_sequence?` in a cell):
# it has a default for the order of the axes and one for the order of the rows, and neither default fits here.
# A loop over the rows, or over the steps, is fine as well.
#
# The decoder needs nothing of this kind, although `target_in` is padded too.
# Padding follows the last word of a row, and a GRU does not look ahead, so the logits at the real steps are right.
# Return those at the padding as they come. The loss leaves them out.
#
# **A worked example.** Two sentences, of one and two words, with one unit in one layer: B = 2, S = 2, D = H = L = 1.
# `pad_id` is 0, and the weights are those of the first case of the check, which a failed check prints.
#
# | row | `source` | encoder reads | its state | context |
# |---|---|---|---|---|
# | 0 | 2, pad | 2 | −0.36 | −0.36 |
# | 1 | 1, 2 | 1, then 2 | 0.69, then 0.11 | 0.11 |
#
# | row | step | decoder reads | state | logits |
# |---|---|---|---|---|
# | 0 | 0 | 1 | −0.10 | 0.10, −0.50, 0.05 |
# | 0 | 1 | 2 | −0.45 | 0.45, −1.20, −0.12 |
# | 1 | 0 | 1 | 0.28 | −0.28, 0.25, 0.24 |
# | 1 | 1 | 1 | 0.41 | −0.41, 0.51, 0.30 |
#
# If the encoder also read the padding of row 0, the state would go on from −0.36 to −0.22,
# and the first logits of that row would be −0.01, −0.27, 0.11.
#
# When the check passes, you have a model that learns to turn one sequence into another.
# The last section of this notebook trains it.


# %% exercise="Seq2Seq"
class Seq2Seq(torch.nn.Module):
    """An encoder–decoder: two embeddings, two GRUs of one or more layers, and a linear head.

    forward: source (B, S), source_lengths (B,), target_in (B, T) -> logits (B, T, V).
    """

    def __init__(self, source_vocab, target_vocab, embed_size, hidden_size, num_layers, pad_id):
        super().__init__()
        self.source_embedding = torch.nn.Embedding(source_vocab, embed_size, padding_idx=pad_id)
        self.target_embedding = torch.nn.Embedding(target_vocab, embed_size, padding_idx=pad_id)
        self.encoder = torch.nn.GRU(embed_size, hidden_size, num_layers=num_layers, batch_first=True)
        self.decoder = torch.nn.GRU(embed_size, hidden_size, num_layers=num_layers, batch_first=True)
        self.head = torch.nn.Linear(hidden_size, target_vocab)

    def forward(self, source, source_lengths, target_in):
        ### BEGIN SOLUTION
        words = self.source_embedding(source)  # (B, S, D)
        packed = torch.nn.utils.rnn.pack_padded_sequence(words, source_lengths, batch_first=True, enforce_sorted=False)
        _, context = self.encoder(packed)  # (L, B, H): after each row's own last word
        states, _ = self.decoder(self.target_embedding(target_in), context)  # (B, T, H)
        return self.head(states)
        ### END SOLUTION


# %% [markdown]
# ## A decoder that starts from a picture
#
# Write `caption_init`.
# In a model that writes **captions**, a convolutional network reads each picture and returns $F$ numbers,
# the picture's **features**. The decoder is the same as in translation.
# Only its initial state is new: a linear layer maps the features to the $H$ numbers of a state,
# and a tanh keeps them between −1 and 1, where all later states of the decoder are too.
#
# $$h_0 = \tanh(f\, W_f + b_f)$$
#
# **A worked example.** One picture with the features $f$ = [1.00, −2.00], and two units:
#
# $$W_f = \begin{bmatrix} 0.50 & -0.30 \\ 0.20 & 0.40 \end{bmatrix} \qquad
# b_f = \begin{bmatrix} 0.10 & 0.25 \end{bmatrix}$$
#
# | unit | $f\, W_f$ | with the bias | $h_0$ |
# |---|---|---|---|
# | 0 | 1 · 0.50 − 2 · 0.20 = 0.10 | 0.20 | 0.197 |
# | 1 | 1 · (−0.30) − 2 · 0.40 = −1.10 | −0.85 | −0.691 |
#
# | name | shape | what it is |
# |---|---|---|
# | `features` | (B, F) | the features of B pictures |
# | `W_f`, `b_f` | (F, H), (H,) | the weights of the linear layer |
# | result `h_0` | (B, H) | the initial state of the decoder for each picture |


# %% exercise="caption_init"
def caption_init(features, W_f, b_f):
    """The initial state of a caption decoder.

    features (B, F), W_f (F, H), b_f (H,) -> h_0 (B, H).
    """
    ### BEGIN SOLUTION
    return np.tanh(features @ W_f + b_f)
    ### END SOLUTION


# %% [markdown]
# ## Your progress

# %% active="ipynb"
# progress()

# %% [markdown]
# ## Training your model
#
# This section is not graded.
# A translator does not need words. Here the source is a number from 1 to 3999, digit by digit,
# and the target is the same number in Roman numerals, letter by letter: 1984 becomes MCMLXXXIV.
# Up to four digits become up to fifteen letters, so both sides are padded, and which letters a digit becomes
# depends on how many digits follow it.
# A source ends with ⟨eos⟩, and so does a target.


# %%
SOURCE = ["<pad>", "<eos>", *"0123456789"]
TARGET = ["<pad>", "<sos>", "<eos>", *"IVXLCDM"]
PAD, SOS, EOS = 0, 1, 2  # ids of the target
VALUES = {"M": 1000, "CM": 900, "D": 500, "CD": 400, "C": 100, "XC": 90, "L": 50, "XL": 40, "X": 10}
VALUES |= {"IX": 9, "V": 5, "IV": 4, "I": 1}


def roman(number):
    """A number from 1 to 3999 in Roman numerals."""
    letters = ""
    for symbol, value in VALUES.items():
        letters += symbol * (number // value)
        number %= value
    return letters


def make_batch(numbers):
    """source (B, S), source_lengths (B,), target_in (B, T) and targets (B, T) of some numbers."""
    sources = [torch.tensor([SOURCE.index(c) for c in [*str(number), "<eos>"]]) for number in numbers]
    targets = [torch.tensor([TARGET.index(c) for c in [*roman(number), "<eos>"]]) for number in numbers]
    source = torch.nn.utils.rnn.pad_sequence(sources, batch_first=True, padding_value=PAD)
    target = torch.nn.utils.rnn.pad_sequence(targets, batch_first=True, padding_value=PAD)
    target_in = torch.nn.functional.pad(target[:, :-1], (1, 0), value=SOS)  # shifted by one, with <sos> in front
    return source, torch.tensor([len(row) for row in sources]), target_in, target


# %% active="ipynb"
# for name, tensor in zip(("source", "source_lengths", "target_in", "targets"), make_batch([1984, 7])):
#     print(f"{name:15}{tensor.tolist()}")

# %% [markdown]
# In `train_on_numbers`, compare the loss with the one that you know: with `ignore_index`,
# `cross_entropy` averages over the targets that are not padding.
# `translate` is greedy decoding for a whole batch.
# It calls your `forward` with all letters so far for each new one, because `forward` returns no state.
# That is wasteful, but the texts are short.


# %%
def train_on_numbers(model, optimizer, numbers, num_updates, batch_size=64):
    """Train a Seq2Seq with teacher forcing on random batches of these numbers -> the loss of each update, in nats."""
    losses = []
    for _ in range(num_updates):
        chosen = torch.randint(len(numbers), (batch_size,)).tolist()
        source, source_lengths, target_in, targets = make_batch([numbers[i] for i in chosen])
        logits = model(source, source_lengths, target_in)
        loss = torch.nn.functional.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=PAD)
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        losses.append(loss.item())
    return losses


def translate(model, numbers, max_length=16):
    """The Roman numerals that the model writes, always taking the most probable letter."""
    source, source_lengths, _, _ = make_batch(numbers)
    written = torch.full((len(numbers), 1), SOS)
    with torch.no_grad():
        for _ in range(max_length):
            best = model(source, source_lengths, written)[:, -1:].argmax(dim=2)  # (B, 1)
            written = torch.cat([written, best], dim=1)
    texts = ["".join(TARGET[i] for i in row[1:]) for row in written.tolist()]
    return [text.partition("<eos>")[0] for text in texts]


# %% [markdown]
# The next cell trains on 3,000 of the numbers for 400 updates (one layer with 64 units, embeddings of size 16,
# batches of 64, Adam with learning rate 0.005, clipped at norm 1), which takes about ten seconds.
# It then translates 500 numbers that were not among the 3,000. An answer counts only if every letter is right.

# %% active="ipynb" tags=["long"]
# numbers = np.random.default_rng(0).permutation(np.arange(1, 4000)).tolist()
# training, unseen = numbers[:3000], numbers[3000:3500]
# torch.manual_seed(0)
# model = Seq2Seq(len(SOURCE), len(TARGET), embed_size=16, hidden_size=64, num_layers=1, pad_id=PAD)
# optimizer = torch.optim.Adam(model.parameters(), lr=0.005)
# try:
#     done = 0
#     for more in (50, 100, 250):
#         losses, done = train_on_numbers(model, optimizer, training, more), done + more
#         right = sum(text == roman(number) for text, number in zip(translate(model, unseen), unseen))
#         print(f"after {done} updates: loss {np.mean(losses[-20:]):.3f}, {right} of 500 unseen numbers are right")
#         for number, text in zip([7, 444, 1984, 3888], translate(model, [7, 444, 1984, 3888])):
#             print(f"    {number}: {text}{'' if text == roman(number) else f'  (right: {roman(number)})'}")
# except (RuntimeError, TypeError, ValueError, IndexError, NotImplementedError) as not_yet:
#     print(f"This cell waits for your code.  {not_yet}")

# %% [markdown]
# With five seeds, between 408 and 490 of the 500 unseen numbers were right after 400 updates
# (`experiments/ch05/seq2seq.json` records these runs and those without packing; on your computer they differ slightly).
# The number 7 was wrong each time: only nine of the numbers have a single digit, too few to learn from.
#
# **What the padding does.** In `forward`, pass `self.encoder` the embedded source without packing it,
# and run the check and the cells above again. The check fails. But how many of the 500 numbers are right?
# With the same five seeds it was between 430 and 499, about as many as before:
# this model has learned to read sources together with the padding of its training batches.
# Then run the next cell. It translates 444 once by itself, without padding, and once beside a longer number.

# %% active="ipynb"
# try:
#     print("alone:", translate(model, [444])[0], "  beside 1984:", translate(model, [444, 1984])[0])
# except (NameError, RuntimeError, TypeError, ValueError, IndexError, NotImplementedError) as not_yet:
#     print(f"This cell waits for your code.  {not_yet}")

# %% [markdown]
# Without packing, 444 was wrong with all five seeds when it was translated alone, and right with all five beside 1984.
# With packing, the answer does not depend on the other rows of the batch.
# Neither the loss nor an accuracy that is measured in such batches reveals this bug.
