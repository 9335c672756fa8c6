"""Programs that the spec of `decode_ids` does not contain; beside each wrong one is what it is told."""

import numpy as np

from grader.spec.trials import Trials

TRIALS = Trials()


@TRIALS.wrong()
def a_list_of_characters(ids, vocab):
    return [next(c for c in vocab if vocab[c] == i) for i in ids]


@TRIALS.wrong("altered input: backward ids")
def backwards(ids, vocab):
    characters = {i: c for c, i in vocab.items()}
    return "".join(characters[i] for i in ids[::-1])


@TRIALS.wrong("only_the_first_character")
def returns_in_the_loop(ids, vocab):
    text = ""
    for index in ids:
        for key in vocab:
            if vocab[key] == index:
                text += key
        return text
    return None


@TRIALS.wrong("last_character_missing")
def stops_early(ids, vocab):
    characters, text = dict(zip(vocab.values(), vocab, strict=True)), ""
    for t in range(len(ids) - 1):
        text += characters[ids[t]]
    return text


@TRIALS.wrong("spaces_at_the_ends_removed")
def stripped(ids, vocab):
    text = ""
    for index in ids:
        text += next(c for c in vocab if vocab[c] == index)
    return " ".join(text.split(" ")).strip()


@TRIALS.wrong("unk_not_shown")
def unk_skipped(ids, vocab):
    characters = {i: c for c, i in vocab.items() if c != "<unk>"}
    return "".join(characters[i] for i in ids if i in characters)


@TRIALS.wrong()
def commas(ids, vocab):
    characters = {i: c for c, i in vocab.items()}
    return ",".join(characters[i] for i in ids)
