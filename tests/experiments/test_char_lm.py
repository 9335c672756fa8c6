"""The command `python -m experiments.char_lm`: what it refuses, and that an interrupted run loses nothing."""

from __future__ import annotations

import inspect
import math
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from typer.testing import CliRunner

from experiments import char_lm
from experiments.char_lm import CharLM, Settings, Training, bits, probabilities, write
from experiments.text import SHORTEST, from_file
from solutions.ch04_gated.char_lm import CharLM as Solution

WORDS = ["the", "value", "of", "an", "expression", "is", "found", "by", "reading", "it", "from", "left", "to", "right"]
SMALL = ["--hidden-size", "12", "--embed-size", "6", "--batch", "4", "--chunk", "10", "--every", "5"]
ROOT = Path(__file__).parents[2]


def prose(seed: int = 0, paragraphs: int = 60) -> str:
    rng = np.random.default_rng(seed)
    return "\n\n".join(" ".join(rng.permutation(WORDS)).capitalize() + "." for _ in range(paragraphs))


@pytest.fixture
def text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(char_lm, "SAMPLED", 20)
    path = tmp_path / "mine.txt"
    path.write_text(prose(), "utf-8")
    return path


def run(*arguments: object) -> Any:
    return CliRunner().invoke(char_lm.app, [str(argument) for argument in arguments])


def refused(*arguments: object) -> str:
    """The message of a command that must end with status 2, without a traceback."""
    result = run(*arguments)
    assert result.exit_code == 2, result.output
    assert isinstance(result.exception, SystemExit)
    return " ".join(result.stderr.split())


def trained(text: Path, *more: object) -> Path:
    result = run("--text", text, "--updates", 10, *SMALL, *more)
    assert result.exit_code == 0, result.output
    return text.with_suffix(".pt")


# What cannot be used --------------------------------------------------------------------------------------------------

BAD = {
    "missing": (None, "there is no such file, relative to "),
    "empty": (b"", "is empty. Save your text in it"),
    "binary": (b"PK\x03\x04\0\0", "is a binary file (byte 0 at position 4). Export it as plain text."),
    "utf-16": (prose().encode("utf-16"), "is encoded in UTF-16. Save it as UTF-8"),
    "latin-1": (f"{prose()}\n\ncafé\n".encode("latin-1"), "line 121 is not UTF-8 (byte 0xe9). Save it as UTF-8"),
    "short": (b"A line.\n\nAnother one.\n", f"19 characters in 2 different paragraphs; at least {SHORTEST:,} in 2"),
}


@pytest.mark.parametrize("kind", BAD)
def test_a_text_that_cannot_be_used(tmp_path: Path, kind: str) -> None:
    content, says = BAD[kind]
    path = tmp_path / f"{kind}.txt"
    if content is not None:
        path.write_bytes(content)
    message = refused("--text", path)
    assert message.startswith(f"{path}: ")
    assert says in message
    assert not path.with_suffix(".pt").exists()


@pytest.mark.slow
def test_the_command_as_a_process_prints_one_line_and_no_traceback(tmp_path: Path) -> None:
    result = subprocess.run(command("--text", tmp_path / "no.txt"), cwd=ROOT, capture_output=True, text=True)
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr.count("\n") == 1
    assert result.stderr.startswith(f"{tmp_path}/no.txt: there is no such file")


def test_a_folder_is_no_text(tmp_path: Path) -> None:
    assert refused("--text", tmp_path) == f"{tmp_path}: is a folder. Name a text file in it."


def test_options_that_do_not_go_together(text: Path) -> None:
    either = "Give either --text FILE to train, or --sample CHECKPOINT to write."
    assert refused() == refused("--text", text, "--sample", text) == either
    assert refused("--text", text, "--dropout", 0.5).startswith("--dropout acts between layers. Give --layers 2")
    both = refused("--text", text, "--resume", "--overwrite")
    assert both == "--resume continues a run and --overwrite replaces it. Give one of the two."
    assert "--updates" in refused("--text", text, "--updates", 0)
    assert "--lr" in refused("--text", text, "--lr", "nan")


def test_options_of_the_other_mode_are_refused(text: Path) -> None:
    writing = ["--temperature", 1.0], ["--top-k", 3], ["--length", 500], ["--start", "the"]
    for option in writing:
        message = f"{option[0]} belongs to --sample and has no effect with --text. Leave it out."
        assert refused("--text", text, *option) == message
    assert not text.with_suffix(".pt").exists()
    training = (
        ["--resume"],
        ["--overwrite"],
        ["--checkpoint", "a.pt"],
        ["--updates", 3],
        ["--lr", 0.005],
        ["--batch", 2],
    )
    for option in training:
        message = f"{option[0]} belongs to --text and has no effect with --sample. Leave it out."
        assert refused("--sample", "no.pt", *option) == message


def test_the_options_of_each_mode_are_all_options() -> None:
    parameters = set(inspect.signature(char_lm.command).parameters) - {"context", "text", "sample", "seed"}
    assert parameters == {*char_lm.TRAINING, *char_lm.WRITING}


def test_a_checkpoint_never_replaces_the_text(text: Path) -> None:
    before = text.read_bytes()
    message = refused("--text", text, "--checkpoint", text, "--overwrite")
    assert message.startswith(f"{text}: is the file with your data, which the checkpoint would replace. Name another")
    assert text.read_bytes() == before


def test_a_checkpoint_that_cannot_be_used(tmp_path: Path, text: Path) -> None:
    missing, damaged, evil = tmp_path / "no.pt", tmp_path / "damaged.pt", tmp_path / "evil.pt"
    says = f"{missing}: there is no such checkpoint, relative to {Path.cwd()}. Train one with --text FILE."
    assert refused("--sample", missing) == refused("--text", text, "--resume", "--checkpoint", missing) == says
    assert refused("--sample", tmp_path) == f"{tmp_path}: is a folder. Name a checkpoint in it."
    whole = trained(text).read_bytes()
    torch.save({"model": os.system}, evil)
    for content in (b"", b"text", whole[: len(whole) // 2], evil.read_bytes()):
        damaged.write_bytes(content)
        assert refused("--sample", damaged).startswith(f"{damaged}: is not a checkpoint of this command, or it is dam")


def test_a_checkpoint_that_cannot_be_written(tmp_path: Path, text: Path) -> None:
    (tmp_path / "file").write_text("")
    message = refused("--text", text, "--checkpoint", tmp_path / "file" / "mine.pt")
    assert "mine.pt: the checkpoint cannot be written (" in message
    assert message.endswith("Name another file with --checkpoint.")


def test_an_existing_checkpoint_is_neither_replaced_nor_continued_unasked(text: Path) -> None:
    path = trained(text)
    before = path.read_bytes()
    message = refused("--text", text)
    assert message.startswith(f"{path}: exists already. Continue it with --resume, replace it with --overwrite")
    assert path.read_bytes() == before
    trained(text, "--overwrite", "--seed", 1)
    assert path.read_bytes() != before


def test_resuming_with_other_settings_or_another_text_says_why_not(text: Path) -> None:
    path = trained(text)
    message = refused("--text", text, "--resume", "--hidden-size", 13)
    assert message.startswith(f"{path}: was trained with --hidden-size 12, not 13. Resume without --hidden-size, or")
    assert run("--text", text, "--resume", "--hidden-size", 12).exit_code == 0
    sha = from_file(text).sha256[:12]
    text.write_text(prose(1), "utf-8")
    message = refused("--text", text, "--resume")
    assert message.startswith(f"{path}: was trained on mine.txt, sha256 {sha}, but the text is now mine.txt, sha256 ")


def test_a_diverging_run_ends_with_status_1(text: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Training, "step", lambda training: setattr(training, "update", 5) or math.nan)
    result = run("--text", text, "--updates", 30, *SMALL)
    assert result.exit_code == 1
    assert "Training diverged: the loss is not finite. Start again with a smaller --lr." in result.stderr
    assert char_lm.load(text.with_suffix(".pt"))["update"] == 0  # no checkpoint of useless weights


def test_ctrl_c_says_how_to_continue(text: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(_: Training) -> float:
        raise KeyboardInterrupt

    monkeypatch.setattr(Training, "step", interrupted)
    result = run("--text", text, *SMALL)
    assert result.exit_code == 130
    assert "Stopped. Continue with --resume" in " ".join(result.stderr.split())


# The model ------------------------------------------------------------------------------------------------------------


def test_the_carried_state_equals_one_long_pass_and_is_detached() -> None:
    torch.manual_seed(0)
    model, ids = CharLM(7, 3, 5, num_layers=2), torch.randint(0, 7, (2, 12))
    long, (h, c) = model(ids)
    first, state = model(ids[:, :5])
    second, last = model(ids[:, 5:], state)
    torch.testing.assert_close(torch.cat([first, second], 1), long)
    torch.testing.assert_close(last, (h, c))
    assert not any(part.requires_grad for part in (*state, *last))


def test_it_is_the_module_of_the_exercise() -> None:
    torch.manual_seed(0)
    ours, ids = CharLM(7, 3, 5, num_layers=2), torch.randint(0, 7, (2, 9))
    theirs = Solution(7, 3, 5, 2, 0.0)
    theirs.load_state_dict(ours.state_dict())
    torch.testing.assert_close(ours(ids)[0], theirs(ids)[0], rtol=0, atol=0)
    assert str(ours) == str(theirs)


def test_a_text_is_learned_and_a_short_one_has_fewer_rows() -> None:
    ids = torch.arange(300) % 6
    training = Training(Settings(hidden_size=16, embed_size=8, chunk=20, updates=80, every=40, lr=2e-2), 6, ids)
    assert (training.batch, training.chunk, training.chunks) == (14, 20, 1)
    ticks: list[int] = []
    training.run(ids[:100], lambda training: ticks.append(training.update), lambda: None)
    assert ticks == [row[0] for row in training.curve] == [40, 80]
    assert training.curve[-1][2] < 0.1
    assert write(training.model, ids[:4], 8, seed=0) == [4, 5, 0, 1, 2, 3, 4, 5]
    one = Training(Settings(), 6, ids[:2])
    assert (one.batch, one.chunk, one.chunks) == (1, 1, 1)


def test_bits_are_those_of_a_pass_row_by_row() -> None:
    torch.manual_seed(1)
    model, ids = CharLM(5, 3, 4), torch.randint(0, 5, (1601,))
    model.train()
    nats = []
    for row in range(3):
        piece = ids[row * 533 : (row + 1) * 533 + 1]
        nats.append(torch.nn.functional.cross_entropy(model(piece[None, :-1])[0][0], piece[1:]).item())
    assert bits(model, ids) == pytest.approx(np.mean(nats) / np.log(2), rel=1e-5)
    assert model.training


def test_temperature_and_top_k() -> None:
    logits = torch.tensor([1.0, 3.0, 2.0, 3.0])
    torch.testing.assert_close(probabilities(logits), torch.softmax(logits.double(), 0))
    torch.testing.assert_close(probabilities(logits, 0.5), torch.softmax(2 * logits.double(), 0))
    assert probabilities(logits, 0.0).tolist() == probabilities(logits, 0.7, 1).tolist() == [0, 1, 0, 0]
    two = probabilities(logits, 1.0, 2)
    assert two.tolist() == [0, 0.5, 0, 0.5]
    torch.testing.assert_close(probabilities(logits, 1.0, 9), probabilities(logits))
    assert probabilities(1e4 * logits, 1e-6).isfinite().all()


# Interrupted and resumed ----------------------------------------------------------------------------------------------


def same(one: Any, other: Any) -> bool:
    """Equal bit for bit: tensors, and lists and dicts of them."""
    if isinstance(one, torch.Tensor):
        return one.dtype == other.dtype and torch.equal(one, other)
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list):
        return len(one) == len(other) and all(map(same, one, other))
    return bool(one == other)


DROPOUT = ["--layers", 2, "--dropout", 0.3]  # so that the random generator's state matters


def test_a_run_resumed_from_any_checkpoint_equals_an_undisturbed_one(
    text: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept: list[bytes] = []
    save = char_lm.save

    def saved(path: Path, *rest: Any) -> None:
        save(path, *rest)
        kept.append(path.read_bytes())

    monkeypatch.setattr(char_lm, "save", saved)
    path = text.with_suffix(".pt")
    whole = run("--text", text, "--updates", 60, *SMALL, *DROPOUT)
    expected = char_lm.load(path)
    assert len(kept) == 13  # before the first update, and every five
    assert expected["update"] == 60 > Training(Settings(batch=4, chunk=10), 30, torch.arange(1800)).chunks  # a new pass
    for content in kept[1::5]:
        path.write_bytes(content)
        torch.manual_seed(99)
        result = run("--text", text, "--resume")
        assert result.exit_code == 0
        assert same(char_lm.load(path), expected)
        assert result.stdout.partition("Temperature")[2] == whole.stdout.partition("Temperature")[2]


def command(*arguments: object) -> list[str]:
    return [sys.executable, "-m", "experiments.char_lm", *map(str, arguments)]


@pytest.mark.slow
@pytest.mark.parametrize("wait", [0.0, 0.15, 0.4])
def test_a_killed_run_continues_with_the_same_result(text: Path, tmp_path: Path, wait: float) -> None:
    path, other = text.with_suffix(".pt"), tmp_path / "other.pt"
    options = ("--text", text, "--updates", 400, *SMALL, *DROPOUT)
    undisturbed = subprocess.run(
        command(*options, "--checkpoint", other), cwd=ROOT, capture_output=True, text=True, check=True
    )
    process = subprocess.Popen(command(*options), cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        limit = time.monotonic() + 120
        while not (path.exists() and char_lm.load(path)["update"] > 0):
            assert time.monotonic() < limit
            time.sleep(0.01)
        time.sleep(wait)
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert process.returncode == -signal.SIGKILL
    assert 0 < char_lm.load(path)["update"] < 400
    resumed = subprocess.run(command("--text", text, "--resume"), cwd=ROOT, capture_output=True, text=True, check=True)
    assert same(char_lm.load(path), char_lm.load(other))
    assert (
        resumed.stdout.partition("Temperature")[2].replace("mine.pt", "other.pt")
        == (undisturbed.stdout.partition("Temperature")[2])
    )
    assert "Traceback" not in resumed.stderr


def test_a_failed_write_keeps_the_previous_checkpoint(text: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = trained(text)
    before = path.read_bytes()

    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("grader.files.os.replace", full)
    assert "cannot be written (No space left on device)" in refused("--text", text, "--overwrite", *SMALL)
    assert path.read_bytes() == before
    assert sorted(file.name for file in path.parent.iterdir()) == ["mine.pt", "mine.txt"]


# Writing --------------------------------------------------------------------------------------------------------------


def test_training_prints_validation_and_three_samples(text: Path) -> None:
    result = run("--text", text, "--updates", 10, *SMALL)
    lines = result.stdout.splitlines()
    assert lines[0] == from_file(text).label
    assert "a counted 5-gram has " in lines[2]
    assert lines[3].startswith("update      5   train ")
    assert lines[4].endswith(" bits per character")
    assert [line for line in lines if line.startswith("Temperature")] == [
        f"Temperature {temperature}:" for temperature in char_lm.TEMPERATURES
    ]
    assert len(char_lm.TEMPERATURES) == 3


def test_samples_follow_from_the_seed(text: Path) -> None:
    path = trained(text)
    sample = ("--sample", path, "--length", 60, "--start", "The ")
    one = run(*sample, "--seed", 3, "--temperature", 0.8, "--top-k", 4).stdout
    assert one == run(*sample, "--seed", 3, "--temperature", 0.8, "--top-k", 4).stdout
    assert one != run(*sample, "--seed", 4, "--temperature", 0.8, "--top-k", 4).stdout
    assert one.startswith("the ")
    assert len(one) == 65  # and the newline of the command
    greedy = run(*sample, "--temperature", 0, "--seed", 1).stdout
    assert greedy == run(*sample, "--top-k", 1, "--seed", 2).stdout
    assert run("--sample", path, "--length", 5).exit_code == 0
    assert refused(*sample[:-1], "the é").startswith("--start: 'é' is not a character of the text it was trained on")
