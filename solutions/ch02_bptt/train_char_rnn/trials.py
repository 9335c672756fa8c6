"""Programs that the spec of `train_char_rnn` does not contain; beside each wrong one is what it is told."""

from grader.spec.trials import Trials

TRIALS = Trials()


TRIALS.all_wrong(
    {
        "a flat state": (
            [
                ("p, h = 0, np.zeros((1, H))\nfor", "p, h = 0, np.zeros(H)\nfor"),
                ("p, h = 0, np.zeros((1, H))", "p, h = 0, np.zeros(H)"),
            ],
            None,
            3.0,
        ),
        "losses in a list": ([("return losses, params", "return list(losses), params")], None, 3.0),
        "never asked": (
            [
                (
                    "losses[update], grads, h = loss_and_grads(params, ids[p : p + T], ids[p + 1 : p + T + 1], h)",
                    "grads = {name: 0 * theta for name, theta in params.items()}",
                )
            ],
            None,
            0.0,
        ),
        "one cache for arrays of all shapes": (
            [
                ("cache = {name: np.zeros(theta.shape) for name, theta in params.items()}", "cache = 0"),
                (
                    "params[name], cache[name] = adagrad_step(params[name], grads[name], cache[name], lr)",
                    "params[name], cache = adagrad_step(params[name], grads[name], cache, lr)",
                ),
            ],
            None,
            0.0,
        ),
        "weights alone": ([("return losses, params", "return params")], None, 2.0),
        "asked twice": (
            [
                (
                    "p += T",
                    "losses[update] = loss_and_grads(params, ids[p : p + T], ids[p + 1 : p + T + 1], h)[0]\np += T",
                )
            ],
            None,
            0.5,
        ),
        "one update too many": (
            [("np.zeros(num_updates)", "np.zeros(num_updates + 1)"), ("range(num_updates)", "range(num_updates + 1)")],
            None,
            2.0,
        ),
        "rmsprop": (
            [
                (
                    "params[name], cache[name] = adagrad_step(params[name], grads[name], cache[name], lr)",
                    "cache[name] = 0.9 * cache[name] + 0.1 * grads[name] ** 2\n"
                    "params[name] = params[name] - lr * grads[name] / (np.sqrt(cache[name]) + 1e-8)",
                )
            ],
            None,
            3.0,
        ),
    },
    seeds=(0,),
)


STEP = "params[name], cache[name] = adagrad_step(params[name], grads[name], cache[name], lr)"


def named(names):
    return [("for name in params:", f"for name in {names!r}:")]


TRIALS.all_wrong(
    {
        "all but W_hh": (named(["W_xh", "b_h", "W_hy", "b_y"]), "some_arrays_not_updated", 3.0),
        "the matrix of the output alone": (named(["W_hy"]), "some_arrays_not_updated"),
        "all but b_y": (named(["W_xh", "W_hh", "b_h", "W_hy"]), "some_arrays_not_updated"),
        "no root": (
            [
                (
                    STEP,
                    "cache[name] = cache[name] + grads[name] * grads[name]\n"
                    "params[name] = params[name] - lr / (1e-8 + cache[name]) * grads[name]",
                )
            ],
            "root_left_out",
        ),
        "the cache afterwards": (
            [
                (STEP, f"old = cache[name]\n{STEP}\nparams[name] = theta[name] - lr * grads[name] / (old**0.5 + 1e-8)"),
                ("for name in params:", "theta = dict(params)\nfor name in params:"),
            ],
            "old_cache_used",
        ),
        "a loss that follows slowly": (
            [
                ("losses[update], grads, h =", "loss, grads, h ="),
                ("p += T", "losses[update] = 0.99 * losses[update - 1] + 0.01 * loss if update else loss\np += T"),
            ],
            "losses_smoothed",
            3.5,
        ),
    },
    seeds=(0,),
)
