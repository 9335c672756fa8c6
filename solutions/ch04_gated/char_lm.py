# %% [markdown]
# # A character language model
#
# A language model computes one logit for each character that may come next, and text is written by drawing from them.
# What a model predicts are its **tokens**: here, the characters. The index of a token's logit is its **id**.
# In this notebook you write two ways to turn logits into the probabilities that are drawn from,
# which decide whether the text is bold or careful: a temperature, and a limit to the $k$ most probable characters.
# After that you write the model itself, in PyTorch.
# Plan about 10 minutes for the first exercise, 15 for the second and 20 for the model.
#
# As always, replace the line `raise NotImplementedError(…)` with your code, and run the cell below it.
# `hint("temperature_probs")` asks you a question, `hint("temperature_probs", 2)` explains the idea,
# and `hint("temperature_probs", 3)` outlines the code.
#
# Read first, in the book: *LSTM, GRU and deep networks › Text that writes itself*.

# %%
import numpy as np
import torch

from grader import check, hint, progress

# %% [markdown]
# The softmax of chapter 1 is given. It subtracts the largest logit of each row, so no exponential overflows,
# and it accepts $-\infty$ among the logits: its probability is 0.


# %%
def softmax(z):
    """The softmax along the last axis: z (…, V) -> probabilities (…, V)."""
    e = np.exp(z - z.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


# %% [markdown]
# ## Temperature
#
# Write `temperature_probs`.
# The **temperature** $\tau$ sharpens or flattens a distribution before a character is drawn:
#
# $$p = \operatorname{softmax}\left(\frac{z}{\tau}\right)$$
#
# With $\tau = 1$ these are the probabilities of the model.
# A small temperature prefers the most probable character even more, and the limit $\tau \to 0$ is **greedy**:
# the largest logit gets the probability 1. A large temperature makes all characters almost equally likely.
#
# **A worked example.** One row of three logits, $z$ = [2.00, 0.00, −1.00]:
#
# | $\tau$ | $z / \tau$ | their exponentials | sum | probabilities |
# |---|---|---|---|---|
# | 2 | 1.00, 0.00, −0.50 | 2.72, 1.00, 0.61 | 4.32 | 0.63, 0.23, 0.14 |
# | 1 | 2.00, 0.00, −1.00 | 7.39, 1.00, 0.37 | 8.76 | 0.84, 0.11, 0.04 |
# | 0.5 | 4.00, 0.00, −2.00 | 54.60, 1.00, 0.14 | 55.73 | 0.98, 0.02, 0.00 |
# | 0 | | | | 1, 0, 0 |
#
# | name | shape | what it is |
# |---|---|---|
# | `logits` | (…, V) | numbers between −1000 and 1000, with any number of axes in front of the last |
# | `temperature` | a number | 0, or a number from 1e-300 to 1000 |
# | result | (…, V) | the probabilities; every row along the last axis sums to 1 |
#
# All results must be finite: for 1e-300 too, although `z / temperature` may then be as large as 1e303,
# which float64 can hold.
# If the temperature is 0, return exactly 1 at the largest logit of each row and 0 elsewhere.
# (No row of the check then has two largest logits.)


# %% exercise="temperature_probs"
def temperature_probs(logits, temperature):
    """The probabilities of the next token at this temperature; 0 is greedy.

    logits (…, V), temperature a number, at least 0 -> probabilities (…, V).
    """
    ### BEGIN SOLUTION
    if temperature == 0:
        return np.eye(logits.shape[-1])[logits.argmax(axis=-1)]
    return softmax(logits / temperature)
    ### END SOLUTION


# %% [markdown]
# ## The k most probable
#
# Write `top_k_probs`.
# A model gives every character some probability, and many small ones add up:
# now and then a character is drawn that makes no sense. **Top-k sampling** allows only the $k$ most probable ones.
# All others get the probability 0, and the $k$ that are left are normalised to sum to 1.
#
# **An example, half worked out.** Five logits, with two equal ones: $z$ = [0.50, 2.00, −1.00, 1.00, 1.00].
#
# | k | ids that are kept | result |
# |---|---|---|
# | 1 | 1 | 0, 1, 0, 0, 0 |
# | 2 | 1 and 3 | 0, 0.73, 0, 0.27, 0 |
# | 3 | ? | ? |
# | 5 or more | all | softmax(z) |
#
# With k = 2, ids 3 and 4 are equally probable, but only one of them can be kept. It is the one with the lower id.
# (`np.argsort` keeps equal entries in their order only with the option `kind="stable"`.)
# Fill in the row for k = 3. Its numbers are not those of softmax(z), because they sum to 1 without the others.
#
# | name | shape | what it is |
# |---|---|---|
# | `logits` | (…, V) | numbers between −1000 and 1000, with any number of axes in front of the last |
# | `k` | an integer above 0 | how many tokens of each row are kept; all of them if `k` is V or more |
# | result | (…, V) | the probabilities, in the order of the ids; exactly `k` of each row are kept, the others are 0 |


# %% exercise="top_k_probs"
def top_k_probs(logits, k):
    """The softmax over the k largest logits of each row; among equal ones, the lower ids are kept.

    logits (…, V), k an integer above 0 -> probabilities (…, V), 0 outside the k largest.
    """
    ### BEGIN SOLUTION
    best = np.argsort(-logits, axis=-1, kind="stable")[..., :k]  # (…, k): equal logits stay in the order of their ids
    kept = np.full(logits.shape, -np.inf)
    np.put_along_axis(kept, best, np.take_along_axis(logits, best, axis=-1), axis=-1)
    return softmax(kept)
    ### END SOLUTION


# %% [markdown]
# ## What the two do to a text
#
# This section is not graded.
# The cell below counts which letter follows which in a short sentence, takes logarithms of these counts as logits,
# and draws texts from them with your functions.
# How will the text change as the temperature rises? What will the greedy text look like after a while?

# %% active="ipynb"
# sentence = "she sells sea shells by the sea shore, and the shells that she sells are sea shells, i am sure. "
# letters = sorted(set(sentence))
# counts = np.full((len(letters), len(letters)), 0.02)  # a small number, so that no logarithm is infinite
# for a, b in zip(sentence, sentence[1:] + sentence[:1]):
#     counts[letters.index(a), letters.index(b)] += 1
# logits = np.log(counts)  # (V, V): row i has the logits after letter i
#
#
# def text(probs, length=60):
#     rng, i, out = np.random.default_rng(0), letters.index("s"), "s"
#     for _ in range(length):
#         i = rng.choice(len(letters), p=probs[i])
#         out += letters[i]
#     return out
#
#
# try:
#     for temperature in (0.0, 0.3, 1.0, 2.0):
#         print(f"temperature {temperature}   {text(temperature_probs(logits, temperature))}")
#     for k in (1, 2, 4):
#         print(f"top {k}             {text(top_k_probs(logits, k))}")
# except (NotImplementedError, TypeError, ValueError, IndexError) as not_yet:
#     print(f"This cell waits for your code.  {not_yet}")

# %% [markdown]
# ## A language model in PyTorch
#
# Write `forward` of the class `CharLM`, a **character language model** and your first module in PyTorch.
# It reads a batch of texts and predicts after every character which one comes next.
# `__init__` is given. It creates three submodules, which hold all weights of the model:
#
# | submodule | given | returns |
# |---|---|---|
# | `self.embedding` | ids (B, T) | a vector for each character, (B, T, E) |
# | `self.rnn` | vectors (B, T, E), and a state | outputs (B, T, H), and the last state |
# | `self.head` | outputs (B, T, H) | logits (B, T, V) |
#
# `self.rnn` is an LSTM of L layers. Its **outputs** are the hidden states of the top layer after every step.
# Its **state** is a pair of tensors, `(h_n, c_n)`, each of shape (L, B, H):
# the hidden state and the cell state of every layer after the last step.
# `self.rnn(x, state)` starts from such a pair, or from zeros if `state` is `None`, and returns `outputs, (h_n, c_n)`.
#
# | name | shape | what it is |
# |---|---|---|
# | `ids` | (B, T) | the texts, as ids, a tensor of integers |
# | `state` | | what an earlier call returned, or `None` where a text begins |
# | result `logits` | (B, T, V) | after each character, the logits of the next one, without a softmax |
# | result `state` | | all that a next call needs to continue the texts, **detached** |
#
# **A text in several calls.** A long text is read in chunks, both in training and in sampling,
# and each call has to continue where the previous one stopped:
#
# ```
# logits, state = model(ids[:, :25])             # the first 25 characters
# logits, state = model(ids[:, 25:50], state)    # the next 25
# ```
#
# The second call must return the logits that a single call with all 50 characters returns for the last 25.
# The caller passes the state on without looking into it, so its form is up to you.
# The module itself must not remember anything: a call without `state` begins a new text.
#
# **Detached.** PyTorch stores with each computed tensor the graph of its computation.
# `tensor.detach()` returns the same numbers without the graph, and leaves `tensor` itself as it is.
# If a chunk started from an attached state, its backward pass would continue into the previous chunk,
# whose graph has been freed, and PyTorch would raise an error.
# With a detached one, the state crosses the cut and the gradient does not,
# which is truncated backpropagation through time, as in chapter 2.
# The logits must stay attached, because the gradient of the loss reaches the weights through them.
#
# **Dropout** acts between the layers of `self.rnn`, and only in training mode,
# which `model.train()` and `model.eval()` switch on and off.
# `self.rnn` takes care of that, so `forward` needs no code for it.
#
# **A worked example.** Two characters and one unit: V = 2, E = 1, H = 1, L = 1.
# The weights are those of the first case of the check, which a failed check prints.
#
# | reads | embedding | i | f | g | o | c | h | logits |
# |---|---|---|---|---|---|---|---|---|
# | id 0 | 0.50 | 0.65 | 0.62 | 0.66 | 0.53 | 0.43 | 0.21 | 0.32, −0.18 |
# | id 1 | −1.00 | 0.30 | 0.41 | −0.96 | 0.79 | −0.11 | −0.09 | −0.14, 0.43 |
#
# A call with [[0, 1]] returns both rows of logits, with shape (1, 2, 2), and a state that contains the last c and h.
# A call with [[0]], and then one with [[1]] and the state of the first, return one row each, with the same numbers.
# Without the state, the second call would start from zeros and return −0.32, 0.68.
#
# When the check passes, you have a language model that can be trained on any text.
# The last section of this notebook trains it.


# %% exercise="CharLM"
class CharLM(torch.nn.Module):
    """A character language model: an embedding, an LSTM of one or more layers, and a linear head.

    forward: ids (B, T), state None or what an earlier call returned -> logits (B, T, V), state, detached.
    """

    def __init__(self, vocab_size, embed_size, hidden_size, num_layers, dropout):
        super().__init__()
        self.embedding = torch.nn.Embedding(vocab_size, embed_size)
        self.rnn = torch.nn.LSTM(embed_size, hidden_size, num_layers=num_layers, dropout=dropout, batch_first=True)
        self.head = torch.nn.Linear(hidden_size, vocab_size)

    def forward(self, ids, state=None):
        ### BEGIN SOLUTION
        x = self.embedding(ids)  # (B, T, E)
        h, (h_n, c_n) = self.rnn(x, state)  # (B, T, H), and twice (L, B, H)
        return self.head(h), (h_n.detach(), c_n.detach())
        ### END SOLUTION


# %% [markdown]
# ## Your progress

# %% active="ipynb"
# progress()

# %% [markdown]
# ## Training your model
#
# This section is not graded.
# You have seen every part of a training loop in NumPy. Here it is once in full, in PyTorch.
# The text has been cut into a few rows of equal length, and `train` reads them side by side as a batch,
# one chunk after the other.
# Three lines are worth a second look: `state` goes into the model and comes out of it,
# `clip_grad_norm_` limits the norm of the gradient before the update (chapter 3),
# and where no complete chunk is left, the text and the state start again.


# %%
def train(model, optimizer, rows, seq_length, num_updates, max_norm=1.0):
    """Train a CharLM on a batch of texts by truncated backpropagation through time.

    rows (B, N): ids, each row a piece of the text -> the loss of each update, in nats per character.
    """
    losses, p, state = [], 0, None
    for _ in range(num_updates):
        if p + seq_length + 1 > rows.shape[1]:  # no complete chunk is left
            p, state = 0, None
        inputs, targets = rows[:, p : p + seq_length], rows[:, p + 1 : p + seq_length + 1]
        logits, state = model(inputs, state)  # the state crosses the cut, the gradient does not
        loss = torch.nn.functional.cross_entropy(logits.flatten(0, 1), targets.flatten())
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm)
        optimizer.step()
        losses.append(loss.item())
        p += seq_length
    return losses


def write(model, characters, prompt, num_new, to_probs, rng):
    """Continue the prompt by num_new characters; to_probs turns the logits (V,) into probabilities."""
    ids = [characters.index(character) for character in prompt]
    model.eval()  # no dropout
    with torch.no_grad():  # no graph, because nothing is learned here
        logits, state = model(torch.tensor([ids]))  # reads the whole prompt
        for _ in range(num_new):
            probs = to_probs(logits[0, -1].double().numpy())
            ids.append(int(rng.choice(len(probs), p=probs)))
            logits, state = model(torch.tensor([ids[-1:]]), state)  # reads the new character only
    model.train()
    return "".join(characters[i] for i in ids)


# %% [markdown]
# The text is an English nursery rhyme, *This is the house that Jack built*.
# Each of its verses repeats the whole previous one, so the list of lines below is enough to write it down.


# %%
LINES = [
    "the farmer sowing his corn,\nthat kept",
    "the cock that crowed in the morn,\nthat waked",
    "the priest all shaven and shorn,\nthat married",
    "the man all tattered and torn,\nthat kissed",
    "the maiden all forlorn,\nthat milked",
    "the cow with the crumpled horn,\nthat tossed",
    "the dog,\nthat worried",
    "the cat,\nthat killed",
    "the rat,\nthat ate",
    "the malt\nthat lay in",
    "the house that Jack built.\n\n",
]
rhyme = "".join("This is " + " ".join(LINES[first:]) for first in reversed(range(len(LINES))))
characters = sorted(set(rhyme))

# %% active="ipynb"
# print(f"{len(rhyme)} characters of {len(characters)} kinds, the first verses:\n")
# print(rhyme[:205])

# %% [markdown]
# The next cell trains one LSTM layer with 64 units for 400 updates (4 rows, chunks of 25 characters,
# Adam with learning rate 0.005, clipped at norm 1), which takes a few seconds.
# After 25, 100 and 400 updates it prints the loss in bits per character, averaged over the last 20 updates,
# and a sample at temperature 1. A network that knows nothing has a loss of log2 28 = 4.8 bits.
# What will the network have learned by each of these points: letters, words, lines?

# %% active="ipynb" tags=["long"]
# torch.manual_seed(0)
# ids = torch.tensor([characters.index(character) for character in rhyme])
# rows = ids[: len(ids) // 4 * 4].reshape(4, -1)  # (B, N): row b is the b-th quarter of the text
# model = CharLM(len(characters), embed_size=16, hidden_size=64, num_layers=1, dropout=0.0)
# optimizer = torch.optim.Adam(model.parameters(), lr=0.005)
# rng = np.random.default_rng(0)
# try:
#     done = 0
#     for more in (25, 75, 300):
#         losses, done = train(model, optimizer, rows, 25, more), done + more
#         print(f"after {done} updates, {np.mean(losses[-20:]) / np.log(2):.2f} bits per character:")
#         print(write(model, characters, "This is ", 120, lambda z: temperature_probs(z, 1.0), rng), "\n")
# except (RuntimeError, TypeError, ValueError, IndexError) as not_yet:
#     print(f"This cell waits for your code.  {not_yet}")

# %% [markdown]
# Now let the same network write with other temperatures, and among the 3 most probable characters only.

# %% active="ipynb" tags=["long"]
# try:
#     for name, to_probs in {
#         "temperature 0.3": lambda z: temperature_probs(z, 0.3),
#         "temperature 1": lambda z: temperature_probs(z, 1.0),
#         "temperature 2": lambda z: temperature_probs(z, 2.0),
#         "temperature 2, top 3": lambda z: top_k_probs(z / 2.0, 3),
#     }.items():
#         print(f"{name}:\n{write(model, characters, 'This is ', 150, to_probs, rng)}\n")
# except (RuntimeError, TypeError, ValueError, IndexError) as not_yet:
#     print(f"This cell waits for your code.  {not_yet}")

# %% [markdown]
# After 400 updates the loss is a small fraction of a bit: this network has memorised most of the rhyme,
# which is all the text that there is. It says nothing about text that the network has not read;
# the page measures that on a real text.
#
# A low temperature quotes the rhyme, a high one misspells it.
# In samples of 2,000 characters from five such networks, at most 3 % of the words were misspelled at temperature 0.3,
# 12 to 18 % at 1, and 78 to 84 % at 2. With the top 3 at temperature 2 it was 43 to 54 %:
# top-k excludes the characters that are individually improbable, but at this temperature it still takes
# the second or third best too often.
#
# **What the carried state is worth.** In `train`, replace `logits, state = model(inputs, state)`
# by `logits, _ = model(inputs)`, and run the cells again.
# Each chunk then starts from zeros, and the network has to guess in which line of the rhyme it is.
# With five seeds, the loss after 400 updates was between 0.09 and 0.14 bits with the carried state,
# and between 0.23 and 0.28 bits without it.
# (`experiments/ch04/char_lm.json` records these runs.)
