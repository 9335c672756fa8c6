# %% [markdown]
# # Capstone: your network writes
#
# You have built a whole network: it reads, it predicts, it writes. What it lacked was something to say.
# Here are weights that have read a book, the reference manual of Python, letter by letter.
# Your own functions bring them to life.
#
# Nothing is checked here, and there is nothing to implement.
# Run the cells one after another, say aloud what you expect before each of them, and change whatever you like.
# At the end there is one question, to be answered in words. A human reads the answer.
#
# ## Your functions
#
# The next cell opens your notebooks *recurrence*, *predictions* and *writing*,
# which have to be in the same folder as this one,
# runs their cells without a word, and takes your functions out of them.
# When you have mended one there, save that notebook and run this cell again.

# %%
import contextlib
import io
import json
import textwrap
from pathlib import Path

import numpy as np


def take(notebook, *names):
    """Functions of these names out of one of your notebooks in this folder."""
    path, found = Path(f"{notebook}.ipynb"), {}
    try:
        cells = json.loads(path.read_text("utf-8"))["cells"]
    except FileNotFoundError:
        print(f"{path} is not in this folder. Put your notebook beside this one, and run this cell again.")
        cells = []
    except (ValueError, KeyError, TypeError):
        print(f"{path} cannot be read as a notebook. Open it in Jupyter, save it, and run this cell again.")
        cells = []
    for cell in cells:
        source = "".join(cell["source"])
        if cell["cell_type"] == "code" and not source.startswith("check("):
            with contextlib.suppress(Exception), contextlib.redirect_stdout(io.StringIO()):
                exec(source, found)
    for name in names:
        if name not in found and cells:
            print(f"{path} defines no {name}. Open it and run the cell of {name}: Python will say what is wrong there.")
    return [found.get(name, missing(name)) for name in names]


def missing(name):
    """What stands in for a function that was not found."""

    def not_there(*_, **__):
        raise NotImplementedError(f"{name} is still missing.")

    return not_there


# %% active="ipynb"
# (rnn_forward,) = take("recurrence", "rnn_forward")
# softmax, sequence_loss = take("predictions", "softmax", "sequence_loss")
# (generate,) = take("writing", "generate")

# %% [markdown]
# ## The weights
#
# The file `capstone_weights.json` came with the exercises.
# It holds the network's alphabet of 36 characters and its five arrays of weights, for a state of 64 units.
# The first character is the line break that ends a paragraph; its id is 0.

# %% active="ipynb"
# if not Path("capstone_weights.json").is_file():
#     raise FileNotFoundError("capstone_weights.json came with the exercises. Copy it beside this notebook.")
# network = json.loads(Path("capstone_weights.json").read_text("utf-8"))
# characters = network["characters"]
# weights = {name: np.array(values) for name, values in network["weights"].items()}
# recurrence = {name: weights[name] for name in ("W_xh", "W_hh", "b_h")}
# silence = np.zeros((1, 64))  # the state before anything was read
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
# print(sum(array.size for array in weights.values()), "numbers in all, and not a single word among them")

# %% [markdown]
# ## Always the likeliest letter
#
# We give it the line break, as at the beginning of a paragraph, and take the likeliest letter 300 times.
# What do you expect: the best text that it can write?

# %% active="ipynb"
# try:
#     ids = generate(start_id=0, num_steps=300, h_0=silence, **weights)
#     show("".join(characters[i] for i in ids))
# except NotImplementedError as not_yet:
#     print(f"This cell waits for your code.  {not_yet}")

# %% [markdown]
# ## Let chance choose
#
# The same network, the same beginning; but now each letter is drawn with the probability that the network gives it.
# Run the cell several times. Each run is a page that nobody has read before.

# %% active="ipynb"
# rng = np.random.default_rng()  # put a number between the brackets, and the text is the same every time
# heat = 1.0  # below 1, say 0.5, the likelier letters become likelier still; above 1 it dares more
# output = {name: weights[name] / heat for name in ("W_hy", "b_y")}
# try:
#     ids = generate(start_id=0, num_steps=600, h_0=silence, u=rng.random(600), **recurrence, **output)
#     show("".join(characters[i] for i in ids))
# except NotImplementedError as not_yet:
#     print(f"This cell waits for your code.  {not_yet}")

# %% [markdown]
# ## Begin a sentence, and let it go on
#
# Your `rnn_forward` reads the beginning, all but its last letter.
# The state it has then, and that last letter, are all that `generate` needs to go on from there.
# Nothing else of your sentence is left: 64 numbers and one letter.
#
# Replace the beginnings by your own (small letters, and some of `.,:;()'-`).

# %% active="ipynb"
# beginnings = ["the value of a variable is ", "an exception is raised if ", "my grandmother was a "]
# try:
#     for beginning in beginnings:
#         ids = ids_of(beginning)
#         x = np.eye(36)[ids[:-1]][None]  # (1, T, 36), one-hot
#         h = rnn_forward(x, silence, **recurrence)  # (1, T, 64)
#         ids = generate(start_id=ids[-1], num_steps=120, h_0=h[:, -1], u=rng.random(120), **weights)
#         show(beginning.upper() + "".join(characters[i] for i in ids))
# except NotImplementedError as not_yet:
#     print(f"This cell waits for your code.  {not_yet}")

# %% [markdown]
# ## Where it is surprised
#
# How many bits does each letter of a sentence cost the network, $-\log_2 p$, as it reads on?
# A letter that it was sure of costs nothing; a guess among all 36 would cost 5.17 bits.
# Before you run the cell: in which places of a word do you expect the long bars?

# %% active="ipynb"
# def predictions(text):
#     """The logits (1, T - 1, 36) after each letter but the last, and the letters that follow, as targets."""
#     ids = ids_of(text)
#     h = rnn_forward(np.eye(36)[ids[:-1]][None], silence, **recurrence)
#     return h @ weights["W_hy"] + weights["b_y"], ids[None, 1:]
#
#
# try:
#     sentence = "\nthe exception is raised when the object is not defined."
#     logits, targets = predictions(sentence)
#     p = np.take_along_axis(softmax(logits), targets[:, :, None], axis=2)[0, :, 0]
#     for letter, bits in zip(sentence[1:], -np.log2(p), strict=True):
#         print(f"{letter}  {bits:4.1f}  {'▇' * round(3 * bits)}")
# except NotImplementedError as not_yet:
#     print(f"This cell waits for your code.  {not_yet}")

# %% [markdown]
# The mean of such numbers over a text is the loss, here in bits a character.
# Your `sequence_loss` gives it in nats.

# %% active="ipynb"
# texts = {
#     "a sentence of a manual": "\nif no exception occurs, the value of the expression is returned by the method.",
#     "its words in another order": "\nthe the returned exception is method by if value occurs, no expression of the.",
#     "its letters backwards": "\n.dohtem eht yb denruter si noisserpxe eht fo eulav eht ,srucco noitpecxe on fi",
#     "another language": "\nwer reitet so spaet durch nacht und wind, es ist der vater mit seinem kind.",
# }
# try:
#     for name, text in texts.items():
#         print(f"{name:27} {sequence_loss(*predictions(text)) / np.log(2):.2f} bits a character")
# except NotImplementedError as not_yet:
#     print(f"This cell waits for your code.  {not_yet}")

# %% [markdown]
# ## Explain why
#
# Nobody told this network what a word is, and no word is stored in it.
# It has one rule, the same at every step: from a state and a letter to the next state,
# and from there to 36 probabilities.
# And yet it writes words, most of them real, and some that ought to be.
#
# **Explain why it writes**, in six to twelve sentences of your own,
# for a friend who has taken the same course up to here:
#
# 1. What lets it spell a word to its end? Point to one place in the outputs above that shows it.
# 2. Why does it run in circles when it always takes the likeliest letter, and not when chance chooses?
# 3. Name one thing that its texts show it has *not* learnt, and say how you can tell.
#
# Change the cells above and try things out before you write. What you have seen counts more than what you have read.

# %% [markdown] question="why_it_writes"
# ### BEGIN SOLUTION
# **A good answer, in short.**
# (1) The state is made anew from the letter and from the state before, so it can carry what came earlier:
# how the word began, and roughly where in a sentence it stands.
# The probabilities depend on it, and not on the last letter alone;
# "t" is followed by other letters after "excep" than after " ".
# The bars show it: the first letters of a word cost bits, because many words are possible there;
# its last letters cost nearly none, because by then the state tells which word it is.
# The weights hold which letters follow in which states, learnt from how often they did so in the manual;
# no list of words is needed.
# (2) Greedy writing is a rule without chance: from the same state and letter it always goes on in the same way.
# Once the state comes (very nearly) back to where it was, all that follows is repeated.
# A drawn letter leads out of the circle, to states from which other letters are likely.
# (3) For example: sentences have no meaning and lose their subject; brackets that are opened are not closed;
# the word order is that
# of a few words at a time. The loss says so too: the words in another order cost not much more than the sentence.
# What lies further back is hardly in the state.
#
# **How it is marked** (2 points).
# 1 point for part 1: the state carries what was read *and* the prediction depends on it (½),
# with evidence from an output that is
# named and fits (½).
# ½ point for part 2: without chance the same state and letter lead to the same text, so a return is a circle.
# ½ point for part 3: a shortcoming that the outputs do show, with what shows it.
# No point is lost for language or length.
# "It learnt the grammar", "it understands", or "the network is small", alone, is no explanation.
# ### END SOLUTION
