"""How `learn_bpe` is checked: against a slow count over every single occurrence of every word."""

from itertools import groupby

from grader.spec.spec import Case, Facet, Output, Spec, change, instead

PLAIN, OVERLAP, TIES, STOP = "counts", "overlapping pairs", "ties", "stopping early"


def joined(pieces, pair):
    """The pieces after one merge: a pair at the front is joined, and the rest is treated in the same way."""
    if pieces[:2] == pair:
        return (pair[0] + pair[1], *joined(pieces[2:], pair))
    return (pieces[0], *joined(pieces[1:], pair)) if pieces else ()


def oracle(word_counts, num_merges):
    """Every occurrence of a word is kept by itself. Of all pairs in sorted order, the first longest run is the best."""
    words = [tuple(word) for word, count in word_counts.items() for _ in range(count)]
    merges = []
    while len(merges) < num_merges:
        pairs = sorted((word[i], word[i + 1]) for word in words for i in range(len(word) - 1))
        runs = [(pair, len(list(run))) for pair, run in groupby(pairs)]
        if not runs:
            break
        merges.append(max(runs, key=lambda run: run[1])[0])
        words = [joined(word, merges[-1]) for word in words]
    return merges


def all_places(pieces):
    """Every pair of neighbours, as often as it occurs."""
    return [(pieces[i], pieces[i + 1]) for i in range(len(pieces) - 1)]


def places_without_overlap(pieces):
    """As `all_places`, but a pair that overlaps the place where it was counted last is left out."""
    found, end = [], {}
    for i, pair in enumerate(all_places(pieces)):
        if end.get(pair, 0) <= i:
            found.append(pair)
            end[pair] = i + 2
    return found


def smallest(counts):
    return min(counts, key=lambda pair: (-counts[pair], pair))


def first_seen(counts):
    return max(counts, key=counts.get)


def last_seen(counts):
    return max(reversed(list(counts)), key=counts.get)


def largest(counts):
    return max(counts, key=lambda pair: (counts[pair], pair))


def smallest_text(counts):
    return min(counts, key=lambda pair: (-counts[pair], pair[0] + pair[1]))


def shortest(counts):
    return min(counts, key=lambda pair: (-counts[pair], len(pair[0] + pair[1]), pair))


def longest(counts):
    return min(counts, key=lambda pair: (-counts[pair], -len(pair[0] + pair[1]), pair))


def learn(
    word_counts,
    num_merges,
    best=smallest,
    places=all_places,
    weight=lambda count: count,
    start=tuple,
    merge=joined,
    least=1,
):
    """A learner all of whose rules can be replaced, for the mistakes."""
    words, merges = [(start(word), weight(count)) for word, count in word_counts.items()], []
    for _ in range(num_merges):
        counts = {}
        for pieces, count in words:
            for pair in places(pieces):
                counts[pair] = counts.get(pair, 0) + count
        if not counts or max(counts.values()) < least:
            break
        merges.append(best(counts))
        words = [(merge(pieces, merges[-1]), count) for pieces, count in words]
    return merges


def only_once(pieces, pair):
    pieces = list(pieces)
    for i in range(len(pieces) - 1):
        if (pieces[i], pieces[i + 1]) == pair:
            return (*pieces[:i], pair[0] + pair[1], *pieces[i + 2 :])
    return tuple(pieces)


def from_the_right(pieces, pair):
    pieces = list(pieces)
    for i in reversed(range(len(pieces) - 1)):
        if tuple(pieces[i : i + 2]) == pair:
            pieces[i : i + 2] = ["".join(pair)]
    return tuple(pieces)


def replaced(pieces, pair):
    return tuple(" ".join(pieces).replace(" ".join(pair), "".join(pair)).split())


TIE_RULES = (first_seen, last_seen, largest, smallest_text, shortest, longest)


def same(word_counts, num_merges, **rules):
    """Whether the merges remain the same with other rules."""
    return learn(word_counts, num_merges, **rules) == oracle(word_counts, num_merges)


def no_ties(word_counts, num_merges):
    return all(same(word_counts, num_merges, best=rule) for rule in TIE_RULES)


def clear(word_counts, num_merges):
    """Whether these words have neither ties nor overlaps."""
    rules = {"places": places_without_overlap}, {"merge": from_the_right}
    return no_ties(word_counts, num_merges) and all(same(word_counts, num_merges, **rule) for rule in rules)


def simple(word_counts, num_merges):
    """Whether it makes no difference how pairs that occur several times in a word are counted and merged."""
    return all(
        same(word_counts, num_merges, **rules)
        for rules in ({"places": places_without_overlap}, {"places": lambda p: set(all_places(p))})
    ) and all(same(word_counts, num_merges, merge=merge) for merge in (only_once, replaced, from_the_right))


def many_pairs(word_counts, num_merges):
    """Whether there are at least two pairs at every step, and the best one occurs at least twice."""
    sizes = []
    learn(word_counts, num_merges, best=lambda counts: sizes.append(len(counts)) or smallest(counts))
    return len(sizes) == num_merges and min(sizes) > 1 and same(word_counts, num_merges, least=2)


def case(word_counts, num_merges, kind=PLAIN):
    return Case({"W": len(word_counts), "M": num_merges}, {"word_counts": word_counts, "num_merges": num_merges}, kind)


EXAMPLE = case({"sea": 4, "seal": 3, "meal": 5, "tea": 2}, 3)


def words(rng, letters, number, low, high, most):
    """Drawn words of the first letters of an alphabet, with drawn counts from 1 to `most`."""
    some = [str(letter) for letter in rng.permutation(list("aeilnrst"))[:letters]]
    drawn = {}
    while len(drawn) < number:
        length = int(rng.integers(low, high + 1))
        word = "".join(some[int(rng.integers(letters))] for _ in range(length))
        drawn[word] = int(rng.integers(1, most + 1))
    return drawn


def search(rng, fits, num_merges, kind, **sizes):
    """Draw words until they are fit for the case."""
    for _ in range(20_000):
        word_counts = words(rng, **sizes)
        if many_pairs(word_counts, num_merges) and fits(word_counts, num_merges):
            return case(word_counts, num_merges, kind)
    raise ValueError(f"no words were found for a case of {kind}")


def ends(rng, number, letters):
    """Words without ties whose merges end before 50; the last one occurs once."""
    for _ in range(20_000):
        word_counts = words(rng, letters, number, 2, 3, 12)
        rare = next(iter(word_counts))
        word_counts[rare] = 1
        found = learn(word_counts, 50)
        if clear(word_counts, 50) and simple(word_counts, 50) and len(learn(word_counts, 50, least=2)) < len(found):
            return case(word_counts, len(found) + 3, STOP)
    raise ValueError("no words were found for a case of stopping early")


def renamed(rng, word_counts, num_merges, kind):
    """A fixed case whose letters are drawn; their order stays the same."""
    letters = dict(zip("abcde", sorted(map(str, rng.permutation(list("aeilnrst"))[:5])), strict=True))
    other = {"".join(letters[letter] for letter in word): count for word, count in word_counts.items()}
    return case(other, num_merges, kind)


def one_tie(rng, rules, number, num_merges):
    """Drawn words in which all of these wrong rules for ties give other merges than the right one."""

    def fits(word_counts, num_merges):
        if not simple(word_counts, num_merges):
            return False
        right = oracle(word_counts, num_merges)
        wrong = [tuple(learn(word_counts, num_merges, best=rule)) for rule in rules]
        return tuple(right) not in wrong and len(set(wrong)) == len(wrong)

    return search(rng, fits, num_merges, TIES, letters=5, number=number, low=2, high=4, most=4)


def overlaps(word_counts, num_merges):
    """Whether the overlaps of these words change the merges, and ties do not."""
    return (
        not same(word_counts, num_merges, places=places_without_overlap)
        and not same(word_counts, num_merges, places=lambda pieces: set(all_places(pieces)))
        and same(word_counts, num_merges, merge=replaced)
        and no_ties(word_counts, num_merges)
    )


def cases(rng):
    yield search(rng, clear, 1, PLAIN, letters=3, number=3, low=2, high=3, most=9)
    yield search(rng, clear, 3, PLAIN, letters=4, number=4, low=2, high=4, most=9)
    yield search(rng, clear, 5, PLAIN, letters=5, number=6, low=2, high=5, most=20)
    yield search(rng, clear, 6, PLAIN, letters=4, number=7, low=1, high=6, most=30)
    yield search(rng, clear, 4, PLAIN, letters=6, number=9, low=3, high=6, most=30)
    yield renamed(rng, {"abc": 3, "d": 40, "ababe": 4, "abab": 2}, 2, PLAIN)
    yield renamed(rng, {"ba": 20, "bab": 5, "cab": 6, "ab": 3, "de": 1}, 4, PLAIN)  # a b in the text of ba b
    yield renamed(rng, {"abcab": 4, "de": 6, "dec": 1}, 2, PLAIN)  # (a, b) twice in a word
    yield renamed(rng, {"abc": 3, "ab": 5}, 0, PLAIN)
    yield case({"Ana": 5, "An": 4, "an": 3, "ran": 3}, 3)  # capital letters are letters of their own
    yield renamed(rng, {"aaa": 2, "bc": 3, "de": 1}, 3, OVERLAP)
    yield renamed(rng, {"aaaa": 3, "cd": 7, "ce": 1}, 3, OVERLAP)
    yield search(rng, overlaps, 3, OVERLAP, letters=3, number=4, low=3, high=6, most=9)
    yield renamed(rng, {"bc": 5, "ab": 5, "ca": 5}, 2, TIES)
    yield renamed(rng, {"bc": 20, "abc": 4, "ab": 7, "abb": 4}, 3, TIES)  # (a, bc) comes before (ab, b)
    yield one_tie(rng, (first_seen, largest), 4, 3)
    yield one_tie(rng, (first_seen, last_seen), 5, 4)
    yield one_tie(rng, (largest, last_seen, shortest), 5, 5)
    yield one_tie(rng, (first_seen, longest), 6, 6)
    yield ends(rng, 2, 4)
    yield ends(rng, 3, 5)
    yield case({}, 3, STOP)
    yield renamed(rng, {"ab": 3}, 2, STOP)
    yield renamed(rng, {"a": 5, "b": 2}, 2, STOP)
    yield renamed(rng, {"cab": 3, "abc": 1}, 6, STOP)
    yield renamed(rng, {"ab": 3, "a": 9}, 4, STOP)


SPEC = Spec(
    outputs=[Output("merges")],
    example=EXAMPLE,
    cases=cases,
    oracle=oracle,
    facets=[
        Facet("counts and merges", 3, kinds=(PLAIN,)),
        Facet(OVERLAP, 1, kinds=(OVERLAP,)),
        Facet(TIES, 2, kinds=(TIES,)),
        Facet(STOP, 2, kinds=(STOP,)),
    ],
)
ADD = "counts[pair] = counts.get(pair, 0) + word_counts[word]"
BEST = "best = min(counts, key=lambda pair: (-counts[pair], pair))"
SPLIT = "words = {word: apply_bpe(pieces, [best]) for word, pieces in words.items()}"
BREAK = "if not counts:\n    break\n"
ROUNDS = "for _ in range(num_merges):"
REST = ["overlapping pairs", "stopping early"]


def makes_tie_to_the_last_seen(word_counts, num_merges):
    return learn(word_counts, num_merges, best=last_seen)


def makes_tie_to_the_shortest(word_counts, num_merges):
    return learn(word_counts, num_merges, best=shortest)


def makes_tie_to_the_longest(word_counts, num_merges):
    return learn(word_counts, num_merges, best=longest)


def makes_overlaps_counted_once(word_counts, num_merges):
    return learn(word_counts, num_merges, places=places_without_overlap)


def makes_counted_once_in_a_word(word_counts, num_merges):
    return learn(word_counts, num_merges, places=lambda pieces: set(all_places(pieces)))


def across(word_counts, num_merges):
    text = tuple("".join(word * count for word, count in word_counts.items()))
    return learn({text: 1}, num_merges)


def across_different_words(word_counts, num_merges):
    text = tuple("".join(word_counts))
    return learn({text: 1}, num_merges)


def across_spaces(word_counts, num_merges):
    text = tuple(" ".join(word for word, count in word_counts.items() for _ in range(count)))
    return learn({text: 1}, num_merges)


def makes_spaces_in_pairs(word_counts, num_merges):
    return learn({tuple(" ".join(word_counts)): 1}, num_merges)


def with_w(word_counts, num_merges):
    return learn(word_counts, num_merges, start=lambda word: (*word, "</w>"))


def with_an_underscore(word_counts, num_merges):
    return learn(word_counts, num_merges, start=lambda word: (*word, "_"))


def with_a_dollar(word_counts, num_merges):
    return learn(word_counts, num_merges, start=lambda word: (*word, "$"))


def with_eow(word_counts, num_merges):
    return learn(word_counts, num_merges, start=lambda word: (*word, "<eow>"))


def with_a_space(word_counts, num_merges):
    return learn(word_counts, num_merges, start=lambda word: (*word, " "))


def makes_end_mark_added(word_counts, num_merges):
    return learn(word_counts, num_merges, start=lambda w: (*w[:-1], w[-1] + "</w>"))


def top(word_counts, num_merges):
    counts = {}
    for word, count in word_counts.items():
        for pair in all_places(tuple(word)):
            counts[pair] = counts.get(pair, 0) + count
    return sorted(counts, key=lambda pair: (-counts[pair], pair))[:num_merges]


def makes_stops_at_count_1(word_counts, num_merges):
    return learn(word_counts, num_merges, least=2)


def first_of_nothing(word_counts, num_merges):
    found = learn(word_counts, num_merges)
    return found if len(found) == num_merges else found[num_merges]


def none_for_a_merge(word_counts, num_merges):
    found = learn(word_counts, num_merges)
    return found + [None] * (num_merges - len(found))


def makes_strings_for_pairs(word_counts, num_merges):
    return [first + second for first, second in learn(word_counts, num_merges)]


def with_spaces(word_counts, num_merges):
    return [f"{first} {second}" for first, second in learn(word_counts, num_merges)]


def makes_pairs_reversed(word_counts, num_merges):
    return [(second, first) for first, second in learn(word_counts, num_merges)]


def reversed_from_the_start(word_counts, num_merges):
    found = learn(word_counts, num_merges, best=lambda counts: min(counts, key=lambda p: (-counts[p], p[::-1])))
    return [(second, first) for first, second in found]


def makes_merged_once_in_a_word(word_counts, num_merges):
    return learn(word_counts, num_merges, merge=only_once)


def makes_replaced_in_text(word_counts, num_merges):
    return learn(word_counts, num_merges, merge=replaced)


def makes_overlaps_merged_from_the_right(word_counts, num_merges):
    return learn(word_counts, num_merges, merge=from_the_right)


SPEC.mistakes(
    {
        "counts_not_weighted": change(ADD, "counts[pair] = counts.get(pair, 0) + 1"),
        "pairs_across_words": [across, across_different_words],
        "spaces_in_pairs": [across_spaces, makes_spaces_in_pairs],
        "end_mark_added": [with_w, with_an_underscore, with_a_dollar, with_eow, with_a_space, makes_end_mark_added],
        "words_not_merged": change(SPLIT, ""),
        "counted_only_once": top,
        "strings_for_pairs": [makes_strings_for_pairs, with_spaces],
        "pairs_reversed": [makes_pairs_reversed, reversed_from_the_start],
        "earlier_counts_kept": change("counts = {}\n", "", ("merges = []\n", "merges = []\ncounts = {}\n")),
        "only_the_latest_merge_applied": change(
            SPLIT, "words = {word: apply_bpe(word, merges[-1:]) for word in words}"
        ),
        "last_pair_of_a_word_left_out": change("range(len(pieces) - 1)", "range(len(pieces) - 2)"),
    }
)
SPEC.mistakes(
    {
        **instead(
            BEST,
            {
                "tie_to_the_first_seen": "best = max(counts, key=counts.get)",
                "tie_to_the_largest": "best = max(counts, key=lambda pair: (counts[pair], pair))",
                "tie_by_the_joined_text": "best = min(counts, key=lambda pair: (-counts[pair], pair[0] + pair[1]))",
            },
        ),
        "tie_to_the_last_seen": makes_tie_to_the_last_seen,
        "tie_to_the_shortest": makes_tie_to_the_shortest,
        "tie_to_the_longest": makes_tie_to_the_longest,
    },
    keeps=["counts and merges", *REST],
)
SPEC.mistakes(
    {
        "overlaps_counted_once": makes_overlaps_counted_once,
        "overlaps_merged_from_the_right": makes_overlaps_merged_from_the_right,
    },
    keeps=["counts and merges", "ties", "stopping early"],
)
SPEC.mistakes(
    {
        "counted_once_in_a_word": makes_counted_once_in_a_word,
        "merged_once_in_a_word": makes_merged_once_in_a_word,
    },
    keeps=["ties", "stopping early"],
)
SPEC.mistakes(
    {
        "stops_at_count_1": makes_stops_at_count_1,
        "last_pair_not_merged": change("if not counts:", "if len(counts) <= 1:"),
        "does_not_stop": [change(BREAK, ""), first_of_nothing, none_for_a_merge],
    },
    keeps=["counts and merges", "overlapping pairs", "ties"],
)
SPEC.mistakes(
    {
        **instead(
            ROUNDS,
            {
                "one_merge_too_few": "for _ in range(num_merges - 1):",
                "one_merge_too_many": "for _ in range(num_merges + 1):",
            },
        ),
    },
    keeps=["stopping early"],
)
SPEC.mistakes(
    {
        "replaced_in_text": makes_replaced_in_text,
    },
    keeps=REST,
)


@SPEC.alternative
def with_a_counter(word_counts, num_merges):
    """A Counter, pieces that are merged step by step, and a sorted list of candidates."""
    from collections import Counter

    pieces, merges = {word: list(word) for word in word_counts}, []
    while len(merges) < num_merges:
        counts = Counter()
        for word, split in pieces.items():
            for i in range(len(split) - 1):
                counts[split[i], split[i + 1]] += word_counts[word]
        if not counts:
            return merges
        most = max(counts.values())
        first, second = min(pair for pair, count in counts.items() if count == most)
        merges.append((first, second))
        for word, split in pieces.items():
            merged = []
            while split:
                size = 2 if split[:2] == [first, second] else 1
                merged.append("".join(split[:size]))
                split = split[size:]
            pieces[word] = merged
    return merges


@SPEC.alternative
def with_spaces_around(word_counts, num_merges):
    """Words as text with a space on both sides of each piece."""
    from itertools import pairwise

    texts = {word: "".join(f" {c} " for c in word) for word in word_counts}
    merges = []
    for _ in range(num_merges):
        counts = {}
        for word, text in texts.items():
            split = text.split()
            for first, second in pairwise(split):
                counts[first, second] = counts.get((first, second), 0) + word_counts[word]
        if len(counts) == 0:
            break
        best = sorted(counts.items(), key=lambda item: (-item[1], item[0]))[0][0]
        merges.append(best)
        old, new = f" {best[0]}  {best[1]} ", f" {best[0]}{best[1]} "
        texts = {word: text.replace(old, new) for word, text in texts.items()}
    return merges
