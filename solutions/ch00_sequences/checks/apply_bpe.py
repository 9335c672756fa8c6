"""How `apply_bpe` is checked: against a recursion that joins the leftmost pair and goes on behind it."""

from grader.author.spec import Case, Facet, Output, Spec, change

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
    why="""
The merges are a program: every one was learned in a text to which the earlier ones had been applied, so a word is split
as the words of that text were only if the merges are applied in the same order. When a merge has been applied
everywhere, it is finished: later merges make longer pieces only, so its parts cannot come to stand side by side again,
unless two merges make the same piece.
""",
)


IF = "if pieces[i] == first and pieces[i + 1] == second:"
LOOP = "for first, second in merges:"
JOIN = "pieces[i : i + 2] = [first + second]"


@SPEC.mistake(
    "only_the_first_occurrence",
    "You apply each merge at most once to the word. Apply it wherever its two parts follow each other, "
    "and only then go on to the next merge.",
    change(JOIN, f"{JOIN}\nbreak"),
    tempts="`break`, or `list.index`, finds one occurrence, and many words contain a pair only once.",
)
def with_split(word, merges):
    pieces = list(word)
    for first, second in merges:
        for i in range(len(pieces) - 1):
            if (pieces[i], pieces[i + 1]) == (first, second):
                pieces = [*pieces[:i], first + second, *pieces[i + 2 :]]
                break
    return pieces


SPEC.mistake(
    "merges_in_reverse",
    "You apply the merges from the last to the first. Start with the one that was learned first: "
    "later merges join pieces that the earlier ones have made.",
    change(LOOP, "for first, second in merges[::-1]:"),
    tempts="Later merges make longer pieces, which seem to be worth more.",
)
SPEC.mistake(
    "longest_first",
    "You apply the merges in the order of the length of their pieces, the longest first. "
    "Apply them in the order of the list, in which they were learned.",
    change(LOOP, "for first, second in sorted(merges, key=lambda m: -len(m[0] + m[1])):"),
    tempts="Tokenizers of another kind look for the longest piece first.",
)


SPEC.mistake(
    "shortest_first",
    "You apply the merges in the order of the length of their pieces, the shortest first. "
    "Apply them in the order of the list, in which they were learned.",
    change(LOOP, "for first, second in sorted(merges, key=lambda m: len(m[0] + m[1])):"),
    tempts="Short pieces have to be made before long ones, but that is not the whole order.",
    keeps=[RUNS],
)


def longest_match(word, merges):
    known, pieces, i = {first + second for first, second in merges}, [], 0
    while i < len(word):
        end = next((j for j in range(len(word), i + 1, -1) if word[i:j] in known), i + 1)
        pieces.append(word[i:end])
        i = end
    return pieces


SPEC.mistake(
    "longest_match",
    "You take the longest known piece at each place, from left to right. BPE does not look for pieces: "
    "start from the characters and apply the merges one by one, in the order of the list.",
    longest_match,
    tempts="The merges look like a list of pieces, and WordPiece, another tokenizer, uses its list in this way.",
)


def leftmost(word, merges):
    known, pieces, i = {tuple(pair) for pair in merges}, list(word), 0
    while i < len(pieces) - 1:
        if (pieces[i], pieces[i + 1]) in known:
            pieces[i : i + 2] = [pieces[i] + pieces[i + 1]]
            i = 0
        else:
            i += 1
    return pieces


@SPEC.mistake(
    "leftmost_pair_first",
    "You go through the word and apply whichever merge fits at a place. Let the outer loop go through the merges: "
    "the one that was learned first is applied everywhere before the next one gets its turn.",
    leftmost,
    tempts="To read the word once, from left to right, seems to be enough.",
)
def one_pass(word, merges):
    known, pieces = {tuple(pair) for pair in merges}, []
    for character in word:
        if pieces and (pieces[-1], character) in known:
            pieces[-1] += character
        else:
            pieces.append(character)
    return pieces


@SPEC.misconceptions["leftmost_pair_first"].ways.append
def one_pass_over_pairs(word, merges):
    known, pieces, i = {tuple(pair) for pair in merges}, list(word), 0
    while i < len(pieces) - 1:
        if (pieces[i], pieces[i + 1]) in known:
            pieces[i : i + 2] = [pieces[i] + pieces[i + 1]]
        i += 1
    return pieces


SPEC.mistake(
    "stops_at_a_merge_that_does_not_occur",
    "You stop at the first merge that does not occur in the word. Skip it and go on: the merges behind it may apply.",
    change(LOOP, f"{LOOP}\n    if (first, second) not in zip(pieces[:-1], pieces[1:]):\n        break"),
    tempts="A loop that merges until nothing changes stops here.",
    keeps=[RUNS],
)
SPEC.mistake(
    "joined_text_compared",
    "You compare the two pieces joined with the two parts joined. Compare piece by piece: with the merge "
    "`('a', 'bc')`, the pieces `ab` and `c` stay as they are, although their text is the same.",
    change(IF, "if pieces[i] + pieces[i + 1] == first + second:"),
    tempts="The joined text is what the merge makes.",
    keeps=[RUNS],
)


def makes_replaced_in_text(word, merges):
    return _with_replace(word, merges, " ")


SPEC.mistake(
    "replaced_in_text",
    "You replace text in a string in which spaces separate the pieces. The text `a b` is also found where a piece "
    "only ends with a, or only starts with b. Keep a list, and compare whole pieces.",
    makes_replaced_in_text,
    tempts="`str.replace` already replaces everywhere, from left to right.",
)


def _with_replace(word, merges, space):
    text = space.join(word)
    for first, second in merges:
        text = text.replace(first + space + second, first + second)
    return text.split(space) if text else []


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


SPEC.mistake(
    "split_at_the_longest_piece",
    "You look for the pieces in the text of the word, the longest first. BPE does not look for pieces: "
    "start from the characters and apply the merges one by one, in the order of the list.",
    with_brackets,
    tempts="The joined merges look like a list of pieces to look for.",
)


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


SPEC.mistake(
    "second_part_kept",
    "After a merge, you go on with the second of the two pieces, so it occurs twice: in the joined piece and after it. "
    "Go on behind it: a merge uses up two pieces.",
    makes_second_part_kept,
    tempts="A `for` loop over the indices cannot skip one.",
)


def makes_last_piece_lost(word, merges):
    return new_list(word, merges, last=False)


SPEC.mistake(
    "last_piece_lost",
    "You lose the last piece of the word when it is not part of a merge. The last piece has no neighbour on its right, "
    "but it belongs to the result.",
    makes_last_piece_lost,
    tempts="The loop ends one piece early, so that `pieces[i + 1]` exists.",
)
SPEC.mistake(
    "overlaps_from_the_right",
    "Where two occurrences of a pair overlap, you merge the right one. Go through the pieces from left to right: "
    "with the merge a + a, the pieces a, a, a become `aa`, `a`.",
    mirrored,
    tempts="A loop from the end can change the list without an index that moves.",
    keeps=["merges in order"],
)


def makes_first_merge_only(word, merges):
    return oracle(word, merges[:1])


SPEC.mistake(
    "first_merge_only",
    "You return after the first merge. Apply all merges, one after the other, and return behind the loop.",
    makes_first_merge_only,
    tempts="A `return` that is indented too far ends the loop.",
)
SPEC.mistake(
    "last_merge_missing",
    "You leave out the last merge of the list. Loop over all of them.",
    change(LOOP, "for first, second in merges[:-1]:"),
    tempts="An index that stops at `len(merges) - 1`.",
)


SPEC.alternative(best_rank)


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


@SPEC.alternative
def with_spaces(word, merges):
    """Replace whole pieces only, in a text in which a space stands on both sides of each."""
    text = "".join(f" {character} " for character in word)
    for first, second in merges:
        text = text.replace(f" {first}  {second} ", f" {first}{second} ")
    return text.split()
