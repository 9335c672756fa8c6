"""How `Seq2Seq` is checked: against loops over rows, steps and layers in NumPy, by the equations of PyTorch's GRU."""

import numpy as np
import torch

from grader.spec.spec import Facet, Output, Spec, change, instead, module_case

FULL, SHORTER, LAYERS, BOTH = "full rows", "shorter rows", "several layers", "shorter rows, several layers"
ONE_ROW = "one shorter row"
SIZES = ("source_vocab", "target_vocab", "embed_size", "hidden_size", "num_layers", "pad_id")
OF_LAYER = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")


def shapes(U, V, D, H, L):
    """The shape of every weight, by its name in the module's `state_dict`; U is the size of the source vocabulary."""
    found = {"source_embedding.weight": (U, D), "target_embedding.weight": (V, D)}
    for gru in ("encoder", "decoder"):
        for layer in range(L):
            of_layer = ((3 * H, H if layer else D), (3 * H, H), (3 * H,), (3 * H,))
            found |= {f"{gru}.{name}_l{layer}": shape for name, shape in zip(OF_LAYER, of_layer, strict=True)}
    return found | {"head.weight": (V, H), "head.bias": (V,)}


def case(sizes, init, weights, call, kind, observed="learning", between=()):
    return module_case(
        sizes,
        init=init,
        weights=weights,
        forward=call,
        between=between,
        returns={"logits": observed},
        kind=kind,
    )


def call_of(source, lengths, target_in):
    return {"source": source, "source_lengths": np.array(lengths), "target_in": target_in}


def drawn(rng, lengths, T, U, V, D, H, L, kind, S=None, pad_id=0, target_lengths=(), observed="learning", calls=1):
    """A case with random weights and ids, judged by the last of some calls with the same sizes.

    Rows are padded to S; no real word has the padding's id, and no source has a word twice, because it could read the
    same backwards. The padding of an embedding gets no gradient, so it cannot
    be compared if the targets are padded.
    """
    B, S = len(lengths), S or max(lengths)

    def one_call():
        words = rng.permuted(np.tile([id_ for id_ in range(U) if id_ != pad_id], (B, 1)), axis=1)[:, :S]
        source = np.where(np.arange(S) < np.array(lengths)[:, None], words, pad_id)
        target_in = rng.choice([id_ for id_ in range(V) if id_ != pad_id] or [pad_id], size=(B, T))
        if target_lengths:
            target_in = np.where(np.arange(T) < np.array(target_lengths)[:, None], target_in, pad_id)
        return call_of(source, lengths, target_in)

    *between, judged = [one_call() for _ in range(calls)]
    return case(
        {"B": B, "S": S, "T": T, "V": V, "D": D, "H": H, "L": L},
        dict(zip(SIZES, (U, V, D, H, L, pad_id), strict=True)),
        {name: rng.normal(size=shape) for name, shape in shapes(U, V, D, H, L).items()},
        judged,
        kind,
        observed,
        between,
    )


EXAMPLE = case(
    {"B": 2, "S": 2, "T": 2, "V": 3, "D": 1, "H": 1, "L": 1},
    dict(zip(SIZES, (3, 3, 1, 1, 1, 0), strict=True)),
    {
        "source_embedding.weight": np.array([[0.0], [1.5], [-1.0]]),
        "target_embedding.weight": np.array([[0.0], [0.4], [-0.8]]),
        "encoder.weight_ih_l0": np.array([[0.5], [-0.5], [1.0]]),
        "encoder.weight_hh_l0": np.array([[-0.4], [0.3], [0.7]]),
        "encoder.bias_ih_l0": np.array([0.2, -0.6, 0.3]),
        "encoder.bias_hh_l0": np.array([0.0, 0.1, -0.5]),
        "decoder.weight_ih_l0": np.array([[-0.3], [0.8], [1.2]]),
        "decoder.weight_hh_l0": np.array([[0.6], [-0.2], [0.9]]),
        "decoder.bias_ih_l0": np.array([0.1, 0.4, 0.0]),
        "decoder.bias_hh_l0": np.array([0.0, -0.1, 0.25]),
        "head.weight": np.array([[-1.0], [2.0], [0.5]]),
        "head.bias": np.array([0.0, -0.3, 0.1]),
    },
    call_of(np.array([[2, 0], [1, 2]]), [1, 2], np.array([[1, 2], [1, 1]])),
    SHORTER,
)


def cases(rng):
    """Gradients are compared once for each kind; with padded targets they are not (`drawn`)."""
    yield drawn(rng, [3, 3], T=4, U=5, V=5, D=3, H=4, L=1, kind=FULL)
    yield drawn(rng, [1, 1], T=3, U=4, V=1, D=2, H=1, L=1, kind=FULL, target_lengths=[0, 0], observed="tensor")
    yield drawn(rng, [2, 4, 1], T=3, U=5, V=5, D=2, H=4, L=1, kind=SHORTER)
    padded = {"S": 6, "pad_id": 1, "target_lengths": [3, 1, 2, 3], "observed": "tensor"}
    yield drawn(rng, [3, 1, 5, 2], T=3, U=7, V=8, D=2, H=5, L=1, kind=SHORTER, calls=2, **padded)
    yield drawn(rng, [2], T=2, U=5, V=3, D=2, H=3, L=1, kind=ONE_ROW, S=4)
    yield drawn(rng, [2, 2, 2], T=3, U=6, V=6, D=4, H=4, L=2, kind=LAYERS)
    yield drawn(rng, [1, 3, 2], T=4, U=6, V=6, D=4, H=5, L=2, kind=BOTH)
    yield drawn(rng, [2, 1, 4, 3], T=1, U=6, V=4, D=1, H=2, L=3, kind=BOTH, S=5, pad_id=2, observed="tensor")


def logistic(a):
    return 1 / (1 + np.exp(-a))


def run_gru(weights, gru, L, x, h_0):
    """The states of one row, step by step: x (T, D), h_0 (L, H) -> of the top layer (T, H), the last of each (L, H)."""
    last = []
    for layer in range(L):
        W_x, W_h, b_x, b_h = (weights[f"{gru}.{name}_l{layer}"] for name in OF_LAYER)
        h, states, H = h_0[layer], [], h_0.shape[1]
        for read in x @ W_x.T + b_x:  # (3H,): r, z, n
            recalled = W_h @ h + b_h
            gates = logistic((read + recalled)[: 2 * H])
            n = np.tanh(read[2 * H :] + gates[:H] * recalled[2 * H :])
            h = (1 - gates[H:]) * n + gates[H:] * h
            states.append(h)
        x = np.array(states).reshape(-1, H)  # there may be no step at all
        last.append(h)
    return x, np.array(last)


def oracle(init, weights, source, source_lengths, target_in, run):
    """Each row by itself, without its padding."""
    L, logits = init["num_layers"], []
    for ids, length, inputs in zip(source, source_lengths, target_in, strict=True):
        zeros = np.zeros((L, init["hidden_size"]))
        _, context = run_gru(weights, "encoder", L, weights["source_embedding.weight"][ids[:length]], zeros)
        states, _ = run_gru(weights, "decoder", L, weights["target_embedding.weight"][inputs], context)
        logits.append(states @ weights["head.weight"].T + weights["head.bias"])
    return np.array(logits)


SPEC = Spec(
    outputs=[Output("logits", ("B", "T", "V"))],
    example=EXAMPLE,
    cases=cases,
    oracle=oracle,
    driver="module",
    facets=[
        Facet("sources of equal length", 1, kinds=(FULL,)),
        Facet("shorter sources", 1, kinds=(SHORTER, ONE_ROW)),
        Facet("several layers", 1, kinds=(LAYERS,)),
        Facet("shorter sources, several layers", 1, kinds=(BOTH,)),
    ],
)
PACK = (
    "packed = torch.nn.utils.rnn.pack_padded_sequence("
    "words, source_lengths, batch_first=True, enforce_sorted=False)\n_, context = self.encoder(packed)"
)
OUTPUTS = f"""
{PACK.replace("_, context", "outputs, context")}
outputs, _ = torch.nn.utils.rnn.pad_packed_sequence(outputs, batch_first=True)
"""
STATES = "states, _ = self.decoder(self.target_embedding(target_in), context)"
LOOP = """
steps, state = [], context
for t in range(target_in.shape[1]):
    h, state = self.decoder(self.target_embedding(target_in[:, t : t + 1]), state)
    steps.append(h)
states = torch.cat(steps, dim=1)
"""
TOP = "context = {}.repeat(self.decoder.num_layers, 1, 1)"
ROWS = "torch.arange(len(source))"
BACKWARD = f"""
{PACK}
{PACK.replace("_, context", "_, backward").replace("words,", "words.flip(1),")}
"""
KEPT = "getattr(self, 'state', None)"
PAD = "self.target_embedding.padding_idx"
SHIFTED = "(torch.cat([{}], dim=1))"
PAD_COLUMN = f"torch.full_like(target_in[:, :1], {PAD})"
CLAMPED = "source_lengths.clamp(max=source.shape[1] - 1)"
TARGET_LENGTHS = f"(target_in != {PAD}).sum(dim=1)"


def packed_by(lengths):
    """The encoder's lines with these lengths."""
    return PACK.replace("source_lengths", lengths)


SORTED = """
order = torch.argsort(source_lengths, descending=True, stable=True)
packed = torch.nn.utils.rnn.pack_padded_sequence(words[order], source_lengths[order], batch_first=True)
_, context = self.encoder(packed)
"""


class Released(torch.nn.Module):
    """The submodules that the notebook gives."""

    def __init__(self, source_vocab, target_vocab, embed_size, hidden_size, num_layers, pad_id):
        super().__init__()
        self.source_embedding = torch.nn.Embedding(source_vocab, embed_size, padding_idx=pad_id)
        self.target_embedding = torch.nn.Embedding(target_vocab, embed_size, padding_idx=pad_id)
        self.encoder = torch.nn.GRU(embed_size, hidden_size, num_layers=num_layers, batch_first=True)
        self.decoder = torch.nn.GRU(embed_size, hidden_size, num_layers=num_layers, batch_first=True)
        self.head = torch.nn.Linear(hidden_size, target_vocab)


SPEC.mistakes(
    {
        **instead(
            PACK,
            {
                "state_at_the_padded_end": "_, context = self.encoder(words)",
                "padding_read_as_zero": (
                    "_, context = self.encoder(words * (source != self.source_embedding.padding_idx)[:, :, None])"
                ),
                "state_set_to_zero": "context = torch.zeros(self.encoder.num_layers, len(source), "
                "self.encoder.hidden_size)\n"
                "for t in range(source.shape[1]):\n"
                "    _, context = self.encoder(words[:, t : t + 1], context)\n"
                "    context = context * (t < source_lengths)[None, :, None]",
            },
        ),
        "one_length_for_all": [
            change(PACK, "_, context = self.encoder(words[:, : source_lengths.min()])"),
            change(PACK, "_, context = self.encoder(words[:, : source_lengths[0]])"),
            change(PACK, "_, context = self.encoder(words[:, : source_lengths.max()])"),
        ],
        "rows_not_restored": [
            change(PACK, SORTED),
            change(PACK, SORTED, ("(target_in)", "(target_in[order])")),
            change(PACK, SORTED + "context = context[:, order]"),
            change(
                PACK,
                SORTED.replace(", descending=True, stable=True", "").replace(
                    "st=True)", "st=True, enforce_sorted=False)"
                ),
            ),
        ],
        "lengths_or_rows_sorted_alone": [
            change(PACK, packed_by("source_lengths.sort(descending=True)[0]")),
            change(PACK, packed_by("source_lengths.sort()[0]")),
            change(PACK, "order = source_lengths.argsort(descending=True)\n" + PACK.replace("words,", "words[order],")),
            change(
                PACK,
                "order = source_lengths.argsort(descending=True)\n"
                + PACK.replace("words,", "words[order],")
                + "\ncontext = context[:, order.argsort()]",
            ),
        ],
        "rows_must_be_sorted": change(", enforce_sorted=False", ""),
        "lengths_counted_by_id_0": change(PACK, packed_by("(source != 0).sum(dim=1).clamp(min=1)")),
        "target_lengths_for_sources": [
            change(PACK, packed_by(f"{TARGET_LENGTHS}.clamp(1, source.shape[1])")),
            change(PACK, packed_by("torch.full_like(source_lengths, min(target_in.shape[1], source.shape[1]))")),
        ],
    },
    keeps=["sources of equal length", "several layers"],
)
SPEC.mistakes(
    {
        "packed_time_first": change(" batch_first=True,", ""),
        "starts_from_zeros": [
            change("(target_in), context)", "(target_in))"),
            change(STATES, LOOP.replace(", state)", ")")),
        ],
        "nonlinearity_on_the_context": [
            change("(target_in), context)", "(target_in), torch.tanh(context))"),
            change("(target_in), context)", "(target_in), torch.relu(context))"),
        ],
        "outputs_combined": [
            change(PACK, OUTPUTS + TOP.format("(outputs.sum(dim=1) / source_lengths[:, None])")),
            change(PACK, OUTPUTS + TOP.format("outputs.mean(dim=1)")),
            change(PACK, "outputs, _ = self.encoder(words)\n" + TOP.format("outputs.mean(dim=1)")),
            change(PACK, OUTPUTS + TOP.format("outputs.sum(dim=1)")),
            change(PACK, OUTPUTS + TOP.format("outputs.amax(dim=1)")),
            change(
                PACK,
                OUTPUTS.replace("outputs, batch_first=True", "outputs, batch_first=True, padding_value=-9.0")
                + TOP.format("outputs.amax(dim=1)"),
            ),
        ],
        "wrong_step_of_outputs": [
            change(PACK, OUTPUTS + TOP.format(f"outputs[{ROWS}, source_lengths - 2]")),
            change(PACK, f"outputs, _ = self.encoder(words)\n{TOP.format(f'outputs[{ROWS}, source_lengths - 2]')}"),
            change(PACK, OUTPUTS + TOP.format("outputs[:, 0]")),
        ],
        "last_word_only": change(PACK, f"_, context = self.encoder(words[{ROWS}, source_lengths - 1][:, None])"),
        "reads_in_both_directions": [
            change(PACK, BACKWARD + "context = context + backward"),
            change(PACK, BACKWARD + "context = (context + backward) / 2"),
            change(PACK, PACK + "\n_, backward = self.encoder(words.flip(1))\ncontext = context + backward"),
            change(PACK, PACK + "\n_, backward = self.encoder(words.flip(1))\ncontext = (context + backward) / 2"),
        ],
        "source_embedding_for_targets": change("self.target_embedding(target_in)", "self.source_embedding(target_in)"),
        "target_embedding_for_sources": change("self.source_embedding(source)", "self.target_embedding(source)"),
        "embeddings_exchanged": change(
            "self.source_embedding(source)",
            "self.target_embedding(source)",
            ("self.target_embedding(target_in)", "self.source_embedding(target_in)"),
        ),
        "nonlinearity_after_the_embedding": [
            change("self.target_embedding(target_in)", "torch.relu(self.target_embedding(target_in))"),
            change(
                "self.target_embedding(target_in)",
                "torch.relu(self.target_embedding(target_in))",
                ("self.source_embedding(source)", "torch.relu(self.source_embedding(source))"),
            ),
        ],
        "grus_exchanged": change(
            "self.encoder(packed)", "self.decoder(packed)", ("self.decoder(self.target", "self.encoder(self.target")
        ),
        "targets_encoded": [
            change(PACK, "_, context = self.encoder(self.target_embedding(target_in))"),
            change(PACK, PACK + "\n_, context = self.encoder(self.target_embedding(target_in), context)"),
        ],
        "source_decoded": [
            change("self.decoder(self.target_embedding(target_in)", "self.decoder(words"),
            change(
                "self.decoder(self.target_embedding(target_in)",
                "self.decoder(torch.cat([words, self.target_embedding(target_in)], dim=1)",
                ("self.head(states)", "self.head(states[:, source.shape[1] :])"),
            ),
            change(
                "self.decoder(self.target_embedding(target_in), context)",
                "self.decoder(torch.cat([words, self.target_embedding(target_in)], dim=1))",
                ("self.head(states)", "self.head(states[:, source.shape[1] :])"),
            ),
        ],
        "encoder_used_for_targets": [
            change("self.decoder(self.target", "self.encoder(self.target"),
            change(
                "self.decoder(self.target_embedding(target_in), context)",
                "self.encoder(self.target_embedding(target_in))",
            ),
        ],
        "decoder_used_for_sources": change("self.encoder(packed)", "self.decoder(packed)"),
        "context_added_to_the_outputs": [
            change("self.head(states)", "self.head(states + context[-1][:, None])"),
            change(
                "(target_in), context)",
                "(target_in))",
                ("self.head(states)", "self.head(states + context[-1][:, None])"),
            ),
        ],
        **instead(
            "self.head(states)",
            {
                "head_on_embeddings": "self.head(self.target_embedding(target_in))",
                "head_left_out": "states",
                "outputs_detached": "self.head(states.detach())",
                "logits_detached": "self.head(states).detach()",
                "dropout_applied": "self.head(torch.nn.functional.dropout(states))",
                "logits_flattened": "self.head(states).flatten(0, 1)",
            },
        ),
        "one_state_for_all_steps": [
            change("self.head(states)", "self.head(context[-1])[:, None].expand(-1, target_in.shape[1], -1)"),
            change("self.head(states)", "self.head(states[:, -1:]).expand(-1, target_in.shape[1], -1)"),
        ],
        "time_first": change(
            "self.decoder(self.target_embedding(target_in)",
            "self.decoder(self.target_embedding(target_in).transpose(0, 1)",
            ("self.head(states)", "self.head(states.transpose(0, 1))"),
        ),
        "last_step_only": [
            change("self.head(states)", "self.head(states[:, -1])"),
            change("self.head(states)", "self.head(states[:, -1:])"),
        ],
        "softmax_applied": [
            change("self.head(states)", "self.head(states).softmax(dim=-1)"),
            change("self.head(states)", "self.head(states).log_softmax(dim=-1)"),
            change("self.head(states)", "self.head(states).softmax(dim=1)"),
            change("self.head(states)", "self.head(states).log_softmax(dim=1)"),
        ],
        "nonlinearity_before_the_head": [
            change("self.head(states)", "self.head(torch.tanh(states))"),
            change("self.head(states)", "self.head(torch.relu(states))"),
        ],
        "context_detached": change("(target_in), context)", "(target_in), context.detach())"),
        "embedding_detached": [
            change("self.source_embedding(source)", "self.source_embedding(source).detach()"),
            change("self.target_embedding(target_in)", "self.target_embedding(target_in).detach()"),
            change(
                "self.source_embedding(source)",
                "self.source_embedding(source).detach()",
                ("self.target_embedding(target_in)", "self.target_embedding(target_in).detach()"),
            ),
        ],
        **instead(
            STATES,
            {
                "detached_between_steps": LOOP.replace(
                    "steps.append(h)", "steps.append(h)\n    state = state.detach()"
                ),
                "feeds_its_own_predictions": LOOP.replace(
                    "self.target_embedding(target_in[:, t : t + 1])", "self.target_embedding(word)"
                )
                .replace("steps, state = [], context", "steps, state, word = [], context, target_in[:, :1]")
                .replace("steps.append(h)", "steps.append(h)\n    word = self.head(h).argmax(dim=2)"),
                "context_at_every_step": LOOP.replace("h, state = ", "h, _ = "),
            },
        ),
        "source_reversed": [
            change("self.source_embedding(source)", "self.source_embedding(source.flip(1))"),
            change(
                "self.source_embedding(source)",
                "self.source_embedding(source.flip(1))",
                (PACK, "_, context = self.encoder(words)"),
            ),
            change(
                PACK,
                "words = torch.stack([torch.cat([x[:n].flip(0), x[n:]]) for x, n in zip(words, source_lengths)])\n"
                + PACK,
            ),
        ],
        "targets_cut": [
            change("self.target_embedding(target_in)", "self.target_embedding(target_in[:, :-1])"),
            change("self.target_embedding(target_in)", "self.target_embedding(target_in[:, 1:])"),
            change("self.head(states)", "self.head(states[:, :-1])"),
            change("self.head(states)", "self.head(states[:, 1:])"),
            change(STATES, LOOP.replace("range(", "range(1, ")),
        ],
        "targets_shifted_again": [
            change("(target_in)", SHIFTED.format(f"{PAD_COLUMN}, target_in[:, :-1]")),
            change("(target_in)", SHIFTED.format(f"target_in[:, 1:], {PAD_COLUMN}")),
            change(
                "self.target_embedding(target_in)",
                "torch.nn.functional.pad(self.target_embedding(target_in)[:, :-1], (0, 0, 1, 0))",
            ),
        ],
    }
)
SPEC.mistakes(
    {
        **instead(
            PACK,
            {
                "last_output_repeated": (
                    "outputs, _ = self.encoder(words)\ncontext = outputs[:, -1].repeat(self.decoder.num_layers, 1, 1)"
                ),
                "one_step_past_the_end": (
                    f"outputs, _ = self.encoder(words)\n{TOP.format(f'outputs[{ROWS}, {CLAMPED}]')}"
                ),
            },
        ),
        "padded_column_of_outputs": [
            change(PACK, OUTPUTS + TOP.format("outputs[:, -1]")),
            change(
                PACK,
                "outputs, _ = self.encoder(words)\n"
                "outputs = outputs * (source != self.source_embedding.padding_idx)[:, :, None]\n"
                + TOP.format("outputs[:, -1]"),
            ),
        ],
    },
    keeps=["sources of equal length"],
)
SPEC.mistakes(
    {
        "top_layer_repeated": change(
            "(target_in), context)", "(target_in), context[-1:].expand_as(context).contiguous())"
        ),
        **instead(
            "(target_in), context)",
            {
                "bottom_layer_repeated": "(target_in), context[:1].expand_as(context).contiguous())",
                "one_layer_passed_on": "(target_in), context[-1:])",
                "layers_and_rows_mixed": "(target_in), context.transpose(0, 1).reshape(context.shape))",
                "layers_reversed": "(target_in), context.flip(0))",
            },
        ),
        "top_layer_alone": [
            change("(target_in), context)", "(target_in), torch.cat([context[-1:], 0 * context[1:]]))"),
            change("(target_in), context)", "(target_in), torch.cat([0 * context[1:], context[-1:]]))"),
        ],
        "layers_combined": [
            change(
                "(target_in), context)", "(target_in), context.sum(0, keepdim=True).expand_as(context).contiguous())"
            ),
            change(
                "(target_in), context)", "(target_in), context.mean(0, keepdim=True).expand_as(context).contiguous())"
            ),
        ],
    },
    keeps=["sources of equal length", "shorter sources"],
)
SPEC.mistakes(
    {
        "target_padding_treated": [
            change("self.head(states)", f"self.head(states) * (target_in != {PAD})[:, :, None]"),
            change("self.head(states)", f"self.head(states).masked_fill((target_in == {PAD})[:, :, None], -1e9)"),
            change("self.head(states)", f"self.head(states).masked_fill((target_in == {PAD})[:, :, None], -torch.inf)"),
            change(
                STATES,
                f"y, lengths = self.target_embedding(target_in), {TARGET_LENGTHS}.clamp(min=1)\n"
                "packed = torch.nn.utils.rnn.pack_padded_sequence(y, lengths, batch_first=True, enforce_sorted=False)\n"
                "states, _ = self.decoder(packed, context)\n"
                "states, _ = torch.nn.utils.rnn.pad_packed_sequence(states, "
                "batch_first=True, total_length=target_in.shape[1])",
            ),
        ],
    },
    keeps=["several layers", "shorter sources, several layers"],
)
SPEC.mistakes(
    {
        "state_kept_between_calls": [
            change(
                "(target_in), context)",
                f"(target_in), context if {KEPT} is None else {KEPT})",
                ("states, _", "states, self.state"),
            ),
            change(
                "(target_in), context)",
                "(target_in), self.state)",
                ("states, _", f"self.state = context if {KEPT} is None else {KEPT}\nstates, _"),
            ),
            change("(packed)", f"(packed, {KEPT})", ("states, _", "self.state = context\nstates, _")),
            change("(packed)", f"(packed, {KEPT})", ("states, _", "states, self.state")),
        ],
    },
    keeps=["sources of equal length", "several layers", "shorter sources, several layers"],
)


@SPEC.alternative
class RowByRow(Released):
    """Encodes each sentence by itself, without its padding."""

    def forward(self, source, source_lengths, target_in):
        contexts = [
            self.encoder(self.source_embedding(row[:length])[None])[1]
            for row, length in zip(source, source_lengths.tolist(), strict=True)
        ]
        return self.head(self.decoder(self.target_embedding(target_in), torch.cat(contexts, dim=1))[0])


@SPEC.alternative
class StepByStep(Released):
    """One call for each word; the state of a row stays as it is once the row has ended."""

    def forward(self, source, source_lengths, target_in):
        x, y = self.source_embedding(source), self.target_embedding(target_in)
        state, logits = x.new_zeros(self.encoder.num_layers, len(x), self.encoder.hidden_size), []
        for s in range(x.shape[1]):
            _, new = self.encoder(x[:, s : s + 1], state)
            state = torch.where((s < source_lengths)[None, :, None], new, state)
        for t in range(y.shape[1]):
            h, state = self.decoder(y[:, t : t + 1], state)
            logits.append(self.head(h[:, 0]))
        return torch.stack(logits, dim=1)


@SPEC.alternative
class SortedAndRestored(Released):
    """Sorts the rows by length before packing, and restores their order in the context."""

    def forward(self, source, source_lengths, target_in):
        lengths, order = source_lengths.sort(descending=True)
        x = torch.nn.utils.rnn.pack_padded_sequence(self.source_embedding(source[order]), lengths, batch_first=True)
        context = self.encoder(x)[1][:, order.argsort()]
        return self.head(self.decoder(self.target_embedding(target_in), context)[0])


@SPEC.alternative
class FromTheEquations(Released):
    """Every layer of the encoder from its parameters, gathered at each row's last word; the decoder also."""

    def run(self, gru, x, state):
        layers = []
        for (W_x, W_h, b_x, b_h), h in zip(gru.all_weights, state, strict=True):
            steps = []
            for x_t in x.unbind(dim=1):
                (x_r, x_z, x_n), (h_r, h_z, h_n) = (x_t @ W_x.T + b_x).chunk(3, 1), (h @ W_h.T + b_h).chunk(3, 1)
                z, n = torch.sigmoid(x_z + h_z), torch.tanh(x_n + torch.sigmoid(x_r + h_r) * h_n)
                h = n + z * (h - n)
                steps.append(h)
            x = torch.stack(steps, dim=1)
            layers.append(x)
        return layers

    def forward(self, source, source_lengths, target_in):
        x = self.source_embedding(source)
        zeros = [x.new_zeros(len(x), self.encoder.hidden_size)] * self.encoder.num_layers
        encoded = self.run(self.encoder, x, zeros)
        context = [h[torch.arange(len(h)), source_lengths - 1] for h in encoded]
        return self.head(self.run(self.decoder, self.target_embedding(target_in), context)[-1])
