"""How `stack_layers` is checked: by recursion from the top layer down."""

import numpy as np

from grader.spec.spec import Case, Facet, Fixture, Output, Spec, change, instead


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
)
LOOP = "for layer in layers:\n    top = layer(top)\n    final.append(top[:, -1])"

SPEC.mistakes(
    {
        "every_layer_reads_x": change("layer(top)", "layer(x)"),
        "layers_in_reverse_order": [
            change("in layers", "in reversed(layers)"),
            change("in layers", "in reversed(layers)", ("return top, final", "return top, final[::-1]")),
        ],
        "stops_after_the_first_layer": change("    return top, final", "        return top, final"),
        "input_added": [
            change("top = layer(top)", "top = layer(top) + (top if final else 0)"),
            change("top = layer(top)", "top = layer(top) + top"),
        ],
        "each_step_by_itself": change(
            LOOP,
            "states = [x] + [[] for _ in layers]\n"
            "for t in range(x.shape[1]):\n"
            "    top = x[:, t : t + 1]\n"
            "    for layer, h in zip(layers, states[1:], strict=True):\n"
            "        top = layer(top)\n"
            "        h.append(top)\n"
            "final = [h[-1][:, 0] for h in states[1:]]\n"
            "top = np.concatenate(states[-1], axis=1)",
        ),
    }
)
SPEC.mistakes(
    {
        "final_in_reverse_order": change("return top, final", "return top, final[::-1]"),
        "final_state_of_the_top_only": [
            change("return top, final", "return top, final[-1:]"),
            change("return top, final", "return top, final[-1]"),
        ],
        "states_of_all_steps": change("append(top[:, -1])", "append(top)"),
        **instead(
            "top[:, -1]",
            {
                "state_of_the_first_step": "top[:, 0]",
                "last_sequence_of_the_batch": "top[-1]",
            },
        ),
        "inputs_of_layers_stored": change(
            "top = layer(top)\nfinal.append(top[:, -1])", "final.append(top[:, -1])\ntop = layer(top)"
        ),
    },
    keeps=["top"],
)
SPEC.mistakes(
    {
        "all_layers_returned": [
            change(LOOP, "tops = []\n" + LOOP + "\n    tops.append(top)", ("return top", "return tops")),
            change(
                LOOP,
                "tops = []\n" + LOOP + "\n    tops.append(top)",
                ("return top", "return np.concatenate(tops, axis=2)"),
            ),
        ],
    },
    keeps=["final"],
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
