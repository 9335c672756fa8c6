"""AttentionDecoder and the oracle of its check equal PyTorch's layers, and a reference in a slow loop, to 1e-11.

Also the worked numbers of its notebook, and its training loop.
"""

import re

import numpy as np
import torch

from grader.spec.load import load_module
from solutions.ch06_attention import attention_decoder
from solutions.ch06_attention.attention_decoder import AttentionDecoder
from tests.conftest import ROOT
from tests.loops import for_each
from tests.prose import check_shown, numbers, section, table

CHECK = load_module(ROOT / "solutions/ch06_attention/AttentionDecoder/spec.py", "_checks_AttentionDecoder_parity")
RANDOM = [tuple(np.random.default_rng(seed).integers(1, 6, size=8).tolist()) for seed in range(20)]
SMALL = [tuple(1 + (n >> k & 1) for k in range(8)) for n in (0, 1, 2, 4, 8, 16, 32, 64, 128, 255, 254, 253, 251, 247)]


def made(sizes):
    """A decoder in float64 with random weights, its weights as arrays, and the arguments of a call."""
    B, S, T, V, D, H, K, A = sizes
    rng = np.random.default_rng(sizes)
    init = dict(zip(CHECK.SIZES, (V, D, H, K, A), strict=True))
    weights = {name: rng.normal(size=shape) for name, shape in CHECK.shapes(V, D, H, K, A).items()}
    module = AttentionDecoder(**init).double()
    module.load_state_dict({name: torch.from_numpy(w.copy()) for name, w in weights.items()})
    mask = np.arange(S) < rng.integers(1, S + 1, size=B)[:, None]
    call = {
        "target_in": rng.integers(V, size=(B, T)),
        "state": rng.normal(size=(B, H)),
        "keys": rng.normal(size=(B, S, K)),
        "mask": mask,
    }
    return module, init, weights, call


def tensors(call):
    return {name: torch.from_numpy(value) for name, value in call.items()}


def with_torch(module, target_in, state, keys, mask):
    """Number by number for the scores, PyTorch's cell and head for the rest, one row at a time."""
    logits, weights = [], torch.zeros(*target_in.shape, keys.shape[1], dtype=torch.float64)
    for b, ids in enumerate(target_in):
        s, rows = state[b : b + 1], []
        for t, id_ in enumerate(ids):
            scores = {}
            for j in range(keys.shape[1]):
                if mask[b, j]:
                    inside = module.query.weight @ s[0] + module.key.weight @ keys[b, j]
                    scores[j] = (module.score.weight[0] * torch.tanh(inside)).sum()
            highest = max(scores.values())
            total = sum(torch.exp(e - highest) for e in scores.values())
            for j, e in scores.items():
                weights[b, t, j] = torch.exp(e - highest) / total
            context = sum(weights[b, t, j] * keys[b, j] for j in scores)
            s = module.cell(torch.hstack([module.embedding(id_), context])[None], s)
            rows.append(module.head(torch.hstack([s[0], context])))
        logits.append(torch.stack(rows))
    return torch.stack(logits), weights


@for_each("sizes", [*RANDOM, *SMALL])
def test_reference_and_oracle_equal_pytorch_row_by_row(sizes):
    module, init, weights, call = made(sizes)
    with torch.no_grad():
        expected = with_torch(module, **tensors(call))
        ours = module(**tensors(call))
    theirs = CHECK.oracle(init, weights, **call, run={})
    for due, one, other in zip(expected, ours, theirs, strict=True):
        np.testing.assert_allclose(one.numpy(), due.numpy(), rtol=1e-11, atol=1e-11)
        np.testing.assert_allclose(other, due.numpy(), rtol=1e-11, atol=1e-11)


def test_masked_keys_change_nothing():
    module, _, _, call = made((3, 5, 4, 6, 2, 3, 4, 5))
    call["mask"] = np.arange(5) < np.array([5, 2, 3])[:, None]
    given = tensors(call)
    logits, weights = module(**given)
    far = torch.where(given["mask"][:, :, None], given["keys"], 1e6)
    again, same = module(given["target_in"], given["state"], far, given["mask"])
    assert torch.equal(logits, again)
    assert torch.equal(weights, same)
    assert (weights.transpose(1, 2)[~given["mask"]] == 0).all()


def test_the_worked_example_of_the_notebook():
    call = CHECK.EXAMPLE.inputs
    weights = call["weights"]
    text = section("ch06_attention", "attention_decoder", "The decoder").partition("**A worked example.**")[2]
    keys, state = call["keys"][0, :, 0], call["state"][0, 0]
    stated = numbers(text.partition("The weights are")[0].replace("\n", " "))
    assert stated == [*keys, state]
    for name, value in re.findall(r"`self\.(\w+)` = (\d\.\d\d)", text):
        assert weights[f"{name}.weight"].item() == float(value)
    logits, alphas = CHECK.oracle(**call)
    s = state
    for t, (step, read, scores, shares, context, new, z) in enumerate(table(text, "| step | reads |")):
        assert (int(step), int(read)) == (t, call["target_in"][0, t])
        check_shown(numbers(scores), 2.0 * np.tanh(1.5 * s + 0.8 * keys[:2]))
        check_shown(numbers(shares), alphas[0, t, :2])
        c = alphas[0, t] @ keys
        check_shown(float(context), c)
        cell = torch.nn.GRUCell(2, 1, dtype=torch.float64)
        cell.load_state_dict({n[5:]: torch.from_numpy(w) for n, w in weights.items() if n.startswith("cell.")})
        x = torch.tensor([[weights["embedding.weight"][int(read), 0], c]], dtype=torch.float64)
        s = cell(x, torch.tensor([[s]], dtype=torch.float64)).item()
        check_shown(float(new), s)
        check_shown(numbers(z), logits[0, t])
    first = text.partition("The first score, for example, is ")[2].partition(". In step 1")[0]
    factor, *inside = numbers(first)
    assert (factor, inside) == (2.0, [1.5, -0.9, 0.8, 0.9])
    assert (alphas[:, :, 2] == 0).all()


def test_numbers_and_their_batch():
    source, mask, target_in, targets = attention_decoder.make_batch([1984, 7])
    texts = ["".join(attention_decoder.SOURCE[i] for i in row) for row in source.tolist()]
    assert texts == ["1984<eos>", "7<eos><pad><pad><pad>"]
    assert mask.sum(dim=1).tolist() == [5, 2]
    written = ["".join(attention_decoder.TARGET[i] for i in row) for row in targets.tolist()]
    assert written == ["MCMLXXXIV<eos>", "VII<eos>" + "<pad>" * 6]
    assert torch.equal(target_in[:, 1:], targets[:, :-1])


def test_the_notebook_learns_and_padding_changes_nothing():
    """Its own settings, but fewer updates."""
    numbers_ = np.random.default_rng(0).permutation(np.arange(1, 4000)).tolist()
    torch.manual_seed(0)
    model = attention_decoder.Translator()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.005)
    losses = attention_decoder.train_on_numbers(model, optimizer, numbers_[:3000], 60)
    assert abs(losses[0] - np.log(10)) < 0.3
    assert np.mean(losses[-10:]) < 1.2
    source, mask, target_in, _ = attention_decoder.make_batch([444, 1984])
    beside, _ = model(source, mask, target_in)
    alone, _ = model(source[:1, :4], mask[:1, :4], target_in[:1])
    torch.testing.assert_close(beside[:1], alone)
    texts, weights = attention_decoder.translate(model, numbers_[3000:3005])
    assert all(set(text) <= set("IVXLCDM") for text in texts)
    torch.testing.assert_close(weights.sum(dim=2), torch.ones(5, 16))
