"""Pictures of coloured shapes, the sentences that describe them, and a judge of such sentences, with NumPy alone.

A picture (32 × 32 pixels, three colours of 0 to 255) is rendered from a scene: one shape, two different ones, or two
or three that are equal. A small grammar says which captions are right for a scene:

    caption → phrase | "two" colour shapes | "three" colour shapes | phrase relation phrase
    phrase → "a" or "an", colour, shape
    relation → "left of" | "right of" | "above" | "below"

Two different shapes have two or four right captions, because either may be named first and both directions may hold.
`judge` therefore parses a caption and compares what it says with the scene, and says what is wrong with a wrong one.
Everything is generated, so there is nothing to download; the licence is that of the course.
"""

from __future__ import annotations

from collections import Counter
from itertools import product
from typing import NamedTuple

import numpy as np

SIZE = 32  # pixels, in each direction
APART = 8  # a direction is named if the centres differ by at least so many pixels in it
COLOURS = {"blue": (0, 114, 178), "orange": (230, 159, 0), "green": (0, 158, 115), "black": (30, 30, 30)}
SHAPES = ("circle", "square", "triangle", "cross")
PLURALS = {"circle": "circles", "square": "squares", "triangle": "triangles", "cross": "crosses"}
NUMBERS = {2: "two", 3: "three"}
RELATIONS = {"left": "left of", "right": "right of", "above": "above", "below": "below"}
KINDS = ("one", "equal", "different")

Pair = tuple[str, str]  # a colour and a shape
PAIRS: tuple[Pair, ...] = tuple(product(COLOURS, SHAPES))
UNSEEN: tuple[Pair, ...] = (("blue", "triangle"), ("orange", "square"), ("green", "cross"), ("black", "circle"))
SEEN: tuple[Pair, ...] = tuple(pair for pair in PAIRS if pair not in UNSEEN)


class Thing(NamedTuple):
    """One shape: x grows to the right and y downwards, in pixels; all of it is within `radius` of its centre."""

    colour: str
    shape: str
    x: float
    y: float
    radius: float

    @property
    def pair(self) -> Pair:
        return self.colour, self.shape


Scene = tuple[Thing, ...]


class Claim(NamedTuple):
    """What a caption says: its colour–shape pairs in order, and the relation of the first to the second."""

    pairs: tuple[Pair, ...]
    relation: str | None = None


class Pictures(NamedTuple):
    """N scenes with their pixels (N, 32, 32, 3), uint8, and for each scene one of its right captions."""

    scenes: list[Scene]
    pixels: np.ndarray
    captions: list[str]


# Captions -------------------------------------------------------------------------------------------------------------


def phrase(pair: Pair, number: int = 1) -> str:
    """Name one or more equal shapes: "an orange circle", "two blue crosses"."""
    colour, shape = pair
    if number > 1:
        return f"{NUMBERS[number]} {colour} {PLURALS[shape]}"
    return f"{'an' if colour[0] in 'aeiou' else 'a'} {colour} {shape}"


def say(claim: Claim) -> str:
    """The caption that makes this claim."""
    if claim.relation:
        first, second = claim.pairs
        return f"{phrase(first)} {RELATIONS[claim.relation]} {phrase(second)}"
    return phrase(claim.pairs[0], len(claim.pairs))


CLAIMS = [Claim((pair,) * number) for pair in PAIRS for number in (1, 2, 3)] + [
    Claim((first, second), relation)
    for first, second in product(PAIRS, PAIRS)
    if first != second
    for relation in RELATIONS
]
MEANING = {say(claim): claim for claim in CLAIMS}  # each caption of the grammar has one meaning
WORDS = tuple(sorted({word for caption in MEANING for word in caption.split()}))


def directions(one: Thing, other: Thing) -> list[str]:
    """Where `one` is, seen from `other`: none, one or two of left, right, above and below."""
    dx, dy = one.x - other.x, one.y - other.y
    holds = {"left": dx <= -APART, "right": dx >= APART, "above": dy <= -APART, "below": dy >= APART}
    return [name for name in RELATIONS if holds[name]]


def right_captions(scene: Scene) -> list[str]:
    """All captions that are right for a scene."""
    pairs = tuple(thing.pair for thing in scene)
    if len(set(pairs)) == 1:
        return [say(Claim(pairs))]
    one, other = scene
    orders = ((one, other), (other, one))
    return [say(Claim((a.pair, b.pair), relation)) for a, b in orders for relation in directions(a, b)]


def judge(caption: str, scene: Scene) -> str:
    """Say "right", or what is wrong with a caption: the first of these that applies.

    "no caption": the grammar cannot say it. "number": it names more or fewer shapes than there are. "relation": the
    shapes are right, but not where they are. "binding": colours and shapes are there, but belong to each other in
    another way. "shape", "colour": only these words are wrong. "both": a colour and a shape are wrong.
    """
    claim = MEANING.get(caption)
    if claim is None:
        return "no caption"
    named, there = Counter(claim.pairs), Counter(thing.pair for thing in scene)
    if named.total() != there.total():
        return "number"
    if named == there:
        return "right" if caption in right_captions(scene) else "relation"
    colours, shapes = (Counter(p[i] for p in claim.pairs) == Counter(t[i] for t in scene) for i in (0, 1))
    if colours and shapes:
        return "binding"
    return "shape" if colours else "colour" if shapes else "both"


VERDICTS = ("right", "relation", "binding", "shape", "colour", "both", "number", "no caption")


# Pictures -------------------------------------------------------------------------------------------------------------


def place(rng: np.random.Generator, number: int) -> list[tuple[float, float, float]]:
    """Draw centres and radii of shapes that neither touch each other nor the edge: (x, y, radius) of each.

    In each direction, two centres differ by less than half of APART or by at least APART: nothing is nearly left.
    """
    while True:
        radii = rng.uniform(4, 6, size=number)
        centres = [rng.uniform(radius + 1, SIZE - 1 - radius, size=2) for radius in radii]
        gaps = [np.abs(centres[i] - centres[j]) for i in range(number) for j in range(i)]
        reach = [radii[i] + radii[j] + 1 for i in range(number) for j in range(i)]
        if all(
            gap.max() >= max(APART, far) and not ((gap > APART / 2) & (gap < APART)).any()
            for gap, far in zip(gaps, reach, strict=True)
        ):
            return [
                (round(float(x), 2), round(float(y), 2), round(float(r), 2))
                for (x, y), r in zip(centres, radii, strict=True)
            ]


def draw_scene(
    rng: np.random.Generator,
    pairs: tuple[Pair, ...] = SEEN,
    others: tuple[Pair, ...] | None = None,
    kind: str | None = None,
) -> Scene:
    """Draw a scene. Its first shape is one of `pairs`; if two shapes differ, the second is one of `others`."""
    kind = kind or KINDS[rng.choice(3, p=[0.2, 0.3, 0.5])]
    first = pairs[rng.integers(len(pairs))]
    named = (first,) * (1 if kind == "one" else 2 + int(rng.integers(2)))
    if kind == "different":
        rest = [pair for pair in others or pairs if pair != first]
        named = (first, rest[rng.integers(len(rest))])
    scene = [Thing(*pair, *where) for pair, where in zip(named, place(rng, len(named)), strict=True)]
    return tuple(scene)


def coverage(shape: str, dx: np.ndarray, dy: np.ndarray, radius: float) -> np.ndarray:
    """The share of each pixel that a shape covers, from the pixel's distance to its edge: dx, dy (S, S) -> (S, S)."""
    x, y = np.abs(dx), np.abs(dy)
    if shape == "circle":
        distance = np.sqrt(dx * dx + dy * dy) - 0.9 * radius
    elif shape == "square":
        distance = np.maximum(x, y) - 0.7 * radius
    elif shape == "triangle":  # equilateral, point upwards: a flat base and two sides of 60 degrees
        distance = np.maximum(dy, np.sqrt(0.75) * x - 0.5 * dy) - 0.5 * radius
    else:  # two bars
        long, thin = 0.9 * radius, 0.3 * radius
        distance = np.minimum(np.maximum(x - long, y - thin), np.maximum(x - thin, y - long))
    return np.clip(0.5 - distance, 0, 1)


def render(scene: Scene, rng: np.random.Generator) -> np.ndarray:
    """Render a scene as (32, 32, 3) uint8, on a light background with noise: no two pictures are equal."""
    at = np.arange(SIZE) + 0.5
    picture = np.full((SIZE, SIZE, 3), rng.uniform(200, 250))
    for thing in scene:
        paint = np.array(COLOURS[thing.colour]) + rng.uniform(-20, 20)
        share = coverage(thing.shape, at[None, :] - thing.x, at[:, None] - thing.y, thing.radius)[:, :, None]
        picture = share * paint + (1 - share) * picture
    noise = rng.uniform(-15, 15, size=picture.shape)
    pixels: np.ndarray = np.clip(np.rint(picture + noise), 0, 255).astype(np.uint8)
    return pixels


def pictures(
    number: int,
    seed: int,
    pairs: tuple[Pair, ...] = SEEN,
    others: tuple[Pair, ...] | None = None,
    kind: str | None = None,
) -> Pictures:
    """Draw scenes, render them, and choose one of the right captions of each at random."""
    rng = np.random.default_rng(seed)
    scenes = [draw_scene(rng, pairs, others, kind) for _ in range(number)]
    pixels = np.stack([render(scene, rng) for scene in scenes])
    captions = [(right := right_captions(scene))[rng.integers(len(right))] for scene in scenes]
    return Pictures(scenes, pixels, captions)
