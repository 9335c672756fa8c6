"""Train a character-level LSTM on a text file of your own, and let it write.

    python -m experiments.char_lm --text FILE             train, about a minute on an idle core
    python -m experiments.char_lm --text FILE --resume    continue after an interruption
    python -m experiments.char_lm --sample CHECKPOINT     write text

The text is read by `experiments.text.from_file`: in lower case, without rare characters, each paragraph once and on one
line. A tenth of the paragraphs is held out for validation. The text is cut into rows that are read in parallel, chunk
by chunk: the state is carried from chunk to chunk and detached, so no gradient crosses the cut. Adam's learning rate
falls linearly to 0, and gradients are clipped to a norm of 1.

A checkpoint contains all that the next update depends on: weights, optimizer, carried state, number of updates, and the
state of the random generator. A run that is killed and resumed therefore ends with the same weights, bit for bit, as
an undisturbed one on the same machine.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import torch
import typer
from torch import Tensor

from experiments import command as common
from experiments.command import CheckpointError, out, refuse, stop
from experiments.ngrams import WittenBell
from experiments.text import Text, TextError, from_file

FORMAT = "unrolled char_lm 1"
TEMPERATURES = (0.5, 1.0, 1.5)  # of the samples at the end
SAMPLED = 300  # characters of each
VALIDATED = 50_000  # held-out characters, from the first on
COUNTED = 1_000_000  # training characters for the 5-gram, from the first on

State = tuple[Tensor, Tensor]


@dataclass(frozen=True)
class Settings:
    """All that decides the result, apart from the text. The names are those of the command's options."""

    embed_size: int = 32
    hidden_size: int = 192
    layers: int = 1
    dropout: float = 0.0
    batch: int = 32
    chunk: int = 64
    lr: float = 5e-3
    clip: float = 1.0
    updates: int = 1500
    every: int = 100
    seed: int = 0
    threads: int = 1


# The model and its training -------------------------------------------------------------------------------------------


class CharLM(torch.nn.Module):
    """Predict each next character: ids (B, T) and a state -> logits (B, T, V) and the last state, detached."""

    def __init__(
        self, vocab_size: int, embed_size: int, hidden_size: int, num_layers: int = 1, dropout: float = 0.0
    ) -> None:
        super().__init__()
        self.embedding = torch.nn.Embedding(vocab_size, embed_size)
        self.rnn = torch.nn.LSTM(embed_size, hidden_size, num_layers=num_layers, dropout=dropout, batch_first=True)
        self.head = torch.nn.Linear(hidden_size, vocab_size)

    def forward(self, ids: Tensor, state: State | None = None) -> tuple[Tensor, State]:
        states, (h, c) = self.rnn(self.embedding(ids), state)  # (B, T, H), and (L, B, H) twice
        return self.head(states), (h.detach(), c.detach())


class Training:
    """A model in training on ids (N,). `update` counts the updates done, and `curve` has a row every so many of them:
    updates, training bits since the previous row, validation bits, in bits per character.
    """

    def __init__(self, settings: Settings, vocab_size: int, ids: Tensor) -> None:
        self.settings, self.vocab_size = settings, vocab_size
        self.batch = min(settings.batch, max(1, (len(ids) - 1) // settings.chunk))  # a short text has fewer rows
        self.chunk = min(settings.chunk, len(ids) - 1)
        width = (len(ids) - 1) // self.batch
        self.inputs = ids[: self.batch * width].view(self.batch, width)
        self.targets = ids[1 : self.batch * width + 1].view(self.batch, width)
        self.chunks = width // self.chunk
        torch.manual_seed(settings.seed)
        self.model = CharLM(
            vocab_size, settings.embed_size, settings.hidden_size, settings.layers, settings.dropout
        ).train()
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=settings.lr)
        self.state: State | None = None
        self.update = 0
        self.curve: list[list[float]] = []

    def step(self) -> float:
        """One update on the next chunk: its cross-entropy in bits per character, before the update."""
        done = self.update % self.chunks
        if done == 0:
            self.state = None  # the text begins again
        piece = slice(done * self.chunk, (done + 1) * self.chunk)
        logits, self.state = self.model(self.inputs[:, piece], self.state)
        loss = torch.nn.functional.cross_entropy(logits.flatten(0, 1), self.targets[:, piece].flatten())
        self.optimizer.param_groups[0]["lr"] = self.settings.lr * (1 - self.update / self.settings.updates)
        self.optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), self.settings.clip)
        self.optimizer.step()
        self.update += 1
        return loss.item() / math.log(2)

    def run(self, validation: Tensor, look: Callable[[Training], None], tick: Callable[[], None]) -> None:
        """Train to the end. `look` is called after each new row of the curve, `tick` after each update."""
        losses: list[float] = []
        while self.update < self.settings.updates:
            losses.append(self.step())
            tick()
            if self.update % self.settings.every == 0 or self.update == self.settings.updates:
                self.curve.append([self.update, math.fsum(losses) / len(losses), bits(self.model, validation)])
                losses.clear()
                look(self)

    def snapshot(self) -> dict[str, Any]:
        """All that the next update depends on: tensors, numbers, strings, and lists and dicts of them."""
        return {
            "update": self.update,
            "curve": self.curve,
            "model": self.model.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "state": None if self.state is None else list(self.state),
            "random": torch.get_rng_state(),
        }

    def restore(self, snapshot: dict[str, Any]) -> None:
        self.update, self.curve = snapshot["update"], snapshot["curve"]
        self.model.load_state_dict(snapshot["model"])
        self.optimizer.load_state_dict(snapshot["optimizer"])
        self.state = None if snapshot["state"] is None else (snapshot["state"][0], snapshot["state"][1])
        torch.set_rng_state(snapshot["random"])


@torch.no_grad()
def bits(model: CharLM, ids: Tensor) -> float:
    """Mean cross-entropy in bits per character over ids (N,), read in up to 16 rows, each from a zero state."""
    mode = model.training
    model.eval()
    rows = min(16, max(1, len(ids) // 500))
    width = (len(ids) - 1) // rows
    inputs, targets = ids[: rows * width].view(rows, width), ids[1 : rows * width + 1].view(rows, width)
    state, nats = None, 0.0
    for start in range(0, width, 500):
        logits, state = model(inputs[:, start : start + 500], state)
        wanted = targets[:, start : start + 500].flatten()
        nats += torch.nn.functional.cross_entropy(logits.flatten(0, 1), wanted, reduction="sum").item()
    model.train(mode)
    return nats / (rows * width) / math.log(2)


def probabilities(logits: Tensor, temperature: float = 1.0, top_k: int | None = None) -> Tensor:
    """Softmax of logits (V,) / temperature over the k largest, in float64. Temperature 0 is the largest alone."""
    logits = logits.double()
    kept = torch.zeros_like(logits, dtype=torch.bool)
    kept[torch.sort(logits, descending=True, stable=True).indices[: 1 if temperature == 0 else top_k]] = True
    scaled = (logits - logits.max()) / (temperature or 1.0)
    return torch.softmax(scaled.masked_fill(~kept, -math.inf), dim=0)


@torch.no_grad()
def write(
    model: CharLM, start: Tensor, length: int, seed: int, temperature: float = 1.0, top_k: int | None = None
) -> list[int]:
    """Read start (N,), then sample `length` ids, each from the probabilities given all previous ones."""
    mode = model.training
    model.eval()
    generator = torch.Generator().manual_seed(seed)
    logits, state = model(start[None], None)
    written: list[int] = []
    for _ in range(length):
        probs = probabilities(logits[0, -1], temperature, top_k)
        written.append(int(torch.multinomial(probs, 1, generator=generator)))
        logits, state = model(torch.tensor([written[-1:]]), state)
    model.train(mode)
    return written


# Checkpoints ----------------------------------------------------------------------------------------------------------


def save(path: Path, training: Training, text: Text) -> None:
    """Write a checkpoint. If this is interrupted, the previous one remains. Raises CheckpointError."""
    trained_on = {"source": text.source, "sha256": text.sha256}
    content = {"text": trained_on, "characters": text.characters, **training.snapshot()}
    common.save(path, FORMAT, training.settings, content)


def load(path: Path) -> dict[str, Any]:
    """Read a checkpoint. Code that a file may contain is not run. Raises CheckpointError."""
    return common.load(path, FORMAT, "--text")


# The command ----------------------------------------------------------------------------------------------------------

app = typer.Typer(add_completion=False, rich_markup_mode=None)
_setting = partial(common.setting, Settings)
TRAINING = (
    "checkpoint", "resume", "overwrite", "embed_size", "hidden_size", "layers", "dropout", "batch", "chunk", "lr",
    "clip", "updates", "every", "threads",
)  # fmt: skip
WRITING = ("temperature", "top_k", "length", "start")


@app.command()
def command(
    context: typer.Context,
    text: Annotated[Path | None, typer.Option(help="Train on this file (plain text in UTF-8).")] = None,
    sample: Annotated[Path | None, typer.Option(help="Write with the model in this checkpoint.")] = None,
    checkpoint: Annotated[
        Path | None,
        typer.Option(help="With --text: the file that keeps the model. Default: the text's name, with the ending .pt."),
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="With --text: continue from the last checkpoint.")] = False,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="With --text: start again and replace the checkpoint.")
    ] = False,
    embed_size: Annotated[int | None, _setting("embed_size", "Size of the embedding of a character.", 1)] = None,
    hidden_size: Annotated[int | None, _setting("hidden_size", "Units in each layer.", 1)] = None,
    layers: Annotated[int | None, _setting("layers", "Number of LSTM layers.", 1)] = None,
    dropout: Annotated[float | None, _setting("dropout", "Probability of dropout between layers.", 0.0, 0.95)] = None,
    batch: Annotated[int | None, _setting("batch", "Batch size: rows of text read in parallel.", 1)] = None,
    chunk: Annotated[int | None, _setting("chunk", "Characters per row in an update.", 1)] = None,
    lr: Annotated[float | None, _setting("lr", "Initial learning rate of Adam; falls to 0.", 1e-9, 10)] = None,
    clip: Annotated[float | None, _setting("clip", "Scale gradients of a larger norm down to it.", 1e-9)] = None,
    updates: Annotated[int | None, _setting("updates", "Number of updates in all.", 1)] = None,
    every: Annotated[int | None, _setting("every", "Validate and save every so many updates.", 1)] = None,
    seed: Annotated[int | None, typer.Option(help="Random seed for training or writing. Default: 0.")] = None,
    threads: Annotated[int | None, _setting("threads", "CPU threads; more help only if cores are idle.", 1)] = None,
    temperature: Annotated[
        float, typer.Option(help="With --sample: below 1 is more cautious; 0 takes the most probable.", min=0.0)
    ] = 1.0,
    top_k: Annotated[
        int | None, typer.Option(help="With --sample: draw from the k most probable characters. Default: all.", min=1)
    ] = None,
    length: Annotated[int, typer.Option(help="With --sample: number of characters to write.", min=1)] = 500,
    start: Annotated[str, typer.Option(help="With --sample: text to continue. Default: a new paragraph.")] = "",
) -> None:
    """Train a character-level LSTM on a text file (--text), or let a trained one write (--sample).

    The text is converted to lower case, rare characters and repeated paragraphs are left out, and a tenth of the
    paragraphs is held out for validation. To continue an interrupted run, repeat its --text with --resume.

    The exit status is 2 if the text, the checkpoint or an option cannot be used, 1 if training diverged, and 130 after
    Ctrl-C.
    """
    settings = {
        "embed_size": embed_size, "hidden_size": hidden_size, "layers": layers, "dropout": dropout, "batch": batch,
        "chunk": chunk, "lr": lr, "clip": clip, "updates": updates, "every": every, "seed": seed, "threads": threads,
    }  # fmt: skip
    given = {name: value for name, value in settings.items() if value is not None}
    common.write_any_character()
    try:
        if (text is None) == (sample is None):
            stop("Give either --text FILE to train, or --sample CHECKPOINT to write.")
        if sample is not None:
            refuse(context, TRAINING, "--text", "--sample")
            typer.echo(_written(sample, start, length, seed or 0, temperature, top_k))
            return
        assert text is not None
        refuse(context, WRITING, "--sample", "--text")
        _train(text, checkpoint or text.with_suffix(".pt"), given, resume=resume, overwrite=overwrite)
    except (TextError, CheckpointError) as error:
        stop(str(error))


def _train(path: Path, checkpoint: Path, given: dict[str, Any], *, resume: bool, overwrite: bool) -> None:
    text = from_file(path)
    saved = common.opened(checkpoint, FORMAT, "--text", path, given, resume=resume, overwrite=overwrite)
    settings = Settings(**(saved["settings"] if saved else given))
    if saved is not None:
        common.same_data(checkpoint, saved["text"], text.sha256, text.label, "the text")
    elif settings.dropout and settings.layers == 1:
        stop("--dropout acts between layers. Give --layers 2 or more as well, or leave it out.")
    torch.set_num_threads(settings.threads)
    ids = torch.from_numpy(text.ids(text.train))
    held_out = torch.from_numpy(text.ids(text.held_out))[:VALIDATED]
    if len(held_out) < 2 or len(ids) < 2:
        raise TextError(f"{path}: too little is left after rare characters are removed. Use a longer text.")
    training = Training(settings, len(text.characters), ids)
    if saved is not None:
        training.restore(saved)
    else:
        save(checkpoint, training, text)
    weights = sum(weight.numel() for weight in training.model.parameters())
    counted = WittenBell(ids[:COUNTED].tolist(), 5, len(text.characters)).bits(held_out.tolist())
    out.print(text.label, soft_wrap=True)
    out.print(
        f"{len(ids):,} characters to train on, {len(held_out):,} to validate on, {len(text.characters)} different"
    )
    out.print(f"{weights:,} parameters; a counted 5-gram has {counted:.3f} bits per character", soft_wrap=True)

    def look(training: Training) -> None:
        update, trained, validated = training.curve[-1]
        if not math.isfinite(trained + validated):
            stop("Training diverged: the loss is not finite. Start again with a smaller --lr.", 1)
        save(checkpoint, training, text)
        out.print(f"update {update:6,}   train {trained:.3f}   validation {validated:.3f} bits per character")

    with common.watched(training.update, settings.updates, checkpoint) as tick:
        training.run(held_out, look, tick)
    for temperature in TEMPERATURES:
        out.print(f"\nTemperature {temperature}:")
        typer.echo(_continued(training.model, text.characters, "", SAMPLED, settings.seed, temperature, None))
    more = f"python -m experiments.char_lm --sample {checkpoint}"
    out.print(f"\nThe model is in {checkpoint}. For more text:  {more}", soft_wrap=True)


def _written(path: Path, start: str, length: int, seed: int, temperature: float, top_k: int | None) -> str:
    saved = load(path)
    settings, characters = Settings(**saved["settings"]), saved["characters"]
    model = CharLM(len(characters), settings.embed_size, settings.hidden_size, settings.layers, settings.dropout)
    model.load_state_dict(saved["model"])
    return _continued(model, characters, start, length, seed, temperature, top_k)


def _continued(
    model: CharLM, characters: str, start: str, length: int, seed: int, temperature: float, top_k: int | None
) -> str:
    start = start.lower()
    shown = "".join(characters).replace("\n", "⏎")
    for character in start:
        if character not in characters:
            raise CheckpointError(f"--start: {character!r} is not a character of the text it was trained on: {shown}")
    first = start or next((c for c in "\n " if c in characters), characters[0])
    read = torch.tensor([characters.index(character) for character in first])
    return start + "".join(characters[i] for i in write(model, read, length, seed, temperature, top_k))


if __name__ == "__main__":
    app()
