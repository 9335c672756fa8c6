"""Numbers in words, from English to French and to German, with an encoder–decoder of GRUs without attention.

    python -m experiments.ch05.translations [--record]

8,000 of the numbers from 0 to 9999 are for training, the other 2,000 are held out. Three encoders are compared in both
languages: one reads the source forward, one reversed, and one in both directions with half of the units each. All have
as many numbers in their context. Five seeds each, 400 updates. A fourth group learns French from 300 numbers only.

Exact match is the share of held-out numbers that are translated without a mistake. BLEU is sacrebleu's corpus BLEU,
without smoothing, on our tokens: words in French, morphemes in German. The baseline translates each held-out number as
the nearest one in the training set. Takes about six minutes on one core.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from statistics import mean, median, stdev
from typing import Any

import sacrebleu
import torch

from experiments.ch03.record import to_json
from experiments.ch05.model import PAD, Fitted, Settings, batch_of, exact_match, fit, greedy
from experiments.ch05.numbers import LANGUAGES, LARGEST, Pair, pairs, split, words

RESULTS_FILE = Path(__file__).with_name("translations.json")
SETTINGS: dict[str, Any] = {
    "embed_size": 64,
    "hidden_size": 128,
    "batch": 64,
    "lr": 2e-3,
    "clip": 1.0,
    "updates": 400,
    "train": 8000,
    "few": 300,
    "few_updates": 600,
}
ENCODERS: dict[str, dict[str, bool]] = {
    "forward": {},
    "reversed": {"reverse": True},
    "bidirectional": {"bidirectional": True},
}
SEEDS = tuple(range(5))
LOOK_AT = tuple(range(25, 401, 25))  # updates
LOOKED = 500  # held-out numbers for the curve
SHOWN = {"right": 6, "wrong": 12}


def settings(encoder: str, seed: int, few: bool = False) -> Settings:
    """The settings of a run."""
    shared = {key: SETTINGS[key] for key in ("embed_size", "hidden_size", "batch", "lr", "clip")}
    updates = SETTINGS["few_updates" if few else "updates"]
    return Settings(**shared, **ENCODERS[encoder], updates=updates, seed=seed)


def parameters(encoder: str, language: str) -> int:
    """The number of weights of a network."""
    how = Settings(**{**vars(settings(encoder, 0)), "updates": 0})
    return sum(weights.numel() for weights in fit(pairs(split()[0], language), how).model.parameters())


def bleu(found: Sequence[Sequence[str]], wanted: Sequence[Pair]) -> float:
    """Corpus BLEU of the tokens as they are, without smoothing, from 0 to 100."""
    hypotheses, references = ([" ".join(tokens) for tokens in side] for side in (found, [b for _, b in wanted]))
    return float(sacrebleu.corpus_bleu(hypotheses, [references], tokenize="none", smooth_method="none").score)


def by_source_length(found: Sequence[Sequence[str]], wanted: Sequence[Pair]) -> dict[str, list[float]]:
    """Source length in words, as text -> the share of exact matches, in percent, and their number."""
    groups: dict[int, list[bool]] = {}
    for tokens, (source, target) in zip(found, wanted, strict=True):
        groups.setdefault(len(source), []).append(list(tokens) == target)
    return {str(length): [round(100 * mean(group), 2), len(group)] for length, group in sorted(groups.items())}


@torch.no_grad()
def log_probs(fitted: Fitted, wanted: Sequence[Pair]) -> list[float]:
    """The log-probability of each target, ⟨eos⟩ included, given its source."""
    ids, lengths, read, targets = batch_of(wanted, fitted.source, fitted.target, fitted.model.settings.reverse)
    each = torch.log_softmax(fitted.model(ids, lengths, read), dim=-1).gather(-1, targets[..., None])[..., 0]
    return [float(total) for total in (each * (targets != PAD)).sum(dim=1)]


def examples(fitted: Fitted, numbers: Sequence[int], found: Sequence[Sequence[str]], language: str) -> dict[str, Any]:
    """The first translations that are right and the first that are wrong, with log-probabilities.

    `reads_as` is the number that a wrong translation spells, None if it spells no number. A mistake is one of search if
    the network gives the reference a higher probability than what greedy decoding found.
    """
    spelled = {tuple(words(number, language)): number for number in range(LARGEST + 1)}
    sources = [words(number, "en") for number in numbers]
    references = [words(number, language) for number in numbers]
    rows: dict[str, list[dict[str, Any]]] = {"right": [], "wrong": []}
    own = log_probs(fitted, list(zip(sources, map(list, found), strict=True)))
    wanted = log_probs(fitted, list(zip(sources, references, strict=True)))
    for number, source, tokens, reference, a, b in zip(numbers, sources, found, references, own, wanted, strict=True):
        rows["right" if list(tokens) == reference else "wrong"].append(
            {
                "number": number,
                "source": " ".join(source),
                "found": " ".join(tokens),
                "log_p": round(a, 3),
                "reference": " ".join(reference),
                "reference_log_p": round(b, 3),
                "reads_as": spelled.get(tuple(tokens)),
            }
        )
    return {
        "wrong": len(rows["wrong"]),
        "wrong_but_a_number": sum(row["reads_as"] is not None for row in rows["wrong"]),
        "wrong_by_search": sum(row["reference_log_p"] > row["log_p"] for row in rows["wrong"]),
        **{f"shown_{kind}": rows[kind][:count] for kind, count in SHOWN.items()},
    }


def run(language: str, encoder: str, seed: int, few: bool = False) -> tuple[dict[str, Any], Fitted, list[list[str]]]:
    """Train one network: its record, the network, and its translations of the held-out numbers."""
    train, held_out = split(SETTINGS["train"])
    known, wanted = pairs(train, language), pairs(held_out, language)
    used = known[: SETTINGS["few"]] if few else known
    curve: list[float] = []
    aside = 0.0

    def look(update: int, fitted: Fitted) -> None:
        nonlocal aside
        entered = time.process_time()
        if update in LOOK_AT and not few:
            part = wanted[:LOOKED]
            curve.append(round(exact_match(greedy(fitted, [source for source, _ in part]), part), 1))
        aside += time.process_time() - entered

    started = time.process_time()
    fitted = fit(used, settings(encoder, seed, few), vocabulary_of=known, look=look)
    seconds = time.process_time() - started - aside
    found = greedy(fitted, [source for source, _ in wanted])
    seen = used[:LOOKED]
    record = {
        "language": language,
        "encoder": encoder,
        "trained_on": len(used),
        "seed": seed,
        "exact": round(exact_match(found, wanted), 2),
        "bleu": round(bleu(found, wanted), 2),
        "train_exact": round(exact_match(greedy(fitted, [source for source, _ in seen]), seen), 2),
        "loss": round(mean(fitted.losses[-20:]), 4),
        "cpu_seconds": round(seconds, 1),
        "by_length": by_source_length(found, wanted),
        "curve": curve,
    }
    return record, fitted, found


def nearest(language: str) -> dict[str, float]:
    """The baseline: each held-out number is translated as the nearest training number, the lower at a tie."""
    train, held_out = split(SETTINGS["train"])
    wanted = pairs(held_out, language)
    known = set(train)
    found = []
    for number in held_out:
        away = next(d for d in range(LARGEST + 1) if number - d in known or number + d in known)
        found.append(words(number - away if number - away in known else number + away, language))
    return {"exact": round(exact_match(found, wanted), 2), "bleu": round(bleu(found, wanted), 2)}


def summary(runs: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """For each group of runs, mean and standard deviation (with N - 1) of what was measured."""
    groups: dict[tuple[str, str, int], list[dict[str, Any]]] = {}
    for one in runs:
        groups.setdefault((one["language"], one["encoder"], one["trained_on"]), []).append(one)
    return [
        {
            "language": language,
            "encoder": encoder,
            "trained_on": trained_on,
            "runs": len(group),
            **{
                key: [round(mean(one[key] for one in group), 2), round(stdev(one[key] for one in group), 2)]
                for key in ("exact", "bleu", "train_exact")
            },
            "lowest": min(one["exact"] for one in group),
            "by_length": {
                length: round(mean(one["by_length"][length][0] for one in group), 2) for length in group[0]["by_length"]
            },
        }
        for (language, encoder, trained_on), group in groups.items()
    ]


def assembled(runs: Sequence[dict[str, Any]], shown: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The record."""
    languages = [language for language in LANGUAGES if language != "en"]
    known = {language: pairs(split(SETTINGS["train"])[0], language) for language in languages}
    return {
        "command": "python -m experiments.ch05.translations --record",
        "settings": {"optimizer": "Adam", **SETTINGS},
        "seeds": list(SEEDS),
        "versions": {name: version(name).partition("+")[0] for name in ("torch", "sacrebleu", "num2words")},
        "parameters": {name: {one: parameters(one, name) for one in ENCODERS} for name in languages},
        "vocabulary": {
            "en": len({word for source, _ in known["fr"] for word in source}),
            **{name: len({word for _, target in known[name] for word in target}) for name in languages},
        },
        "nearest": {name: nearest(name) for name in languages},
        "look_at": list(LOOK_AT),
        "looked": LOOKED,
        "summary": summary(runs),
        "examples": list(shown),
        "runs": list(runs),
    }


def shown_of(runs: Sequence[dict[str, Any]], few: bool) -> dict[str, Any]:
    """Translations of the French forward network with the median exact match, trained again."""
    group = [one for one in runs if (one["language"], one["encoder"]) == ("fr", "forward")]
    group = [one for one in group if (one["trained_on"] == SETTINGS["few"]) == few]
    middle = next(one for one in group if one["exact"] == median(each["exact"] for each in group))
    _, fitted, found = run("fr", "forward", middle["seed"], few)
    shown = examples(fitted, split(SETTINGS["train"])[1], found, "fr")
    return {"trained_on": middle["trained_on"], "seed": middle["seed"], **shown}


def main() -> None:
    runs: list[dict[str, Any]] = []
    groups = [(language, encoder, False) for language in ("fr", "de") for encoder in ENCODERS]
    for language, encoder, few in [*groups, ("fr", "forward", True)]:
        for seed in SEEDS:
            runs.append(run(language, encoder, seed, few)[0])
            print({key: runs[-1][key] for key in list(runs[-1])[:9]}, flush=True)
    record = assembled(runs, [shown_of(runs, few) for few in (False, True)])
    print(record["nearest"], *record["summary"], sep="\n")
    if "--record" in sys.argv[1:]:
        RESULTS_FILE.write_text(to_json(record), "utf-8")


if __name__ == "__main__":
    main()
