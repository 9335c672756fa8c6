"""The capstone of chapter 05, its cells run as a notebook runs them, beside the chapter's other notebooks."""

import json
import random
import re
import shutil

import numpy as np
import pytest
import torch
from num2words import num2words

from experiments.ch05 import capstone_weights
from experiments.ch05.model import Settings, Translator
from experiments.ch05.numbers import split, words
from solutions.ch05_encoder_decoder import capstone
from solutions.ch05_encoder_decoder.decoder import decode_step
from solutions.ch05_encoder_decoder.decoding import beam_search, greedy_decode
from solutions.ch05_encoder_decoder.encoder import encode
from tests.capstones import MANIFEST, ROOT, asked, run_cells, write_notebooks

CHAPTER = MANIFEST.chapter("ch05_encoder_decoder")
SHIPPED = ROOT / "solutions" / "ch05_encoder_decoder" / "files" / "capstone_translator.json"
SOURCE = (ROOT / "solutions" / "ch05_encoder_decoder" / "capstone.py").read_text("utf-8")
ANSWER = SOURCE[SOURCE.index("### BEGIN SOLUTION") :]

NOTEBOOK_OF = asked("ch05_encoder_decoder")
TITLES = {
    "functions": "## Your functions",
    "network": "## The network",
    "compared": "## Do your functions run this network?",
    "own": "## Your own numbers",
    "beams": "## Greedy against a beam of 4",
    "hundred": "## A hundred numbers",
    "errors": "## The search or the model?",
    "words": "At which word do two translations part?",
    "kinds": "## Sentences unlike the training sentences",
    "sentences": "And what does it do with sentences",
    "nearest": "## What the context holds",
    "walk": "7777 has a close neighbour too",
    "question": "## Explain why it fails",
}
NEEDS_ALL = [name for name in TITLES if name not in ("functions", "network", "compared", "nearest", "question")]
SIBLINGS = {*NOTEBOOK_OF.values()}


def run(folder, unwritten=(), without=(), changed=None):
    """Run all cells of the capstone in this folder: what each part printed. `unwritten` notebooks are the students'."""
    write_notebooks(folder, CHAPTER.id, unwritten=unwritten, without=without, changed=changed)
    shutil.copy(SHIPPED, folder)
    return run_cells(folder, TITLES)[0]


@pytest.fixture(scope="module")
def printed(tmp_path_factory):
    return run(tmp_path_factory.mktemp("reference"))


@pytest.fixture(scope="module")
def network():
    return capstone.load_network(SHIPPED)


@pytest.fixture(scope="module")
def translator(network):
    return capstone.Translator(network, encode, decode_step, beam_search)


# The notebook with the functions of the solutions ---------------------------------------------------------------------


def test_all_functions_agree_with_pytorch(printed):
    assert printed["functions"] == ""
    rows = re.findall(r"^(\w+) +largest difference (\S+)$", printed["compared"], re.MULTILINE)
    assert [name for name, _ in rows] == ["encode", "decode_step", "beam_search"]
    assert all(float(difference) < 1e-5 for _, difference in rows)
    assert "waits" not in "".join(printed.values())


def test_own_numbers_are_translated_and_an_unknown_word_is_named(printed):
    assert "greedy   -0.43  quatre mille deux cent dix  = 4210" in printed["own"]
    assert "The network has never seen the word 'million'. It knows: and, eight, " in printed["own"]


def test_the_beam_is_right_where_greedy_decoding_is_not_and_both_are_wrong_elsewhere(printed):
    parts = re.split(r"\n(?=\d+, right)", printed["beams"])
    first = [re.findall(r"= (\d+)$", part, re.MULTILINE)[:2] for part in parts]
    assert first == [["651", "641"], ["4445", "4445"], ["9053", "9060"]]


def test_a_hundred_numbers_of_which_the_file_contains_the_translations(printed, network, translator):
    assert [int(n) for n in re.findall(r"(\d+) of 100 are right", printed["hundred"])] == [93, 95, 96]
    record = json.loads(capstone_weights.RESULTS_FILE.read_text("utf-8"))
    of_students = record["networks"][0]["given"]
    assert (of_students["exact_greedy"], of_students["exact_beam"]) == (93.0, 95.0)
    assert of_students["only_beam"] >= 1
    assert of_students["neither"] >= 1
    _, held = split(8000)
    assert [number for number, _, _ in network["held_out"]] == held[:100]
    for number, english, french in network["held_out"]:
        assert english == capstone.in_english(number) == " ".join(words(number, "en"))
        assert french == capstone.in_french(number) == " ".join(words(number, "fr"))


def test_errors_are_told_apart_by_the_scores(printed):
    rows = [row.split(maxsplit=1) for row in printed["errors"].splitlines()[2:]]
    kinds = {(int(number), rest.split("  ")[0]): rest.split()[-1] for number, rest in rows}
    assert len(kinds) == 7 + 5
    assert {n for (n, search), kind in kinds.items() if kind == "search"} == {641, 8155, 9041}
    assert all(kind == "model" for (_, search), kind in kinds.items() if search == "beam 4")


def test_kinds_of_sentences(printed):
    shares = dict(re.findall(r"^(\S.*?) +(\d+) % of \d+ are right", printed["kinds"], re.MULTILINE))
    assert shares == {
        "held out": "93",
        "held out, without and": "44",
        "0 to 99": "45",
        "100, 200, …, 9900": "65",
        "10000 to 99999": "0",
    }
    assert len(re.findall(r"→", printed["kinds"])) == 15
    assert "-0.23  neuf mille huit" in printed["sentences"]


def test_contexts_and_walks(printed):
    assert "nearest: 4445 at 1.50" in printed["nearest"]
    assert "median 4.98" in printed["nearest"]
    meanings = re.findall(r"= (\d+)$", printed["walk"], re.MULTILINE)
    assert meanings == ["7777"] * 3 + ["7767"] * 3 + ["4455"] + ["4445"] * 5


def test_the_answer_s_numbers_are_in_the_outputs(printed, translator):
    """Every number with decimals of part 1, 2 and 4 is printed by a cell."""
    outputs = "".join(printed.values()).replace("-", "−")
    points = ANSWER[: ANSWER.index("**How it is marked**")]
    for figure in re.findall(r"−?\d\.\d\d\b", points):
        assert figure in outputs, figure
    english = capstone.in_english(4455)
    french, score = translator.translate(english, 100)
    assert capstone.NUMBER_OF[french] == 4445
    assert score == pytest.approx(-1.00, abs=0.01)
    train, _ = split(8000)
    assert sum(n < 100 for n in train) == 75
    assert 0.01 <= sum(n % 100 == 0 for n in train) / 8000 < 0.015


# Functions that are not ready -----------------------------------------------------------------------------------------


def test_with_nothing_written_yet_every_cell_says_what_it_waits_for(tmp_path):
    printed = run(tmp_path, unwritten=SIBLINGS)
    assert printed["compared"].count("not written yet") == 3
    for name in ("encode", "decode_step", "beam_search"):
        where = f", in {NOTEBOOK_OF[name]}.ipynb."
        assert f"This cell waits for your code.  {name}: replace this line with your code{where}" in printed["compared"]
    for name in NEEDS_ALL:
        assert "This cell waits for your code.  " in printed[name], name


@pytest.mark.parametrize(
    ("notebook", "change", "told"),
    [
        (
            "encoder",
            (b"context.append(h)", b"context.append(x[:, -1])"),
            "encode: it stopped with ValueError, so finish it first, in encoder.ipynb.",
        ),
        (
            "encoder",
            (b"np.where(real[:, t, None], gru_cell(x[:, t], h, layer), h)", b"gru_cell(x[:, t], h, layer)"),
            "encode: its result is not the expected one, so finish it first, in encoder.ipynb.",
        ),
        (
            "decoder",
            (b"return x @ W_p + b_p, np.stack(s)", b"return x @ W_p + b_p, s_prev"),
            "decode_step: its result is not the expected one, so finish it first, in decoder.ipynb.",
        ),
        (
            "decoding",
            (b"return sorted(results, key=lambda pair: -pair[1])", b"return results[0][0]"),
            "beam_search: it stopped with TypeError, so finish it first, in decoding.ipynb.",
        ),
        (
            "decoding",
            (b"total + log_p[k]", b"total + logits[0, k]"),
            "beam_search: its result is not the expected one, so finish it first, in decoding.ipynb.",
        ),
        (
            "decoding",
            (b"[([*ids, k], total + log_p[k], s_new)", b"[([*ids, k], log_p[k], s_new)"),
            "beam_search: its result is not the expected one, so finish it first, in decoding.ipynb.",
        ),
    ],
)
def test_a_function_that_is_not_right_is_set_aside(tmp_path, notebook, change, told):
    printed = run(tmp_path, changed={notebook: dict([change])})
    assert printed["compared"].count("waits") == 1
    assert f"This cell waits for your code.  {told}" in printed["compared"]
    assert told in printed["own"]


def test_a_missing_notebook_is_named(tmp_path):
    printed = run(tmp_path, without=["decoding"])
    assert printed["functions"].startswith("decoding.ipynb is not in this folder.")
    assert "beam_search is still missing, in decoding.ipynb." in printed["compared"]
    assert "= 4445" not in printed["beams"]


def test_length_mask_is_named_if_it_is_what_encode_waits_for(tmp_path):
    old = b"return np.arange(max_length) < lengths[:, None]"
    new = b"raise NotImplementedError('length_mask: replace this line with your code.')"
    printed = run(tmp_path, changed={"encoder": {old: new}})
    assert "length_mask: replace this line with your code, in encoder.ipynb." in printed["compared"]


def test_without_the_file_the_cell_says_where_it_comes_from(tmp_path):
    with pytest.raises(FileNotFoundError, match="came with the exercises"):
        capstone.load_network(tmp_path / "capstone_translator.json")


# The functions that are given -----------------------------------------------------------------------------------------


def test_numbers_are_spelled_as_num2words_spells_them():
    def spelled(number, language):
        return " ".join(re.split(r"[ -]+", num2words(number, lang=language).replace(",", "")))

    chosen = [*range(10_000), *random.Random(0).sample(range(10_000, 1_000_000), 500), 80_000, 200_000, 80_080, 700_300]
    for number in chosen:
        assert capstone.in_english(number) == spelled(number, "en")
        assert capstone.in_french(number) == spelled(number, "fr")
    assert len(capstone.NUMBER_OF) == 10_000
    assert capstone.meaning("cent cent") == "(no number up to 9999)"


def test_sentences_are_read_as_a_student_may_type_them(translator):
    ids = translator.source_ids("four thousand two hundred and ninety one")
    assert translator.source_ids("  Four thousand, two hundred and ninety-one. ") == ids
    assert ids[-1] == capstone.EOS
    assert translator.source_ids("") == [capstone.EOS]
    with pytest.raises(capstone.UnknownWordError, match=r"the word 'milion'\. It knows: and, eight"):
        translator.source_ids("two milion")
    with pytest.raises(capstone.UnknownWordError, match="⟨eos⟩"):
        translator.source_ids("two ⟨eos⟩")


def test_a_number_out_of_range_is_refused(translator, capsys):
    capstone.show_translation(translator, 1_000_000)
    capstone.show_translation(translator, -1)
    assert capsys.readouterr().out.count("Please enter a number from 0 to 999999.") == 2


def model_of(network):
    """The network in PyTorch, in float64."""
    model = Translator(
        len(network["source_words"]), len(network["target_words"]), Settings(embed_size=32, hidden_size=48, layers=2)
    ).double()
    (E_source, encoder), (E_target, decoder, W_p, b_p) = network["encoder"], network["decoder"]
    state = {"source_embedding.weight": E_source, "target_embedding.weight": E_target}
    state |= {"head.weight": W_p.T, "head.bias": b_p}
    for rnn, layers in (("encoder", encoder), ("decoder", decoder)):
        for i, layer in enumerate(layers):
            names = {"W_x": "weight_ih", "W_h": "weight_hh", "b_x": "bias_ih", "b_h": "bias_hh"}
            state |= {f"{rnn}.{of_torch}_l{i}": layer[name].T for name, of_torch in names.items()}
    model.load_state_dict({name: torch.from_numpy(np.ascontiguousarray(array)) for name, array in state.items()})
    return model


def test_contexts_and_scores_are_those_of_pytorch(network, translator):
    model, numbers = model_of(network), (7, 4455, 90, 1000)
    sentences = [capstone.in_english(number) for number in numbers]
    contexts = translator.contexts(sentences)
    for b, (number, sentence) in enumerate(zip(numbers, sentences, strict=True)):
        ids = torch.tensor([translator.source_ids(sentence)])
        with torch.no_grad():
            context = model.encode(ids, torch.tensor([ids.shape[1]]))
            np.testing.assert_allclose(contexts[:, [b]], context, atol=1e-12)
            wanted = [network["target_words"].index(w) for w in capstone.in_french(number).split()]
            logits, _ = model.decode(torch.tensor([[capstone.SOS, *wanted]]), context, context)
            log_p = torch.log_softmax(logits[0], dim=-1)
            expected = sum(log_p[t, y] for t, y in enumerate([*wanted, capstone.EOS]))
        assert translator.score_of(sentence, capstone.in_french(number)) == pytest.approx(float(expected), abs=1e-10)


def test_a_beam_of_width_1_is_greedy_and_its_score_is_that_of_its_words(translator, network):
    for number in (4210, 641, 33, 9041):
        sentence = capstone.in_english(number)
        french, score = translator.translate(sentence)
        ids = greedy_decode(translator.step, translator.contexts([sentence]), 1, 2, capstone.MAX_LENGTH)
        assert french == " ".join(network["target_words"][i] for i in ids)
        assert score == pytest.approx(translator.score_of(sentence, french), abs=1e-9)


def test_max_length_is_enough_for_every_number_of_the_training_data():
    assert max(len(words(n, "fr")) for n in range(10_000)) + 1 == 9 < capstone.MAX_LENGTH


# The file and its record ----------------------------------------------------------------------------------------------


def test_the_file_is_small_and_its_probe_has_sentences_of_different_lengths():
    assert SHIPPED.stat().st_size < 700_000
    known = json.loads(SHIPPED.read_text("utf-8"))["probe"]
    assert len(set(known["lengths"])) == 3


def test_the_record_has_settings_seeds_versions_and_its_command():
    record = json.loads(capstone_weights.RESULTS_FILE.read_text("utf-8"))
    assert record["command"] == "python -m experiments.ch05.capstone_weights --record"
    assert record["settings"] == capstone_weights.SETTINGS
    assert [network["seed"] for network in record["networks"]] == record["seeds"] == list(range(5))
    assert set(record["versions"]) == {"numpy", "torch"}
    for network in record["networks"]:
        counts = network["other"]
        assert sum(counts[name] for name in ("both", "only_beam", "only_greedy", "neither")) == 500
        assert counts["neither"] > 10, "enough mistakes to explain"


def test_the_notebook_states_the_settings_of_the_record():
    s = capstone_weights.SETTINGS
    text = re.sub(r"\s*\n# ", " ", SOURCE)
    assert f"two layers of {s['hidden_size']} units" in text
    assert f"embeddings of {s['embed_size']} numbers" in text
    assert f"{s['updates']} updates with Adam, learning rate {s['lr']}, batches of {s['batch']}" in text


@pytest.mark.slow
def test_the_command_measures_a_network_of_the_shipped_form():
    """After two updates: what a whole training ends at depends on the processor, and is recorded for five seeds."""
    fitted = capstone_weights.trained(0, updates=2)
    _, other = (capstone_weights.pairs(numbers, "fr") for numbers in capstone_weights.held_out())
    shares = capstone_weights.outcomes(fitted, other[:5])
    assert sum(shares[name] for name in ("both", "only_beam", "only_greedy", "neither")) == 5
    assert set(capstone_weights.weights_of(fitted)) == set(json.loads(SHIPPED.read_text("utf-8"))["weights"])
