"""What the texts of notebooks say about trained networks is what the record of these runs says."""

import re

from tests.capstones import ROOT, recorded


def said(chapter, notebook):
    return re.sub(r"\n# ", " ", (ROOT / "solutions" / chapter / f"{notebook}.py").read_text("utf-8"))


def after_400(runs, heading):
    """The lines after the last training of each run."""
    return [run[heading].partition("after 400 updates")[2] for run in runs]


def right(texts):
    found = [int(re.search(r"(\d+) of 500 unseen numbers are right", text)[1]) for text in texts]
    return f"between {min(found)} and {max(found)}"


def test_seq2seq():
    _, runs = recorded("ch05_encoder_decoder", "seq2seq")
    texts, text = after_400(runs, "Training your model"), said("ch05_encoder_decoder", "seq2seq")
    packed, padded = texts[:5], texts[5:]
    assert f"With five seeds, {right(packed)} of the 500 unseen numbers were right" in text
    assert f"With the same five seeds it was {right(padded)}, about as many" in text
    assert all("(right: VII)" in each for each in packed), "the number 7 was wrong each time"
    alone, beside = ([re.search(rf"{where}: (\w+)", each)[1] for each in texts] for where in ("alone", "beside 1984"))
    assert alone[:5] == beside[:5] == beside[5:] == ["CDXLIV"] * 5
    assert "CDXLIV" not in alone[5:]


def test_attention_decoder():
    _, runs = recorded("ch06_attention", "attention_decoder")
    texts = after_400(runs, "Training your decoder, and looking at its weights")
    text = said("ch06_attention", "attention_decoder")
    assert f"With five seeds, {right(texts)} of the 500 unseen numbers were right" in text
    packed = after_400(recorded("ch05_encoder_decoder", "seq2seq")[1][:5], "Training your model")
    assert f"without attention, {right(packed)} of the 500 were right" in text


def test_char_lm():
    _, runs = recorded("ch04_gated", "char_lm")
    texts, text = after_400(runs, "Training your model"), said("ch04_gated", "char_lm")
    bits = [re.match(r", (\d\.\d\d) bits", each)[1] for each in texts]
    assert f"between {min(bits[:5])} and {max(bits[:5])} bits with the carried state" in text
    assert f"between {min(bits[5:])} and {max(bits[5:])} bits without it" in text
    shares = [[round(100 * float(x)) for x in re.findall(r"(\S+) of the words", each)] for each in texts[:5]]
    low, one, two, top = zip(*shares, strict=True)
    assert f"at most {max(low)} % of the words were misspelled at temperature 0.3" in text
    assert f"{min(one)} to {max(one)} % at 1, and {min(two)} to {max(two)} % at 2" in text
    assert f"With the top 3 at temperature 2 it was {min(top)} to {max(top)} %" in text
