"""The command `python -m experiments.translate`: what it refuses, that an interrupted run loses nothing, and how it
translates.
"""

from __future__ import annotations

import inspect
import io
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
from sacrebleu import corpus_bleu
from typer.testing import CliRunner

from experiments import translate
from experiments.ch05 import model as ch05
from experiments.pairs import Pair, from_file
from experiments.translate import UNK, Settings, Training, Words, beam_search, nearest, scores, translator
from solutions.ch05_encoder_decoder import decoding

SMALL = ["--hidden-size", "12", "--embed-size", "6", "--batch", "8", "--every", "5"]
ROOT = Path(__file__).parents[2]
ENGLISH = ["one", "two", "three", "four", "five", "six", "seven", "eight"]
FRENCH = ["un", "deux", "trois", "quatre", "cinq", "six", "sept", "huit"]


def lines(number: int = 64) -> list[str]:
    order = np.random.default_rng(0).permutation(64)[:number]
    return [f"{ENGLISH[i // 8]} and {ENGLISH[i % 8]}\t{FRENCH[i // 8]}-et-{FRENCH[i % 8]} !" for i in order]


@pytest.fixture
def tsv(tmp_path: Path) -> Path:
    path = tmp_path / "mine.tsv"
    path.write_text("\n".join([*lines(), "apple\tpomme", "a line without a tab"]), "utf-8")
    return path


def run(*arguments: object, typed: str | bytes | None = None) -> Any:
    return CliRunner().invoke(translate.app, [str(argument) for argument in arguments], input=typed)


def refused(*arguments: object) -> str:
    """The message of a command that must end with status 2, without a traceback."""
    result = run(*arguments)
    assert result.exit_code == 2, result.output
    assert isinstance(result.exception, SystemExit)
    return " ".join(result.stderr.split())


def trained(tsv: Path, *more: object) -> Path:
    result = run("--pairs", tsv, "--updates", 10, *SMALL, *more)
    assert result.exit_code == 0, result.output
    return tsv.with_suffix(".pt")


# What cannot be used --------------------------------------------------------------------------------------------------


def test_pairs_that_cannot_be_used(tmp_path: Path) -> None:
    path = tmp_path / "few.tsv"
    path.write_text("one\tun\n")
    assert refused("--pairs", path).startswith(f"{path}: 1 different usable pair; at least 20 are needed.")
    assert refused("--pairs", tmp_path / "no.tsv").startswith(f"{tmp_path}/no.tsv: there is no such file, relative to ")
    assert sorted(tmp_path.iterdir()) == [path]


def test_options_that_do_not_go_together(tsv: Path) -> None:
    assert refused() == "Give --pairs FILE to train, or --checkpoint CHECKPOINT to translate."
    assert refused("--sentence", "one") == refused()
    both = refused("--pairs", tsv, "--resume", "--overwrite")
    assert both == "--resume continues a run and --overwrite replaces it. Give one of the two."
    odd = refused("--pairs", tsv, "--hidden-size", 13)
    assert odd.startswith(
        "--hidden-size 13 cannot be halved for the two directions of the encoder. Give an even number"
    )
    assert refused("--checkpoint", tsv, "--show", 5).startswith(
        "A beam of 4 has no 5 hypotheses to show. Give --beam 5"
    )
    assert "--updates" in refused("--pairs", tsv, "--updates", 0)
    assert "--lr" in refused("--pairs", tsv, "--lr", "nan")
    assert "--beam" in refused("--checkpoint", tsv, "--beam", 0)


@pytest.mark.parametrize("option", [["--sentence", "a"], ["--beam", 4], ["--length-penalty", 1.0], ["--show", 1]])
def test_options_for_translating_are_refused_in_training(tsv: Path, option: list[object]) -> None:
    message = f"{option[0]} belongs to --checkpoint alone and has no effect with --pairs. Leave it out."
    assert refused("--pairs", tsv, *option) == message
    assert not tsv.with_suffix(".pt").exists()


@pytest.mark.parametrize("option", [["--resume"], ["--overwrite"], ["--updates", 3], ["--seed", 0], ["--no-reverse"]])
def test_options_for_training_are_refused_in_translating(option: list[object]) -> None:
    name = str(option[0]).replace("--no-", "--")
    message = f"{name} belongs to --pairs and has no effect with --checkpoint alone. Leave it out."
    assert refused("--checkpoint", "no.pt", *option) == message


def test_the_options_of_each_mode_are_all_options() -> None:
    parameters = set(inspect.signature(translate.command).parameters) - {"context", "pairs", "checkpoint"}
    assert parameters == {*translate.TRAINING, *translate.TRANSLATING}
    assert set(Settings.__dataclass_fields__) == {*translate.TRAINING} - {"resume", "overwrite"}


def test_a_checkpoint_that_cannot_be_used(tmp_path: Path, tsv: Path) -> None:
    missing, damaged, evil = tmp_path / "no.pt", tmp_path / "damaged.pt", tmp_path / "evil.pt"
    says = f"{missing}: there is no such checkpoint, relative to {Path.cwd()}. Train one with --pairs FILE."
    assert refused("--checkpoint", missing) == refused("--pairs", tsv, "--resume", "--checkpoint", missing) == says
    assert refused("--checkpoint", tmp_path) == f"{tmp_path}: is a folder. Name a checkpoint in it."
    whole = trained(tsv).read_bytes()
    torch.save({"model": os.system}, evil)
    other = io.BytesIO()
    torch.save({"format": "unrolled char_lm 1"}, other)
    for content in (b"", b"text", whole[: len(whole) // 2], evil.read_bytes(), other.getvalue(), tsv.read_bytes()):
        damaged.write_bytes(content)
        assert refused("--checkpoint", damaged).startswith(f"{damaged}: is not a checkpoint of this command, or it is")


def test_a_checkpoint_replaces_neither_data_nor_a_checkpoint_unasked(tsv: Path) -> None:
    path, data = trained(tsv), tsv.read_bytes()
    before = path.read_bytes()
    assert refused("--pairs", tsv).startswith(f"{path}: exists already. Continue it with --resume, replace it with --o")
    message = refused("--pairs", tsv, "--checkpoint", tsv, "--overwrite")
    assert message.startswith(f"{tsv}: is the file with your data, which the checkpoint would replace. Name another")
    assert (path.read_bytes(), tsv.read_bytes()) == (before, data)
    trained(tsv, "--overwrite", "--seed", 1)
    assert path.read_bytes() != before
    (tsv.parent / "file").write_text("")
    message = refused("--pairs", tsv, "--checkpoint", tsv.parent / "file" / "mine.pt")
    assert "mine.pt: the checkpoint cannot be written (" in message


def test_resuming_with_other_settings_or_other_pairs_says_why_not(tsv: Path) -> None:
    path = trained(tsv, "--max-length", 7)
    message = refused("--pairs", tsv, "--resume", "--layers", 2)
    assert message.startswith(f"{path}: was trained with --layers 1, not 2. Resume without --layers, or start another")
    message = refused("--pairs", tsv, "--resume", "--reverse")
    assert message.startswith(f"{path}: was trained with --no-reverse. Resume without --reverse, or start another run")
    assert run("--pairs", tsv, "--resume", "--layers", 1, "--no-reverse").exit_code == 0
    sha = from_file(tsv).sha256[:12]
    tsv.write_text("\n".join(lines(50)))
    message = refused("--pairs", tsv, "--resume")
    assert message.startswith(f"{path}: was trained on mine.tsv, sha256 {sha}, but the pairs are now mine.tsv, sha256 ")


def test_a_diverging_run_ends_with_status_1(tsv: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Training, "step", lambda training: setattr(training, "update", 5) or math.nan)
    result = run("--pairs", tsv, "--updates", 30, *SMALL)
    assert result.exit_code == 1
    assert "Training diverged: the loss is not finite. Start again with a smaller --lr." in result.stderr
    assert translate.load(tsv.with_suffix(".pt"))["update"] == 0  # no checkpoint of useless weights


def test_ctrl_c_says_how_to_continue(tsv: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: Any) -> float:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Training, "step", interrupted)
        result = run("--pairs", tsv, *SMALL)
    assert result.exit_code == 130
    assert "Stopped. Continue with --resume" in " ".join(result.stderr.split())
    monkeypatch.setattr(translate, "beam_search", interrupted)
    result = run("--checkpoint", tsv.with_suffix(".pt"), typed="one\n")
    assert (result.exit_code, result.stderr) == (130, "Stopped.\n")


# The vocabulary, the model and its training ---------------------------------------------------------------------------


def test_the_most_frequent_words_are_kept_and_all_others_are_unknown() -> None:
    sentences = [["b", "a", "c"], ["c", "b"], ["c", "d"]]
    assert Words.of(sentences, 9).words == ["a", "b", "c", "d"]
    some = Words.of(sentences, 3)
    assert some.words == ["a", "b", "c"]
    assert some.tokens[:5] == ["⟨pad⟩", "⟨sos⟩", "⟨eos⟩", "⟨unk⟩", "a"]
    assert some.encode(["c", "d", "a"]) == [6, UNK, 4, 2]
    assert some.decode([6, UNK, 2, 4]) == ["c", "⟨unk⟩"]
    assert some.unknown(["d", "a", "e", "d"]) == ["d", "e", "d"]
    assert Words(some.words).tokens == some.tokens


def pairs_of(tsv: Path) -> tuple[list[Pair], Words, Words]:
    train = from_file(tsv).train
    return train, Words.of((s for s, _ in train), 100), Words.of((t for _, t in train), 100)


def test_every_pass_has_every_pair_once_and_an_order_of_its_own(tsv: Path) -> None:
    train, source, target = pairs_of(tsv)
    training = Training(Settings(batch=7), train, source, target)
    drawn = [pair for update in range(2 * len(train)) for pair in training.chosen(update)]
    passes = [drawn[i : i + len(train)] for i in range(0, len(drawn), len(train))]
    assert len(passes) == 14
    assert all(sorted(one) == sorted(train) for one in passes)
    assert len({str(one) for one in passes}) == 14
    assert training.chosen(3) == drawn[21:28]  # whatever was drawn before
    assert Training(Settings(), train, source, target).batch == len(train) < 64


def test_words_that_occur_once_are_read_as_unknown_half_of_the_time() -> None:
    train: list[Pair] = [(["often", f"once{i}"], ["often"]) for i in range(50)]
    source, target = Words.of((s for s, _ in train), 100), Words.of((t for _, t in train), 100)
    training, read = Training(Settings(embed_size=2, hidden_size=2, batch=50), train, source, target), []
    training.model.register_forward_pre_hook(lambda _, arguments: read.append(arguments[0]))
    for _ in range(20):
        training.step()
    ids = torch.stack(read)
    assert (ids[:, :, 0] == source.id["often"]).all()
    assert (ids[:, :, 2] == ch05.EOS).all()
    assert 0.4 < (ids[:, :, 1] == UNK).double().mean() < 0.6


@pytest.mark.parametrize("settings", [Settings(), Settings(bidirectional=False, reverse=True, layers=2)])
def test_pairs_are_learned(tsv: Path, settings: Settings) -> None:
    train, source, target = pairs_of(tsv)
    chosen = {**vars(settings), "hidden_size": 32, "embed_size": 16, "updates": 120, "every": 60, "lr": 2e-2}
    training = Training(Settings(**chosen), train, source, target)
    looks: list[int] = []
    training.run(train, lambda training: looks.append(training.update), lambda: None)
    assert looks == [row[0] for row in training.curve] == [60, 120]
    assert training.curve[-1][3] > 90
    assert training.exact_match(train) == training.curve[-1][3]
    assert training.loss(train) == training.curve[-1][2]
    sentence = source.encode(["two", "and", "six"][:: -1 if settings.reverse else 1])
    ids, _ = beam_search(training.model.eval(), sentence, 3, 20)[0]
    assert target.decode(ids) == ["deux", "-", "et", "-", "six", "!"]


# Beam search ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(6))
def test_beam_search_is_that_of_the_exercise(seed: int) -> None:
    rng = np.random.default_rng(seed)
    torch.manual_seed(seed)
    source, target = Words("abc"), Words("xyz")
    model = translator(Settings(5, 6, layers=1 + seed % 2, bidirectional=seed % 3 == 0), source, target).double().eval()
    with torch.no_grad():
        model.head.weight *= 8
        model.head.bias[ch05.EOS] += seed - 2
    ids = source.encode(rng.choice(list("abc"), rng.integers(1, 5)))
    with torch.no_grad():
        context = model.encode(torch.tensor([ids]), torch.tensor([len(ids)]))

    @torch.no_grad()
    def step(y_prev: np.ndarray, state: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        logits, after = model.decode(torch.from_numpy(y_prev)[None], torch.from_numpy(state), context)
        return logits[:, 0].numpy(), after.numpy()

    for width, penalty in ((1, 0.0), (2, 1.0), (4, 0.5), (50, 1.0)):
        expected = decoding.beam_search(step, context.numpy(), ch05.SOS, ch05.EOS, width, 6, penalty)
        found = beam_search(model, ids, width, 6, penalty)
        assert [[k for k in row if k != ch05.EOS] for row, _ in found] == [row for row, _ in expected]
        np.testing.assert_allclose([score for _, score in found], [score for _, score in expected], atol=1e-5)
    greedy = decoding.greedy_decode(step, context.numpy(), ch05.SOS, ch05.EOS, 6)
    assert [k for k in beam_search(model, ids, 1, 6)[0][0] if k != ch05.EOS] == greedy


# Measuring ------------------------------------------------------------------------------------------------------------


def test_a_translation_may_equal_any_of_its_references() -> None:
    references = [[["a", "b", "c", "d"]], [["e", "f", "g", "h", "."], ["i", "j", "k", "l", "!"]]]
    assert scores([["a", "b", "c", "d"], ["i", "j", "k", "l", "!"]], references) == (100.0, pytest.approx(100.0))
    match, bleu = scores([["a", "b", "c", "d"], ["i", "j", "k", "l", "."]], references)
    assert match == 50.0
    columns = [["a b c d", "e f g h ."], [None, "i j k l !"]]
    assert bleu == corpus_bleu(["a b c d", "i j k l ."], columns, smooth_method="none", tokenize="none").score
    assert 0 < bleu < 100
    assert scores([[]], [[["a"]]]) == (0.0, 0.0)


def test_an_unknown_word_is_never_right(tsv: Path) -> None:
    train, source, _ = pairs_of(tsv)
    nothing = Words([])
    training = Training(Settings(embed_size=2, hidden_size=2), train, source, nothing)
    with torch.no_grad():
        training.model.head.bias[UNK] += 100
    assert training.greedy([["one"]])[0][:2] == ["⟨unk⟩", "⟨unk⟩"]
    assert training.exact_match(train) == 0
    assert scores([["⟨unk⟩"] * 6] * len(train), [[target] for _, target in train]) == (0.0, 0.0)


def test_the_nearest_source_shares_most_words() -> None:
    pairs: list[Pair] = [(["a", "b", "c"], ["1"]), (["a", "b"], ["2"]), (["d"], ["3"]), (["d"], ["4"])]
    found = nearest([["a", "b"], ["c", "b", "a", "x"], ["d", "y"], ["z"]], pairs)
    assert found == [["2"], ["1"], ["3"], ["1"]]


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


def test_a_run_resumed_from_any_checkpoint_equals_an_undisturbed_one(
    tsv: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept: list[bytes] = []
    save = translate.save

    def saved(path: Path, *rest: Any) -> None:
        save(path, *rest)
        kept.append(path.read_bytes())

    tsv.write_text("\n".join([*lines(), *(f"rare{i}\tmot" for i in range(20))]))  # so that chance matters
    monkeypatch.setattr(translate, "save", saved)
    path = tsv.with_suffix(".pt")
    whole = run("--pairs", tsv, "--updates", 40, *SMALL)
    expected = translate.load(path)
    assert len(kept) == 9  # before the first update, and every five
    assert expected["update"] * 8 > 2 * 84  # several passes
    for content in kept[:-1:3]:
        path.write_bytes(content)
        torch.manual_seed(99)
        result = run("--pairs", tsv, "--resume")
        assert result.exit_code == 0
        assert same(translate.load(path), expected)
        assert result.stdout.partition("held-out sources")[2] == whole.stdout.partition("held-out sources")[2] != ""
    assert not same(translate.load(trained(tsv, "--overwrite", "--seed", 1)), expected)


def command(*arguments: object) -> list[str]:
    return [sys.executable, "-m", "experiments.translate", *map(str, arguments)]


@pytest.mark.slow
def test_a_killed_run_continues_with_the_same_result(tsv: Path, tmp_path: Path) -> None:
    path, other = tsv.with_suffix(".pt"), tmp_path / "other.pt"
    options = ("--pairs", tsv, "--updates", 300, *SMALL)
    assert run(*options, "--checkpoint", other).exit_code == 0
    process = subprocess.Popen(command(*options), cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        limit = time.monotonic() + 120
        while not (path.exists() and translate.load(path)["update"] > 0):
            assert time.monotonic() < limit
            time.sleep(0.01)
        time.sleep(0.1)
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert process.returncode == -signal.SIGKILL
    assert 0 < translate.load(path)["update"] < 300
    resumed = subprocess.run(command("--pairs", tsv, "--resume"), cwd=ROOT, capture_output=True, text=True, check=True)
    assert same(translate.load(path), translate.load(other))
    assert "Traceback" not in resumed.stderr


# What is printed ------------------------------------------------------------------------------------------------------


def fits(printed: list[str]) -> bool:
    """Everything but sentences fits a terminal of 80 columns."""
    return all(len(line) <= 80 for line in printed if not line.startswith(("  source  ", "  model   ", "  reference ")))


def test_training_prints_what_is_read_and_how_well_it_does(tsv: Path) -> None:
    result = run("--pairs", tsv, "--updates", 10, *SMALL)
    printed = result.stdout.splitlines()
    assert printed[0] == from_file(tsv).label
    assert printed[1:4] == [
        "65 pairs: 59 to train on, 6 held out with other sources",
        "1 broken line skipped:",
        "  line 66: no tab",
    ]
    assert printed[4].startswith("source vocabulary: 10 words; ⟨unk⟩ is 0.0 % of the held-out tokens")
    assert printed[7].startswith("update      5   loss ")
    assert "6 held-out sources, decoded greedily:" in printed
    assert sum("exact match" in line and "BLEU" in line for line in printed) == 2
    assert printed[-1] == f"python -m experiments.translate --checkpoint {tsv.with_suffix('.pt')}"
    assert fits(printed[:-2])
    again = run("--pairs", tsv, "--resume")
    assert "continuing after 10 of 10 updates" in again.stdout.splitlines()


def test_unknown_target_words_limit_what_can_match(tsv: Path) -> None:
    result = run("--pairs", tsv, "--updates", 5, *SMALL, "--words", 6)
    assert "source vocabulary: 6 of 10 words; ⟨unk⟩ is " in result.stdout
    assert "% can match, because the other targets contain unknown words." in result.stdout
    assert fits(result.stdout.splitlines()[:-2])


def test_sentences_are_translated_one_a_line(tsv: Path) -> None:
    path = trained(tsv, "--updates", 120, "--lr", 0.03, "--hidden-size", 32)
    one = run("--checkpoint", path, "--sentence", "two  and six")
    assert (one.stdout, one.stderr) == ("deux-et-six !\n", "")
    piped = run("--checkpoint", path, typed="two and six\n\nfour and one")
    assert (piped.stdout, piped.stderr, piped.exit_code) == ("deux-et-six !\n\nquatre-et-un !\n", "", 0)
    assert run("--checkpoint", path, typed="").stdout == ""
    unknown = run("--checkpoint", path, "--sentence", "Two and zebra, zebra")
    assert unknown.stderr.splitlines() == [
        "'Two' is unknown (but 'two' is known), so it is read as ⟨unk⟩",
        "'zebra' is unknown, so it is read as ⟨unk⟩",
        "',' is unknown, so it is read as ⟨unk⟩",
    ]
    assert unknown.stdout.count("\n") == 1
    assert (
        "45 tokens: the model was trained on sentences of at most 40"
        in run("--checkpoint", path, "--sentence", "two " * 45).stderr
    )
    shown = run("--checkpoint", path, "--sentence", "two and six", "--show", 3, "--beam", 5).stdout.splitlines()
    assert len(shown) == 3
    assert shown[0].endswith("  deux-et-six !")
    values = [float(line.split()[0]) for line in shown]
    assert values == sorted(values, reverse=True)
    assert refused("--checkpoint", path, "--sentence", " ").startswith("--sentence is empty. Give a sentence to")
    assert "is not UTF-8" in run("--checkpoint", path, typed=b"caf\xe9\n").stderr


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
def test_a_terminal_gets_a_prompt_until_ctrl_d(tsv: Path) -> None:
    import pty

    path = trained(tsv)
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        command("--checkpoint", path), cwd=ROOT, stdin=theirs, stdout=theirs, stderr=theirs, close_fds=True
    )
    os.close(theirs)
    try:
        seen = b""
        for typed in (b"one and two\n", b"\n", b"\x04"):
            while not seen.endswith(b"> "):
                seen += os.read(ours, 1000)
            os.write(ours, typed)
            seen += b"|"
        assert process.wait(60) == 0
    finally:
        process.kill()
        os.close(ours)
    assert b"Type a sentence and Enter; Ctrl-D ends." in seen
    assert b"Traceback" not in seen
