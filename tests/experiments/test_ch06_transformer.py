"""The tiny transformer of chapter 06: its parts, how it is trained, and what it recorded."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
import torch

from experiments.ch05.model import PAD, Fitted, batch_of, fit, greedy
from experiments.ch05.numbers import pairs
from experiments.ch06 import gains, transformer
from experiments.ch06.transformer import NETWORKS, SEEDS, SIZES, UPDATES, Transformer, TransformerSettings

SMALL = TransformerSettings(embed_size=8, hidden_size=8, heads=2, network_size=12)
KNOWN = pairs([3, 14, 592, 6535], "fr")


def untrained(how: TransformerSettings = SMALL) -> tuple[Fitted, tuple[torch.Tensor, ...]]:
    fitted = fit(KNOWN, replace(how, updates=0), build=Transformer)
    fitted.model.double()
    return fitted, batch_of(KNOWN, fitted.source, fitted.target, False)


def recorded() -> dict[str, Any]:
    record: dict[str, Any] = json.loads(transformer.RESULTS_FILE.read_text("utf-8"))
    return record


@torch.no_grad()
def test_step_by_step_it_says_what_it_says_at_once() -> None:
    fitted, (ids, lengths, read, _) = untrained()
    model = fitted.model
    context = model.encode(ids, lengths)
    state, found = model.start(context), []
    for t in range(read.shape[1]):
        logits, state = model.decode(read[:, t : t + 1], state, context)
        found.append(logits)
    torch.testing.assert_close(torch.cat(found, dim=1), model(ids, lengths, read))
    assert torch.equal(state, read)


@torch.no_grad()
def test_padding_and_the_future_do_not_matter_and_the_order_of_the_source_does() -> None:
    fitted, (ids, lengths, read, _) = untrained()
    model = fitted.model
    all_at_once = model(ids, lengths, read)
    for row, length in enumerate(lengths.tolist()):
        alone = model(ids[row : row + 1, :length], lengths[row : row + 1], read[row : row + 1])
        torch.testing.assert_close(all_at_once[row : row + 1], alone)
    other = read.clone()
    other[:, 3] = 4
    changed = (model(ids, lengths, other) - all_at_once).abs().amax(dim=(0, 2))
    assert changed[:3].max() == 0 < changed[3]
    swapped = ids[3:, [1, 0, *range(2, ids.shape[1])]]
    assert (model(swapped, lengths[3:], read[3:]) - all_at_once[3:]).abs().max() > 1e-3


@torch.no_grad()
def test_a_stack_is_its_blocks_and_they_are_those_of_the_page() -> None:
    """Equation (decoder-block), with the biases and gains that PyTorch's layers have besides."""
    fitted, (ids, lengths, read, _) = untrained()
    model = fitted.model
    assert isinstance(model, Transformer)
    source = model.encode(ids, lengths)
    x = model.placed(model.target_embedding(read))
    future = torch.ones(read.shape[1], read.shape[1], dtype=torch.bool).triu(1)
    for block in model.decoder.layers:  # type: ignore[union-attr]
        x_hat = block.norm1(x)
        s_self = x + block.self_attn(x_hat, x_hat, x_hat, attn_mask=future)[0]
        s_hat = block.norm2(s_self)
        s_cross = s_self + block.multihead_attn(s_hat, source.R, source.R, key_padding_mask=source.padding)[0]
        x = s_cross + block.linear2(torch.relu(block.linear1(block.norm3(s_cross))))
    expected = model.head(model.decoder.norm(x))  # type: ignore[operator]
    torch.testing.assert_close(model(ids, lengths, read), expected)


def test_blocks_begin_differently_and_all_weights_learn() -> None:
    fitted, (ids, lengths, read, targets) = untrained()
    model = fitted.model
    first, second = model.encoder.layers  # type: ignore[misc]
    assert not torch.equal(first.linear1.weight, second.linear1.weight)
    torch.nn.functional.cross_entropy(model(ids, lengths, read).flatten(0, 1), targets.flatten()).backward()
    assert all(weights.grad is not None for weights in model.parameters())


def test_it_memorises_a_few_numbers() -> None:
    fitted = fit(KNOWN, replace(SMALL, embed_size=32, updates=150, batch=4, lr=5e-3), build=Transformer)
    assert greedy(fitted, [source for source, _ in KNOWN]) == [target for _, target in KNOWN]


def test_a_tie_is_decided_by_the_loss() -> None:
    rows = [(name, rate, loss) for name in NETWORKS for rate, loss in ((1, 0.5), (2, 0.3), (3, 0.4))]
    trials = [{"network": name, "lr": rate, "loss": loss, "exact": 99 if rate < 3 else 98} for name, rate, loss in rows]
    assert transformer.chosen(trials) == dict.fromkeys(NETWORKS, 2)


def test_the_record_follows_from_its_runs() -> None:
    record = recorded()
    assert record["command"] == "python -m experiments.ch06.transformer --record"
    assert record["settings"]["updates"] == list(UPDATES)
    found = {(one["network"], one["trained_on"], one["seed"]) for one in record["runs"]}
    assert found == {(name, size, seed) for name in NETWORKS for size in SIZES for seed in SEEDS}
    assert transformer.TRIAL["seed"] not in record["seeds"]
    assert record["learning_rates"] == transformer.chosen(record["trials"])
    assert record == transformer.assembled(record["trials"], record["runs"]) | {"versions": record["versions"]}
    assert transformer.RESULTS_FILE.stat().st_size < 30_000


@pytest.mark.parametrize("name", list(NETWORKS))
def test_the_parameters_are_those_of_the_networks(name: str) -> None:
    words = {one["network"]: one["parameters"] for one in recorded()["runs"]}
    known = pairs(list(range(10_000)), "fr")
    source, target = ({token for pair in known for token in pair[side]} for side in (0, 1))
    model = transformer.builder(NETWORKS[name])(len(source) + 3, len(target) + 3, NETWORKS[name])
    assert sum(weights.numel() for weights in model.parameters()) == words[name]


def test_the_recurrent_network_is_that_of_the_gains() -> None:
    how = NETWORKS["recurrent"]
    assert replace(how, updates=gains.ADDITIVE.updates) == gains.ADDITIVE
    assert PAD == 0
