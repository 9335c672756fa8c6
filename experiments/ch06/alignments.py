"""Does attention find the alignment, and is the word with the largest weight the one that the output depends on?

    python -m experiments.ch06.alignments [--record] [--resume]

Networks with attention translate the phrases of chapter 05's grammar, whose alignment is known: three score functions
with the query s_{t−1}, the additive score with s_t, and with an encoder that reads forward only; five seeds each, 500
updates. The decoder reads the reference. What is measured on held-out sentences of 3 to 15 words:

- the share of French words whose largest weight lies on the English word that they translate, and what kind of words
  the others are. The baseline aligns word t with word t;
- exact match of greedy decoding, and the share of words predicted by the same network with uniform weights;
- what erasing one English word does to the log-probability of every French word. The word's embedding is replaced by
  that of ⟨pad⟩, which is zero, so that the sentence keeps its length. No sentence for training has such a gap;
- in such sentences, two controls for nouns with a small weight that change their determiner or adjective when erased:
  words of other groups, and the other adjectives of the same noun, with as little weight;
- what erasing one *state* of the encoder does: its weight becomes zero at this step alone, the others still sum to 1;
- in the first group, how a noun with a small weight decides its determiner or adjective: whether the prediction also
  changes if the noun is erased for one state of the encoder alone, the one with the largest weight, or for s_0 alone.

Takes about twelve minutes of one core; an interrupted recording goes on with `--record --resume`.
"""

from __future__ import annotations

import json
import sys
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from importlib.metadata import version
from pathlib import Path
from statistics import mean
from typing import Any, NamedTuple

import torch
from torch import Tensor

from experiments.ch03.record import mean_and_sd, to_json
from experiments.ch05.grammar import ADJECTIVES, DETERMINERS, NOUNS, PREPOSITIONS, VERBS, Phrase
from experiments.ch05.model import PAD, Fitted, batch_of, exact_match, fit, greedy
from experiments.ch05.phrases import BUCKETS, as_pairs, data, in_buckets
from experiments.ch06.model import Attending, AttentionSettings

RESULTS_FILE = Path(__file__).with_name("alignments.json")
BASE = AttentionSettings(embed_size=64, hidden_size=128, attention_size=128, batch=64, lr=2e-3, clip=1.0, updates=500)
KEYS = ("embed_size", "hidden_size", "attention_size", "batch", "lr", "clip", "updates")
SETTINGS: dict[str, Any] = {
    **{key: vars(BASE)[key] for key in KEYS},
    "shortest": 3,
    "longest": 15,
    "train_each": 1500,
    "held_out_each": 100,
    "erased_each": 20,  # sentences of each length in which words are erased
    "small_weight": 0.05,
}
SEEDS = tuple(range(5))
GROUPS: dict[str, AttentionSettings] = {
    "additive": BASE,
    "dot": replace(BASE, score="dot"),
    "bilinear": replace(BASE, score="bilinear"),
    "additive, current": replace(BASE, query="current"),
    "additive, forward": replace(BASE, bidirectional=False),
}
# Sentences whose weights are recorded. None is among the sentences for training.
SHOWN = (
    Phrase(
        ["the", "heavy", "white", "boats", "leave", "my", "pretty", "green", "garden"],
        ["les", "bateaux", "blancs", "lourds", "quittent", "mon", "joli", "jardin", "vert"],
        [0, 3, 2, 1, 4, 5, 6, 8, 7],
    ),
    Phrase(
        ["every", "small", "round", "table", "and", "a", "happy", "queen"],
        ["chaque", "petite", "table", "ronde", "et", "une", "reine", "contente"],
        [0, 1, 3, 2, 4, 5, 7, 6],
    ),
)

KIND = {
    **{row[0]: "determiner" for row in DETERMINERS},
    **{row[0]: "adjective" for row in ADJECTIVES},
    **{form: "noun" for row in NOUNS for form in row[:2]},
    **{form: "verb" for row in VERBS for form in row[:2]},
    **{row[0]: "preposition" for row in PREPOSITIONS},
    **dict.fromkeys(("and", "that"), "conjunction"),
}
KINDS = ("determiner", "adjective", "noun", "verb", "preposition", "conjunction")


class Erased(NamedTuple):
    """What erasing source word or state j does to target word t. All are (B, T, S)."""

    loss: Tensor  # of log-probability of the reference's word, in nats
    changed: Tensor  # whether another word is now the most probable


def group_of(english: Sequence[str]) -> list[int]:
    """For each word the position of the noun whose group it is in, or −1 for verbs, prepositions and conjunctions."""
    found, noun = [], -1
    for at in range(len(english) - 1, -1, -1):
        kind = KIND[english[at]]
        if kind == "noun":
            noun = at
        elif kind not in ("determiner", "adjective"):
            noun = -1
        found.append(noun)
    return found[::-1]


def error_of(english: Sequence[str], right: int, found: int) -> str:
    """The kind of an error: the weight lies on `found`, not on `right`."""
    kind = KIND[english[right]]
    if found == len(english):
        return f"{kind}: ⟨eos⟩"
    groups = group_of(english)
    if groups[right] >= 0 and groups[right] == groups[found]:
        return f"{kind}: its own {KIND[english[found]]}"
    return f"{kind}: {'the next word' if found == right + 1 else 'elsewhere'}"


@torch.no_grad()
def weights_of(fitted: Fitted, phrases: Sequence[Phrase]) -> Tensor:
    """The weights (B, T, S) of sentences of one length. ⟨eos⟩ is the last token of the source and of the target."""
    model, ids, lengths, read, _ = tensors(fitted, phrases)
    source = model.encode(ids, lengths)
    return model.decode_attending(read, model.start(source), source)[2]


def tensors(fitted: Fitted, phrases: Sequence[Phrase]) -> tuple[Attending, Tensor, Tensor, Tensor, Tensor]:
    """The model, source ids (B, S), lengths, the decoder's inputs and targets (B, T)."""
    if not isinstance(fitted.model, Attending) or len({len(phrase.english) for phrase in phrases}) != 1:
        raise ValueError("This needs a model with attention and sentences of one length.")
    ids, lengths, read, wanted = batch_of([(p.english, p.french) for p in phrases], fitted.source, fitted.target, False)
    return fitted.model, ids, lengths, read, wanted


def compared(logits: Tensor, plain: Tensor, wanted: Tensor) -> tuple[Tensor, Tensor]:
    """Logits with and without erasing (…, V) -> loss of log-probability of `wanted`, and which predictions differ."""
    lost = torch.log_softmax(plain, -1) - torch.log_softmax(logits, -1)
    return lost.gather(-1, wanted[..., None])[..., 0], logits.argmax(-1) != plain.argmax(-1)


@torch.no_grad()
def erase_words(fitted: Fitted, phrases: Sequence[Phrase]) -> Erased:
    """Erase each English word: (B, T, S), without ⟨eos⟩ on either side."""
    model, ids, lengths, read, wanted = tensors(fitted, phrases)
    S = ids.shape[1] - 1
    plain = model(ids, lengths, read)
    losses, changes = [], []
    for j in range(S):
        without = ids.clone()
        without[:, j] = PAD
        lost, changed = compared(model(without, lengths, read), plain, wanted)
        losses.append(lost[:, :-1])
        changes.append(changed[:, :-1])
    return Erased(torch.stack(losses, dim=-1), torch.stack(changes, dim=-1))


@torch.no_grad()
def erase_states(fitted: Fitted, phrases: Sequence[Phrase]) -> Erased:
    """Give each state of the encoder the weight zero at one step: (B, T, S), ⟨eos⟩ only in the source."""
    model, ids, lengths, read, wanted = tensors(fitted, phrases)
    source = model.encode(ids, lengths)
    state = model.start(source)
    losses, changes = [], []
    for t in range(read.shape[1] - 1):
        before = state
        plain, state, _ = model.decode_attending(read[:, t : t + 1], before, source)
        lost, changed = [], []
        for j in range(ids.shape[1]):
            mask = source.mask.clone()
            mask[:, j] = False
            logits, _, _ = model.decode_attending(read[:, t : t + 1], before, source._replace(mask=mask))
            one = compared(logits[:, 0], plain[:, 0], wanted[:, t])
            lost.append(one[0])
            changed.append(one[1])
        losses.append(torch.stack(lost, dim=-1))
        changes.append(torch.stack(changed, dim=-1))
    return Erased(torch.stack(losses, dim=1), torch.stack(changes, dim=1))


@torch.no_grad()
def predicted(fitted: Fitted, phrases: Sequence[Phrase], uniform: bool) -> tuple[int, int]:
    """How many French words are predicted from the reference's words, and of how many; perhaps with uniform weights."""
    model, ids, lengths, read, wanted = tensors(fitted, phrases)
    source = model.encode(ids, lengths)
    if uniform:  # equal keys have equal scores, whatever the query
        source = source._replace(projected=torch.zeros_like(source.projected))
    logits, _ = model.decode(read, model.start(source), source)
    right = (logits.argmax(-1) == wanted)[:, :-1]
    return int(right.sum()), right.numel()


def share(part: float, whole: float) -> float:
    """In percent."""
    return round(100 * part / whole, 2)


def aligned(fitted: Fitted, held_out: Mapping[int, Sequence[Phrase]]) -> dict[str, Any]:
    """How often the largest weight lies on the aligned word, the weight on it, and the errors by their kinds."""
    right, words, weight = Counter[str](), Counter[str](), 0.0
    errors, kinds = Counter[str](), Counter[str]()
    for length, phrases in held_out.items():
        (bucket,) = [name for name, (low, high) in BUCKETS.items() if low <= length <= high]
        weights = weights_of(fitted, phrases)[:, :-1]
        for phrase, rows in zip(phrases, weights, strict=True):
            for gold, row in zip(phrase.alignment, rows, strict=True):
                found = int(row.argmax())
                right[bucket] += found == gold
                words[bucket] += 1
                weight += float(row[gold])
                kinds[KIND[phrase.english[gold]]] += 1
                if found != gold:
                    errors[error_of(phrase.english, gold, found)] += 1
    total = words.total()
    return {
        "alignment": share(right.total(), total),
        "alignment_by_length": {name: share(right[name], words[name]) for name in BUCKETS if words[name]},
        "weight_on_aligned": share(weight, total),
        "words": total,
        "words_by_kind": {kind: kinds[kind] for kind in KINDS},
        "errors": dict(sorted(errors.items(), key=lambda one: (-one[1], one[0]))),
    }


def erased(fitted: Fitted, held_out: Mapping[int, Sequence[Phrase]]) -> dict[str, Any]:
    """Erase words and states of some held-out sentences of every length, and compare the effects with the weights."""
    counted, of_kind = Counter[str](), {kind: Counter[str]() for kind in KINDS}
    for phrases in held_out.values():
        some = phrases[: SETTINGS["erased_each"]]
        weights = weights_of(fitted, some)[:, :-1]
        words, states = erase_words(fitted, some), erase_states(fitted, some)
        for b, phrase in enumerate(some):
            groups = group_of(phrase.english)
            for t, gold in enumerate(phrase.alignment):
                heaviest, needed = int(weights[b, t].argmax()), int(words.loss[b, t].argmax())
                noun = groups[gold]
                light = weights[b, t, :-1] < SETTINGS["small_weight"]
                facts = {
                    "words": True,
                    "weight is aligned": heaviest == gold,
                    "needed is aligned": needed == gold,
                    "weight is needed": heaviest == needed,
                    "state is heaviest": int(states.loss[b, t].argmax()) == heaviest,
                    "heaviest state changes output": bool(states.changed[b, t, heaviest]),
                    "aligned word changes output": bool(words.changed[b, t, gold]),
                    "light word changes output": bool((words.changed[b, t] & light).any()),
                }
                if noun not in (gold, -1) and light[noun]:  # of a determiner or an adjective
                    facts["light nouns"] = True
                    facts["light noun changes output"] = bool(words.changed[b, t, noun])
                own = torch.tensor([group == noun or at == gold for at, group in enumerate(groups)])
                beside = torch.tensor(  # for determiners and adjectives of a noun: its other adjectives
                    [
                        noun not in (gold, -1) and groups[at] == noun and at != gold and KIND[word] == "adjective"
                        for at, word in enumerate(phrase.english)
                    ]
                )
                tried = {}
                for control, which in (("others", ~own), ("adjectives beside", beside)):  # with as little weight
                    tried[f"light {control}"] = int((which & light).sum())
                    tried[f"light {control} that change output"] = int((words.changed[b, t] & which & light).sum())
                if heaviest != gold:
                    facts["misaligned"] = True
                    facts["misaligned, heaviest is needed"] = needed == heaviest
                    facts["misaligned, needed is aligned"] = needed == gold
                for counter in (counted, of_kind[KIND[phrase.english[gold]]]):
                    counter.update({name: int(holds) for name, holds in facts.items()} | tried)
    return {
        "counts": dict(sorted(counted.items())),
        "by_kind": {kind: dict(sorted(found.items())) for kind, found in of_kind.items()},
    }


@torch.no_grad()
def routes(fitted: Fitted, held_out: Mapping[int, Sequence[Phrase]]) -> dict[str, int]:
    """On which way a noun with a small weight reaches its determiner or adjective.

    Counted are those whose prediction changes when the noun is erased. Of them, also those whose prediction changes
    when only the state of the encoder with the largest weight, or only the initial state of the decoder, is that of the
    sentence without the noun.
    """
    found = Counter[str]()
    for phrases in held_out.values():
        for phrase in phrases[: SETTINGS["erased_each"]]:
            model, ids, lengths, read, _ = tensors(fitted, [phrase])
            source = model.encode(ids, lengths)
            plain, _, weights = model.decode_attending(read, model.start(source), source)
            groups = group_of(phrase.english)
            for t, gold in enumerate(phrase.alignment):
                noun, heaviest = groups[gold], int(weights[0, t].argmax())
                if noun in (gold, -1) or weights[0, t, noun] >= SETTINGS["small_weight"]:
                    continue
                erased_ids = ids.clone()
                erased_ids[0, noun] = PAD
                without = model.encode(erased_ids, lengths)
                keys, projected = source.keys.clone(), source.projected.clone()
                keys[:, heaviest], projected[:, heaviest] = without.keys[:, heaviest], without.projected[:, heaviest]
                ways = {
                    "decided": (model.start(without), without),
                    "heaviest state": (model.start(source), source._replace(keys=keys, projected=projected)),
                    "initial state": (model.start(without), source),
                }
                before = plain[0, t].argmax()
                changed = {
                    name: bool(model.decode_attending(read, *way)[0][0, t].argmax() != before)
                    for name, way in ways.items()
                }
                if changed["decided"]:
                    found.update(name for name, differs in changed.items() if differs)
    return {name: found[name] for name in ("decided", "heaviest state", "initial state")}


def shown(fitted: Fitted, phrase: Phrase) -> dict[str, Any]:
    """The weights of a sentence, and what erasing its words does, rounded."""

    def rounded(rows: Tensor) -> list[list[float]]:
        return [[round(value, 3) + 0.0 for value in row] for row in rows.tolist()]

    words = erase_words(fitted, [phrase])
    return {
        "english": phrase.english,
        "french": phrase.french,
        "alignment": phrase.alignment,
        "found": greedy(fitted, [phrase.english])[0],
        "weights": rounded(weights_of(fitted, [phrase])[0]),
        "lost": rounded(words.loss[0]),
        "changed": [[int(value) for value in row] for row in words.changed[0].tolist()],
    }


@cache
def sentences() -> tuple[dict[int, list[Phrase]], dict[int, list[Phrase]]]:
    """The sentences for training and the held-out ones, without those of `SHOWN`."""
    train, held_out = data()
    texts = {" ".join(phrase.english) for phrase in SHOWN}
    if any(" ".join(phrase.english) in texts for group in train.values() for phrase in group):
        raise ValueError("A sentence of SHOWN is among the sentences for training. Choose another one.")
    return train, held_out


def run(how: AttentionSettings, each: int = 10**6) -> dict[str, Any]:
    """Train one network and measure it on (at most `each` of) the held-out sentences of every length."""
    train, all_held_out = sentences()
    held_out = {length: phrases[:each] for length, phrases in all_held_out.items()}
    started = time.process_time()
    fitted = fit(as_pairs(train), how, build=Attending)
    seconds = time.process_time() - started
    exact = {}
    for length, phrases in held_out.items():
        wanted = as_pairs({length: phrases})
        exact[str(length)] = round(exact_match(greedy(fitted, [source for source, _ in wanted]), wanted), 2)
    attending, uniform = (
        [sum(column) for column in zip(*(predicted(fitted, p, flat) for p in held_out.values()), strict=True)]
        for flat in (False, True)
    )
    return {
        "seed": how.seed,
        "parameters": sum(weights.numel() for weights in fitted.model.parameters()),
        "loss": round(mean(fitted.losses[-50:]), 4),
        "train_seconds": round(seconds, 1),
        "exact": in_buckets(exact),
        "exact_all": round(mean(exact.values()), 2),
        "predicted": share(*attending),
        "predicted_uniform": share(*uniform),
        **aligned(fitted, held_out),
        "erased": erased(fitted, held_out),
        **({"routes": routes(fitted, held_out)} if how == replace(BASE, seed=how.seed) else {}),
        "shown": [shown(fitted, phrase) for phrase in SHOWN] if how.seed == SEEDS[0] else [],
        "seconds": round(time.process_time() - started, 1),
    }


def identity(held_out: Mapping[int, Sequence[Phrase]]) -> float:
    """The share of French words that translate the English word in the same place, in percent."""
    same = [at == t for phrases in held_out.values() for phrase in phrases for t, at in enumerate(phrase.alignment)]
    return share(sum(same), len(same))


def summary(runs: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """For each group of runs: means and standard deviations (with N − 1; 0 for one run), and sums of the counts."""

    found: dict[str, Any] = {}
    for name in GROUPS:
        group = [one for one in runs if one["group"] == name]
        if not group:
            continue
        errors = sum((Counter(one["errors"]) for one in group), Counter[str]())
        counts = sum((Counter(one["erased"]["counts"]) for one in group), Counter[str]())
        found[name] = {
            "runs": len(group),
            "parameters": group[0]["parameters"],
            "alignment": mean_and_sd([one["alignment"] for one in group], 2),
            "lowest": min(one["alignment"] for one in group),
            "alignment_by_length": {
                b: mean_and_sd([one["alignment_by_length"][b] for one in group], 2) for b in BUCKETS
            },
            **{
                key: mean_and_sd([one[key] for one in group], 2)
                for key in ("weight_on_aligned", "exact_all", "predicted", "predicted_uniform")
            },
            "exact": {bucket: mean_and_sd([one["exact"][bucket] for one in group], 2) for bucket in BUCKETS},
            "errors": dict(errors.most_common()),
            "erased": dict(sorted(counts.items())),
            "erased_by_kind": {
                kind: dict(
                    sorted(sum((Counter(one["erased"]["by_kind"][kind]) for one in group), Counter[str]()).items())
                )
                for kind in KINDS
            },
        }
    return found


def assembled(runs: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The record."""
    return {
        "command": "python -m experiments.ch06.alignments --record",
        "settings": {"optimizer": "Adam", "cell": "GRU", **SETTINGS},
        "seeds": list(SEEDS),
        "versions": {"torch": version("torch").partition("+")[0]},
        "identity": identity(sentences()[1]),
        "summary": summary(runs),
        "runs": list(runs),
    }


def in_order(runs: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The runs, group by group."""
    groups = list(GROUPS)
    return sorted(runs, key=lambda one: (groups.index(one["group"]), one["seed"]))


def main() -> None:
    runs: list[dict[str, Any]] = []
    if "--resume" in sys.argv[1:]:
        runs = json.loads(RESULTS_FILE.read_text("utf-8"))["runs"]
    done = {(one["group"], one["seed"]) for one in runs}
    for seed in SEEDS:
        for name in GROUPS:
            if (name, seed) in done:
                continue
            runs.append({"group": name, **run(replace(GROUPS[name], seed=seed))})
            keys = ("seed", "loss", "seconds", "exact", "alignment", "predicted_uniform")
            print(name, {key: runs[-1][key] for key in keys}, runs[-1]["erased"]["counts"], flush=True)
            if "--record" in sys.argv[1:]:  # after every run, so that an interrupted recording keeps its runs
                RESULTS_FILE.write_text(to_json(assembled(in_order(runs))), "utf-8")


if __name__ == "__main__":
    main()
