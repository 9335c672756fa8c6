"""Judge a training loop by its calls of `loss_and_grads` and by what it does with the results."""

from contextlib import suppress
from itertools import pairwise, product
from pathlib import Path

import numpy as np

from grader.checking.case import DEFAULT_TOLERANCE, Observation, Output
from grader.checking.compare import close, compare
from grader.checking.describe import describe
from grader.checking.fixtures import builders
from grader.checking.verdict import Problem
from grader.codec import Fixture

EPS = 1e-8
REPEATED = 10
LEARNT = 0.05  # nats: below this loss the network has memorised its word
_FIXTURES = Path(__file__).with_name("ch02_bptt_fixtures.py")  # beside the released judge; the course's is above
if not _FIXTURES.exists():
    _FIXTURES = Path(__file__).parents[1] / "fixtures.py"
NETWORK = builders(_FIXTURES.read_text("utf-8"))["next_token_network"]
AXES = {"W_xh": ("V", "H"), "W_hh": ("H", "H"), "b_h": ("H",), "W_hy": ("H", "V"), "b_y": ("V",)}


# Calls and results ----------------------------------------------------------------------------------------------------


def turns(case, observation):
    """Every call with its number in the script. Surplus calls that repeat the previous one are left out."""
    calls = [call if isinstance(call, dict) else {} for call in observation.calls.get("loss_and_grads", [])]
    due, found, number = case.inputs["num_updates"], [], -1
    for index, call in enumerate(calls):
        again = index > 0 and same(call, calls[index - 1])
        number += not again
        if not (again and len(calls) > due):
            found.append((number, call))
    return found


def same(a, b):
    """Whether two trees of plain values are equal to the last bit."""
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    if isinstance(a, list | tuple) and isinstance(b, list | tuple):
        return len(a) == len(b) and all(map(same, a, b))
    return type(a) is type(b) and not isinstance(a, np.ndarray | dict | list | tuple) and a == b


def script(case):
    """The scripted results (loss, grads, h_T), or None where `loss_and_grads` is a network."""
    fixture = case.inputs["loss_and_grads"]
    return fixture.params["results"] if isinstance(fixture, Fixture) and fixture.kind == "scripted" else None


def numbers(value):
    """Ids as a list of integers, or None for anything but one row of integers."""
    try:
        array = np.asarray(value)
    except ValueError:
        return None
    return array.tolist() if array.ndim == 1 and (array.dtype.kind in "iu" or not array.size) else None


def starts(case):
    """The position in the text at which the chunk of each update begins."""
    N, T, p = len(case.inputs["ids"]), case.inputs["seq_length"], 0
    for _ in range(case.inputs["num_updates"]):
        p = p if p + T + 1 <= N else 0
        yield p
        p += T


def restarts(case, calls):
    """Whether each call starts the text again, which its own inputs show: they are those of the first call."""
    inputs = [numbers(call.get("inputs")) for call in calls]
    due = [p == 0 for p in starts(case)]
    return [x == inputs[0] if x else due[min(k, len(due) - 1)] for k, x in enumerate(inputs)]


def weights_problem(case, params):
    """The first thing wrong with the form of the weights, or None."""
    if not isinstance(params, dict):
        return f"a dict with the keys {', '.join(AXES)}; got {describe(params)}"
    for name in AXES:
        if name not in params:
            return f"a dict with the key {name!r}, which is missing"
    for name in params:
        if name not in AXES:
            return f"a dict without the key {describe(name)}"
    sizes = {"V": case.inputs["vocab_size"], "H": case.inputs["hidden_size"]}
    for name, axes in AXES.items():
        shape, got = tuple(sizes[axis] for axis in axes), params[name]
        if not (isinstance(got, np.ndarray) and got.shape == shape and got.dtype == np.float64):
            return (
                f"{name} as float64 {shape}, that is ({', '.join(axes)}{',' * (len(axes) == 1)}); got {describe(got)}"
            )
        if not np.isfinite(got).all():
            return f"finite numbers; {name} holds {got[~np.isfinite(got)][0]}"
    return None


def matrices_zero(params):
    """Whether all three matrices start at zero."""
    return not any(params[name].any() for name in ("W_xh", "W_hh", "W_hy"))


def same_weights(params):
    """Whether the three matrices give every unit of the state the same weights, which zeros do for a single unit too.

    Then only the biases, if anything, make the units differ.
    """
    if matrices_zero(params):
        return True
    W = params["W_hh"]
    if len(W) == 1:
        return False
    outside = W[~np.eye(len(W), dtype=bool)]
    rows = [params["W_xh"].T, params["W_hy"], np.diag(W)[:, None]]
    return all((part == part[0]).all() for part in (*rows, outside))


def alike(params):
    """Whether several units start with the same weights and the same bias, so that no update makes them differ."""
    return len(params["b_h"]) > 1 and same_weights(params) and bool((params["b_h"] == params["b_h"][0]).all())


def largest(case):
    """A result and calls of the right size, and as many calls as the judge makes sense of: REPEATED for each update,
    of which all but one are the same, or one for each chunk of as many epochs as there should be updates.
    """
    V, H, T = (case.inputs[name] for name in ("vocab_size", "hidden_size", "seq_length"))
    due, sizes = case.inputs["num_updates"], {"V": V, "H": H}
    params = {name: np.zeros([sizes[axis] for axis in axes]) for name, axes in AXES.items()}
    call = {"params": params, "inputs": np.zeros(T), "targets": np.zeros(T), "h_0": np.zeros((1, H))}
    most = due * max(REPEATED, (len(case.inputs["ids"]) - 1) // T)
    return Observation((np.zeros(due), params), calls={"loss_and_grads": [call] * most, "rng": ["drawn"]})


# Judging --------------------------------------------------------------------------------------------------------------


def judge(case, observation):
    """The first thing wrong with each of: the chunks, the state, the weights, their updates, the losses."""
    numbered = turns(case, observation)
    calls = [call for _, call in numbered]
    if not calls:
        return [Problem("judge", "one call of `loss_and_grads` for each update; it was never called")]
    answers = [script(case)[min(n, len(script(case)) - 1)] for n, _ in numbered] if script(case) else None
    result = observation.result
    whole = isinstance(result, list | tuple) and len(result) == 2
    losses, params = result if whole else (None, None)
    due = case.inputs["num_updates"]
    if answers and len(calls) >= 2 * due:  # no call can be assigned to its update
        return [Problem("judge", updates_text(due, calls))]
    found = [] if whole else [Problem("count", f"2 results, `return losses, params`; got {describe(result)}", "losses")]
    found += chunks_problems(case, calls)
    if answers:
        found += state_problems(case, calls, answers)
    found += start_problems(case, calls, observation)
    if whole:
        text = weights_problem(case, params)
        found += [Problem("judge", f"params: {text}", "params")] if text else []
    if answers:
        found += update_problems(case, calls, answers, params)
    if whole:
        exactly = bool(answers) and len(calls) == due
        mean = np.array([answer[0] for answer in answers]) if exactly else np.zeros(due)
        found += losses_problems(mean, losses, exactly)
    return found if answers else found + learning_problems(case, calls)


def chunks_problems(case, calls):
    ids, T = case.inputs["ids"].tolist(), case.inputs["seq_length"]
    for k, (p, call) in enumerate(zip(starts(case), calls, strict=False)):
        due = {"inputs": ids[p : p + T], "targets": ids[p + 1 : p + T + 1]}
        if any(numbers(call.get(name)) != expected for name, expected in due.items()):
            shown = [f"{name} = {place}, {short(due[name])}" for name, place in slices(p, T).items()]
            got = [f"{name} {short(call.get(name))}" for name in due]
            restart = ", where the text starts again" if k and p == 0 else ""
            text = f"update {k}{restart}: {', '.join(shown)}; got {', '.join(got)}"
            return [Problem("judge", text, "chunks")]
    return []


def slices(p, T):
    return {"inputs": f"ids[{p}:{p + T}]", "targets": f"ids[{p + 1}:{p + T + 1}]"}


def short(value):
    """Ids as a report shows them."""
    got = numbers(value)
    return describe(value) if got is None else f"{got}" if len(got) <= 12 else f"[{str(got[:12])[1:-1]}, …]"


def state_problems(case, calls, answers):
    zeros, restart = np.zeros((1, case.inputs["hidden_size"])), restarts(case, calls)
    for k, call in enumerate(calls):
        due, got = (zeros if restart[k] else answers[k - 1][2]), call.get("h_0")
        if not (isinstance(got, np.ndarray) and got.shape == due.shape and got.dtype.kind in "fiu"):
            return [Problem("judge", f"update {k}: h_0 as float64 {due.shape}; got {describe(got)}", "state")]
        if not same(got.astype(float) + 0.0, due + 0.0):
            what = "zeros, because the text starts again" if restart[k] else f"the h_T that update {k - 1} returned"
            return [Problem("judge", f"update {k}: h_0 = {what}; got {state_name(got, k, answers)}", "state")]
    return []


def state_name(got, k, answers):
    if not got.any():
        return "zeros"
    names = [f"the h_T of update {j}" for j in range(k) if same(got, answers[j][2])]
    return names[-1] if names else "something else"


def start_problems(case, calls, observation):
    first = calls[0].get("params")
    text = weights_problem(case, first)
    if text:
        return [Problem("judge", f"the initial weights: {text}", "params")]
    if matrices_zero(first):
        text = "matrices that start from small random numbers; W_xh, W_hh and W_hy all start at zero"
    elif same_weights(first):
        text = "matrices that start from small random numbers; yours give every unit the same weights"
    elif "drawn" not in observation.calls.get("rng", []):
        text = "initial weights that are drawn from `rng`; nothing was drawn from it"
    return [Problem("judge", text, "params")] if text else []


def update_problems(case, calls, answers, params):
    due = case.inputs["num_updates"]
    if len(calls) != due:
        return [Problem("judge", updates_text(due, calls), "updates")]
    weights = path(case, calls, params)
    if weights is None:
        text = "weights of the right form in every update, so that the steps can be checked"
        return [Problem("judge", text, "updates")]
    expected = predicted(case, weights, answers, adagrad)
    for k, (after, at) in enumerate(zip(expected, weights[1:], strict=True)):
        for name in AXES:
            problem = compare(Output(name, AXES[name]), after[name], at[name], DEFAULT_TOLERANCE)
            if problem is not None:
                return [Problem("values", f"{name} after update {k}: {problem.text}", "updates")]
    return []


def updates_text(due, calls):
    was = "was 1 call" if len(calls) == 1 else f"were {len(calls)} calls"
    return f"{due} updates, with one call of `loss_and_grads` each; there {was}"


def losses_problems(due, losses, exactly):
    """What is wrong with the returned losses. Where the expected values are not known, only their form is checked."""
    output = Output("losses", ("U",))
    if exactly or not isinstance(losses, np.ndarray) or losses.shape != due.shape or losses.dtype != due.dtype:
        problem = compare(output, due, losses, DEFAULT_TOLERANCE)
        return [problem] if problem else []
    return []


def learning_problems(case, calls):
    """Whether the network predicts its word at the last update. Units that start alike do not count."""
    first = calls[0].get("params")
    if weights_problem(case, first) is None and alike(first):
        text = "a network of 16 different units; yours start alike and stay alike, which makes them one"
        return [Problem("judge", text, "learning")]
    last, loss = calls[-1], np.inf
    with suppress(Exception):  # the last call may have no loss
        if weights_problem(case, last["params"]) is None and len(last["inputs"]) == case.inputs["seq_length"]:
            loss = float(NETWORK(eps=1e-5)(**last)[0])
    if loss < LEARNT:
        return []
    text = f"the loss at the last update: got {loss:.3g}, expected less than {LEARNT} nats"
    return [Problem("values", text, "learning")]


# Updates --------------------------------------------------------------------------------------------------------------


def path(case, calls, params):
    """The weights at each call and those that came back, or None where some have the wrong form."""
    weights = [*(call.get("params") for call in calls), params]
    return None if any(weights_problem(case, w) for w in weights) else weights


def adagrad(grads, history, lr):
    root = np.sqrt(sum(g**2 for g in history))
    return -lr * grads / (root + EPS)


def predicted(case, weights, answers, rule):
    """The weights after each step, from those before it. The step is `rule(grads, history, lr)`."""
    for k, at in enumerate(weights[:-1]):
        steps = {n: rule(answers[k][1][n], [a[1][n] for a in answers[: k + 1]], case.inputs["lr"]) for n in AXES}
        yield {name: at[name] + steps[name] for name in AXES}


def goes_by(rule):
    """Whether all steps follow another rule than Adagrad's."""

    def matches(case, calls, answers, result):
        weights = path(case, calls, result[1])
        return weights is not None and all(
            close(expected[name], at[name], DEFAULT_TOLERANCE).all()
            for expected, at in zip(predicted(case, weights, answers, rule), weights[1:], strict=True)
            for name in AXES
        )

    return seen("updates", matches)


def seen(part, matches):
    """A match for cases in which this part is wrong: there `matches(case, calls, answers, result)` decides.

    Where `loss_and_grads` is a network, its results are not known, so a wrong update shows only in that the network
    does not learn. A state at wrong chunks is not examined, because the chunks have to be fixed first.
    """

    def match(case, observation):
        numbered, results = turns(case, observation), script(case)
        result, wrong = observation.result, {problem.output for problem in judge(case, observation)}
        if not (numbered and isinstance(result, list | tuple) and len(result) == 2):
            return False
        calls = [call for _, call in numbered]
        if len(calls) != case.inputs["num_updates"]:
            return False
        if results is None and part == "updates":
            return wrong == {"learning"}
        if part == "state" and "chunks" in wrong:
            return False
        answers = [results[min(n, len(results) - 1)] for n, _ in numbered] if results else []
        return part in wrong and matches(case, calls, answers, result)

    return match


def _one_number(case, calls, answers, result, shared):
    """Whether one number is kept instead of one for each weight: one for each array or, if `shared`, one for all."""
    weights = path(case, calls, result[1])
    if weights is None:
        return False
    return any(
        all(
            close(at[n] - case.inputs["lr"] * grads[n] / (np.sqrt(number[n]) + EPS), after[n], DEFAULT_TOLERANCE).all()
            for (at, after), (_, grads, _), number in zip(pairwise(weights), answers, numbers_kept, strict=True)
            for n in AXES
        )
        for numbers_kept in _kept(answers, tuple(weights[0]), shared)
    )


def _kept(answers, order, shared):
    """The ways to keep such numbers, each as one for each array in each update.

    Squares are summed or averaged; a shared number is updated once per update, or by each array in turn.
    """
    for measure, names, in_turn in product((np.sum, np.mean), {order, tuple(AXES)}, (False, True)):
        kept, numbers = dict.fromkeys(AXES, 0.0), []
        for _, grads, _ in answers:
            now = {}
            for name in names:
                kept[name] += measure(grads[name] ** 2)
                now[name] = sum(kept.values()) if shared else kept[name]
            numbers.append(dict.fromkeys(AXES, sum(kept.values())) if shared and not in_turn else now)
        yield numbers


def _last_update_missing(case, calls, answers, result):
    weights = path(case, calls, result[1])
    if weights is None or len(weights) < 3:
        return False
    *before, last = list(zip(predicted(case, weights, answers, adagrad), weights[1:], strict=True))
    right = all(close(due[n], at[n], DEFAULT_TOLERANCE).all() for due, at in before for n in AXES)
    return right and all(same(last[1][n], weights[-2][n]) for n in AXES)


def _biases_not_updated(case, calls, answers, result):
    weights = path(case, calls, result[1])
    biases = ("b_h", "b_y")
    if weights is None or not all(same(at[n], weights[0][n]) for at in weights for n in biases):
        return False
    steps = zip(predicted(case, weights, answers, adagrad), weights[1:], strict=True)
    matrices = [n for n in AXES if n not in biases]
    return all(close(due[n], at[n], DEFAULT_TOLERANCE).all() for due, at in steps for n in matrices)


def _some_arrays_not_updated(case, calls, answers, result):
    """Whether some arrays, other than just the biases, stay as they are, and all others are updated by Adagrad."""
    weights = path(case, calls, result[1])
    if weights is None:
        return False
    still = {n for n in AXES if all(same(at[n], weights[0][n]) for at in weights)}
    steps = list(zip(predicted(case, weights, answers, adagrad), weights[1:], strict=True))
    moving = AXES.keys() - still
    right = all(close(due[n], at[n], DEFAULT_TOLERANCE).all() for due, at in steps for n in moving)
    return right and bool(moving) and bool(still) and still != {"b_h", "b_y"}


# Chunks and state -----------------------------------------------------------------------------------------------------


def chunks_go(fits, move, cut=0):
    """Whether the chunks are those of a loop with another rule: `fits(p, T, N)`, `move(T)`; `cut` ids are missing."""

    def matches(case, calls, answers, result):
        ids, T = case.inputs["ids"].tolist(), case.inputs["seq_length"]
        p = 0
        for call in calls:
            p = p if fits(p, T, len(ids)) else 0
            targets = ids[p + 1 : p + 1 + T - cut]
            inputs = [ids[p : p + T - cut], ids[p : p + len(targets)]]  # at the end a slice may be one longer
            if numbers(call.get("inputs")) not in inputs or numbers(call.get("targets")) != targets:
                return False
            p += move(T)
        return True

    return seen("chunks", matches)


def _last_chunk_kept(case, calls, answers, result):
    """Whether incomplete chunks at the end of the text are used: without what is missing, or with one id in its place.

    A loop may continue as long as one id is left, or an id and its target, or all inputs of a chunk.
    """
    ids, T = case.inputs["ids"].tolist(), case.inputs["seq_length"]
    N = len(ids)
    for fits in (lambda p: p < N, lambda p: p + 1 < N, lambda p: p + T <= N):
        p, fitting = 0, True
        for call in calls:
            p = p if fits(p) else 0
            got, targets = (numbers(call.get(name)) for name in ("inputs", "targets"))
            due = ids[p + 1 : p + 1 + T]
            fitting &= got in (ids[p : p + T], ids[p : p + len(due)]) and targets is not None
            fitting = fitting and (targets == due or (targets[:-1] == due and len(targets) == len(got)))
            p += T
        if fitting:
            return True
    return False


def _cache_reset(case, calls, answers, result):
    """Whether the caches start from zeros where the text starts again."""
    weights, begins = path(case, calls, result[1]), 0
    if weights is None:
        return False
    for k, (restart, (at, after)) in enumerate(zip(restarts(case, calls), pairwise(weights), strict=True)):
        begins = k if restart else begins
        for name in AXES:
            grads = [answer[1][name] for answer in answers[begins : k + 1]]
            due = at[name] + adagrad(grads[-1], grads, case.inputs["lr"])
            if not close(due, after[name], DEFAULT_TOLERANCE).all():
                return False
    return True


def _targets_not_shifted(case, calls, answers, result):
    ids, T = case.inputs["ids"].tolist(), case.inputs["seq_length"]
    return all(
        numbers(call.get("inputs")) == numbers(call.get("targets")) == ids[p : p + T]
        for p, call in zip(starts(case), calls, strict=True)
    )


def states(rule):
    """Whether every h_0 is in `rule(k, restart, h, zeros)`; h holds every h_T, `restart` which calls start again."""

    def matches(case, calls, answers, result):
        h, restart = [answer[2] for answer in answers], restarts(case, calls)
        zeros = np.zeros((1, case.inputs["hidden_size"]))
        return all(
            isinstance(call.get("h_0"), np.ndarray)
            and any(same(call["h_0"] + 0.0, due + 0.0) for due in rule(k, restart, h, zeros))
            for k, call in enumerate(calls)
        )

    return seen("state", matches)


def late(k, restart, h, zeros):
    """The h_T of an earlier chunk. Just after a start of the text, where there is none: zeros or the right one."""
    if restart[k]:
        return [zeros]
    return [zeros, h[k - 1]] if restart[k - 1] else h[: k - 1]


MATCHES = {
    "targets_not_shifted": seen("chunks", _targets_not_shifted),
    "chunks_one_short": chunks_go(lambda p, T, N: p + T + 1 <= N, lambda T: T, cut=1),
    "last_chunk_kept": seen("chunks", _last_chunk_kept),
    "full_last_chunk_dropped": chunks_go(lambda p, T, N: p + T + 1 < N, lambda T: T),
    "chunks_overlap": chunks_go(lambda p, T, N: p + T + 1 <= N, lambda T: 1),
    "one_id_skipped": chunks_go(lambda p, T, N: p + T + 1 <= N, lambda T: T + 1),
    "always_the_first_chunk": chunks_go(lambda p, T, N: True, lambda T: 0),
    "state_reset_at_each_chunk": states(lambda k, restart, h, zeros: [zeros]),
    "state_never_reset": states(lambda k, restart, h, zeros: [h[k - 1] if k else zeros]),
    "h_T_of_an_earlier_chunk": states(late),
    "params_not_updated": goes_by(lambda grads, history, lr: 0 * grads),
    "step_added": goes_by(lambda grads, history, lr: -adagrad(grads, history, lr)),
    "plain_gradient_descent": goes_by(lambda grads, history, lr: -lr * grads),
    "cache_not_kept": goes_by(lambda grads, history, lr: adagrad(grads, [grads], lr)),
    "cache_reset_with_the_text": seen("updates", _cache_reset),
    "root_left_out": goes_by(lambda grads, history, lr: -lr * grads / (sum(g**2 for g in history) + EPS)),
    "old_cache_used": goes_by(
        lambda grads, history, lr: -lr * grads / (np.sqrt(sum((g**2 for g in history[:-1]), 0 * grads)) + EPS)
    ),
    "eps_inside_the_root": goes_by(lambda grads, history, lr: -lr * grads / np.sqrt(sum(g**2 for g in history) + EPS)),
    "one_cache_for_all": seen("updates", lambda *story: _one_number(*story, shared=True)),
    "one_number_for_each_array": seen("updates", lambda *story: _one_number(*story, shared=False)),
    "gradients_clipped": lambda case, observation: any(
        goes_by(lambda grads, history, lr, c=c: adagrad(grads.clip(-c, c), [g.clip(-c, c) for g in history], lr))(
            case, observation
        )
        for c in (1, 5)
    ),
    "last_update_missing": seen("updates", _last_update_missing),
    "biases_not_updated": seen("updates", _biases_not_updated),
    "some_arrays_not_updated": seen("updates", _some_arrays_not_updated),
}


def _starts(matches):
    """A match by the initial weights: `matches(params, drawn)`, drawn telling whether `rng` was used."""

    def match(case, observation):
        calls = [call for _, call in turns(case, observation)]
        first = calls[0].get("params") if calls else None
        drawn = bool(observation.calls.get("rng"))
        return weights_problem(case, first) is None and bool(matches(first, drawn))

    return match


def _zero(params, drawn):
    return matrices_zero(params) and not params["b_h"].any()


def _alike(params, drawn):
    """A single unit resembles no other. There it shows in that nothing was drawn, or in matrices of zeros."""
    if _zero(params, drawn):
        return False
    return alike(params) or (len(params["b_h"]) == 1 and (matrices_zero(params) or not drawn))


def _only_biases_random(params, drawn):
    if len(params["b_h"]) == 1:
        return params["b_h"].any()
    return same_weights(params) and not alike(params)


def _rng_not_used(params, drawn):
    return not drawn and not same_weights(params)


def _losses_summed(case, calls, answers, result):
    due, losses = np.array([answer[0] for answer in answers]), result[0]
    if not isinstance(losses, np.ndarray) or losses.shape != due.shape or losses.dtype != due.dtype:
        return False
    sums = (due * case.inputs["seq_length"], np.cumsum(due))
    return any(close(total, losses, DEFAULT_TOLERANCE).all() for total in sums)


def _losses_smoothed(case, calls, answers, result):
    """Whether the losses are running means: of all updates so far, or exponential ones from one of several starts."""
    due, losses = np.array([answer[0] for answer in answers]), result[0]
    if not isinstance(losses, np.ndarray) or losses.shape != due.shape or losses.dtype != due.dtype:
        return False
    uniform = np.log(case.inputs["vocab_size"])
    ways = [np.cumsum(due) / np.arange(1, len(due) + 1)]
    for keep, start in product((0.9, 0.99, 0.999), (due[0], uniform, uniform * case.inputs["seq_length"])):
        smooth, means = start, []
        for loss in due:
            smooth = keep * smooth + (1 - keep) * loss
            means.append(smooth)
        ways.append(np.array(means))
    return any(close(way, losses, DEFAULT_TOLERANCE).all() for way in ways)


def _updates_as_epochs(case, observation):
    """Whether there are as many epochs, passes through the whole text, as there should be updates."""
    calls = [call for _, call in turns(case, observation)]
    ids, T, due = case.inputs["ids"].tolist(), case.inputs["seq_length"], case.inputs["num_updates"]
    chunks = [ids[p : p + T] for p in range(0, len(ids) - T, T)]
    inputs = [numbers(call.get("inputs")) for call in calls]
    return len(chunks) > 1 and inputs == chunks * due


def _loss_after_the_step(case, observation):
    """Whether there are two calls in a row for each chunk, the second with the weights of the next update."""
    calls = [call for _, call in turns(case, observation)]
    before, after = calls[::2], calls[1::2]
    return (
        len(calls) == 2 * case.inputs["num_updates"]
        and all(
            same(a.get(k), b.get(k)) for a, b in zip(before, after, strict=True) for k in ("inputs", "targets", "h_0")
        )
        and all(same(a.get("params"), b.get("params")) for a, b in zip(after, before[1:], strict=False))
    )


MATCHES |= {
    "updates_as_epochs": _updates_as_epochs,
    "loss_after_the_step": _loss_after_the_step,
    "matrices_and_b_h_zero": _starts(_zero),
    "units_start_alike": _starts(_alike),
    "only_biases_random": _starts(_only_biases_random),
    "rng_not_used": _starts(_rng_not_used),
    "losses_summed": seen("losses", _losses_summed),
    "losses_smoothed": seen("losses", _losses_smoothed),
}
