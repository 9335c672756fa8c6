# %% [markdown]
# # A decoder that looks at a picture
#
# In chapter 5, a caption decoder got one summary of the picture. In this chapter, a decoder that translates looks at
# every source word before it writes the next one.
# In this notebook you bring the two together: you write attention over the **feature map** of a convolutional network,
# whose keys are not words but places. The last section trains a caption network with it, in about half a minute,
# and draws where the network looks before each word.
# Plan about 25 minutes.
#
# As always, replace the line `raise NotImplementedError(…)` with your code, and run the cell below it.
# `hint("MapAttention")` asks you a question, `hint("MapAttention", 2)` explains the idea,
# and `hint("MapAttention", 3)` outlines the code.
#
# Read first, in the book: *A preview of attention › Learning where to look*.

# %%
import numpy as np
import torch

from grader import check, hint, progress

# %% [markdown]
# ## Attention over a feature map
#
# Write `forward` of the class `MapAttention`.
# A convolutional network turns a picture into a feature map with $C$ numbers, the **channels**, at each of
# $P = Y \times X$ places.
# The $C$ numbers at place $p$ are one vector, $m_p$. These vectors are the keys and also the values.
# The query is made from a state of the decoder, and the score is bilinear: a linear layer without a bias, `self.query`,
# maps the state to $C$ numbers, and the score is their dot product with $m_p$, which is not scaled.
# (The position vectors of the page are in the map already: whoever calls `forward` adds them.)
#
# $$q = s\, W \qquad e_p = q \cdot m_p \qquad \alpha = \mathrm{softmax}(e) \text{ over all places} \qquad
# c = \sum_p \alpha_p\, m_p$$
#
# `__init__` is given, and creates the only submodule:
#
# | submodule | given | returns |
# |---|---|---|
# | `self.query` | states (B, H) | $s\, W$, (B, C) |
#
# | name | shape | what it is |
# |---|---|---|
# | `state` | (B, H) | a state of the decoder for each picture |
# | `feature_map` | (B, C, Y, X) | the map of each picture: C channels at Y rows and X columns of places |
# | result `context` | (B, C) | the weighted sum $c$ |
# | result `weights` | (B, Y, X) | the weights $\alpha$, at the places to which they belong |
#
# Every place is real, so there is no mask. Both results are part of a network that is trained: a gradient has to flow
# through them to the weight of `self.query`, to `state` and to `feature_map`.
# Mind the order of the axes: PyTorch's convolutions put the channels
# *before* the places, whereas the keys of a sentence, (B, S, K), have their numbers last.
#
# **A worked example.** One picture with one row of three places and two channels (B = 1, C = 2, Y = 1, X = 3), H = 2.
# The first channel of the map is [[0.90, 0.00, −1.20]], the second [[0.40, 1.50, 0.60]]. The state is [0.50, −0.20],
# and `self.query` maps it to the query [0.60, 0.70].
#
# | place | $m_p$ | products | score | weight |
# |---|---|---|---|---|
# | 0 | 0.90, 0.40 | 0.54 + 0.28 | 0.82 | 0.39 |
# | 1 | 0.00, 1.50 | 0.00 + 1.05 | 1.05 | 0.49 |
# | 2 | −1.20, 0.60 | −0.72 + 0.42 | −0.30 | 0.13 |
#
# The context is [0.20, 0.96].
# (All entries are rounded; the code calculates with full precision. This is the first case of the check.)


# %% exercise="MapAttention"
class MapAttention(torch.nn.Module):
    """Attention over the places of a feature map, with a bilinear score.

    forward: state (B, H), feature_map (B, C, Y, X) -> context (B, C), weights (B, Y, X).
    """

    def __init__(self, hidden_size, channels):
        super().__init__()
        self.query = torch.nn.Linear(hidden_size, channels, bias=False)

    def forward(self, state, feature_map):
        ### BEGIN SOLUTION
        places = feature_map.flatten(2).transpose(1, 2)  # (B, P, C)
        scores = (places * self.query(state)[:, None]).sum(dim=2)  # (B, P)
        weights = torch.softmax(scores, dim=1)
        context = (weights[:, :, None] * places).sum(dim=1)  # (B, C)
        return context, weights.unflatten(1, feature_map.shape[2:])
        ### END SOLUTION


# %% [markdown]
# ## Your progress

# %% active="ipynb"
# progress()

# %% [markdown]
# ## Training your attention, and drawing its weights
#
# This section is not graded.
# Each picture has 24 × 24 pixels and shows two shapes of different kinds, and its caption has five words,
# such as *red square above blue cross*. Either shape may be named first, and two relations may be true,
# so a caption is right if all that it says is true of the picture.
# One of the nine pairs of a colour and a shape, the *blue cross*, never occurs in training.


# %%
COLOURS, SHAPES, RELATIONS = ("red", "green", "blue"), ("square", "cross", "ring"), ("left", "right", "above", "below")
WORDS = ["<sos>", *COLOURS, *SHAPES, *RELATIONS]
UNSEEN = ("blue", "cross")
SIZE, RADIUS = 24, 3  # pixels


def drawn(shape):
    """A shape in 7 × 7 pixels, 1 or 0."""
    y, x = abs(np.mgrid[-RADIUS : RADIUS + 1, -RADIUS : RADIUS + 1])
    return {"square": np.maximum(x, y) < 3, "cross": np.minimum(x, y) == 0, "ring": (x + y > 1) & (x + y < 5)}[shape]


def make_scene(rng, unseen=False):
    """Two things with different shapes that do not touch: (colour, shape, row, column) of each centre."""
    while True:
        (one, other), colours = rng.choice(SHAPES, 2, replace=False), rng.choice(COLOURS, 2)
        (r, c), (r2, c2) = rng.integers(RADIUS, SIZE - RADIUS, size=(2, 2))
        things = [(str(colours[0]), str(one), r, c), (str(colours[1]), str(other), r2, c2)]
        if max(abs(r - r2), abs(c - c2)) > 8 and (UNSEEN in [thing[:2] for thing in things]) == unseen:
            return things


def right_captions(scene):
    """All captions that are true of a scene."""
    found = []
    for (a, b, r, c), (a2, b2, r2, c2) in (scene, scene[::-1]):
        holds = {"left": c2 - c > 4, "right": c - c2 > 4, "above": r2 - r > 4, "below": r - r2 > 4}
        found += [f"{a} {b} {relation} {a2} {b2}" for relation in RELATIONS if holds[relation]]
    return found


def make_pictures(number, seed, unseen=False):
    """Scenes, their pictures (N, 3, 24, 24), and for each the ids of one of its right captions (N, 5)."""
    rng = np.random.default_rng(seed)
    scenes = [make_scene(rng, unseen) for _ in range(number)]
    pictures = 0.1 * rng.normal(size=(number, 3, SIZE, SIZE))
    for picture, scene in zip(pictures, scenes, strict=True):
        for colour, shape, r, c in scene:
            picture[COLOURS.index(colour), r - 3 : r + 4, c - 3 : c + 4] += drawn(shape)
    captions = [str(rng.choice(right_captions(scene))).split() for scene in scenes]
    ids = torch.tensor([[WORDS.index(word) for word in caption] for caption in captions])
    return scenes, torch.tensor(pictures, dtype=torch.float32), ids


class Captioner(torch.nn.Module):
    """A small convolutional network, and a decoder with your attention over its map of 6 × 6 places."""

    def __init__(self, channels=32, embed_size=16, hidden_size=64):
        super().__init__()
        self.cnn = torch.nn.Sequential(
            torch.nn.Conv2d(3, channels, 5, stride=2, padding=2),
            torch.nn.ReLU(),
            torch.nn.Conv2d(channels, channels, 3, stride=2, padding=1),
            torch.nn.ReLU(),
        )
        self.position = torch.nn.Parameter(0.1 * torch.randn(channels, 6, 6))  # which place this is
        self.initial = torch.nn.Linear(channels, hidden_size)
        self.embedding = torch.nn.Embedding(len(WORDS), embed_size)
        self.attention = MapAttention(hidden_size, channels)
        self.cell = torch.nn.GRUCell(embed_size + channels, hidden_size)
        self.head = torch.nn.Linear(hidden_size + channels, len(WORDS))

    def forward(self, pictures, captions=None):
        """Logits (B, 5, V) and weights (B, 5, 6, 6). Without captions, the decoder reads its own words."""
        feature_map = self.cnn(pictures) + self.position  # (B, C, 6, 6)
        state = torch.tanh(self.initial(feature_map.mean(dim=(2, 3))))
        word, logits, weights = torch.zeros(len(pictures), dtype=torch.long), [], []
        for t in range(5):
            context, alpha = self.attention(state, feature_map)  # the query is the previous state
            state = self.cell(torch.cat([self.embedding(word), context], dim=1), state)
            logits.append(self.head(torch.cat([state, context], dim=1)))
            weights.append(alpha)
            word = logits[-1].argmax(dim=1) if captions is None else captions[:, t]
        return torch.stack(logits, dim=1), torch.stack(weights, dim=1)


def train_on_pictures(model, optimizer, pictures, captions, num_updates, batch_size=32):
    """Train with teacher forcing on random batches -> the loss of each update, in nats per word."""
    losses = []
    for _ in range(num_updates):
        chosen = torch.randint(len(pictures), (batch_size,))
        logits, _ = model(pictures[chosen], captions[chosen])
        loss = torch.nn.functional.cross_entropy(logits.flatten(0, 1), captions[chosen].flatten())
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        losses.append(loss.item())
    return losses


def write_captions(model, pictures):
    """The caption of each picture, always taking the most probable word, and the weights (N, 5, 6, 6)."""
    with torch.no_grad():
        logits, weights = model(pictures)
    return [" ".join(WORDS[i] for i in row) for row in logits.argmax(dim=2).tolist()], weights


def share_right(captions, scenes):
    """How many captions of a hundred are right."""
    return 100 * np.mean([caption in right_captions(scene) for caption, scene in zip(captions, scenes, strict=True)])


# %% [markdown]
# The next cell trains on 3,000 pictures for 2,400 updates (32 channels, embeddings of size 16, 64 units, batches of 32,
# Adam with learning rate 0.003, clipped at norm 1), which takes about half a minute.
# It then captions 500 new pictures of the same kind, and 500 with a blue cross in each.
# What do you expect of the blue crosses?

# %% active="ipynb" tags=["long"]
# _, pictures, captions = make_pictures(3000, seed=0)
# new, with_unseen = make_pictures(500, seed=1), make_pictures(500, seed=2, unseen=True)
# torch.manual_seed(0)
# model = Captioner()
# optimizer = torch.optim.Adam(model.parameters(), lr=0.003)
# try:
#     done = 0
#     for more in (200, 600, 1600):
#         losses, done = train_on_pictures(model, optimizer, pictures, captions, more), done + more
#         seen, unseen = (share_right(write_captions(model, test[1])[0], test[0]) for test in (new, with_unseen))
#         print(f"after {done} updates: loss {np.mean(losses[-20:]):.2f}, right {seen:.0f} %, unseen {unseen:.0f} %")
# except (RuntimeError, TypeError, ValueError, IndexError, NotImplementedError) as not_yet:
#     print(f"This cell waits for your code.  {not_yet}")

# %% [markdown]
# The last cell draws the weights of one picture, word by word. On the left is the picture itself, with the first letter
# of a colour where a shape is; then, for each word, the map: the darker a place, the larger its weight.
# Before you run it: where should the network look before it writes *left* or *above*?


# %%
def drawn_beside(picture, caption, weights):
    """A picture (3, 24, 24) and the weights (5, 6, 6) of its caption, side by side, as lines of text."""
    strongest, colour = picture.unflatten(2, (6, 4)).unflatten(1, (6, 4)).amax(dim=(2, 4)).max(dim=0)  # (6, 6)
    letters = [[COLOURS[colour[y, x]][0] if strongest[y, x] > 0.6 else "." for x in range(6)] for y in range(6)]
    lines = ["picture     " + "".join(f"{word:12}" for word in caption.split())]
    for y, row in enumerate(letters):
        shades = ["".join(2 * " ░▒▓█"[min(int(8 * alpha), 4)] for alpha in one[y]) for one in weights.tolist()]
        lines.append("".join(f"{letter:2}" for letter in row) + "".join(f"{shade:12}" for shade in shades))
    return "\n".join(lines)


# %% active="ipynb" tags=["long"]
# try:
#     for scenes, pictures, _ in (new, with_unseen):
#         (caption,), (weights,) = write_captions(model, pictures[:1])
#         print(drawn_beside(pictures[0], caption, weights))
#         right = right_captions(scenes[0])
#         print("right\n" if caption in right else f"wrong; right would be {right[0]}\n")
# except (NameError, RuntimeError, TypeError, ValueError, IndexError, NotImplementedError) as not_yet:
#     print(f"This cell waits for your code.  {not_yet}")
