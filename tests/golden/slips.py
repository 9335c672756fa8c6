"""Work whose reports teach something beside those of the mistakes: how an answer of the wrong kind is told, an
exception, a cause that no spec names, two mistakes at once. Each is a change to the reference solution, or a cell.
"""

from grader.spec.changes import Change, change

LOOP = "h, h_t = [], h_0"
STEP = "rnn_step(x[:, t], h_t, W_xh, W_hh, b_h)"

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
}

# Notebooks in which an exercise and one that it calls are both written; None is the reference as it is, "" the stub.
NOTEBOOKS: dict[str, dict[str, Change | str | None]] = {
    "step_not_right": {"rnn_step": change(" + b_h", ""), "rnn_forward": None},
    "step_not_right_nor_the_loop": {"rnn_step": change(" + b_h", ""), "rnn_forward": change("axis=1", "axis=0")},
    "step_raises": {"rnn_step": change("+ b_h", "+ b"), "rnn_forward": None},
    "step_not_written": {"rnn_step": "", "rnn_forward": None},
}
