"""The capstone of chapter 06, its cells run as a notebook runs them, beside the chapter's other notebooks."""

import json
import re
import shutil

import numpy as np
import pytest
import torch

from experiments.ch05.model import EOS, PAD, Fitted, Vocabulary, greedy
from experiments.ch06 import capstone_weights
from experiments.ch06.alignments import SHOWN, erase_states, erase_words
from experiments.ch06.alignments import weights_of as attention
from experiments.ch06.capstone_weights import Phrase
from experiments.ch06.model import Attending, AttentionSettings
from solutions.ch06_attention import capstone
from solutions.ch06_attention.decoder import attention_step
from solutions.ch06_attention.scores import additive_score
from tests.capstones import MANIFEST, ROOT, asked, run_cells, write_notebooks

CHAPTER = MANIFEST.chapter("ch06_attention")
SHIPPED = ROOT / "solutions" / "ch06_attention" / "files" / "capstone_attention.json"
SOURCE = (ROOT / "solutions" / "ch06_attention" / "capstone.py").read_text("utf-8")
ANSWER = SOURCE[SOURCE.index("### BEGIN SOLUTION") :]
RECORD = json.loads(capstone_weights.RESULTS_FILE.read_text("utf-8"))

NOTEBOOK_OF = asked("ch06_attention")
TITLES = {
    "functions": "## Your functions",
    "network": "## The network",
    "compared": "## Do your functions run this network?",
    "own": "## Your own sentences",
    "held out": "## Ninety-six sentences",
    "words": "## What if a word were missing?",
    "states": "## What if a state were missing?",
    "shares": "Two sentences are no evidence.",
    "longer": "## Longer sentences than in training",
    "question": "## Explain what it looks at",
}
NEEDS_STEP = ("own", "held out", "words", "states", "shares", "longer")
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
    return capstone.Translator(network, additive_score, attention_step)


# The notebook with the functions of the solutions ---------------------------------------------------------------------


def test_all_functions_agree_with_pytorch(printed):
    assert printed["functions"] == ""
    rows = re.findall(r"^(\w+) +largest difference (\S+)$", printed["compared"], re.MULTILINE)
    assert [name for name, _ in rows] == list(NOTEBOOK_OF)
    assert all(float(difference) < 1e-5 for _, difference in rows)
    assert "waits" not in "".join(printed.values())
    assert "was given" not in printed["compared"]


def rows_of(text, french):
    """The rows of this word in all tables of a text, each as its numbers and dots."""
    rows = re.findall(rf"^    {french} .*$", text, re.MULTILINE)
    found = [re.findall(r"\d+\.\d\*?|\d+|·\*?", row) for row in rows]
    return [row for row in found if row]  # the line with the translation may begin with the word too


def test_own_sentences_have_a_heat_map_and_an_unknown_word_is_named(printed):
    own = printed["own"]
    assert "ma voiture rouge suit deux petits chats" in own
    assert rows_of(own, "ma")[0] == ["42", "7", "49", "1", "·", "·", "·", "·"]
    assert "[▒ 42]" in own
    assert "The network has never seen the word 'bicycle'. All its words are printed above." in own
    assert own.count("⟨eos⟩") == 3


def test_the_held_out_sentences_are_as_the_text_and_the_record_say(printed):
    text, first = re.sub(r"\s*\n# ", " ", SOURCE), RECORD["networks"][0]
    given = first["given"]
    assert f"{given['exact']} % of {given['sentences']} translations are right" in printed["held out"]
    assert f"{given['alignment']} % of {given['words']} French words" in printed["held out"]
    exact, aligned = zip(
        *((one["other"]["exact"], one["other"]["alignment"]) for one in RECORD["networks"]), strict=True
    )
    assert f"Of {first['other']['sentences']} other held-out sentences" in text
    assert f"translates {exact[0]} % without a mistake" in text
    assert f"other random weights {exact[1]} % and {exact[2]} %" in text
    assert f"are {aligned[0]} %, {aligned[1]} % and {aligned[2]} %" in text


def test_the_list_is_as_the_answer_says(printed):
    lines = re.findall(r"^    word (\d+): \S+ \((\w+)\)", printed["held out"], re.MULTILINE)
    determiners = ("the", "a", "this", "these", "my", "two", "three", "every")
    found = len(lines), sum(word in determiners for _, word in lines), sum(t == "1" for t, _ in lines)
    assert "of the 26 words, 25 are determiners, and 23 are the first word" in ANSWER
    assert found == (26, 25, 23)


def test_no_listed_word_hangs_on_the_last_bits(translator, network):
    weights, _ = capstone.all_weights(translator, network["held_out"])
    first, second = np.sort(weights, axis=1)[:, :-3:-1].T
    assert (first - second).min() > 1e-4


def test_erasures_are_as_the_answer_says(printed):
    words, states, own = printed["words"], printed["states"], printed["own"]
    assert rows_of(own, "ma")[0][:3] == ["42", "7", "49"]
    assert "weight of 0.49 on *car* and 0.42 on *my*" in ANSWER
    early, late = rows_of(words, "ma")
    assert early[:3] == ["0.9", "·", "3.0*"]
    assert rows_of(states, "ma")[0][:3] == ["0.5", "·", "0.1"]
    assert (late[4], late[7]) == ("1.4*", "5.5*")
    assert (rows_of(states, "ma")[1][4], rows_of(states, "ma")[1][7]) == ("2.1*", "·")
    assert rows_of(words, "petite")[0][7] == "·"
    assert rows_of(words, "chats")[0][5] == "4.6*"
    assert set(rows_of(states, "les")[0]) == {"·"}


def test_the_answer_s_weights_are_those_of_its_sentence(translator):
    english = translator.words("the happy queens watch my small round table")
    french, weights = translator.translate(english)
    assert " ".join(french) == "les reines contentes regardent ma petite table ronde"
    assert weights[0, 2] == pytest.approx(0.76, abs=0.005)
    assert weights[4, [4, 7]] == pytest.approx([0.91, 0.02], abs=0.005)


def test_shares_are_as_the_answer_says(printed):
    shares = re.findall(r"^ *([\d.]+) %", printed["shares"], re.MULTILINE)
    assert len(shares) == 4
    for share in (shares[0], shares[1], shares[3]):
        assert f"{share} %" in ANSWER


def test_longer_sentences_are_as_the_answer_says(printed):
    found = re.findall(r"(\d+) words: (\d) of 6 right, accuracy ([\d.]+) %", printed["longer"])
    assert [(n, right) for n, right, _ in found] == [("11", "6"), ("12", "2"), ("13", "2"), ("14", "0"), ("15", "0")]
    assert f"from {RECORD['networks'][0]['given']['alignment']} % to {found[-1][2]} %" in ANSWER
    assert "(15 words; no sentence in training has more than 10.)" in printed["longer"]
    assert rows_of(printed["longer"], "mon")[0][2] == "60"
    assert "bateau" not in printed["longer"].split("right:")[1].split("\n", 2)[2]
    assert rows_of(printed["longer"], "et")[0][6] == "40"
    assert rows_of(printed["longer"], "porte")[0][14] == "92"


# Functions that are not ready -----------------------------------------------------------------------------------------


def test_with_nothing_written_yet_every_cell_says_what_it_waits_for(tmp_path):
    printed = run(tmp_path, unwritten=SIBLINGS)
    assert printed["compared"].count("not written yet") == 5
    for name in ("additive_score", "attention_step", "alignment_accuracy"):
        where = f", in {NOTEBOOK_OF[name]}.ipynb."
        assert f"This cell waits for your code.  {name}: replace this line with your code{where}" in printed["compared"]
    for name in NEEDS_STEP:
        assert "This cell waits for your code.  " in printed[name], name


@pytest.mark.parametrize(
    ("notebook", "change", "told"),
    [
        (
            "scores",
            (b"return np.tanh(q[:, None] + k) @ v", b"return (q[:, None] + k) @ v"),
            "additive_score: its result is not the expected one, so finish it first, in scores.ipynb.",
        ),
        (
            "scores",
            (b"return np.tanh(q[:, None] + k) @ v", b"return np.tanh(q + k) @ v"),
            "additive_score: it stopped with ValueError, so finish it first, in scores.ipynb.",
        ),
        (
            "decoder",
            (b"np.concatenate([s, context], axis=1) @ W_p", b"np.concatenate([context, s], axis=1) @ W_p"),
            "attention_step: its result is not the expected one, so finish it first, in decoder.ipynb.",
        ),
        (
            "decoder",
            (b"return logits, s, weights", b"return logits, s"),
            "attention_step: it stopped with ValueError, so finish it first, in decoder.ipynb.",
        ),
    ],
)
def test_a_function_that_is_not_right_is_set_aside(tmp_path, notebook, change, told):
    printed = run(tmp_path, changed={notebook: dict([change])})
    assert printed["compared"].count("waits") == 1
    assert f"This cell waits for your code.  {told}" in printed["compared"]
    for name in NEEDS_STEP:
        assert told in printed[name], name


def test_without_the_accuracy_everything_else_runs(tmp_path):
    aligned = b"return np.mean(weights.argmax(axis=1)[aligned] == gold[aligned])"
    printed = run(tmp_path, changed={"decoder": {aligned: b"return np.mean(weights.argmax(axis=1) == gold)"}})
    assert "alignment_accuracy: its result is not the expected one" in printed["compared"]
    assert "100.0 % of 96 translations are right" in printed["held out"]
    assert "alignment_accuracy: its result is not the expected one" in printed["held out"]
    for name in ("own", "words", "states", "shares"):
        assert "waits" not in printed[name]


def test_masked_softmax_and_attend_are_the_students_own_or_those_that_were_given(tmp_path):
    right = b"return (weights[:, :, None] * values).sum(axis=1)"
    counted = b"print('own attend')\\n    return (weights[:, :, None] * values).sum(axis=1)"
    printed = run(tmp_path, changed={"scores": {right: counted}})
    assert "own attend" in printed["own"]
    printed = run(tmp_path, changed={"scores": {right: b"return values.mean(axis=1)"}})
    assert "attention_step keeps the attend that was given" in printed["compared"]
    assert "ma voiture rouge suit deux petits chats" in printed["own"]
    assert "waits" not in "".join(printed.values())


def test_a_missing_notebook_is_named(tmp_path):
    printed = run(tmp_path, without=["decoder"])
    assert printed["functions"].startswith("decoder.ipynb is not in this folder.")
    assert "attention_step is still missing, in decoder.ipynb." in printed["compared"]
    assert "attention_step is still missing" in printed["own"]


def test_without_the_file_the_cell_says_where_it_comes_from(tmp_path):
    with pytest.raises(FileNotFoundError, match="came with the exercises"):
        capstone.load_network(tmp_path / "capstone_attention.json")


# The functions that are given -----------------------------------------------------------------------------------------


def model_of(network):
    """The network in PyTorch, in float64."""
    w, s = network["weights"], capstone_weights.SETTINGS
    settings = AttentionSettings(**{name: s[name] for name in ("embed_size", "hidden_size", "attention_size")})
    model = Attending(len(network["source_words"]), len(network["target_words"]), settings).double()
    state = {"source_embedding.weight": w["E_source"], "target_embedding.weight": w["E_target"]}
    state |= {"head.weight": w["W_p"].T, "head.bias": w["b_p"]}
    state |= {"query.weight": w["score"]["W_q"].T, "key.weight": w["score"]["W_k"].T, "v.weight": w["score"]["v"][None]}
    names = {"W_x": "weight_ih", "W_h": "weight_hh", "b_x": "bias_ih", "b_h": "bias_hh"}
    for rnn, part, suffix in (
        ("encoder", "forward", ""),
        ("encoder", "backward", "_reverse"),
        ("decoder",) * 2 + ("",),
    ):
        state |= {f"{rnn}.{of_torch}_l0{suffix}": w[part][name].T for name, of_torch in names.items()}
    model.load_state_dict({name: torch.from_numpy(np.ascontiguousarray(array)) for name, array in state.items()})
    return model


@pytest.fixture(scope="module")
def fitted(network):
    source, target = Vocabulary([]), Vocabulary([])
    for vocabulary, tokens in ((source, network["source_words"]), (target, network["target_words"])):
        vocabulary.tokens = tokens
        vocabulary.id = {token: i for i, token in enumerate(tokens)}
    return Fitted(model_of(network), source, target, [])


def test_keys_and_the_first_state_are_those_of_pytorch(network, translator):
    model, known = model_of(network), network["probe"]
    ids, mask = np.array(known["ids"]), np.array(known["mask"])
    with torch.no_grad():
        source = model.encode(torch.tensor(ids), torch.tensor(mask.sum(axis=1)))
    np.testing.assert_allclose(source.keys, known["keys"], atol=1e-6)
    for b, row in enumerate(ids):
        english = [network["source_words"][i] for i in row if i > EOS]
        keys, s_0 = translator.encode(english)
        np.testing.assert_allclose(keys[0], source.keys[b, : len(english) + 1], atol=1e-12)
        np.testing.assert_allclose(s_0, source.final[:, b], atol=1e-12)


def test_translations_weights_and_erasures_are_those_of_the_experiments(network, translator, fitted):
    chosen = [Phrase(*row) for row in (*network["held_out"][::13], *network["longer"][::9])]
    found = greedy(fitted, [phrase.english for phrase in chosen], max_length=capstone.MAX_LENGTH)
    for phrase, french in zip(chosen, found, strict=True):
        assert translator.translate(phrase.english)[0] == french
        _, weights, _ = translator.follow(phrase.english, phrase.french)
        np.testing.assert_allclose(weights, attention(fitted, [phrase])[0, :-1], atol=1e-12)
        for ours, theirs in ((capstone.erase_words, erase_words), (capstone.erase_states, erase_states)):
            lost, wins = ours(translator, phrase.english, phrase.french)
            expected = theirs(fitted, [phrase])
            np.testing.assert_allclose(lost, expected.loss[0], atol=1e-9)
            np.testing.assert_array_equal(wins, expected.changed[0])


def test_a_gap_is_the_embedding_of_padding(network):
    assert not network["weights"]["E_source"][PAD].any()


def test_sentences_are_read_as_a_student_may_type_them(translator):
    assert translator.words("  My red car, sees two cats. ") == ["my", "red", "car", "sees", "two", "cats"]
    with pytest.raises(capstone.UnreadableError, match=r"the word 'caat'\. Similar words that it knows: cat"):
        translator.words("my caat")
    with pytest.raises(capstone.UnreadableError, match="⟨eos⟩"):
        translator.words("my ⟨eos⟩")
    with pytest.raises(capstone.UnreadableError, match="no word"):
        translator.words(" . ")


def test_one_word_and_nothing_translated_are_shown_too(network, translator, capsys):
    for sentence in ("cat", "and and and", "the " * 20):
        capstone.show(network, translator, sentence)
    capstone.heat_map(network, ["cat"], [], np.zeros((0, 2)))
    assert capsys.readouterr().out.count("⟨eos⟩") == 4


def test_the_dictionary_is_that_of_the_alignments(network):
    for english, french, gold in network["held_out"] + network["longer"]:
        pairs = np.array(capstone.in_dictionary(network, english, french))
        assert pairs[np.arange(len(french)), gold].all()
    assert network["translates"]["ces"] == ["these"]
    assert network["translates"]["les"] == ["the"]


# The file and its record ----------------------------------------------------------------------------------------------


def test_the_file_is_small_and_its_sentences_were_not_in_training(network):
    assert SHIPPED.stat().st_size < 400_000
    train, _ = capstone_weights.data()
    known = {" ".join(phrase.english) for phrase in train}
    given = network["held_out"] + network["longer"]
    assert len(given) == 96 + 30
    assert not known & {" ".join(english) for english, _, _ in given}
    assert len({sum(row) for row in network["probe"]["mask"]}) == 3
    assert {phrase for row in SHOWN for phrase in row.english} <= set(network["source_words"])


def test_the_sentences_of_the_notebook_were_not_in_training():
    known = {" ".join(phrase.english) for phrase in capstone_weights.data()[0]}
    shown = [*re.findall(r'^# +"([a-z ]+)",$', SOURCE, re.MULTILINE), "the happy queens watch my small round table"]
    assert len(shown) == 5
    assert not known & set(shown)


def test_the_record_has_settings_seeds_versions_and_its_command():
    assert RECORD["command"] == "python -m experiments.ch06.capstone_weights --record"
    assert RECORD["settings"] == capstone_weights.SETTINGS
    assert [network["seed"] for network in RECORD["networks"]] == RECORD["seeds"] == list(range(3))
    assert set(RECORD["versions"]) == {"numpy", "torch"}
    for network in RECORD["networks"]:
        assert [network[part]["sentences"] for part in ("given", "other", "longer")] == [96, 704, 500]
        assert network["other"]["exact"] > 90
        assert network["longer"]["exact"] < 50


def test_the_notebook_states_the_settings_of_the_record():
    s, text = capstone_weights.SETTINGS, re.sub(r"\s*\n# ", " ", SOURCE)
    assert f"{s['hidden_size'] // 2} units each, so each source word has a key of {s['hidden_size']} numbers" in text
    assert f"The embeddings have {s['embed_size']} numbers" in text
    assert f"the small network of the score has {s['attention_size']} units" in text
    assert f"{s['updates']} updates with Adam, learning rate {s['lr']}, batches of {s['batch']}" in text
    assert f"on {s['train_each']:,} English sentences of each length from {s['shortest']} to {s['longest']}" in text
    assert s["longest"] == capstone.LONGEST
    assert s["longest_given"] + 1 < capstone.MAX_LENGTH


@pytest.mark.slow
def test_the_command_measures_a_network_of_the_shipped_form():
    """After two updates: what a whole training ends at depends on the processor, and is recorded for three seeds."""
    trained = capstone_weights.trained(0, updates=2)
    found = capstone_weights.outcomes(trained, {3: capstone_weights.parts()["other"][3][:8]})
    assert found["sentences"] == 8
    assert set(capstone_weights.weights_of(trained)) == set(json.loads(SHIPPED.read_text("utf-8"))["thousandths"])


# What it shares with other parts of the course ------------------------------------------------------------------------


def test_what_is_taken_from_earlier_capstones_is_unchanged():
    def piece(text, start, end):
        return text[text.index(start) : text.index(end, text.index(start))].rstrip()

    earlier = (ROOT / "solutions" / "ch05_encoder_decoder" / "capstone.py").read_text("utf-8")
    taken = (
        ("def largest_difference(", "\n\n\ndef "),
        ("def waiting(", '# %% active="ipynb"'),
    )
    for start, end in taken:
        assert piece(SOURCE, start, end) == piece(earlier, start, end)
    decoder = (ROOT / "solutions" / "ch06_attention" / "decoder.py").read_text("utf-8")
    assert piece(SOURCE, "def gru_cell(", "\n\n\n") == piece(decoder, "def gru_cell(", "\n\n\n")
