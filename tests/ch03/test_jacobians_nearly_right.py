"""Work on the Jacobians of chapter 03 that no spec names.

What is nearly right must fail and get no wrong name: beside each stands the diagnosis that is true of it, or None.
What is right in another way must pass.
"""

from functools import reduce

import numpy as np
import pytest

from tests.conftest import exercise
from tests.loops import for_each
from tests.nearly_right import fails_keeping, passes


def J(h, W):
    return np.diag(1 - h**2) @ W.T


# step_jacobian -------------------------------------------------------------------------------------------------------

WRONG_STEPS = {
    "W @ derivative": (lambda h, W: W @ (1 - h**2), "summed_over_a_unit"),
    "np.dot, not transposed": (lambda h, W: np.dot(1 - h**2, W), "summed_over_a_unit"),
    "the gradient of the sum": (lambda h, W: J(h, W).sum(axis=0), "summed_over_a_unit"),
    "an outer product": (lambda h, W: np.outer(1 - h**2, W.sum(axis=0)), None),
    "a diagonal of the product": (lambda h, W: np.diag(J(h, W)), None),
    "negated": (lambda h, W: -J(h, W), "sign"),
    "doubled": (lambda h, W: 2 * J(h, W), "constant_factor"),
    "float32": (lambda h, W: J(h, W).astype("f4"), "float32"),
    "the pre-activation squared": (lambda h, W: np.diag(1 - np.arctanh(h) ** 2) @ W.T, None),
    "one step too many": (lambda h, W: np.diag(1 - np.tanh(h @ W) ** 2) @ W.T, "another_step_computed"),
    "the state as the derivative": (lambda h, W: np.diag(h) @ W.T, "another_derivative"),
    "a row of derivatives": (lambda h, W: (1 - h**2).reshape(1, -1) * W.T, "derivative_multiplies_columns"),
    "a column without transpose": (lambda h, W: (1 - h**2).reshape(-1, 1) * W, "W_hh_not_transposed"),
    "transposed, not squared": (lambda h, W: (1 - h) * W, "derivative_not_squared"),
    "transposed, tanh again": (lambda h, W: W @ np.diag(1 - np.tanh(h) ** 2), "tanh_taken_again"),
    "identity minus a diagonal": (lambda h, W: (np.eye(len(h)) - np.diag(h)) @ W.T, "derivative_not_squared"),
    "one minus a diagonal, squared": (lambda h, W: (1 - np.diag(h) ** 2) @ W.T, "one_minus_a_diagonal_matrix"),
    "no parentheses": (lambda h, W: 1 - (h**2)[:, None] * W.T, "derivative_without_parentheses"),
    "the logistic's": (lambda h, W: (h * (1 - h))[:, None] * W.T, "another_derivative"),
    "both diagonals": (lambda h, W: J(h, W) @ np.diag(1 - h**2), None),
    "a residual": (lambda h, W: np.eye(len(h)) + J(h, W), None),
    "relu": (lambda h, W: np.diag(h > 0) @ W.T, None),
    "inverse": (lambda h, W: np.linalg.inv(J(h, W)), None),
    "the weights alone": (lambda h, W: W, "derivative_left_out"),
    "a vector": (lambda h, W: 1 - h**2, None),
    "changes W_hh": (lambda h, W: W.__imul__(1 - h**2).T, None),
}


def by_name(function, *names):
    return lambda **inputs: function(*(inputs[name] for name in names))


@for_each("name", WRONG_STEPS)
def test_a_nearly_right_step_jacobian(name):
    function, allowed = WRONG_STEPS[name]
    fails_keeping("step_jacobian", by_name(function, "h_t", "W_hh"), allowed)


RIGHT_STEPS = {
    "einsum": lambda h, W: np.einsum("i,ji->ij", 1 - h * h, W),
    "np.multiply of columns": lambda h, W: np.multiply(W, 1 - h**2).T,
    "np.dot": lambda h, W: np.dot(np.diagflat(1 - np.square(h)), np.transpose(W)),
    "reshape": lambda h, W: (1 - h**2).reshape(-1, 1) * W.T,
    "identity minus": lambda h, W: (np.eye(len(h)) - np.diag(h) @ np.diag(h)) @ W.T,
    "hyperbolic": lambda h, W: (W / np.cosh(np.arctanh(h)) ** 2).T,
    "rows in a list": lambda h, W: np.array([(1 - h[i] ** 2) * W[:, i] for i in range(len(h))]),
    "Fortran order": lambda h, W: np.asfortranarray(J(h, W)),
}


@for_each("name", RIGHT_STEPS)
def test_a_right_step_jacobian_passes_however_it_is_written(name):
    passes("step_jacobian", by_name(RIGHT_STEPS[name], "h_t", "W_hh"))


# jacobian_product ----------------------------------------------------------------------------------------------------


def loop(factor=J, rows=lambda k, t: range(k + 1, t + 1), left=True, row=lambda s: s):
    def student(h, W_hh, k, t):
        product = np.eye(h.shape[1])
        for s in rows(k, t):
            J_s = factor(h[row(s)], W_hh)
            product = J_s @ product if left else product @ J_s
        return product

    return student


def from_the_first_factor(h, W_hh, k, t):
    product = J(h[k + 1], W_hh)
    for s in range(k + 2, t + 1):
        product = J(h[s], W_hh) @ product
    return product


def from_the_last_factor(h, W_hh, k, t):
    product = J(h[t], W_hh)
    for s in range(t - 1, k, -1):
        product = product @ J(h[s], W_hh)
    return product


def returns_in_the_loop(h, W_hh, k, t):
    product = np.eye(len(W_hh))
    for s in range(k + 1, t + 1):
        return J(h[s], W_hh) @ product
    return product


def times_equals(h, W_hh, k, t):
    product = np.eye(len(W_hh))
    for s in range(k + 1, t + 1):
        product *= J(h[s], W_hh)
    return product


def descending(stop):
    return {"rows": stop, "left": False}


right_product = loop()
KT, REST = ("k = t",), ("k < t",)

WRONG_PRODUCTS = {
    "reversed": (loop(left=False), "order_reversed", KT),
    "descending, on the left": (loop(rows=lambda k, t: range(t, k, -1)), "order_reversed", KT),
    "reversed and transposed": (lambda h, W_hh, k, t: loop(left=False)(h, W_hh, k, t).T, "factors_transposed", KT),
    "reversed, W_hh as it is": (loop(lambda h, W: np.diag(1 - h**2) @ W, left=False), "order_reversed", KT),
    "reversed, columns": (loop(lambda h, W: (1 - h**2) * W.T, left=False), "order_reversed", KT),
    "reversed, one row early": (loop(rows=lambda k, t: range(k, t), left=False), "order_reversed", KT),
    "transposed": (lambda h, W_hh, k, t: right_product(h, W_hh, k, t).T, "jacobian_transposed", KT),
    "the product of column vectors": (loop(lambda h, W: W * (1 - h**2), left=False), "jacobian_transposed", KT),
    "factors transposed": (loop(lambda h, W: J(h, W).T), "factors_transposed", KT),
    "counted from 1": (loop(row=lambda s: s - 1), "h_one_step_early", KT),
    "descending from t - 1 to k": (
        loop(**descending(lambda k, t: range(t - 1, k - 1, -1))),
        "h_one_step_early",
        KT,
    ),
    "descending from t to k": (loop(**descending(lambda k, t: range(t, k - 1, -1))), "one_factor_too_many", ()),
    "descending from t to k + 2": (loop(**descending(lambda k, t: range(t, k + 1, -1))), "first_factor_left_out", KT),
    "descending from t - 1": (loop(**descending(lambda k, t: range(t - 1, k, -1))), "last_factor_left_out", KT),
    "all rows up to t": (loop(rows=lambda k, t: range(t + 1)), None, ()),
    "reversed, one too many": (loop(rows=lambda k, t: range(k, t + 1), left=False), "no_identity", ()),
    "from the first factor": (from_the_first_factor, "no_identity", REST),
    "from the last factor": (from_the_last_factor, "no_identity", REST),
    "reduce without a start": (
        lambda h, W_hh, k, t: reduce(np.matmul, [J(h[s], W_hh) for s in range(t, k, -1)]),
        "no_identity",
        REST,
    ),
    "multi_dot": (lambda h, W_hh, k, t: np.linalg.multi_dot([J(h[s], W_hh) for s in range(t, k, -1)]), None, ()),
    "returns in the loop": (returns_in_the_loop, "only_one_factor", KT),
    "times equals": (times_equals, "multiplied_entry_by_entry", KT),
    "ends swapped": (loop(rows=lambda k, t: range(t + 1, k + 1)), "identity_always", KT),
    "a sum": (
        lambda h, W_hh, k, t: sum([J(h[s], W_hh) for s in range(k + 1, t + 1)], np.zeros(W_hh.shape)),
        "factors_added",
        (),
    ),
    "a power": (lambda h, W_hh, k, t: np.linalg.matrix_power(J(h[t], W_hh), t - k), "same_state_for_all_factors", KT),
    "a power of W_hh": (lambda h, W_hh, k, t: np.linalg.matrix_power(W_hh.T, t - k), "derivative_left_out", KT),
    "derivatives first, then a power": (
        lambda h, W_hh, k, t: (
            np.diag(np.prod(1 - h[k + 1 : t + 1] ** 2, axis=0)) @ np.linalg.matrix_power(W_hh.T, t - k)
        ),
        "derivatives_and_weights_apart",
        KT,
    ),
    "a power entry by entry": (lambda h, W_hh, k, t: J(h[t], W_hh) ** (t - k), None, ()),
    "the logistic's derivative": (loop(lambda h, W: np.diag(h * (1 - h)) @ W.T), None, KT),
    "the gradient of the sum": (lambda h, W_hh, k, t: right_product(h, W_hh, k, t).sum(0), "after: sum over H", ()),
    "a norm": (lambda h, W_hh, k, t: np.linalg.norm(right_product(h, W_hh, k, t), 2), None, ()),
    "negated": (lambda h, W_hh, k, t: -right_product(h, W_hh, k, t), "sign", ()),
    "a list of factors": (lambda h, W_hh, k, t: [J(h[s], W_hh) for s in range(k + 1, t + 1)], None, ()),
}


@for_each("name", WRONG_PRODUCTS)
def test_a_nearly_right_product(name):
    fails_keeping("jacobian_product", *WRONG_PRODUCTS[name])


def backward_as_in_chapter_02(h, W_hh, k, t):
    """One gradient for each unit of h[t], as a batch."""
    dh_next = np.eye(len(W_hh))
    for s in reversed(range(k + 1, t + 1)):
        dh_next = (dh_next * (1 - h[s] ** 2)) @ W_hh.T
    return dh_next


RIGHT_PRODUCTS = {
    "backward, as in chapter 02": backward_as_in_chapter_02,
    "descending, on the right": loop(**descending(lambda k, t: range(t, k, -1))),
    "reduce with a start": lambda h, W_hh, k, t: reduce(
        lambda P, row: J(row, W_hh) @ P, h[k + 1 : t + 1], np.eye(len(W_hh))
    ),
    "the transpose of the reversed transposes": lambda h, W_hh, k, t: (
        loop(lambda h, W: J(h, W).T, left=False)(h, W_hh, k, t).T
    ),
    "a while loop with a case of its own": lambda h, W_hh, k, t: (
        np.identity(len(W_hh)) if k == t else from_the_last_factor(h, W_hh, k, t)
    ),
}


@pytest.mark.parametrize("name", RIGHT_PRODUCTS)
def test_a_right_product_passes_however_it_is_written(name):
    passes("jacobian_product", RIGHT_PRODUCTS[name])


def test_where_the_step_is_wrong_it_is_to_be_fixed_first():
    logistic, _, _ = WRONG_PRODUCTS["the logistic's derivative"]
    verdict = exercise("jacobian_product").verdict(logistic, wrong_needs=("step_jacobian",))
    assert verdict.diagnosis.id == "needs"


# gradient_norms_by_lag -----------------------------------------------------------------------------------------------


def back(d, h, W, t, dh_T):
    return (d * (1 - h[:, t] ** 2)) @ W.T


def norms(norm=np.linalg.norm, back=back):
    def student(dh_T, h, W_hh):
        found, dh = [], dh_T
        for t in reversed(range(h.shape[1])):
            found.append(norm(dh))
            dh = back(dh, h, W_hh, t, dh_T)
        return np.array(found)

    return student


def after(change):
    return lambda **inputs: change(norms()(**inputs))


def after_the_step(dh_T, h, W_hh):
    found, dh = [], dh_T
    for t in reversed(range(h.shape[1])):
        dh = back(dh, h, W_hh, t, dh_T)
        found.append(np.linalg.norm(dh))
    return np.array(found)


def index_counted_from_the_end(dh_T, h, W_hh):
    found, dh = [np.linalg.norm(dh_T)], dh_T
    for lag in range(1, h.shape[1]):
        dh = (dh * (1 - h[:, -lag - 1] ** 2)) @ W_hh.T
        found.append(np.linalg.norm(dh))
    return np.array(found)


def last_lag_left_out(dh_T, h, W_hh):
    found, dh = np.zeros(h.shape[1]), dh_T
    found[0] = np.linalg.norm(dh)
    for lag in range(1, h.shape[1] - 1):
        dh = back(dh, h, W_hh, h.shape[1] - lag, dh_T)
        found[lag] = np.linalg.norm(dh)
    return found


def changes_dh_T(dh_T, h, W_hh):
    found = []
    for t in reversed(range(h.shape[1])):
        found.append(np.linalg.norm(dh_T))
        dh_T *= 1 - h[:, t] ** 2
        dh_T[:] = dh_T @ W_hh.T
    return np.array(found)


WRONG_NORMS = {
    "mean over the sequences": (norms(lambda d: np.linalg.norm(d, axis=1).mean()), "norm_along_one_axis"),
    "mean over the units": (norms(lambda d: np.linalg.norm(d, axis=0).mean()), "norm_along_one_axis"),
    "a norm for each sequence": (norms(lambda d: np.linalg.norm(d, axis=1)), "norm_along_one_axis"),
    "the first sequence": (lambda dh_T, h, W_hh: norms()(dh_T[:1], h[:1], W_hh), "norm_along_one_axis"),
    "squared": (norms(lambda d: (d**2).sum()), "after: square"),
    "root mean square": (norms(lambda d: np.sqrt((d**2).mean())), "norm_divided_by_the_size"),
    "divided by the batch": (norms(lambda d: np.linalg.norm(d) / len(d)), "averaged"),
    "largest entry": (norms(lambda d: np.abs(d).max()), "another_norm"),
    "spectral": (norms(lambda d: np.linalg.norm(d, ord=2)), "another_norm"),
    "nuclear": (norms(lambda d: np.linalg.norm(d, "nuc")), None),
    "norm of the mean": (norms(lambda d: np.linalg.norm(d.mean(axis=0))), "entries_added_before_the_norm"),
    "a plain sum": (norms(np.sum), "entries_added_before_the_norm"),
    "relative": (after(lambda n: n / n[0]), "divided_by_lag_0"),
    "logarithm": (after(np.log), "after: exponential missing"),
    "reversed": (after(lambda n: n[::-1]), "norms_reversed"),
    "running sum": (after(np.cumsum), "norms_accumulated"),
    "negated": (after(np.negative), "sign"),
    "rounded": (after(lambda n: n.round(2)), "rounded"),
    "a column": (after(lambda n: n[:, None]), "after: squeeze of axis=-1 missing"),
    "one lag too many": (after(lambda n: np.append(n, 0)), "after: all but the last entry along axis=-1 missing"),
    "without the last lag": (after(lambda n: n[:-1]), "after: all but the last entry along lag"),
    "a list": (after(list), None),
    "after the step": (after_the_step, "starts_at_lag_1"),
    "counted from the end": (index_counted_from_the_end, "h_one_step_early"),
    "the last lag left out": (last_lag_left_out, "never_filled"),
    "states forward": (lambda dh_T, h, W_hh: norms()(dh_T, h[:, ::-1], W_hh), "states_read_forward"),
    "always the last state": (
        norms(back=lambda d, h, W, t, dh_T: back(d, h, W, -1, dh_T)),
        "counterfactual: last_step h",
    ),
    "time before batch": (
        lambda dh_T, h, W_hh: norms()(dh_T, h.swapaxes(0, 1).reshape(h.shape), W_hh),
        "counterfactual: mixed h",
    ),
    "accumulated": (norms(back=lambda d, h, W, t, dh_T: d + back(d, h, W, t, dh_T)), "gradient_accumulated"),
    "dh_T again": (norms(back=lambda d, h, W, t, dh_T: dh_T + back(d, h, W, t, dh_T)), "gradient_accumulated"),
    "from dh_T": (norms(back=lambda d, h, W, t, dh_T: back(dh_T, h, W, t, dh_T)), "always_from_dh_T"),
    "no step at all": (norms(back=lambda d, h, W, t, dh_T: d), None),
    "no weights": (norms(back=lambda d, h, W, t, dh_T: d * (1 - h[:, t] ** 2)), "W_hh_left_out"),
    "weights as they are": (norms(back=lambda d, h, W, t, dh_T: back(d, h, W.T, t, dh_T)), "W_hh_not_transposed"),
    "weights first": (
        norms(back=lambda d, h, W, t, dh_T: (d @ W.T) * (1 - h[:, t] ** 2)),
        "derivative_after_the_product",
    ),
    "the bound by the spectral norm": (
        lambda dh_T, h, W_hh: np.linalg.norm(dh_T) * np.linalg.norm(W_hh, 2) ** np.arange(h.shape[1]),
        None,
    ),
    "the norm kept": (
        norms(
            back=lambda d, h, W, t, dh_T: (
                back(d, h, W, t, dh_T) * np.linalg.norm(d) / np.linalg.norm(back(d, h, W, t, dh_T))
            )
        ),
        None,
    ),
    "changes dh_T": (changes_dh_T, None),
}


@for_each("name", WRONG_NORMS)
def test_nearly_right_norms(name):
    fails_keeping("gradient_norms_by_lag", *WRONG_NORMS[name])


def in_columns(dh_T, h, W_hh):
    """Gradients as columns, one for each sequence."""
    columns, found = dh_T.T, []
    for state in np.moveaxis(h, 1, 0)[::-1]:
        found.append(np.hypot.reduce(columns, axis=None))
        columns = W_hh @ ((1 - state**2).T * columns)
    return np.array(found)


def through_chapter_02(dh_T, h, W_hh):
    """Gradients of all states, each state's contribution of its own zero but for the last."""
    dh, found = np.zeros(h.shape), {}
    dh[:, -1], dh_next = dh_T, np.zeros(dh_T.shape)
    T = h.shape[1]
    for t in reversed(range(T)):
        total = dh[:, t] + dh_next
        found[T - 1 - t] = np.linalg.norm(total, "fro")
        dh_next = (total * (1 - h[:, t] ** 2)) @ W_hh.T
    return np.array([found[lag] for lag in range(T)])


RIGHT_NORMS = {
    "in columns": in_columns,
    "through chapter 02": through_chapter_02,
    "raveled": norms(lambda d: np.linalg.norm(d.ravel())),
    "the root of a dot product": norms(lambda d: float(d.ravel() @ d.ravel()) ** 0.5),
    "norms of norms": norms(lambda d: np.linalg.norm(np.linalg.norm(d, axis=1))),
    "the trace": norms(lambda d: np.sqrt(np.trace(d.T @ d))),
}


@pytest.mark.parametrize("name", RIGHT_NORMS)
def test_right_norms_pass_however_they_are_computed(name):
    passes("gradient_norms_by_lag", RIGHT_NORMS[name])
