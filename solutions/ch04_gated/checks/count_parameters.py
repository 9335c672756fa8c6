"""How `count_parameters` is checked: against the parameters of PyTorch's modules, built without memory for them."""

import torch

from grader.author.spec import Case, Facet, Output, Spec, change

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
    why=r"""
One block is what a tanh RNN has: an input matrix of (D, H), a recurrent matrix of (H, H) and, in PyTorch, two biases
of H entries each. The GRU has three such blocks and the LSTM four, so at equal sizes the three cells have parameters in
the ratio 1 : 3 : 4. A layer above the first reads the states of the layer below, H numbers at each step, or 2H if that
layer has run in both directions. Each direction has weights of its own, so a bidirectional layer has twice
the parameters of one that reads the same input in one direction.
""",
)

BIASES, NEXT, ADDED = "2 * hidden_size)", "size = directions * hidden_size", "total += directions * blocks"
DOUBLED = "hidden_size *= directions\ntotal, size"
BLOCKS = '{"rnn": 1, "gru": 3, "lstm": 4}'
SPEC.mistake(
    "one_bias",
    "You count one bias for each block. Count two, as PyTorch does: one for the input's side and one for the state's "
    "side.",
    change(" + 2 * hidden_size)", " + hidden_size)"),
    tempts="Our rnn_step and lstm_step have a single bias, and in both of them a second one would change nothing.",
)
SPEC.mistake(
    "one_bias_unless_gru",
    "You count two biases for the GRU but one for the other cells. PyTorch has two for each block of every cell, "
    "although in a tanh RNN and in an LSTM only their sum matters.",
    change(" + 2 * hidden_size)", ' + (2 if kind == "gru" else 1) * hidden_size)'),
    tempts="This is what the functions of this course have: rnn_step and lstm_step take one bias, gru_step takes two.",
)
SPEC.mistake(
    "no_bias",
    "You leave out the biases. Each block has two of them, with `hidden_size` entries each.",
    change(" + 2 * hidden_size)", ")"),
    tempts="The matrices are nearly everything.",
)
SPEC.mistake(
    "biases_without_blocks",
    "You count the two biases only once for the whole cell. Each block has two biases of its own, with `hidden_size` "
    "entries each.",
    change(
        "blocks * (size * hidden_size + hidden_size**2 + 2 * hidden_size)",
        "(blocks * (size * hidden_size + hidden_size**2) + 2 * hidden_size)",
    ),
    tempts="A pair of brackets ends one term too early.",
)
SPEC.mistake(
    "no_recurrent_weights",
    "You leave out the recurrent weights. Add `hidden_size` times `hidden_size` for each block.",
    change(" + hidden_size**2", ""),
    tempts="A feed-forward layer has only input weights and biases.",
)
SPEC.mistake(
    "recurrent_weights_times_blocks_twice",
    "You count too many recurrent weights: the blocks multiply only the columns of the recurrent matrix. Each block "
    "has `hidden_size` times `hidden_size` recurrent weights, because it reads H states and computes H numbers.",
    change("hidden_size**2", "blocks * hidden_size**2"),
    tempts="With hidden_size replaced by 4 · hidden_size everywhere, the square grows by 16.",
)
SPEC.mistake(
    "gru_with_four_blocks",
    "You count four blocks for the GRU. It has three: reset gate, update gate and candidate.",
    change('"gru": 3', '"gru": 4'),
    tempts="The LSTM has four.",
)
SPEC.mistake(
    "gru_with_two_blocks",
    "You count two blocks for the GRU, its two gates. The candidate has weights too, so there are three.",
    change('"gru": 3', '"gru": 2'),
    tempts="The GRU has two gates.",
)
SPEC.mistake(
    "lstm_with_three_blocks",
    "You count three blocks for the LSTM. It has four: input gate, forget gate, candidate and output gate.",
    change('"lstm": 4', '"lstm": 3'),
    tempts="The LSTM has three gates.",
)
SPEC.mistake(
    "gates_only",
    "You count the gates only: two for the GRU and three for the LSTM. The candidate has weights too, so there are "
    "three blocks and four.",
    change(BLOCKS, '{"rnn": 1, "gru": 2, "lstm": 3}'),
    tempts="One asks 'how many gates?', and the candidate is not a gate.",
)
SPEC.mistake(
    "gru_and_lstm_exchanged",
    "You exchange the numbers of blocks of the GRU and the LSTM. The GRU has three and the LSTM has four.",
    change(BLOCKS, '{"rnn": 1, "gru": 4, "lstm": 3}'),
    tempts="Two numbers that differ by one.",
)
SPEC.mistake(
    "blocks_left_out",
    "You count every cell as if it were a tanh RNN. Multiply by the number of its blocks: 3 for the GRU, 4 for the "
    "LSTM.",
    change("directions * blocks * (", "directions * ("),
    tempts="The shapes in the book's table are those of one block.",
)
SPEC.mistake(
    "upper_layers_read_the_input",
    "You let every layer read the input. Only the first layer does: a layer above it reads the states of the layer "
    "below, which has `hidden_size` units in each direction.",
    change(NEXT, "size = input_size"),
    tempts="A product with num_layers needs no loop.",
    keeps=["one layer"],
)
SPEC.mistake(
    "upper_layers_read_one_direction",
    "You let the upper layers of a bidirectional network read the states of one direction. They read both: "
    "`2 * hidden_size` numbers at each step.",
    change(NEXT, "size = hidden_size"),
    tempts="`hidden_size` is right for a network in one direction, and doubling the total looks sufficient.",
    keeps=["one layer", "several layers"],
)
SPEC.mistake(
    "bidirectional_ignored",
    "You ignore `bidirectional`. The second direction has weights of its own in every layer, and the layers above read "
    "both directions.",
    change("2 if bidirectional else 1", "1"),
    tempts="Unrolling in time shares the weights, so running backwards seems to share them too.",
    keeps=["one layer", "several layers"],
)
SPEC.mistake(
    "directions_only_in_the_input",
    "You double the input of the upper layers but count only one set of weights for each layer. Each direction has "
    "weights of its own, in the first layer too.",
    change(ADDED, "total += blocks"),
    tempts="The doubled input is the harder part, and once it is there the rest looks done.",
    keeps=["one layer", "several layers"],
)
SPEC.mistake(
    "hidden_size_doubled",
    "You double `hidden_size` for a bidirectional network. Keep it, and count two sets of weights in each layer: each "
    "set has a recurrent matrix of (H, H), not of (2H, 2H).",
    change("total, size", DOUBLED, (NEXT, "size = hidden_size"), (ADDED, "total += blocks")),
    change("total, size", DOUBLED, (NEXT, "size = hidden_size")),
    tempts="The result has 2H columns, as if there were 2H units.",
    keeps=["one layer", "several layers"],
)
SPEC.mistake(
    "first_layer_doubled_too",
    "You double the input of the first layer too. It reads the input itself, in each direction: only the layers above "
    "it read `2 * hidden_size` numbers.",
    change("0, input_size", "0, directions * input_size"),
    tempts="Two directions read the input, so it seems to be there twice.",
    keeps=["one layer", "several layers"],
)
SPEC.mistake(
    "first_layer_not_doubled",
    "You count one direction for the first layer of a bidirectional network. It has two sets of weights, as every "
    "layer has.",
    change(ADDED, "total += (directions if total else 1) * blocks"),
    tempts="The first layer is written before the loop, where `bidirectional` has not been thought of yet.",
    keeps=["one layer", "several layers"],
)
SPEC.mistake(
    "recurrent_matrix_reads_the_input",
    "You count `size * hidden_size` recurrent weights, where `size` is what the layer reads. The recurrent matrix "
    "reads the previous state of its own layer, so it has `hidden_size * hidden_size` entries.",
    change("hidden_size**2", "size * hidden_size"),
    tempts="The two products are written one after the other, and the second is a copy of the first.",
)
SPEC.mistake(
    "biases_of_the_input_size",
    "At least one of your biases has as many entries as the layer has inputs. A bias is added to a pre-activation, so "
    "both biases of a block have `hidden_size` entries.",
    change("2 * hidden_size)", "2 * size)"),
    change("2 * hidden_size)", "size + hidden_size)"),
    tempts="One bias belongs to the input's side, so it seems to have the input's size.",
)
SPEC.mistake(
    "num_layers_ignored",
    "You count the first layer only. Add the layers above it.",
    change("range(num_layers)", "range(1)"),
    tempts="The default is one layer.",
    keeps=["one layer"],
)
SPEC.mistake(
    "one_layer_too_many",
    "You count one layer too many. There are `num_layers` in all, including the first one.",
    change("range(num_layers)", "range(num_layers + 1)"),
    tempts="The first layer is counted on its own, and then num_layers more.",
)
SPEC.mistake(
    "not_an_integer",
    "You return the count with the wrong type. Return an `int`, because a number of parameters is a whole number.",
    change("return total", "return float(total)"),
    tempts="A division somewhere makes a float of it.",
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
