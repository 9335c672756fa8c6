"""Altered inputs: compare a student's results with those that the oracle gives if an input is altered.

The release also runs the oracle on cases with an altered input (`spec/altered_inputs.py`). For each case and output a
fingerprint of the result is recorded, a number that two results share only if they are equal. A check computes the
fingerprints of a student's results, so it needs no oracle.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from grader.checking.case import AlteredInput, Checks, Observation
from grader.checking.compare import Array, named_outputs
from grader.checking.diagnose.evidence import results_prefix
from grader.checking.verdict import CaseResult, Diagnosis, Problem

USED, ONCE, AS_IT_IS = "Is the given {0} used?", "Is {0} used only once?", "Is {0} used as it is?"
COUNTED, WHOLE = "Where does the counting start and end?", "Is all of {0} used?"
STEP, ROW = "Which step of {0} does each step of the loop use?", "Does each row use its own row of {0}?"
WHICH, FLAG = "Which of the two belongs where?", "What does True mean in {0}?"
GATE = "Is each block used as the right gate?"
ROWS = (
    "Texts in which vectors are columns have {0} on the left. Here vectors are rows: forward it is `… @ {1}`, and "
    "backward `… @ {1}.T`."
)

# For each alteration: how the message describes it, and a question. {0} is the input, as code; {1} the other input. For
# gates see `grader/spec/gates.py`.
WORDS = {
    "zeros": ("{0} is all zeros", USED),
    "ones": ("{0} is all ones", USED),
    "doubled": ("{0} counts twice", ONCE),
    "negated": ("{0} has the opposite sign", "Is {0} added or subtracted?"),
    "transposed": ("{0} is transposed", "Which axis of {0} is which?"),
    "softmax": ("a softmax is applied to {0} first", AS_IT_IS),
    "reversed": ("{0} is reversed", "In which order is {0} read?"),
    "more": ("{0} is one too large", COUNTED),
    "less": ("{0} is one too small", COUNTED),
    "all_T": ("every entry of {0} is T", USED),
    "all_S": ("every entry of {0} is S", USED),
    "true": ("{0} is True everywhere", USED),
    "inverted": ("True and False are exchanged in {0}", FLAG),
    "zero": ("{0} is 0", USED),
    "one": ("{0} is 1", USED),
    "inverse": ("{0} is replaced by 1 / {0}", "Multiply or divide by {0}?"),
    "one_minus": ("{0} is replaced by 1 − {0}", AS_IT_IS),
    "false": ("{0} is False everywhere", USED),
    "default": ("{0} keeps its default value", USED),
    "first": ("{0} has only its first entry", WHOLE),
    "last": ("{0} has only its last entry", WHOLE),
    "without_first": ("{0} lacks its first entry", WHOLE),
    "without_last": ("{0} lacks its last entry", WHOLE),
    "counts": ("every number in {0} is 1", USED),
    "late": ("{0} comes one step late", STEP),
    "early": ("{0} comes one step early", STEP),
    "backward": ("{0} is read from its last step to its first", STEP),
    "first_step_zero": ("the first step of {0} is zero", STEP),
    "last_step_zero": ("the last step of {0} is zero", STEP),
    "first_step": ("every step of {0} is a copy of the first", STEP),
    "last_step": ("every step of {0} is a copy of the last", STEP),
    "first_row": ("every row of {0} is a copy of the first", ROW),
    "mixed": ("the entries of {0} are read with time before batch", "In which order does a `reshape` take them?"),
    "only_first": ("only the first {0} counts", "Does a loop or a `return` end it, or is there an index 0?"),
    "only_last": ("only the last {0} counts", "Is something overwritten in a loop where it should be added up?"),
    "exchanged": ("{0} and {1} are exchanged", WHICH),
    "in_place_of": ("{0} is used in place of {1}", WHICH),
    "read": ("the blocks of {1} are read in the order {0} instead of {2}", GATE),
    "written": ("the blocks of {1} are written in the order {0} instead of {2}", GATE),
    "read_and_written": ("the blocks of {1} are read and written in the order {0} instead of {2}", GATE),
    "same_block": ("{0} is computed from the block of {1} in {2}", GATE),
    "alternating": (
        "the columns of {0} are read as if the gates took turns column by column",
        "Where does the block of each gate start and end?",
    ),
    "opposite": ("the block of {0} in {1} has the opposite sign", "Is {0} replaced by 1 − {0}, or by −{0}?"),
}
# alterations that are never reported for some outputs only
ON_ALL_OUTPUTS = {"exchanged", "in_place_of", "same_block", "opposite"}
MAY_RAISE = {"more", "less"}  # an index past the end may raise an exception in a student's code but not in the oracle
MOST = 2  # alterations with the same results, so that the message lists them
LARGEST = 1e30  # numbers are clipped to this, so that the sums in fingerprints are finite


def altered_input(
    checks: Checks, observations: Sequence[Observation], results: Sequence[CaseResult]
) -> Diagnosis | None:
    """The altered input that explains all results, or None. If several explain equally many outputs, those that make a
    right output wrong are dropped.
    """
    compared = _compared(checks, observations, results)
    if compared is None:
        return None
    fitting = np.asarray(compared.fits.all(axis=(1, 2)) & compared.explains.any(axis=1))  # (alterations,)
    only = _only_one(checks, observations, compared, fitting, compared.explains)
    return None if only is None else _diagnosis(checks.altered_inputs[only])


def altered_input_of_outputs(
    checks: Checks, observations: Sequence[Observation], results: Sequence[CaseResult]
) -> Diagnosis | None:
    """The altered input that explains at least half of the wrong outputs, which the diagnosis names, or None."""
    compared = _compared(checks, observations, results) if len(checks.outputs) > 1 else None
    if compared is None:
        return None
    on_all = np.array([any(name in ON_ALL_OUTPUTS for name, _ in c.alterations) for c in checks.altered_inputs])
    explains = compared.explains & compared.wrong & ~on_all[:, None]  # (alterations, outputs)
    fitting = 2 * explains.sum(axis=1) >= compared.wrong.sum()  # (alterations,)
    only = _only_one(checks, observations, compared, fitting, explains)
    if only is None:
        return None
    names = [output.name for output, explained in zip(checks.outputs, explains[only], strict=True) if explained]
    return _diagnosis(checks.altered_inputs[only], results_prefix(names))


@dataclass(frozen=True)
class _Compared:
    """The student's results compared with those of each alteration.

    `fits` (alterations, cases, outputs): the results are the same, or the student's code stops where the alteration may
    stop it. `shows`: the results are the same, and wrong.
    `explains` (alterations, outputs): all cases fit, and at least one shows it. `spoils` (alterations,
    outputs): the alteration makes the output wrong on some case. `wrong` (outputs,): the student's output is wrong.
    """

    fits: Array
    shows: Array
    explains: Array
    spoils: Array
    wrong: Array


def _compared(checks: Checks, observations: Sequence[Observation], results: Sequence[CaseResult]) -> _Compared | None:
    """The comparison by fingerprints; None if nothing is recorded, or if the student's code has changed an input."""
    problems = [problem for result in results for problem in result.problems]
    if not checks.altered_inputs or any(problem.kind == "changed" for problem in problems):
        return None
    ours, _ = fingerprints(checks, observations)  # (cases, outputs)
    expected, spread = fingerprints(checks, checks.expected)  # (cases, outputs)
    # (alterations, cases, outputs), as distances from the expected ones
    theirs = np.stack([c.fingerprints for c in checks.altered_inputs]).astype(np.float64)
    may_raise = np.array([any(name in MAY_RAISE for name, _ in c.alterations) for c in checks.altered_inputs])
    fits = same(theirs, ours - expected, spread) | (may_raise[:, None, None] & np.isnan(ours))
    shows = fits & np.isfinite(theirs) & (theirs != 0) & ~np.isnan(ours)
    return _Compared(
        fits=fits,
        shows=shows,
        explains=fits.all(axis=1) & shows.any(axis=1),
        spoils=(theirs != 0).any(axis=1),
        wrong=np.array([any(p.output in (None, output.name) for p in problems) for output in checks.outputs]),
    )


def _only_one(
    checks: Checks, observations: Sequence[Observation], compared: _Compared, fitting: Array, explains: Array
) -> int | None:
    """The index of the only one of the `fitting` (alterations,) that is left: with evidence for it, explaining the most
    outputs by `explains` (alterations, outputs), and, if these are several, spoiling no right output. None if there is
    no such one, or if it is too many alterations with the same results.
    """
    left = [int(a) for a in np.flatnonzero(fitting)]
    left = [a for a in left if is_evidence(_shown(checks, observations, compared.shows[a] & explains[a]))]
    most = max((explains[a].sum() for a in left), default=0)
    left = [a for a in left if explains[a].sum() == most]
    if len(left) > 1:
        left = [a for a in left if not compared.spoils[a][~compared.wrong].any()]
    return left[0] if len(left) == 1 and len(checks.altered_inputs[left[0]].alterations) <= MOST else None


def _diagnosis(altered: AlteredInput, prefix: str = "") -> Diagnosis:
    return Diagnosis(f"altered input: {short_name(altered)}", prefix + message(altered))


def _shown(checks: Checks, observations: Sequence[Observation], where: Array) -> list[tuple[int, Any, Any]]:
    """The results where `where` (cases, outputs) is True, as (case, expected, got)."""
    pairs = [(_values(checks, e), _values(checks, o)) for e, o in zip(checks.expected, observations, strict=True)]
    return [(i, pairs[i][0][k], pairs[i][1][k]) for i, k in np.argwhere(where)]


def _values(checks: Checks, observation: Observation) -> list[Any]:
    """The results in the order of the outputs. If their number is wrong, each entry is the whole result."""
    named = named_outputs(checks.outputs, observation.result)
    return [observation.result] * len(checks.outputs) if isinstance(named, Problem) else list(named.values())


def short_name(altered: AlteredInput) -> str:
    """The alterations in short form: 'zeros x_t | zeros W_xh'."""
    return " | ".join(f"{alteration} {', '.join(words)}" for alteration, words in altered.alterations).replace("`", "")


def message(altered: AlteredInput) -> str:
    """The message for the student."""
    alterations = altered.alterations
    question = _question(*alterations[0]) if len(alterations) == 1 else "Check both."
    if (
        len(alterations) > 1
        and len({(alteration, len(words)) for alteration, words in alterations}) == len(alterations[0][1]) == 1
    ):
        alterations = ((alterations[0][0], (" or ".join(words[0] for _, words in alterations),)),)
    clauses = [WORDS[alteration][0].format(*words) for alteration, words in alterations]
    return f"This is the result you get if {' or if '.join(clauses)}. {question}"


def _question(alteration: str, words: tuple[str, ...]) -> str:
    # The name alone says that rows are multiplied by this matrix: the axes of a table of embeddings, of any parameters
    # that are stepped or clipped, and of a mask between positions are like those of weights.
    if alteration == "transposed" and words[0].startswith("`W"):
        return ROWS.format(words[0], words[0].strip("`"))
    return WORDS[alteration][1].format(*words)


# Fingerprints ---------------------------------------------------------------------------------------------------------


def fingerprints(checks: Checks, observations: Sequence[Observation]) -> tuple[Array, Array]:
    """Return the fingerprints of the results (cases, outputs), NaN for exceptions, and the largest difference (cases,
    outputs) between the fingerprints of equal results.
    """
    found = np.full((2, len(observations), len(checks.outputs)), np.nan)
    for i, observation in enumerate(observations):
        if observation.raised is None:
            found[:, i] = np.transpose([_fingerprint(value, checks) for value in _values(checks, observation)])
    return found[0], found[1]


def _fingerprint(value: Any, checks: Checks) -> tuple[float, float]:
    """Return a weighted sum of a result's numbers and its tolerance; NaN if the result is not a plain value. The
    weights are random and depend on the structure, so different numbers, positions or shapes give different sums.
    """
    numbers: list[Array | float] = [1.0]
    structure = _structure(value, numbers)
    flat = np.hstack(numbers).clip(-LARGEST, LARGEST)
    weights = _weights(zlib.crc32(structure.encode()), flat.size)
    spread = weights @ (checks.tolerance.absolute + checks.tolerance.relative * np.abs(flat))
    return float(weights @ flat), float(spread)


@lru_cache(64)
def _weights(seed: int, size: int) -> Array:
    return np.random.default_rng(seed).uniform(0.5, 1.5, size)


def _structure(value: Any, numbers: list[Array | float]) -> str:
    """Everything about a value that the judge compares apart from its numbers, which are appended to `numbers`."""
    if type(value) is float and math.isfinite(value):  # most entries of a list
        numbers.append(value)
        return ""
    if isinstance(value, bool | int | float | np.ndarray) and np.asarray(value).dtype.kind in "biuf":
        array = np.asarray(value)
        flat = array.ravel().astype(np.float64)
        numbers.append(np.nan_to_num(flat, nan=123.4, posinf=234.5, neginf=-345.6))  # arbitrary finite numbers
        kind = array.dtype.name if array.dtype.kind == "f" else array.dtype.kind.replace("u", "i")
        return f"{kind} {array.shape}" if array.ndim or kind == "b" else ""  # 1 and 1.0 are equal to the judge
    if isinstance(value, list | tuple):
        return f"[{','.join(_structure(item, numbers) for item in value)}]"
    if isinstance(value, dict):
        return f"{{{','.join(f'{key!r}:{_structure(value[key], numbers)}' for key in sorted(value, key=repr))}}}"
    if value is not None and not isinstance(value, str):
        numbers.append(np.nan)
    return repr(value)


def same(a: Array, b: Array, spread: Array) -> Array:
    """Whether differences of fingerprints are equal. Recorded ones have the precision of float32."""
    with np.errstate(invalid="ignore"):
        near = np.abs(a - b) <= spread + 2e-7 * np.minimum(np.abs(a), np.abs(b))
    return np.asarray(near | (np.isnan(a) & np.isnan(b)))


# Evidence -------------------------------------------------------------------------------------------------------------


def softmax(a: Array, axis: int) -> Array:
    powers = np.exp(a - a.max(axis, keepdims=True))
    return np.asarray(powers / powers.sum(axis, keepdims=True))


def leaves(value: Any) -> list[Array]:
    """The arrays and numbers that a result contains, at any depth, as arrays."""
    if isinstance(value, dict):
        value = [value[key] for key in sorted(value, key=repr)]
    if isinstance(value, list | tuple):
        return [leaf for item in value for leaf in leaves(item)]
    return [np.asarray(value)]


def is_one_number(values: Iterable[Any]) -> bool:
    """Whether the results contain the same number everywhere, or no finite number. Such results have many causes."""
    arrays = [leaf for value in values for leaf in leaves(value)]
    if not all(array.dtype.kind in "biuf" for array in arrays):
        return False
    numbers = np.concatenate([np.zeros(0), *(array.ravel() for array in arrays)])
    numbers = numbers[np.isfinite(numbers)]
    return bool((numbers == numbers[:1]).all())


def is_evidence(shown: Sequence[tuple[int, Any, Any]]) -> bool:
    """Whether these wrong results, given as (case, expected, got), are evidence for a cause that leads to the same
    ones. They must not be the same number everywhere, and a float must be wrong, or at least three cases or six
    entries, because ids and words may agree by coincidence.
    """
    if is_one_number(got for *_, got in shown):
        return False
    entries = 0
    for _, expected, got in shown:
        pairs = leaves(expected), leaves(got)
        shapes = [[leaf.shape for leaf in pair] for pair in pairs]
        differing = [b[a != b] for a, b in zip(*pairs, strict=True)] if shapes[0] == shapes[1] else pairs[1]
        if any(numbers.dtype.kind == "f" and numbers.size for numbers in differing):
            return True
        entries += sum(numbers.size for numbers in differing)
    return len({case for case, *_ in shown}) >= 3 or entries >= 6
