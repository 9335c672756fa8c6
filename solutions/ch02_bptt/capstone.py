# %% [markdown]
# # Capstone: your network learns to write
#
# In the chapter before, somebody gave you the weights. Now you make them yourself.
# Your own functions find out which way each weight has to go, check that they are right,
# and then read the reference manual of Python until the network writes something like it.
# All of it is NumPy: there is no library here that knows what a gradient is.
#
# Nothing is checked here, and there is nothing to implement.
# Run the cells one after another, say aloud what you expect before each of them, and change whatever you like.
# At the end there is one question, to be answered in words. A human reads the answer.
#
# ## Your functions
#
# The next cell opens your notebooks *by_hand*, *through_time*, *checking* and *training*,
# which have to be in the same folder as this one,
# runs their cells without a word, and takes your functions out of them.
# When you have mended one there, save that notebook and run this cell again.

# %%
import contextlib
import hashlib
import io
import json
import platform
import re
import textwrap
import time
from pathlib import Path

import numpy as np

STANDS_IN = {
    "cross_entropy_backward": "by_hand",
    "rnn_step_backward": "by_hand",
    "rnn_backward": "through_time",
    "relative_error": "checking",
    "numerical_gradient": "checking",
    "adagrad_step": "training",
    "train_char_rnn": "training",
}


def waits_for(not_yet):
    """Say which function is not written yet, and in which notebook it stands."""
    name = re.match(r"\w*", str(not_yet))[0]
    place = f", in {STANDS_IN[name]}.ipynb" if name in STANDS_IN else ""
    print(f"This cell waits for your code.  {str(not_yet).rstrip('.')}{place}.")


def take(notebook, *names):
    """Take the functions of these names from one of your notebooks in this folder."""
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
            print(f"{path} defines no {name}. Open it and run the cell of {name} to see the error.")
    return [found.get(name, missing(name)) for name in names]


def missing(name):
    """A placeholder for a function that was not found."""

    def not_there(*_, **__):
        raise NotImplementedError(f"{name} is still missing.")

    return not_there


# %% active="ipynb"
# (cross_entropy_backward,) = take("by_hand", "cross_entropy_backward")
# (rnn_backward,) = take("through_time", "rnn_backward")
# relative_error, numerical_gradient = take("checking", "relative_error", "numerical_gradient")
# (train_char_rnn,) = take("training", "train_char_rnn")

# %% [markdown]
# ## There and back
#
# The way there you know from the chapter before, so it is given: `forward` runs the network over one stretch of text.
# The way back is yours. `loss_and_grads` puts it together:
# the loss blames the logits (`cross_entropy_backward`), the logits blame the states and the output layer,
# and the states blame all that was before them (`rnn_backward`).
#
# And your `truncated_bptt`? It is in here without its name: `rnn_backward` sees one chunk at a time, the `h_0` that it
# gets is the last state of the chunk before, and the `dh_0` that it gives back is dropped.
# The state crosses the cut, the gradient does not: that *is* truncation.


# %%
def forward(params, inputs, h_0):
    """Run the network over ids (T,), from a state (1, H): all states (1, T, H) and logits (1, T, V)."""
    h, h_t = [], h_0
    for x_t in inputs:
        h_t = np.tanh(params["W_xh"][x_t] + h_t @ params["W_hh"] + params["b_h"])
        h.append(h_t)
    h = np.stack(h, axis=1)
    return h, h @ params["W_hy"] + params["b_y"]


def mean_loss(logits, targets):
    """Mean nats a token: logits (1, T, V), targets (T,)."""
    largest = logits.max(axis=-1, keepdims=True)
    log_p = logits - largest - np.log(np.exp(logits - largest).sum(axis=-1, keepdims=True))
    return -log_p[0, np.arange(len(targets)), targets].mean()


# %% active="ipynb"
# def loss_and_grads(params, inputs, targets, h_0):
#     """What `train_char_rnn` asks for, from your functions."""
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
# ## Is it right?
#
# You have the instrument to find out. A small network, a few letters, and every one of its weights moved up and down:
# your `numerical_gradient` knows nothing of backpropagation, so the two will hardly agree by the same mistake.
# If they agree, your gradients belong to this loss as it is written; whether it is the loss that you want,
# no such check can tell.
#
# The rule is that of the page *Checking gradients*: below 1e-7 it is right, above 1e-3 something is wrong,
# in between, look. What do you expect?

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
# If one of them is wrong, stop here: a network with a wrong gradient often learns too, only worse,
# and you would never know. Which one is wrong tells you where to look:
#
# - All five are wrong: `cross_entropy_backward`. All of them come through it.
# - The first three are wrong, or some of them: `rnn_backward`.
# - All five are a little off, by about 1e-5 to 1e-4: suspect the instrument.
#   Does `numerical_gradient` move an entry both ways, and put it back as it was?
# - `W_xh` is `nan`: `relative_error`. A letter that was not read has a row of zeros in both gradients,
#   and 0/0 has to count as 0.
#
# One alarm may be false. Where both entries are as small as rounding, their relative error says nothing:
# 0 against 1e-13 gives 1.0. With another seed you may meet a mild case of it. Look at the entries themselves.
#
# ## Hello
#
# Four letters in, four letters out, 300 updates.
# After the first l comes another l, after the second one an o: the letter alone does not tell.
# A network without a memory cannot get below 0.35 nats here. What will yours come to?

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
# The documentation that Python brings along, `pydoc_data.topics`, is on your machine already.
# The next cell keeps its prose: paragraphs without code and tables, each once, in small letters.
# The text differs a little between versions of Python, so version and hash are printed with it.
#
# Or take a text of your own: any plain text file of 100,000 characters or more. A smaller one gets learnt by heart.


# %%
def paragraphs_of(topic):
    """The prose of one topic: one line a paragraph, in small letters, without markup, code and tables."""
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
# characters = "".join(c for c, n in counts.items() if n >= 20)  # the rare ones are left out
# place = {c: i for i, c in enumerate(characters)}
# ids = np.array([place[c] for c in text if c in place])
# V = len(characters)
# losses = params = ask = None  # no network has read this text yet
# print(f"{source}, sha256 {hashlib.sha256(text.encode()).hexdigest()[:12]}")
# print(f"{len(ids):,} characters, of {V} kinds: {characters!r}")
# show = text[1000:1400]
# print(textwrap.fill(show, 100))

# %% [markdown]
# ## Half a minute of reading
#
# A network of 100 units reads the text in chunks of 25 letters and makes a step after each.
# The next cell first measures how fast your functions are, then chooses how many updates fit into half a minute
# (20,000 at most).
# While it reads, it stops four times and writes:
# from the place where it is in the text, and from the state it has there, it goes on by itself,
# each letter drawn with the probability that the network gives it.
# You may interrupt it: what was learnt up to then is kept.
#
# It has never seen a word. Before you run the cell: what will it write first, and what will it learn first,
# the letters, the lengths of words, or the words?


# %%
def write(params, characters, length, last, h_t, seed=1):
    """Text drawn from the network letter by letter, from a state and the id that it reads next."""
    rng, text = np.random.default_rng(seed), ""
    for _ in range(length):
        h_t = np.tanh(params["W_xh"][last] + h_t @ params["W_hh"] + params["b_h"])
        logits = (h_t @ params["W_hy"] + params["b_y"])[0]
        p = np.exp(logits - logits.max())
        last = min(int(np.searchsorted(np.cumsum(p / p.sum()), rng.random(), side="right")), len(p) - 1)
        text += characters[last]
    return text


def watched(answer, stages, characters):
    """The function `answer`, which lets the network write when so many updates are done, from where it is."""

    def ask(params, inputs, targets, h_0):
        done = len(ask.losses)
        if done in stages:
            print(f"after {done:,} updates, {done * len(inputs):,} letters read:")
            print(textwrap.indent(textwrap.fill(write(params, characters, 240, inputs[0], h_0), 100), "    "))
        loss, grads, state = answer(params, inputs, targets, h_0)
        ask.losses.append(loss)
        ask.params, ask.state = params, state  # kept for later
        return loss, grads, state

    ask.losses, ask.params, ask.state = [], None, None
    return ask


# %% active="ipynb" tags=["long"]
# hidden_size, seq_length, lr = 100, 25, 0.05
# try:
#     before = time.perf_counter()
#     train_char_rnn(ids, V, hidden_size, seq_length, 100, lr, np.random.default_rng(0), loss_and_grads)
#     seconds = (time.perf_counter() - before) / 100
#     num_updates = min(20_000, int(30 / seconds))
#     stages = (0, num_updates // 50, num_updates // 7, num_updates - 1)
#     before, ask = time.perf_counter(), watched(loss_and_grads, stages, characters)
#     try:
#         rng = np.random.default_rng(0)
#         losses, params = train_char_rnn(ids, V, hidden_size, seq_length, num_updates, lr, rng, ask)
#     except KeyboardInterrupt:
#         losses, params = np.array(ask.losses), ask.params
#         print("Interrupted. The network keeps what it has learnt so far.")
#     done, seconds = len(losses) * seq_length, time.perf_counter() - before
#     print(f"{len(losses):,} updates in {seconds:.0f} s: {done:,} letters, {done / len(ids):.1f} times the text")
# except NotImplementedError as not_yet:
#     waits_for(not_yet)

# %% [markdown]
# How surprised was it while it learnt? Each bar is the mean of the training loss over a tenth of the updates,
# in bits a character. A guess among all characters alike would cost $\log_2 V$, and somebody who only counts
# which letter follows which gets to about 3.5.
# The cell above says how often it went through the text. From the second time on it reads what it has read before,
# so a bar from there on is not about new text.

# %% active="ipynb" tags=["long"]
# if params is None:
#     print("No network has read this text yet: run the cell of Half a minute of reading.")
# else:
#     print(f"guessing  {np.log2(V):.2f}  {'▇' * round(10 * np.log2(V))}")
#     for part in np.array_split(losses, min(10, len(losses))):
#         bits = part.mean() / np.log(2)
#         print(f"          {bits:.2f}  {'▇' * round(10 * bits)}")

# %% [markdown]
# ## Who is to blame?
#
# One more use for your backward pass. The trained network has read the beginning of a sentence and guesses one letter.
# How much does each letter that it has read matter for this one guess?
# `rnn_backward` says so: `dx` at every step, from the loss at the last step alone.
# Its size is drawn against the largest one.
#
# The network begins the sentence in the state that its training ended with, as if it came upon it in the middle
# of the text. A state of zeros it has seen only where the text begins.
#
# Here nothing is cut: the blame goes back through the whole sentence. In training, nothing went back further
# than 25 letters. How far back will the bars be visible?

# %% active="ipynb" tags=["long"]
# sentence = "the value of the expression is converted to a string"  # its last letter is the one to guess
# if not set(sentence) <= set(characters):  # your text has other letters: a piece of it, then
#     sentence = "".join(characters[i] for i in ids[5000:5052])
# if params is None:
#     print("No network has read this text yet: run the cell of Half a minute of reading.")
# else:
#     try:
#         read, h_0 = np.array([place[c] for c in sentence]), ask.state
#         h, logits = forward(params, read[:-1], h_0)
#         dlogits = np.zeros_like(logits)
#         dlogits[:, -1:] = cross_entropy_backward(logits[:, -1:], read[None, -1:])
#         x = np.eye(V)[read[:-1]][None]
#         dx, *_ = rnn_backward(dlogits @ params["W_hy"].T, x, h_0, h, params["W_xh"], params["W_hh"])
#         blame = np.linalg.norm(dx[0], axis=1)
#         for letter, share in zip(sentence.replace("\n", "⏎"), blame / blame.max(), strict=False):
#             print(f"{letter}  {share:5.3f}  {'▇' * round(60 * share)}")
#     except NotImplementedError as not_yet:
#         waits_for(not_yet)

# %% [markdown]
# Was that the cut? Blame shrinks on its way back in any case, step by step, through the slopes and through `W_hh`.
# So there are two reasons why the bars may end, and this picture does not tell them apart.
# To find out, change one of the two: put `seq_length = 5` into the cell of *Half a minute of reading*,
# run it and this one again, and see whether the bars end five letters back.
#
# ## What a cut takes away
#
# A text made for the question tells more. In it every letter, `a` or `b`, comes again after six dots,
# and chance alone says which of the two the next pair will be:
#
#     a......ab......bb......ba......a
#
# From the first letter of a pair to the place where the second one is guessed, it is six steps.
# Who remembers the first pays 1 bit for each pair, since nothing announces the first one; who does not pays 2.
# Two networks that start alike read the same 40,000 letters, one in chunks of 5, the other in chunks of 25.
# In both the state goes on over every cut. What will each of them pay in the end?

# %% active="ipynb" tags=["long"]
# chosen = np.random.default_rng(0).choice(["a", "b"], size=5001)
# pairs = np.array(["ab.".index(c) for letter in chosen for c in f"{letter}......{letter}"])
# try:
#     for length in (5, 25):
#         rng = np.random.default_rng(0)
#         pair_losses, _ = train_char_rnn(pairs, 3, 16, length, 40_000 // length, 0.05, rng, loss_and_grads)
#         bits = 8 * pair_losses[-len(pair_losses) // 10 :].mean() / np.log(2)  # for the 8 letters of a pair
#         print(f"chunks of {length:2d}   {bits:.2f}  {'▇' * round(30 * bits)}")
# except NotImplementedError as not_yet:
#     waits_for(not_yet)

# %% [markdown]
# ## Explain why
#
# Nobody told this network which weight to change, or what a word is.
# It was shown the letter that came, 25 at a time, and each time every weight moved a little.
# And yet it went from noise to something that looks like the text.
#
# **Explain why it learns**, in six to twelve sentences of your own,
# for a friend who has taken the same course up to here:
#
# 1. One letter is guessed wrongly. How does the blame for it get to `W_hh`, and to the letters read before it?
#    Name the steps on the way back, and say why the parts of all time steps are added up.
# 2. No gradient goes back beyond the beginning of a chunk. What can the network learn in spite of that, and what not?
#    Point to one place in the outputs above that supports what you say.
#    An output speaks of the cut if it changes when nothing but the length of a chunk does.
# 3. On *hello* the loss comes near 0, on the long text it does not.
#    Why not, and which of the two is the better network?
#
# Change the cells above and try things out before you write. What you have seen counts more than what you have read.

# %% [markdown] question="why_it_learns"
# ### BEGIN SOLUTION
# **A good answer, in short.**
# (1) The loss of a step blames the logits (probabilities minus what came), they blame the output weights and the state,
# the state, through the slope of the tanh, blames the letter just read, the weights, and the state before;
# that one was made by the same step, so the same goes on from there, back to the beginning of the chunk.
# `W_hh` took part in every step. A change of it changes the loss through each of them, so its gradient is the sum
# over all steps; the last step's part alone would leave out all that earlier states did.
# (2) The state itself does cross the cut, so the network may *use* what it read earlier; but no update ever
# says of a step in an earlier chunk that it should have kept something for now.
# So it learns to keep things over at most 25 letters, rather fewer, since the last letters of a chunk alone get
# to go back that far; what it has learnt to keep may by good luck last longer.
# Evidence for what it cannot learn: the pairs. Six steps lie between cause and effect, so with chunks of 5 no update
# ever connects them, and it pays 2 bits a pair, though the state crosses every cut; with chunks of 25 it pays little
# more than 1.
# Evidence for what it can: with `seq_length = 5` the bars still reach some fifteen letters back, as they do with 25.
# So what was read before the cut is used, and where the bars end is a matter of fading, not of the cut.
# The samples (spelling is learnt, the thread of a sentence is not) fit both reasons and prove neither.
# (3) *hello* has one continuation at each place, and 400 weights to know it by heart.
# The text has many continuations in each place, so even the best network pays for that uncertainty; this one also is
# small, remembers little, and read for half a minute only.
# The one with the larger loss is the better network in the sense that what it has learnt holds for text
# that it has not read; the other one has learnt four letters by heart.
#
# **How it is marked** (2 points).
# 1 point for part 1: the way back is right (½), and the sum over steps is explained by shared weights (½).
# ½ point for part 2: gradient and state are told apart at the cut, with evidence from an output that is named and
# fits. That the bars fade within 25 letters is none, taken alone: they would do so without a cut.
# ½ point for part 3: uncertainty of the text, or learning by heart against learning what holds elsewhere.
# No point is lost for language or length.
# "Gradient descent finds the minimum" or "it sees the text often enough", alone, is no explanation.
# ### END SOLUTION
