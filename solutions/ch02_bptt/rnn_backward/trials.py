"""Programs that the spec of `rnn_backward` does not contain; beside each wrong one is what it is told."""

import numpy as np

from grader.spec.trials import Trials

TRIALS = Trials()


def walk(dh, x, h_0, h, W_xh, W_hh, *, da=None, back=None, prev=None, gather=None):
    """The right walk, with hooks for da, for what is passed back, for the state before and for each step's weight."""
    dx, dh_next = np.zeros(x.shape), np.zeros(h_0.shape)
    dW_xh, dW_hh, db_h = np.zeros(W_xh.shape), np.zeros(W_hh.shape), np.zeros(len(W_hh))
    for t in reversed(range(x.shape[1])):
        h_prev = prev(t, h, h_0) if prev else (h[:, t - 1] if t else h_0)
        total = dh[:, t] + dh_next
        da_t = da(t, dh, dh_next, h, h_0) if da else total * (1 - h[:, t] ** 2)
        dx[:, t] = da_t @ W_xh.T
        weight = gather(t, x.shape[1]) if gather else 1
        dW_xh, dW_hh, db_h = (
            dW_xh + weight * x[:, t].T @ da_t,
            dW_hh + weight * h_prev.T @ da_t,
            db_h + weight * da_t.sum(axis=0),
        )
        dh_next = back(t, da_t, total, W_hh, x.shape[1]) if back else da_t @ W_hh.T
    return dx, dh_next, dW_xh, dW_hh, db_h


def hooked(**hooks):
    return lambda **inputs: walk(**inputs, **hooks)


def replaced(**changes):
    """The right results with some replaced by functions of (that result, the inputs)."""
    order = ("dx", "dh_0", "dW_xh", "dW_hh", "db_h")

    def student(dh, x, h_0, h, W_xh, W_hh):
        results = dict(zip(order, walk(dh, x, h_0, h, W_xh, W_hh), strict=True))
        inputs = {"dh": dh, "x": x, "h_0": h_0, "h": h, "W_xh": W_xh, "W_hh": W_hh}
        for name, change in changes.items():
            results[name] = change(results[name], inputs)
        return tuple(results.values())

    return student


def mixed(student, *names):
    """The right results, but these from a wrong function."""
    order = ("dx", "dh_0", "dW_xh", "dW_hh", "db_h")

    def both(**inputs):
        right, wrong = walk(**inputs), student(**inputs)
        return tuple(w if name in names else r for name, r, w in zip(order, right, wrong, strict=True))

    return both


def truncated(steps):
    """The gradient crosses a cut after every so many steps no more."""
    return hooked(back=lambda t, da, total, U, T: da @ U.T * (t % steps != 0))


def last_step_alone(dh, x, h_0, h, W_xh, W_hh):
    """All five of the last step alone; dh_0 as if the last step were the first."""
    da = dh[:, -1] * (1 - h[:, -1] ** 2)
    dx = np.zeros(x.shape)
    dx[:, -1] = da @ W_xh.T
    h_prev = h[:, -2] if x.shape[1] > 1 else h_0
    return dx, da @ W_hh.T, x[:, -1].T @ da, h_prev.T @ da, da.sum(axis=0)


def dh_zeroed(dh, x, h_0, h, W_xh, W_hh):
    results = walk(dh, x, h_0, h, W_xh, W_hh)
    dh[:, :-1] = 0
    return results


REST = {n: {"dx", "dh_0", "dW_xh", "dW_hh", "db_h"} - {n} for n in ("dx", "dh_0", "dW_xh", "dW_hh", "db_h")}


def hooked_sum(**inputs):
    """What comes back is added to what came back before, as the gradients of the weights are."""
    so_far = np.zeros(inputs["h_0"].shape)

    def back(t, da, total, U, T):
        nonlocal so_far
        so_far = so_far + da @ U.T
        return so_far

    return hooked(back=back)(**inputs)


WRONG = {
    # some results, each with a mistake that the spec knows of all
    # two mistakes at once
    "something in dx, dh_0 negative": (
        replaced(dx=lambda g, i: g + 1, dh_0=lambda g, i: -g),
        "sign For dh_0",
        {"dW_xh", "dW_hh", "db_h"},
    ),
    "something in dx, dW_xh and dW_hh transposed": (
        replaced(dx=lambda g, i: g + 1, dW_xh=lambda g, i: g.T, dW_hh=lambda g, i: g.T),
        "weight_gradients_transposed For dW_xh",
        {"dh_0", "db_h"},
    ),
    # slips in the walk
    "the future adds up, in dx alone": (mixed(hooked_sum, "dx"), "dh_next_accumulated For dx", REST["dx"]),
    "dW_hh from da turned": (
        replaced(dW_hh=lambda g, i: g.T.copy()),
        "dW_hh_transposed",
        REST["dW_hh"],
    ),
    "the last dh for dh_0": (replaced(dh_0=lambda g, i: i["dh"][:, -1].copy()), None, REST["dh_0"]),
    "dW_xh from the input after": (
        replaced(dW_xh=lambda g, i: walk(**{**i, "x": np.roll(i["x"], -1, axis=1)})[2]),
        "altered input: early x",
        REST["dW_xh"],
    ),
    # what nothing here knows
    "truncated at two": (truncated(2), None, ()),
    "truncated at three": (truncated(3), None, ()),
    "the last step alone": (last_step_alone, "last_step_only For dW_xh, dW_hh and db_h", ()),
    "the future twice": (hooked(back=lambda t, da, total, U, T: 2 * da @ U.T), "altered input: doubled W_hh", ()),
    "the future halved": (hooked(back=lambda t, da, total, U, T: da @ U.T / 2), None, ()),
    "the future subtracted": (hooked(back=lambda t, da, total, U, T: -da @ U.T), "altered input: negated W_hh", ()),
    "the future clipped": (hooked(back=lambda t, da, total, U, T: (da @ U.T).clip(-0.05, 0.05)), None, ()),
    "slope squared": (hooked(da=lambda t, dh, n, h, h_0: (dh[:, t] + n) * (1 - h[:, t] ** 2) ** 2), None, ()),
    "slope of the first state": (
        hooked(da=lambda t, dh, n, h, h_0: (dh[:, t] + n) * (1 - h[:, 0] ** 2)),
        "altered input: first_step h For dx, dh_0, dW_xh and db_h",
        (),
    ),
    "W_hh squared": (hooked(back=lambda t, da, total, U, T: da @ U.T @ U.T), None, ()),
    "W_hh transposed at odd steps": (hooked(back=lambda t, da, total, U, T: da @ (U if t % 2 else U.T)), None, None),
    "h_0 at every step": (hooked(prev=lambda t, h, h_0: h_0), "dW_hh_from_another_state", REST["dW_hh"]),
    "the first state at every step": (
        hooked(prev=lambda t, h, h_0: h_0 if t == 0 else h[:, 0]),
        "dW_hh_from_another_state",
        REST["dW_hh"],
    ),
    "W_hh in columns": (
        lambda **i: (lambda found: (*found[:3], found[3].T.copy(), found[4]))(
            walk(**i, back=lambda t, da, total, U, T: np.stack([U.T @ row for row in da]))
        ),
        "W_hh_as_in_papers",
        (),
    ),
    "dh of the step before in what comes back": (
        lambda dh, **i: walk(
            dh,
            **i,
            back=lambda t, da, total, U, T: np.einsum("bj,kj->bk", da, U) + (dh[:, t - 1] if t else 0),
        ),
        "dh_added_twice",
        (),
    ),
    "two states before": (
        hooked(prev=lambda t, h, h_0: h[:, t - 2] if t > 1 else h_0),
        "dW_hh_from_another_state",
        REST["dW_hh"],
    ),
    "the state after": (
        hooked(prev=lambda t, h, h_0: h[:, (t + 1) % h.shape[1]]),
        None,
        REST["dW_hh"],
    ),
    "weights of all but the last step": (hooked(gather=lambda t, T: t < T - 1), None, {"dx", "dh_0"}),
    "weights with a discount": (hooked(gather=lambda t, T: 0.9 ** (T - 1 - t)), None, {"dx", "dh_0"}),
    "dh_0 summed over the batch": (
        replaced(dh_0=lambda g, i: g.sum(axis=0)),
        "after: sum over B For dh_0",
        REST["dh_0"],
    ),
    "dx one step late": (replaced(dx=lambda g, i: np.roll(g, 1, axis=1)), "one_step_late For dx", REST["dx"]),
    "dx with zeros in front": (
        replaced(dx=lambda g, i: np.concatenate([0 * g[:, :1], g[:, :-1]], axis=1)),
        "one_step_late For dx",
        REST["dx"],
    ),
    "dx accumulated": (replaced(dx=lambda g, i: g[:, ::-1].cumsum(axis=1)[:, ::-1]), None, REST["dx"]),
    "dx time first": (replaced(dx=lambda g, i: g.swapaxes(0, 1)), "after: axes B and T exchanged For dx", REST["dx"]),
    "db_h negative": (replaced(db_h=lambda g, i: -g), "sign For db_h", REST["db_h"]),
    "dW_hh divided by T": (replaced(dW_hh=lambda g, i: g / i["x"].shape[1]), "averaged For dW_hh", REST["dW_hh"]),
    "dW_hh divided by H": (replaced(dW_hh=lambda g, i: g / len(g)), "averaged For dW_hh", REST["dW_hh"]),
    "all clipped": (lambda **k: tuple(g.clip(-0.1, 0.1) for g in walk(**k)), "cut_off", ()),
    "all float32": (lambda **k: tuple(g.astype("f4") for g in walk(**k)), "float32", ()),
    "four results": (lambda **k: walk(**k)[1:], None, ()),
    "dh changed behind its back": (dh_zeroed, None, ()),
}


def gradient_of_every_state(dh, x, h_0, h, W_xh, W_hh):
    """'Add, never set', with an accumulator for each state: there it is right."""
    g, states = np.concatenate([0 * h_0[:, None], dh], axis=1), np.concatenate([h_0[:, None], h], axis=1)
    da = np.zeros(h.shape)
    for t in reversed(range(x.shape[1])):
        da[:, t] += g[:, t + 1] * (1 - states[:, t + 1] ** 2)
        g[:, t] += da[:, t] @ W_hh.T
    dW_xh, dW_hh = (np.einsum("bti,btj->ij", a, da) for a in (x, states[:, :-1]))
    return da @ W_xh.T, g[:, 0], dW_xh, dW_hh, da.sum(axis=(0, 1))


RIGHT = {
    "a list": lambda **k: list(walk(**k)),
    "two factors": hooked(da=lambda t, dh, n, h, h_0: (dh[:, t] + n) * (1 - h[:, t]) * (1 + h[:, t])),
    "both sources through the slope": hooked(
        da=lambda t, dh, n, h, h_0: dh[:, t] * (1 - h[:, t] ** 2) + n * (1 - h[:, t] ** 2)
    ),
    "one gradient for each state, added to": gradient_of_every_state,
}

TRIALS.all_wrong(WRONG)
TRIALS.all_right(RIGHT)


TRIALS.all_wrong(
    {
        "bias not summed in place": ([(".sum(axis=0)", "")], None, 0.0),
        "an unbound name": ([("dh_next = np.zeros(h_0.shape)", "")], None, 0.0),
        "dx a list": (
            [("dx = np.zeros(x.shape)", "dx = []"), ("dx[:, t] = da_t @ W_xh.T", "dx.insert(0, da_t @ W_xh.T)")],
            None,
            3.0,
        ),
        "integers": ([("np.zeros(x.shape)", "np.zeros(x.shape, dtype=int)")], None, 3.0),
        "two mistakes": (
            [("(dh[:, t] + dh_next)", "dh[:, t]"), ("dW_xh +=", "dW_xh =")],
            "dh_next_not_added For dx, dh_0, dW_hh and db_h",
            0.0,
        ),
        "weights overwritten bias summed": (
            [("dW_xh +=", "dW_xh ="), ("dW_hh +=", "dW_hh =")],
            "overwritten For dW_xh and dW_hh",
            2.0,
        ),
    }
)
