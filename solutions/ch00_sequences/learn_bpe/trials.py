"""Programs that the spec of `learn_bpe` does not contain; beside each wrong one is what it is told."""

import textwrap

from grader.spec.trials import Trials

TRIALS = Trials()


def written(body):
    """The cell of a student whose function has this body."""
    lines = textwrap.indent(textwrap.dedent(body).strip(), "    ")
    head = "import re\nfrom collections import Counter, defaultdict\n\n\ndef learn_bpe(word_counts, num_merges):\n"
    return f"{head}{lines}\n"


LEARN = """
splits = {w: list(w) for w in word_counts}
found = []
while len(found) < num_merges:
    table = Counter()
    for w, n in word_counts.items():
        s = splits[w]
        for k in range(len(s) - 1):
            table[s[k], s[k + 1]] += n
    if not table:
        break
    top = max(table.values())
    a, b = min(p for p in table if table[p] == top)
    found.append((a, b))
    for w in splits:
        s, k = splits[w], 0
        while k < len(s) - 1:
            if s[k] == a and s[k + 1] == b:
                s = s[:k] + [a + b] + s[k + 2:]
            k += 1
        splits[w] = s
return found
"""


def but(body, *pairs):
    """The student's program with these changes."""
    for was, becomes in pairs:
        assert body.count(was) == 1, was
        body = body.replace(was, becomes)
    return body


WRONG = {
    "no stop": (but(LEARN, ("    if not table:\n        break\n", "")), "does_not_stop"),
    "lists": (but(LEARN, ("found.append((a, b))", "found.append([a, b])")), None),
    "with counts": (but(LEARN, ("found.append((a, b))", "found.append(((a, b), top))")), None),
    "a dict": (but(LEARN, ("return found", "return {p: k for k, p in enumerate(found)}")), None),
    "the rarest": (but(LEARN, ("top = max", "top = min")), None),
    "nothing": ("return []", None),
    "pairs from right to left": (but(LEARN, ("found.append((a, b))", "found.append((b, a))")), "pairs_reversed"),
    "each pair looks back": (
        but(
            LEARN,
            ("range(len(s) - 1)", "range(1, len(s))"),
            ("table[s[k], s[k + 1]]", "table[s[k], s[k - 1]]"),
            ("s[k] == a and s[k + 1] == b", "s[k] == b and s[k + 1] == a"),
            ("s[:k] + [a + b]", "s[:k] + [b + a]"),
        ),
        "pairs_reversed",
    ),
}


RIGHT = {
    "a tuple of pairs": LEARN.replace("return found", "return tuple(found)"),
}

TRIALS.all_wrong(WRONG, make=written)
TRIALS.all_right(RIGHT, make=written)
