"""How `sequence_loss` is checked: against PyTorch's cross-entropy."""

import numpy as np
import torch

from grader.spec.spec import Case, Facet, Output, Spec, change, instead


def oracle(logits, targets):
    """PyTorch's cross-entropy, which averages over all tokens by default."""
    flat = torch.from_numpy(logits).reshape(-1, logits.shape[2])
    return torch.nn.functional.cross_entropy(flat, torch.from_numpy(targets).reshape(-1)).item()


EXAMPLE = Case(
    sizes={"B": 1, "T": 2, "V": 3},
    inputs={
        "logits": np.array([[[0.50, -1.00, 2.00], [1.20, 0.00, -0.30]]]),
        "targets": np.array([[2, 1]]),
    },
)


def cases(rng):
    for B, T, V in [(2, 5, 4), (3, 3, 3), (1, 4, 3), (4, 1, 5), (3, 2, 1)]:
        logits, targets = 2 * rng.normal(size=(B, T, V)), rng.integers(V, size=(B, T))
        yield Case(sizes={"B": B, "T": T, "V": V}, inputs={"logits": logits, "targets": targets})
    large = "large logits"
    far_apart = rng.permutation(np.repeat([-1000, 1000], 3)).reshape(2, 3, 1)  # both kinds in each batch
    every_id = rng.permutation([0, 0, 1, 1, 2, 3]).reshape(2, 3)
    yield Case({"B": 2, "T": 3, "V": 4}, {"logits": rng.normal(size=(2, 3, 4)) + far_apart, "targets": every_id}, large)
    logits = rng.uniform(-1000, 1000, size=(2, 2, 5))
    targets = logits.argmin(axis=2)  # the network is confident and wrong
    yield Case({"B": 2, "T": 2, "V": 5}, {"logits": logits, "targets": targets}, large)


SPEC = Spec(
    outputs=[Output("loss")],
    example=EXAMPLE,
    cases=cases,
    oracle=oracle,
    facets=[
        Facet("ordinary logits", share=3, kinds=("ordinary",)),
        Facet("large logits", share=1, kinds=("large logits",)),
    ],
)
TAKEN, LOSS = "take_along_axis(logits", "(log_sum - picked)"
PICKED = "np.take_along_axis(logits, targets[:, :, None], axis=2)[:, :, 0]"
SOFTMAX = "take_along_axis(softmax(logits)"
TINY = "picked + 1e-12", "np.clip(picked, 1e-12, 1.0)", "np.maximum(picked, 1e-15)", "np.maximum(picked, 1e-300)"


def compared(logits, targets):
    """The probabilities, and the one-hot rows of the targets."""
    return np.exp(logits - np.logaddexp.reduce(logits, axis=2, keepdims=True)), np.eye(logits.shape[2])[targets]


def squared_error(logits, targets):
    p, one_hot = compared(logits, targets)
    return ((p - one_hot) ** 2).sum(axis=2).mean()


def binary(logits, targets):
    p, one_hot = compared(logits, targets)
    return -(one_hot * np.log(p) + (1 - one_hot) * np.log(1 - p)).sum(axis=2).mean()


def next_of_the_next(logits, targets):
    log_p = logits - np.logaddexp.reduce(logits, axis=2, keepdims=True)
    return -np.take_along_axis(log_p[:, :-1], targets[:, 1:, None], axis=2).mean()


def next_of_the_next_if_there_is_one(logits, targets):
    return next_of_the_next(logits, targets) if targets.shape[1] > 1 else 0.0


def mean_squared_error(logits, targets):
    return squared_error(logits, targets) / logits.shape[2]


def mean_binary(logits, targets):
    return binary(logits, targets) / logits.shape[2]


SPEC.mistakes(
    {
        **instead(
            "mean()",
            {
                "sum_for_mean": "sum()",
                "mean_over_the_batch_only": "sum() / len(logits)",
                "mean_over_time_only": "sum() / logits.shape[1]",
            },
        ),
        "in_bits": [change("mean()", "mean() / np.log(2)"), change("np.log(", "np.log2(")],
        **instead(
            LOSS,
            {
                "sign_reversed": "(picked - log_sum)",
                "no_softmax": "-picked",
                "logarithm_of_logits": "-np.log(picked)",
                "targets_left_out": "log_sum",
                "largest_subtracted_from_the_target_only": "(log_sum - picked + largest[:, :, 0])",
                "last_step_only": f"{LOSS}[:, -1]",
                "log_of_the_sum_left_out": "(largest[:, :, 0] - picked)",
                "most_probable_for_the_target": "(log_sum - largest[:, :, 0])",
            },
        ),
        "softmax_over_the_wrong_axis": [
            *(
                change(TAKEN, f"{TAKEN} - np.logaddexp.reduce(logits, axis={axis}, keepdims=True)", (LOSS, "-picked"))
                for axis in (1, 0)
            )
        ],
        "every_target_at_every_position": change(
            PICKED,
            "logits[:, :, targets]",
            ("(log_sum -", "(log_sum[:, :, None, None] -"),
        ),
        "tiny_number_in_the_logarithm": [
            *(change(TAKEN, SOFTMAX, (LOSS, f"-np.log(picked + {tiny})")) for tiny in ("1e-7", "1e-8", "1e-9"))
        ],
        "log_of_the_mean": [
            change(TAKEN, SOFTMAX, (f"{LOSS}.mean()", "-np.log(picked.mean())")),
            change(TAKEN, SOFTMAX, (f"{LOSS}.mean()", "-np.log(picked.mean(axis=1)).mean()")),
        ],
        "softmax_over_everything": [
            change(TAKEN, f"{TAKEN} - np.logaddexp.reduce(logits, axis=None)", (LOSS, "-picked")),
            change("sum(axis=2)", "sum()"),
        ],
        "maximum_not_added_back": change("largest[:, :, 0] + ", ""),
        "targets_index_the_batch": change(PICKED, "(logits - log_sum[:, :, None])[targets]", (LOSS, "-picked")),
        "rows_paired_with_steps": [
            change(PICKED, "logits[np.arange(len(logits)), np.arange(logits.shape[1]), targets]"),
            change(
                PICKED,
                "(logits - log_sum[:, :, None])[np.arange(len(logits)), np.arange(logits.shape[1]), targets]",
                (LOSS, "-picked"),
            ),
        ],
        "targets_of_every_sequence": change(
            PICKED, "logits[:, np.arange(logits.shape[1]), targets]", ("(log_sum -", "(log_sum[:, None] -")
        ),
        "entropy_of_the_prediction": change(
            PICKED,
            "(logits * np.exp(logits - log_sum[:, :, None])).sum(axis=2)",
        ),
        "id_0_taken_for_padding": [
            change(f"{LOSS}.mean()", f"({LOSS} * (targets != 0)).sum() / max((targets != 0).sum(), 1)"),
            change(LOSS, f"{LOSS}[targets != 0]"),
            change(LOSS, f"({LOSS} * (targets != 0))"),
        ],
        "targets_shifted_again": [
            next_of_the_next,
            next_of_the_next_if_there_is_one,
        ],
        "log_of_p_left_out": change(TAKEN, SOFTMAX, (LOSS, "(1 - picked)")),
        "squared_error": [squared_error, mean_squared_error],
        "binary_cross_entropy": [binary, mean_binary],
    }
)
SPEC.mistakes(
    {
        "exp_overflows": change(
            TAKEN,
            "take_along_axis(np.exp(logits) / np.exp(logits).sum(axis=2, keepdims=True)",
            (LOSS, "-np.log(picked)"),
        ),
        "log_of_zero": change(TAKEN, SOFTMAX, (LOSS, "-np.log(picked)")),
        "log_kept_finite": [*(change(TAKEN, SOFTMAX, (LOSS, f"-np.log({p})")) for p in TINY)],
        "one_maximum_for_all": change("logits.max(axis=2, keepdims=True)", "logits.max(keepdims=True)"),
        "large_losses_replaced": [
            *(
                change(TAKEN, SOFTMAX, (LOSS, f"np.nan_to_num(-np.log(picked), posinf={number})"))
                for number in ("0.0", "100.0", "1000.0")
            ),
            *(change(LOSS, f"np.minimum({LOSS}, {most})") for most in (50, 100)),
        ],
    },
    keeps=["ordinary logits"],
)


@SPEC.alternative
def token_by_token(logits, targets):
    """Plain loops, which return a Python float."""
    total = 0.0
    B, T, _ = logits.shape
    for row in range(B):
        for t in range(T):
            z = logits[row, t].tolist()
            largest = max(z)
            log_sum = largest + float(np.log(sum(np.exp(value - largest) for value in z)))
            total += log_sum - z[targets[row, t]]
    return total / (B * T)


@SPEC.alternative
def with_one_hot(logits, targets):
    """The log-probability of the target, as a product with a one-hot array."""
    log_p = logits - np.logaddexp.reduce(logits, axis=-1, keepdims=True)
    one_hot = np.eye(logits.shape[2])[targets]
    return -(one_hot * log_p).sum(axis=2).mean()


@SPEC.alternative
def flat(logits, targets):
    """All tokens in one axis, and two index arrays."""
    z, y = logits.reshape(-1, logits.shape[2]), targets.reshape(-1)
    z = z - z.max(axis=1, keepdims=True)
    return np.mean(np.log(np.exp(z).sum(axis=1)) - z[np.arange(len(y)), y])
