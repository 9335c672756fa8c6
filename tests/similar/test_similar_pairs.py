"""Which pairs are found: planted ones in a class of independent right and wrong answers, and no others."""

import random
import textwrap

import numpy as np
import pytest

from grader.similar.fingerprints import NOISE, fingerprint
from grader.similar.pairs import similar_pairs, widespread

SOME = textwrap.dedent(
    """\
    def softmax(scores, temperature=1.0):
        # subtract the largest score
        shifted = (scores - scores.max(axis=-1, keepdims=True)) / temperature
        powers = np.exp(shifted)
        return powers / powers.sum(axis=-1, keepdims=True)
    """
)
OTHER = textwrap.dedent(
    """\
    def edit_distance(left, right):
        previous = list(range(len(right) + 1))
        for row, first in enumerate(left, start=1):
            current = [row]
            for column, second in enumerate(right, start=1):
                substituted = previous[column - 1] + (first != second)
                current.append(min(previous[column] + 1, current[-1] + 1, substituted))
            previous = current
        return previous[-1]
    """
)
THIRD = textwrap.dedent(
    """\
    class Stack:
        def __init__(self):
            self.items = []
            self.depth = 0

        def push(self, item):
            self.items.append(item)
            self.depth = max(self.depth, len(self.items))
            assert self.depth >= 1, 'empty' + str(self.items)
            return {key: value for key, value in zip(self.items, range(self.depth), strict=False)}
    """
)


def unlike(seed):
    """Code that has nothing in common with that of another seed, as no real operator follows another as often."""
    rng = random.Random(seed)
    return "\n".join(
        "x = " + " ".join(f"x {rng.choice('+-*/%@&|^')}" for _ in range(30)) + " x" for _ in range(rng.randint(12, 15))
    )


def class_of(**works):
    return {student: [fingerprint(source) for source in sources] for student, sources in works.items()}


def names(found):
    return [(pair.left.student, pair.right.student) for pair in found.pairs]


def test_names_comments_strings_and_the_order_of_cells_do_not_matter():
    renamed = SOME.replace("scores", "z").replace("powers", "e").replace("largest", "biggest").replace("shifted", "s")
    prints = class_of(ann=[SOME, OTHER], bo=[OTHER, f"# Mine.\n\n{renamed}"], cy=[unlike(1)], di=[unlike(2)])
    found = similar_pairs(prints, [])
    assert names(found) == [("ann", "bo")]
    assert found.pairs[0].left.share == found.pairs[0].right.share == 1.0


def test_code_that_everyone_was_given_is_no_reason():
    both = [SOME, OTHER, THIRD]
    prints = class_of(ann=both, bo=both, cy=[unlike(1)], di=[unlike(2)])
    (pair,) = similar_pairs(prints, [fingerprint(SOME)]).pairs
    assert sorted(pair.left.passages) == [1, 2]
    found = similar_pairs(prints, [fingerprint(source) for source in both])
    assert found.pairs == ()
    assert found.short == ("ann", "bo")


def test_what_half_of_a_small_class_writes_is_no_reason_and_what_fewer_write_is_one():
    others = {f"s{n}": [unlike(n)] for n in range(4)}
    three = {f"t{n}": [SOME + OTHER] for n in range(3)}
    assert len(similar_pairs(class_of(**others, **three), []).pairs) == 3  # 3 of 7
    more = {f"t{n}": [SOME + OTHER] for n in range(5)}
    found = similar_pairs(class_of(**others, **more), [])  # 5 of 9
    assert found.pairs == ()
    assert found.short == tuple(more)
    assert found.widespread == 4


@pytest.mark.parametrize(
    ("students", "most"), [(2, 2), (5, 2), (8, 4), (20, 10), (30, 10), (100, 10), (200, 20), (600, 60)]
)
def test_what_counts_as_widespread(students, most):
    assert widespread(students) == most


def test_the_share_is_counted_from_both_sides_and_the_larger_one_decides():
    whole, half = [SOME, OTHER, THIRD], [SOME, OTHER]
    others = {f"s{n}": [unlike(n)] for n in range(4)}
    found = similar_pairs(class_of(ann=whole, bo=half, **others), [])
    (pair,) = found.pairs
    assert pair.right.share == 1.0
    sizes = [fingerprint(source).length for source in whole]
    assert pair.left.share == pytest.approx(sum(sizes[:2]) / sum(sizes))
    assert pair.size == sum(sizes[:2])
    assert sorted(pair.left.passages) == sorted(pair.right.passages) == [0, 1]


def test_pairs_below_the_threshold_are_left_out():
    others = {f"s{n}": [unlike(n)] for n in range(4)}
    prints = class_of(ann=[OTHER, THIRD, unlike(8)], bo=[unlike(9), THIRD, OTHER], **others)
    alike = fingerprint(OTHER).length + fingerprint(THIRD).length
    share = alike / (alike + min(fingerprint(unlike(n)).length for n in (8, 9)))
    assert len(similar_pairs(prints, [], share - 0.001).pairs) == 1
    assert similar_pairs(prints, [], share + 0.001).pairs == ()


def test_short_code_is_not_compared():
    short = "def f(a):\n    return np.tanh(a @ a + a * a - 1)\n"
    found = similar_pairs(class_of(ann=[short], bo=[short], cy=[unlike(1)], di=[]), [])
    assert found.pairs == ()
    assert found.short == ("ann", "bo", "di")


def test_code_that_fewer_students_share_comes_first():
    others = {f"s{n}": [unlike(n)] for n in range(8)}
    prints = class_of(
        ann=[OTHER], bo=[OTHER], **{f"t{n}": [OTHER] for n in range(2)}, yo=[unlike(77)], zoe=[unlike(77)], **others
    )
    assert names(similar_pairs(prints, []))[0] == ("yo", "zoe")


def test_passages_are_where_the_code_is():
    source = f"# {'long ' * 9}\nclass Mine(Base):\n    pass\n\n\n{SOME}\n\n{unlike(3)}\n"
    own, other = fingerprint(source), fingerprint(SOME)
    (passage,) = own.passages(np.isin(own.hashes, other.hashes))
    text = source[passage[0] : passage[1]].strip()
    assert text.splitlines()[1:] == SOME.strip().splitlines()[1:]
    assert "unlike" not in text


def test_no_tokens_give_no_fingerprints():
    for source in ("", "\n\n", "# only a comment\n", "x" * 500, "\x00" * 5):
        print_ = fingerprint(source)
        assert len(print_.hashes) == len(print_.places) == max(0, print_.length - NOISE + 1)
    assert similar_pairs(class_of(ann=[""], bo=[]), []).pairs == ()


def test_an_empty_class_is_no_error():
    assert similar_pairs({}, []).pairs == ()
