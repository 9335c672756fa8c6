"""n-gram models and what they predict: against slow direct computations, and what was recorded."""

from __future__ import annotations

import json
import math
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from experiments.ch00 import bpe, counts
from experiments.ngrams import AddAlpha, Interpolated, NGram, WittenBell
from experiments.text import Text, TextError, from_file, python_docs, topics_source
from solutions.ch00_sequences.subwords import apply_bpe, learn_bpe
from tests.loops import for_each

V = 5
WEIGHTS = (0.9, 0.75, 0.6, 0.35)


def draw(seed: int, length: int) -> list[int]:
    """Ids from 0 to V - 2, so that one token never occurs, with some order among them."""
    rng = random.Random(seed)
    ids = [0]
    while len(ids) < length:
        ids.append(rng.choice([ids[-1], (ids[-1] + 1) % (V - 1), rng.randrange(V - 1)]))
    return ids


def count(ids: list[int], gram: list[int]) -> int:
    """How often the gram occurs in ids."""
    return sum(ids[i : i + len(gram)] == gram for i in range(len(ids) - len(gram) + 1))


def followers(ids: list[int], context: list[int]) -> list[int]:
    return [count(ids, [*context, token]) for token in range(V)]


def slow_add_alpha(ids: list[int], order: int, context: list[int], token: int, alpha: float) -> float:
    after = followers(ids, context[max(0, len(context) - order + 1) :] if order > 1 else [])
    return (after[token] + alpha) / (sum(after) + alpha * V)


def slow_mixed(ids: list[int], order: int, context: list[int], token: int, share: Any) -> float:
    """From the longest context down: share(n, counts) is the weight of the n-gram's relative frequency."""
    if order == 0:
        return 1 / V
    if len(context) < order - 1:
        return slow_mixed(ids, order - 1, context, token, share)
    context = context[len(context) - order + 1 :]
    after, lower = followers(ids, context), slow_mixed(ids, order - 1, context[1:], token, share)
    if sum(after) == 0:
        return lower
    weight = share(order, after)
    return float(weight * after[token] / sum(after) + (1 - weight) * lower)


def witten_bell(_: int, after: list[int]) -> float:
    return sum(after) / (sum(after) + sum(number > 0 for number in after))


def both(kind: str, ids: list[int], order: int) -> tuple[NGram, Any]:
    """A model, and the same probabilities computed directly."""
    if kind == "add-alpha":
        return AddAlpha(ids, order, V, 0.3), lambda *asked: slow_add_alpha(ids, order, *asked, 0.3)
    if kind == "interpolated":
        by_order = Interpolated(ids, order, V, WEIGHTS[:order])
        return by_order, lambda *asked: slow_mixed(ids, order, *asked, lambda n, _: WEIGHTS[n - 1])
    return WittenBell(ids, order, V), lambda *asked: slow_mixed(ids, order, *asked, witten_bell)


KINDS = ("add-alpha", "interpolated", "Witten-Bell")


@for_each("order", [1, 2, 3, 4])
@for_each("kind", KINDS)
def test_probabilities_are_those_of_a_direct_computation(kind: str, order: int) -> None:
    """Equation (add-alpha), Equation (interpolation), Equation (witten-bell), also for unseen and short contexts."""
    ids, others = draw(0, 60), draw(1, 20)
    model, slow = both(kind, ids, order)
    for context in [others[: i + 1] for i in range(12)] + [[], [V - 1], [0, V - 1], [V - 1, 0]]:
        found = [model.probability(context, token) for token in range(V)]
        assert found == pytest.approx([slow(context, token) for token in range(V)], rel=1e-12)
        assert sum(found) == pytest.approx(1, abs=1e-12)
        assert min(found) > 0


@pytest.mark.parametrize("kind", KINDS)
def test_bits_are_the_mean_over_all_tokens_but_the_first(kind: str) -> None:
    ids, others = draw(2, 80), draw(3, 15)
    model, slow = both(kind, ids, 3)
    direct = [-math.log2(slow(others[:i], others[i])) for i in range(1, len(others))]
    assert model.bits(others) == pytest.approx(np.mean(direct), rel=1e-12)
    assert model.total_bits(others) == pytest.approx(sum(direct), rel=1e-12)


def test_order_0_is_uniform_and_a_context_that_never_occurred_too() -> None:
    ids = draw(4, 40)
    assert AddAlpha(ids, 0, V, 1.0).bits(ids) == pytest.approx(math.log2(V))
    assert AddAlpha(ids, 3, V, 0.1).probability([V - 1, 0], 1) == pytest.approx(1 / V)
    assert Interpolated(ids, 0, V, ()).bits(ids) == pytest.approx(math.log2(V))


@pytest.mark.parametrize("weights", [(0.5,), (0.5, 1.0), (0.5, -0.1)])
def test_weights_that_do_not_fit_are_refused(weights: tuple[float, ...]) -> None:
    with pytest.raises(ValueError, match="an interpolated 2-gram needs 2 weights from 0 to below 1"):
        Interpolated(draw(5, 20), 2, V, weights)


# What is chosen -------------------------------------------------------------------------------------------------------


def test_alpha_and_weights_are_chosen_on_the_end_of_the_training_text() -> None:
    ids = draw(6, 400)
    counted, dev = counts.parts(ids)
    assert (counted + dev, len(dev)) == (ids, 40)
    alpha, tried = counts.choose_alpha(ids, 3, V)
    assert tried == pytest.approx([AddAlpha(counted, 3, V, one).bits(dev) for one in counts.ALPHAS])
    assert tried[counts.ALPHAS.index(alpha)] == min(tried)
    weights, bits = counts.choose_weights(ids, 3, V)
    assert bits == pytest.approx(Interpolated(counted, 3, V, weights).bits(dev), rel=1e-12)
    for n in range(3):
        for weight in counts.WEIGHTS:
            other = [*weights[:n], weight, *weights[n + 1 :]]
            assert bits <= Interpolated(counted, 3, V, other).bits(dev) + 1e-12


# Subwords -------------------------------------------------------------------------------------------------------------


def some_words() -> dict[str, int]:
    rng = random.Random(7)
    words = ["".join(rng.choice("aab ") for _ in range(rng.randrange(1, 9))) for _ in range(40)]
    return {word: rng.randrange(1, 6) for word in words}


def test_the_merges_are_those_of_the_exercise() -> None:
    words = some_words()
    merges = bpe.learn(words, 12)
    assert merges == learn_bpe(words, 12)
    assert all(bpe.encode([word], merges) == apply_bpe(word, merges) for word in words)
    assert len(bpe.learn({"ab": 1}, 9)) == 1


def test_a_text_is_its_pieces() -> None:
    text = "the value (if any)  is é 10,\nor none.\n"
    pieces = bpe.words(text)
    assert "".join(pieces) == text
    assert pieces[:4] == ["the", " value", " (", "if"]


def little() -> Text:
    """A small text of words from a few syllables."""
    rng = random.Random(8)
    lines = (" ".join(rng.choice(["the", "then", "a", "at", "that", "neat"]) for _ in range(12)) for _ in range(60))
    whole = [f"{line}\n" for line in lines]
    return Text("".join(whole[:50]), "".join(whole[50:]), "\n aehnt", "little")


def test_bits_of_subwords_are_per_character() -> None:
    text = little()
    without = counts.subword_row(text, 0, 3)
    V_little, ids, held_out = len(text.characters), text.ids(text.train), text.ids(text.held_out)
    assert without["bits"] == round(WittenBell(ids, 3, V_little).bits(held_out), 4)
    assert (without["vocabulary"], without["characters_per_piece"]) == (V_little, 1)
    found = counts.subword_row(text, 6, 1)
    assert found["merges"] == 6
    pieces = [piece for word in bpe.words(text.held_out) for piece in apply_bpe(word, merges_of(text, 6))]
    assert found["characters_per_piece"] == round(len(text.held_out) / len(pieces), 4)
    train = [piece for word in bpe.words(text.train) for piece in apply_bpe(word, merges_of(text, 6))]
    size, kinds = found["vocabulary"], len(set(train))
    nats = [math.log((train.count(piece) + kinds / size) / (len(train) + kinds)) for piece in pieces[1:]]
    assert found["bits"] == round(-sum(nats) / math.log(2) / (len(text.held_out) - len(pieces[0])), 4)


def merges_of(text: Text, number: int) -> list[tuple[str, str]]:
    words = bpe.words(text.train)
    merges: list[tuple[str, str]] = learn_bpe({word: words.count(word) for word in words}, number)
    return merges


# Copying --------------------------------------------------------------------------------------------------------------


def test_the_longest_copied_run_is_that_of_all_pairs_of_ends() -> None:
    rng = random.Random(9)
    for _ in range(20):
        text, sample = ("".join(rng.choice("abc") for _ in range(length)) for length in (120, 40))
        runs = {sample[i:j] for i in range(41) for j in range(i, 41)}
        longest = max(len(run) for run in runs if run in text)
        found = counts.longest_copied(sample, text)
        assert (len(found), found in text, found in sample) == (longest, True, True)
    assert counts.longest_copied("xyz", "abc") == ""


# The record -----------------------------------------------------------------------------------------------------------


def recorded() -> dict[str, Any]:
    record: dict[str, Any] = json.loads(Path(counts.RESULTS_FILE).read_text("utf-8"))
    return record


def test_the_record_has_the_text_the_version_the_settings_and_all_models() -> None:
    record = recorded()
    assert record["command"] == "python -m experiments.ch00.counts --record"
    assert record["text"]["source"] == topics_source()
    assert (record["settings"]["alphas"], record["settings"]["merges"]) == (list(counts.ALPHAS), counts.MERGES)
    assert record["settings"]["weights"] == list(counts.WEIGHTS)
    found = [(row["smoothing"], row["order"]) for row in record["models"]]
    assert found == [
        ("none", 0),
        *(("add-alpha", n) for n in range(1, 7)),
        *(("interpolated", n) for n in (4, 5, 6)),
        *(("Witten-Bell", n) for n in range(2, 7)),
        ("Witten-Bell", 3),
    ]
    assert [row["model"] for row in record["models"]].count("subwords") == 1
    assert record["models"][0]["bits"] == round(math.log2(record["text"]["characters"]), 4)
    assert all(0 < row["bits"] < record["models"][0]["bits"] for row in record["models"][1:])
    assert Path(counts.RESULTS_FILE).stat().st_size < 10_000


def test_what_was_chosen_had_the_fewest_dev_bits() -> None:
    rows = recorded()["models"]
    for row in rows:
        if row["smoothing"] == "add-alpha":
            assert row["dev_bits"][counts.ALPHAS.index(row["alpha"])] == min(row["dev_bits"])
        if row["smoothing"] == "interpolated":
            assert len(row["weights"]) == row["order"]
            assert set(row["weights"]) <= set(counts.WEIGHTS)


def test_live_values_equal_the_recorded_ones() -> None:
    text = python_docs()
    ids, held_out, size = text.ids(text.train).tolist(), text.ids(text.held_out).tolist(), len(text.characters)
    rows = {(row["model"], row["smoothing"]): row for row in recorded()["models"]}
    bigram = rows["bigram", "add-alpha"]
    assert round(AddAlpha(ids, 2, size, bigram["alpha"]).bits(held_out), 4) == bigram["bits"]
    assert round(WittenBell(ids, 3, size).bits(held_out), 4) == rows["trigram", "Witten-Bell"]["bits"]


@pytest.mark.slow
def test_the_whole_record_is_what_the_command_computes() -> None:
    record = recorded()
    assert {**counts.assembled(python_docs()), "python": record["python"]} == record


# The command ----------------------------------------------------------------------------------------------------------


def test_the_command_reads_a_text_of_the_readers_own(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = random.Random(10)
    words = "count", "the", "next", "letter", "after", "every", "context", "of", "this", "small", "text"
    path = tmp_path / "mine.txt"
    path.write_text("\n\n".join(" ".join(rng.choices(words, k=14)) + "." for _ in range(60)), "utf-8")
    monkeypatch.setattr(counts, "MERGES", 20)
    counts.main([str(path)])
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == from_file(path).label
    assert len(lines) == 2 + len(recorded()["models"])
    assert lines[2].startswith("uniform ")
    assert all(line.endswith(" bits per character") for line in lines[2:])


@pytest.mark.parametrize("arguments", [["mine.txt", "--record"], ["--recrod"], ["a.txt", "b.txt"]])
def test_arguments_that_do_not_go_together(arguments: list[str]) -> None:
    with pytest.raises(TextError, match="Give one text file, or --record, or nothing"):
        counts.main(arguments)
