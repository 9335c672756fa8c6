"""Programs that the spec of `apply_bpe` does not contain; beside each wrong one is what it is told."""

import textwrap

from grader.author.trials import Trials

TRIALS = Trials()


def written(body):
    """The cell of a student whose function has this body."""
    lines = textwrap.indent(textwrap.dedent(body).strip(), "    ")
    return f"import re\nfrom collections import Counter, defaultdict\n\n\ndef apply_bpe(word, merges):\n{lines}\n"


APPLY = """
parts = [c for c in word]
for pair in merges:
    new = []
    k = 0
    while k < len(parts):
        if k + 1 < len(parts) and parts[k] == pair[0] and parts[k + 1] == pair[1]:
            new.append(pair[0] + pair[1])
            k += 2
        else:
            new.append(parts[k])
            k += 1
    parts = new
return parts
"""


def but(body, *pairs):
    """The student's program with these changes."""
    for was, becomes in pairs:
        assert body.count(was) == 1, was
        body = body.replace(was, becomes)
    return body


IF = "if k + 1 < len(parts) and parts[k] == pair[0] and parts[k + 1] == pair[1]:"


WRONG = {  # the body, what it is told: a name, some names or None
    "sorted merges": (but(APPLY, ("in merges:", "in sorted(merges):")), None),
    "either order": (but(APPLY, (IF, "if k + 1 < len(parts) and {parts[k], parts[k + 1]} == set(pair):")), None),
    "one text": (APPLY.replace("return parts", "return ' '.join(parts)"), None),
    "the characters": ("return list(word)", None),
    "the word": ("return [word]", None),
}


RIGHT = {
    "a tuple": APPLY.replace("return parts", "return tuple(parts)"),
}

TRIALS.all_wrong(WRONG, make=written)
TRIALS.all_right(RIGHT, make=written)
