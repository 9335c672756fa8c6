"""Train an encoder–decoder on sentence pairs of your own, and let it translate.

    python -m experiments.translate --pairs FILE             train, about a minute on an idle core
    python -m experiments.translate --pairs FILE --resume    continue after an interruption
    python -m experiments.translate --checkpoint CHECKPOINT  translate what you type, until Ctrl-D
    python -m experiments.translate --checkpoint CHECKPOINT --sentence "…"

The file has one pair a line: source, tab, target. `experiments.pairs` says how it is read, split into tokens, and
divided into pairs to train on and held-out ones. The model is the encoder–decoder of chapter 5, GRUs without
attention. Adam's learning rate falls linearly to 0, and gradients are clipped to a norm of 1.

Each side has a vocabulary of the most frequent words of the training pairs; every other word is read as ⟨unk⟩. To learn
what to do with an unknown word, the encoder reads each word that occurs once in training as ⟨unk⟩ half of the time.
A target ⟨unk⟩ is learned only if --words leaves target words out. In a translation it is never right: references keep
their words, whether they are known or not, in exact match and in BLEU. Only the held-out loss counts ⟨unk⟩ as a word.

A source may have several targets. A translation matches if it equals one of them, token by token, and BLEU
(sacrebleu, no smoothing, these tokens) compares with all of them. The baseline answers with the target of the training
source that shares most words.

A checkpoint contains all that the next update depends on. A run that is killed and resumed therefore ends with the same
weights, bit for bit, as an undisturbed one on the same machine.
"""

from __future__ import annotations

import math
import random
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import torch
import typer
from sacrebleu import corpus_bleu
from torch.nn.functional import cross_entropy

from experiments import command as common
from experiments.ch05 import model as ch05
from experiments.ch05.model import EOS, PAD, SOS, Fitted, Translator, Vocabulary, batch_of, source_ids
from experiments.command import CheckpointError, err, out, refuse, stop
from experiments.pairs import Pair, Pairs, from_file, join, report, tokens
from experiments.text import TextError

FORMAT = "unrolled translate 1"
UNKNOWN, UNK = "⟨unk⟩", len(ch05.SPECIAL)
LOOKED_AT = 200  # held-out pairs that are translated during training; at the end, it is all of them
SHOWN = 2  # held-out translations at the end, and so many that do not match


@dataclass(frozen=True)
class Settings:
    """All that decides the result, apart from the pairs. The names are those of the command's options."""

    embed_size: int = 64
    hidden_size: int = 128
    layers: int = 1
    bidirectional: bool = True
    reverse: bool = False
    words: int = 5000
    max_length: int = 40
    batch: int = 64
    lr: float = 3e-3
    clip: float = 1.0
    updates: int = 1500
    every: int = 100
    seed: int = 0
    threads: int = 1


# The model and its training -------------------------------------------------------------------------------------------


class Words(Vocabulary):
    """A vocabulary that reads every other word as ⟨unk⟩."""

    def __init__(self, words: Iterable[str]) -> None:
        super().__init__([])
        self.tokens += [UNKNOWN, *words]
        self.id = {token: index for index, token in enumerate(self.tokens)}

    @classmethod
    def of(cls, sentences: Iterable[Sequence[str]], most: int) -> Words:
        """The most frequent words, in alphabetical order."""
        counts = Counter(word for sentence in sentences for word in sentence)
        return cls(sorted(sorted(counts, key=lambda word: (-counts[word], word))[:most]))

    @property
    def words(self) -> list[str]:
        return self.tokens[UNK + 1 :]

    def encode(self, sentence: Sequence[str]) -> list[int]:
        """The ids of the words and of ⟨eos⟩."""
        return [*(self.id.get(word, UNK) for word in sentence), EOS]

    def unknown(self, sentence: Iterable[str]) -> list[str]:
        return [word for word in sentence if word not in self.id]


def translator(settings: Settings, source: Words, target: Words) -> Translator:
    names = ("embed_size", "hidden_size", "layers", "bidirectional", "reverse")
    return Translator(len(source), len(target), ch05.Settings(**{name: getattr(settings, name) for name in names}))


class Training:
    """A model in training on pairs. `update` counts the updates done, and `curve` has a row every so many of them:
    updates, training loss since the previous row, held-out loss, both in nats per token, and exact match in percent.
    """

    def __init__(self, settings: Settings, pairs: Sequence[Pair], source: Words, target: Words) -> None:
        self.settings, self.pairs, self.source, self.target = settings, pairs, source, target
        self.batch = min(settings.batch, len(pairs))
        counts = Counter(word for words, _ in pairs for word in words)
        self.once = torch.tensor([counts[word] == 1 for word in source.tokens])  # (V,)
        torch.manual_seed(settings.seed)
        self.model = translator(settings, source, target).train()
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=settings.lr)
        self.update = 0
        self.curve: list[list[float]] = []
        self._order: tuple[int, list[int]] = (-1, [])

    def chosen(self, update: int) -> list[Pair]:
        """The pairs of an update. Each pass over the pairs has an order of its own, which follows from the seed."""
        found = []
        for position in range(update * self.batch, (update + 1) * self.batch):
            epoch, index = divmod(position, len(self.pairs))
            if self._order[0] != epoch:
                order = list(range(len(self.pairs)))
                random.Random(f"{self.settings.seed} {epoch}").shuffle(order)
                self._order = epoch, order
            found.append(self.pairs[self._order[1][index]])
        return found

    def step(self) -> float:
        """One update on the next batch: its loss in nats per token, before the update."""
        ids, lengths, read, wanted = batch_of(self.chosen(self.update), self.source, self.target, self.settings.reverse)
        ids = ids.masked_fill(self.once[ids] & (torch.rand(ids.shape) < 0.5), UNK)
        loss = cross_entropy(self.model(ids, lengths, read).flatten(0, 1), wanted.flatten(), ignore_index=PAD)
        self.optimizer.param_groups[0]["lr"] = self.settings.lr * (1 - self.update / self.settings.updates)
        self.optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), self.settings.clip)
        self.optimizer.step()
        self.update += 1
        return loss.item()

    def run(self, held_out: Sequence[Pair], look: Callable[[Training], None], tick: Callable[[], None]) -> None:
        """Train to the end. `look` is called after each new row of the curve, `tick` after each update."""
        losses: list[float] = []
        while self.update < self.settings.updates:
            losses.append(self.step())
            tick()
            if self.update % self.settings.every == 0 or self.update == self.settings.updates:
                row = math.fsum(losses) / len(losses), self.loss(held_out), self.exact_match(held_out)
                self.curve.append([self.update, *row])
                losses.clear()
                look(self)

    @torch.no_grad()
    def loss(self, pairs: Sequence[Pair]) -> float:
        """Cross-entropy in nats per target token, under teacher forcing."""
        ids, lengths, read, wanted = batch_of(pairs, self.source, self.target, self.settings.reverse)
        logits = self.model(ids, lengths, read).flatten(0, 1)
        return float(cross_entropy(logits, wanted.flatten(), ignore_index=PAD))

    def exact_match(self, pairs: Sequence[Pair]) -> float:
        return ch05.exact_match(self.greedy([source for source, _ in pairs]), pairs)

    def greedy(self, sources: Sequence[Sequence[str]]) -> list[list[str]]:
        """Translate each source with the most probable token at every step."""
        fitted = Fitted(self.model, self.source, self.target, [])
        return ch05.greedy(fitted, sources, self.settings.max_length + 1, 100)  # one more, for ⟨eos⟩

    def snapshot(self) -> dict[str, Any]:
        """All that the next update depends on: tensors, numbers, strings, and lists and dicts of them."""
        return {
            "update": self.update,
            "curve": self.curve,
            "model": self.model.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "random": torch.get_rng_state(),
        }

    def restore(self, snapshot: dict[str, Any]) -> None:
        self.update, self.curve = snapshot["update"], snapshot["curve"]
        self.model.load_state_dict(snapshot["model"])
        self.optimizer.load_state_dict(snapshot["optimizer"])
        torch.set_rng_state(snapshot["random"])


@torch.no_grad()
def beam_search(
    model: Translator, source: Sequence[int], width: int, max_length: int, length_penalty: float = 1.0
) -> list[tuple[list[int], float]]:
    """Hypotheses for one source as the encoder reads it, the best score first: their ids, with ⟨eos⟩ if they end, and
    their scores, log-probability / length ** length_penalty. Beams are pruned by the sum of log-probabilities.
    """
    context = model.encode(torch.tensor([source]), torch.tensor([len(source)]))  # (L, 1, H)
    state, beams, totals = context, [[SOS]], context.new_zeros(1)
    for _ in range(max_length):
        logits, state = model.decode(torch.tensor([[ids[-1]] for ids in beams]), state, context[:, [0] * len(beams)])
        candidates = totals[:, None] + logits[:, 0].log_softmax(-1)  # (K, V)
        ended = torch.tensor([ids[-1] == EOS for ids in beams])
        candidates[ended] = -math.inf
        candidates[ended, EOS] = totals[ended]  # a finished beam stays as it is
        flat = candidates.flatten()
        best = flat.sort(descending=True, stable=True).indices[:width]
        best = best[flat[best] > -math.inf]
        parents, last = (best // candidates.shape[1]).tolist(), (best % candidates.shape[1]).tolist()
        beams = [
            beams[k] if beams[k][-1] == EOS else [*beams[k], token] for k, token in zip(parents, last, strict=True)
        ]
        totals, state = flat[best], state[:, parents]
        if all(ids[-1] == EOS for ids in beams):
            break
    scored = [
        (ids[1:], total / (len(ids) - 1) ** length_penalty) for ids, total in zip(beams, totals.tolist(), strict=True)
    ]
    return sorted(scored, key=lambda hypothesis: -hypothesis[1])


# Measuring ------------------------------------------------------------------------------------------------------------


def scores(found: Sequence[Sequence[str]], references: Sequence[Sequence[Sequence[str]]]) -> tuple[float, float]:
    """Exact match and BLEU, both in percent, where each translation has one or more references."""
    matches = sum(list(f) in [list(r) for r in several] for f, several in zip(found, references, strict=True))
    most = max(map(len, references))
    columns = [[" ".join(several[k]) if k < len(several) else None for several in references] for k in range(most)]
    bleu = corpus_bleu([" ".join(f) for f in found], columns, smooth_method="none", tokenize="none", force=True)
    return 100 * matches / len(found), bleu.score


def nearest(sources: Sequence[Sequence[str]], pairs: Sequence[Pair]) -> list[list[str]]:
    """For each source the target of the training source that shares most words with it (Dice), the first of these."""
    sizes = np.array([len(set(source)) for source, _ in pairs], dtype=float)
    postings: dict[str, list[int]] = {}
    for index, (source, _) in enumerate(pairs):
        for word in sorted(set(source)):
            postings.setdefault(word, []).append(index)
    indices = {word: np.array(where) for word, where in postings.items()}
    found = []
    for source in sources:
        words = set(source)
        shared = np.zeros(len(pairs))
        for word in words & indices.keys():
            shared[indices[word]] += 1
        found.append(pairs[int(np.argmax(shared / (sizes + len(words))))][1])
    return found


# Checkpoints ----------------------------------------------------------------------------------------------------------


def save(path: Path, training: Training, pairs: Pairs) -> None:
    """Write a checkpoint. If this is interrupted, the previous one remains. Raises CheckpointError."""
    content = {
        "pairs": {"source": pairs.source, "sha256": pairs.sha256},
        "source": training.source.words,
        "target": training.target.words,
        "spacing": pairs.spacing,
        **training.snapshot(),
    }
    common.save(path, FORMAT, training.settings, content)


def load(path: Path) -> dict[str, Any]:
    """Read a checkpoint. Code that a file may contain is not run. Raises CheckpointError."""
    return common.load(path, FORMAT, "--pairs")


# The command ----------------------------------------------------------------------------------------------------------

app = typer.Typer(add_completion=False, rich_markup_mode=None)
_setting = partial(common.setting, Settings)
TRAINING = (
    "resume", "overwrite", "embed_size", "hidden_size", "layers", "bidirectional", "reverse", "words", "max_length",
    "batch", "lr", "clip", "updates", "every", "seed", "threads",
)  # fmt: skip
TRANSLATING = ("sentence", "beam", "length_penalty", "show")


@app.command()
def command(
    context: typer.Context,
    pairs: Annotated[
        Path | None, typer.Option(help="Train on this file (UTF-8; in each line a source, a tab, and a target).")
    ] = None,
    checkpoint: Annotated[
        Path | None,
        typer.Option(
            help="Alone: translate with this model. With --pairs: the file that keeps the model. Default: the name of "
            "the pairs, with the ending .pt."
        ),
    ] = None,
    sentence: Annotated[
        str | None, typer.Option(help="With --checkpoint alone: translate this sentence instead of asking for some.")
    ] = None,
    beam: Annotated[
        int, typer.Option(help="With --checkpoint alone: beam width; 1 is greedy decoding.", min=1, max=1000)
    ] = 4,
    length_penalty: Annotated[
        float,
        typer.Option(help="With --checkpoint alone: score = log-probability / length to this power.", min=0, max=10),
    ] = 1.0,
    show: Annotated[
        int, typer.Option(help="With --checkpoint alone: show this many hypotheses with their scores.", min=1)
    ] = 1,
    resume: Annotated[bool, typer.Option("--resume", help="With --pairs: continue from the last checkpoint.")] = False,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="With --pairs: start again and replace the checkpoint.")
    ] = False,
    embed_size: Annotated[int | None, _setting("embed_size", "Size of the embedding of a word.", 1)] = None,
    hidden_size: Annotated[int | None, _setting("hidden_size", "Units in each layer.", 1)] = None,
    layers: Annotated[int | None, _setting("layers", "Layers of encoder and decoder.", 1)] = None,
    bidirectional: Annotated[
        bool | None, _setting("bidirectional", "Let half of the encoder's units read backward.")
    ] = None,
    reverse: Annotated[bool | None, _setting("reverse", "Read the source from its last word to its first.")] = None,
    words: Annotated[int | None, _setting("words", "Most frequent words kept on each side.", 1)] = None,
    max_length: Annotated[int | None, _setting("max_length", "Skip pairs with more tokens on a side.", 1)] = None,
    batch: Annotated[int | None, _setting("batch", "Batch size: pairs in an update.", 1)] = None,
    lr: Annotated[float | None, _setting("lr", "Initial learning rate of Adam; falls to 0.", 1e-9, 10)] = None,
    clip: Annotated[float | None, _setting("clip", "Scale gradients of a larger norm down to it.", 1e-9)] = None,
    updates: Annotated[int | None, _setting("updates", "Number of updates in all.", 1)] = None,
    every: Annotated[int | None, _setting("every", "Validate and save every so many updates.", 1)] = None,
    seed: Annotated[int | None, _setting("seed", "Random seed.", 0, 2**32 - 1)] = None,
    threads: Annotated[int | None, _setting("threads", "CPU threads; more help only if cores are idle.", 1)] = None,
) -> None:
    """Train a translator on sentence pairs (--pairs), or let a trained one translate (--checkpoint alone).

    A tenth of the pairs is held out for validation, none of them with a source that is trained on. To continue an
    interrupted run, repeat its --pairs with --resume.

    The exit status is 2 if the pairs, the checkpoint or an option cannot be used, 1 if training diverged, and 130 after
    Ctrl-C.
    """
    settings = {
        "embed_size": embed_size, "hidden_size": hidden_size, "layers": layers, "bidirectional": bidirectional,
        "reverse": reverse, "words": words, "max_length": max_length, "batch": batch, "lr": lr, "clip": clip,
        "updates": updates, "every": every, "seed": seed, "threads": threads,
    }  # fmt: skip
    given = {name: value for name, value in settings.items() if value is not None}
    common.write_any_character()
    try:
        if pairs is not None:
            refuse(context, TRANSLATING, "--checkpoint alone", "--pairs")
            _train(pairs, checkpoint or pairs.with_suffix(".pt"), given, resume=resume, overwrite=overwrite)
        elif checkpoint is not None:
            refuse(context, TRAINING, "--pairs", "--checkpoint alone")
            if show > beam:
                stop(f"A beam of {beam} has no {show} hypotheses to show. Give --beam {show} as well, or show fewer.")
            _translate(checkpoint, sentence, beam, length_penalty, show)
        else:
            stop("Give --pairs FILE to train, or --checkpoint CHECKPOINT to translate.")
    except (TextError, CheckpointError) as error:
        stop(str(error))
    except KeyboardInterrupt:
        err.print("Stopped.")
        raise typer.Exit(130) from None


def _train(path: Path, checkpoint: Path, given: dict[str, Any], *, resume: bool, overwrite: bool) -> None:
    saved = common.opened(checkpoint, FORMAT, "--pairs", path, given, resume=resume, overwrite=overwrite)
    settings = Settings(**(saved["settings"] if saved else given))
    if settings.bidirectional and settings.hidden_size % 2:
        stop(
            f"--hidden-size {settings.hidden_size} cannot be halved for the two directions of the encoder. "
            "Give an even number, or --no-bidirectional as well."
        )
    pairs = from_file(path, settings.max_length)
    if saved is not None:
        common.same_data(checkpoint, saved["pairs"], pairs.sha256, pairs.label, "the pairs")
    torch.set_num_threads(settings.threads)
    source = Words.of((words for words, _ in pairs.train), settings.words)
    target = Words.of((words for _, words in pairs.train), settings.words)
    training = Training(settings, pairs.train, source, target)
    for line in report(pairs):
        out.print(line, soft_wrap=True)
    for name, side, vocabulary in (("source", 0, source), ("target", 1, target)):
        out.print(_vocabulary(name, vocabulary, [p[side] for p in pairs.train], [p[side] for p in pairs.held_out]))
    out.print(f"{sum(weight.numel() for weight in training.model.parameters()):,} parameters")
    if saved is not None:
        training.restore(saved)
        out.print(f"continuing after {training.update:,} of {settings.updates:,} updates")
    else:
        save(checkpoint, training, pairs)

    def look(training: Training) -> None:
        update, trained, held_out, match = training.curve[-1]
        if not math.isfinite(trained + held_out):
            stop("Training diverged: the loss is not finite. Start again with a smaller --lr.", 1)
        save(checkpoint, training, pairs)
        print(f"update {update:6,}   loss {trained:.3f}   held out: loss {held_out:.3f}, exact match {match:5.1f} %")

    with common.watched(training.update, settings.updates, checkpoint) as tick:
        training.run(pairs.held_out[:LOOKED_AT], look, tick)
    _result(training, pairs)
    out.print(f"\nThe model is in {checkpoint}. To translate your own sentences:")
    out.print(f"python -m experiments.translate --checkpoint {checkpoint}", soft_wrap=True)


def _vocabulary(name: str, vocabulary: Words, train: list[list[str]], held_out: list[list[str]]) -> str:
    different = len({word for words in train for word in words})
    kept = f"{different:,}" if different == len(vocabulary.words) else f"{len(vocabulary.words):,} of {different:,}"
    unknown = sum(len(vocabulary.unknown(words)) for words in held_out) / sum(map(len, held_out))
    return f"{name} vocabulary: {kept} words; {UNKNOWN} is {100 * unknown:.1f} % of the held-out tokens"


def _result(training: Training, pairs: Pairs) -> None:
    """What the model makes of all held-out sources, beside the baseline."""
    sources, references = [list(source) for source in pairs.references], list(pairs.references.values())
    found = training.greedy(sources)
    match, bleu = scores(found, references)
    out.print(f"\n{len(sources):,} held-out {'source' if len(sources) == 1 else 'sources'}, decoded greedily:")
    out.print(f"  the model                      exact match {match:5.1f} %   BLEU {bleu:5.1f}")
    match, bleu = scores(nearest(sources, pairs.train), references)
    out.print(f"  target of the nearest source   exact match {match:5.1f} %   BLEU {bleu:5.1f}")
    possible = sum(any(not training.target.unknown(r) for r in several) for several in references)
    if possible < len(references):
        out.print(
            f"  At most {100 * possible / len(references):.1f} % can match, because the other targets contain unknown "
            "words."
        )
    translations = list(zip(sources, found, references, strict=True))
    wrong = [row for row in translations[SHOWN:] if row[1] not in row[2]]
    for title, rows in ((f"The first {SHOWN}", translations[:SHOWN]), ("The next that do not match", wrong[:SHOWN])):
        if rows:
            out.print(f"\n{title}:")
        for source, words, several in rows:
            out.print(f"\n  source     {join(source, pairs.spacing[0])}", soft_wrap=True)
            out.print(f"  model      {join(words, pairs.spacing[1])}", soft_wrap=True)
            out.print(f"  reference  {'  |  '.join(join(r, pairs.spacing[1]) for r in several)}", soft_wrap=True)


def _translate(path: Path, sentence: str | None, beam: int, length_penalty: float, show: int) -> None:
    saved = load(path)
    settings, spacing = Settings(**saved["settings"]), saved["spacing"][1]
    source, target = Words(saved["source"]), Words(saved["target"])
    model = translator(settings, source, target).eval()
    model.load_state_dict(saved["model"])
    torch.set_num_threads(settings.threads)

    def answer(sentence: str) -> None:
        words = tokens(sentence)
        for word in dict.fromkeys(source.unknown(words)):
            other = next((known for known in source.words if known.casefold() == word.casefold()), None)
            hint = f" (but {other!r} is known)" if other else ""
            err.print(f"{word!r} is unknown{hint}, so it is read as {UNKNOWN}", soft_wrap=True)
        if len(words) > settings.max_length:
            longest = f"the model was trained on sentences of at most {settings.max_length}"
            err.print(f"{len(words)} tokens: {longest}", soft_wrap=True)
        read = source_ids(words, source, settings.reverse)
        for ids, score in beam_search(model, read, beam, settings.max_length + 1, length_penalty)[:show]:
            text = join(target.decode(ids), spacing) + ("" if ids[-1] == EOS else " …")
            typer.echo(f"{score:8.3f}  {text}" if show > 1 else text)

    if sentence is not None:
        if not tokens(sentence):
            stop("--sentence is empty. Give a sentence to translate, or leave it out to be asked for some.")
        answer(sentence)
        return
    asked = sys.stdin.isatty()
    if asked:
        err.print(f"Trained on {saved['pairs']['source']}. Type a sentence and Enter; Ctrl-D ends.", soft_wrap=True)
    while True:
        try:
            typed = input("> " if asked else "")
        except EOFError:
            if asked:
                out.print()
            return
        except UnicodeDecodeError:
            stop("The input is not UTF-8. Convert it first, for example with iconv.")
        if tokens(typed):
            answer(typed)
        elif not asked:
            out.print()  # line by line: an empty line stays empty


if __name__ == "__main__":
    app()
