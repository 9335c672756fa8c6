"""Programs that the spec of `decode_ids` does not contain; beside each wrong one is what it is told."""

import numpy as np

from grader.author.trials import Trials

TRIALS = Trials()


@TRIALS.wrong()
def a_list_of_characters(ids, vocab):
    return [next(c for c in vocab if vocab[c] == i) for i in ids]


@TRIALS.wrong("counterfactual: backward ids")
def backwards(ids, vocab):
    characters = {i: c for c, i in vocab.items()}
    return "".join(characters[i] for i in ids[::-1])
