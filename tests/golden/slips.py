"""Work whose reports teach something beside those of the mistakes: how an answer of the wrong kind is told, an
exception, a cause that no spec names, two mistakes at once. Each is a change to the reference solution, or a cell.
"""

from grader.author.changes import Change, change

LOOP = "h, h_t = [], h_0"
STEP = "rnn_step(x[:, t], h_t, W_xh, W_hh, b_h)"
WEIGHTS = "dW_xh, dW_hh, db_h = np.zeros(W_xh.shape), np.zeros(W_hh.shape), np.zeros(len(W_hh))"
CHUNK = "loss_and_grads(params, ids[p : p + T], ids[p + 1 : p + T + 1], h)"

SLIPS: dict[str, dict[str, Change | str]] = {
    "rnn_step": {
        "other_arguments": change("h_prev, W_xh, W_hh, b_h):", "h, W_xh, W_hh):", ("h_prev @ W_hh + b_h", "h @ W_hh")),
        "a_dictionary": change("return np.tanh", "return dict(h_t=np.tanh", (" + b_h)", " + b_h))")),
        "squeezed": change(" + b_h)", " + b_h).squeeze()"),
        "flat": change(" + b_h)", " + b_h).ravel()"),
        "float32_inside": change(
            "return np.tanh(x_t @ W_xh + h_prev @ W_hh + b_h)",
            """
            h_t = np.empty(h_prev.shape, np.float32)
            h_t[:] = np.tanh(x_t @ W_xh + h_prev @ W_hh + b_h)
            return h_t.astype(float)
            """,
        ),
        "a_generator": change("return", "yield"),
        "half_written": change("return", "if len(x_t) > 1:\n    raise NotImplementedError\nreturn"),
        "an_exception": change(" + b_h)", " + b_h, h_prev, b_h, W_xh)"),
        "an_exception_in_a_helper": change(
            "def rnn_step",
            """
            def linear(v, W, b=0):
                assert v.shape[0] == W.shape[0], "shapes do not fit"
                return v @ W + b


            def rnn_step""",
            ("np.tanh(x_t @ W_xh + h_prev @ W_hh + b_h)", "np.tanh(linear(x_t, W_xh) + linear(h_prev, W_hh, b_h))"),
        ),
        "an_unknown_name": change("np.tanh", "tanh"),
        "calls_itself": change("np.tanh(x_t @ W_xh + h_prev @ W_hh + b_h)", "rnn_step(x_t, h_prev, W_xh, W_hh, b_h)"),
        "two_inputs_changed": change(
            "return np", "h_t = np", ("+ b_h)", "+ b_h)\nh_prev[:] = h_t\nb_h -= b_h\nreturn h_t")
        ),
        "not_a_number_in_one_place": change(
            "return np", "h_t = np", ("+ b_h)", "+ b_h)\nh_t[-1, -1] = np.nan\nreturn h_t")
        ),
        "an_array_of_objects": change(" + b_h)", " + b_h).astype(object)"),
        "a_number": change("np.tanh(x_t @ W_xh + h_prev @ W_hh + b_h)", "0.5"),
        "a_text": change("np.tanh(x_t @ W_xh + h_prev @ W_hh + b_h)", '"0.23"'),
        "a_tuple": change("+ b_h)", "+ b_h),"),
        "no_function": "rnn_step = np.tanh(0.5)",
        "another_function": "rnn_step = np.tanh",
        "halved": change(" + b_h)", " + b_h) / 2"),
        "negated": change("return np", "return -np"),
        "transposed": change(" + b_h)", " + b_h).T"),
        "rounded": change(" + b_h)", " + b_h).round(6)"),
        "no_name": change("h_prev @ W_hh", "h_prev @ W_hh @ W_hh"),
    },
    "rnn_forward": {
        "as_pytorch": change("axis=1)", "axis=1), h_t"),
        "an_exception": change(LOOP, "h = np.zeros(x.shape)\nh_t = h_0", ("h.append(h_t)", "h[:, t] = h_t")),
        "no_new_axis": change("np.stack", "np.concatenate"),
        "written_into_the_input": change(f"h_t = {STEP}", f"h_t[:] = {STEP}", ("append(h_t)", "append(h_t.copy())")),
        "written_into_the_input_and_kept": change(f"h_t = {STEP}", f"h_t[:] = {STEP}"),
        "wrong_from_the_third_step": change("x[:, t]", "x[:, min(t, 1)]"),
        "wrong_from_the_second_step": change("x[:, t], h_t,", "x[:, t], h_t * (t == 0),"),
        "one_step_late": change("np.stack(h, ", "np.stack([np.zeros_like(h_0), *h[:-1]], "),
        "state_ignored": change("x[:, t], h_t,", "x[:, t], 0 * h_t,"),
        "time_reversed": change("np.stack(h, ", "np.stack(h[::-1], "),
        "no_name": change("h_t, W_xh, W_hh,", "h_t, W_xh, W_hh @ W_hh,"),
    },
    "concatenated_weights": {
        "a_list_of_both": change("np.concatenate([W_xh, W_hh], axis=0)", "[W_xh, W_hh]"),
    },
    "softmax": {
        "no_default": change("axis=-1", "axis"),
        "in_place": change(
            "e = np.exp(z - z.max(axis=axis, keepdims=True))", "z -= z.max(axis=axis, keepdims=True)\ne = np.exp(z)"
        ),
    },
    "classify_last": {
        "an_unknown_name": change("np.stack(h, axis=1)", "run_rnn(x, h_0, W_xh, W_hh, b_h)"),
        "no_bias": change(" + b_y", ""),
    },
    "sequence_loss": {
        "not_reduced": change("(log_sum - picked).mean()", "log_sum - picked"),
        "averaged_over_the_vocabulary": change(".mean()", ".mean() / logits.shape[2]"),
        "the_perplexity": change("(log_sum - picked).mean()", "np.exp((log_sum - picked).mean())"),
    },
    "sample_id": {
        "an_array": change("int(exceeds[0])", "exceeds[:1]"),
        "a_float": change("int(exceeds[0])", "float(exceeds[0])", ("int(np", "float(np")),
        "the_id_after": change("int(exceeds[0])", "min(int(exceeds[0]) + 1, len(probs) - 1)"),
    },
    "generate": {
        "if_u": change("if u is None:", "if not u:"),
        "no_default": change("u=None", "u"),
        "no_bias": change("h_t @ W_hh + b_h", "h_t @ W_hh"),
    },
    "cross_entropy_backward": {
        "an_exception": change(
            "return (softmax(logits) - one_hot) / (B * T)",
            "p = softmax(logits)\np[:, targets] -= 1\nreturn p / (B * T)",
        ),
        "flat": change(
            "(softmax(logits) - one_hot) / (B * T)", "((softmax(logits) - one_hot) / (B * T)).reshape(B * T, V)"
        ),
        "no_name": change("(softmax(logits) - one_hot)", "softmax(logits) * (1 - softmax(logits))"),
    },
    "rnn_step_backward": {
        "elementwise": change("da_t @ W_hh.T", "da_t * W_hh"),
        "four_results": change("dW_hh, db_h", "dW_hh"),
        "bias_negated": change("dW_hh, db_h", "dW_hh, -db_h"),
        "slope_in_all_but_one": change("dx_t = da_t", "dx_t = dh_t"),
        "two_mistakes": change("W_hh.T", "W_hh", (".sum(", ".mean(")),
        "no_name": change("1 - h_t", "1 + h_t"),
    },
    "rnn_backward": {
        "bias_not_summed_in_place": change(".sum(axis=0)", ""),
        "an_unbound_name": change("dh_next = np.zeros(h_0.shape)", ""),
        "dx_a_list": change(
            "dx = np.zeros(x.shape)", "dx = []", ("dx[:, t] = da_t @ W_xh.T", "dx.insert(0, da_t @ W_xh.T)")
        ),
        "integers": change("np.zeros(x.shape)", "np.zeros(x.shape, dtype=int)"),
        "loops_over_the_batch": change("range(x.shape[1])", "range(len(x))"),
        "future_halved": change("dh_next = da_t @ W_hh.T", "dh_next = da_t @ W_hh.T / 2"),
        "two_mistakes": change("(dh[:, t] + dh_next)", "dh[:, t]", ("dW_xh +=", "dW_xh =")),
        "weights_overwritten_bias_summed": change("dW_xh +=", "dW_xh =", ("dW_hh +=", "dW_hh =")),
    },
    "embedding_backward": {
        "changes_de": change(
            "np.add.at(dE, ids, de)\nreturn dE", "de *= 1 / ids.size\nnp.add.at(dE, ids, de)\nreturn dE * ids.size"
        ),
        "axes_mixed": change("np.add.at(dE, ids, de)", "for t in range(ids.shape[0]):\n    dE[ids[t]] += de[:, t]"),
        "transposed": change("return dE", "return dE.T"),
        "no_name": change("np.add.at(dE, ids,", "np.add.at(dE, (ids + 1) % vocab_size,"),
    },
    "relative_error": {
        "an_array": change("float(errors.max())", "errors"),
        "absolute": change(" / np.where(size > 0, size, 1.0)", ""),
    },
    "numerical_gradient": {
        "of_one_entry_alone": change(
            "above = f(theta)", "above = f(theta[index])", ("below = f(theta)", "below = f(theta[index])")
        ),
        "negated": change("above - below", "below - above"),
    },
    "truncated_bptt": {
        "in_place": change("da_t = (dh[:, t] + dh_next)", "dh[:, t] += dh_next\nda_t = dh[:, t]"),
        "two_results": change("return dW_xh, dW_hh, db_h", "return dW_xh, dW_hh"),
    },
    "adagrad_step": {
        "in_place": change("cache = cache + grad**2", "cache += grad**2"),
        "no_default": change("eps=1e-8", "eps"),
        "theta_alone": change("+ eps), cache", "+ eps)"),
    },
    "train_char_rnn": {
        "a_flat_state": change(
            "p, h = 0, np.zeros((1, H))\nfor",
            "p, h = 0, np.zeros(H)\nfor",
            ("p, h = 0, np.zeros((1, H))", "p, h = 0, np.zeros(H)"),
        ),
        "losses_in_a_list": change("return losses, params", "return list(losses), params"),
        "never_asked": change(
            f"losses[update], grads, h = {CHUNK}", "grads = {name: 0 * theta for name, theta in params.items()}"
        ),
        "one_cache_for_arrays_of_all_shapes": change(
            "cache = {name: np.zeros(theta.shape) for name, theta in params.items()}",
            "cache = 0",
            (
                "params[name], cache[name] = adagrad_step(params[name], grads[name], cache[name], lr)",
                "params[name], cache = adagrad_step(params[name], grads[name], cache, lr)",
            ),
        ),
        "weights_alone": change("return losses, params", "return params"),
        "asked_twice": change("p += T", f"losses[update] = {CHUNK}[0]\np += T"),
        "one_update_too_many": change(
            "np.zeros(num_updates)", "np.zeros(num_updates + 1)", ("range(num_updates)", "range(num_updates + 1)")
        ),
        "rmsprop": change(
            "params[name], cache[name] = adagrad_step(params[name], grads[name], cache[name], lr)",
            """
            cache[name] = 0.9 * cache[name] + 0.1 * grads[name] ** 2
            params[name] = params[name] - lr * grads[name] / (np.sqrt(cache[name]) + 1e-8)
            """,
        ),
    },
}

# Notebooks in which an exercise and one that it calls are both written; None is the reference as it is, "" the stub.
NOTEBOOKS: dict[str, dict[str, Change | str | None]] = {
    "step_not_right": {"rnn_step": change(" + b_h", ""), "rnn_forward": None},
    "step_not_right_nor_the_loop": {"rnn_step": change(" + b_h", ""), "rnn_forward": change("axis=1", "axis=0")},
    "step_raises": {"rnn_step": change("+ b_h", "+ b"), "rnn_forward": None},
    "step_not_written": {"rnn_step": "", "rnn_forward": None},
    "sample_not_right": {
        "sample_id": change("np.cumsum(probs) > u", "probs > u"),
        "generate": None,
    },
}
