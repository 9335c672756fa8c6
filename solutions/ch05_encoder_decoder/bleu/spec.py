"""How `bleu` is checked: against slow loops that look for every n-gram in every reference."""

from collections import Counter

import numpy as np

from grader.spec.spec import Case, Facet, Output, Spec, change, instead

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
