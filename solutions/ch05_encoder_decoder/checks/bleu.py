"""How `bleu` is checked: against slow loops that look for every n-gram in every reference."""

from collections import Counter

import numpy as np

from grader.author.spec import Case, Facet, Output, Spec, change

ONE, SEVERAL, SHORT, NOTHING = "one reference", "several references", "short candidates", "nothing to count"
WORDS = ["the", "cat", "dog", "on", "mat", "saw", "old", "and", "her", "in", "ran", "sun"]


def oracle(candidates, references, max_n=4):
    """Plain loops: every place of every n-gram is visited, and each one is counted by comparing it with all others."""

    def places(tokens, n):
        return [tokens[i : i + n] for i in range(len(tokens) - n + 1)]

    logarithms = 0.0
    for n in range(1, max_n + 1):
        matches = total = 0
        for candidate, its_references in zip(candidates, references, strict=True):
            seen = []
            for gram in places(candidate, n):
                total += 1
                earlier = sum(other == gram for other in seen)
                limit = max(sum(other == gram for other in places(ref, n)) for ref in its_references)
                matches += earlier < limit  # this place still matches
                seen.append(gram)
        if matches == 0:
            return 0.0
        logarithms += np.log(matches) - np.log(total)
    c = r = 0
    for candidate, its_references in zip(candidates, references, strict=True):
        c += len(candidate)
        closest = None
        for length in sorted(len(ref) for ref in its_references):  # the first of two equally close is the shorter
            if closest is None or abs(length - len(candidate)) < abs(closest - len(candidate)):
                closest = length
        r += closest
    return float(np.exp(logarithms / max_n + min(0.0, 1 - r / c)))


def case(candidates, references, max_n, kind):
    sizes = {"K": len(candidates), "R": max(map(len, references)), "N": max_n}
    return Case(sizes, {"candidates": candidates, "references": references, "max_n": max_n}, kind)


def tokens(*sentences):
    return [sentence.split() for sentence in sentences]


EXAMPLE = case(
    tokens("the cat the cat on the mat", "a dog"),
    [tokens("the cat is on the mat", "there is a cat on the mat today"), tokens("a black dog barks")],
    2,
    SHORT,
)


def named(rng, texts, max_n, kind):
    """A fixed case whose words are drawn. Each text is a candidate and its references, one letter for each word."""
    words = dict(zip("abcdefghijkl", map(str, rng.permutation(WORDS)), strict=True))
    corpus = [[[words[letter] for letter in text] for text in row.split("|")] for row in texts]
    return case([row[0] for row in corpus], [row[1:] for row in corpus], max_n, kind)


def edited(rng, sentence, longer):
    """A copy with a wrong word, and with so many words more at its end or less in its middle."""
    words = list(sentence)
    words[int(rng.integers(len(words)))] = str(rng.choice(WORDS[:4]))
    if longer < 0:
        start = int(rng.integers(1, len(words) + longer))
        return words[:start] + words[start - longer :]
    return words + [str(word) for word in rng.choice(WORDS[:3], size=longer)]


def drawn(rng, K, longer, max_n, kind):
    """A case of K candidates that differ from one reference in their lengths as `longer` says, and in a word or two.

    The other references are longer or shorter still.
    """
    for _ in range(1000):  # hardly ever more than one
        candidates, references = [], []
        for _ in range(K):
            base = [str(word) for word in rng.choice(WORDS[:7], size=int(rng.integers(12, 15)))]
            references.append([base, *(edited(rng, base, size) for size in longer[1:])])
            candidates.append(edited(rng, base, longer[0]))
        if oracle(candidates, references, max_n) > 0:
            return case(candidates, references, max_n, kind)
    raise ValueError(f"no corpus of {K} candidates has a match of every order up to {max_n}")


def cases(rng):
    yield drawn(rng, K=1, longer=[2], max_n=1, kind=ONE)
    yield drawn(rng, K=2, longer=[3], max_n=3, kind=ONE)
    yield drawn(rng, K=3, longer=[1], max_n=4, kind=ONE)
    yield named(rng, ["aababcd|abacd", "abcdef|abcdef"], 2, ONE)
    yield named(rng, ["abcabcd|abcad|bcdab|abcdb", "efgaa|efga|ffgaa|aefg"], 2, SEVERAL)
    yield named(rng, ["aaabbcd|aabcd|abbcd|abcdb", "cdeffa|cdefa|deffa"], 3, SEVERAL)
    yield drawn(rng, K=4, longer=[2, -3, 1], max_n=2, kind=SEVERAL)
    yield drawn(rng, K=3, longer=[-4], max_n=3, kind=SHORT)
    yield named(rng, ["abcdef|abcdefgabcde|abcdefgh|abc", "bcdea|bcdeabc|bcdeabcdefgh|bc"], 3, SHORT)
    yield named(
        rng, ["abcde|abcdefg|abc", "cdefga|cdefgabc|fgab", "abc|abcdefgh"], 3, SHORT
    )  # the longer of two equally close first
    yield named(rng, ["abcde|abc|abcdefg", "cdefg|cdefgab"], 3, SHORT)  # the shorter of two equally close first
    yield drawn(rng, K=5, longer=[-3, 2, -1, -9], max_n=4, kind=SHORT)
    yield named(rng, ["|abc", "abcdef|abcdef", "abdfe|abdef"], 3, SHORT)  # an empty candidate
    yield named(rng, ["abcd|abdc", "bcad|cbda"], 3, NOTHING)  # no 3-gram matches
    yield named(rng, ["ab|abc", "cd|cd"], 4, NOTHING)  # no candidate has a 3-gram
    yield named(rng, ["abc|def|ghi"], 1, NOTHING)  # no word matches
    yield named(rng, ["|abc", "|a"], 2, NOTHING)  # no candidate has a word
    yield named(rng, ["aababb|abcdefgh|baacdefg"], 2, SHORT)
    yield case(tokens("she is no where at all"), [tokens("she is now here at all")], 2, ONE)
    yield named(rng, ["ab|abc", "abcde|abcde"], 4, SHORT)  # one candidate is too short for most orders


SPEC = Spec(
    outputs=[Output("score")],
    example=EXAMPLE,
    cases=cases,
    oracle=oracle,
    facets=[
        Facet("matches and precisions", 2, kinds=(ONE, SEVERAL, NOTHING)),
        Facet("short candidates", 1, kinds=(SHORT,)),
    ],
    why=r"""
Every quantity is a sum over the corpus, and the ratios are formed at the end. So a sentence that is too short for a
4-gram does not make the result 0, and a long sentence counts more than a short one. Clipping asks, for each n-gram of
the candidate, how many of its occurrences some single reference accounts for, so `|` joins the counts of the
references and `&` limits those of the candidate. Precision alone would prefer short candidates, and recall is not
defined with several references, of which a candidate can match only one in full; the brevity penalty takes its place.
""",
)


MATCHES = "matches[n - 1] += (counts & limits).total()"
TOTALS = "totals[n - 1] += counts.total()"
CLOSEST = "min((abs(len(ref) - len(candidate)), len(ref)) for ref in its_references)[1]"
PENALTY = "min(1.0, np.exp(1 - reference_length / candidate_length))"
MEAN = "np.prod(matches / totals) ** (1 / max_n)"
ZERO = "if matches.min() == 0:\n    return 0.0\n"
C_GRAMS = "tuple(candidate[i : i + n]) for i in range(len(candidate) - n + 1)"
R_GRAMS = "tuple(ref[i : i + n]) for i in range(len(ref) - n + 1)"


def one_sentence(candidate, its_references, max_n):
    """BLEU of one sentence."""
    try:
        return oracle([candidate], [its_references], max_n)
    except ZeroDivisionError:
        return 0.0


@SPEC.mistake(
    "mean_of_sentences",
    "You average over the sentences. Add up the matches, the n-grams and the lengths of all candidates first, and "
    "form the ratios once, from these totals: otherwise a short sentence counts as much as a long one.",
    tempts="A score for each sentence comes first to mind, and scores are usually averaged.",
)
def mean_of_scores(candidates, references, max_n=4):
    return float(np.mean([one_sentence(c, r, max_n) for c, r in zip(candidates, references, strict=True)]))


@SPEC.misconceptions["mean_of_sentences"].ways.append
def mean_of_precisions(candidates, references, max_n=4):
    precisions, c, r = [], 0, 0
    for candidate, its_references in zip(candidates, references, strict=True):
        row = []
        for n in range(1, max_n + 1):
            counts, limits = Counter(zip(*(candidate[i:] for i in range(n)), strict=False)), Counter()
            for ref in its_references:
                limits |= Counter(zip(*(ref[i:] for i in range(n)), strict=False))
            row.append((counts & limits).total() / max(1, counts.total()))
        precisions.append(row)
        c += len(candidate)
        r += min((abs(len(ref) - len(candidate)), len(ref)) for ref in its_references)[1]
    means = np.mean(precisions, axis=0)
    return float(min(1, np.exp(1 - r / c)) * np.prod(means) ** (1 / max_n)) if means.min() > 0 else 0.0


SPEC.mistake(
    "not_clipped",
    "You do not clip: every occurrence of an n-gram counts as a match if a reference contains it at all. Count it at "
    "most as often as it occurs in a single reference, because otherwise *the the the* matches with every word.",
    change(MATCHES, "matches[n - 1] += sum(count for gram, count in counts.items() if gram in limits)"),
    tempts="`gram in reference` is all that a precision seems to need.",
)
SPEC.mistake(
    "clipped_by_the_sum",
    "You clip at the sum of the counts in all references. Clip at their maximum: one reference has to account for all "
    "occurrences of an n-gram.",
    change("limits |= ", "limits += "),
    change("limits |= ", "limits.update(", (R_GRAMS + ")", R_GRAMS + "))")),
    tempts="`update` and `+=` are how counts are usually joined.",
)
SPEC.mistake(
    "one_reference_for_all_matches",
    "You look for the n-grams of a candidate in only one of its references. Look in all of them, and clip each n-gram "
    "at the maximum of its counts: different n-grams may match different references.",
    change("for ref in its_references:\n", "for ref in its_references[:1]:\n"),
    change("limits |= ", "limits = "),
    change(
        "for ref in its_references:\n",
        "for ref in [min(its_references, key=lambda ref: abs(len(ref) - len(candidate)))]:\n",
    ),
    change(
        "limits |= Counter",
        "limits = max(limits, Counter",
        (R_GRAMS + ")", R_GRAMS + "), key=lambda found: (counts & found).total())"),
    ),
    tempts="With one reference for each sentence, as in most test sets, there is nothing to choose.",
)
SPEC.mistake(
    "counted_for_every_reference",
    "You add the n-grams of a candidate to the totals once for every reference. Add them once, and look each up in all "
    "references together, at the maximum of its counts there.",
    change(TOTALS, "totals[n - 1] += counts.total() * len(its_references)"),
    change(
        "limits |= ",
        "limits = ",
        (MATCHES, ""),
        (TOTALS, ""),
        (f"Counter({R_GRAMS})", f"Counter({R_GRAMS})\n{MATCHES}\n{TOTALS}"),
    ),
    tempts="The loop over the references is the innermost one, so everything is done there.",
)
SPEC.mistake(
    "matches_of_every_reference",
    "You add the matches with every reference, so one n-gram of the candidate may match several times. Look it up in "
    "all references together, at the maximum of its counts there.",
    change(MATCHES, "", ("limits |= ", "limits = "), (f"Counter({R_GRAMS})", f"Counter({R_GRAMS})\n{MATCHES}")),
    tempts="Each reference is compared with the candidate in the innermost loop.",
)
SPEC.mistake(
    "n_grams_without_borders",
    "You join the tokens of an n-gram without anything between them, so *no where* and *now here* are the same. Use "
    "tuples of tokens.",
    change(
        "tuple(candidate[i : i + n])",
        '"".join(candidate[i : i + n])',
        ("tuple(ref[i : i + n])", '"".join(ref[i : i + n])'),
    ),
    tempts="A list cannot be counted, a string can.",
    keeps=["short candidates"],
)


@SPEC.mistake(
    "clipped_over_the_corpus",
    "You clip once for the whole corpus. Clip each candidate by its own references, and then add up: an n-gram of one "
    "sentence must not match the reference of another.",
    tempts="BLEU is computed from totals of the corpus, so everything seems to be added up first.",
)
def pooled(candidates, references, max_n=4):
    """All n-grams of the corpus in one count, clipped by those of all references."""
    means, c, r = [], 0, 0
    for n in range(1, max_n + 1):
        counts, limits = Counter(), Counter()
        for candidate, its_references in zip(candidates, references, strict=True):
            counts += Counter(zip(*(candidate[i:] for i in range(n)), strict=False))
            most = Counter()
            for ref in its_references:
                most |= Counter(zip(*(ref[i:] for i in range(n)), strict=False))
            limits += most
        means.append((counts & limits).total() / max(1, counts.total()))
    for candidate, its_references in zip(candidates, references, strict=True):
        c += len(candidate)
        r += min((abs(len(ref) - len(candidate)), len(ref)) for ref in its_references)[1]
    return float(min(1, np.exp(1 - r / c)) * np.prod(means) ** (1 / max_n)) if min(means) > 0 else 0.0


SPEC.mistake(
    "n_grams_as_sets",
    "You count each different n-gram once. Count every occurrence, up to the maximum in a reference: a word that "
    "stands twice in the candidate and twice in a reference matches twice.",
    change(f"Counter({C_GRAMS})", f"Counter(set({C_GRAMS}))"),
    change(f"Counter({C_GRAMS})", f"Counter(set({C_GRAMS}))", (f"Counter({R_GRAMS})", f"Counter(set({R_GRAMS}))")),
    tempts="The intersection of two sets is one operator.",
)
SPEC.mistake(
    "recall_for_precision",
    "You divide by the number of n-grams of the references, which makes a recall. Divide by the number of n-grams of "
    "the candidates. The brevity penalty takes the place of the recall.",
    change(TOTALS, "totals[n - 1] += limits.total()"),
    change(TOTALS, "totals[n - 1] += Counter(zip(*(its_references[0][i:] for i in range(n)))).total()"),
    change(TOTALS, "totals[n - 1] += max(len(ref) - n + 1 for ref in its_references)"),
    tempts="ROUGE, a measure for summaries, does this.",
)
for name, length, words in (
    ("first_reference_length", "len(its_references[0])", "the length of the first reference"),
    ("shortest_reference_length", "min(len(ref) for ref in its_references)", "the length of the shortest reference"),
    ("longest_reference_length", "max(len(ref) for ref in its_references)", "the length of the longest reference"),
    (
        "mean_reference_length",
        "sum(len(ref) for ref in its_references) / len(its_references)",
        "the mean length of the references",
    ),
    ("sum_of_reference_lengths", "sum(len(ref) for ref in its_references)", "the total length of the references"),
):
    SPEC.mistake(
        name,
        f"For the brevity penalty you use {words} of a candidate. Use the length that is *closest* to that of the "
        "candidate, and of two that are equally close the shorter one.",
        change(CLOSEST, length),
        tempts="With one reference, all these lengths are the same.",
        keeps=["matches and precisions"] if name != "sum_of_reference_lengths" else [],
    )
SPEC.mistake(
    "tie_to_the_longer",
    "Where two references are equally close in length to the candidate, you take the longer one. Take the shorter one.",
    change(CLOSEST, "-min((abs(len(ref) - len(candidate)), -len(ref)) for ref in its_references)[1]"),
    tempts="The paper says only 'the closest'; sacrebleu and most other programs take the shorter.",
    keeps=["matches and precisions"],
)
SPEC.mistake(
    "tie_to_the_first",
    "Where two references are equally close in length to the candidate, you take the one that comes first in the list. "
    "Take the shorter one, so that the score does not depend on the order of the references. (`min` with a `key` "
    "returns the first of several equal entries.)",
    change(CLOSEST, "min((len(ref) for ref in its_references), key=lambda length: abs(length - len(candidate)))"),
    tempts="`min` with `key=` is the shortest way to write 'the closest'.",
    keeps=["matches and precisions"],
)
SPEC.mistake(
    "no_brevity_penalty",
    "You leave out the brevity penalty. Multiply by `exp(1 - r / c)` where the candidates are shorter than their "
    "references, because precision alone rewards candidates that say too little.",
    change(PENALTY, "1.0"),
    tempts="The geometric mean of the precisions looks like a finished score.",
    keeps=["matches and precisions"],
)
SPEC.mistake(
    "penalty_above_one",
    "You multiply by `exp(1 - r / c)` even where the candidates are longer than their references, which raises the "
    "score. The penalty is 1 there: extra words lower the precision already.",
    change(PENALTY, "np.exp(1 - reference_length / candidate_length)"),
    tempts="The formula has two cases, and one of them needs no formula.",
    keeps=["short candidates"],
)
SPEC.mistake(
    "penalty_in_the_wrong_case",
    "You multiply by `exp(1 - r / c)` where the candidates are longer than their references, and by 1 where they are "
    "shorter. Do the opposite: the penalty is the smaller of the two numbers, so use `min`, not `max`.",
    change(PENALTY, "max(1.0, np.exp(1 - reference_length / candidate_length))"),
    tempts="Which of `min` and `max` limits a number from above takes a moment's thought.",
)
SPEC.mistake(
    "penalty_upside_down",
    "You exchange the two lengths in the penalty, so it lowers the score of long candidates and leaves the short ones "
    "alone. It is `exp(1 - r / c)` where c < r, and 1 elsewhere, with `c` for the candidates.",
    change(PENALTY, "min(1.0, np.exp(1 - candidate_length / reference_length))"),
    tempts="Which of the two lengths is divided by which is easily mixed up.",
)
SPEC.mistake(
    "penalty_raises_the_score",
    "Your penalty is above 1 where the candidates are shorter than their references, because your exponent is "
    "positive there. The exponent is 1 minus r divided by c, which is negative if c is smaller than r.",
    change(
        PENALTY,
        "1.0 if candidate_length >= reference_length else np.exp(1 - candidate_length / reference_length)",
    ),
    change(
        PENALTY,
        "1.0 if candidate_length >= reference_length else np.exp(reference_length / candidate_length - 1)",
    ),
    tempts="The two lengths are easily exchanged, and so are the two terms of the difference.",
    keeps=["matches and precisions"],
)
SPEC.mistake(
    "penalty_both_ways",
    "You lower the score for candidates that are longer than their references, too. The penalty is 1 there: extra "
    "words lower the precision already.",
    change(PENALTY, "np.exp(-abs(1 - reference_length / candidate_length))"),
    tempts="A translation that is too long is bad as well.",
    keeps=["short candidates"],
)
SPEC.mistake(
    "ratio_as_penalty",
    "Your penalty is the ratio of the lengths, `c / r`. Use `exp(1 - r / c)`, which is smaller, instead.",
    change(PENALTY, "min(1.0, candidate_length / reference_length)"),
    tempts="A ratio is the simplest penalty, and near 1 the two are almost equal.",
    keeps=["matches and precisions"],
)
SPEC.mistake(
    "penalty_of_each_sentence",
    "You compute a brevity penalty for each sentence. Add up the lengths of all candidates and of their closest "
    "references, and compute one penalty from the totals: within a corpus, short sentences may make up for long ones.",
    change(
        "reference_length += " + CLOSEST,
        "reference_length += " + CLOSEST + "\n"
        "penalties.append(min(1.0, np.exp(1 - " + CLOSEST + " / max(1e-9, len(candidate)))))",
        ("candidate_length = reference_length = 0", "candidate_length = reference_length = 0\npenalties = []"),
        (PENALTY, "np.mean(penalties)"),
    ),
    tempts="The length of the reference is chosen for each sentence, so the penalty seems to be made there too.",
    keeps=["matches and precisions"],
)
SPEC.mistake(
    "arithmetic_mean",
    "You take the arithmetic mean of the precisions. Take the geometric mean, the N-th root of their product: the "
    "precisions of high orders are small, and in an arithmetic mean they would hardly count.",
    change(MEAN, "np.mean(matches / totals)"),
    tempts="The mean is the arithmetic one unless another is named.",
)
SPEC.mistake(
    "product_without_root",
    "You multiply the precisions and do not take the root. BLEU is their geometric mean: take the N-th root of the "
    "product.",
    change(MEAN, "np.prod(matches / totals)"),
    tempts="The exponent 1/N is small print.",
)
SPEC.mistake(
    "always_the_fourth_root",
    "You take the fourth root, whatever `max_n` is. Take the N-th root of a product of N precisions.",
    change(MEAN, MEAN.replace("max_n", "4")),
    tempts="Papers average four orders with the weights 1/4.",
)
SPEC.mistake(
    "penalty_under_the_root",
    "You take the root of the penalty as well. The root belongs to the product of the precisions alone: multiply it by "
    "the penalty afterwards.",
    change(f"penalty * {MEAN}", "(penalty * np.prod(matches / totals)) ** (1 / max_n)"),
    tempts="Everything has been multiplied already when the root is taken.",
    keeps=["matches and precisions"],
)
SPEC.misconceptions["mean_of_sentences"].ways.append(
    change(
        MATCHES,
        "matches[n - 1] += (counts & limits).total() / max(1, counts.total())",
        (TOTALS, "totals[n - 1] += bool(counts)"),
    )
)
SPEC.mistake(
    "totals_not_reset",
    "You do not set your counters back to 0 for the next order, so the precision of an order contains all lower "
    "orders. Count each order by itself.",
    change(MEAN, "np.prod(np.cumsum(matches) / np.cumsum(totals)) ** (1 / max_n)"),
    tempts="The counters are set to 0 before the loops, once.",
)
SPEC.mistake(
    "orders_pooled",
    "You add up the matches of all orders and divide once. Compute a precision for each order, and take their "
    "geometric mean.",
    change(MEAN, "matches.sum() / totals.sum()"),
    tempts="All other totals are added up before anything is divided.",
)
SPEC.mistake(
    "highest_order_only",
    "You use the precision of order `max_n` alone. Use all orders from 1 to `max_n`, and take the geometric mean of "
    "their precisions.",
    change(MEAN, "(matches / totals)[-1]"),
    tempts="BLEU-4 sounds as if only 4-grams were counted.",
)
SPEC.mistake(
    "max_n_ignored",
    "You use the orders 1 to 4, whatever `max_n` is. Use the orders 1 to `max_n`, and the root of that order.",
    change("matches, totals = np.zeros(max_n)", "max_n = 4\nmatches, totals = np.zeros(max_n)"),
    tempts="Everybody computes BLEU with four orders.",
)
SPEC.mistake(
    "highest_order_missing",
    "You leave out the highest order. Count the orders from 1 to `max_n`, including `max_n`; `range` excludes its end.",
    change(
        "np.zeros(max_n), np.zeros(max_n)",
        "np.zeros(max(1, max_n - 1)), np.zeros(max(1, max_n - 1))",
        ("range(1, max_n + 1)", "range(1, max(2, max_n))"),
        ("(1 / max_n)", "(1 / max(1, max_n - 1))"),
    ),
    tempts="`range(1, max_n)` looks complete.",
)
SPEC.mistake(
    "last_n_gram_missing",
    "You leave out the last n-gram of each sentence. A sentence of k tokens has k − n + 1 n-grams: the last one begins "
    "at index k − n.",
    change("len(candidate) - n + 1", "len(candidate) - n"),
    change("len(candidate) - n + 1", "len(candidate) - n", ("len(ref) - n + 1", "len(ref) - n")),
    tempts="`range(len(tokens) - n)` keeps every slice inside the list, but it stops one too early.",
)
SPEC.mistake(
    "shorter_n_grams_at_the_end",
    "You count pieces of fewer than n tokens at the end of each sentence. An n-gram has n tokens, so the last one "
    "begins at index k − n of a sentence of k tokens: a slice beyond the end of a list is cut off silently.",
    change("len(candidate) - n + 1", "len(candidate)", ("len(ref) - n + 1", "len(ref)")),
    tempts="`tokens[i : i + n]` never raises an exception.",
)
SPEC.mistake(
    "smoothed",
    "You smooth: you add something to the counts or precisions. Leave them as they are, and return 0 as soon as one "
    "order has no match. Smoothed scores cannot be compared with unsmoothed ones.",
    change(
        ZERO,
        "",
        (MEAN, "np.prod((matches + 1) / (totals + 1)) ** (1 / max_n)"),
        ("/ candidate_length", "/ max(1e-9, candidate_length)"),
    ),
    change(MEAN, "np.prod((matches + 1) / (totals + 1)) ** (1 / max_n)"),
    change(
        ZERO,
        "",
        (MEAN, "np.prod((matches + (np.arange(max_n) > 0)) / (totals + (np.arange(max_n) > 0))) ** (1 / max_n)"),
        (f"penalty = {PENALTY}", f"if matches[0] == 0:\n    return 0.0\npenalty = {PENALTY}"),
    ),
    tempts="The score of a single sentence is often 0 without it, so sentence scores are usually smoothed.",
)
SPEC.mistake(
    "zero_replaced",
    "Where an order has no match, you put a small number in place of the zero. Return 0 as soon as one order has no "
    "match: with a replacement, the score depends on how small that number is.",
    change(
        ZERO,
        """
        matches, totals = np.maximum(matches, 0.1), np.maximum(totals, 1)
        candidate_length = max(candidate_length, 0.1)
        """,
    ),
    change(
        ZERO,
        """
        matches, totals = np.maximum(matches, 1e-9), np.maximum(totals, 1)
        candidate_length = max(candidate_length, 0.1)
        """,
    ),
    change(
        ZERO,
        "candidate_length = max(candidate_length, 1e-9)\n",
        (MEAN, "np.prod((matches + 1e-9) / (totals + 1e-9)) ** (1 / max_n)"),
    ),
    change(
        ZERO,
        "candidate_length = max(candidate_length, 1e-9)\ntotals = np.maximum(totals, 1)\n",
        (MEAN, "np.exp(np.mean(np.log(matches / totals + 1e-10)))"),
    ),
    tempts="The logarithm of 0 is not finite, and a small number prevents that.",
    keeps=["short candidates"],
)
SPEC.mistake(
    "order_without_match_skipped",
    "You leave out the orders that have no match or no n-gram, and take the mean of the others. Return 0 as soon as "
    "one order has no match, because the product of the precisions is 0.",
    change(
        ZERO,
        "if matches.max() == 0:\n    return 0.0\nmatches, totals = matches[matches > 0], totals[matches > 0]\n",
    ),
    change(
        ZERO,
        "if matches.max() == 0:\n    return 0.0\nmatches, totals = matches[matches > 0], totals[matches > 0]\n"
        "max_n = len(matches)\n",
    ),
    change(
        ZERO,
        "matches, totals = matches[totals > 0], totals[totals > 0]\nif len(matches) == 0 or matches.min() == 0:\n"
        "    return 0.0\nmax_n = len(matches)\n",
    ),
    tempts="The logarithm of 0 raises an error or a warning, and to skip the order silences it.",
    keeps=["short candidates"],
)
SPEC.mistake(
    "empty_candidate_skipped",
    "You skip empty candidates. They have no n-grams, but their references count towards r: a system that translates "
    "nothing must pay for it through the brevity penalty.",
    change("candidate_length += len(candidate)", "if not candidate:\n    continue\ncandidate_length += len(candidate)"),
    tempts="There is nothing to count in an empty candidate, and skipping it avoids a division by 0.",
    keeps=["matches and precisions"],
)
SPEC.mistake(
    "nothing_divided_by_nothing",
    "You divide, or take a logarithm, before you have made sure that there is something to count. "
    "Return 0 as soon as an order has no match, which includes a corpus whose candidates are all too short or empty.",
    change(ZERO, "", ("/ candidate_length", "/ np.float64(candidate_length)")),
    change(ZERO, ""),
    change(
        ZERO,
        "import math\nprecisions = [m / t for m, t in zip(matches.tolist(), totals.tolist(), strict=True)]\n",
        (MEAN, "math.exp(sum(math.log(p) for p in precisions) / max_n)"),
    ),
    tempts="An ordinary corpus has n-grams of every order.",
    keeps=["short candidates"],
)
SPEC.mistake(
    "times_100",
    "You return a percentage. Return a number from 0 to 1, without multiplying by 100.",
    change(f"return penalty * {MEAN}", f"return 100 * penalty * {MEAN}"),
    tempts="Papers write 27.3 for 0.273, and sacrebleu does too.",
)


@SPEC.alternative
def with_logarithms(candidates, references, max_n=4):
    """The mean of logarithms, order by order, with dictionaries in place of counters."""

    def counted(tokens, n):
        found = {}
        for i in range(len(tokens) - n + 1):
            gram = tuple(tokens[i : i + n])
            found[gram] = found.get(gram, 0) + 1
        return found

    logs = []
    for n in range(1, max_n + 1):
        matches, total = 0, 0
        for candidate, refs in zip(candidates, references, strict=True):
            by_reference = [counted(ref, n) for ref in refs]
            for gram, count in counted(candidate, n).items():
                total += count
                matches += min(count, max(found.get(gram, 0) for found in by_reference))
        if not matches:
            return 0
        logs.append(np.log(matches / total))
    c = sum(map(len, candidates))
    r = sum(
        sorted(map(len, refs), key=lambda length: (abs(length - len(candidate)), length))[0]
        for candidate, refs in zip(candidates, references, strict=True)
    )
    return np.exp(np.mean(logs) + min(0, 1 - r / c))


@SPEC.alternative
def as_strings(candidates, references, max_n=4):
    """N-grams as strings, joined by a character that no token contains; the zero comes out of the product."""
    score, c, r = 1.0, 0, 0
    for n in range(1, max_n + 1):
        found, total = 0, 0
        for candidate, refs in zip(candidates, references, strict=True):
            grams = ["\n".join(candidate[i : i + n]) for i in range(len(candidate) - n + 1)]
            total += len(grams)
            lists = [["\n".join(ref[i : i + n]) for i in range(len(ref) - n + 1)] for ref in refs]
            found += sum(min(grams.count(gram), max(each.count(gram) for each in lists)) for gram in set(grams))
        score *= (found / total if total else 0.0) ** (1 / max_n)
    for candidate, refs in zip(candidates, references, strict=True):
        c, best = c + len(candidate), len(refs[0])
        for length in map(len, refs[1:]):
            far, near = abs(best - len(candidate)), abs(length - len(candidate))
            best = length if near < far or (near == far and length < best) else best
        r += best
    return score if c >= r else score * np.exp(1 - r / c) if c else 0.0
