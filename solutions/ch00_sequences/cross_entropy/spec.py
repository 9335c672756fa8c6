"""How `cross_entropy` is checked: against PyTorch's cross-entropy."""

import numpy as np
import torch

from grader.spec.spec import Case, Facet, Output, Spec, change, instead

LARGE = "large logits"


def oracle(logits, targets):
    """PyTorch's cross-entropy, which averages over the N predictions."""
    return torch.nn.functional.cross_entropy(torch.from_numpy(logits), torch.from_numpy(targets)).item()


EXAMPLE = Case(
    sizes={"N": 2, "V": 3},
    inputs={"logits": np.array([[2.00, 0.50, -1.00], [0.30, -0.40, 1.10]]), "targets": np.array([0, 1])},
)


def cases(rng):
    for N, V in [(5, 4), (4, 4), (3, 6), (1, 5), (4, 1), (12, 7)]:
        logits, targets = rng.uniform(-2, 2, size=(N, V)), rng.integers(V, size=N)
        yield Case({"N": N, "V": V}, {"logits": logits, "targets": targets})
    far_apart = rng.permutation([-1000, -1000, 1000, 1000])[:, None]  # the rows differ, the entries of a row do not
    logits, targets = rng.normal(size=(4, 5)) + far_apart, rng.permutation(5)[:4]
    yield Case({"N": 4, "V": 5}, {"logits": logits, "targets": targets}, LARGE)
    logits = rng.uniform(-1000, 1000, size=(3, 4))
    yield Case({"N": 3, "V": 4}, {"logits": logits, "targets": logits.argmin(axis=1)}, LARGE)  # certain, and wrong
    logits = np.where(rng.permuted(np.tile([True, False, False], (6, 1)), axis=1), 1000.0, -1000.0)
    yield Case({"N": 6, "V": 3}, {"logits": logits, "targets": rng.permutation([0, 0, 1, 1, 2, 2])}, LARGE)


SPEC = Spec(
    outputs=[Output("loss")],
    example=EXAMPLE,
    cases=cases,
    oracle=oracle,
    facets=[
        Facet("ordinary logits", share=3, kinds=("ordinary",)),
        Facet(LARGE, share=1, kinds=(LARGE,)),
    ],
)
SHIFTED = "logits - logits.max(axis=1, keepdims=True)"
LOG_PROBS = "shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))"
PROBS = "np.exp(shifted) / np.exp(shifted).sum(axis=1, keepdims=True)"
ONE_HOT = "np.eye(logits.shape[1])[targets]"
PICKED = "-log_probs[np.arange(len(targets)), targets]"
PROB = "np.exp(log_probs[np.arange(len(targets)), targets])"

SPEC.mistakes(
    {
        **instead(
            "mean()",
            {
                "sum_for_mean": "sum()",
                "in_bits": "mean() / np.log(2)",
            },
        ),
        **instead(
            f"{PICKED}.mean()",
            {
                "divided_by_all_entries": f"-(log_probs * {ONE_HOT}).mean()",
                "mean_of_the_probabilities": "-np.log(np.exp(log_probs[np.arange(len(targets)), targets]).mean())",
            },
        ),
        "logarithm_missing": [
            change(f"{PICKED}.mean()", f"{each}.mean()") for each in (f"-{PROB}", f"(1 - {PROB})", PROB)
        ],
        "most_probable_id_for_the_target": [
            change("targets]", "logits.argmax(axis=1)]"),
            change(f"{PICKED}.mean()", "-log_probs.max()"),
        ],
        "binary_cross_entropy": [
            change(
                f"{PICKED}.mean()",
                f"-({ONE_HOT} * log_probs + (1 - {ONE_HOT}) * np.log(1 - np.exp(log_probs))).{mean}",
            )
            for mean in ("sum(axis=1).mean()", "mean()")
        ],
        "targets_shifted_again": change(PICKED, "-log_probs[np.arange(len(targets) - 1), targets[1:]]"),
        "one_maximum_for_each_column": change("logits.max(axis=1, keepdims=True)", "logits.max(axis=0)"),
        "every_target_in_every_row": change("np.arange(len(targets))", ":"),
        "normalised_over_the_rows": change(
            SHIFTED, "logits - logits.max(axis=0)", ("sum(axis=1, keepdims=True)", "sum(axis=0)")
        ),
        "maximum_not_added_back": change(LOG_PROBS, LOG_PROBS.replace("shifted - ", "logits - ")),
        "one_sum_for_all_rows": change("sum(axis=1, keepdims=True)", "sum()"),
        "softmax_left_out": [change(LOG_PROBS, "logits"), change(LOG_PROBS, "shifted")],
    }
)
SPEC.mistakes(
    {
        "exp_overflows": [change(SHIFTED, "logits"), change(SHIFTED, "logits", (LOG_PROBS, f"np.log({PROBS})"))],
        "log_of_zero": change(LOG_PROBS, f"np.log({PROBS})"),
        "log_kept_finite": [
            *(
                change(LOG_PROBS, f"np.log({kept})")
                for kept in (
                    f"{PROBS} + 1e-12",
                    f"{PROBS} + 1e-15",
                    f"{PROBS} + 1e-300",
                    f"np.clip({PROBS}, 1e-12, 1)",
                    f"np.maximum({PROBS}, 1e-15)",
                )
            )
        ],
        "logits_clipped": [
            *(
                change(SHIFTED, f"np.clip(logits, -{bound}, {bound})")
                for bound in (20, 30, 50, 80, 88, 100, 200, 300, 500, 600, 700, 709)
            )
        ],
        "one_maximum_for_all_rows": change("logits.max(axis=1, keepdims=True)", "logits.max()"),
    },
    keeps=["ordinary logits"],
)


@SPEC.alternative
def log_sum_minus_logit(logits, targets):
    """The logarithm of the sum minus the target's logit, with NumPy's own log-sum-exp."""
    picked = np.take_along_axis(logits, targets[:, None], axis=1)[:, 0]
    return float(np.mean(np.logaddexp.reduce(logits, axis=1) - picked))


@SPEC.alternative
def row_by_row(logits, targets):
    """Plain loops, which return a Python float."""
    total = 0.0
    for z, y in zip(logits.tolist(), targets.tolist(), strict=True):
        largest = max(z)
        total += largest + float(np.log(sum(np.exp(value - largest) for value in z))) - z[y]
    return total / len(targets)


@SPEC.alternative
def with_one_hot(logits, targets):
    """A one-hot array selects the targets, and the sum is divided by N."""
    largest = logits.max(axis=-1)
    log_sum = largest + np.log(np.exp(logits - largest[:, None]).sum(axis=-1))
    hot = np.eye(logits.shape[1])[targets]
    return (log_sum.sum() - (hot * logits).sum()) / len(logits)
