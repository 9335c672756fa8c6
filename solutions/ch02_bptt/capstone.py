# %% [markdown]
# # Capstone: your network learns to write
#
# In chapter 1 the weights were given. Now you train the network yourself.
# Your own functions compute the gradients and check that they are right.
# Then the network is trained on the reference manual of Python, until it writes something that resembles it.
# All of it is NumPy: no library computes a gradient for you.
#
# Nothing here is checked automatically, and there is nothing to implement.
# Run the cells in order, predict the output of each one before you run it, and change whatever you like.
# At the end there is one question to answer in words. A person, not a program, grades the answer.
#
# ## Your functions
#
# The next two cells open your notebooks *logits_and_embedding*, *through_time*, *checking* and *training*,
# which must be in the same folder as this one,
# run their cells without showing the output, and take your functions from them.
# If you fix one of these functions, save its notebook and run the two cells again.

# %%
import hashlib
import platform
import re
import textwrap
import time
from pathlib import Path

import numpy as np

from grader import take, waits_for

# %% active="ipynb"
# (cross_entropy_backward,) = take("logits_and_embedding", "cross_entropy_backward")
# (rnn_backward,) = take("through_time", "rnn_backward")
# relative_error, numerical_gradient = take("checking", "relative_error", "numerical_gradient")
# (train_char_rnn,) = take("training", "train_char_rnn")

# %% [markdown]
# ## The forward and the backward pass
#
# The forward pass is that of chapter 1, so it is given: `forward` runs the network over one chunk of text.
# The backward pass is yours, and `loss_and_grads` puts it together.
# `cross_entropy_backward` computes the gradient at the logits, two matrix products pass it back
# to the output weights and to the states, and `rnn_backward` backpropagates it through time.
#
# Where is your `truncated_bptt`? Its idea is here, although the function is not called.
# `rnn_backward` sees one chunk at a time, the `h_0` that it gets is the last state of the previous chunk,
# and the `dh_0` that it returns is dropped.
# The state crosses the cut, the gradient does not: that *is* truncation.


# %%
def forward(params, inputs, h_0):
    """Run the network over ids (T,) from a state (1, H). Returns all states (1, T, H) and the logits (1, T, V)."""
    h, h_t = [], h_0
    for x_t in inputs:
        h_t = np.tanh(params["W_xh"][x_t] + h_t @ params["W_hh"] + params["b_h"])
        h.append(h_t)
    h = np.stack(h, axis=1)
    return h, h @ params["W_hy"] + params["b_y"]


def mean_loss(logits, targets):
    """The mean cross-entropy in nats per token: logits (1, T, V), targets (T,)."""
    largest = logits.max(axis=-1, keepdims=True)
    log_p = logits - largest - np.log(np.exp(logits - largest).sum(axis=-1, keepdims=True))
    return -log_p[0, np.arange(len(targets)), targets].mean()


# %% active="ipynb"
# def loss_and_grads(params, inputs, targets, h_0):
#     """The function that `train_char_rnn` calls, built from yours: the loss, its gradients and the last state."""
#     h, logits = forward(params, inputs, h_0)
#     dlogits = cross_entropy_backward(logits, targets[None])  # (1, T, V)
#     dh = dlogits @ params["W_hy"].T  # (1, T, H)
#     x = np.eye(len(params["W_xh"]))[inputs][None]  # (1, T, V), one-hot
#     _, _, dW_xh, dW_hh, db_h = rnn_backward(dh, x, h_0, h, params["W_xh"], params["W_hh"])
#     grads = {
#         "W_xh": dW_xh,
#         "W_hh": dW_hh,
#         "b_h": db_h,
#         "W_hy": h[0].T @ dlogits[0],
#         "b_y": dlogits[0].sum(axis=0),
#     }
#     return mean_loss(logits, targets), grads, h[:, -1]

# %% [markdown]
# ## Are the gradients right?
#
# A **gradient check** answers this question. It takes a small network and a few tokens,
# and moves every weight up and down a little.
# Your `numerical_gradient` uses no backpropagation,
# so the two gradients are unlikely to agree because of a common mistake.
# If they agree, your gradients belong to the loss as it is written.
# Whether that is the loss you want, no gradient check can tell.
#
# The page *Checking gradients* gives the rule: a relative error below 1e-7 means that the gradient is right,
# and one above 1e-3 that something is wrong. In between, look closer. What do you expect?

# %% active="ipynb"
# rng = np.random.default_rng(0)
# small = {
#     "W_xh": rng.normal(size=(5, 4)),
#     "W_hh": rng.normal(size=(4, 4)),
#     "b_h": rng.normal(size=4),
#     "W_hy": rng.normal(size=(4, 5)),
#     "b_y": rng.normal(size=5),
# }
# inputs, targets, h_0 = rng.integers(5, size=6), rng.integers(5, size=6), 0.5 * rng.normal(size=(1, 4))
# try:
#     _, grads, _ = loss_and_grads(small, inputs, targets, h_0)
#     for name in small:
#
#         def loss_of(theta, name=name):
#             return mean_loss(forward({**small, name: theta}, inputs, h_0)[1], targets)
#
#         print(f"{name:5} {relative_error(grads[name], numerical_gradient(loss_of, small[name])):.1e}")
# except NotImplementedError as not_yet:
#     waits_for(not_yet)

# %% [markdown]
# If one of them is wrong, stop here. A network with a wrong gradient often learns too, only worse,
# so its loss alone would not tell you. Which gradients are wrong shows where to look:
#
# - All five are wrong: suspect `cross_entropy_backward`, because all five depend on its result.
# - The first three are wrong, or some of them: suspect `rnn_backward`.
# - All five are slightly off, by about 1e-5 to 1e-4: suspect the check itself.
#   Does `numerical_gradient` move an entry in both directions, and restore it afterwards?
# - `W_xh` is `nan`: suspect `relative_error`. A token that was not read has a row of zeros in both gradients,
#   and 0/0 must count as 0.
#
# One alarm can be false. Where both entries are as small as rounding errors, their relative error means nothing:
# 0 compared with 1e-13 gives 1.0. You may meet a mild case of this with another seed.
# Then look at the entries themselves.
#
# ## Hello
#
# Four letters and 300 updates.
# After the first `l` comes another `l`, and after the second one an `o`,
# so the current letter alone does not determine the next one.
# A network without memory cannot get below about 0.35 nats here. What loss will yours reach?

# %% active="ipynb"
# letters = "helo"
# word = np.array([letters.index(c) for c in "hello"])
# try:
#     hello_losses, hello_params = train_char_rnn(word, 4, 16, 4, 300, 0.1, np.random.default_rng(0), loss_and_grads)
#     for update in (0, 1, 2, 5, 10, 20, 50, 100, 299):
#         print(f"update {update:3d}  {hello_losses[update]:6.3f} nats  {'▇' * round(40 * hello_losses[update])}")
#     _, logits = forward(hello_params, word[:-1], np.zeros((1, 16)))
#     print("h" + "".join(letters[i] for i in logits[0].argmax(axis=1)))
# except NotImplementedError as not_yet:
#     waits_for(not_yet)

# %% [markdown]
# ## A long text
#
# The documentation that comes with Python, `pydoc_data.topics`, is already on your machine.
# The next cell keeps its prose: every paragraph once, in lower case, without code and tables.
# The text differs slightly between versions of Python, so the version and a hash of the text are printed with it.
#
# You can also use a text of your own: any plain-text file of 100,000 characters or more.
# A network can simply memorise a much shorter one.


# %%
def paragraphs_of(topic):
    """The prose of one topic: one paragraph per line, in lower case, without markup, code and tables."""
    found = []
    for block in re.split(r"\n\s*\n", topic):
        lines = [line.strip() for line in block.strip("\n").split("\n")]
        joined = re.sub(r"\s+", " ", " ".join(lines))
        letters = sum(c.isalpha() or c == " " for c in joined)
        ruled = any(set(line) <= set('*=-~^+|"# ') for line in lines)
        if len(joined) >= 60 and letters > 0.85 * len(joined) and joined[-1] in ".:;)!?" and not ruled:
            found.append(re.sub(r'["*`\\]', "", joined).lower())
    return found


def python_manual():
    """All prose paragraphs of Python's documentation topics, each once."""
    from pydoc_data.topics import topics

    paragraphs = [p for topic in topics.values() for p in paragraphs_of(topic) if "::=" not in p and ">>>" not in p]
    return "".join(f"{p}\n" for p in dict.fromkeys(paragraphs))


# %% active="ipynb"
# text, source = python_manual(), f"pydoc_data.topics of Python {platform.python_version()}"
# # text, source = Path("my_text.txt").read_text("utf-8").lower(), "my_text.txt"
#
# counts = {c: text.count(c) for c in sorted(set(text))}
# characters = "".join(c for c, n in counts.items() if n >= 20)  # without the rare ones
# id_of = {c: i for i, c in enumerate(characters)}
# ids = np.array([id_of[c] for c in text if c in id_of])
# V = len(characters)
# losses = params = recorder = None  # no network has been trained on this text yet
# print(f"{source}, sha256 {hashlib.sha256(text.encode()).hexdigest()[:12]}")
# print(f"{len(ids):,} characters, {V} of them different: {characters!r}")
# print(textwrap.fill(text[1000:1400], 100))

# %% [markdown]
# ## Half a minute of training
#
# A network of 100 units reads the text in chunks of 25 characters, and its weights are updated after each chunk.
# In training, its next input is always the true next character, whatever it predicted (**teacher forcing**).
# When it generates text, its next input is the character that it has just sampled.
#
# The next cell measures how fast your functions are,
# and chooses as many updates as fit into half a minute (20,000 at most).
# Four times during training the network writes a sample:
# from its current state and its current position in the text, it continues on its own,
# and each character is sampled with the probability that the network gives it.
# You can interrupt the training. The network then keeps what it has learned so far.
#
# The network has never seen a word. Before you run the cell, say what its first sample will look like,
# and what it will learn first: the letters, the lengths of words, or the words?


# %%
def write(params, characters, length, last, h_t, seed=1):
    """Sample text from the network, character by character, from a state and the id that it reads next."""
    rng, text = np.random.default_rng(seed), ""
    for _ in range(length):
        h_t = np.tanh(params["W_xh"][last] + h_t @ params["W_hh"] + params["b_h"])
        logits = (h_t @ params["W_hy"] + params["b_y"])[0]
        p = np.exp(logits - logits.max())
        last = min(int(np.searchsorted(np.cumsum(p / p.sum()), rng.random(), side="right")), len(p) - 1)
        text += characters[last]
    return text


def recorded(loss_and_grads, stages, characters):
    """The function `loss_and_grads`, which also records each loss and, after so many updates, prints a sample."""

    def recorder(params, inputs, targets, h_0):
        done = len(recorder.losses)
        if done in stages:
            print(f"after {done:,} updates, {done * len(inputs):,} characters read:")
            print(textwrap.indent(textwrap.fill(write(params, characters, 240, inputs[0], h_0), 100), "    "))
        loss, grads, state = loss_and_grads(params, inputs, targets, h_0)
        recorder.losses.append(loss)
        recorder.params, recorder.state = params, state  # kept for later
        return loss, grads, state

    recorder.losses, recorder.params, recorder.state = [], None, None
    return recorder


# %% active="ipynb" tags=["long"]
# hidden_size, seq_length, lr = 100, 25, 0.05
# try:
#     before = time.perf_counter()
#     train_char_rnn(ids, V, hidden_size, seq_length, 100, lr, np.random.default_rng(0), loss_and_grads)
#     seconds = (time.perf_counter() - before) / 100
#     num_updates = min(20_000, int(30 / seconds))
#     stages = (0, num_updates // 50, num_updates // 7, num_updates - 1)
#     before, recorder = time.perf_counter(), recorded(loss_and_grads, stages, characters)
#     try:
#         rng = np.random.default_rng(0)
#         losses, params = train_char_rnn(ids, V, hidden_size, seq_length, num_updates, lr, rng, recorder)
#     except KeyboardInterrupt:
#         losses, params = np.array(recorder.losses), recorder.params
#         print("Interrupted. The network keeps what it has learned so far.")
#     done, seconds = len(losses) * seq_length, time.perf_counter() - before
#     print(f"{len(losses):,} updates in {seconds:.0f} s: {done:,} characters, {done / len(ids):.1f} times the text")
# except NotImplementedError as not_yet:
#     waits_for(not_yet)

# %% [markdown]
# How did the loss fall? Each bar is the mean training loss over a tenth of the updates, in bits per character.
# A model that gives all characters the same probability has a loss of $\log_2 V$ bits,
# and a **bigram** model, which only counts which character follows which, one of about 3.5.
# The cell above says how often training went through the text.
# From the second time on, the network reads what it has read before,
# so the bars from there on do not tell how well it predicts new text.

# %% active="ipynb" tags=["long"]
# if params is None:
#     print("No network has been trained on this text yet: run the cell under Half a minute of training.")
# else:
#     print(f"uniform   {np.log2(V):.2f}  {'▇' * round(10 * np.log2(V))}")
#     for part in np.array_split(losses, min(10, len(losses))):
#         bits = part.mean() / np.log(2)
#         print(f"          {bits:.2f}  {'▇' * round(10 * bits)}")

# %% [markdown]
# In chapter 3 you will examine this network, so the next cell saves its weights, together with the text.

# %% active="ipynb" tags=["long"]
# if params is not None:
#     np.savez_compressed("my_network.npz", characters=characters, ids=ids, **params)  # chapter 3 looks at this network

# %% [markdown]
# ## Which characters influence a prediction?
#
# Your backward pass has one more use. The trained network has read the beginning of a sentence
# and predicts one character. How strongly does each character that it has read influence this prediction?
# `rnn_backward` tells you: start from the loss at the last step alone, and look at `dx` at every step.
# Its norm is drawn relative to the largest one.
#
# The network starts the sentence in the state with which its training ended, as if it met the sentence in the middle
# of the text. A state of zeros occurred in training only where the text begins.
#
# Here nothing is truncated: the gradient flows back through the whole sentence.
# In training it never went back further than 25 characters. How far back will the bars be visible?

# %% active="ipynb" tags=["long"]
# sentence = "the value of the expression is converted to a string"  # its last character is the one to predict
# if not set(sentence) <= set(characters):  # for a text in another alphabet, take a piece of it
#     sentence = "".join(characters[i] for i in ids[5000:5052])
# if params is None:
#     print("No network has been trained on this text yet: run the cell under Half a minute of training.")
# else:
#     try:
#         read, h_0 = np.array([id_of[c] for c in sentence]), recorder.state
#         h, logits = forward(params, read[:-1], h_0)
#         dlogits = np.zeros_like(logits)
#         dlogits[:, -1:] = cross_entropy_backward(logits[:, -1:], read[None, -1:])
#         x = np.eye(V)[read[:-1]][None]
#         dx, *_ = rnn_backward(dlogits @ params["W_hy"].T, x, h_0, h, params["W_xh"], params["W_hh"])
#         norms = np.linalg.norm(dx[0], axis=1)
#         for character, norm in zip(sentence.replace("\n", "⏎"), norms / norms.max(), strict=False):
#             print(f"{character}  {norm:5.3f}  {'▇' * round(60 * norm)}")
#     except NotImplementedError as not_yet:
#         waits_for(not_yet)

# %% [markdown]
# Is truncation the reason why the bars end? There is a second candidate: on its way back the gradient is multiplied
# at every step by the derivative of the tanh and by `W_hh`, and it can shrink even without truncation.
# This picture does not tell the two apart.
# To find out, change one of them: set `seq_length = 5` in the cell under *Half a minute of training*,
# run it and the cell above again, and see whether the bars end five characters back.
#
# ## What truncation costs
#
# A text made for this question tells more. In it every letter, `a` or `b`, is repeated after six dots,
# and the letter of each pair is chosen at random:
#
#     a......ab......bb......ba......a
#
# The first letter of a pair is read six steps before the second one has to be predicted.
# The first letter cannot be predicted, so the loss is at least 1 bit per pair.
# A network that remembers it can predict the second one and add nothing, whereas one that forgets it has a loss
# of 2 bits per pair.
# Two networks with the same initial weights read the same 40,000 characters, one in chunks of 5, the other in chunks
# of 25. Both carry the state across every cut.
# What loss, in bits per pair, will each of them have at the end of its training?

# %% active="ipynb" tags=["long"]
# chosen = np.random.default_rng(0).choice(["a", "b"], size=5001)
# pairs = np.array(["ab.".index(c) for letter in chosen for c in f"{letter}......{letter}"])
# try:
#     for length in (5, 25):
#         rng = np.random.default_rng(0)
#         pair_losses, _ = train_char_rnn(pairs, 3, 16, length, 40_000 // length, 0.05, rng, loss_and_grads)
#         bits = 8 * pair_losses[-len(pair_losses) // 10 :].mean() / np.log(2)  # for the 8 characters of a pair
#         print(f"chunks of {length:2d}   {bits:.2f}  {'▇' * round(30 * bits)}")
# except NotImplementedError as not_yet:
#     waits_for(not_yet)

# %% [markdown]
# ## Explain why
#
# Nothing told this network what a word is.
# It was shown the next character, 25 at a time, and each time every weight changed a little.
# And yet its samples went from noise to something that looks like the text.
#
# **Explain why it learns**, in six to twelve sentences of your own,
# for a friend who has taken the same course up to here:
#
# 1. The network gives the right character a low probability. How does the gradient of this loss reach `W_hh`
#    and the characters read before? Name the operations on the way back,
#    and say why the contributions of all time steps are added up.
# 2. No gradient goes back beyond the beginning of a chunk. What can the network learn nevertheless, and what not?
#    Point to one output above that supports your answer.
#    An output says something about truncation only if it changes when nothing but the length of the chunks does.
# 3. On *hello* the loss comes close to 0, on the long text it does not.
#    Why not, and which of the two is the better network?
#
# Change the cells above and try things out before you write. What you have seen counts more than what you have read.

# %% [markdown] question="why_it_learns"
# ### BEGIN SOLUTION
# **A good answer, in short.**
# (1) The gradient at the logits is the probabilities minus the one-hot target.
# Through the output layer it reaches the output weights and the state.
# Multiplied by the derivative of the tanh, it reaches the pre-activation, and from there the input character,
# the weights, the bias and, through `W_hh`, the previous state.
# The previous state was computed by the same step, so the same operations repeat, back to the beginning of the chunk.
# `W_hh` was used at every step, and a change of it changes the loss through each of these uses,
# so its gradient is the sum over all steps. The last step's contribution alone would leave out everything
# that `W_hh` did in earlier steps.
# (2) The state does cross the cut, so the network can *use* what it read earlier. But no gradient ever tells a step
# of an earlier chunk that it should have stored something for the current one.
# So the network is trained to remember over at most 25 characters, and mostly over fewer, because only the loss
# at the end of a chunk is backpropagated that far. What it has learned to store may happen to last longer.
# Evidence for what it cannot learn: the pairs. Cause and effect are six steps apart, so with chunks of 5 no update
# ever connects them, and the loss is about 2 bits per pair although the state crosses every cut. With chunks of 25
# it is little more than 1. (With three random seeds 1.96 to 2.11, and 1.07 to 1.19.)
# Evidence for what it can do: with `seq_length = 5` the bars do not end earlier than with 25. (In three networks each,
# they reach 18 to 21 characters back, and 16 or 17.)
# So what was read before the cut is used, and the bars end because the gradient shrinks, not because of truncation.
# The samples (short words that exist, and no sentence that keeps its thread) fit both reasons and prove neither.
# (All these numbers are recorded in `experiments/ch02/capstone.json`, for 10,000 updates.)
# (3) In *hello* each position has one continuation, and some 400 weights can memorise it.
# The text has many continuations at each position, so even the loss of the best possible network is not 0.
# This one is also small, remembers little, and was trained for half a minute only.
# The one with the larger loss is the better network in the sense that what it has learned also helps it
# with text that it has not read (*Learning from real text* measures this), whereas the other one has memorised
# a single word.
#
# **How it is marked** (2 points).
# 1 point for part 1: the path of the gradient is right (½), and the sum over steps is explained by shared weights (½).
# ½ point for part 2: gradient and state are distinguished at the cut, with evidence from a named output that fits.
# Bars that fade within 25 characters are not evidence by themselves: they can fade without truncation too.
# ½ point for part 3: the uncertainty of the text, or memorisation as opposed to generalisation.
# No points are deducted for language or length.
# "Gradient descent finds the minimum" or "it sees the text often enough" alone is not an explanation.
# ### END SOLUTION
