"""How the gradient shapes an alignment: the weights of an attention decoder while it is being trained.

    python -m experiments.ch06.snapshots [--record] [--resume]

The network, sentences, settings and seeds are those of the first group of `experiments.ch06.alignments`: the additive
score, the previous state as the query, a bidirectional encoder. After some of the first 300 updates, the decoder
reads the references of held-out sentences of 3 to 15 words, and we record

- loss: the mean cross-entropy per token, ⟨eos⟩ included;
- aligned: the share of French words whose largest weight is on the English word that they translate;
- pushed: the share whose *score* the gradient would raise most at that word: for the other words −∂L/∂e is smaller;
- of the words whose largest weight is elsewhere, `corrected`: the share for which −∂L/∂e is larger at the aligned word
  than at the word with the largest weight.

∂L/∂e is computed from ∂L/∂α as the derivative of the softmax says. For the first seed, the weights of one sentence that
is not in training are recorded too. Takes about two minutes of one core; an interrupted recording goes on
with `--record --resume`.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from experiments.ch03.record import mean_and_sd, to_json
from experiments.ch05.grammar import Phrase
from experiments.ch05.model import Fitted, fit
from experiments.ch05.phrases import as_pairs
from experiments.ch06.alignments import BASE, SEEDS, SHOWN, sentences, share, tensors, weights_of
from experiments.ch06.alignments import SETTINGS as ALIGNED
from experiments.ch06.model import Attending, Source

RESULTS_FILE = Path(__file__).with_name("snapshots.json")
AFTER = (0, 25, 50, 75, 100, 150, 200, 300)  # updates
SETTINGS: dict[str, Any] = {
    **{key: ALIGNED[key] for key in ALIGNED if key not in ("erased_each", "small_weight", "held_out_each")},
    "updates": AFTER[-1],
    "read_each": 20,  # held-out sentences of each length that are looked at
}
SENTENCE: Phrase = SHOWN[0]
KEYS = ("loss", "aligned", "pushed", "corrected")


class Watched(Attending):
    """A decoder that keeps the weights of each step, so that the loss can be differentiated with respect to them."""

    kept: list[Tensor] | None = None

    def attend(self, query: Tensor, source: Source) -> tuple[Tensor, Tensor]:
        context, weights = super().attend(query, source)
        if self.kept is not None:
            self.kept.append(weights)
        return context, weights


def score_gradients(fitted: Fitted, phrases: Sequence[Phrase]) -> tuple[Tensor, Tensor, float]:
    """Weights and −∂L/∂e (B, T, S) for sentences of one length, and the loss L, summed over their tokens."""
    model, ids, lengths, read, wanted = tensors(fitted, phrases)
    assert isinstance(model, Watched)
    model.kept = []
    loss = cross_entropy(model(ids, lengths, read).flatten(0, 1), wanted.flatten(), reduction="sum")
    slopes = torch.cat(torch.autograd.grad(loss, model.kept), dim=1)
    weights = torch.cat(model.kept, dim=1).detach()
    model.kept = None
    push = -weights * (slopes - (weights * slopes).sum(dim=-1, keepdim=True))
    return weights, push, loss.item()


def looked(fitted: Fitted, held_out: dict[int, list[Phrase]]) -> dict[str, float]:
    """What is recorded after some updates, in percent."""
    aligned = pushed = elsewhere = corrected = words = tokens = 0
    total = 0.0
    for phrases in held_out.values():
        weights, push, loss = score_gradients(fitted, phrases)
        total += loss
        tokens += weights.shape[0] * weights.shape[1]
        for b, phrase in enumerate(phrases):
            for t, gold in enumerate(phrase.alignment):
                heaviest = int(weights[b, t].argmax())
                words += 1
                aligned += heaviest == gold
                pushed += int(push[b, t].argmax()) == gold
                if heaviest != gold:
                    elsewhere += 1
                    corrected += bool(push[b, t, gold] > push[b, t, heaviest])
    return {
        "loss": round(total / tokens, 3),
        "aligned": share(aligned, words),
        "pushed": share(pushed, words),
        "elsewhere": elsewhere,
        "corrected": share(corrected, elsewhere) if elsewhere else 0.0,
    }


def run(seed: int, after: Sequence[int] = AFTER) -> dict[str, Any]:
    """Train one network and look at it after so many updates."""
    train, all_held_out = sentences()
    held_out = {length: phrases[: SETTINGS["read_each"]] for length, phrases in all_held_out.items()}
    found: list[dict[str, Any]] = []

    def look(update: int, fitted: Fitted) -> None:
        if update in after:
            found.append({"after": update, **looked(fitted, held_out)})
            if seed == SEEDS[0]:
                rows = weights_of(fitted, [SENTENCE])[0].tolist()
                found[-1]["weights"] = [[round(value, 3) + 0.0 for value in row] for row in rows]

    pairs = as_pairs(train)
    look(0, fit(pairs, replace(BASE, seed=seed, updates=0), build=Watched))  # the initial parameters
    fit(pairs, replace(BASE, seed=seed, updates=max(after)), look=look, build=Watched)
    return {"seed": seed, "looks": found}


def summary(runs: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """For each number of updates, mean and standard deviation over the seeds."""
    return [
        {"after": looks[0]["after"], **{key: mean_and_sd([one[key] for one in looks], 3) for key in KEYS}}
        for looks in zip(*(one["looks"] for one in runs), strict=True)
    ]


def record_of(runs: Sequence[dict[str, Any]]) -> dict[str, Any]:
    return {
        "command": "python -m experiments.ch06.snapshots --record",
        "settings": {"optimizer": "Adam", "cell": "GRU", **SETTINGS},
        "seeds": [one["seed"] for one in runs],
        "versions": {"torch": torch.__version__.partition("+")[0]},
        "sentence": {"english": SENTENCE.english, "french": SENTENCE.french, "alignment": SENTENCE.alignment},
        "summary": summary(runs) if len(runs) > 1 else [],
        "runs": list(runs),
    }


def main() -> None:
    torch.set_num_threads(1)
    runs: list[dict[str, Any]] = []
    if "--resume" in sys.argv[1:]:
        runs = json.loads(RESULTS_FILE.read_text("utf-8"))["runs"]
    for seed in SEEDS[len(runs) :]:
        runs.append(run(seed))
        for look in runs[-1]["looks"]:
            print(seed, {key: value for key, value in look.items() if key != "weights"}, flush=True)
        if "--record" in sys.argv[1:]:  # after every run, so that an interrupted recording keeps its runs
            RESULTS_FILE.write_text(to_json(record_of(runs)), "utf-8")


if __name__ == "__main__":
    main()
