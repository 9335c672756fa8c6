"""Programs that the spec of `apply_bpe` does not contain; beside each wrong one is what it is told."""

import textwrap

from grader.spec.trials import Trials

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


IN_A_FOR_LOOP = """
parts = list(word)
for left, right in merges:
    for k in range(len(parts) - 1):
        if parts[k] == left and parts[k + 1] == right:
            parts[k : k + 2] = [left + right]
return parts
"""
BEST_PAIR = """
ranks, parts = {tuple(pair): rank for rank, pair in enumerate(merges)}, list(word)
while len(parts) > 1:
    rank, k = min((ranks.get((parts[k], parts[k + 1]), len(merges)), k) for k in range(len(parts) - 1))
    if rank == len(merges):
        break
    parts[k : k + 2] = [parts[k] + parts[k + 1]]
return parts
"""
IF = "if k + 1 < len(parts) and parts[k] == pair[0] and parts[k + 1] == pair[1]:"


WRONG = {  # the body, what it is told: a name, some names or None
    "sorted merges": (but(APPLY, ("in merges:", "in sorted(merges):")), None),
    "either order": (but(APPLY, (IF, "if k + 1 < len(parts) and {parts[k], parts[k + 1]} == set(pair):")), None),
    "one text": (APPLY.replace("return parts", "return ' '.join(parts)"), None),
    "the characters": ("return list(word)", None),
    "the word": ("return [word]", None),
    "a slice replaced in a for loop": (IN_A_FOR_LOOP, "list_shortened_while_counting"),
    "a piece removed in a for loop": (
        but(
            IN_A_FOR_LOOP,
            ("parts[k : k + 2] = [left + right]", "parts[k] = left + right\n            del parts[k + 1]"),
        ),
        "list_shortened_while_counting",
    ),
    "a word of one piece": (but(APPLY, ("return parts", "return parts if len(parts) > 1 else word")), None),
}


RIGHT = {
    "a tuple": APPLY.replace("return parts", "return tuple(parts)"),
    # what is learned never makes a piece in two ways, so an earlier merge has nothing left to join
    "again from the first merge": (
        f"def once(parts):\n{textwrap.indent(APPLY.replace('parts = [c for c in word]', '').strip(), '    ')}\n\n"
        "parts = list(word)\nwhile parts != once(parts):\n    parts = once(parts)\nreturn parts"
    ),
    "the best pair, place by place": BEST_PAIR,
}

TRIALS.all_wrong(WRONG, make=written)
TRIALS.all_right(RIGHT, make=written)
