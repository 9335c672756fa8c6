"""Programs for BPE that are nearly right must fail and get no wrong name; right ones in other styles must pass."""

import linecache
import re
import textwrap
from collections import Counter, defaultdict

from tests.loops import for_each
from tests.nearly_right import fails, passes

ARGUMENTS = {"apply_bpe": "word, merges", "learn_bpe": "word_counts, num_merges"}


def written(name, body):
    """A student's function with this body, as a notebook's cell defines it."""
    source = f"def {name}({ARGUMENTS[name]}):\n" + textwrap.indent(textwrap.dedent(body).strip(), "    ") + "\n"
    filename = f"<cell {hash(source)}>"
    linecache.cache[filename] = (len(source), None, source.splitlines(keepends=True), filename)
    namespace = {"re": re, "Counter": Counter, "defaultdict": defaultdict}
    exec(compile(source, filename, "exec"), namespace)
    return namespace[name]


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


IF = "if k + 1 < len(parts) and parts[k] == pair[0] and parts[k + 1] == pair[1]:"
BEST = "top = max(table.values())\n    a, b = min(p for p in table if table[p] == top)"
SPLIT = "                s = s[:k] + [a + b] + s[k + 2:]\n"

WRONG_APPLY = {  # the body, what it is told: a name, some names or None
    "the last piece forgotten": (but(APPLY, ("while k < len(parts):", "while k < len(parts) - 1:")), "last_piece_lost"),
    "one step after a merge": (but(APPLY, ("            k += 2\n", "            k += 1\n")), "second_part_kept"),
    "backwards through the merges": (but(APPLY, ("in merges:", "in reversed(merges):")), "merges_in_reverse"),
    "the longest first": (
        but(APPLY, ("in merges:", "in sorted(merges, key=lambda m: len(''.join(m)), reverse=True):")),
        "longest_first",
    ),
    "the shortest first": (
        but(APPLY, ("in merges:", "in sorted(merges, key=lambda m: len(''.join(m))):")),
        "shortest_first",
    ),
    "sorted merges": (but(APPLY, ("in merges:", "in sorted(merges):")), None),
    "the joined text": (
        but(APPLY, (IF, "if k + 1 < len(parts) and parts[k] + parts[k + 1] == ''.join(pair):")),
        "joined_text_compared",
    ),
    "either order": (but(APPLY, (IF, "if k + 1 < len(parts) and {parts[k], parts[k + 1]} == set(pair):")), None),
    "returned in the loop": (
        but(APPLY, ("    parts = new\nreturn parts", "    return new\nreturn parts")),
        {"first_merge_only"},
    ),
    "replace": (
        "text = ' '.join(word)\nfor a, b in merges:\n    text = text.replace(a + ' ' + b, a + b)\nreturn text.split()",
        "replaced_in_text",
    ),
    "the first place": (
        but(
            APPLY,
            (
                "pair[0] + pair[1])\n            k += 2\n",
                "pair[0] + pair[1])\n            new += parts[k + 2 :]\n            break\n",
            ),
        ),
        "only_the_first_occurrence",
    ),
    "a list of merges that do not occur": (
        but(APPLY, ("    parts = new\n", "    if new == parts:\n        break\n    parts = new\n")),
        "stops_at_a_merge_that_does_not_occur",
    ),
    "one text": (APPLY.replace("return parts", "return ' '.join(parts)"), None),
    "the characters": ("return list(word)", None),
    "the word": ("return [word]", None),
}
RIGHT_APPLY = {
    "a student's": APPLY,
    "a tuple": APPLY.replace("return parts", "return tuple(parts)"),
    "by ranks": """
        rank = {m: k for k, m in enumerate(merges)}
        s = list(word)
        while len(s) > 1:
            a, b = min(zip(s, s[1:]), key=lambda p: rank.get(p, 10 ** 9))
            if (a, b) not in rank:
                break
            k = 0
            while k < len(s) - 1:
                if s[k] == a and s[k + 1] == b:
                    s[k:k + 2] = [a + b]
                k += 1
        return s
    """,
    "a regular expression": """
        s = " ".join(word)
        for a, b in merges:
            s = re.sub(r"(?<!\\S)" + re.escape(a + " " + b) + r"(?!\\S)", a + b, s)
        return s.split()
    """,
}
WRONG_LEARN = {
    "ones": (but(LEARN, ("] += n", "] += 1")), "counts_not_weighted"),
    "the first of equal ones": (but(LEARN, (BEST, "a, b = table.most_common(1)[0][0]")), "tie_to_the_first_seen"),
    "the last of equal ones": (
        but(LEARN, (BEST, "a, b = sorted(table.items(), key=lambda x: x[1])[-1][0]")),
        "tie_to_the_last_seen",
    ),
    "the largest of equal ones": (
        but(LEARN, (BEST, "a, b = max((n, p) for p, n in table.items())[1]")),
        "tie_to_the_largest",
    ),
    "by text": (
        but(
            LEARN,
            ("min(p for p in table if table[p] == top)", "min((p for p in table if table[p] == top), key=''.join)"),
        ),
        "tie_by_the_joined_text",
    ),
    "no stop": (but(LEARN, ("    if not table:\n        break\n", "")), "does_not_stop"),
    "stops at one": (but(LEARN, ("if not table:", "if not table or max(table.values()) == 1:")), "stops_at_count_1"),
    "one pair is not enough": (but(LEARN, ("if not table:", "if len(table) < 2:")), "last_pair_not_merged"),
    "never merged": (but(LEARN, (SPLIT, "                pass\n")), "words_not_merged"),
    "merged once": (but(LEARN, (SPLIT, SPLIT + "                break\n")), "merged_once_in_a_word"),
    "strings": (but(LEARN, ("found.append((a, b))", "found.append(a + b)")), "strings_for_pairs"),
    "lists": (but(LEARN, ("found.append((a, b))", "found.append([a, b])")), None),
    "with counts": (but(LEARN, ("found.append((a, b))", "found.append(((a, b), top))")), None),
    "a mark": (
        but(LEARN, ("{w: list(w) for", "{w: list(w) + ['</w>'] for")),
        "end_mark_added",
    ),
    "a dict": (but(LEARN, ("return found", "return {p: k for k, p in enumerate(found)}")), None),
    "one too few": (but(LEARN, ("len(found) < num_merges", "len(found) < num_merges - 1")), "one_merge_too_few"),
    "one too many": (but(LEARN, ("len(found) < num_merges", "len(found) <= num_merges")), "one_merge_too_many"),
    "once in a word": (
        but(
            LEARN,
            (
                "for k in range(len(s) - 1):\n            table[s[k], s[k + 1]] += n",
                "for p in set(zip(s, s[1:])):\n            table[p] += n",
            ),
        ),
        "counted_once_in_a_word",
    ),
    "the rarest": (but(LEARN, ("top = max", "top = min")), None),
    "the last pair of a word": (
        but(LEARN, ("for k in range(len(s) - 1):", "for k in range(len(s) - 2):")),
        "last_pair_of_a_word_left_out",
    ),
    "nothing": ("return []", None),
}
RIGHT_LEARN = {
    "a student's": LEARN,
    "a tuple of pairs": LEARN.replace("return found", "return tuple(found)"),
    "sorted": but(LEARN, (BEST, "a, b = sorted(table, key=lambda p: (-table[p], p))[0]")),
    "the first of a sorted table": but(LEARN, (BEST, "a, b = max(sorted(table), key=table.get)")),
    "a defaultdict": but(LEARN, ("Counter()", "defaultdict(int)")),
}


@for_each(
    ("exercise_id", "name"),
    [*(("apply_bpe", name) for name in WRONG_APPLY), *(("learn_bpe", name) for name in WRONG_LEARN)],
)
def test_a_nearly_right_program_fails_and_gets_no_wrong_name(exercise_id, name):
    body, allowed = {"apply_bpe": WRONG_APPLY, "learn_bpe": WRONG_LEARN}[exercise_id][name]
    fails(exercise_id, written(exercise_id, body), allowed)


@for_each(
    ("exercise_id", "name"),
    [*(("apply_bpe", name) for name in RIGHT_APPLY), *(("learn_bpe", name) for name in RIGHT_LEARN)],
)
def test_a_right_program_passes_however_it_is_written(exercise_id, name):
    body = {"apply_bpe": RIGHT_APPLY, "learn_bpe": RIGHT_LEARN}[exercise_id][name]
    passes(exercise_id, written(exercise_id, body))
