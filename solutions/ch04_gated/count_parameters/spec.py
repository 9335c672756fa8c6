"""How `count_parameters` is checked: against the parameters of PyTorch's modules, built without memory for them."""

import torch

from grader.spec.spec import Case, Facet, Output, Spec, change, instead

ONE, LAYERS, BOTH = "one layer", "several layers", "both directions"
MODULES = {"rnn": torch.nn.RNN, "lstm": torch.nn.LSTM, "gru": torch.nn.GRU}


def oracle(kind, input_size, hidden_size, num_layers=1, bidirectional=False):
    """Build the module on the meta device, where arrays have shapes but no numbers, and count."""
    module = MODULES[kind](input_size, hidden_size, num_layers=num_layers, bidirectional=bidirectional, device="meta")
    return sum(parameter.numel() for parameter in module.parameters())


def case(kind, D, H, **more):
    sizes = {"D": D, "H": H}
    if "num_layers" in more:
        sizes["L"] = more["num_layers"]
    what = BOTH if more.get("bidirectional") else LAYERS if more.get("num_layers", 1) > 1 else ONE
    return Case(sizes=sizes, inputs={"kind": kind, "input_size": D, "hidden_size": H, **more}, kind=what)


EXAMPLE = case("gru", 3, 2)


def cases(rng):
    def sizes():
        """An input size and a hidden size that differ, also from twice each other."""
        while True:
            D, H = (int(n) for n in rng.integers(3, 60, size=2))
            if D not in (H, 2 * H) and H != 2 * D:
                return D, H

    for kind in ("rnn", "lstm", "gru"):
        yield case(kind, *sizes())
    yield case("lstm", *sizes(), num_layers=1, bidirectional=False)
    yield case("gru", 1, int(rng.integers(3, 20)))
    yield case("lstm", int(rng.integers(3, 20)), 1)
    yield case("rnn", 1, 1)
    for kind in ("rnn", "lstm", "gru"):
        yield case(kind, *sizes(), num_layers=2)
    yield case("gru", *sizes(), num_layers=int(rng.integers(3, 6)))
    yield case("lstm", *sizes(), num_layers=int(rng.integers(3, 6)), bidirectional=False)
    for kind in ("rnn", "lstm", "gru"):
        yield case(kind, *sizes(), bidirectional=True)
    for kind in ("lstm", "gru", "rnn"):
        yield case(kind, *sizes(), num_layers=int(rng.integers(2, 6)), bidirectional=True)
    yield case("gru", 1, 1, num_layers=2, bidirectional=True)


SPEC = Spec(
    outputs=[Output("count")],
    example=EXAMPLE,
    cases=cases,
    oracle=oracle,
    facets=[
        Facet("one layer", share=2, kinds=(ONE,)),
        Facet("several layers", share=1, kinds=(LAYERS,)),
        Facet("both directions", share=1, kinds=(BOTH,)),
    ],
)
BIASES, NEXT, ADDED = "2 * hidden_size)", "size = directions * hidden_size", "total += directions * blocks"
DOUBLED = "hidden_size *= directions\ntotal, size"
BLOCKS = '{"rnn": 1, "gru": 3, "lstm": 4}'

SPEC.mistakes(
    {
        **instead(
            " + 2 * hidden_size)",
            {
                "one_bias": " + hidden_size)",
                "one_bias_unless_gru": ' + (2 if kind == "gru" else 1) * hidden_size)',
                "no_bias": ")",
            },
        ),
        "biases_without_blocks": change(
            "blocks * (size * hidden_size + hidden_size**2 + 2 * hidden_size)",
            "(blocks * (size * hidden_size + hidden_size**2) + 2 * hidden_size)",
        ),
        "no_recurrent_weights": change(" + hidden_size**2", ""),
        **instead(
            "hidden_size**2",
            {
                "recurrent_weights_times_blocks_twice": "blocks * hidden_size**2",
                "recurrent_matrix_reads_the_input": "size * hidden_size",
            },
        ),
        "rnn_counted_as_gru": change('"rnn": 1', '"rnn": 3'),
        **instead(
            '"gru": 3',
            {
                "gru_with_four_blocks": '"gru": 4',
                "gru_with_two_blocks": '"gru": 2',
            },
        ),
        "lstm_with_three_blocks": change('"lstm": 4', '"lstm": 3'),
        **instead(
            BLOCKS,
            {
                "gates_only": '{"rnn": 1, "gru": 2, "lstm": 3}',
                "gru_and_lstm_exchanged": '{"rnn": 1, "gru": 4, "lstm": 3}',
            },
        ),
        "blocks_left_out": change("directions * blocks * (", "directions * ("),
        "biases_of_the_input_size": [
            change("2 * hidden_size)", "2 * size)"),
            change("2 * hidden_size)", "size + hidden_size)"),
        ],
        "one_layer_too_many": change("range(num_layers)", "range(num_layers + 1)"),
        "not_an_integer": change("return total", "return float(total)"),
    }
)
SPEC.mistakes(
    {
        "upper_layers_read_the_input": change(NEXT, "size = input_size"),
        "upper_layers_read_the_input_too": [
            change(NEXT, "size += directions * hidden_size"),
            change(NEXT, "size = input_size + directions * hidden_size"),
        ],
        "num_layers_ignored": change("range(num_layers)", "range(1)"),
    },
    keeps=["one layer"],
)
SPEC.mistakes(
    {
        "upper_layers_read_one_direction": change(NEXT, "size = hidden_size"),
        "bidirectional_ignored": change("2 if bidirectional else 1", "1"),
        "only_the_first_layer_doubled": [
            change(ADDED, "total += (1 if total else directions) * blocks"),
            change(NEXT, "size = directions * hidden_size\ndirections = 1"),
        ],
        **instead(
            ADDED,
            {
                "directions_only_in_the_input": "total += blocks",
                "first_layer_not_doubled": "total += (directions if total else 1) * blocks",
            },
        ),
        "hidden_size_doubled": [
            change("total, size", DOUBLED, (NEXT, "size = hidden_size"), (ADDED, "total += blocks")),
            change("total, size", DOUBLED, (NEXT, "size = hidden_size")),
        ],
        "first_layer_doubled_too": change("0, input_size", "0, directions * input_size"),
    },
    keeps=["one layer", "several layers"],
)


@SPEC.alternative
def closed_form(kind, input_size, hidden_size, num_layers=1, bidirectional=False):
    """First layer and upper layers, without a loop."""
    H, k = hidden_size, 1 + bool(bidirectional)
    first, upper = (k * H * (size + H + 2) for size in (input_size, k * H))
    return {"r": 1, "g": 3, "l": 4}[kind[0]] * (first + (num_layers - 1) * upper)


@SPEC.alternative
def by_shapes(kind, input_size, hidden_size, num_layers=1, bidirectional=False):
    """A list of all shapes, as PyTorch names them."""
    rows, shapes = {"rnn": 1, "gru": 3, "lstm": 4}[kind] * hidden_size, []
    for layer in range(num_layers):
        for _ in ("", "_reverse")[: 1 + bidirectional]:
            columns = input_size if layer == 0 else hidden_size * (1 + bidirectional)
            shapes += [(rows, columns), (rows, hidden_size), (rows, 1), (rows, 1)]
    return sum(height * width for height, width in shapes)


@SPEC.alternative
def by_recursion(kind, input_size, hidden_size, num_layers=1, bidirectional=False):
    """The top layers as a network of their own."""
    directions = 2 if bidirectional else 1
    blocks = 4 if kind == "lstm" else 3 if kind == "gru" else 1
    layer = directions * blocks * hidden_size * (input_size + hidden_size + 2)
    if num_layers == 1:
        return layer
    return layer + by_recursion(kind, directions * hidden_size, hidden_size, num_layers - 1, bidirectional)
