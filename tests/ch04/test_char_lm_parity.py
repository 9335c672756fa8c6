"""CharLM and the oracle of its check equal PyTorch's LSTM, stacked layer by layer, to 1e-12.

Its notebook's training loop learns, with a state that crosses the cuts and a gradient that does not.
"""

import itertools
import warnings

import numpy as np
import torch

from grader.spec.load import load_module
from solutions.ch04_gated import char_lm
from solutions.ch04_gated.char_lm import CharLM
from tests.conftest import ROOT
from tests.loops import for_each

CHECK = load_module(ROOT / "solutions/ch04_gated/CharLM/spec.py", "_checks_CharLM_parity")
RANDOM = [tuple(np.random.default_rng(seed).integers(1, 7, size=6).tolist()) for seed in range(20)]
ONES_AND_TWOS = list(itertools.product((1, 2), repeat=6))


def made(sizes, dropout=0.0):
    """A model in float64 with random weights, ids, and the weights as arrays."""
    rng = np.random.default_rng(sizes)
    B, T, V, E, H, L = sizes
    weights = {name: rng.normal(size=shape) for name, shape in CHECK.shapes(V, E, H, L).items()}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of dropout with a single layer
        model = CharLM(V, E, H, L, dropout).double().eval()
    model.load_state_dict({name: torch.from_numpy(w.copy()) for name, w in weights.items()})
    return model, torch.from_numpy(rng.integers(V, size=(B, T))), weights


def stacked(weights, ids, L):
    """One `torch.nn.LSTM` of a single layer for each layer."""
    x = torch.from_numpy(weights["embedding.weight"])[ids]
    for layer in range(L):
        of_layer = {f"{name}_l0": torch.from_numpy(weights[f"rnn.{name}_l{layer}"]) for name in CHECK.GATES}
        lstm = torch.nn.LSTM(x.shape[2], of_layer["weight_hh_l0"].shape[1], batch_first=True).double()
        lstm.load_state_dict(of_layer)
        x, _ = lstm(x)
    return x @ torch.from_numpy(weights["head.weight"]).T + torch.from_numpy(weights["head.bias"])


@for_each("sizes", [*RANDOM, *ONES_AND_TWOS])
def test_reference_and_oracle_equal_stacked_layers(sizes):
    model, ids, weights = made(sizes)
    *_, V, E, H, L = sizes
    due = stacked(weights, ids, L).detach().numpy()
    logits, state = model(ids)
    assert not any(tensor.requires_grad for tensor in state)
    np.testing.assert_allclose(logits.detach().numpy(), due, rtol=1e-12, atol=1e-12)
    init = {"vocab_size": V, "embed_size": E, "hidden_size": H, "num_layers": L, "dropout": 0.0}
    ours, word = CHECK.oracle(init, weights, ids.numpy(), {"before": [], "carry": {}, "mode": "eval"})
    np.testing.assert_allclose(ours, due, rtol=1e-12, atol=1e-12)
    assert word == "detached"


@for_each("sizes", RANDOM)
def test_a_text_in_chunks_is_one_text(sizes):
    model, ids, _ = made(sizes)
    whole, _ = model(ids)
    pieces, state = [], None
    for t in range(ids.shape[1]):
        logits, state = model(ids[:, t : t + 1], state)
        pieces.append(logits)
    torch.testing.assert_close(torch.cat(pieces, dim=1), whole, rtol=1e-12, atol=1e-12)
    torch.testing.assert_close(model(ids)[0], whole, rtol=0, atol=0)  # and nothing is remembered


def test_the_worked_example_of_the_notebook():
    case = CHECK.EXAMPLE
    logits, _ = CHECK.oracle(**case.inputs)
    np.testing.assert_array_equal(logits.round(2), [[[0.32, -0.18], [-0.14, 0.43]]])
    alone, _ = CHECK.oracle(**{**case.inputs, "ids": case.inputs["ids"][:, 1:]})
    np.testing.assert_array_equal(alone.round(2), [[[-0.32, 0.68]]])


def rows_of_the_rhyme():
    ids = torch.tensor([char_lm.characters.index(character) for character in char_lm.rhyme])
    return ids[: len(ids) // 4 * 4].reshape(4, -1)


def test_the_training_loop_carries_the_state_and_starts_the_text_again():
    seen = []

    class Follows(CharLM):
        def forward(self, ids, state=None):
            logits, new = super().forward(ids, state)
            seen.append((ids, state, new))
            return logits, new

    torch.manual_seed(0)
    model, rows = Follows(28, 4, 4, 1, 0.0), rows_of_the_rhyme()
    per_pass = (rows.shape[1] - 1) // 100
    char_lm.train(model, torch.optim.SGD(model.parameters(), lr=0.1), rows, 100, per_pass + 2)
    starts = [k for k, (_, state, _) in enumerate(seen) if state is None]
    assert starts == [0, per_pass]
    assert all(state is seen[k - 1][2] for k, (_, state, _) in enumerate(seen) if state is not None)
    assert torch.equal(torch.cat([ids for ids, *_ in seen[:per_pass]], dim=1), rows[:, : 100 * per_pass])
    assert torch.equal(seen[per_pass][0], rows[:, :100])


def test_the_notebook_learns_its_rhyme():
    """Its own settings, but fewer updates."""
    torch.manual_seed(0)
    model, rows = CharLM(28, 16, 64, 1, 0.0), rows_of_the_rhyme()
    losses = char_lm.train(model, torch.optim.Adam(model.parameters(), lr=0.005), rows, 25, 100)
    assert abs(losses[0] - np.log(28)) < 0.15
    assert np.mean(losses[-20:]) / np.log(2) < 2
    text = char_lm.write(
        model, char_lm.characters, "This is ", 30, lambda z: np.eye(28)[z.argmax()], np.random.default_rng(0)
    )
    assert text.startswith("This is the ")
    assert len(text) == 38
    assert model.training
