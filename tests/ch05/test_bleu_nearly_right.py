"""Programs for BLEU that are nearly right must fail and get no wrong name; right ones in other styles must pass."""

import linecache
import math
import textwrap
from collections import Counter, defaultdict

import numpy as np
import pytest

from tests.conftest import exercise

SEEDS = range(5)


def written(body):
    """A student's function with this body, as a notebook's cell defines it."""
    source = (
        "def bleu(candidates, references, max_n=4):\n" + textwrap.indent(textwrap.dedent(body).strip(), "    ") + "\n"
    )
    filename = f"<cell {hash(source)}>"
    linecache.cache[filename] = (len(source), None, source.splitlines(keepends=True), filename)
    namespace = {"np": np, "math": math, "Counter": Counter, "defaultdict": defaultdict}
    exec(compile(source, filename, "exec"), namespace)
    return namespace["bleu"]


STUDENT = """
def grams(tokens, n):
    return [tuple(tokens[i:i + n]) for i in range(len(tokens) - n + 1)]

precisions = []
for n in range(1, max_n + 1):
    good, total = 0, 0
    for cand, refs in zip(candidates, references):
        have = Counter(grams(cand, n))
        for g, k in have.items():
            good += min(k, max(grams(ref, n).count(g) for ref in refs))
        total += sum(have.values())
    if good == 0:
        return 0.0
    precisions.append(good / total)
c = sum(len(cand) for cand in candidates)
r = 0
for cand, refs in zip(candidates, references):
    lengths = sorted(len(ref) for ref in refs)
    r += min(lengths, key=lambda L: abs(L - len(cand)))
bp = 1 if c > r else math.exp(1 - r / c)
return bp * math.exp(sum(math.log(p) for p in precisions) / max_n)
"""


def but(*pairs):
    """The student's program with these changes."""
    body = STUDENT
    for was, becomes in pairs:
        assert body.count(was) == 1, was
        body = body.replace(was, becomes)
    return body


TOTAL = "        total += sum(have.values())\n"
BP = "bp = 1 if c > r else math.exp(1 - r / c)"
LENGTH = "    lengths = sorted(len(ref) for ref in refs)\n    r += min(lengths, key=lambda L: abs(L - len(cand)))\n"
GOOD = "good += min(k, max(grams(ref, n).count(g) for ref in refs))"
GUARD = (BP, "if not precisions:\n    return 0.0\n" + BP)
BY_LENGTH = ("/ max_n)", "/ len(precisions))")
NEVER_BY_ZERO = "bp = 1 if c > r else math.exp(1 - r / max(c, 0.1))"
LEFT_OUT = """pairs = [p for p in zip(candidates, references) if p[0]]
if not pairs:
    return 0.0
candidates, references = zip(*pairs)
"""
LAST_OF_EQUAL = """    for ref in refs:
        if ref is refs[0] or abs(len(ref) - len(cand)) <= abs(best - len(cand)):
            best = len(ref)
    r += best
"""
ZIPPED = "list(zip(*[tokens[i:] for i in range(n)]))"
DEFAULTDICT = """have = defaultdict(int)
        for g in grams(cand, n):
            have[g] += 1"""
RETURN = "return bp * math.exp(sum(math.log(p) for p in precisions) / max_n)"
ZERO = "    if good == 0:\n        return 0.0\n"

WRONG = {  # the body, what it is told: a name, some names or None
    "no limit": (but((GOOD, "good += k if any(g in grams(ref, n) for ref in refs) else 0")), "not_clipped"),
    "limit by the sum": (but(("max(grams", "sum(grams")), "clipped_by_the_sum"),
    "limit by the minimum": (but(("max(grams", "min(grams")), None),
    "the first reference": (but((GOOD, "good += min(k, grams(refs[0], n).count(g))")), "one_reference_for_all_matches"),
    "the last reference": (but((GOOD, "good += min(k, grams(refs[-1], n).count(g))")), "one_reference_for_all_matches"),
    "all references as one text": (
        but((GOOD, "good += min(k, grams(sum(refs, []), n).count(g))")),
        {None, "clipped_by_the_sum"},
    ),
    "any reference of the corpus": (
        but((GOOD, "good += min(k, max(grams(ref, n).count(g) for rs in references for ref in rs))")),
        None,
    ),
    "sets": (but(("have = Counter(grams(cand, n))", "have = Counter(set(grams(cand, n)))")), "n_grams_as_sets"),
    "good of a list": (but((GOOD, "good += 1 if any(g in grams(ref, n) for ref in refs) else 0")), None),
    "bags of words": (but(("tuple(tokens[i:i + n])", "tuple(sorted(tokens[i:i + n]))")), None),
    "letters": (but(("tuple(tokens[i:i + n])", "tuple(''.join(tokens)[i:i + n])")), None),
    "sorted tokens": (but(("return [tuple(tokens", "tokens = sorted(tokens)\n    return [tuple(tokens")), None),
    "totals of the references": (
        but((TOTAL, "        total += sum(len(grams(ref, n)) for ref in refs)\n")),
        {None, "recall_for_precision"},
    ),
    "totals of the first reference": (
        but((TOTAL, "        total += len(grams(refs[0], n))\n")),
        "recall_for_precision",
    ),
    "totals for every reference": (
        but((TOTAL, "        total += len(refs) * sum(have.values())\n")),
        "counted_for_every_reference",
    ),
    "different n-grams as the total": (but((TOTAL, "        total += len(have)\n")), None),
    "the first length": (but((LENGTH, "    r += len(refs[0])\n")), "first_reference_length"),
    "the shortest length": (but((LENGTH, "    r += min(len(ref) for ref in refs)\n")), "shortest_reference_length"),
    "the longest length": (but((LENGTH, "    r += max(len(ref) for ref in refs)\n")), "longest_reference_length"),
    "the mean length": (but((LENGTH, "    r += np.mean([len(ref) for ref in refs])\n")), "mean_reference_length"),
    "the median length": (but((LENGTH, "    r += np.median([len(ref) for ref in refs])\n")), None),
    "the lengths of the last pair": (but(("    r += min(", "    r = min(")), None),
    "unsorted lengths": (but(("sorted(len(ref) for ref in refs)", "[len(ref) for ref in refs]")), "tie_to_the_first"),
    "sorted downwards": (
        but(("sorted(len(ref) for ref in refs)", "sorted((len(ref) for ref in refs), reverse=True)")),
        "tie_to_the_longer",
    ),
    "the last of equal ones": (
        but((LENGTH, LAST_OF_EQUAL)),
        None,
    ),
    "the last length for all": (
        but(("    r += min(lengths", "    closest = min(lengths"), (BP, "r = closest * len(candidates)\n" + BP)),
        None,
    ),
    "no penalty": (but((BP, "bp = 1")), "no_brevity_penalty"),
    "a penalty above 1": (but((BP, "bp = math.exp(1 - r / c)")), "penalty_above_one"),
    "exchanged": (but((BP, "bp = 1 if c < r else math.exp(1 - c / r)")), "penalty_upside_down"),
    "the wrong case": (but((BP, "bp = 1 if c < r else math.exp(1 - r / c)")), "penalty_in_the_wrong_case"),
    "c over r in the exponent": (but((BP, "bp = 1 if c > r else math.exp(1 - c / r)")), "penalty_raises_the_score"),
    "a ratio": (but((BP, "bp = min(1, c / r)")), "ratio_as_penalty"),
    "arithmetic": (but((RETURN, "return bp * sum(precisions) / max_n")), "arithmetic_mean"),
    "harmonic": (but((RETURN, "return bp * max_n / sum(1 / p for p in precisions)")), None),
    "no root": (but((RETURN, "return bp * math.prod(precisions)")), "product_without_root"),
    "the root of the penalty too": (
        but((RETURN, "return (bp * math.prod(precisions)) ** (1 / max_n)")),
        "penalty_under_the_root",
    ),
    "always the fourth root": (but((RETURN, "return bp * math.prod(precisions) ** 0.25")), "always_the_fourth_root"),
    "base 2": (but((RETURN, "return bp * math.exp(sum(math.log2(p) for p in precisions) / max_n)")), None),
    "logarithm": (but((RETURN, "return math.log(bp) + sum(math.log(p) for p in precisions) / max_n")), None),
    "one order less": (but(("range(1, max_n + 1)", "range(1, max_n)")), None),
    "from order 0": (but(("range(1, max_n + 1)", "range(max_n)")), None),
    "the first and the last order": (but(("range(1, max_n + 1)", "(1, max_n)")), None),
    "one n-gram less": (but(("len(tokens) - n + 1", "len(tokens) - n")), "last_n_gram_missing"),
    "one slice more": (but(("len(tokens) - n + 1", "len(tokens)")), "shorter_n_grams_at_the_end"),
    "zero orders skipped": (but((ZERO, "    if good == 0:\n        continue\n"), GUARD), "order_without_match_skipped"),
    "zero orders end the loop": (
        but((ZERO, "    if good == 0:\n        break\n"), GUARD, BY_LENGTH),
        {None, "order_without_match_skipped"},
    ),
    "only orders without n-grams skipped": (
        but((ZERO, "    if total == 0:\n        break\n    if good == 0:\n        return 0.0\n"), GUARD, BY_LENGTH),
        "order_without_match_skipped",
    ),
    "a logarithm of 0": (but((ZERO, "")), "nothing_divided_by_nothing"),
    "1e-9 for 0": (
        but((ZERO, ""), ("good / total", "max(good, 1e-9) / max(total, 1)"), (BP, NEVER_BY_ZERO)),
        "zero_replaced",
    ),
    "plus one": (but((ZERO, ""), ("good / total", "(good + 1) / (total + 1)"), (BP, NEVER_BY_ZERO)), "smoothed"),
    "empty candidates left out": (
        but(("precisions = []", LEFT_OUT + "precisions = []")),
        "empty_candidate_skipped",
    ),
    "percent": (but((RETURN, "return 100 * bp * math.prod(precisions) ** (1 / max_n)")), "times_100"),
    "rounded": (but((RETURN, "return round(bp * math.prod(precisions) ** (1 / max_n), 2)")), "rounded"),
    "also the parts": (
        but((RETURN, "return bp * math.prod(precisions) ** (1 / max_n), precisions")),
        "after: [0] missing",
    ),
    "printed": (but((RETURN, "print(bp * math.prod(precisions) ** (1 / max_n))")), None),
    "the lists change": (but(("    have = Counter", "    cand.sort()\n        have = Counter")), None),
}

RIGHT = {
    "a student's": STUDENT,
    "at equal lengths": but(("c > r", "c >= r")),
    "one minus": but((BP, "bp = math.exp(min(0, (c - r) / c))")),
    "a product": but((RETURN, "return bp * np.prod(precisions) ** (1 / max_n)")),
    "a NumPy number": but((RETURN, "return np.float64(bp) * np.exp(np.log(precisions).mean())")),
    "a Python 0": but(("return 0.0", "return 0")),
    "pairs": but((LENGTH, "    r += min([abs(len(x) - len(cand)), len(x)] for x in refs)[1]\n")),
    "strings": but(("tuple(tokens[i:i + n])", "' '.join(tokens[i:i + n])")),
    "zip": but(("[tuple(tokens[i:i + n]) for i in range(len(tokens) - n + 1)]", ZIPPED)),
    "a defaultdict": but(("have = Counter(grams(cand, n))", DEFAULTDICT)),
    "the best of the clipped counts": but((GOOD, "good += max(min(k, grams(ref, n).count(g)) for ref in refs)")),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_nearly_right_program_fails_and_gets_no_wrong_name(name):
    body, allowed = WRONG[name]
    for seed in SEEDS:
        verdict = exercise("bleu").verdict(written(body), seed)
        assert not verdict
        assert verdict.earned < verdict.points
        told = verdict.diagnosis.id if verdict.diagnosis else None
        assert told in (allowed if isinstance(allowed, set) else {allowed}), (seed, told, verdict)


@pytest.mark.parametrize("name", RIGHT)
def test_a_right_program_passes_however_it_is_written(name):
    for seed in SEEDS:
        verdict = exercise("bleu").verdict(written(RIGHT[name]), seed)
        assert (verdict.status, verdict.earned) == ("passed", 3), verdict
