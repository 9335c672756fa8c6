"""What the commands of this folder share: checkpoints, options, a progress bar, and how they stop.

    from experiments.command import CheckpointError, opened, watched

A command trains on a file of the reader's own and keeps its model in a checkpoint, a dict of tensors, numbers, strings,
and lists and dicts of them. The exit status is 2 if a file or an option cannot be used, 1 if training diverged, and 130
after Ctrl-C.
"""

from __future__ import annotations

import io
import pickle
import sys
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import torch
import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from grader.files import write_whole

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

out = Console(markup=False, emoji=False, highlight=False)
err = Console(markup=False, emoji=False, highlight=False, stderr=True)


class CheckpointError(ValueError):
    """A checkpoint that cannot be read, written or continued. The message says what is wrong, where, and what next."""


def stop(message: str, status: int = 2) -> NoReturn:
    err.print(message, style="red", soft_wrap=True)
    raise typer.Exit(status)


def write_any_character() -> None:
    """Let a character that the terminal's encoding lacks be printed as "?" or an escape instead of stopping."""
    for stream, how in ((sys.stdout, "replace"), (sys.stderr, "backslashreplace")):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=how)


# Checkpoints ----------------------------------------------------------------------------------------------------------


def save(path: Path, kind: str, settings: Any, content: dict[str, Any]) -> None:
    """Write a checkpoint of this kind. If this is interrupted, the previous one remains. Raises CheckpointError."""
    buffer = io.BytesIO()
    torch.save({"format": kind, "torch": str(torch.__version__), "settings": asdict(settings), **content}, buffer)
    try:
        write_whole(path, buffer.getvalue())
    except OSError as error:
        raise CheckpointError(
            f"{path}: the checkpoint cannot be written ({error.strerror}). Name another file with --checkpoint."
        ) from None


def load(path: Path, kind: str, option: str) -> dict[str, Any]:
    """Read a checkpoint of this kind. Code that a file may contain is not run. Raises CheckpointError.

    `option` is the option that trains a model: "--text".
    """
    try:
        checkpoint = torch.load(io.BytesIO(path.read_bytes()), weights_only=True)
    except FileNotFoundError:
        raise CheckpointError(
            f"{path}: there is no such checkpoint, relative to {Path.cwd()}. Train one with {option} FILE."
        ) from None
    except IsADirectoryError:
        raise CheckpointError(f"{path}: is a folder. Name a checkpoint in it.") from None
    except OSError as error:
        raise CheckpointError(f"{path}: cannot be read ({error.strerror}). Fix this, or use another file.") from None
    except (pickle.UnpicklingError, RuntimeError, ValueError, EOFError, KeyError, AttributeError, IndexError):
        checkpoint = None
    if not isinstance(checkpoint, dict) or checkpoint.get("format") != kind:
        raise CheckpointError(
            f"{path}: is not a checkpoint of this command, or it is damaged. Name another, or train one with {option}."
        )
    return checkpoint


def opened(
    path: Path, kind: str, option: str, data: Path, given: dict[str, Any], *, resume: bool, overwrite: bool
) -> dict[str, Any] | None:
    """The checkpoint to continue, or None for a new run. Stops if that is not possible with the settings given."""
    if resume and overwrite:
        stop("--resume continues a run and --overwrite replaces it. Give one of the two.")
    if path.exists() and data.exists() and path.samefile(data):
        raise CheckpointError(
            f"{path}: is the file with your data, which the checkpoint would replace. Name another file with "
            "--checkpoint."
        )
    if not resume:
        if path.exists() and not overwrite:
            raise CheckpointError(
                f"{path}: exists already. Continue it with --resume, replace it with --overwrite, or name "
                "another file with --checkpoint."
            )
        return None
    checkpoint = load(path, kind, option)
    for name, value in given.items():
        kept = checkpoint["settings"][name]
        if value != kept:
            option, other = (flag(name, value), "") if isinstance(value, bool) else (flag(name), f", not {value}")
            raise CheckpointError(
                f"{path}: was trained with {flag(name, kept)}{other}. Resume without {option}, or start another run "
                "with another --checkpoint."
            )
    if checkpoint["torch"] != torch.__version__:
        err.print(
            f"{path} was written with torch {checkpoint['torch']}, so results with this one may differ.",
            soft_wrap=True,
        )
    return checkpoint


def same_data(path: Path, trained_on: dict[str, str], sha256: str, label: str, what: str) -> None:
    """Raises CheckpointError if the checkpoint was trained on other data. `what` is what the data is: "the text"."""
    if trained_on["sha256"] != sha256:
        verb = "are" if what.endswith("s") else "is"
        raise CheckpointError(
            f"{path}: was trained on {trained_on['source']}, sha256 {trained_on['sha256'][:12]}, but {what} {verb} now "
            f"{label}. Restore the file, or train on this one with another --checkpoint."
        )


# Options --------------------------------------------------------------------------------------------------------------


def flag(name: str, value: Any = None) -> str:
    """A setting as the reader gives it: "--hidden-size 128", "--no-reverse"."""
    written = name.replace("_", "-")
    if isinstance(value, bool):
        return f"--{written}" if value else f"--no-{written}"
    return f"--{written}" if value is None else f"--{written} {value}"


def setting(settings: Any, name: str, what: str, least: float | None = None, most: float | None = None) -> Any:
    """An option of a class of settings; without it, the value is the default or, with --resume, the checkpoint's."""
    default = getattr(settings, name)
    if isinstance(default, bool):
        return typer.Option(f"{flag(name, True)}/{flag(name, False)}", help=f"{what} Default: {flag(name, default)}.")
    return typer.Option(flag(name), help=f"{what} Default: {default}.", min=least, max=most)


def refuse(context: typer.Context, names: Iterable[str], belongs: str, instead: str) -> None:
    """Stop if one of these options was given, because it would have no effect."""
    for name in names:
        if context.get_parameter_source(name).name != "DEFAULT":  # type: ignore[union-attr]
            stop(f"{flag(name)} belongs to {belongs} and has no effect with {instead}. Leave it out.")


# Progress -------------------------------------------------------------------------------------------------------------


@contextmanager
def watched(done: int, updates: int, checkpoint: Path) -> Iterator[Callable[[], None]]:
    """A progress bar with the time left, on the error stream. Ctrl-C stops, and says how to continue."""
    columns = (TextColumn("training"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=err, redirect_stdout=sys.stdout.isatty()) as progress:
        bar = progress.add_task("", total=updates, completed=done)
        try:
            yield lambda: progress.advance(bar)
        except KeyboardInterrupt:
            err.print(f"Stopped. Continue with --resume from the last checkpoint in {checkpoint}.", soft_wrap=True)
            raise typer.Exit(130) from None
