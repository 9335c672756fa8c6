"""How `apply_bpe` is checked: against a recursion that joins the leftmost pair and goes on behind it."""

from grader.spec.spec import Case, Facet, Output, Spec, change, instead

ORDER, RUNS = "merges", "overlapping pairs"


def joined(pieces, pair):
    """The pieces after one merge: a pair at the front is joined, and the rest is treated in the same way."""
    if len(pieces) < 2:
        return pieces
    if pieces[:2] == pair:
        return (pair[0] + pair[1], *joined(pieces[2:], pair))
    return (pieces[0], *joined(pieces[1:], pair))


def oracle(word, merges):
    """One merge after the other, each by recursion over the pieces."""
    pieces = tuple(word)
    for first, second in merges:
        pieces = joined(pieces, (first, second))
    return list(pieces)


def mirrored(word, merges):
    """The same from right to left, which differs only if two occurrences of a pair overlap."""
    pieces = oracle(word[::-1], [(second[::-1], first[::-1]) for first, second in merges])
    return [piece[::-1] for piece in pieces[::-1]]


def best_rank(word, merges):
    """Merge the pair that was learned first among those that occur, until none occurs, as GPT-2 does it."""
    from itertools import pairwise

    ranks, pieces = {tuple(pair): rank for rank, pair in enumerate(merges)}, tuple(word)
    while True:
        found = [pair for pair in pairwise(pieces) if pair in ranks]
        if not found:
            return list(pieces)
        pieces = joined(pieces, min(found, key=ranks.get))


def case(word, merges, kind=ORDER):
    return Case({"K": len(word), "M": len(merges)}, {"word": word, "merges": merges}, kind)


EXAMPLE = case("banana", [("a", "n"), ("an", "a"), ("b", "an")])


def renamed(rng, word, merges, kind=ORDER):
    """A fixed case whose letters are drawn. A merge is written as 'ab+c'."""
    letters = dict(zip("abcde", map(str, rng.permutation(list("aeilnrst"))[:5]), strict=True))
    other = "".join(letters[letter] for letter in word)
    pairs = ["".join(letters.get(letter, "+") for letter in merge).split("+") for merge in merges.split()]
    return case(other, [(first, second) for first, second in pairs], kind)


def drawn(rng, num_letters, num_merges, length):
    """Drawn merges and a word made of their pieces, in which most of them apply and no two occurrences overlap."""
    for _ in range(10_000):
        letters = [str(letter) for letter in rng.permutation(list("aeilnrst"))[:num_letters]]
        pieces, merges = list(letters), []
        for _ in range(50):
            first, second = (pieces[int(rng.integers(len(pieces)))] for _ in range(2))
            if len(merges) < num_merges and first + second not in pieces and len(first + second) <= 4:
                pieces.append(first + second)
                merges.append((first, second))
        if len(merges) < num_merges:
            continue
        word = "".join(pieces[int(rng.integers(len(pieces)))] for _ in range(length))
        parts = oracle(word, merges)
        if mirrored(word, merges) == parts == best_rank(word, merges) and 2 * len(parts) <= len(word) + 2:
            return case(word, merges)
    raise ValueError("no word was found")


def cases(rng):
    yield drawn(rng, 3, 2, 3)
    yield drawn(rng, 3, 4, 4)
    yield renamed(rng, "cabcb", "b+c a+b c+ab")  # other splits of the word exist
    yield renamed(rng, "abcd", "c+d b+c a+b")  # b+c never applies, but the merge behind it does
    yield renamed(rng, "abcde", "a+b b+c a+bc d+e")  # abc is not made of ab and c
    yield renamed(rng, "abcdcdab", "a+b ab+c d+e c+d")  # a longer piece is made before a shorter one
    yield renamed(rng, "babab", "b+a a+b")  # a b occurs in the text of the pieces only
    yield renamed(rng, "abcabdab", "a+b ab+c")  # three times the same pair
    yield drawn(rng, 4, 5, 5)
    yield drawn(rng, 5, 7, 6)
    yield drawn(rng, 4, 6, 6)
    yield drawn(rng, 5, 10, 8)
    yield renamed(rng, "abca", "")
    yield renamed(rng, "", "a+b")
    yield renamed(rng, "a", "a+b b+a")
    yield renamed(rng, "abc", "d+e c+b")  # nothing to merge
    yield renamed(rng, "ab", "a+b")  # one piece in the end
    yield case("AnnanAn", [("n", "a"), ("a", "n"), ("A", "n")])  # capital letters are letters of their own
    yield case(" a nap", [(" ", "n"), ("a", "p"), (" n", "ap")])  # in a text, words begin with their space
    yield renamed(rng, "aaa", "a+a", RUNS)
    yield renamed(rng, "baaac", "a+a b+aa a+c", RUNS)
    yield renamed(rng, "aaaaa", "a+a aa+a", RUNS)
    yield renamed(rng, "cababab", "a+b ab+ab c+abab", RUNS)


SPEC = Spec(
    outputs=[Output("pieces")],
    example=EXAMPLE,
    cases=cases,
    oracle=oracle,
    facets=[Facet("merges in order", 3, kinds=(ORDER,)), Facet(RUNS, 1, kinds=(RUNS,))],
)
IF = "if pieces[i] == first and pieces[i + 1] == second:"
LOOP = "for first, second in merges:"
JOIN = "pieces[i : i + 2] = [first + second]"


def longest_match(word, merges):
    known, pieces, i = {first + second for first, second in merges}, [], 0
    while i < len(word):
        end = next((j for j in range(len(word), i + 1, -1) if word[i:j] in known), i + 1)
        pieces.append(word[i:end])
        i = end
    return pieces


def leftmost(word, merges):
    known, pieces, i = {tuple(pair) for pair in merges}, list(word), 0
    while i < len(pieces) - 1:
        if (pieces[i], pieces[i + 1]) in known:
            pieces[i : i + 2] = [pieces[i] + pieces[i + 1]]
            i = 0
        else:
            i += 1
    return pieces


def one_pass(word, merges):
    known, pieces = {tuple(pair) for pair in merges}, []
    for character in word:
        if pieces and (pieces[-1], character) in known:
            pieces[-1] += character
        else:
            pieces.append(character)
    return pieces


def one_pass_over_pairs(word, merges):
    known, pieces, i = {tuple(pair) for pair in merges}, list(word), 0
    while i < len(pieces) - 1:
        if (pieces[i], pieces[i + 1]) in known:
            pieces[i : i + 2] = [pieces[i] + pieces[i + 1]]
        i += 1
    return pieces


def makes_replaced_in_text(word, merges):
    return _with_replace(word, merges, " ")


def _with_replace(word, merges, space):
    text = space.join(word)
    for first, second in merges:
        text = text.replace(first + space + second, first + second)
    return text.split(space) if text else []


def split_at_spaces(word, merges):
    """Whole pieces are replaced in a text in which a space stands on both sides of each."""
    text = "".join(f" {character} " for character in word)
    for first, second in merges:
        text = text.replace(f" {first}  {second} ", f" {first}{second} ")
    return text.split()


def with_brackets(word, merges):
    """The parts of each merge are looked for in the word itself."""
    import re

    pieces = [word] if word else []
    for piece in sorted({first + second for first, second in merges}, key=lambda piece: (-len(piece), piece)):
        pieces = [
            part
            for text in pieces
            for part in ([text] if len(text) == len(piece) else re.split(f"({re.escape(piece)})", text))
            if part
        ]
    known = {first + second for first, second in merges}
    return [part for text in pieces for part in ([text] if text in known else text)]


def new_list(word, merges, skip=True, last=True):
    pieces = list(word)
    for first, second in merges:
        merged, i = [], 0
        while i < len(pieces) - (not last):
            fits = i + 1 < len(pieces) and (pieces[i], pieces[i + 1]) == (first, second)
            merged.append(first + second if fits else pieces[i])
            i += 1 + (fits and skip)
        pieces = merged
    return pieces


def makes_second_part_kept(word, merges):
    return new_list(word, merges, skip=False)


def makes_last_piece_lost(word, merges):
    return new_list(word, merges, last=False)


def makes_first_merge_only(word, merges):
    return oracle(word, merges[:1])


SPEC.alternative(best_rank)

SPEC.mistakes(
    {
        "only_the_first_occurrence": change(JOIN, f"{JOIN}\nbreak"),
        **instead(
            LOOP,
            {
                "merges_in_reverse": "for first, second in merges[::-1]:",
                "longest_first": "for first, second in sorted(merges, key=lambda m: -len(m[0] + m[1])):",
                "last_merge_missing": "for first, second in merges[:-1]:",
            },
        ),
        "longest_match": longest_match,
        "leftmost_pair_first": [leftmost, one_pass, one_pass_over_pairs],
        "replaced_in_text": makes_replaced_in_text,
        "split_at_the_longest_piece": with_brackets,
        "second_part_kept": makes_second_part_kept,
        "last_piece_lost": makes_last_piece_lost,
        "first_merge_only": makes_first_merge_only,
        "list_shortened_while_counting": change(
            "i = 0\nwhile i < len(pieces) - 1:", "for i in range(len(pieces) - 1):", ("i += 1", "pass")
        ),
    }
)
SPEC.mistakes(
    {
        **instead(
            LOOP,
            {
                "shortest_first": "for first, second in sorted(merges, key=lambda m: len(m[0] + m[1])):",
                "stops_at_a_merge_that_does_not_occur": (
                    f"{LOOP}\n    if (first, second) not in zip(pieces[:-1], pieces[1:]):\n        break"
                ),
            },
        ),
        "spaces_lost": split_at_spaces,
        "joined_text_compared": change(IF, "if pieces[i] + pieces[i + 1] == first + second:"),
    },
    keeps=[RUNS],
)
SPEC.mistakes(
    {
        "overlaps_from_the_right": mirrored,
    },
    keeps=["merges in order"],
)


@SPEC.alternative
def with_a_new_list(word, merges):
    """Fill a new list for each merge."""
    return new_list(word, merges)


@SPEC.alternative
def with_a_stack(word, merges):
    """Each piece looks back at the one before it. A joined piece never equals a single part, so runs come out right."""
    pieces = list(word)
    for pair in merges:
        stack = []
        for piece in pieces:
            if stack and (stack[-1], piece) == tuple(pair):
                stack[-1] += piece
            else:
                stack.append(piece)
        pieces = stack
    return pieces
