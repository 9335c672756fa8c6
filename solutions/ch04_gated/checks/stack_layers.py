"""How `stack_layers` is checked: by recursion from the top layer down."""

import numpy as np

from grader.author.spec import Case, Facet, Fixture, Output, Spec, change


def oracle(x, layers):
    """The states of the top layer ask for those of the layer below, down to the inputs."""

    def states(number):
        return layers[number](states(number - 1)) if number >= 0 else x

    return states(len(layers) - 1), [states(number)[:, -1] for number in range(len(layers))]


SEVERAL, ONE = "several layers", "one layer"

EXAMPLE = Case(
    sizes={"B": 1, "T": 3, "D": 1, "H": 1, "L": 2},
    inputs={
        "x": np.array([[[2.00], [1.00], [4.00]]]),
        "layers": [
            Fixture("leaky_layer", {"keep": 1.0, "scale": 1.0}),
            Fixture("leaky_layer", {"keep": 0.5, "scale": 3.0}),
        ],
    },
    kind=SEVERAL,
)


def layer(rng, D, H):
    return Fixture(
        "tanh_layer",
        {
            "W_xh": rng.normal(size=(D, H)) / np.sqrt(D),
            "W_hh": rng.normal(size=(H, H)) / np.sqrt(H),
            "b_h": rng.normal(size=H) / 2,
        },
    )


def case(rng, B, T, D, H, L):
    layers = [layer(rng, H if number else D, H) for number in range(L)]
    sizes = {"B": B, "T": T, "D": D, "H": H, "L": L}
    return Case(sizes, {"x": rng.normal(size=(B, T, D)), "layers": layers}, kind=SEVERAL if L > 1 else ONE)


def cases(rng):
    yield case(rng, B=2, T=4, D=3, H=3, L=2)
    yield case(rng, B=1, T=5, D=2, H=2, L=3)
    yield case(rng, B=3, T=2, D=5, H=4, L=1)
    yield case(rng, B=4, T=1, D=1, H=3, L=2)
    yield case(rng, B=5, T=6, D=4, H=3, L=2)
    yield case(rng, B=3, T=3, D=3, H=3, L=4)
    yield case(rng, B=2, T=3, D=1, H=1, L=1)


SPEC = Spec(
    outputs=[Output("top", ("B", "T", "H")), Output("final", ("B", "H"))],
    example=EXAMPLE,
    cases=cases,
    oracle=oracle,
    facets=[Facet("top", 1, outputs=("top",)), Facet("final", 1, outputs=("final",))],
    why="""
A layer maps a sequence to a sequence of the same length, so the states of one layer can be the inputs of the next. One
variable holds the current sequence: first `x`, then the states of layer 0, and in the end those of the top layer. The
final state of each layer is stored on the way, because the next pass of the loop replaces the variable.
""",
)

LOOP = "for layer in layers:\n    top = layer(top)\n    final.append(top[:, -1])"
ALL = f"tops = []\n{LOOP}\n    tops.append(top)"
SPEC.mistake(
    "every_layer_reads_x",
    "Every layer reads `x`. From the second layer on, each reads the states of the layer below.",
    change("layer(top)", "layer(x)"),
    tempts="`x` is the input, and layers read inputs.",
)
SPEC.mistake(
    "layers_in_reverse_order",
    "You go through the layers from the last to the first. Layer 0 is the lowest one, which reads `x`.",
    change("in layers", "in reversed(layers)"),
    change("in layers", "in reversed(layers)", ("return top, final", "return top, final[::-1]")),
    tempts="In a picture, the top layer comes first.",
)
SPEC.mistake(
    "final_in_reverse_order",
    "Your list of final states begins with the top layer. Begin with layer 0, the lowest one.",
    change("return top, final", "return top, final[::-1]"),
    change("final.append(top[:, -1])", "final.insert(0, top[:, -1])"),
    tempts="The top layer is the one that counts for the result.",
    keeps=["top"],
)
SPEC.mistake(
    "final_state_of_the_top_only",
    "`final` contains the state of the top layer only. Store the last state of *every* layer, inside the loop.",
    change("return top, final", "return top, final[-1:]"),
    change("return top, final", "return top, final[-1]"),
    tempts="After the loop, the states of the lower layers are gone.",
    keeps=["top"],
)
SPEC.mistake(
    "states_of_all_steps",
    "`final` contains the states of all steps. Store only the one after the last step of each layer, of shape (B, H).",
    change("append(top[:, -1])", "append(top)"),
    tempts="The loop has the whole array at hand.",
    keeps=["top"],
)
SPEC.mistake(
    "state_of_the_first_step",
    "`final` contains the states after the first step. Store those after the last one, with the index −1.",
    change("top[:, -1]", "top[:, 0]"),
    tempts="The index 0 is the first that comes to mind.",
    keeps=["top"],
)
SPEC.mistake(
    "last_sequence_of_the_batch",
    "`final` contains all states of the last sequence of the batch. The last step is at index −1 of axis 1: the batch "
    "comes first.",
    change("top[:, -1]", "top[-1]"),
    tempts="`h[-1]` is the last state of a single sequence.",
    keeps=["top"],
)
SPEC.mistake(
    "inputs_of_layers_stored",
    "`final` contains the last inputs of the layers instead of their last states. Store the state *after* the layer "
    "has run.",
    change("top = layer(top)\nfinal.append(top[:, -1])", "final.append(top[:, -1])\ntop = layer(top)"),
    tempts="The two lines of the loop are in the wrong order.",
    keeps=["top"],
)
SPEC.mistake(
    "all_layers_returned",
    "You return the states of all layers. `top` is the array of the top layer alone, the last one that ran.",
    change(LOOP, "tops = []\n" + LOOP + "\n    tops.append(top)", ("return top", "return tops")),
    change(
        LOOP, "tops = []\n" + LOOP + "\n    tops.append(top)", ("return top", "return np.concatenate(tops, axis=2)")
    ),
    tempts="The final states of all layers are asked for, so their other states seem to be too.",
    keeps=["final"],
)
SPEC.mistake(
    "stops_after_the_first_layer",
    "Only the first layer runs: `return` is inside the loop. Put it after the loop.",
    change("    return top, final", "        return top, final"),
    tempts="The indentation of the last line is one level too deep.",
)
SPEC.mistake(
    "input_added",
    "You add a layer's input to its states. That is a residual connection, a different network: pass the states on as "
    "they are.",
    change("top = layer(top)", "top = layer(top) + (top if final else 0)"),
    tempts="Deep networks often have such connections.",
)


@SPEC.alternative
def by_number(x, layers):
    """All sequences kept in a list, by the number of the layer."""
    sequences = [x]
    for number in range(len(layers)):
        sequences.append(layers[number](sequences[number]))
    return sequences[-1], [h[:, -1, :] for h in sequences[1:]]


@SPEC.alternative
def top_down(x, layers):
    """By recursion: the stack without its lowest layer reads what that layer returns."""
    h = layers[0](x)
    if len(layers) == 1:
        return h, [h[:, h.shape[1] - 1]]
    top, final = top_down(h, layers[1:])
    return top, [h[:, h.shape[1] - 1], *final]
