"""Greedy decoding against beam search of several widths, with and without a length penalty.

    python -m experiments.ch05.beams [--record]

English numbers are translated into French by models that are stopped early (150 to 400 updates), because a model that
is almost always right leaves nothing to search for. 8,000 numbers to train on, 1,000 others to translate. Recorded are
exact match and BLEU (sacrebleu, no smoothing), the length of the hypotheses relative to the references, and how often
a wider beam finds a less probable hypothesis than greedy decoding, or a worse translation. Five seeds each. Takes about
eight minutes of one core.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean
from typing import Any

import sacrebleu
import torch
from torch import Tensor

from experiments.ch03.record import mean_and_sd, to_json
from experiments.ch05.model import EOS, PAD, SOS, Fitted, Settings, fit, padded, source_ids
from experiments.ch05.numbers import Pair, pairs, split

RESULTS_FILE = Path(__file__).with_name("beams.json")
SETTINGS: dict[str, float] = {"translated": 1000, "max_length": 15, "batch": 64, "lr": 2e-3}
UPDATES = (150, 200, 400)
WIDTHS = (1, 2, 4, 8)
PENALTIES = (0.0, 0.5, 1.0)
HOOK = 1600
SEEDS = tuple(range(10, 15))


@dataclass(frozen=True)
class Hypothesis:
    """A translation, the sum of its log-probabilities, and how many ids it has, ⟨eos⟩ included."""

    words: list[str]
    log_prob: float
    length: int

    def score(self, penalty: float) -> float:
        return self.log_prob / self.length**penalty


@torch.no_grad()
def beams(fitted: Fitted, sources: Sequence[Sequence[str]], width: int, at_once: int = 500) -> list[list[Hypothesis]]:
    """The hypotheses that are left for each source, most probable first. Pruned by the sum of log-probabilities.

    All beams of all sources advance together: a finished one may only be followed by padding, at no cost.
    """
    found: list[list[Hypothesis]] = []
    for start in range(0, len(sources), at_once):
        ids, totals = _search(fitted, sources[start : start + at_once], width)
        for rows, values in zip(ids.tolist(), totals.tolist(), strict=True):
            kept = [(row, value) for row, value in zip(rows, values, strict=True) if value > -torch.inf]
            found.append([_hypothesis(fitted, row, value) for row, value in kept])
    return found


def _hypothesis(fitted: Fitted, row: list[int], value: float) -> Hypothesis:
    length = row.index(EOS) + 1 if EOS in row else len(row)
    return Hypothesis(fitted.target.decode(row), value, length)


def _search(fitted: Fitted, sources: Sequence[Sequence[str]], width: int) -> tuple[Tensor, Tensor]:
    """Ids (N, K, T) and sums of log-probabilities (N, K)."""
    model, V = fitted.model, len(fitted.target)
    read, lengths = padded([source_ids(s, fitted.source, model.settings.reverse) for s in sources])
    N, K = len(sources), width
    context = model.encode(read, lengths).repeat_interleave(K, dim=1)  # (L, N K, H)
    state, totals = context, torch.full((N, K), -torch.inf)
    totals[:, 0] = 0  # one beam to begin with
    ids, rows = torch.full((N, K, 1), SOS), torch.arange(N)[:, None]
    only_padding = torch.full((V,), -torch.inf)
    only_padding[PAD] = 0
    for _ in range(int(SETTINGS["max_length"])):
        ended = (ids == EOS).any(-1)  # (N, K)
        if ended[totals > -torch.inf].all():
            break
        logits, state = model.decode(ids[:, :, -1].reshape(N * K, 1), state, context)
        steps = logits[:, 0].log_softmax(-1).view(N, K, V)
        steps = torch.where(ended[:, :, None], only_padding, steps)
        totals, best = (totals[:, :, None] + steps).flatten(1).topk(K)  # (N, K)
        parent, token = best // V, best % V
        ids = torch.cat([ids[rows, parent], token[:, :, None]], dim=2)
        state = state[:, (rows * K + parent).flatten()]
    return ids[:, :, 1:], totals


def bleu(found: Sequence[Sequence[str]], references: Sequence[Sequence[str]]) -> float:
    """Corpus BLEU in percent, of tokens, without smoothing."""
    candidates, wanted = ([" ".join(words) for words in side] for side in (found, references))
    score = sacrebleu.corpus_bleu(candidates, [wanted], smooth_method="none", tokenize="none", force=True)
    return float(score.score)


def best(hypotheses: Sequence[Hypothesis], penalty: float) -> Hypothesis:
    return max(hypotheses, key=lambda one: one.score(penalty))


def measure(fitted: Fitted, data: Sequence[Pair]) -> dict[str, Any]:
    """What each width and penalty finds."""
    sources, references = [source for source, _ in data], [target for _, target in data]
    left = {width: beams(fitted, sources, width) for width in WIDTHS}
    greedy = [best(one, 0.0) for one in left[1]]
    found: dict[str, Any] = {}
    for width in WIDTHS:
        for penalty in PENALTIES:
            chosen = [best(one, penalty) for one in left[width]]
            was, now = ([h.words == r for h, r in zip(side, references, strict=True)] for side in (greedy, chosen))
            both = list(zip(was, now, strict=True))
            found[f"{width}, {penalty:g}"] = {
                "exact": round(100 * mean(now), 2),
                "bleu": round(bleu([one.words for one in chosen], references), 2),
                "length": round(sum(len(h.words) for h in chosen) / sum(map(len, references)), 4),
                "log_prob": round(mean(one.log_prob for one in chosen), 3),
                "fixed": sum(b and not a for a, b in both),
                "broken": sum(a and not b for a, b in both),
                "less_probable": sum(h.log_prob < g.log_prob - 1e-4 for h, g in zip(chosen, greedy, strict=True)),
                "too_short": sum(len(h.words) < len(r) for h, r in zip(chosen, references, strict=True)),
            }
    return found


def examples(fitted: Fitted, data: Sequence[Pair]) -> list[dict[str, Any]]:
    """Sources that greedy decoding gets wrong and a beam right, or the other way round, with log-probabilities."""
    sources = [source for source, _ in data]
    one, four = (beams(fitted, sources, width) for width in (1, 4))
    shown: list[dict[str, Any]] = []
    for (source, target), a, b in zip(data, one, four, strict=True):
        greedy, beam = best(a, 0.0), best(b, 0.0)
        if (greedy.words == target) != (beam.words == target):
            shown.append({
                "source": " ".join(source),
                "reference": " ".join(target),
                "right": "greedy" if greedy.words == target else "beam",
                **{
                    name: {"words": " ".join(h.words), "log_prob": round(h.log_prob, 2)}
                    for name, h in (("greedy", greedy), ("beam", beam))
                },
            })  # fmt: skip
    return shown


def summary(runs: list[dict[str, Any]]) -> dict[str, Any]:
    """Mean and standard deviation over the seeds, for each number of updates, width and penalty."""
    found: dict[str, Any] = {}
    for updates in UPDATES:
        here = [one["found"] for one in runs if one["updates"] == updates]
        found[str(updates)] = {
            name: {key: mean_and_sd([one[name][key] for one in here], 3) for key in values}
            for name, values in here[0].items()
        }
    return found


def parts() -> tuple[list[Pair], list[Pair]]:
    train, held_out = split()
    return pairs(train, "fr"), pairs(held_out, "fr")


def search_error(fitted: Fitted) -> dict[str, Any] | None:
    """How greedy decoding and a beam of 4 translate HOOK, if only the beam is right."""
    [pair] = pairs([HOOK], "fr")
    found = examples(fitted, [pair])
    return found[0] if found and found[0]["right"] == "beam" else None


def run(seed: int, updates: Sequence[int] = UPDATES) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Train one model: its measures after each of these numbers of updates, and its search errors on HOOK."""
    train, held_out = parts()
    data, runs, errors = held_out[: int(SETTINGS["translated"])], [], []

    def look(update: int, fitted: Fitted) -> None:
        if update not in updates and (update % 25 or update < 100):
            return
        fitted.model.eval()
        error = search_error(fitted)
        errors.extend([{"seed": seed, "updates": update, **error}] if error else [])
        if update in updates:
            runs.append({
                "seed": seed,
                "updates": update,
                "found": measure(fitted, data),
                "examples": chosen(examples(fitted, data)),
            })  # fmt: skip
        fitted.model.train()

    settings = Settings(updates=max(updates), batch=int(SETTINGS["batch"]), lr=SETTINGS["lr"], seed=seed)
    fit(train, settings, vocabulary_of=[*train, *held_out], look=look)
    return runs, errors


def chosen(shown: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The first two examples that each way gets right."""
    return [one for right in ("beam", "greedy") for one in [e for e in shown if e["right"] == right][:2]]


def main() -> None:
    started = time.process_time()
    runs: list[dict[str, Any]] = []
    errors: list[dict[str, Any]] = []
    for seed in SEEDS:
        here, wrong = run(seed)
        runs, errors = runs + here, errors + wrong
        for one in here:
            print(seed, one["updates"], {k: list(v.values()) for k, v in one["found"].items()}, flush=True)
            print(*one["examples"], sep="\n", flush=True)
        print(*wrong, sep="\n", flush=True)
    print(json.dumps(summary(runs)), round(time.process_time() - started), flush=True)
    if "--record" in sys.argv[1:]:
        record = {
            "command": "python -m experiments.ch05.beams --record",
            "settings": {"optimizer": "Adam", "embed_size": 64, "hidden_size": 128, "clip": 1.0, **SETTINGS},
            "seeds": list(SEEDS),
            "versions": {"torch": torch.__version__.partition("+")[0], "sacrebleu": sacrebleu.__version__},
            "summary": summary(runs),
            "hook": max(errors, key=lambda one: one["updates"]) if errors else None,
            "runs": runs,
        }
        RESULTS_FILE.write_text(to_json(record), "utf-8")


if __name__ == "__main__":
    main()
