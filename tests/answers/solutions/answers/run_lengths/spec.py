"""How `run_lengths` is checked: against `itertools.groupby`."""

from itertools import groupby

from grader.spec.spec import Case, Output, Spec, change


def case(text, kind="ordinary"):
    return Case({"N": len(text)}, {"text": text}, kind)


def cases(rng):
    for num_runs in (1, 5, 9):
        runs = zip(rng.permutation(list("abcdefghi"))[:num_runs], rng.integers(2, 13, size=num_runs), strict=True)
        yield case("".join(str(letter) * int(count) for letter, count in runs))
    yield case("x")
    yield case("")
    yield case("aabbaa" + "z" * int(rng.integers(60, 90)))


def oracle(text):
    pairs = [(letter, len(list(run))) for letter, run in groupby(text)]
    return pairs, "".join(letter + str(count) for letter, count in pairs)


SPEC = Spec(
    outputs=[Output("pairs"), Output("shortened")],
    example=case("aabccc"),
    cases=cases,
    oracle=oracle,
)


def counts_in_all(text):
    counts = {letter: text.count(letter) for letter in text}
    return list(counts.items()), "".join(f"{letter}{count}" for letter, count in counts.items())


SPEC.mistakes(
    {
        "counts_in_all": counts_in_all,
        "forgets_the_last": change("shortened =", "pairs = pairs[:-1]\nshortened ="),
    }
)


@SPEC.alternative
def with_a_regular_expression(text):
    """Runs by their back reference."""
    import re

    pairs = [(match[1], len(match[0])) for match in re.finditer(r"(.)\1*", text)]
    return pairs, "".join(f"{letter}{count}" for letter, count in pairs)
