"""How `decode_ids` is checked: against a search through the vocabulary for each id."""

import numpy as np

from grader.spec.spec import Case, Output, Spec, change, instead


def oracle(ids, vocab):
    """For each id, the first key that has it."""
    text = ""
    for index in ids.tolist():
        text += next(key for key, value in vocab.items() if value == index)
    return text


EXAMPLE = Case(
    sizes={"T": 4, "V": 5},
    inputs={"ids": np.array([3, 1, 2, 4]), "vocab": {"h": 3, "l": 0, "o": 4, "e": 1, "<unk>": 2}},
)
LETTERS = "abcdefghijklmnopqrstuvwxyz .,!é"


def vocabulary(rng, V, unk):
    """V entries with the ids 0 to V − 1, in neither the order of the ids nor that of the characters. `<unk>`, if it is
    asked for, is neither the first entry nor the last.
    """
    while True:
        keys = rng.permutation(list(LETTERS))[:V].tolist()
        if unk:
            keys[rng.integers(V)] = "<unk>"
        vocab = dict(zip(keys, rng.permutation(V).tolist(), strict=True))
        by_id = sorted(vocab, key=vocab.get)
        orders = list(vocab), sorted(vocab)
        if V < 3 or all(a != b for order in orders for a, b in zip(by_id, order, strict=True)):
            return vocab


def case(rng, T, V, unk=True, kind="ordinary"):
    """Ids in random order, among them that of `<unk>` if there is one; no two neighbours are equal unless V = 1."""
    vocab = vocabulary(rng, V, unk)
    while True:
        ids = rng.integers(V, size=T)
        if V > 1 and (ids[1:] == ids[:-1]).any():
            continue
        if not (unk and T > 1) or vocab["<unk>"] in ids[1:]:
            return Case({"T": T, "V": V}, {"ids": ids, "vocab": vocab}, kind)


def cases(rng):
    yield case(rng, T=6, V=4)
    yield case(rng, T=5, V=5, unk=False)
    yield case(rng, T=9, V=7)
    yield case(rng, T=1, V=6, unk=False)
    yield case(rng, T=4, V=1, unk=False)
    yield case(rng, T=25, V=18)
    yield case(rng, T=0, V=4, kind="no ids")
    vocab = {"b": 2, " ": 0, "<unk>": 3, "a": 1}
    yield Case({"T": 6, "V": 4}, {"ids": np.array([0, 1, 3, 0, 2, 0]), "vocab": vocab})  # spaces at both ends


SPEC = Spec(
    outputs=[Output("text")],
    example=EXAMPLE,
    cases=cases,
    oracle=oracle,
)
DICT = "{index: character for character, index in vocab.items()}"
RETURN = 'return "".join(characters[int(index)] for index in ids)'

SPEC.mistakes(
    {
        **instead(
            DICT,
            {
                "order_of_the_dict": "dict(enumerate(vocab))",
                "characters_sorted": "dict(enumerate(sorted(vocab)))",
            },
        ),
        "spaces_in_between": change('"".join', '" ".join'),
        "spaces_at_the_ends_removed": [
            change(RETURN, f"{RETURN}.{strip}()") for strip in ("strip", "rstrip", "lstrip")
        ],
        "only_the_first_character": [
            change(RETURN, "for index in ids:\n    return characters[int(index)]"),
            change("in ids)", "in ids[:1])"),
        ],
        "last_character_missing": change("in ids)", "in ids[:-1])"),
        "unk_not_shown": [
            *(
                change("characters[int(index)]", f'characters[int(index)].replace("<unk>", "{shown}")')
                for shown in ("", "?", "�", " ")
            )
        ],
    }
)


@SPEC.alternative
def keys_sorted_by_id(ids, vocab):
    """The keys in the order of their ids, as a list."""
    keys = sorted(vocab, key=vocab.get)
    return "".join([keys[index] for index in ids])


@SPEC.alternative
def with_zip(ids, vocab):
    """The dict reversed by `zip`, and a string that grows."""
    character_of, text = dict(zip(vocab.values(), vocab.keys(), strict=True)), ""
    for index in ids:
        text += character_of[index]
    return text
