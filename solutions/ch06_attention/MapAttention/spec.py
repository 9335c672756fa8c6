"""How `MapAttention` is checked: against loops over pictures, rows and columns in NumPy, from the equations."""

import numpy as np
import torch

from grader.spec.spec import Output, Spec, change, instead, module_case

SIZES = ("hidden_size", "channels")


def case(B, H, C, Y, X, weight, state, feature_map, before=(), kind="ordinary"):
    return module_case(
        {"B": B, "H": H, "C": C, "Y": Y, "X": X},
        init=dict(zip(SIZES, (H, C), strict=True)),
        weights={"query.weight": weight},
        forward={"state": state, "feature_map": feature_map},
        before=before,
        returns={"context": "learning", "weights": "learning"},
        computed=("state", "feature_map"),
        kind=kind,
    )


def drawn(rng, B, H, C, Y, X, earlier=False):
    """Scores of a moderate size, so that the weights are neither equal nor nearly 0 and 1. `earlier`: after a call with
    other pictures.
    """

    def call():
        return {"state": rng.uniform(-0.9, 0.9, size=(B, H)), "feature_map": rng.normal(size=(B, C, Y, X)) + 0.5}

    weight = rng.normal(size=(C, H)) / np.sqrt(H * C) * 2
    now, before = call(), [call()] if earlier else []
    return case(B, H, C, Y, X, weight, **now, before=before, kind="a second call" if earlier else "ordinary")


def empty_place(made):
    """The case with a place at which all channels are 0, as a ReLU makes them."""
    made.inputs["feature_map"][:, :, 0, -1] = 0
    return made


EXAMPLE = case(
    1,
    2,
    2,
    1,
    3,
    np.array([[1.00, -0.50], [0.80, -1.50]]),
    np.array([[0.50, -0.20]]),
    np.array([[[[0.90, 0.00, -1.20]], [[0.40, 1.50, 0.60]]]]),
)


def cases(rng):
    yield drawn(rng, B=2, H=3, C=4, Y=2, X=3)
    yield drawn(rng, B=5, H=4, C=2, Y=3, X=6)
    yield drawn(rng, B=2, H=3, C=3, Y=2, X=2)
    yield drawn(rng, B=4, H=2, C=3, Y=2, X=2)
    yield drawn(rng, B=1, H=3, C=4, Y=3, X=2)
    yield drawn(rng, B=3, H=1, C=2, Y=4, X=3)
    yield drawn(rng, B=2, H=4, C=1, Y=3, X=4)
    yield drawn(rng, B=2, H=3, C=2, Y=1, X=4)
    yield drawn(rng, B=3, H=2, C=3, Y=4, X=1)
    yield empty_place(drawn(rng, B=2, H=4, C=4, Y=4, X=4))
    yield drawn(rng, B=2, H=3, C=2, Y=2, X=3, earlier=True)


def oracle(init, weights, state, feature_map, run):
    """One picture after another, one place after another."""
    B, C, Y, X = feature_map.shape
    contexts, shares = np.zeros((B, C)), np.zeros((B, Y, X))
    for b in range(B):
        query = [sum(weights["query.weight"][c, h] * s for h, s in enumerate(state[b])) for c in range(C)]
        scores = {(y, x): sum(query[c] * feature_map[b, c, y, x] for c in range(C)) for y, x in np.ndindex(Y, X)}
        total = sum(np.exp(score) for score in scores.values())
        for (y, x), score in scores.items():
            shares[b, y, x] = np.exp(score) / total
            contexts[b] += shares[b, y, x] * feature_map[b, :, y, x]
    return contexts, shares


SPEC = Spec(
    outputs=[Output("context", ("B", "C")), Output("weights", ("B", "Y", "X"))],
    example=EXAMPLE,
    cases=cases,
    oracle=oracle,
    driver="module",
)
PLACES = "places = feature_map.flatten(2).transpose(1, 2)"
SCORES = "scores = (places * self.query(state)[:, None]).sum(dim=2)"
WEIGHTS = "weights = torch.softmax(scores, dim=1)"
CONTEXT = "context = (weights[:, :, None] * places).sum(dim=1)"
RETURN = "return context, weights.unflatten(1, feature_map.shape[2:])"
YX = "feature_map.shape[2:]"
RESHAPED = "feature_map.reshape(len(state), -1, feature_map.shape[1])"


class Released(torch.nn.Module):
    """The submodule that the notebook gives."""

    def __init__(self, hidden_size, channels):
        super().__init__()
        self.query = torch.nn.Linear(hidden_size, channels, bias=False)


SPEC.mistakes(
    {
        "places_reshaped": [
            change(PLACES, "places = feature_map.reshape(len(state), -1, feature_map.shape[1])"),
            change(PLACES, "places = feature_map.transpose(2, 3).reshape(len(state), -1, feature_map.shape[1])"),
            change(PLACES, "places = feature_map.transpose(1, 2).reshape(len(state), -1, feature_map.shape[1])"),
            change(SCORES, SCORES.replace("places", RESHAPED)),
            change(CONTEXT, CONTEXT.replace("places", RESHAPED)),
        ],
        "softmax_over_one_direction": [
            change(WEIGHTS, f"weights = scores.unflatten(1, {YX}){softmax}.flatten(1)")
            for softmax in (".softmax(1)", ".softmax(2)", ".softmax(2).softmax(1)", ".softmax(1).softmax(2)")
        ],
        "softmax_over_the_batch": [
            change(WEIGHTS, "weights = torch.softmax(scores, dim=0)"),
            change(WEIGHTS, "weights = torch.softmax(scores.flatten(), dim=0).view_as(scores)"),
        ],
        "softmax_over_one_number": [
            change(WEIGHTS, "weights = torch.softmax(scores[:, None], dim=1)[:, 0]"),
            change(
                SCORES, "scores = places * self.query(state)[:, None]", (WEIGHTS, "weights = scores.softmax(2).sum(2)")
            ),
        ],
        "sigmoid_in_place_of_softmax": change(WEIGHTS, "weights = torch.sigmoid(scores)"),
        "scores_are_the_weights": [
            change(WEIGHTS, "weights = scores"),
            change(WEIGHTS, "weights = torch.exp(scores)"),
            change(WEIGHTS, "weights = scores / scores.sum(dim=1, keepdim=True)"),
        ],
        "weights_for_every_feature": [
            change(
                SCORES,
                "scores = places * self.query(state)[:, None]",
                (CONTEXT, "context = (weights * places).sum(dim=1)"),
                (RETURN, f"return context, weights.{one}.unflatten(1, {YX})"),
            )
            for one in ("sum(dim=2)", "mean(dim=2)", "amax(dim=2)")
        ],
        "rows_and_columns_swapped": [
            change(RETURN, f"return context, weights.unflatten(1, {YX}).transpose(1, 2)"),
            change(RETURN, "return context, weights.unflatten(1, feature_map.shape[:1:-1])"),
            change(PLACES, "places = feature_map.transpose(2, 3).flatten(2).transpose(1, 2)"),
        ],
        "weights_flat": change(RETURN, "return context, weights"),
        "query_left_out": [
            change("self.query(state)", "state"),
            change(SCORES, "scores = (places @ state[:, :, None])[:, :, 0]"),
        ],
        "query_without_effect": [
            change(SCORES, "scores = (places + self.query(state)[:, None]).sum(dim=2)"),
            change(SCORES, "scores = places.sum(dim=2)"),
            change(WEIGHTS, "weights = torch.full_like(scores, 1 / scores.shape[1])"),
        ],
        "query_of_another_row": change("self.query(state)[:, None]", "self.query(state)"),
        "query_squashed": [
            change("self.query(state)", "torch.tanh(self.query(state))"),
            change("(places * self.query(state)[:, None])", "torch.tanh(places * self.query(state)[:, None])"),
            change("(places * self.query(state)[:, None])", "torch.tanh(places + self.query(state)[:, None])"),
            change(SCORES, SCORES + ".tanh()"),
            change("self.query(state)", "self.query(torch.tanh(state))"),
        ],
        "scores_scaled": [
            change(SCORES, SCORES + " / places.shape[2] ** 0.5"),
            change(SCORES, SCORES + " / state.shape[1] ** 0.5"),
            change(SCORES, SCORES.replace("sum(dim=2)", "mean(dim=2)")),
            change(
                CONTEXT,
                "q = self.query(state)[:, None]; context = "
                "torch.nn.functional.scaled_dot_product_attention(q, places, places)[:, 0]",
            ),
        ],
        "scores_returned": [
            change("weights.unflatten", "scores.unflatten"),
            change("weights.unflatten", "scores.exp().unflatten"),
        ],
        "context_is_a_mean": [
            change(CONTEXT, "context = places.mean(dim=1)"),
            change(CONTEXT, "context = places.sum(dim=1)"),
            change(CONTEXT, CONTEXT.replace(".sum(dim=1)", ".mean(dim=1)")),
        ],
        **instead(
            CONTEXT,
            {
                "largest_feature_of_each_channel": "context = places.amax(dim=1)",
                "summed_over_the_channels": "context = (weights[:, :, None] * places).sum(dim=2)",
            },
        ),
        "best_place_only": [
            change(CONTEXT, "context = places[torch.arange(len(places)), weights.argmax(dim=1)]"),
            change(
                WEIGHTS, "weights = torch.nn.functional.one_hot(scores.argmax(dim=1), scores.shape[1]) + 0 * scores"
            ),
        ],
        "context_not_summed": [
            change(".sum(dim=1)", ""),
            change(CONTEXT, f"context = weights.unflatten(1, {YX})[:, None] * feature_map"),
        ],
        "context_of_the_query": change(
            CONTEXT, "context = (weights[:, :, None] * self.query(state)[:, None]).sum(dim=1)"
        ),
        "attention_detached": [
            change(
                "(weights[:, :, None]",
                "(weights.detach()[:, :, None]",
                ("weights.unflatten", "weights.detach().unflatten"),
            ),
            change("self.query(state)", "self.query(state).detach()"),
            change(RETURN, f"return context.detach(), weights.detach().unflatten(1, {YX})"),
        ],
        "weights_detached": [
            change("weights.unflatten", "weights.detach().unflatten"),
        ],
    }
)


@SPEC.alternative
class AxesByName(Released):
    """The map keeps its rows and columns: only the softmax needs all places in one axis."""

    def forward(self, state, feature_map):
        scores = torch.einsum("bc,bcyx->byx", self.query(state), feature_map)
        weights = torch.softmax(scores.flatten(1), dim=1).view_as(scores)
        return torch.einsum("byx,bcyx->bc", weights, feature_map), weights


@SPEC.alternative
class MatrixProducts(Released):
    """Two batched matrix products, with the channels as rows."""

    def forward(self, state, feature_map):
        B, C, Y, X = feature_map.shape
        columns = feature_map.reshape(B, C, Y * X)
        weights = torch.softmax(torch.bmm(self.query(state).unsqueeze(1), columns), dim=-1)  # (B, 1, P)
        return torch.bmm(columns, weights.transpose(1, 2)).squeeze(2), weights.reshape(B, Y, X)


@SPEC.alternative
class PictureByPicture(Released):
    """A list of places for every picture."""

    def forward(self, state, feature_map):
        contexts, maps = [], []
        for s, one in zip(state, feature_map, strict=True):
            places = [one[:, y, x] for y in range(one.shape[1]) for x in range(one.shape[2])]
            q = self.query.weight @ s
            alpha = torch.softmax(torch.stack([q @ place for place in places]), dim=0)
            contexts.append(sum(a * place for a, place in zip(alpha, places, strict=True)))
            maps.append(alpha.reshape(one.shape[1:]))
        return torch.stack(contexts), torch.stack(maps)
