# %% [markdown]
# # Capstone: your network writes
#
# You have written a complete network: it reads, it predicts, and it generates text. What it lacks is training.
# Here are weights that were trained on the reference manual of Python, character by character.
# Your own functions will run them.
#
# Nothing is checked here, and there is nothing to implement.
# Run the cells one after another, predict the output of each before you see it, and change whatever you like.
# At the end there is one question to answer in words, which a person will grade.
#
# ## Your functions
#
# The next two cells open your notebooks *recurrence*, *predictions* and *writing*,
# which must be in the same folder as this one,
# run their cells without showing the output, and take your functions from them.
# When you have fixed a function there, save that notebook and run the two cells again.

# %%
import json
import textwrap
from pathlib import Path

import numpy as np

from grader import take, waits_for

# %% active="ipynb"
# (rnn_forward,) = take("recurrence", "rnn_forward")
# softmax, sequence_loss = take("predictions", "softmax", "sequence_loss")
# (generate,) = take("writing", "generate")

# %% [markdown]
# ## The weights
#
# The file `capstone_weights.json` came with the exercises.
# It contains the vocabulary, 36 characters, and the five weight arrays of a network with 64 units.
# The character with id 0 is the line break that ends a paragraph.

# %% active="ipynb"
# if not Path("capstone_weights.json").is_file():
#     raise FileNotFoundError("capstone_weights.json came with the exercises. Copy it to the folder of this notebook.")
# network = json.loads(Path("capstone_weights.json").read_text("utf-8"))
# characters = network["characters"]
# weights = {name: np.array(values) for name, values in network["weights"].items()}
# recurrence = {name: weights[name] for name in ("W_xh", "W_hh", "b_h")}
# h_0 = np.zeros((1, 64))  # the initial state
#
#
# def ids_of(text):
#     return np.array([characters.index(c) for c in text])
#
#
# def show(text):
#     print(textwrap.fill(text, 100, replace_whitespace=False), "\n")
#
#
# for name, array in weights.items():
#     print(f"{name:5} {array.shape}")
# print(sum(array.size for array in weights.values()), "weights in total")

# %% [markdown]
# ## Greedy decoding
#
# We start from the line break, as at the beginning of a paragraph, and choose the most probable character 300 times.
# Do you expect the best text that this network can write?

# %% active="ipynb"
# try:
#     ids = generate(start_id=0, num_steps=300, h_0=h_0, **weights)
#     show("".join(characters[i] for i in ids))
# except NotImplementedError as not_yet:
#     waits_for(not_yet)

# %% [markdown]
# ## Sampling
#
# Now the network starts in the same way, but each character is drawn at random from the predicted probabilities.
# Run the cell several times, then change the **temperature**, by which all logits are divided:
# what does the text look like at 0.5, and at 1.5?

# %% active="ipynb"
# rng = np.random.default_rng()  # with a seed, default_rng(0) for example, the text is the same every time
# temperature = 1.0  # below 1 the probable characters become even more probable, above 1 less so
# output = {name: weights[name] / temperature for name in ("W_hy", "b_y")}
# try:
#     ids = generate(start_id=0, num_steps=600, h_0=h_0, u=rng.random(600), **recurrence, **output)
#     show("".join(characters[i] for i in ids))
# except NotImplementedError as not_yet:
#     waits_for(not_yet)

# %% [markdown]
# ## Continuing a prompt
#
# Your `rnn_forward` reads a prompt, all but its last character.
# The state after that and the last character are all that `generate` needs to continue:
# whatever the network remembers of the prompt is in these 64 numbers.
#
# Replace the prompts with your own (lower-case letters, spaces, and the characters `.,:;()'-`).

# %% active="ipynb"
# prompts = ["the value of a variable is ", "an exception is raised if ", "my grandmother was a "]
# try:
#     for prompt in prompts:
#         ids = ids_of(prompt)
#         x = np.eye(36)[ids[:-1]][None]  # (1, T, 36), one-hot
#         h = rnn_forward(x, h_0, **recurrence)  # (1, T, 64)
#         ids = generate(start_id=ids[-1], num_steps=120, h_0=h[:, -1], u=rng.random(120), **weights)
#         show(prompt.upper() + "".join(characters[i] for i in ids))
# except NotImplementedError as not_yet:
#     waits_for(not_yet)

# %% [markdown]
# ## Which characters are hard to predict?
#
# The negative log-likelihood of each character, $-\log_2 p$, says in **bits** how unexpected it was.
# A character that was predicted with certainty has a loss of 0 bits.
# If all 36 characters were equally likely, each would have a loss of $\log_2 36 = 5.17$ bits.
# Before you run the cell: at which positions in a word do you expect long bars?

# %% active="ipynb"
# def predictions(text):
#     """The logits (1, T - 1, 36) after each character but the last, and the characters that follow, as targets."""
#     ids = ids_of(text)
#     h = rnn_forward(np.eye(36)[ids[:-1]][None], h_0, **recurrence)
#     return h @ weights["W_hy"] + weights["b_y"], ids[None, 1:]
#
#
# try:
#     sentence = "\nthe exception is raised when the object is not defined."
#     logits, targets = predictions(sentence)
#     p = np.take_along_axis(softmax(logits), targets[:, :, None], axis=2)[0, :, 0]
#     for character, bits in zip(sentence[1:], -np.log2(p), strict=True):
#         print(f"{character}  {bits:4.1f}  {'▇' * round(3 * bits)}")
# except NotImplementedError as not_yet:
#     waits_for(not_yet)

# %% [markdown]
# The mean of these numbers over a text is the cross-entropy, in bits per character.
# Your `sequence_loss` returns it in nats, so the cell divides by $\ln 2$.

# %% active="ipynb"
# texts = {
#     "a sentence in its style": "\nif no exception occurs, the value of the expression is returned by the method.",
#     "its words in another order": "\nthe the returned exception is method by if value occurs, no expression of the.",
#     "its letters backwards": "\n.dohtem eht yb denruter si noisserpxe eht fo eulav eht ,srucco noitpecxe on fi",
#     "another language": "\nwer reitet so spaet durch nacht und wind, es ist der vater mit seinem kind.",
# }
# try:
#     for name, text in texts.items():
#         print(f"{name:27} {sequence_loss(*predictions(text)) / np.log(2):.2f} bits per character")
# except NotImplementedError as not_yet:
#     waits_for(not_yet)

# %% [markdown]
# ## Explain why
#
# This network was never given a list of words.
# At every step it applies the same weights: from the previous state and a character it computes the new state,
# and from the new state 36 probabilities.
# Yet most of what it writes are real words, and some of the others look like words.
#
# **Explain why it writes**, in six to twelve sentences of your own,
# for a friend who has taken this course up to here:
#
# 1. What enables it to spell a word to its end? Point to one place in the outputs above that shows it.
# 2. Why does it repeat itself with greedy decoding, but not with sampling?
# 3. Name one thing that its texts show it has *not* learned, and say how you can tell.
#
# Change the cells above and try things out before you write.
# Evidence from your own outputs counts more than what you have read.

# %% [markdown] question="why_it_writes"
# ### BEGIN SOLUTION
# **A good answer, in short.**
# (1) The new state is computed from the character and from the previous state, so it can carry information about
# earlier characters: how the word began, and roughly where in a sentence it is.
# The probabilities depend on the state and not only on the last character:
# "t" is followed by other letters after "excep" than after " ".
# The bars show it. The first letters of a word have a high loss, because many words are possible there;
# its last letters have almost none, because by then the state leaves few words possible.
# The weights encode which characters follow in which states, learned from how often they did so in the manual,
# so no list of words is needed.
# (2) Greedy decoding is deterministic: from the same state and character it always continues in the same way.
# Once the state returns (very nearly) to an earlier one, the text from there on is repeated.
# With sampling, sooner or later a less probable character is drawn and leads out of the loop,
# to states from which other characters are likely.
# (3) For example: its sentences have no meaning and lose their subject; brackets are opened and never closed;
# the word order makes sense for a few words at a time only.
# The loss agrees: for the same words in another order it is about a quarter higher than for the sentence.
# So the state holds little about what was read further back.
#
# **How it is marked** (2 points).
# 1 point for part 1: the state carries information about what was read, *and* the prediction depends on it (½),
# with evidence from an output that is named and fits (½).
# ½ point for part 2: greedy decoding is deterministic, so when state and character come back, the text repeats.
# ½ point for part 3: a shortcoming that the outputs do show, with what shows it.
# No point is lost for language or length.
# "It learned the grammar", "it understands", or "the network is small" alone is not an explanation.
# ### END SOLUTION
