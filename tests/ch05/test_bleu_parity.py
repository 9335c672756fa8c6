"""`bleu` and the oracle of its check equal sacrebleu on random corpora, and give the worked numbers of the notebook."""

import math
from itertools import zip_longest

import numpy as np
import pytest
from sacrebleu.metrics import BLEU

from grader.spec.load import load_module
from solutions.ch05_encoder_decoder.bleu import bleu
from tests.conftest import ROOT
from tests.loops import for_each

CHECK = load_module(ROOT / "solutions/ch05_encoder_decoder/bleu/spec.py", "_checks_bleu_parity")
EQUAL = {"rel": 1e-12, "abs": 1e-15}


def sacrebleu_score(candidates, references, max_n):
    """What sacrebleu gives for tokens that it does not split any further."""
    metric = BLEU(smooth_method="none", tokenize="none", force=True, max_ngram_order=max_n)
    columns = [[ref and " ".join(ref) for ref in column] for column in zip_longest(*references)]
    return metric.corpus_score([" ".join(candidate) for candidate in candidates], columns).score / 100


def corpus(seed):
    """Candidates that share much with their references, some of them empty or short."""
    rng = np.random.default_rng(seed)
    words = [f"w{i}" for i in range(int(rng.integers(1, 6)))]

    def sentence(low, high):
        return [str(word) for word in rng.choice(words, size=int(rng.integers(low, high)))]

    candidates, references = [], []
    for _ in range(int(rng.integers(1, 5))):
        refs = [sentence(1, 10) for _ in range(int(rng.integers(1, 4)))]
        start = refs[int(rng.integers(len(refs)))]
        candidates.append(
            [start + sentence(0, 4), start[: int(rng.integers(10))], sentence(0, 9)][int(rng.integers(3))]
        )
        references.append(refs)
    return candidates, references, int(rng.integers(1, 6))


def test_the_random_corpora_are_of_all_kinds():
    corpora = [corpus(seed) for seed in range(300)]
    scores = [bleu(*each) for each in corpora]
    assert sum(score == 0 for score in scores) > 30
    assert sum(0 < score < 1 for score in scores) > 100
    assert sum([] in candidates for candidates, _, _ in corpora) > 20
    assert {max_n for _, _, max_n in corpora} == {1, 2, 3, 4, 5}


@for_each("seed", range(300))
def test_reference_and_oracle_equal_sacrebleu(seed):
    candidates, references, max_n = corpus(seed)
    due = sacrebleu_score(candidates, references, max_n)
    assert bleu(candidates, references, max_n) == pytest.approx(due, **EQUAL)
    assert CHECK.oracle(candidates, references, max_n) == pytest.approx(due, **EQUAL)


@for_each("seed", range(20))
def test_the_expected_results_of_the_check_equal_sacrebleu(seed):
    for case in [CHECK.EXAMPLE, *CHECK.cases(np.random.default_rng(seed))]:
        assert CHECK.oracle(**case.inputs) == pytest.approx(sacrebleu_score(**case.inputs), **EQUAL)
        assert bleu(**case.inputs) == pytest.approx(sacrebleu_score(**case.inputs), **EQUAL)
        score = CHECK.oracle(**case.inputs)
        assert (case.kind in (CHECK.NO_MATCH, CHECK.NO_N_GRAM, CHECK.NO_TOKEN)) == (score == 0)
        assert score == 1 or case.kind != CHECK.SAME


@for_each("seed", range(20))
def test_the_kinds_of_cases_are_what_they_are_called(seed):
    """Only short candidates are penalised, and only cases of several references have more than one."""
    for case in CHECK.cases(np.random.default_rng(seed)):
        candidates, references, max_n = case.inputs.values()
        if case.kind in (CHECK.ONE, CHECK.SEVERAL):
            assert (max(map(len, references)) > 1) == (case.kind == CHECK.SEVERAL)
            doubled = bleu([*candidates, *candidates], [*references, *references], max_n)
            assert doubled == pytest.approx(bleu(candidates, references, max_n), **EQUAL)
            assert sum(map(len, candidates)) >= sum(min(map(len, refs)) for refs in references)


def test_the_worked_example_of_the_notebook():
    case = CHECK.EXAMPLE.inputs
    assert round(bleu(**case), 3) == 0.597
    assert bleu(**case) == pytest.approx(math.exp(1 - 10 / 9) * math.sqrt(7 / 9 * 4 / 7), **EQUAL)
    assert round(math.exp(1 - 10 / 9), 3) == 0.895
    assert bleu(**{**case, "max_n": 1}) == pytest.approx(math.exp(1 - 10 / 9) * 7 / 9, **EQUAL)


def test_what_a_zero_is():
    """As in sacrebleu without smoothing: no match of an order, or no n-gram of it, makes the result 0."""
    assert bleu([["a", "b"]], [[["a", "b"]]]) == 0
    assert bleu([["a", "b"]], [[["a", "b"]]], 2) == 1
    assert bleu([[]], [[["a"]]], 1) == 0
    assert bleu([[], ["a"]], [[["b"]], [["a"]]], 1) == pytest.approx(math.exp(-1), **EQUAL)
    assert bleu([["a"] * 3], [[["a"]]], 1) == pytest.approx(1 / 3, **EQUAL)


def test_what_the_notebook_says_of_five_translations():
    text = "the committee did not approve the plan for the new bridge on monday"
    reference = text.split()
    edits = {("not", ""): 0.77, ("monday", "friday"): 0.91}
    for (was, becomes), score in edits.items():
        candidate = text.replace(was, becomes).split()
        assert round(bleu([candidate], [[reference]]), 2) == score
    paraphrase = "on monday the commission rejected the plans for the new bridge"
    moved = [*reference[-2:], *reference[:-2]]
    assert round(bleu([moved], [[reference]]), 2) == 0.88
    assert round(bleu([paraphrase.split()], [[reference]]), 2) == 0.25
