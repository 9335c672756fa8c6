"""How `bleu` is checked: against slow loops that look for every n-gram in every reference."""

from collections import Counter

import numpy as np

from grader.author.spec import Case, Facet, Output, Spec, change

ONE, SEVERAL, SHORT = "one reference", "several references", "short candidates"
NO_MATCH, NO_N_GRAM, NO_TOKEN, SAME = "no match", "no n-gram", "no token", "the reference itself"
COUNTED, ZEROS = "matches and precisions", ["orders without a match", "orders without an n-gram"]
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
    yield named(rng, ["abcabcd|abcad|bcdab|abcdb", "efgaaf|efga|ffgaa|aefg"], 2, SEVERAL)
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
    yield named(rng, ["aababb|abcdefgh|baacdefg"], 2, SHORT)
    yield named(rng, ["ab|abc", "abcde|abcde"], 4, SHORT)  # one candidate is too short for most orders
    yield named(rng, ["ab|abcdefg"], 1, SHORT)  # less than half as long
    yield case(tokens("she is no where at all"), [tokens("she is now here at all")], 2, ONE)
    yield case(tokens("Will will see May in May"), [tokens("Will may see will in May")], 2, ONE)
    yield named(rng, ["abcdefg|abcdefg"], 2, SAME)  # so that returning 0 is not enough
    yield named(rng, ["abcd|abdc", "bcad|cbda"], 3, NO_MATCH)  # no 3-gram matches
    yield named(rng, ["abc|def|ghi"], 2, NO_MATCH)  # no word matches
    yield named(rng, ["ab|abc", "cd|cd"], 3, NO_N_GRAM)  # no candidate has a 3-gram
    yield named(rng, ["|abc", "|a"], 2, NO_TOKEN)  # no candidate has a word


SPEC = Spec(
    outputs=[Output("score")],
    example=EXAMPLE,
    cases=cases,
    oracle=oracle,
    facets=[
        Facet(COUNTED, 2, kinds=(ONE, SEVERAL)),
        Facet(SHORT, 2, kinds=(SHORT,)),
        Facet(ZEROS[0], 1, kinds=(NO_MATCH, SAME)),
        Facet(ZEROS[1], 1, kinds=(NO_N_GRAM, NO_TOKEN, SAME)),
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


@SPEC.mistake(
    "mean_of_sentences",
    "You average over the sentences. Add up the matches, the n-grams and the lengths of all candidates first, and "
    "form the ratios once, from these totals: otherwise a short sentence counts as much as a long one.",
    tempts="A score for each sentence comes first to mind, and scores are usually averaged.",
    keeps=ZEROS,
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


@SPEC.misconceptions["mean_of_sentences"].ways.append
def mean_of_scores_without_empty_candidates(candidates, references, max_n=4):
    scores = [one_sentence(c, r, max_n) for c, r in zip(candidates, references, strict=True) if c]
    return float(np.mean(scores)) if scores else 0.0


@SPEC.misconceptions["mean_of_sentences"].ways.append
def mean_of_scores_by_length(candidates, references, max_n=4):
    scores = [len(c) * one_sentence(c, r, max_n) for c, r in zip(candidates, references, strict=True)]
    return sum(scores) / max(1, sum(map(len, candidates)))


@SPEC.misconceptions["mean_of_sentences"].ways.append
def geometric_mean_of_scores(candidates, references, max_n=4):
    scores = [one_sentence(c, r, max_n) for c, r in zip(candidates, references, strict=True)]
    return float(np.prod(scores) ** (1 / len(scores)))


@SPEC.misconceptions["mean_of_sentences"].ways.append
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
            counts, limits = Counter(zip(*(candidate[i:] for i in range(n)), strict=False)), Counter()
            for ref in its_references:
                limits |= Counter(zip(*(ref[i:] for i in range(n)), strict=False))
            matches, total = smooth((counts & limits).total(), counts.total())
            score *= (matches / total) ** (1 / max_n)
        c, r = len(candidate), min((abs(len(ref) - len(candidate)), len(ref)) for ref in its_references)[1]
        scores.append(score * min(1.0, np.exp(1 - r / c)))
    return float(np.mean(scores))


@SPEC.misconceptions["mean_of_sentences"].ways.append
def mean_of_scores_plus_one(candidates, references, max_n=4):
    return smoothed_scores(candidates, references, max_n, lambda matches, total: (matches + 1, total + 1))


@SPEC.misconceptions["mean_of_sentences"].ways.append
def mean_of_scores_at_least_a_tenth(candidates, references, max_n=4):
    return smoothed_scores(candidates, references, max_n, lambda matches, total: (matches or 0.1, total))


@SPEC.misconceptions["mean_of_sentences"].ways.append
def mean_of_scores_at_least_a_billionth(candidates, references, max_n=4):
    return smoothed_scores(candidates, references, max_n, lambda matches, total: (matches or 1e-9, total))


@SPEC.misconceptions["mean_of_sentences"].ways.append
def mean_of_scores_at_least_a_tenth_of_it(candidates, references, max_n=4):
    return smoothed_scores(candidates, references, max_n, lambda matches, total: (matches or 1e-10, total))


@SPEC.mistake(
    "sum_of_sentences",
    "You add up the scores of the sentences. Add up the matches, the n-grams and the lengths of all candidates "
    "instead, and compute one score from these totals.",
    tempts="All quantities of BLEU are added up over the corpus.",
    keeps=ZEROS,
)
def sum_of_scores(candidates, references, max_n=4):
    return sum(one_sentence(c, r, max_n) for c, r in zip(candidates, references, strict=True))


@SPEC.mistake(
    "first_sentence_only",
    "You score the first candidate only. Add up the counts of all candidates first: a `return` inside the loop over "
    "the candidates ends it after one.",
    tempts="A `return` that is indented by one level too many is hard to see.",
    keeps=ZEROS,
)
def score_of_the_first(candidates, references, max_n=4):
    return one_sentence(candidates[0], references[0], max_n)


SPEC.mistake(
    "not_clipped",
    "You do not clip: every occurrence of an n-gram counts as a match if a reference contains it at all. Count it at "
    "most as often as it occurs in a single reference, because otherwise *the the the* matches with every word.",
    change(MATCHES, "matches[n - 1] += sum(count for gram, count in counts.items() if gram in limits)"),
    tempts="`gram in reference` is all that a precision seems to need.",
    keeps=ZEROS,
)
SPEC.mistake(
    "clipped_by_the_sum",
    "You clip at the sum of the counts in all references. Clip at their maximum: one reference has to account for all "
    "occurrences of an n-gram.",
    change("limits |= ", "limits += "),
    change("limits |= ", "limits.update(", (R_GRAMS + ")", R_GRAMS + "))")),
    tempts="`update` and `+=` are how counts are usually joined.",
    keeps=ZEROS,
)
SPEC.mistake(
    "clipped_by_the_minimum",
    "You clip at the smallest of the counts in the references, so an n-gram has to be in all of them to match. Clip at "
    "the largest: it is enough that one reference contains the n-gram.",
    change(
        "limits |= Counter",
        "limits = Counter",
        (R_GRAMS + ")", R_GRAMS + ") if ref is its_references[0] else limits & Counter(" + R_GRAMS + ")"),
    ),
    tempts="`&` and `|` of counters are easily exchanged.",
    keeps=ZEROS,
)
SPEC.mistake(
    "clipped_by_the_mean",
    "You clip at the mean of the counts in the references. Clip at their maximum: it is enough that one reference "
    "contains the n-gram.",
    change(
        MATCHES,
        "matches[n - 1] += sum(min(count, limits[gram] / len(its_references)) for gram, count in counts.items())",
        ("limits |= ", "limits += "),
    ),
    tempts="Several references are several opinions, and opinions are averaged.",
    keeps=ZEROS,
)
SPEC.mistake(
    "references_joined",
    "You join the references of a candidate into one text, so their counts are added, and there are n-grams that "
    "begin in one reference and end in the next. Count each reference by itself, and take the maximum of the counts.",
    change("for ref in its_references:\n", "for ref in [[token for ref in its_references for token in ref]]:\n"),
    tempts="All references are right, so one collection of what is right seems enough.",
    keeps=ZEROS,
)
SPEC.mistake(
    "not_limited_by_the_candidate",
    "You count an n-gram as often as a reference contains it, even if the candidate contains it less often. Take the "
    "smaller of the two counts.",
    change(MATCHES, "matches[n - 1] += sum(limits[gram] for gram in counts)"),
    tempts="The limit looks like the count that is sought.",
    keeps=ZEROS,
)
SPEC.mistake(
    "larger_count_taken",
    "You take the larger of the two counts of an n-gram. Take the smaller one, with `min`: it must be in the candidate "
    "*and* in a reference as often as you count it.",
    change(MATCHES, "matches[n - 1] += sum(max(counts[gram], limits[gram]) for gram in counts)"),
    tempts="The maximum over the references is next to it.",
    keeps=ZEROS[1:],
)
SPEC.mistake(
    "clipped_count_for_every_occurrence",
    "You add the clipped count of an n-gram once for each of its occurrences in the candidate. Add it once for each "
    "*different* n-gram: loop over the keys of a counter, or over a set.",
    change(MATCHES, "matches[n - 1] += sum(count * min(count, limits[gram]) for gram, count in counts.items())"),
    tempts="The loop runs over the list of n-grams, in which repeated ones occur again.",
    keeps=ZEROS,
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
    keeps=ZEROS,
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
    keeps=ZEROS,
)
SPEC.mistake(
    "matches_of_every_reference",
    "You add the matches with every reference, so one n-gram of the candidate may match several times. Look it up in "
    "all references together, at the maximum of its counts there.",
    change(MATCHES, "", ("limits |= ", "limits = "), (f"Counter({R_GRAMS})", f"Counter({R_GRAMS})\n{MATCHES}")),
    tempts="Each reference is compared with the candidate in the innermost loop.",
    keeps=ZEROS,
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
    keeps=[SHORT, *ZEROS],
)


@SPEC.mistake(
    "clipped_over_the_corpus",
    "You clip once for the whole corpus. Clip each candidate by its own references, and then add up: an n-gram of one "
    "sentence must not match the reference of another.",
    tempts="BLEU is computed from totals of the corpus, so everything seems to be added up first.",
    keeps=ZEROS,
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


@SPEC.mistake(
    "candidates_and_references_exchanged",
    "You exchange candidates and references, which makes a recall of the precision and turns the penalty upside down. "
    "Count the n-grams of the *candidates*, and look them up in the references.",
    tempts="Which of two arguments comes first differs between libraries; sacrebleu and NLTK disagree, too.",
    keeps=ZEROS,
)
def exchanged(candidates, references, max_n=4):
    try:
        return oracle([refs[0] for refs in references], [[candidate] for candidate in candidates], max_n)
    except ZeroDivisionError:
        return 0.0


SPEC.mistake(
    "n_grams_as_sets",
    "You count a repeated n-gram only once, in the matches, in the total or in both. Count every occurrence in the "
    "total, and up to the maximum in a reference in the matches: a word that stands twice in the candidate and twice "
    "in a reference matches twice.",
    change(f"Counter({C_GRAMS})", f"Counter(set({C_GRAMS}))"),
    change(MATCHES, "matches[n - 1] += len(counts.keys() & limits.keys())"),
    change(TOTALS, "totals[n - 1] += len(counts)"),
    tempts="The intersection of two sets is one operator.",
    keeps=ZEROS,
)
SPEC.mistake(
    "n_grams_of_letters",
    "You join the tokens into one string and count its letters. Count n-grams of tokens, that is, of whole words: "
    "slice the list of tokens itself.",
    *(
        change(
            "for n in range",
            f"letters = {join}.join(candidate)\nfor n in range",
            (C_GRAMS, "letters[i : i + n] for i in range(len(letters) - n + 1)"),
            (R_GRAMS, f"{join}.join(ref)[i : i + n] for i in range(len({join}.join(ref)) - n + 1)"),
        )
        for join in ("''", "' '")
    ),
    tempts="A string can be sliced and counted like a list, and nothing fails.",
)
SPEC.mistake(
    "order_within_n_grams_ignored",
    "You treat n-grams of the same tokens in another order as equal. *the cat* and *cat the* are two different "
    "2-grams, so compare them as tuples, neither sorted nor as sets: the order of the words is what n-grams measure.",
    change("tuple(candidate[i : i + n])", "frozenset(candidate[i : i + n])", ("tuple(ref[", "frozenset(ref[")),
    change(
        "tuple(candidate[i : i + n])",
        "tuple(sorted(candidate[i : i + n]))",
        ("tuple(ref[i : i + n])", "tuple(sorted(ref[i : i + n]))"),
    ),
    tempts="A list cannot be counted, and a set of tokens seems as good as a tuple.",
    keeps=ZEROS[1:],
)
SPEC.mistake(
    "n_grams_without_overlap",
    "You cut each sentence into pieces that do not overlap. An n-gram begins at *every* token that has enough tokens "
    "after it, so move on by 1, not by n.",
    change(
        "range(len(candidate) - n + 1)",
        "range(0, len(candidate) - n + 1, n)",
        ("range(len(ref) - n + 1)", "range(0, len(ref) - n + 1, n)"),
    ),
    tempts="'Pieces of n tokens' sounds like a division of the sentence.",
    keeps=ZEROS,
)
SPEC.mistake(
    "lower_cased",
    "You change the tokens to lower case. Compare them as they are: what a token is has been decided before BLEU is "
    "computed, and *May* and *may* are different tokens here.",
    change(
        "tuple(candidate[i : i + n])",
        "tuple(token.lower() for token in candidate[i : i + n])",
        ("tuple(ref[i : i + n])", "tuple(token.lower() for token in ref[i : i + n])"),
    ),
    tempts="Many scripts make everything lower case before they count words.",
    keeps=[SHORT, *ZEROS],
)


def in_a_row(sentences):
    """The tokens of all sentences in one list."""
    return [token for sentence in sentences for token in sentence]


@SPEC.mistake(
    "n_grams_across_sentences",
    "You join the candidates into one long text, so there are n-grams that begin in one sentence and end in the next, "
    "and a word may match in another sentence's reference. Count each candidate against its own references, and then "
    "add up the counts.",
    tempts="BLEU is a score of the whole corpus, so the corpus seems to be one text.",
    keeps=ZEROS[:1],
)
def as_one_text(candidates, references, max_n=4):
    most = max(map(len, references))
    joined = [in_a_row([refs[min(j, len(refs) - 1)] for refs in references]) for j in range(most)]
    try:
        return oracle([in_a_row(candidates)], [joined], max_n)
    except ZeroDivisionError:
        return 0.0


@SPEC.misconceptions["n_grams_across_sentences"].ways.append
def as_one_text_with_first_references(candidates, references, max_n=4):
    try:
        firsts = in_a_row([refs[0] for refs in references])
        return oracle([in_a_row(candidates)], [[firsts]], max_n)
    except ZeroDivisionError:
        return 0.0


SPEC.mistake(
    "references_of_all_candidates",
    "You look up the n-grams of a candidate in the references of all candidates. Look in its own references only: what "
    "another sentence's reference contains is not a translation of this one.",
    change("for ref in its_references:\n", "for ref in (ref for refs in references for ref in refs):\n"),
    tempts="Two loops over the references, one inside the other, look complete.",
    keeps=ZEROS,
)
SPEC.mistake(
    "references_of_the_first_candidate",
    "You compare every candidate with the references of the first one. Compare candidate i with `references[i]`.",
    change("for ref in its_references:\n", "for ref in references[0]:\n"),
    tempts="With a single candidate, as in the first experiment, `references[0]` is right.",
    keeps=ZEROS,
)
SPEC.mistake(
    "tokens_as_totals",
    "You divide the matches of every order by the number of tokens. A sentence of k tokens has only k − n + 1 n-grams, "
    "so divide by the number of n-grams of the order.",
    change(TOTALS, "totals[n - 1] += len(candidate)"),
    tempts="For 1-grams the two numbers are the same.",
)
SPEC.mistake(
    "totals_reduced_by_short_candidates",
    "You add k − n + 1 to the total even where a candidate has fewer than n − 1 tokens, so the number is negative. "
    "Such a candidate has no n-gram: add 0, or count the n-grams that you have made.",
    change(TOTALS, "totals[n - 1] += len(candidate) - n + 1"),
    tempts="The formula k − n + 1 is true for every sentence that is long enough.",
    keeps=[COUNTED, *ZEROS],
)
SPEC.mistake(
    "recall_for_precision",
    "You divide by the number of n-grams of the references, which makes a recall. Divide by the number of n-grams of "
    "the candidates. The brevity penalty takes the place of the recall.",
    change(TOTALS, "totals[n - 1] += limits.total()"),
    change(TOTALS, "totals[n - 1] += Counter(zip(*(its_references[0][i:] for i in range(n)))).total()"),
    change(TOTALS, "totals[n - 1] += max(len(ref) - n + 1 for ref in its_references)"),
    change(TOTALS, "totals[n - 1] += sum(max(0, len(ref) - n + 1) for ref in its_references)"),
    change(
        TOTALS,
        "totals[n - 1] += max(0, len(min(its_references, key=lambda ref: abs(len(ref) - len(candidate)))) - n + 1)",
    ),
    tempts="ROUGE, a measure for summaries, does this.",
    keeps=ZEROS,
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
    ("last_reference_length", "len(its_references[-1])", "the length of the last reference"),
    ("sum_of_reference_lengths", "sum(len(ref) for ref in its_references)", "the total length of the references"),
):
    SPEC.mistake(
        name,
        f"For the brevity penalty you use {words} of a candidate. Use the length that is *closest* to that of the "
        "candidate, and of two that are equally close the shorter one.",
        change(CLOSEST, length),
        tempts="With one reference, all these lengths are the same.",
        keeps=[COUNTED, *ZEROS] if name != "sum_of_reference_lengths" else ZEROS,
    )
SPEC.mistake(
    "tie_to_the_longer",
    "Where two references are equally close in length to the candidate, you take the longer one. Take the shorter one.",
    change(CLOSEST, "-min((abs(len(ref) - len(candidate)), -len(ref)) for ref in its_references)[1]"),
    tempts="The paper says only 'the closest'; sacrebleu and most other programs take the shorter.",
    keeps=[COUNTED, *ZEROS],
)
SPEC.mistake(
    "tie_to_the_first",
    "Where two references are equally close in length to the candidate, you take the one that comes first in the list. "
    "Take the shorter one, so that the score does not depend on the order of the references. (`min` with a `key` "
    "returns the first of several equal entries.)",
    change(CLOSEST, "min((len(ref) for ref in its_references), key=lambda length: abs(length - len(candidate)))"),
    tempts="`min` with `key=` is the shortest way to write 'the closest'.",
    keeps=[COUNTED, *ZEROS],
)
SPEC.mistake(
    "tie_to_the_last",
    "Where two references are equally close in length to the candidate, you take the one that comes last in the list. "
    "Take the shorter one, so that the score does not depend on the order of the references. (A comparison with `<=` "
    "replaces the best length so far by an equally close one.)",
    change(
        CLOSEST,
        "min((len(ref) for ref in its_references[::-1]), key=lambda length: abs(length - len(candidate)))",
    ),
    tempts="`<=` and `<` differ only at a tie.",
    keeps=[COUNTED, *ZEROS],
)
SPEC.mistake(
    "distance_for_length",
    "For the brevity penalty you add up how far the closest reference is from the candidate. Add the *length* of that "
    "reference; the distance only decides which reference it is.",
    change(CLOSEST, CLOSEST.replace("[1]", "[0]")),
    tempts="`min` returns a pair, and its first entry is the one that has been minimised.",
    keeps=[COUNTED, *ZEROS],
)
SPEC.mistake(
    "reference_length_not_added",
    "Your `r` is the reference length of the last candidate alone. Add up the lengths over all candidates, with `+=`, "
    "as for `c`.",
    change("reference_length += ", "reference_length = "),
    tempts="`=` in place of `+=` raises no error.",
    keeps=[COUNTED, *ZEROS],
)
SPEC.mistake(
    "candidate_length_not_added",
    "Your `c` is the length of the last candidate alone. Add up the lengths of all candidates, with `+=`, as for `r`.",
    change("candidate_length += ", "candidate_length = "),
    tempts="`=` in place of `+=` raises no error.",
    keeps=ZEROS,
)
SPEC.mistake(
    "no_brevity_penalty",
    "You leave out the brevity penalty. Multiply by `exp(1 - r / c)` where the candidates are shorter than their "
    "references, because precision alone rewards candidates that say too little.",
    change(PENALTY, "1.0"),
    tempts="The geometric mean of the precisions looks like a finished score.",
    keeps=[COUNTED, *ZEROS],
)
SPEC.mistake(
    "penalty_above_one",
    "You multiply by `exp(1 - r / c)` even where the candidates are longer than their references, which raises the "
    "score. The penalty is 1 there: extra words lower the precision already.",
    change(PENALTY, "np.exp(1 - reference_length / candidate_length)"),
    tempts="The formula has two cases, and one of them needs no formula.",
    keeps=[SHORT, *ZEROS],
)
SPEC.mistake(
    "penalty_in_the_wrong_case",
    "You multiply by `exp(1 - r / c)` where the candidates are longer than their references, and by 1 where they are "
    "shorter. Do the opposite: the penalty is the smaller of the two numbers, so use `min`, not `max`.",
    change(PENALTY, "max(1.0, np.exp(1 - reference_length / candidate_length))"),
    tempts="Which of `min` and `max` limits a number from above takes a moment's thought.",
    keeps=ZEROS,
)
SPEC.mistake(
    "penalty_upside_down",
    "You exchange the two lengths in the penalty, so it lowers the score of long candidates and leaves the short ones "
    "alone. It is `exp(1 - r / c)` where c < r, and 1 elsewhere, with `c` for the candidates.",
    change(PENALTY, "min(1.0, np.exp(1 - candidate_length / reference_length))"),
    tempts="Which of the two lengths is divided by which is easily mixed up.",
    keeps=ZEROS,
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
    keeps=[COUNTED, *ZEROS],
)
SPEC.mistake(
    "penalty_both_ways",
    "You lower the score for candidates that are longer than their references, too. The penalty is 1 there: extra "
    "words lower the precision already.",
    change(PENALTY, "np.exp(-abs(1 - reference_length / candidate_length))"),
    tempts="A translation that is too long is bad as well.",
    keeps=[SHORT, *ZEROS],
)
SPEC.mistake(
    "ratio_as_penalty",
    "Your penalty is the ratio of the lengths, `c / r`. Use `exp(1 - r / c)`, which is smaller, instead.",
    change(PENALTY, "min(1.0, candidate_length / reference_length)"),
    tempts="A ratio is the simplest penalty, and near 1 the two are almost equal.",
    keeps=[COUNTED, *ZEROS],
)
SPEC.mistake(
    "penalty_divided_by_r",
    "You divide by the wrong length: your exponent is `c / r - 1`, the shortfall divided by `r`. Use `1 - r / c`, "
    "which is the same shortfall divided by `c`.",
    change(PENALTY, "min(1.0, np.exp(candidate_length / reference_length - 1))"),
    tempts="The sign comes out right, so the formula seems to be.",
    keeps=[COUNTED, *ZEROS],
)
SPEC.mistake(
    "penalty_of_the_difference",
    "Your exponent is the difference of the lengths, `c - r`. Use `1 - r / c`, their difference divided by `c`: the "
    "penalty must not grow with the size of the corpus.",
    change(PENALTY, "min(1.0, np.exp(candidate_length - reference_length))"),
    tempts="The exponent measures how many tokens are missing, and a difference does so, too.",
    keeps=[COUNTED, *ZEROS],
)
SPEC.mistake(
    "penalty_without_the_1",
    "Your exponent is `-r / c`. Use `1 - r / c`, which is 0 where the lengths are equal, so that the penalty begins "
    "at 1.",
    change(PENALTY, "1.0 if candidate_length >= reference_length else np.exp(-reference_length / candidate_length)"),
    tempts="A penalty decreases with the ratio, and the 1 seems to be only a factor.",
    keeps=[COUNTED, *ZEROS],
)
SPEC.mistake(
    "penalty_with_the_wrong_brackets",
    "Your exponent is `(1 - r) / c`. Use `1 - r / c`: only `r` is divided by `c`.",
    change(
        PENALTY, "1.0 if candidate_length >= reference_length else np.exp((1 - reference_length) / candidate_length)"
    ),
    tempts="Brackets that are added for safety may be in the wrong place.",
    keeps=[COUNTED, *ZEROS],
)
SPEC.mistake(
    "penalty_without_the_exponential",
    "Your penalty is `1 - r / c`, which is below 0. This is the exponent: the penalty is `exp(1 - r / c)`.",
    change(PENALTY, "1.0 if candidate_length >= reference_length else 1 - reference_length / candidate_length"),
    tempts="The exponent looks like a formula of its own.",
    keeps=[COUNTED, *ZEROS],
)
SPEC.mistake(
    "lengths_divided_as_integers",
    "You divide the lengths with `//`, which rounds down. Use `/`, so that a reference that is a little longer than "
    "the candidate counts.",
    change(PENALTY, "min(1.0, np.exp(1 - reference_length // candidate_length))"),
    tempts="Both lengths are integers.",
    keeps=[COUNTED, *ZEROS],
)
SPEC.mistake(
    "penalty_for_every_order",
    "You apply the penalty once for every order. Apply it once, to the geometric mean of the precisions.",
    change("return penalty * ", "return penalty**max_n * "),
    tempts="Inside the loop over the orders, it is added to every logarithm.",
    keeps=[COUNTED, *ZEROS],
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
    change(
        "reference_length += " + CLOSEST,
        "reference_length += " + CLOSEST + "\n"
        "penalties.append(min(1.0, np.exp(1 - " + CLOSEST + " / max(1e-9, len(candidate)))))",
        ("candidate_length = reference_length = 0", "candidate_length = reference_length = 0\npenalties = []"),
        (PENALTY, "np.prod(penalties)"),
    ),
    tempts="The length of the reference is chosen for each sentence, so the penalty seems to be made there too.",
    keeps=[COUNTED, *ZEROS],
)
SPEC.mistake(
    "arithmetic_mean",
    "You take the arithmetic mean of the precisions. Take the geometric mean, the N-th root of their product: the "
    "precisions of high orders are small, and in an arithmetic mean they would hardly count.",
    change(MEAN, "np.mean(matches / totals)"),
    tempts="The mean is the arithmetic one unless another is named.",
    keeps=ZEROS,
)
SPEC.mistake(
    "harmonic_mean",
    "You take the harmonic mean of the precisions. Take the geometric mean, the N-th root of their product.",
    change(MEAN, "(max_n / np.sum(totals / matches))"),
    tempts="The F-score, which combines a precision with a recall, is a harmonic mean.",
    keeps=ZEROS,
)
SPEC.mistake(
    "precisions_added",
    "You add the precisions of all orders, so the result may be above 1. Take their geometric mean, the N-th root of "
    "their product.",
    change(MEAN, "np.sum(matches / totals)"),
    tempts="A loop over the orders adds up whatever it computes.",
)
SPEC.mistake(
    "divided_by_max_n",
    "You divide the product of the precisions by N. Take the N-th root: in Python, `p ** 1 / n` is `(p ** 1) / n`, so "
    "write `p ** (1 / n)`.",
    change("** (1 / max_n)", "/ max_n"),
    tempts="`** 1 / max_n` reads like a root.",
)
SPEC.mistake(
    "different_bases",
    "You use a logarithm and a power that do not belong together. Use `np.log` with `np.exp`: if the bases differ, the "
    "power does not undo the logarithm.",
    *(
        change(MEAN, f"{power} ** np.mean({logarithm}(matches / totals))")
        for power, logarithm in (("np.e", "np.log2"), ("np.e", "np.log10"), ("2.0", "np.log"), ("10.0", "np.log"))
    ),
    tempts="Perplexity and entropy are often written with the base 2.",
    keeps=ZEROS,
)
SPEC.mistake(
    "exponential_missing",
    "You return the mean of the logarithms of the precisions, a number below 0. Apply `np.exp` to it, and multiply the "
    "result by the penalty.",
    change(MEAN, "np.mean(np.log(matches / totals))"),
    tempts="The logarithm has replaced the product by a sum, and what is left to do is forgotten.",
)
SPEC.mistake(
    "orders_weighted_unequally",
    "You give the orders different weights. All orders have the same weight, 1 / N.",
    change(MEAN, "np.exp(np.sum(np.log(matches / totals) / np.arange(1, max_n + 1)))"),
    change(MEAN, "np.exp(np.sum(np.log(matches / totals) / 2.0 ** np.arange(1, max_n + 1)))"),
    change(MEAN, "np.exp(np.average(np.log(matches / totals), weights=np.arange(1, max_n + 1)))"),
    tempts="Inside the loop, `n` is at hand, and `max_n` is not.",
    keeps=ZEROS,
)
SPEC.mistake(
    "always_the_square_root",
    "You take the square root, whatever `max_n` is. Take the N-th root of a product of N precisions.",
    change(MEAN, MEAN.replace("max_n", "2")),
    tempts="The worked example has two orders.",
    keeps=ZEROS,
)
SPEC.mistake(
    "power_for_root",
    "You raise the product of the precisions to the power N. Take its N-th root: the exponent is `1 / max_n`.",
    change("** (1 / max_n)", "** max_n"),
    tempts="The root is written as a power, and the fraction is lost.",
    keeps=ZEROS,
)
SPEC.mistake(
    "product_without_root",
    "You multiply the precisions and do not take the root. BLEU is their geometric mean: take the N-th root of the "
    "product.",
    change(MEAN, "np.prod(matches / totals)"),
    tempts="The exponent 1/N is small print.",
    keeps=ZEROS,
)
SPEC.mistake(
    "always_the_fourth_root",
    "You take the fourth root, whatever `max_n` is. Take the N-th root of a product of N precisions.",
    change(MEAN, MEAN.replace("max_n", "4")),
    tempts="Papers average four orders with the weights 1/4.",
    keeps=ZEROS,
)
SPEC.mistake(
    "penalty_under_the_root",
    "You take the root of the penalty as well. The root belongs to the product of the precisions alone: multiply it by "
    "the penalty afterwards.",
    change(f"penalty * {MEAN}", "(penalty * np.prod(matches / totals)) ** (1 / max_n)"),
    tempts="Everything has been multiplied already when the root is taken.",
    keeps=[COUNTED, *ZEROS],
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
    keeps=ZEROS,
)
SPEC.mistake(
    "orders_pooled",
    "You add up the matches of all orders and divide once. Compute a precision for each order, and take their "
    "geometric mean.",
    change(MEAN, "matches.sum() / totals.sum()"),
    tempts="All other totals are added up before anything is divided.",
    keeps=ZEROS,
)
SPEC.mistake(
    "highest_order_only",
    "You use the precision of order `max_n` alone. Use all orders from 1 to `max_n`, and take the geometric mean of "
    "their precisions.",
    change(MEAN, "(matches / totals)[-1]"),
    tempts="BLEU-4 sounds as if only 4-grams were counted.",
    keeps=ZEROS,
)
SPEC.mistake(
    "max_n_ignored",
    "You use the same orders whatever `max_n` is. Use the orders 1 to `max_n`, and the root of that order.",
    change("matches, totals = np.zeros(max_n)", "max_n = 4\nmatches, totals = np.zeros(max_n)"),
    change("matches, totals = np.zeros(max_n)", "max_n = 3\nmatches, totals = np.zeros(max_n)"),
    change("matches, totals = np.zeros(max_n)", "max_n = 5\nmatches, totals = np.zeros(max_n)"),
    tempts="Everybody computes BLEU with four orders.",
    keeps=ZEROS,
)
SPEC.mistake(
    "highest_order_missing",
    "You leave out the highest order. Count the orders from 1 to `max_n`, including `max_n`; `range` excludes its end.",
    *(
        change(ZERO, ZERO + f"first = slice({stop})\n", (MEAN, f"np.prod((matches / totals)[first]) ** (1 / {root})"))
        for stop, root in (
            ("max(1, max_n - 1)", "max(1, max_n - 1)"),  # at max_n = 1, order 1
            ("max(1, max_n - 1)", "max_n"),
            ("max_n - 1", "max(1, max_n - 1)"),  # at max_n = 1, the empty product
            ("max_n - 1", "max_n"),
            ("max_n - 1", "(max_n - 1)"),
        )
    ),
    tempts="`range(1, max_n)` looks complete.",
    keeps=ZEROS,
)
SPEC.mistake(
    "orders_from_0",
    "You count the orders from 0 to `max_n - 1`. Count them from 1 to `max_n`, with `range(1, max_n + 1)`: "
    "`range(max_n)` begins at 0 and excludes its end.",
    change("range(1, max_n + 1)", "range(max_n)", ("matches[n - 1]", "matches[n]"), ("totals[n - 1]", "totals[n]")),
    tempts="Most loops in Python begin at 0, and an empty tuple can be counted, too.",
)
SPEC.mistake(
    "first_order_missing",
    "You leave out order 1. Count the orders from 1 to `max_n`: single words count, too.",
    change(
        ZERO,
        ZERO + "if max_n > 1:\n    matches, totals, max_n = matches[1:], totals[1:], max_n - 1\n"
        "else:\n    matches = totals\n",
    ),
    change(ZERO, ZERO + "matches[0] = totals[0]\n"),
    tempts="A single word hardly looks like an n-gram.",
    keeps=ZEROS,
)
SPEC.mistake(
    "one_order_too_many",
    "You count one order more than `max_n`. Count the orders from 1 to `max_n`: `range(1, max_n + 1)` ends with "
    "`max_n`.",
    change("matches, totals = np.zeros(max_n)", "max_n = max_n + 1\nmatches, totals = np.zeros(max_n)"),
    change(
        "matches, totals = np.zeros(max_n)",
        "max_n = max_n + 1\nmatches, totals = np.zeros(max_n)",
        ("(1 / max_n)", "(1 / (max_n - 1))"),
    ),
    tempts="The end of a range is easily corrected twice.",
    keeps=ZEROS,
)
SPEC.mistake(
    "last_n_gram_missing",
    "You leave out the last n-gram of each sentence. A sentence of k tokens has k − n + 1 n-grams: the last one begins "
    "at index k − n.",
    change("len(candidate) - n + 1", "len(candidate) - n"),
    change("len(candidate) - n + 1", "len(candidate) - n", ("len(ref) - n + 1", "len(ref) - n")),
    tempts="`range(len(tokens) - n)` keeps every slice inside the list, but it stops one too early.",
    keeps=ZEROS,
)
SPEC.mistake(
    "matches_and_totals_of_different_n_grams",
    "You leave out the last n-gram of each sentence either among the matches or in the total, so a candidate that "
    "equals its reference does not score 1. A sentence of k tokens has k − n + 1 n-grams of n tokens, for both.",
    change(
        TOTALS,
        "totals[n - 1] += max(0, len(candidate) - n + 1)",
        (C_GRAMS, C_GRAMS.replace(" - n + 1", " - n")),
        (R_GRAMS, R_GRAMS.replace(" - n + 1", " - n")),
    ),
    change(TOTALS, "totals[n - 1] += max(0, len(candidate) - n)"),
    change(TOTALS, "totals[n - 1] += len(candidate) - n"),
    tempts="The total is computed by a formula, the matches in a loop, and one of them is off by 1.",
)
SPEC.mistake(
    "shorter_n_grams_at_the_end",
    "You count pieces of fewer than n tokens at the end of each sentence. An n-gram has n tokens, so the last one "
    "begins at index k − n of a sentence of k tokens: a slice beyond the end of a list is cut off silently.",
    change("len(candidate) - n + 1", "len(candidate)", ("len(ref) - n + 1", "len(ref)")),
    change("len(candidate) - n + 1", "len(candidate) - n + 2", ("len(ref) - n + 1", "len(ref) - n + 2")),
    tempts="`tokens[i : i + n]` never raises an exception.",
    keeps=ZEROS[:1],
)
SPEC.mistake(
    "smoothed",
    "You smooth: you add something to the counts or precisions of every order, or of all but the first. Leave them as "
    "they are, and return 0 as soon as one order has no match. Smoothed scores cannot be compared with unsmoothed "
    "ones.",
    *(
        change(MEAN, f"np.prod({precisions}) ** (1 / max_n)")
        for precisions in (
            "(matches + 1) / (totals + 1)",
            "(matches + (np.arange(max_n) > 0)) / (totals + (np.arange(max_n) > 0))",
            "(matches + 0.5) / (totals + 0.5)",
            "(matches / totals + 1e-9)",
            *(f"(matches + {added}) / (totals + {added})" for added in LARGE),
        )
    ),
    tempts="The score of a single sentence is often 0 without it, so sentence scores are usually smoothed.",
    keeps=ZEROS,
)
SPEC.mistake(
    "something_added",
    "You add a number to the precisions or to one of the two counts. Leave them as they are, and return 0 as soon as "
    "one order has no match: what is added to avoid a logarithm of 0 or a division by 0 changes the other scores, too.",
    *(
        change(MEAN, f"np.prod({precisions}) ** (1 / max_n)")
        for precisions in (
            "(matches + 1) / totals",
            *(f"(matches + {added}) / totals" for added in LARGE),
            *(f"matches / (totals + {added})" for added in ("1e-6", "1e-8")),
            *(f"(matches / totals + {added})" for added in LARGE),
            *(f"(matches / (totals + {added}) + {added})" for added in ("1e-6", "1e-8")),
        )
    ),
    tempts="The logarithm of 0 is not finite, and a small number prevents that.",
)
SPEC.mistake(
    "zero_replaced",
    "Where an order has no match, you put a small number in place of the zero. Return 0 as soon as one order has no "
    "match: with a replacement, the score depends on how small that number is.",
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
    ),
    tempts="The logarithm of 0 is not finite, and a small number prevents that.",
    keeps=[COUNTED, SHORT, *ZEROS[1:]],
)
SPEC.mistake(
    "order_without_match_skipped",
    "You leave out the orders that have no match, or count them as 1. Return 0 as soon as one order has no match, "
    "because the product of the precisions is 0.",
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
    tempts="The logarithm of 0 raises an error or a warning, and to skip the order silences it.",
    keeps=[COUNTED, SHORT, *ZEROS[1:]],
)
SPEC.mistake(
    "order_without_n_gram_skipped",
    "You leave out the orders of which the candidates have no n-gram, because all of them are too short, or count "
    "such an order as 1. Return 0 there, too: what has no n-gram has no match.",
    *(
        change(
            ZERO,
            "kept = totals > 0\nif matches[kept].min(initial=1) == 0:\n    return 0.0\n" + empty,
            (MEAN, f"np.prod(matches[kept] / totals[kept]) ** (1 / {orders})"),
        )
        for orders in ("max_n", "max(1, int(kept.sum()))")
        for empty in ("", "if not kept.any():\n    return 0.0\n", "if not kept.any():\n    return 1.0\n")
    ),
    tempts="Dividing by the number of n-grams is impossible there, so the order is skipped.",
    keeps=[COUNTED, SHORT, *ZEROS[:1]],
)
SPEC.mistake(
    "empty_candidate_skipped",
    "You skip empty candidates. They have no n-grams, but their references count towards r: a system that translates "
    "nothing must pay for it through the brevity penalty.",
    change("candidate_length += len(candidate)", "if not candidate:\n    continue\ncandidate_length += len(candidate)"),
    tempts="There is nothing to count in an empty candidate, and skipping it avoids a division by 0.",
    keeps=[COUNTED, *ZEROS],
)
SPEC.mistake(
    "short_candidates_skipped",
    "You skip candidates of fewer than `max_n` tokens. They have n-grams of the lower orders, and their lengths count: "
    "leave no candidate out.",
    change(
        "candidate_length += len(candidate)",
        "if len(candidate) < max_n:\n    continue\ncandidate_length += len(candidate)",
    ),
    tempts="A sentence that is too short for a 4-gram seems to have no BLEU.",
    keeps=[COUNTED, *ZEROS],
)
SPEC.mistake(
    "zero_for_one_short_candidate",
    "You return 0 as soon as a single candidate is empty or too short. Return 0 only if *all* candidates together "
    "have no match of an order: another sentence may have one.",
    change(
        "candidate_length += len(candidate)",
        "if not candidate:\n    return 0.0\ncandidate_length += len(candidate)",
    ),
    change(
        "candidate_length += len(candidate)",
        "if len(candidate) < max_n:\n    return 0.0\ncandidate_length += len(candidate)",
    ),
    tempts="For a single sentence it is right.",
    keeps=[COUNTED, *ZEROS],
)
SPEC.mistake(
    "logarithm_of_0",
    "You take a logarithm before you have made sure that there is something to count. Return 0 as soon as an order has "
    "no match, which includes a corpus whose candidates are all too short or empty.",
    *(
        change(
            ZERO,
            f"import math\nprecisions = [m / {total} for m, t in zip(matches.tolist(), totals.tolist(), strict=True)]\n"
            "logarithm = sum(math.log(p) for p in precisions)\n",
            (MEAN, "math.exp(logarithm / max_n)"),
        )
        for total in ("t", "max(t, 1)")
    ),
    change(ZERO, "import math\n[math.log(m / t) for m, t in zip(matches.tolist(), totals.tolist(), strict=True)]\n"),
    tempts="An ordinary corpus has matches of every order.",
    keeps=[COUNTED, SHORT],
)
SPEC.mistake(
    "nothing_divided_by_nothing",
    "You divide before you have made sure that there is an n-gram or a token. Return 0 as soon as an order has no "
    "match, which includes a corpus whose candidates are all too short or empty.",
    change(ZERO, "", ("/ candidate_length", "/ np.float64(candidate_length)")),
    change(ZERO, ""),
    change(ZERO, "[m / t for m, t in zip(matches.tolist(), totals.tolist(), strict=True)]\n" + ZERO),
    change(
        ZERO,
        "if totals[0] > 0 and matches.min() == 0:\n    return 0.0\nreference_length / candidate_length\n" + ZERO,
    ),
    tempts="An ordinary corpus has n-grams of every order.",
    keeps=[COUNTED, SHORT, *ZEROS[:1]],
)
SPEC.mistake(
    "times_100",
    "You return a percentage. Return a number from 0 to 1, without multiplying by 100.",
    change(f"return penalty * {MEAN}", f"return 100 * penalty * {MEAN}"),
    change(f"return penalty * {MEAN}", f"return round(100 * penalty * {MEAN}, 1)"),
    change(f"return penalty * {MEAN}", f"return round(100 * penalty * {MEAN}, 2)"),
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
