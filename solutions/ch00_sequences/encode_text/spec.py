"""How `encode_text` is checked: against a search in a list of pairs, character by character."""

import numpy as np

from grader.spec.spec import Case, Output, Spec, change, instead

EMPTY, FIRST, KNOWN, UNKNOWN = "empty text", "<unk> with the id 0", "without <unk>", "raises KeyError"


def oracle(text, vocab):
    """The first pair whose character equals the one in the text, or else the first pair of `<unk>`."""
    pairs, ids = list(vocab.items()), []
    for character in text:
        found = [index for key, index in pairs if key == character]
        found += [index for key, index in pairs if key == "<unk>"]
        if not found:
            raise KeyError(character)
        ids.append(found[0])
    return np.array(ids, dtype=np.int64)


EXAMPLE = Case(
    sizes={"T": 4, "V": 5},
    inputs={"text": "hold", "vocab": {"h": 3, "l": 0, "o": 4, "e": 1, "<unk>": 2}},
)
LETTERS = "abcdefghijklmnopqrstuvwxyz .,!"


def vocabulary(rng, V, unk):
    """V entries with the ids 0 to V − 1 in random order, one of them `<unk>` if asked; its id is between 1 and V − 2.
    The characters are in neither their own order nor that of their ids.
    """
    while True:
        keys = rng.permutation(list(LETTERS))[: V - unk].tolist()
        vocab = dict(zip([*keys, "<unk>"][:V], rng.permutation(V).tolist(), strict=True))
        by_id = sorted(vocab, key=vocab.get)
        if unk and not 0 < vocab["<unk>"] < V - 1:
            continue
        if V < 3 or (by_id != list(vocab) and by_id != sorted(vocab)):
            return vocab


def case(rng, T, V, unk=True, unknown=(), kind="ordinary"):
    """A text of characters of the vocabulary, with characters that it lacks at the places `unknown`."""
    vocab = vocabulary(rng, V, unk)
    known = [key for key in vocab if key != "<unk>"]
    others = [letter for letter in LETTERS + "éß你" if letter not in vocab]
    text = [known[i] for i in rng.integers(len(known), size=T)]
    for t in unknown:
        text[t] = others[rng.integers(len(others))]
    return Case({"T": T, "V": V}, {"text": "".join(text), "vocab": vocab}, kind)


def cases(rng):
    yield case(rng, T=6, V=4, unknown=[2])
    yield case(rng, T=5, V=5)
    yield case(rng, T=12, V=9, unknown=[0, 7, 11])
    yield case(rng, T=1, V=6)
    yield case(rng, T=1, V=4, unknown=[0])
    yield case(rng, T=7, V=4, unknown=[1, 2, 5])
    yield case(rng, T=30, V=20, unknown=[4, 5, 21])
    yield Case({"T": 9, "V": 6}, {"text": " Aad, D a ", "vocab": {"a": 4, " ": 2, "A": 0, "d": 5, "<unk>": 3, ",": 1}})
    yield Case({"T": 4, "V": 3}, {"text": "abca", "vocab": {"b": 2, "<unk>": 0, "a": 1}}, FIRST)
    yield case(rng, T=6, V=1, unk=False, kind=KNOWN)
    yield case(rng, T=8, V=5, unk=False, kind=KNOWN)
    yield case(rng, T=0, V=4, kind=EMPTY)
    yield case(rng, T=0, V=3, unk=False, kind=EMPTY)
    yield case(rng, T=5, V=3, unk=False, unknown=[3], kind=UNKNOWN)
    yield case(rng, T=4, V=6, unk=False, unknown=[0], kind=UNKNOWN)


SPEC = Spec(
    outputs=[Output("ids", ("T",))],
    example=EXAMPLE,
    cases=cases,
    oracle=oracle,
)
LOOP = """
    for t, character in enumerate(text):
        if character in vocab:
            ids[t] = vocab[character]
        elif "<unk>" in vocab:
            ids[t] = vocab["<unk>"]
        else:
            raise KeyError(character)
    return ids
"""
OTHERWISE = """
        elif "<unk>" in vocab:
            ids[t] = vocab["<unk>"]
        else:
            raise KeyError(character)
"""

SPEC.mistakes(
    {
        "empty_text_gives_floats": change("return ids", "return ids if len(text) else np.array([])"),
        **instead(
            LOOP,
            {
                "unk_always_looked_up": 'return np.array([vocab.get(c, vocab["<unk>"]) for c in text], dtype=np.int64)',
                "spaces_at_the_ends_removed": (
                    'known = [c if c in vocab else "<unk>" for c in text.strip()]\n'
                    "return np.array([vocab[c] for c in known], dtype=np.int64)"
                ),
                "unknown_left_out": "return np.array([vocab[c] for c in text if c in vocab], dtype=np.int64)",
            },
        ),
        "unknown_id_invented": [
            *(change(OTHERWISE, f"else:\n    ids[t] = {invented}") for invented in ("0", "-1", "1", "len(vocab)"))
        ],
        "no_error_without_unk": [
            *(change("raise KeyError(character)", f"ids[t] = {wrong}") for wrong in ("0", "-1", "len(vocab)")),
            change(OTHERWISE, 'elif "<unk>" in vocab:\n    ids[t] = vocab["<unk>"]'),
            change(
                LOOP,
                'known = [c if c in vocab else "<unk>" for c in text]\n'
                "return np.array([vocab[c] for c in known if c in vocab], dtype=np.int64)",
            ),
        ],
        "words_for_characters": change(
            LOOP,
            'known = [word if word in vocab or "<unk>" not in vocab else "<unk>" for word in text.split()]\n'
            "return np.array([vocab[word] for word in known], dtype=np.int64)",
        ),
        "lower_cased": change("enumerate(text)", "enumerate(text.lower())"),
        "unk_with_the_id_0_not_found": change('elif "<unk>" in vocab:', 'elif vocab.get("<unk>"):'),
        "id_0_taken_for_unknown": change(
            LOOP, 'return np.array([vocab.get(c) or vocab["<unk>"] for c in text], dtype=np.int64)'
        ),
        "positions_for_ids": [
            change(
                "vocab[character]", "list(vocab).index(character)", ('vocab["<unk>"]', 'list(vocab).index("<unk>")')
            ),
            change(
                LOOP,
                "keys = sorted(vocab)\n"
                'return np.array([keys.index(c if c in vocab else "<unk>") for c in text], dtype=np.int64)',
            ),
            change(
                "vocab[character]", "sorted(vocab).index(character)", ('vocab["<unk>"]', 'sorted(vocab).index("<unk>")')
            ),
            change("vocab[character]", "list(vocab).index(character)"),
            change("vocab[character]", "sorted(vocab).index(character)"),
            change(
                "vocab[character]",
                'sorted(vocab.keys() - {"<unk>"}).index(character)',
                ('vocab["<unk>"]', "len(vocab) - 1"),
            ),
            change(
                "vocab[character]",
                '["<unk>", *sorted(vocab.keys() - {"<unk>"})].index(character)',
                ('vocab["<unk>"]', "0"),
            ),
        ],
    }
)


@SPEC.alternative
def with_two_lookups(text, vocab):
    """Look up `<unk>` only where it is needed; a missing key raises the error that is asked for."""
    return np.array([vocab["<unk>"] if c not in vocab and "<unk>" in vocab else vocab[c] for c in text], dtype=np.int64)


@SPEC.alternative
def with_an_exception(text, vocab):
    """Ask for forgiveness: the error of the character is raised again if there is nothing else to return."""
    ids = []
    for character in text:
        try:
            ids.append(vocab[character])
        except KeyError:
            if "<unk>" not in vocab:
                raise
            ids.append(vocab["<unk>"])
    return np.array(ids, dtype=int)


@SPEC.alternative
def from_an_iterator(text, vocab):
    """`np.fromiter` is told the dtype."""

    def lookup(character):
        found = vocab.get(character, vocab.get("<unk>"))
        if found is None:
            raise KeyError(f"unknown character {character!r}")
        return found

    return np.fromiter(map(lookup, text), dtype=np.int64)
