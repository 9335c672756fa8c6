# %% [markdown]
# # Capstone: how far back your network sees
#
# The network that you trained in chapter 2 reads a text from left to right and keeps all it knows in one state.
# When it predicts a character, how many of the characters before it still make a difference?
# In this notebook you measure that with your own functions of this chapter, in two independent ways,
# and then you find out why the answer is not larger.
#
# Nothing here is checked automatically, and there is nothing to implement.
# Run the cells in order, predict the output of each one before you run it, and change whatever you like.
# At the end there is one question to answer in words. A person, not a program, grades the answer.
# Allow about 45 minutes.
#
# ## Your functions
#
# The next two cells open your notebooks *jacobians*, *linear* and *clipping*,
# which must be in the same folder as this one,
# run their cells without showing the output, and take your functions from them.
# If you fix one of these functions, save its notebook and run the two cells again.

# %%
import contextlib
import io
import json
import platform
import re
from pathlib import Path

import numpy as np

NOTEBOOK_OF = {
    "step_jacobian": "jacobians",
    "jacobian_product": "jacobians",
    "gradient_norms_by_lag": "jacobians",
    "spectral_radius": "linear",
    "clip_by_norm": "clipping",
}


def waits_for(not_yet):
    """Print which function is not written yet, and which notebook it belongs to."""
    name = re.match(r"\w*", str(not_yet))[0]
    where = f", in {NOTEBOOK_OF[name]}.ipynb" if name in NOTEBOOK_OF else ""
    print(f"This cell waits for your code.  {str(not_yet).rstrip('.')}{where}.")


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
# jacobian_functions = ("step_jacobian", "jacobian_product", "gradient_norms_by_lag")
# step_jacobian, jacobian_product, gradient_norms_by_lag = take("jacobians", *jacobian_functions)
# (spectral_radius,) = take("linear", "spectral_radius")
# (clip_by_norm,) = take("clipping", "clip_by_norm")

# %% [markdown]
# ## Your network
#
# To examine the network that you trained yourself, open the capstone of chapter 2 and train it there again.
# Then run this line in a new cell at its end, which saves the weights together with the text:
#
#     np.savez_compressed("my_network.npz", characters=characters, ids=ids, **params)
#
# The next cells look for `my_network.npz` in this folder and in the folder `ch02_bptt` next to it.
# If it is in neither, they load `capstone_network.json`, which came with the exercises.
# It contains the same network: 100 units, trained with the reference solutions of chapter 2
# (20,000 updates with Adagrad, learning rate 0.05, chunks of 25 characters of Python's reference manual).
#
# The text is the one of chapter 2, so the network has read it in training.
# That does not matter here, because we ask what a prediction depends on, not how good it is.


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


# %%
NAMES = ("W_xh", "W_hh", "b_h", "W_hy", "b_y")


def your_network():
    """The weights, characters and text (ids) that you saved in chapter 2, or None."""
    for path in (Path("my_network.npz"), Path("../ch02_bptt/my_network.npz")):
        try:
            with path.open("rb") as file, np.load(file) as saved:
                params = {name: saved[name] for name in NAMES}
                characters, ids = str(saved["characters"]), saved["ids"]
            V, H = len(characters), len(params["b_h"])
            assert [params[name].shape for name in NAMES] == [(V, H), (H, H), (H,), (H, V), (V,)]
            assert len(ids) >= 20_000
            assert set(np.unique(ids)) <= set(range(V))
            assert all(np.isfinite(params[name]).all() for name in NAMES)
        except OSError:  # there is no such file
            continue
        except Exception:
            print(f"{path} is damaged, or was not saved with the line above, so it is not used. Save it again.")
            continue
        print(f"your own network, from {path}")
        return params, characters, ids
    return None


def shipped_network():
    """The network that came with the exercises: its weights, its characters, and the text (ids)."""
    path = Path("capstone_network.json")
    if not path.is_file():
        raise FileNotFoundError(f"{path} came with the exercises. Copy it to the folder of this notebook.")
    network = json.loads(path.read_text("utf-8"))
    id_of = {c: i for i, c in enumerate(network["characters"])}
    ids = np.array([id_of[c] for c in python_manual() if c in id_of])
    print(f"the network that came with the exercises; pydoc_data.topics of Python {platform.python_version()}")
    return {name: np.array(network["weights"][name]) for name in NAMES}, network["characters"], ids


# %% active="ipynb"
# params, characters, ids = your_network() or shipped_network()
# V, H = params["W_xh"].shape
# print(f"{H} units, {V} characters: {characters!r}")
# print(f"a text of {len(ids):,} characters")

# %% [markdown]
# ## What the recurrent weights alone would do
#
# In a linear network, $W_{hh}$ alone decides whether the gradient vanishes or explodes.
# Before training, its spectral radius was about 1 (100 units, weights with standard deviation 0.1).
# What is it now? Two numbers tell you what to expect:
#
# - the **spectral radius**, the factor per step in the long run, if the network were linear;
# - the **largest singular value**, by which a single step can lengthen a gradient at most.
#
# Write down your guess for the first one, and whether the gradient of this network vanishes or explodes.

# %% active="ipynb"
# try:
#     print(f"spectral radius         {spectral_radius(params['W_hh']):.2f}")
#     print(f"largest singular value  {np.linalg.norm(params['W_hh'], 2):.2f}")
# except NotImplementedError as not_yet:
#     waits_for(not_yet)

# %% [markdown]
# ## First measurement: the gradient against lag
#
# The network reads 80 characters at each of 60 places of the text, chosen at random, and predicts the next one.
# For each place, `gradient_norms_by_lag` passes the gradient of this one loss back through all 80 steps,
# without truncation.
# Each norm is divided by the norm at lag 0, so that every place starts at 1.
#
# The table shows the **geometric mean** over the places, because an arithmetic mean would mostly show
# the place with the largest gradient. Next to it is the spread: four out of five places lie between the two numbers.
# Four more squares in a bar are a factor of 10.
# The **horizon** is our name for the lag from which on the geometric mean stays below 1 %.


# %%
def states(params, ids, h_0=None):
    """Run the network over ids (B, T), from states h_0 (B, H) or from zeros. Returns all states (B, T, H)."""
    h, h_t = [], np.zeros((len(ids), len(params["b_h"]))) if h_0 is None else h_0
    for t in range(ids.shape[1]):
        h_t = np.tanh(params["W_xh"][ids[:, t]] + h_t @ params["W_hh"] + params["b_h"])
        h.append(h_t)
    return np.stack(h, axis=1)


def probabilities(params, h):
    """The predicted probabilities (…, V) of the next character after states (…, H)."""
    logits = h @ params["W_hy"] + params["b_y"]
    p = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return p / p.sum(axis=-1, keepdims=True)


def pieces(ids, count, length, rng):
    """Pieces (count, length) of the text from places chosen at random, and the character that follows each (count,)."""
    starts = rng.integers(len(ids) - length, size=count)
    return ids[starts[:, None] + np.arange(length)], ids[starts + length]


def gradient_at_last_state(params, h_T, targets):
    """The gradient of each place's loss with respect to its last state: h_T (B, H), targets (B,) -> dh_T (B, H)."""
    dlogits = probabilities(params, h_T)
    dlogits[np.arange(len(targets)), targets] -= 1
    return dlogits @ params["W_hy"].T


def shares_by_lag(gradient_norms_by_lag, dh_T, h, W_hh):
    """The norms of each place by lag, divided by its norm at lag 0: (B, T)."""
    norms = np.array([gradient_norms_by_lag(dh_T[[b]], h[[b]], W_hh) for b in range(len(h))])
    return norms / norms[:, :1]


def typical(shares):
    """The geometric mean over the places: (B, T) -> (T,). A share of 0 counts as 1e-300."""
    return np.exp(np.log(np.maximum(shares, 1e-300)).mean(axis=0))


def horizon(shares):
    """The lag from which on the geometric mean stays below 1 %; the number of lags if it is not below at the end."""
    return int(np.flatnonzero(typical(shares) >= 0.01)[-1]) + 1


def bar(share):
    """A bar on a logarithmic scale: 24 squares for 1, 16 for 1 %, none for less than a millionth."""
    return "▇" * max(0, round(24 + 4 * np.log10(max(share, 1e-300))))


# %% active="ipynb"
# B, T = 60, 80
# block, targets = pieces(ids, B, T, np.random.default_rng(0))
# h = states(params, block)  # (B, T, H)
# dh_T = gradient_at_last_state(params, h[:, -1], targets)  # (B, H)
# try:
#     shares = shares_by_lag(gradient_norms_by_lag, dh_T, h, params["W_hh"])
#     low, high = np.quantile(shares, [0.1, 0.9], axis=0)
#     print("lag  typical  spread")
#     for lag in (0, 1, 2, 3, 4, 6, 8, 10, 12, 14, 16, 18, 20, 25, 30, 40):
#         share = typical(shares)[lag]
#         print(f"{lag:3d}  {share:7.1e}  {low[lag]:7.1e} to {high[lag]:7.1e}  {bar(share)}")
#     print(f"horizon: {horizon(shares)} characters")
#     print(f"factor per step between lag 20 and lag 40: {(typical(shares)[40] / typical(shares)[20]) ** (1 / 20):.2f}")
# except NotImplementedError as not_yet:
#     waits_for(not_yet)

# %% [markdown]
# Compare the last line with the spectral radius above.
# Something in the network turns a factor above 1 into one below 1, and your function contains only two candidates:
# the weights and the derivative of the tanh.
#
# ## Which part makes the gradient shrink?
#
# A control changes one thing at a time. The weights stay as they are, and `gradient_norms_by_lag` gets other states:
#
# - **the states as they are**, for comparison;
# - **zeros**: every derivative of the tanh is 1, so the network is linear;
# - **the mean derivative everywhere**: states for which every derivative has the value
#   that the network's derivatives have on average;
# - **the units shuffled**: the network's own states, but each unit gets the derivatives of another unit.
#
# In which of the four will the gradient shrink? The cell prints the mean derivative first.
# Multiply it by the spectral radius, and decide before you look at the table.

# %% active="ipynb"
# mean_derivative = (1 - h**2).mean()
# controls = {
#     "the states as they are": h,
#     "zeros": np.zeros_like(h),
#     "the mean derivative everywhere": np.full_like(h, np.sqrt(1 - mean_derivative)),
#     "the units shuffled": h[:, :, np.random.default_rng(0).permutation(H)],
# }
# print(f"mean derivative of the tanh: {mean_derivative:.2f}")
# try:
#     print("                                factor per step   at lag 20")
#     for name, other in controls.items():
#         control = typical(shares_by_lag(gradient_norms_by_lag, dh_T, other, params["W_hh"]))
#         print(f"{name:31} {(control[40] / control[20]) ** (1 / 20):15.2f}   {control[20]:9.1e}")
# except NotImplementedError as not_yet:
#     waits_for(not_yet)

# %% [markdown]
# In the network that came with the exercises, the gradient shrinks with its own states only.
# The derivative of the tanh is the cause, but not merely because it is small on average:
# with the mean derivative at every unit, the gradient would still grow.
# It matters *which* units are saturated. The shuffled units have the same derivatives, and with them it grows too.
#
# So the weights and the derivatives have to be seen together, and their product is the Jacobian.
# The singular values of $\partial h_T / \partial h_{T-\ell}$ say by how much $\ell$ steps
# lengthen or shorten a small change of the state, with one value for each of H directions.
# The largest one bounds what can be left of *any* gradient,
# and the last column of the next table counts the directions of which at least 1 % is left.
# Its first row, for a single step, comes from your `step_jacobian`.

# %% active="ipynb"
# try:
#     print("lag  largest singular value  directions above 1 %")
#     for lag in (1, 2, 5, 10, 15, 20, 40):
#         largest, left = [], []
#         for states_here in h[:20]:  # (T, H), one place
#             if lag == 1:
#                 J = step_jacobian(states_here[-1], params["W_hh"])
#             else:
#                 J = jacobian_product(states_here, params["W_hh"], T - 1 - lag, T - 1)
#             singular_values = np.linalg.svd(J, compute_uv=False)
#             largest.append(singular_values[0])
#             left.append((singular_values >= 0.01).sum())
#         print(f"{lag:3d}  {np.exp(np.mean(np.log(largest))):22.2g}  {np.mean(left):20.1f}")
# except NotImplementedError as not_yet:
#     waits_for(not_yet)

# %% [markdown]
# ## Second measurement: change one character
#
# A gradient describes very small changes, but characters do not change a little.
# The second measurement therefore uses no gradient at all.
# At each place, replace the character $\ell$ steps back by another one, drawn at random from the text,
# run the network again, and compare the two predictions of the next character.
# Their distance is the **total variation**: half the sum of the absolute differences of all probabilities.
# It is 0 if the predictions are equal, and 1 if they have nothing in common.
#
# The state at lag $\ell$ is the first one that has read the character $\ell$ steps back,
# so the lags of both measurements mean the same.
# Will the second horizon be shorter than the first one, about the same, or longer? Why?


# %%
def another(old, ids, rng):
    """For each id another one, drawn at random from the text."""
    new = rng.choice(ids, size=old.shape)
    while (new == old).any():
        new = np.where(new == old, rng.choice(ids, size=old.shape), new)
    return new


def total_variation(p, q):
    """The total variation (…,) between probabilities p and q (…, V)."""
    return 0.5 * np.abs(p - q).sum(axis=-1)


def distances_by_lag(params, block, h, ids, lags, rng):
    """How far one changed character moves each place's prediction: block (B, T), h (B, T, H) -> (B, lags)."""
    before, T, found = probabilities(params, h[:, -1]), block.shape[1], []
    for lag in range(lags):
        changed = block[:, T - 1 - lag :].copy()  # from the changed character to the end
        changed[:, 0] = another(changed[:, 0], ids, rng)
        after = states(params, changed, h[:, T - 2 - lag])[:, -1]
        found.append(total_variation(before, probabilities(params, after)))
    return np.stack(found, axis=1)


# %% active="ipynb"
# distances = distances_by_lag(params, block, h, ids, 50, np.random.default_rng(1))
# changes = distances / typical(distances)[0]  # relative to lag 0
# try:
#     gradients = typical(shares_by_lag(gradient_norms_by_lag, dh_T, h, params["W_hh"]))
# except NotImplementedError as not_yet:
#     waits_for(not_yet)
#     gradients = np.full(T, np.nan)
# print("lag  gradient  character changed   mean distance")
# for lag in (0, 1, 2, 3, 4, 6, 8, 10, 12, 14, 16, 18, 20, 25, 30, 40):
#     share, mean = typical(changes)[lag], distances[:, lag].mean()
#     print(f"{lag:3d}   {gradients[lag]:7.1e}            {share:7.1e}          {mean:.4f}  {bar(share)}")
# print(f"horizon when a character is changed: {horizon(changes)} characters")

# %% [markdown]
# Is the horizon of this one network a coincidence? We trained the same network from five random seeds
# and measured the first horizon of each at 200 places.
# The spectral radius was between 2.1 and 3.6, and the horizon between 14 and 16 characters
# (`experiments/ch03/capstone_network.json`).
#
# ## What the last prediction depends on
#
# Here is the same measurement as a picture, for one sentence at a time.
# Each character is replaced by all other characters in turn,
# and the mean distance of the last prediction colours it: the darker, the more the prediction depends on it.
# The row below shows the same with symbols, and the most probable next characters follow.
#
# Before each sentence the network reads 200 characters of the text,
# as if it met the sentence in the middle of the text.
# Which words will be coloured? Add sentences of your own.


# %%
LEVELS = [(0.3, "█", 208), (0.1, "▓", 214), (0.03, "▒", 222), (0.01, "░", 230)]  # from, symbol, colour


def level(strength):
    """The symbol and the colour of a mean distance; a space and None if it is below 0.01."""
    return next(((symbol, colour) for start, symbol, colour in LEVELS if strength >= start), (" ", None))


def painted(character, colour):
    """The character in black on a colour of the terminal's palette, or unchanged without one."""
    return character if colour is None else f"\x1b[38;5;16m\x1b[48;5;{colour}m{character}\x1b[0m"


def dependence(params, read, h_0):
    """The mean distance of the last prediction when one character of read (T,) is replaced: (T,)."""
    V, found = len(params["W_xh"]), []
    before = probabilities(params, states(params, read[None], h_0)[0, -1])
    for position in range(len(read)):
        changed = np.repeat(read[None], V, axis=0)  # one row for each character of the vocabulary
        changed[:, position] = np.arange(V)
        after = probabilities(params, states(params, changed, np.repeat(h_0, V, axis=0))[:, -1])
        found.append(total_variation(before, after).sum() / (V - 1))  # the unchanged row counts 0
    return np.array(found)


# %% active="ipynb"
# sentences = [
#     "the value of the expression is converted to a string",
#     "if the object is not found, an exception is raised by the interpreter",
#     "the function is called with the arguments of the meth",
# ]
# id_of = {c: i for i, c in enumerate(characters)}
# if not set("".join(sentences)) <= set(characters):  # for a text in another alphabet, take pieces of it
#     sentences = ["".join(characters[i] for i in ids[start : start + 60]) for start in (500, 1000, 1500)]
# h_0 = states(params, ids[None, :200])[:, -1]  # (1, H)
# print("mean distance  " + "   ".join(f"{s} {painted(f'from {start}', colour)}" for start, s, colour in LEVELS))
# for sentence in sentences:
#     read = np.array([id_of[c] for c in sentence])
#     looks = [level(strength) for strength in dependence(params, read, h_0)]
#     p = probabilities(params, states(params, read[None], h_0)[0, -1])
#     best = ", ".join(f"{characters[i]!r} {100 * p[i]:.0f} %" for i in np.argsort(-p)[:3])
#     shown = sentence.replace("\n", "⏎")
#     print()
#     print("".join(painted(c, colour) for c, (_, colour) in zip(shown, looks, strict=True)), "→", best)
#     print("".join(symbol for symbol, _ in looks))

# %% [markdown]
# ## An exception
#
# A vanishing gradient means that *small* changes of an early state are forgotten.
# It does not mean that no early event can matter.
# Here the network starts a sentence from a state of zeros, as it does at the beginning of the text.
# The first character of the sentence is replaced by each of the others, and whenever the *last* prediction,
# far beyond the horizon, changes by more than 0.1, the cell prints the character.
# Then the network continues the sentence, once without the change and once with one of these characters.
# Finally it reads 3,000 characters of the text from both states, and each number is the cross-entropy
# of 300 of them in bits per character.
#
# Before you run it: how many characters do you expect in the list?


# %%
def write(params, characters, length, h_t, rng):
    """Sample a text of this length from the network, from a state (1, H)."""
    text = ""
    for _ in range(length):
        p = probabilities(params, h_t[0])
        last = min(int(np.searchsorted(np.cumsum(p), rng.random(), side="right")), len(p) - 1)
        text += characters[last]
        h_t = states(params, np.array([[last]]), h_t)[:, -1]
    return text.replace("\n", "⏎")


# %% active="ipynb"
# read = np.array([id_of[c] for c in sentences[1]])
# changed = np.repeat(read[None], V, axis=0)
# changed[:, 0] = np.arange(V)  # one row for each first character
# ends = states(params, changed)[:, -1]  # (V, H): the states after the sentence, from zeros
# distance = total_variation(probabilities(params, ends), probabilities(params, ends[read[0]]))  # (V,)
# remembered = [characters[i] for i in np.flatnonzero(distance > 0.1)]
# print(f"first characters that still change the prediction after {len(read) - 1} more: {remembered}")
# following = ids[10_000:13_000]
# for first in [characters[read[0]], *remembered[:1]]:
#     text = write(params, characters, 70, ends[[id_of[first]]], np.random.default_rng(0))
#     print(f"\nfirst {first!r}: …{sentences[1][-20:]}|{text}")
#     p = probabilities(params, states(params, following[None], ends[[id_of[first]]])[0, :-1])
#     bits = -np.log2(p[np.arange(len(p)), following[1:]])
#     print("bits per character:", "  ".join(f"{part.mean():.2f}" for part in np.array_split(bits, 10)))

# %% [markdown]
# If the list is empty, your network has no such exception.
# In the network that came with the exercises, a few first characters bring the state into another region,
# where it predicts badly and stays for hundreds of characters, whatever it reads.
# Within each of the two regions the gradient vanishes: small changes of the state have no lasting effect.
# But a change that is large enough to move the state from one region to the other is not forgotten.
# The second measurement started from states in the middle of the text, where such changes are rare.
#
# ## Clipping, and another start
#
# Would clipping have changed the horizon? Would another initialisation?
# The next cell trains small versions of the network in four settings, which takes a few seconds:
# 50 units, 600 updates, and three random seeds for each setting.
# They read the same chunks of 25 characters, and with the same seed all of their initial weights are equal
# except for the scale of `W_hh`: your `spectral_radius` sets it to 1.0, 0.5 or 1.5.
# Every update goes through your `clip_by_norm`, which also returns the norm *before* clipping.
# "None" stands for a limit that no gradient reaches.
#
# In chapter 2 you wrote the backward pass and Adagrad yourself, so they are given here.
#
# Three predictions: in how many of the updates will a limit of 1 be active?
# Which setting has the longest horizon *before* training? And *after* training?


# %%
def loss_and_grads(params, inputs, targets, h_0):
    """The mean loss of one chunk, ids (T,), from a state (1, H), its gradients, and the last state (1, H)."""
    h = states(params, inputs[None], h_0)[0]  # (T, H)
    p = probabilities(params, h)  # (T, V)
    loss, dlogits, rows = -np.log(p[np.arange(len(targets)), targets]).mean(), p.copy(), np.arange(len(targets))
    dlogits[rows, targets] -= 1
    dlogits /= len(targets)
    dh, da, dh_next = dlogits @ params["W_hy"].T, np.zeros_like(h), 0.0
    for t in reversed(range(len(h))):
        da[t] = (dh[t] + dh_next) * (1 - h[t] ** 2)
        dh_next = params["W_hh"] @ da[t]
    grads = {name: np.zeros_like(theta) for name, theta in params.items()}
    np.add.at(grads["W_xh"], inputs, da)
    grads["W_hh"] = np.concatenate([h_0, h[:-1]]).T @ da
    grads["b_h"], grads["b_y"] = da.sum(axis=0), dlogits.sum(axis=0)
    grads["W_hy"] = h.T @ dlogits
    return loss, grads, h[None, -1]


def initial_weights(V, H, rng):
    """Small random weights, as in chapter 2."""
    return {
        "W_xh": 0.1 * rng.normal(size=(V, H)),
        "W_hh": 0.1 * rng.normal(size=(H, H)),
        "b_h": np.zeros(H),
        "W_hy": 0.1 * rng.normal(size=(H, V)),
        "b_y": np.zeros(V),
    }


def train(params, ids, num_updates, clip_by_norm, max_norm, lr=0.05, seq_length=25):
    """Train with clipping and Adagrad: the weights, the losses, and the norms before clipping (num_updates,)."""
    params, losses, norms = dict(params), [], []
    cache = {name: np.zeros_like(theta) for name, theta in params.items()}
    start, h = 0, np.zeros((1, len(params["b_h"])))
    for _ in range(num_updates):
        if start + seq_length + 1 > len(ids):  # no complete chunk is left
            start, h = 0, np.zeros_like(h)
        chunk = ids[start : start + seq_length + 1]
        loss, grads, h = loss_and_grads(params, chunk[:-1], chunk[1:], h)
        clipped, norm = clip_by_norm([grads[name] for name in params], max_norm)
        for name, grad in zip(list(params), clipped, strict=True):
            cache[name] = cache[name] + grad**2
            params[name] = params[name] - lr * grad / (np.sqrt(cache[name]) + 1e-8)
        start += seq_length
        losses.append(loss)
        norms.append(norm)
    return params, np.array(losses), np.array(norms, dtype=float)


# %% active="ipynb" tags=["long"]
# def horizon_of(params):
#     """The horizon of any network, at the places chosen above."""
#     h = states(params, block)
#     dh_T = gradient_at_last_state(params, h[:, -1], targets)
#     return horizon(shares_by_lag(gradient_norms_by_lag, dh_T, h, params["W_hh"]))
#
#
# no_limit, unclipped = 1e9, []
# try:
#     print("spectral radius  limit   horizons before   horizons after   radius after   bits   clipped")
#     for radius, limit in [(1.0, no_limit), (1.0, 1.0), (0.5, no_limit), (1.5, no_limit)]:
#         runs = []
#         for seed in range(3):
#             start = initial_weights(V, 50, np.random.default_rng(seed))
#             start["W_hh"] = radius / spectral_radius(start["W_hh"]) * start["W_hh"]
#             end, losses, norms = train(start, ids, 600, clip_by_norm, limit)
#             bits = losses[-100:].mean() / np.log(2)
#             runs.append((horizon_of(start), horizon_of(end), spectral_radius(end["W_hh"]), bits, norms))
#         before, after, radii, bits, norms = zip(*runs, strict=True)
#         norms = np.concatenate(norms)
#         print(f"{radius:15.1f}  {'none' if limit == no_limit else limit!s:5}  {before!s:>16}  {after!s:>15}", end="")
#         print(f"   {np.mean(radii):12.1f}   {np.mean(bits):4.2f}   {100 * (norms > limit).mean():5.1f} %")
#         unclipped = norms if len(unclipped) == 0 else unclipped
#     print("\nIn the first setting, a limit would have been active in this share of the updates:")
#     for limit in (1, 1.5, 2, 3, 5):
#         print(f"limit {limit:3.1f}   {100 * (unclipped > limit).mean():5.1f} %")
# except NotImplementedError as not_yet:
#     waits_for(not_yet)

# %% [markdown]
# A horizon of 80 in this table means 80 or more, because only 80 steps were measured.
# These runs are short, and the network that you examined was trained for much longer.
# Change the seeds, the limit, the radii and the number of updates.
# If you have written `orthogonal_init`, use it for the initial `W_hh`.
#
# ## Explain where it stops
#
# **Explain where your network stops seeing its past, and why**, in five to eight sentences of your own,
# for a friend who has taken the same course up to here:
#
# 1. Where does it stop? Name at least two of your measurements with their numbers,
#    and say whether they agree.
# 2. Why there? The spectral radius alone suggests the opposite.
#    What happens on the way back, and which output shows it?
# 3. What would clipping change, and what would it not change?
# 4. What would a different initialisation change, before training and after it?
#
# Change the cells above and try things out before you write.
# Numbers from your own outputs count more than what you have read.

# %% [markdown] question="why_it_forgets"
# ### BEGIN SOLUTION
# **A good answer, in short** (with the numbers of the network that came with the exercises;
# with a network of their own, students get other numbers, so compare with the outputs in their notebook).
# (1) From lag 16 on, the norm of the gradient stays below 1 % of its norm at lag 0.
# The measurement without a gradient agrees: a character changed 14 steps back moves the prediction
# by less than 1 % of what the last character does. In the coloured sentences, about the last dozen
# to twenty characters are marked.
# (2) At every step back the gradient is multiplied by the derivative of the tanh and by the transpose of `W_hh`.
# The weights alone would make it explode: the spectral radius is 3.2, and with zeros for states the gradient grows
# by this factor per step. With the network's own states it shrinks by the factor 0.74 per step,
# so the derivative of the tanh is the cause. Its mean, 0.39, does not explain it (0.39 · 3.2 = 1.2, above 1);
# with the units shuffled the gradient grows as well, so it matters which units are saturated.
# After 20 steps, only about one of 100 directions keeps 1 %.
# Truncation is not the direct reason, because the measurement is not truncated and the horizon is less than 25.
# Indirectly it may be one, and so may the text, if longer memory hardly lowers its loss.
# No output of this notebook decides that, and an answer that says so is better than one that does not.
# (3) Clipping by norm multiplies all gradients of an update by one common factor, if they are too large together.
# It prevents a single large step. It does not change the ratio between the gradient at lag 16 and at lag 0,
# so what has vanished stays vanished. In the table the limit of 1 is active in 96 % of the updates,
# and the horizons are 14 and 15 with it and without it. (Adagrad divides each gradient by the size of the earlier ones,
# which is why the loss hardly changes either.)
# (4) Before training the initialisation decides: a radius of 0.5 gives a horizon of 6 or 7, a radius of 1.0
# one of 44 to 73, and a radius of 1.5 at least 80. After 600 updates these are 12 or 13, 14 or 15, and 17 to 21.
# So a difference remains, but training moves all of them towards each other, because it changes the weights
# and saturates units. And the longest horizon does not have the lowest loss.
#
# **How it is marked** (2 points).
# ½ point for part 1: two different measurements with their numbers, compared with each other.
# ½ point for part 2: the derivatives and the weights are multiplied over the steps,
# and the derivative of the tanh is the cause although the spectral radius is above 1,
# with an output that shows it (a control or the Jacobians).
# If the spectral radius of a student's own network is below 1, its weights alone make the gradient vanish,
# as the control with zeros shows.
# ½ point for part 3: one common factor, so large updates are prevented but the ratio between the lags is unchanged.
# ½ point for part 4: a large effect before training and a smaller one after it, supported by the table
# or by a run of their own.
# "Recurrent networks forget" or "the gradient vanishes", without a measurement, is not an explanation.
# The exception is not asked for. No points are deducted for language or length.
# ### END SOLUTION
