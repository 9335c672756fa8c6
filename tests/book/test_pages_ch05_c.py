"""The labelled equations of chapter 5's last page, and what it says in words."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from experiments.ch05 import captions, shapes


@pytest.mark.parametrize("batch", [1, 3])
@pytest.mark.parametrize("read", ["mean", "quadrants", "flattened"])
@torch.no_grad()
def test_what_is_read_of_the_map_and_the_initial_state(read: str, batch: int) -> None:
    """Equation (read-map) and Equation (caption-state): loops over places in NumPy, and the decoder's first step."""
    torch.manual_seed(0)
    C, H = 3, 4
    model = captions.Captioner(read, channels=C, embed_size=2, hidden_size=H).double().eval()
    x = torch.from_numpy(np.random.default_rng(1).normal(size=(batch, 3, 32, 32)))
    m = model.cnn(x).numpy()
    assert m.shape == (batch, C, 8, 8)
    places = [(i, j) for i in range(8) for j in range(8)]
    f: list[list[float]] = [[] for _ in range(batch)]
    for b in range(batch):
        for c in range(C):
            if read == "mean":
                f[b].append(sum(m[b, c, i, j] for i, j in places) / len(places))
            elif read == "quadrants":
                for q in ((0, 0), (0, 1), (1, 0), (1, 1)):
                    f[b].append(max(m[b, c, i, j] for i, j in places if (i // 4, j // 4) == q))
            else:
                f[b].extend(m[b, c, i, j] for i, j in places)
    np.testing.assert_allclose(model.features(x).numpy(), f, rtol=0, atol=1e-12)
    W_f, b_f = model.initial.weight.numpy().T, model.initial.bias.numpy()
    s_0 = np.tanh(np.array(f) @ W_f + b_f)
    np.testing.assert_allclose(model.start(x).numpy(), s_0, rtol=0, atol=1e-12)
    ids = torch.ones(batch, 1, dtype=torch.long)
    first = model.gru(model.words(ids), torch.from_numpy(s_0)[None])[0]
    torch.testing.assert_close(model(x, ids), model.logits(first), rtol=0, atol=1e-12)


@torch.no_grad()
def test_the_mean_does_not_know_where() -> None:
    """A map whose places are shuffled has the same mean, other quadrants, and another flattened vector."""
    m = torch.from_numpy(np.random.default_rng(2).normal(size=(1, 3, 8, 8)))
    shuffled = m.flatten(2)[:, :, torch.randperm(64, generator=torch.Generator().manual_seed(0))].view_as(m)
    same = {}
    for read in ("mean", "quadrants", "flattened"):
        model = captions.Captioner(read, channels=3, embed_size=2, hidden_size=4)
        model.cnn = torch.nn.Identity()  # the map itself
        same[read] = torch.allclose(model.features(m), model.features(shuffled))
    assert same == {"mean": True, "quadrants": False, "flattened": False}


def test_unseen_pairs_share_colours_and_shapes_evenly() -> None:
    """Each colour and each shape is missing in one pair, so it is seen in three."""
    for i in (0, 1):
        assert len({pair[i] for pair in shapes.UNSEEN}) == len(shapes.UNSEEN) == 4
