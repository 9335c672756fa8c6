"""The worked numbers of the notebook `decoding`, and what must hold for any decoder: a beam of width 1 is greedy, and a
beam that prunes nothing finds the best hypothesis of all.
"""

from itertools import product
from pathlib import Path

import numpy as np
import pytest
import torch

import solutions.ch05_encoder_decoder
from experiments.ch05.tree import EOS, SOS, load_tree, search
from grader.checking.fixtures import builders
from solutions.ch05_encoder_decoder.decoding import beam_search, greedy_decode
from tests.conftest import exercise

SOURCE = Path(solutions.ch05_encoder_decoder.__file__).parent / "fixtures.py"
BUILD = builders(SOURCE.read_text("utf-8"))


def built(example):
    inputs = dict(example.inputs)
    return {**inputs, "step": BUILD["table_decoder"](**inputs["step"].params)}


def gru(seed, V, D, H, L):
    """A GRU decoder in PyTorch, as a step."""
    torch.manual_seed(seed)
    embedding, head = torch.nn.Embedding(V, D).double(), torch.nn.Linear(H, V).double()
    cell = torch.nn.GRU(D, H, num_layers=L, batch_first=True).double()
    with torch.no_grad():
        head.weight *= 4

    def step(y_prev, state):
        with torch.no_grad():
            top, new = cell(embedding(torch.from_numpy(y_prev))[:, None], torch.from_numpy(state))
            return head(top[:, 0]).numpy(), new.numpy()

    return step, np.random.default_rng(seed).normal(size=(L, 1, H))


def test_the_worked_example_of_greedy_decoding():
    inputs = built(exercise("greedy_decode").spec.example)
    assert greedy_decode(**inputs) == [3, 4]
    assert greedy_decode(**{**inputs, "max_length": 2}) == [3, 4]
    assert greedy_decode(**{**inputs, "max_length": 1}) == [3]
    logits, state = inputs["step"](np.array([1]), inputs["state"])
    np.testing.assert_allclose(np.exp(logits[0]), [0.01, 0.01, 0.03, 0.55, 0.40], atol=1e-8)
    logits, _ = inputs["step"](np.array([3]), state)
    np.testing.assert_allclose(np.exp(logits[0]), [0.01, 0.01, 0.29, 0.34, 0.35], atol=1e-8)


def test_the_worked_example_of_beam_search():
    inputs = built(exercise("beam_search").spec.example)

    def rounded(**more):
        return [(ids, round(float(score), 3)) for ids, score in beam_search(**{**inputs, **more})]

    assert rounded() == [([4], -1.427), ([3, 4], -1.753)]
    assert rounded(length_penalty=1.0) == [([3, 4], -0.584), ([4], -0.714)]
    assert rounded(max_length=1) == [([3], round(np.log(0.55), 3)), ([4], round(np.log(0.40), 3))]
    assert rounded(max_length=2) == [([4], -1.427), ([3, 4], round(np.log(0.1925), 3))]
    assert rounded(max_length=3) == rounded()


@pytest.mark.parametrize(
    ("V", "D", "H", "L", "T"), [(6, 3, 4, 2, 7), (4, 2, 3, 1, 5), (2, 1, 1, 1, 1), (9, 1, 5, 3, 4)]
)
def test_a_beam_of_width_1_is_greedy(V, D, H, L, T):
    for seed in range(5):
        step, state = gru(seed, V, D, H, L)
        [(ids, score)] = beam_search(step, state, 0, 1, 1, T, 0.7)
        assert ids == greedy_decode(step, state, 0, 1, T)
        n = min(len(ids) + 1, T)
        assert score == pytest.approx(log_p(step, state, ids + [1] * (len(ids) < T)) / n**0.7, abs=1e-12)


def log_p(step, state, targets):
    """The sum of the log-probabilities of these ids, in PyTorch."""
    total = 0.0
    for previous, target in zip([0, *targets[:-1]], targets, strict=True):
        logits, state = step(np.array([previous]), state)
        total += torch.log_softmax(torch.from_numpy(logits), dim=1)[0, target].item()
    return total


@pytest.mark.parametrize("penalty", [0.0, 0.6, 1.0])
def test_a_beam_that_prunes_nothing_finds_the_best(penalty):
    V, T = 4, 4
    for seed in range(3):
        step, state = gru(seed, V, D=2, H=3, L=1)
        everything = [
            [*ids, *end]
            for length in range(T + 1)
            for ids in product([0, 2, 3], repeat=length)
            for end in ([[1]] if length < T else [[]])
        ]
        scores = {tuple(ids): log_p(step, state, ids) / len(ids) ** penalty for ids in everything}
        found = beam_search(step, state, 0, 1, V**T, T, penalty)
        assert len(found) == len(everything)
        best = max(scores, key=scores.__getitem__)
        assert found[0][0] == [k for k in best if k != 1]
        np.testing.assert_allclose([score for _, score in found], sorted(scores.values(), reverse=True), atol=1e-12)


def test_the_tree_of_the_book_gives_the_same_beams():
    tree = load_tree()
    words = [SOS, *tree["next"]["mille"], *sorted({w for row in tree["next"].values() for w in row})]
    words = list(dict.fromkeys(words))

    def step(y_prev, state):
        row = tree["next"].get(words[y_prev[0]], {EOS: 1.0})
        return np.log([[row.get(word, 1e-30) for word in words]]), state

    sos, eos, T = words.index(SOS), words.index(EOS), tree["max_length"]
    for width, penalty in product((1, 2, 3, 4), (0.0, 1.0)):
        kept = [beam for beam in search(width)[-1] if beam.kept is not None]
        kept.sort(key=lambda beam: -beam.score(penalty))
        found = beam_search(step, np.zeros((1, 0)), sos, eos, width, T, penalty)
        assert [[words[k] for k in ids] for ids, _ in found] == [[w for w in b.words if w != EOS] for b in kept]
        np.testing.assert_allclose([score for _, score in found], [beam.score(penalty) for beam in kept])
        if width >= 3:  # what the last section of the notebook says
            best = ["mille"] if penalty == 0 else ["mille", "six", "cents"]
            assert [words[k] for k in found[0][0]] == best
            assert ["mille", "six", "cents"] in [[words[k] for k in ids] for ids, _ in found]
