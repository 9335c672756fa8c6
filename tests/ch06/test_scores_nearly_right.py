"""Programs for the notebook `scores` that no spec contains.

A nearly right program must fail and must not be given a false name: beside each is the diagnosis that is true of it,
or None. A program that is right in another style must pass.
"""

import math

import numpy as np
import pytest
import torch

from solutions.ch06_attention.scores import dot_score
from tests.loops import for_each
from tests.nearly_right import Programs, fails, passes

PROGRAMS = Programs()
wrong, right = PROGRAMS.wrong, PROGRAMS.right


# Nearly right: scores ------------------------------------------------------------------------------------------------


@wrong("dot_score", "every_query_with_every_row")
def keys_times_query_transposed(query, keys, scale=False):
    scores = np.matmul(keys, query.transpose())
    return scores / math.sqrt(query.shape[1]) if scale else scores


@wrong("dot_score", "every_query_with_every_row")
def tensordot(query, keys, scale=False):
    return np.tensordot(query, keys, axes=(1, 2)) / (query.shape[1] ** 0.5 if scale else 1)


@wrong("dot_score", "after: squeeze of axis=-1 missing")
def an_axis_left(query, keys, scale=False):
    return keys @ query[:, :, None] / (query.shape[1] ** 0.5 if scale else 1)


@wrong("dot_score", "query_of_another_row")
def multiplied_as_they_are(query, keys, scale=False):
    scores = np.sum(query * keys, axis=-1)
    return scores / np.sqrt(keys.shape[-1]) if scale else scores


@wrong("dot_score", "divided_by_H")
def over_the_size(query, keys, scale=False):
    scores = np.einsum("bh,bsh->bs", query, keys)
    return scores / query.shape[-1] if scale else scores


@wrong("dot_score", "scaled_by_default")
def scaled_unless_false(query, keys, scale=None):
    scores = np.einsum("bh,bsh->bs", query, keys)
    return scores if scale is False else scores / np.sqrt(query.shape[-1])


@wrong("dot_score", "scale_ignored")
def scaled_but_not_returned(query, keys, scale=False):
    scores = np.einsum("bh,bsh->bs", query, keys)
    if scale:
        scores / np.sqrt(query.shape[-1])
    return scores


@wrong("dot_score", "after: softmax along S")
def weights_returned(query, keys, scale=False):
    e = np.exp(dot_score(query, keys, scale))
    return e / e.sum(axis=1, keepdims=True)


@wrong("dot_score", None)
def one_over_the_root_of_all_entries(query, keys, scale=False):
    scores = np.einsum("bh,bsh->bs", query, keys)
    return scores / np.sqrt(query.size) if scale else scores


@wrong("dot_score", None)
def negative_squared_distance(query, keys, scale=False):
    scores = -((keys - query[:, None]) ** 2).sum(axis=2)
    return scores / np.sqrt(query.shape[1]) if scale else scores


@wrong("bilinear_score", "every_query_with_every_row")
def letter_by_letter(query, keys, W):
    return query @ W @ keys.transpose(0, 2, 1)


@wrong("bilinear_score", "W_transposed")
def keys_times_W(query, keys, W):
    return ((keys @ W) @ query[:, :, None])[:, :, 0]


@wrong("bilinear_score", "scaled_by_sqrt_H")
def scaled_like_the_dot(query, keys, W):
    return dot_score(query @ W, keys) / np.sqrt(query.shape[1])


@wrong("bilinear_score", "scaled_by_sqrt_K")
def scaled_by_dot_score(query, keys, W):
    return dot_score(query @ W, keys, scale=True)


@wrong("bilinear_score", "after: tanh")
def tanh_of_the_score(query, keys, W):
    return np.tanh(dot_score(query @ W, keys))


@wrong("bilinear_score", None)
def W_entry_by_entry(query, keys, W):
    return np.array([[np.outer(q, k).sum() + W.sum() for k in row] for q, row in zip(query, keys, strict=True)])


@wrong("additive_score", "tanh_missing")
def linear(query, keys, W_q, W_k, v):
    return (query @ W_q @ v)[:, None] + keys @ W_k @ v


@wrong("additive_score", "v_inside_the_tanh")
def tanh_last(query, keys, W_q, W_k, v):
    return np.tanh((query @ W_q @ v)[:, None] + keys @ W_k @ v)


@wrong("additive_score", "tanh_of_each_part")
def two_layers(query, keys, W_q, W_k, v):
    q, k = np.tanh(query @ W_q), np.tanh(keys @ W_k)
    return (q @ v)[:, None] + k @ v


@wrong("additive_score", "summed_without_v")
def summed(query, keys, W_q, W_k, v):
    return np.sum(np.tanh((query @ W_q)[:, None, :] + keys @ W_k), axis=-1)


@wrong("additive_score", "query_of_another_row")
def no_axis(query, keys, W_q, W_k, v):
    return np.tanh(keys @ W_k + query @ W_q).dot(v)


@wrong("additive_score", "counterfactual: zeros query | zeros W_q")
def keys_alone(query, keys, W_q, W_k, v):
    return np.tanh(keys @ W_k) @ v


@wrong("additive_score", "not_summed")
def an_axis_too_many(query, keys, W_q, W_k, v):
    return np.tanh((query @ W_q)[:, None] + keys @ W_k) * v


@wrong("additive_score", "projections_multiplied")
def dot_of_projections(query, keys, W_q, W_k, v):
    return np.tanh((query @ W_q)[:, None] * (keys @ W_k)) @ v


@wrong("additive_score", "every_query_with_every_row")
def all_rows(query, keys, W_q, W_k, v):
    return np.tanh((query @ W_q)[:, None, None, :] + (keys @ W_k)[None]) @ v


# Nearly right: the softmax -------------------------------------------------------------------------------------------


def softmax(scores, axis=-1):
    e = np.exp(scores - scores.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


@wrong("masked_softmax", "masked_after_the_softmax")
def softmax_then_mask(scores, mask):
    return softmax(scores) * mask


@wrong("masked_softmax", "masked_after_the_softmax")
def softmax_then_zero(scores, mask):
    weights = softmax(scores)
    weights[~mask] = 0
    return weights


@wrong("masked_softmax", "nan_in_a_row_all_masked")
def the_usual_line(scores, mask):
    return softmax(np.where(mask, scores, -np.inf))


@wrong("masked_softmax", "maximum_over_masked_entries")
def masked_and_renormalised(scores, mask):
    weights = softmax(scores) * mask
    return weights / weights.sum(axis=-1, keepdims=True)


@wrong("masked_softmax", "maximum_over_masked_entries")
def masked_and_renormalised_with_care(scores, mask):
    weights = softmax(scores) * mask
    total = weights.sum(axis=-1, keepdims=True)
    return weights / np.where(total > 0, total, 1)


@wrong("masked_softmax", "finite_number_for_minus_infinity")
def minus_a_billion(scores, mask):
    return softmax(np.where(mask, scores, -1e9))


@wrong("masked_softmax", "finite_number_for_minus_infinity")
def minus_a_billion_added(scores, mask):
    return softmax(scores + (1 - mask) * -1e9)


@wrong("masked_softmax", "finite_number_for_minus_infinity")
def minus_a_million_and_any(scores, mask):
    return softmax(np.where(mask, scores, -1e6)) * mask.any(axis=-1, keepdims=True)


@wrong("masked_softmax", "finite_number_for_minus_infinity")
def minus_a_billion_then_mask(scores, mask):
    return softmax(np.where(mask, scores, -1e9)) * mask


@wrong("masked_softmax", "uniform_in_a_row_all_masked")
def the_least_float(scores, mask):
    return softmax(np.where(mask, scores, np.finfo(np.float64).min))


@wrong("masked_softmax", "softmax_of_a_row_all_masked")
def masks_ignored_where_empty(scores, mask):
    return softmax(np.where(mask | ~mask.any(axis=-1, keepdims=True), scores, -np.inf))


@wrong("masked_softmax", "maximum_not_subtracted")
def the_formula(scores, mask):
    e = np.exp(scores) * mask
    return e / e.sum(axis=-1, keepdims=True)


@wrong("masked_softmax", "maximum_not_subtracted")
def the_formula_with_care(scores, mask):
    e = np.where(mask, np.exp(scores), 0)
    total = e.sum(axis=-1, keepdims=True)
    return np.divide(e, total, out=np.zeros_like(e), where=total > 0)


@wrong("masked_softmax", "epsilon_added")
def with_an_epsilon(scores, mask):
    low = np.where(mask, scores, -np.inf)
    e = np.exp(low - np.maximum(low.max(axis=-1, keepdims=True), -1e300))
    return e / (e.sum(axis=-1, keepdims=True) + 1e-8)


@wrong("masked_softmax", "zero_as_a_masked_score")
def scores_times_mask(scores, mask):
    return softmax(scores * mask)


@wrong("masked_softmax", "mask_inverted")
def masked_where_true(scores, mask):
    low = scores.copy()
    low[mask] = -np.inf
    return softmax(low)


@wrong("masked_softmax", "mask_not_used")
def plain(scores, mask):
    return softmax(scores)


@wrong("masked_softmax", "over_the_wrong_axis")
def over_axis_1(scores, mask):
    return np.nan_to_num(softmax(np.where(mask, scores, -np.inf), axis=1))


@wrong("masked_softmax", "over_the_wrong_axis")
def over_axis_0(scores, mask):
    return softmax(np.where(mask, scores, -np.inf), axis=0)


@wrong("masked_softmax", "over_the_whole_array")
def over_everything(scores, mask):
    weights = np.zeros_like(scores)
    if mask.any():
        weights[mask] = softmax(scores[mask])
    return weights


@wrong("masked_softmax", "minus_infinity_times_zero")
def minus_infinity_by_multiplication(scores, mask):
    return softmax(scores + (1.0 - mask) * -np.inf)


@wrong("masked_softmax", "not_normalised")
def exponentials(scores, mask):
    return np.exp(scores) * mask


@wrong("masked_softmax", None)
def in_place(scores, mask):
    scores[~mask] = -np.inf
    return np.nan_to_num(softmax(scores))


# Nearly right: the weighted sum --------------------------------------------------------------------------------------


@wrong("attend", "weights_of_every_row")
def matrix_product(weights, values):
    return np.matmul(weights, values)


@wrong("attend", "values_averaged")
def mean_pooling(weights, values):
    return np.mean(values, axis=1)


@wrong("attend", "mean_in_place_of_sum")
def weighted_mean(weights, values):
    return np.mean(weights[..., None] * values, axis=1)


@wrong("attend", "weights_along_the_entries")
def middle_axis(weights, values):
    return np.sum(weights[:, None, :] * values, axis=1)


@wrong("attend", "largest_weight_alone")
def best_position(weights, values):
    return np.take_along_axis(values, weights.argmax(axis=1)[:, None, None], axis=1)[:, 0]


@wrong("attend", "divided_by_the_sum_of_the_weights")
def numpy_average(weights, values):
    total = weights.sum(axis=1)[:, None]
    return np.einsum("bs,bsk->bk", weights, values) / total


@wrong("attend", "not_summed")
def still_one_for_each_position(weights, values):
    return values * weights[..., np.newaxis]


@wrong("attend", "softmax_of_the_weights")
def softmax_again(weights, values):
    return np.einsum("bs,bsk->bk", softmax(weights), values)


@wrong("attend", "after: squeeze of axis=-2 missing")
def an_axis_of_one(weights, values):
    return weights[:, None] @ values


@wrong("attend", "summed_over_the_entries")
def last_axis(weights, values):
    return (weights[:, :, None] * values).sum(-1)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@for_each(("exercise_id", "function", "diagnosis"), PROGRAMS.nearly_right)
def test_a_nearly_right_one(exercise_id, function, diagnosis):
    fails(exercise_id, function, diagnosis)


# Right, in other styles ----------------------------------------------------------------------------------------------


@right("dot_score")
def with_torch(query, keys, scale=False):
    q, k = torch.from_numpy(query), torch.from_numpy(keys)
    return (k @ q[..., None])[..., 0].mul(q.shape[-1] ** -0.5 if scale else 1).numpy()


@right("dot_score")
def columns_of_each_row(query, keys, scale=False):
    scores = []
    for q, k in zip(query, keys, strict=True):
        scores.append(k.dot(q) / (np.sqrt(q.size) if scale else 1))
    return np.stack(scores)


@right("dot_score")
def diagonal_of_all_pairs(query, keys, scale=False):
    B = len(query)
    scores = (keys @ query.T)[np.arange(B), :, np.arange(B)]
    return scores / np.linalg.norm(np.ones(query.shape[1])) if scale else scores


@right("bilinear_score")
def through_dot_score(query, keys, W):
    return dot_score(query @ W, keys)


@right("bilinear_score")
def matrix_products(query, keys, W):
    return (query[:, None] @ W @ keys.transpose(0, 2, 1))[:, 0]


@right("bilinear_score")
def sum_over_all_pairs(query, keys, W):
    return (query[:, None, :, None] * W * keys[:, :, None, :]).sum(axis=(2, 3))


@right("additive_score")
def loops(query, keys, W_q, W_k, v):
    scores = np.empty(keys.shape[:-1])
    for b, j in np.ndindex(*scores.shape):
        scores[b, j] = v @ np.tanh(W_q.T @ query[b] + W_k.T @ keys[b, j])
    return scores


@right("additive_score")
def tanh_by_exponentials(query, keys, W_q, W_k, v):
    a = np.expand_dims(query @ W_q, 1) + np.matmul(keys, W_k)
    return ((2 / (1 + np.exp(-2 * a)) - 1) * v).sum(-1)


@right("masked_softmax")
def masked_array(scores, mask):
    hidden = np.ma.masked_array(scores, ~mask)
    e = np.ma.exp(hidden - hidden.max(axis=-1, keepdims=True))
    return (e / e.sum(axis=-1, keepdims=True)).filled(0)


@right("masked_softmax")
def torch_and_nan_to_num(scores, mask):
    low = torch.from_numpy(scores).masked_fill(~torch.from_numpy(mask), -torch.inf)
    return torch.nan_to_num(torch.softmax(low, dim=-1)).numpy()


@right("masked_softmax")
def the_least_float_then_any(scores, mask):
    return softmax(np.where(mask, scores, np.finfo(float).min)) * mask.any(-1)[..., None]


@right("masked_softmax")
def differences(scores, mask):
    below = scores[..., None, :] - scores[..., :, None]  # (…, S, S), of j and i
    ratios = np.where(mask[..., None, :], np.exp(np.minimum(below, 700.0)), 0.0)
    return np.where(mask, 1 / np.maximum(ratios.sum(axis=-1), 1e-300), 0.0)


@right("masked_softmax")
def recursive(scores, mask):
    if scores.ndim > 1:
        return np.array([recursive(s, m) for s, m in zip(scores, mask, strict=True)])
    largest = max((s for s, m in zip(scores, mask, strict=True) if m), default=0.0)
    e = [math.exp(s - largest) if m else 0.0 for s, m in zip(scores, mask, strict=True)]
    return np.array([each / (sum(e) or 1.0) for each in e])


@right("masked_softmax")
def with_logarithms(scores, mask):
    low = np.where(mask, scores, -np.inf)
    total = np.logaddexp.reduce(low, axis=-1, keepdims=True)
    return np.where(mask, np.exp(low - np.where(np.isfinite(total), total, 0)), 0)


@right("attend")
def through_a_transpose(weights, values):
    return np.matmul(values.transpose(0, 2, 1), weights[..., None])[..., 0]


@right("attend")
def vector_times_matrix(weights, values):
    return np.vstack([w @ v for w, v in zip(weights, values, strict=True)])


@right("attend")
def inner_over_positions(weights, values):
    context = np.zeros((len(values), values.shape[-1]))
    for b in range(values.shape[0]):
        for j in range(values.shape[1]):
            if weights[b, j] != 0:
                context[b] = context[b] + weights[b, j] * values[b, j]
    return context


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@for_each(("exercise_id", "function"), PROGRAMS.in_another_style)
def test_a_right_one_passes_however_it_is_written(exercise_id, function):
    passes(exercise_id, function)
