"""Programs that the spec of `bleu` does not contain; beside each wrong one is what it is told."""

import textwrap

from grader.spec.trials import Trials

TRIALS = Trials()


def written(body):
    """The cell of a student whose function has this body."""
    lines = textwrap.indent(textwrap.dedent(body).strip(), "    ")
    return f"{IMPORTS}\n\ndef bleu(candidates, references, max_n=4):\n{lines}\n"


IMPORTS = "import math\nfrom collections import Counter, defaultdict\n\nimport numpy as np\n"


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


RETURN = "return bp * math.exp(sum(math.log(p) for p in precisions) / max_n)"


ZERO = "    if good == 0:\n        return 0.0\n"


ELSEWHERE = "references_of_the_first_candidate"


PARTLY = "matches_and_totals_of_different_n_grams"


AT_EQUAL = ("c > r", "c >= r")


BY_ORDERS = ("/ max_n)", "/ max(1, max_n - 1))")


WRONG = {  # the body, what it is told: a name, some names or None
    "no limit": (but((GOOD, "good += k if any(g in grams(ref, n) for ref in refs) else 0")), "not_clipped"),
    "limit by the sum": (but(("max(grams", "sum(grams")), "clipped_by_the_sum"),
    "limit by the minimum": (but(("max(grams", "min(grams")), "clipped_by_the_minimum"),
    "the first reference": (but((GOOD, "good += min(k, grams(refs[0], n).count(g))")), "one_reference_for_all_matches"),
    "the last reference": (but((GOOD, "good += min(k, grams(refs[-1], n).count(g))")), "one_reference_for_all_matches"),
    "all references as one text": (
        but((GOOD, "good += min(k, grams(sum(refs, []), n).count(g))")),
        "references_joined",
    ),
    "any reference of the corpus": (
        but((GOOD, "good += min(k, max(grams(ref, n).count(g) for rs in references for ref in rs))")),
        "references_of_all_candidates",
    ),
    "sets": (but(("have = Counter(grams(cand, n))", "have = Counter(set(grams(cand, n)))")), "n_grams_as_sets"),
    "good of a list": (but((GOOD, "good += 1 if any(g in grams(ref, n) for ref in refs) else 0")), "n_grams_as_sets"),
    "bags of words": (
        but(("tuple(tokens[i:i + n])", "tuple(sorted(tokens[i:i + n]))")),
        "order_within_n_grams_ignored",
    ),
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
    "different n-grams as the total": (but((TOTAL, "        total += len(have)\n")), "n_grams_as_sets"),
    "the first length": (but((LENGTH, "    r += len(refs[0])\n")), "first_reference_length"),
    "the shortest length": (but((LENGTH, "    r += min(len(ref) for ref in refs)\n")), "shortest_reference_length"),
    "the longest length": (but((LENGTH, "    r += max(len(ref) for ref in refs)\n")), "longest_reference_length"),
    "the mean length": (but((LENGTH, "    r += np.mean([len(ref) for ref in refs])\n")), "mean_reference_length"),
    "the median length": (but((LENGTH, "    r += np.median([len(ref) for ref in refs])\n")), None),
    "the lengths of the last pair": (but(("    r += min(", "    r = min(")), "reference_length_not_added"),
    "unsorted lengths": (but(("sorted(len(ref) for ref in refs)", "[len(ref) for ref in refs]")), "tie_to_the_first"),
    "sorted downwards": (
        but(("sorted(len(ref) for ref in refs)", "sorted((len(ref) for ref in refs), reverse=True)")),
        "tie_to_the_longer",
    ),
    "the last of equal ones": (
        but((LENGTH, LAST_OF_EQUAL)),
        "tie_to_the_last",
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
    "harmonic": (but((RETURN, "return bp * max_n / sum(1 / p for p in precisions)")), "harmonic_mean"),
    "no root": (but((RETURN, "return bp * math.prod(precisions)")), "product_without_root"),
    "the root of the penalty too": (
        but((RETURN, "return (bp * math.prod(precisions)) ** (1 / max_n)")),
        "penalty_under_the_root",
    ),
    "always the fourth root": (but((RETURN, "return bp * math.prod(precisions) ** 0.25")), "always_the_fourth_root"),
    "base 2": (but((RETURN, "return bp * math.exp(sum(math.log2(p) for p in precisions) / max_n)")), "different_bases"),
    "logarithm": (but((RETURN, "return math.log(bp) + sum(math.log(p) for p in precisions) / max_n")), None),
    "one order less": (but(("range(1, max_n + 1)", "range(1, max_n)")), "highest_order_not_counted"),
    "from order 0": (but(("range(1, max_n + 1)", "range(max_n)")), "orders_from_0"),
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
        "order_without_n_gram_skipped",
    ),
    "a logarithm of 0": (but((ZERO, "")), "logarithm_of_0"),
    "1e-9 for 0": (
        but((ZERO, ""), ("good / total", "max(good, 1e-9) / max(total, 1)"), (BP, NEVER_BY_ZERO)),
        "zero_replaced",
    ),
    "plus one": (but((ZERO, ""), ("good / total", "(good + 1) / (total + 1)"), (BP, NEVER_BY_ZERO)), "smoothed"),
    "empty candidates left out": (
        but(("precisions = []", LEFT_OUT + "precisions = []")),
        "empty_candidate_skipped",
    ),
    "max for min": (but(("min(k, max(grams", "max(k, max(grams")), "larger_count_taken"),
    "the limit itself": (
        but((GOOD, "good += max(grams(ref, n).count(g) for ref in refs)")),
        "not_limited_by_the_candidate",
    ),
    "the mean of the limits": (
        but((GOOD, "good += min(k, np.mean([grams(ref, n).count(g) for ref in refs]))")),
        "clipped_by_the_mean",
    ),
    "added for every occurrence": (
        but(("for g, k in have.items():", "for g in grams(cand, n):\n            k = have[g]")),
        "clipped_count_for_every_occurrence",
    ),
    "references of the first": (but((GOOD, GOOD.replace("in refs", "in references[0]"))), ELSEWHERE),
    "lower case": (
        but(("return [tuple(tokens", "tokens = [t.lower() for t in tokens]\n    return [tuple(tokens")),
        "lower_cased",
    ),
    "letters joined": (
        but(("return [tuple(tokens", "tokens = ' '.join(tokens)\n    return [tuple(tokens")),
        "n_grams_of_letters",
    ),
    "sets of tokens": (but(("tuple(tokens[i:i + n])", "frozenset(tokens[i:i + n])")), "order_within_n_grams_ignored"),
    "no overlap": (but(("range(len(tokens) - n + 1)", "range(0, len(tokens) - n + 1, n)")), "n_grams_without_overlap"),
    "tokens for n-grams": (but((TOTAL, "        total += len(cand)\n")), "tokens_as_totals"),
    "a total below 0": (but((TOTAL, "        total += len(cand) - n + 1\n")), "totals_reduced_by_short_candidates"),
    "a total too small": (but((TOTAL, "        total += max(0, len(cand) - n)\n")), PARTLY),
    "the last length": (but((LENGTH, "    r += len(refs[-1])\n")), "last_reference_length"),
    "the distance": (
        but((LENGTH, "    r += min((abs(len(x) - len(cand)), len(x)) for x in refs)[0]\n")),
        "distance_for_length",
    ),
    "divided by r": (but(("1 - r / c", "(c - r) / r")), "penalty_divided_by_r"),
    "the difference": (but(("1 - r / c", "c - r")), "penalty_of_the_difference"),
    "without the 1": (but(("1 - r / c", "-r / c"), AT_EQUAL), "penalty_without_the_1"),
    "brackets": (but(("1 - r / c", "(1 - r) / c"), AT_EQUAL), "penalty_with_the_wrong_brackets"),
    "no exponential": (but(("math.exp(1 - r / c)", "1 - r / c"), AT_EQUAL), "penalty_without_the_exponential"),
    "integers": (but(("r / c", "r // c")), "lengths_divided_as_integers"),
    "in every order": (
        but(
            (
                RETURN,
                "return math.exp(sum(math.log(bp * p) * max_n for p in precisions) / max_n**2) * bp ** (max_n - 1)",
            )
        ),
        "penalty_for_every_order",
    ),
    "without a root": (but((RETURN, "return bp * math.prod(precisions) ** 1 / max_n")), "divided_by_max_n"),
    "the square root": (but((RETURN, "return bp * math.sqrt(math.prod(precisions))")), "always_the_square_root"),
    "a power": (but((RETURN, "return bp * math.prod(precisions) ** max_n")), "power_for_root"),
    "added precisions": (but((RETURN, "return bp * sum(precisions)")), "precisions_added"),
    "weights 1/n": (
        but((RETURN, "return bp * math.exp(sum(math.log(p) / n for n, p in enumerate(precisions, 1)))")),
        "orders_weighted_unequally",
    ),
    "no power": (but((RETURN, "return bp * sum(math.log(p) for p in precisions) / max_n")), "exponential_missing"),
    "from order 2": (but(("range(1, max_n + 1)", "range(2, max_n + 1)"), BY_ORDERS), "first_order_missing"),
    "up to order 3": ("max_n = 3\n" + STUDENT, "max_n_ignored"),
    "one order more": (but(("range(1, max_n + 1)", "range(1, max_n + 2)")), "one_order_too_many"),
    "none for a short one": (
        "if min(map(len, candidates)) < max_n:\n    return 0.0\n" + STUDENT,
        "zero_for_one_short_candidate",
    ),
    "short ones left out": (
        but(("precisions = []", LEFT_OUT.replace("if p[0]", "if len(p[0]) >= max_n") + "precisions = []")),
        "short_candidates_skipped",
    ),
    "a half": (but(("good / total", "(good + 0.5) / (total + 0.5)")), "smoothed"),
    "plus one above order 1": (but(("good / total", "(good + (n > 1)) / (total + (n > 1))")), "smoothed"),
    **{
        f"{small} in the logarithm": (
            but((ZERO, ""), ("good / total", f"good / max(total, 1) + {small}"), (BP, NEVER_BY_ZERO)),
            told,
        )
        for small, told in (("1e-6", "something_added"), ("1e-10", "zero_replaced"), ("1e-12", "zero_replaced"))
    },
    **{
        f"{small} in both counts": (
            but((ZERO, ""), ("good / total", f"(good + {small}) / (total + {small})"), (BP, NEVER_BY_ZERO)),
            told,
        )
        for small, told in (("1e-6", "smoothed"), ("1e-9", "zero_replaced"), ("1e-16", "zero_replaced"))
    },
    "range(1, max_n)": (but(("range(1, max_n + 1)", "range(1, max_n)")), "highest_order_not_counted"),
    "range(1, max_n) and a mean": (
        but(
            ("range(1, max_n + 1)", "range(1, max_n)"),
            ("sum(math.log(p) for p in precisions) / max_n", "np.mean([math.log(p) for p in precisions])"),
        ),
        "highest_order_not_counted",
    ),
    "n-grams of the closest reference": (
        but(
            (
                TOTAL,
                "        near = sorted(refs, key=lambda ref: (abs(len(ref) - len(cand)), len(ref)))[0]\n"
                "        total += len(grams(near, n))\n",
            )
        ),
        "recall_for_precision",
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
    "one minus": but((BP, "bp = math.exp(min(0, (c - r) / c))")),
    "a product": but((RETURN, "return bp * np.prod(precisions) ** (1 / max_n)")),
    "a NumPy number": but((RETURN, "return np.float64(bp) * np.exp(np.log(precisions).mean())")),
    "a Python 0": but(("return 0.0", "return 0")),
}

TRIALS.all_wrong(WRONG, make=written)
TRIALS.all_right(RIGHT, make=written)
