"""The mistakes in `bleu`."""

from collections import Counter

import numpy as np

from grader.spec.spec import change, instead
from solutions.ch05_encoder_decoder.bleu.spec import COUNTED, SHORT, SPEC, ZEROS, oracle

MATCHES = "matches[n - 1] += (counts & limits).total()"
TOTALS = "totals[n - 1] += counts.total()"
CLOSEST = "min((abs(len(ref) - len(candidate)), len(ref)) for ref in its_references)[1]"
PENALTY = "min(1.0, np.exp(1 - reference_length / candidate_length))"
MEAN = "np.prod(matches / totals) ** (1 / max_n)"
ZEROED = "matches, totals = np.zeros(max_n)"
ZERO = "if matches.min() == 0:\n    return 0.0\n"
SMALL = ("0.1", "0.01", *(f"1e-{k}" for k in (3, 5, 6, 7, 8, 9, 10, 12, 15, 16, 20)), "2**-52")
LARGE = ("0.1", "0.01", *(f"1e-{k}" for k in (3, 5, 6, 7, 8)))  # too large to be taken for a rounding error
C_GRAMS = "tuple(candidate[i : i + n]) for i in range(len(candidate) - n + 1)"
R_GRAMS = "tuple(ref[i : i + n]) for i in range(len(ref) - n + 1)"


def one_sentence(candidate, its_references, max_n):
    """BLEU of one sentence."""
    try:
        return oracle([candidate], [its_references], max_n)
    except ZeroDivisionError:
        return 0.0


def counted(candidate, its_references, n):
    """The matches and the total of one order."""
    counts, limits = Counter(zip(*(candidate[i:] for i in range(n)), strict=False)), Counter()
    for ref in its_references:
        limits |= Counter(zip(*(ref[i:] for i in range(n)), strict=False))
    return (counts & limits).total(), counts.total()


def closest(candidate, its_references):
    """The length of the reference whose length is closest."""
    return min((abs(len(ref) - len(candidate)), len(ref)) for ref in its_references)[1]


def mean_of_scores(candidates, references, max_n=4):
    return float(np.mean([one_sentence(c, r, max_n) for c, r in zip(candidates, references, strict=True)]))


def mean_of_precisions(candidates, references, max_n=4):
    precisions, c, r = [], 0, 0
    for candidate, its_references in zip(candidates, references, strict=True):
        orders = [counted(candidate, its_references, n) for n in range(1, max_n + 1)]
        precisions.append([matches / max(1, total) for matches, total in orders])
        c += len(candidate)
        r += closest(candidate, its_references)
    means = np.mean(precisions, axis=0)
    return float(min(1, np.exp(1 - r / c)) * np.prod(means) ** (1 / max_n)) if means.min() > 0 else 0.0


def mean_of_scores_without_empty_candidates(candidates, references, max_n=4):
    scores = [one_sentence(c, r, max_n) for c, r in zip(candidates, references, strict=True) if c]
    return float(np.mean(scores)) if scores else 0.0


def mean_of_scores_by_length(candidates, references, max_n=4):
    scores = [len(c) * one_sentence(c, r, max_n) for c, r in zip(candidates, references, strict=True)]
    return sum(scores) / max(1, sum(map(len, candidates)))


def geometric_mean_of_scores(candidates, references, max_n=4):
    scores = [one_sentence(c, r, max_n) for c, r in zip(candidates, references, strict=True)]
    return float(np.prod(scores) ** (1 / len(scores)))


def mean_of_scores_of_possible_orders(candidates, references, max_n=4):
    if max(map(len, candidates)) < max_n:
        return 0.0
    pairs = zip(candidates, references, strict=True)
    return float(np.mean([one_sentence(c, r, min(max_n, len(c))) if c else 0.0 for c, r in pairs]))


def smoothed_scores(candidates, references, max_n, smooth):
    """The mean of sentence scores whose matches and total of an order are replaced by `smooth(matches, total)`."""
    if min(map(len, candidates)) < max_n or oracle(candidates, references, max_n) == 0:
        return oracle(candidates, references, max_n)  # how a sentence of too few tokens is treated differs
    scores = []
    for candidate, its_references in zip(candidates, references, strict=True):
        score = 1.0
        for n in range(1, max_n + 1):
            matches, total = smooth(*counted(candidate, its_references, n))
            score *= (matches / total) ** (1 / max_n)
        scores.append(score * min(1.0, np.exp(1 - closest(candidate, its_references) / len(candidate))))
    return float(np.mean(scores))


def mean_of_scores_plus_one(candidates, references, max_n=4):
    return smoothed_scores(candidates, references, max_n, lambda matches, total: (matches + 1, total + 1))


def mean_of_scores_at_least_a_tenth(candidates, references, max_n=4):
    return smoothed_scores(candidates, references, max_n, lambda matches, total: (matches or 0.1, total))


def mean_of_scores_at_least_a_billionth(candidates, references, max_n=4):
    return smoothed_scores(candidates, references, max_n, lambda matches, total: (matches or 1e-9, total))


def mean_of_scores_at_least_a_tenth_of_it(candidates, references, max_n=4):
    return smoothed_scores(candidates, references, max_n, lambda matches, total: (matches or 1e-10, total))


def sum_of_scores(candidates, references, max_n=4):
    return sum(one_sentence(c, r, max_n) for c, r in zip(candidates, references, strict=True))


def score_of_the_first(candidates, references, max_n=4):
    return one_sentence(candidates[0], references[0], max_n)


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
        r += closest(candidate, its_references)
    return float(min(1, np.exp(1 - r / c)) * np.prod(means) ** (1 / max_n)) if min(means) > 0 else 0.0


def exchanged(candidates, references, max_n=4):
    try:
        return oracle([refs[0] for refs in references], [[candidate] for candidate in candidates], max_n)
    except ZeroDivisionError:
        return 0.0


def in_a_row(sentences):
    """The tokens of all sentences in one list."""
    return [token for sentence in sentences for token in sentence]


def as_one_text(candidates, references, max_n=4):
    most = max(map(len, references))
    joined = [in_a_row([refs[min(j, len(refs) - 1)] for refs in references]) for j in range(most)]
    return one_sentence(in_a_row(candidates), joined, max_n)


def as_one_text_with_first_references(candidates, references, max_n=4):
    return one_sentence(in_a_row(candidates), [in_a_row([refs[0] for refs in references])], max_n)


SPEC.mistakes(
    {
        "mean_of_sentences": [
            mean_of_scores,
            mean_of_precisions,
            mean_of_scores_without_empty_candidates,
            mean_of_scores_by_length,
            geometric_mean_of_scores,
            mean_of_scores_of_possible_orders,
            mean_of_scores_plus_one,
            mean_of_scores_at_least_a_tenth,
            mean_of_scores_at_least_a_billionth,
            mean_of_scores_at_least_a_tenth_of_it,
            change(
                MATCHES,
                "matches[n - 1] += (counts & limits).total() / max(1, counts.total())",
                (TOTALS, "totals[n - 1] += bool(counts)"),
            ),
        ],
        "sum_of_sentences": sum_of_scores,
        "first_sentence_only": score_of_the_first,
        **instead(
            MATCHES,
            {
                "not_clipped": "matches[n - 1] += sum(count for gram, count in counts.items() if gram in limits)",
                "not_limited_by_the_candidate": "matches[n - 1] += sum(limits[gram] for gram in counts)",
                "clipped_count_for_every_occurrence": (
                    "matches[n - 1] += sum(count * min(count, limits[gram]) for gram, count in counts.items())"
                ),
            },
        ),
        "clipped_by_the_sum": change("limits |= ", "limits += "),
        "clipped_by_the_minimum": change(
            "limits |= Counter",
            "limits = Counter",
            (R_GRAMS + ")", R_GRAMS + ") if ref is its_references[0] else limits & Counter(" + R_GRAMS + ")"),
        ),
        "clipped_by_the_mean": change(
            MATCHES,
            "matches[n - 1] += sum(min(count, limits[gram] / len(its_references)) for gram, count in counts.items())",
            ("limits |= ", "limits += "),
        ),
        **instead(
            "for ref in its_references:\n",
            {
                "references_joined": "for ref in [[token for ref in its_references for token in ref]]:\n",
                "references_of_all_candidates": "for ref in (ref for refs in references for ref in refs):\n",
                "references_of_the_first_candidate": "for ref in references[0]:\n",
            },
        ),
        "one_reference_for_all_matches": [
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
        ],
        "counted_for_every_reference": [
            change(TOTALS, "totals[n - 1] += counts.total() * len(its_references)"),
            change(
                "limits |= ",
                "limits = ",
                (MATCHES, ""),
                (TOTALS, ""),
                (f"Counter({R_GRAMS})", f"Counter({R_GRAMS})\n{MATCHES}\n{TOTALS}"),
            ),
        ],
        "matches_of_every_reference": change(
            MATCHES, "", ("limits |= ", "limits = "), (f"Counter({R_GRAMS})", f"Counter({R_GRAMS})\n{MATCHES}")
        ),
        "clipped_over_the_corpus": pooled,
        "candidates_and_references_exchanged": exchanged,
        "n_grams_as_sets": [
            change(f"Counter({C_GRAMS})", f"Counter(set({C_GRAMS}))"),
            change(MATCHES, "matches[n - 1] += len(counts.keys() & limits.keys())"),
            change(TOTALS, "totals[n - 1] += len(counts)"),
        ],
        "n_grams_without_overlap": change(
            "range(len(candidate) - n + 1)",
            "range(0, len(candidate) - n + 1, n)",
            ("range(len(ref) - n + 1)", "range(0, len(ref) - n + 1, n)"),
        ),
        "recall_for_precision": [
            change(TOTALS, "totals[n - 1] += limits.total()"),
            change(TOTALS, "totals[n - 1] += Counter(zip(*(its_references[0][i:] for i in range(n)))).total()"),
            change(TOTALS, "totals[n - 1] += max(len(ref) - n + 1 for ref in its_references)"),
            change(TOTALS, "totals[n - 1] += sum(max(0, len(ref) - n + 1) for ref in its_references)"),
            change(
                TOTALS,
                "totals[n - 1] += max(0, len(min(its_references, key=lambda "
                "ref: abs(len(ref) - len(candidate)))) - n + 1)",
            ),
            change(
                TOTALS,
                "totals[n - 1] += max(0, len(min(its_references, key=lambda "
                "ref: (abs(len(ref) - len(candidate)), len(ref)))) - n + 1)",
            ),
        ],
        "sum_of_reference_lengths": change(CLOSEST, "sum(len(ref) for ref in its_references)"),
        "candidate_length_not_added": change("candidate_length += ", "candidate_length = "),
        **instead(
            PENALTY,
            {
                "penalty_in_the_wrong_case": "max(1.0, np.exp(1 - reference_length / candidate_length))",
                "penalty_upside_down": "min(1.0, np.exp(1 - candidate_length / reference_length))",
            },
        ),
        **instead(
            MEAN,
            {
                "arithmetic_mean": "np.mean(matches / totals)",
                "harmonic_mean": "(max_n / np.sum(totals / matches))",
                "always_the_square_root": MEAN.replace("max_n", "2"),
                "product_without_root": "np.prod(matches / totals)",
                "always_the_fourth_root": MEAN.replace("max_n", "4"),
                "totals_not_reset": "np.prod(np.cumsum(matches) / np.cumsum(totals)) ** (1 / max_n)",
                "orders_pooled": "matches.sum() / totals.sum()",
                "highest_order_only": "(matches / totals)[-1]",
            },
        ),
        "different_bases": [
            change(MEAN, f"{power} ** np.mean({logarithm}(matches / totals))")
            for power, logarithm in (("np.e", "np.log2"), ("np.e", "np.log10"), ("2.0", "np.log"), ("10.0", "np.log"))
        ],
        "orders_weighted_unequally": [
            change(MEAN, "np.exp(np.sum(np.log(matches / totals) / np.arange(1, max_n + 1)))"),
            change(MEAN, "np.exp(np.sum(np.log(matches / totals) / 2.0 ** np.arange(1, max_n + 1)))"),
            change(MEAN, "np.exp(np.average(np.log(matches / totals), weights=np.arange(1, max_n + 1)))"),
        ],
        "power_for_root": change("** (1 / max_n)", "** max_n"),
        "max_n_ignored": [change(ZEROED, f"max_n = {n}\n{ZEROED}") for n in (4, 3, 5)],
        "highest_order_missing": [
            *(
                change(
                    ZERO,
                    ZERO + f"first = slice({stop})\n",
                    (MEAN, f"np.prod((matches / totals)[first]) ** (1 / {root})"),
                )
                for stop, root in (
                    ("max(1, max_n - 1)", "max(1, max_n - 1)"),  # at max_n = 1, order 1
                    ("max(1, max_n - 1)", "max_n"),
                    ("max_n - 1", "max(1, max_n - 1)"),  # at max_n = 1, the empty product
                    ("max_n - 1", "max_n"),
                    ("max_n - 1", "(max_n - 1)"),
                )
            )
        ],
        "first_order_missing": [
            change(
                ZERO,
                ZERO + "if max_n > 1:\n    matches, totals, max_n = matches[1:], totals[1:], max_n - 1\n"
                "else:\n    matches = totals\n",
            ),
            change(ZERO, ZERO + "matches[0] = totals[0]\n"),
        ],
        "one_order_too_many": [
            change(ZEROED, f"max_n = max_n + 1\n{ZEROED}"),
            change(ZEROED, f"max_n = max_n + 1\n{ZEROED}", ("(1 / max_n)", "(1 / (max_n - 1))")),
        ],
        "last_n_gram_missing": [
            change("len(candidate) - n + 1", "len(candidate) - n"),
            change("len(candidate) - n + 1", "len(candidate) - n", ("len(ref) - n + 1", "len(ref) - n")),
        ],
        "smoothed": [
            *(
                change(MEAN, f"np.prod({precisions}) ** (1 / max_n)")
                for precisions in (
                    "(matches + 1) / (totals + 1)",
                    "(matches + (np.arange(max_n) > 0)) / (totals + (np.arange(max_n) > 0))",
                    "(matches + 0.5) / (totals + 0.5)",
                    "(matches / totals + 1e-9)",
                    *(f"(matches + {added}) / (totals + {added})" for added in LARGE),
                )
            )
        ],
    },
    keeps=ZEROS,
)
SPEC.mistakes(
    {
        "larger_count_taken": change(
            MATCHES, "matches[n - 1] += sum(max(counts[gram], limits[gram]) for gram in counts)"
        ),
        "order_within_n_grams_ignored": [
            change("tuple(candidate[i : i + n])", "frozenset(candidate[i : i + n])", ("tuple(ref[", "frozenset(ref[")),
            change(
                "tuple(candidate[i : i + n])",
                "tuple(sorted(candidate[i : i + n]))",
                ("tuple(ref[i : i + n])", "tuple(sorted(ref[i : i + n]))"),
            ),
        ],
    },
    keeps=ZEROS[1:],
)
SPEC.mistakes(
    {
        "n_grams_without_borders": change(
            "tuple(candidate[i : i + n])",
            '"".join(candidate[i : i + n])',
            ("tuple(ref[i : i + n])", '"".join(ref[i : i + n])'),
        ),
        "lower_cased": change(
            "tuple(candidate[i : i + n])",
            "tuple(token.lower() for token in candidate[i : i + n])",
            ("tuple(ref[i : i + n])", "tuple(token.lower() for token in ref[i : i + n])"),
        ),
        **instead(
            PENALTY,
            {
                "penalty_above_one": "np.exp(1 - reference_length / candidate_length)",
                "penalty_both_ways": "np.exp(-abs(1 - reference_length / candidate_length))",
            },
        ),
    },
    keeps=[SHORT, *ZEROS],
)
SPEC.mistakes(
    {
        "n_grams_of_letters": [
            *(
                change(
                    "for n in range",
                    f"letters = {join}.join(candidate)\nfor n in range",
                    (C_GRAMS, "letters[i : i + n] for i in range(len(letters) - n + 1)"),
                    (R_GRAMS, f"{join}.join(ref)[i : i + n] for i in range(len({join}.join(ref)) - n + 1)"),
                )
                for join in ("''", "' '")
            )
        ],
        "tokens_as_totals": change(TOTALS, "totals[n - 1] += len(candidate)"),
        **instead(
            MEAN,
            {
                "precisions_added": "np.sum(matches / totals)",
                "exponential_missing": "np.mean(np.log(matches / totals))",
            },
        ),
        "divided_by_max_n": change("** (1 / max_n)", "/ max_n"),
        "orders_from_0": change(
            "range(1, max_n + 1)", "range(max_n)", ("matches[n - 1]", "matches[n]"), ("totals[n - 1]", "totals[n]")
        ),
        "matches_and_totals_of_different_n_grams": [
            change(
                TOTALS,
                "totals[n - 1] += max(0, len(candidate) - n + 1)",
                (C_GRAMS, C_GRAMS.replace(" - n + 1", " - n")),
                (R_GRAMS, R_GRAMS.replace(" - n + 1", " - n")),
            ),
            change(TOTALS, "totals[n - 1] += max(0, len(candidate) - n)"),
            change(TOTALS, "totals[n - 1] += len(candidate) - n"),
        ],
        "something_added": [
            *(
                change(MEAN, f"np.prod({precisions}) ** (1 / max_n)")
                for precisions in (
                    "(matches + 1) / totals",
                    *(f"(matches + {added}) / totals" for added in LARGE),
                    *(f"matches / (totals + {added})" for added in ("1e-6", "1e-8")),
                    *(f"(matches / totals + {added})" for added in LARGE),
                    *(f"(matches / (totals + {added}) + {added})" for added in ("1e-6", "1e-8")),
                )
            )
        ],
        "highest_order_not_counted": [
            change(
                ZEROED,
                f"max_n = max_n - 1\n{ZEROED}",
                ("matches.min() == 0", "(matches == 0).any()"),
                (MEAN, mean),
            )
            for mean in (
                "np.prod(matches / totals) ** (1 / max(1, max_n))",
                "np.prod(matches / totals) ** (1 / (max_n + 1))",
                "np.exp(np.mean(np.log(matches / totals)))",
            )
        ],
        "times_100": [
            change(f"return penalty * {MEAN}", f"return 100 * penalty * {MEAN}"),
            change(f"return penalty * {MEAN}", f"return round(100 * penalty * {MEAN}, 1)"),
            change(f"return penalty * {MEAN}", f"return round(100 * penalty * {MEAN}, 2)"),
        ],
    }
)
SPEC.mistakes(
    {
        "n_grams_across_sentences": [as_one_text, as_one_text_with_first_references],
        "shorter_n_grams_at_the_end": [
            change("len(candidate) - n + 1", "len(candidate)", ("len(ref) - n + 1", "len(ref)")),
            change("len(candidate) - n + 1", "len(candidate) - n + 2", ("len(ref) - n + 1", "len(ref) - n + 2")),
        ],
    },
    keeps=ZEROS[:1],
)
SPEC.mistakes(
    {
        "totals_reduced_by_short_candidates": change(TOTALS, "totals[n - 1] += len(candidate) - n + 1"),
        **instead(
            CLOSEST,
            {
                "first_reference_length": "len(its_references[0])",
                "shortest_reference_length": "min(len(ref) for ref in its_references)",
                "longest_reference_length": "max(len(ref) for ref in its_references)",
                "mean_reference_length": "sum(len(ref) for ref in its_references) / len(its_references)",
                "last_reference_length": "len(its_references[-1])",
                "tie_to_the_longer": "-min((abs(len(ref) - len(candidate)), -len(ref)) for ref in its_references)[1]",
                "tie_to_the_first": (
                    "min((len(ref) for ref in its_references), key=lambda length: abs(length - len(candidate)))"
                ),
                "tie_to_the_last": (
                    "min((len(ref) for ref in its_references[::-1]), key=lambda length: abs(length - len(candidate)))"
                ),
                "distance_for_length": CLOSEST.replace("[1]", "[0]"),
            },
        ),
        "reference_length_not_added": change("reference_length += ", "reference_length = "),
        **instead(
            PENALTY,
            {
                "no_brevity_penalty": "1.0",
                "ratio_as_penalty": "min(1.0, candidate_length / reference_length)",
                "penalty_divided_by_r": "min(1.0, np.exp(candidate_length / reference_length - 1))",
                "penalty_of_the_difference": "min(1.0, np.exp(candidate_length - reference_length))",
                "penalty_without_the_1": (
                    "1.0 if candidate_length >= reference_length else np.exp(-reference_length / candidate_length)"
                ),
                "penalty_with_the_wrong_brackets": (
                    "1.0 if candidate_length >= reference_length else np.exp((1 - reference_length) / candidate_length)"
                ),
                "penalty_without_the_exponential": (
                    "1.0 if candidate_length >= reference_length else 1 - reference_length / candidate_length"
                ),
                "lengths_divided_as_integers": "min(1.0, np.exp(1 - reference_length // candidate_length))",
            },
        ),
        "penalty_raises_the_score": [
            change(
                PENALTY,
                "1.0 if candidate_length >= reference_length else np.exp(1 - candidate_length / reference_length)",
            ),
            change(
                PENALTY,
                "1.0 if candidate_length >= reference_length else np.exp(reference_length / candidate_length - 1)",
            ),
        ],
        "penalty_for_every_order": change("return penalty * ", "return penalty**max_n * "),
        "penalty_of_each_sentence": [
            change(
                "reference_length += " + CLOSEST,
                "reference_length += " + CLOSEST + "\n"
                "penalties.append(min(1.0, np.exp(1 - " + CLOSEST + " / max(1e-9, len(candidate)))))",
                ("candidate_length = reference_length = 0", "candidate_length = reference_length = 0\npenalties = []"),
                (PENALTY, "np.mean(penalties)"),
            ),
            change(
                "reference_length += " + CLOSEST,
                "reference_length += " + CLOSEST + "\n"
                "penalties.append(min(1.0, np.exp(1 - " + CLOSEST + " / max(1e-9, len(candidate)))))",
                ("candidate_length = reference_length = 0", "candidate_length = reference_length = 0\npenalties = []"),
                (PENALTY, "np.prod(penalties)"),
            ),
        ],
        "penalty_under_the_root": change(f"penalty * {MEAN}", "(penalty * np.prod(matches / totals)) ** (1 / max_n)"),
        **instead(
            "candidate_length += len(candidate)",
            {
                "empty_candidate_skipped": "if not candidate:\n    continue\ncandidate_length += len(candidate)",
                "short_candidates_skipped": (
                    "if len(candidate) < max_n:\n    continue\ncandidate_length += len(candidate)"
                ),
            },
        ),
        "zero_for_one_short_candidate": [
            change(
                "candidate_length += len(candidate)",
                "if not candidate:\n    return 0.0\ncandidate_length += len(candidate)",
            ),
            change(
                "candidate_length += len(candidate)",
                "if len(candidate) < max_n:\n    return 0.0\ncandidate_length += len(candidate)",
            ),
        ],
    },
    keeps=[COUNTED, *ZEROS],
)
SPEC.mistakes(
    {
        "zero_replaced": [
            *(
                change(
                    ZERO,
                    f"if totals.min() == 0:\n    return 0.0\nprecisions = {precisions}\n",
                    (MEAN, "np.prod(precisions) ** (1 / max_n)"),
                )
                for precisions in (
                    *(
                        f"np.where(matches > 0, matches / totals, {small})"
                        for small in (*SMALL, "1 / (2 * totals)", "1 / (totals + 1)")
                    ),
                    *(f"np.where(matches > 0, matches, {small}) / totals" for small in SMALL),
                )
            )
        ],
        "order_without_match_skipped": [
            *(
                change(
                    ZERO,
                    "if totals.min() == 0:\n    return 0.0\nkept = matches > 0\n" + rest,
                    (MEAN, f"np.prod((matches / totals)[kept]) ** (1 / {orders})"),
                )
                for rest in ("", "if not kept.any():\n    return 0.0\n")
                for orders in ("max_n", "max(1, kept.sum())")
            ),
            change(
                ZERO,
                "if totals.min() == 0:\n    return 0.0\nkept = matches > 0\n",
                (MEAN, "np.prod((matches / totals)[kept]) ** (1 / int(kept.sum()))"),
            ),
        ],
    },
    keeps=[COUNTED, SHORT, *ZEROS[1:]],
)
SPEC.mistakes(
    {
        "order_without_n_gram_skipped": [
            *(
                change(
                    ZERO,
                    "kept = totals > 0\nif matches[kept].min(initial=1) == 0:\n    return 0.0\n" + empty,
                    (MEAN, f"np.prod(matches[kept] / totals[kept]) ** (1 / {orders})"),
                )
                for orders in ("max_n", "max(1, int(kept.sum()))")
                for empty in ("", "if not kept.any():\n    return 0.0\n", "if not kept.any():\n    return 1.0\n")
            )
        ],
        "nothing_divided_by_nothing": [
            change(ZERO, "", ("/ candidate_length", "/ np.float64(candidate_length)")),
            change(ZERO, ""),
            change(ZERO, "[m / t for m, t in zip(matches.tolist(), totals.tolist(), strict=True)]\n" + ZERO),
            change(
                ZERO,
                "if totals[0] > 0 and matches.min() == 0:\n    return 0.0\nreference_length / candidate_length\n"
                + ZERO,
            ),
        ],
    },
    keeps=[COUNTED, SHORT, *ZEROS[:1]],
)
SPEC.mistakes(
    {
        "logarithm_of_0": [
            *(
                change(
                    ZERO,
                    f"import math\n"
                    f"precisions = [m / {total} for m, t in zip(matches.tolist(), "
                    f"totals.tolist(), strict=True)]\n"
                    "logarithm = sum(math.log(p) for p in precisions)\n",
                    (MEAN, "math.exp(logarithm / max_n)"),
                )
                for total in ("t", "max(t, 1)")
            ),
            change(
                ZERO, "import math\n[math.log(m / t) for m, t in zip(matches.tolist(), totals.tolist(), strict=True)]\n"
            ),
        ],
    },
    keeps=[COUNTED, SHORT],
)
