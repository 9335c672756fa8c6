"""How `Seq2Seq` is checked: against loops over rows, steps and layers in NumPy, by the equations of PyTorch's GRU."""

import numpy as np
import torch

from grader.author.spec import Facet, Output, Spec, change, module_case

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
    why=r"""
The encoder returns two things: the states of the *top* layer at *every* step, and the states of *all* layers at the
*last* step. A decoder with L layers needs a state for each of them, so it receives the second, of shape (L, B, H). Over
a padded tensor, the last step of a short row is padding, and the GRU changes its state there even if the embedding is
zero, because of its biases and recurrent weights. A packed sequence contains no padding, so the last step of each row
is its last word. `enforce_sorted=False` lets PyTorch sort the rows by length and put the states back into the order of
the batch. The decoder, with teacher forcing, knows all its inputs in advance, so a single call computes all steps, and
the head turns every state into logits.
""",
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

SPEC.mistake(
    "state_at_the_padded_end",
    "Your encoder reads the padding of the shorter rows, so their context is not the state after their last word. Pack "
    "the embedded source with `source_lengths` before you pass it to `self.encoder`. An embedding of zeros does not "
    "help: the biases and the recurrent weights change the state at every step.",
    change(PACK, "_, context = self.encoder(words)"),
    tempts="The GRU returns its final state by itself, and the padding's embedding is zero after training, so it seems "
    "harmless.",
    keeps=["sources of equal length", "several layers"],
)
SPEC.mistake(
    "padding_read_as_zero",
    "You set the padding's embeddings to zero and let the encoder read them. Pack the embedded source instead, so that "
    "the encoder stops after each row's last word: an input of zeros is still an input, and the biases and the "
    "recurrent weights change the state.",
    change(PACK, "_, context = self.encoder(words * (source != self.source_embedding.padding_idx)[:, :, None])"),
    tempts="`padding_idx` sounds as if it made padding harmless.",
    keeps=["sources of equal length", "several layers"],
)
SPEC.mistake(
    "one_length_for_all",
    "Your encoder reads the same number of words in every row. Use each row's own length, because the sentences end at "
    "different steps.",
    change(PACK, "_, context = self.encoder(words[:, : source_lengths.min()])"),
    change(PACK, "_, context = self.encoder(words[:, : source_lengths[0]])"),
    change(PACK, "_, context = self.encoder(words[:, : source_lengths.max()])"),
    tempts="A slice of the time axis is simpler than packing.",
    keeps=["sources of equal length", "several layers"],
)
SPEC.mistake(
    "rows_not_restored",
    "You sort the rows by length, and do not put them back into the order of the batch, so the logits of a row do not "
    "belong to its sentence. Undo the sorting of the context before the decoder starts from it (`order.argsort()` "
    "undoes `order`), or let `pack_padded_sequence` sort and restore, with `enforce_sorted=False`.",
    change(PACK, SORTED),
    change(PACK, SORTED, ("(target_in)", "(target_in[order])")),
    change(PACK, SORTED + "context = context[:, order]"),
    change(PACK, SORTED.replace("self.encoder(packed)", "self.encoder(packed)\ntarget_in = target_in[order]")),
    change(
        PACK, SORTED.replace(", descending=True, stable=True", "").replace("st=True)", "st=True, enforce_sorted=False)")
    ),
    tempts="Older programs sort each batch, and the sorted rows look like any other rows.",
    keeps=["sources of equal length", "several layers"],
)
SPEC.mistake(
    "lengths_or_rows_sorted_alone",
    "You sort either the lengths or the rows, so each row is read with the length of another one. Sort both and "
    "restore the order of the context afterwards, or leave both as they are and pass `enforce_sorted=False`.",
    change(PACK, packed_by("source_lengths.sort(descending=True)[0]")),
    change(PACK, packed_by("source_lengths.sort()[0]")),
    change(PACK, "order = source_lengths.argsort(descending=True)\n" + PACK.replace("words,", "words[order],")),
    change(
        PACK,
        "order = source_lengths.argsort(descending=True)\n"
        + PACK.replace("words,", "words[order],")
        + "\ncontext = context[:, order.argsort()]",
    ),
    tempts="The error message of `pack_padded_sequence` asks for sorted lengths and does not mention the rows.",
    keeps=["sources of equal length", "several layers"],
)
SPEC.mistake(
    "packed_time_first",
    "You pack the source as if time were its first axis, which is PyTorch's default, so the lengths are taken along "
    "the wrong axis. Pass `batch_first=True` to `pack_padded_sequence`.",
    change(" batch_first=True,", ""),
    tempts="The GRUs have been made with `batch_first=True`, so it seems to be said already.",
)
SPEC.mistake(
    "last_output_repeated",
    "Every layer of your decoder starts from the encoder's output at the last step of the padded source. That step is "
    "padding in the shorter rows, and the outputs hold the top layer only. Use the GRU's second result on a packed "
    "source instead: the final states of all layers, each after the row's own last word.",
    change(
        PACK,
        "outputs, _ = self.encoder(words)\ncontext = outputs[:, -1].repeat(self.decoder.num_layers, 1, 1)",
    ),
    tempts="With one layer and without padding, it is the same state.",
    keeps=["sources of equal length"],
)
SPEC.mistake(
    "padded_column_of_outputs",
    "You take outputs at a padded step, where they are zeros, so the decoder of the shorter rows starts from zeros. "
    "Use the final states that the GRU returns as its second result: those of all layers, each after the row's own "
    "last word.",
    change(PACK, OUTPUTS + TOP.format("outputs[:, -1]")),
    change(
        PACK,
        "outputs, _ = self.encoder(words)\n"
        "outputs = outputs * (source != self.source_embedding.padding_idx)[:, :, None]\n"
        + TOP.format("outputs[:, -1]"),
    ),
    tempts="The last output is the final state, as long as no row is padded.",
    keeps=["sources of equal length"],
)
SPEC.mistake(
    "state_set_to_zero",
    "You set the state of a row to zero once the row has ended, so its decoder starts from zeros. Keep the state after "
    "the row's last word instead.",
    change(
        PACK,
        "context = torch.zeros(self.encoder.num_layers, len(source), self.encoder.hidden_size)\n"
        "for t in range(source.shape[1]):\n"
        "    _, context = self.encoder(words[:, t : t + 1], context)\n"
        "    context = context * (t < source_lengths)[None, :, None]",
    ),
    tempts="A mask is multiplied in, as one does with a loss, but here it erases the state.",
    keeps=["sources of equal length", "several layers"],
)
SPEC.mistake(
    "rows_must_be_sorted",
    "`pack_padded_sequence` refuses your rows, because by default it expects them sorted by length, the longest first. "
    "Pass `enforce_sorted=False`: PyTorch then sorts the rows by itself and returns the final states in the order of "
    "your batch.",
    change(", enforce_sorted=False", ""),
    tempts="The example in PyTorch's documentation has sorted rows.",
    keeps=["sources of equal length", "several layers"],
)
SPEC.mistake(
    "starts_from_zeros",
    "Your decoder starts from zeros, so it learns nothing about the source. Pass the encoder's final states as the "
    "second argument: `self.decoder(…, context)`.",
    change("(target_in), context)", "(target_in))"),
    change(STATES, LOOP.replace(", state)", ")")),
    tempts="A GRU does not ask for its initial state, so nothing reminds you.",
)
SPEC.mistake(
    "top_layer_repeated",
    "Every layer of your decoder starts from the state of the encoder's top layer. Pass the final states of all layers "
    "on, (L, B, H), so that each layer starts from the encoder's state of the same layer. The GRU's second result "
    "holds them; its outputs hold only the top layer.",
    change("(target_in), context)", "(target_in), context[-1:].expand_as(context).contiguous())"),
    change(
        PACK,
        OUTPUTS + "top = outputs[torch.arange(len(source)), source_lengths - 1]\n"
        "context = top.expand(self.decoder.num_layers, *top.shape).contiguous()",
    ),
    tempts="The outputs hold the states of the top layer only, and these are easy to index by the lengths.",
    keeps=["sources of equal length", "shorter sources"],
)
SPEC.mistake(
    "bottom_layer_repeated",
    "Every layer of your decoder starts from the state of the encoder's lowest layer. Pass the final states of all "
    "layers on, (L, B, H), so that each layer starts from the encoder's state of the same layer.",
    change("(target_in), context)", "(target_in), context[:1].expand_as(context).contiguous())"),
    tempts="`context[0]` removes the axis of the layers, and with one layer it is all that there is.",
    keeps=["sources of equal length", "shorter sources"],
)
SPEC.mistake(
    "top_layer_alone",
    "You pass on the state of the encoder's top layer only, so all layers of the decoder but one start from zeros. "
    "Pass the final states of all layers, (L, B, H), as the encoder returns them.",
    change("(target_in), context)", "(target_in), torch.cat([context[-1:], 0 * context[1:]]))"),
    change("(target_in), context)", "(target_in), torch.cat([0 * context[1:], context[-1:]]))"),
    tempts="Many diagrams draw one arrow from the encoder to the decoder.",
    keeps=["sources of equal length", "shorter sources"],
)
SPEC.mistake(
    "one_layer_passed_on",
    "You pass on the state of a single layer, (1, B, H), but a decoder of L layers needs L of them. Pass the final "
    "states of all layers, (L, B, H), as the encoder returns them.",
    change("(target_in), context)", "(target_in), context[-1:])"),
    tempts="`context[-1]` is the state that a classifier would read, and with one layer it is all that there is.",
    keeps=["sources of equal length", "shorter sources"],
)
SPEC.mistake(
    "layers_combined",
    "You combine the states of the encoder's layers into one and give it to all layers of the decoder. Pass the final "
    "states on as they are, so that each layer starts from the encoder's state of the same layer.",
    change("(target_in), context)", "(target_in), context.sum(0, keepdim=True).expand_as(context).contiguous())"),
    change("(target_in), context)", "(target_in), context.mean(0, keepdim=True).expand_as(context).contiguous())"),
    tempts="A context sounds like a single vector for each sentence.",
    keeps=["sources of equal length", "shorter sources"],
)
SPEC.mistake(
    "layers_and_rows_mixed",
    "You rearrange the context so that rows and layers are mixed: the state of one sentence ends up in the decoder of "
    "another one. A state has the shape (L, B, H) even if `batch_first=True`, so pass it on as the encoder returns it.",
    change("(target_in), context)", "(target_in), context.transpose(0, 1).reshape(context.shape))"),
    tempts="Everything else in this model is batch first, and after a `reshape` the shapes fit again.",
    keeps=["sources of equal length", "shorter sources"],
)
SPEC.mistake(
    "nonlinearity_on_the_context",
    "You apply a nonlinearity to the context. Pass the encoder's final states on as they are: they are states of a GRU "
    "already.",
    change("(target_in), context)", "(target_in), torch.tanh(context))"),
    change("(target_in), context)", "(target_in), torch.relu(context))"),
    tempts="Cho et al. compute the decoder's first state with a tanh layer, which this model does not have.",
)
SPEC.mistake(
    "layers_reversed",
    "You give the encoder's states to the layers of the decoder in reverse order. Pass them in the order in which the "
    "encoder returns them, the lowest layer first.",
    change("(target_in), context)", "(target_in), context.flip(0))"),
    tempts="In a diagram, encoder and decoder often mirror each other.",
    keeps=["sources of equal length", "shorter sources"],
)
SPEC.mistake(
    "outputs_combined",
    "Your decoder starts from a mean, a sum or a maximum of the encoder's outputs. Start it from the encoder's final "
    "states, the second result of the GRU: in this model, the context is the state after the last word.",
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
    tempts="A mean over the steps is another context, which the page on the encoder compares with this one.",
)
SPEC.mistake(
    "wrong_step_of_outputs",
    "You take the encoder's outputs at a wrong step. With n = `source_lengths[b]`, the last word of row b is at index "
    "n − 1, because indices start at 0. You do not need the outputs at all: the second result of the GRU holds the "
    "states of all layers after each row's last word, if you pack the source.",
    change(PACK, OUTPUTS + TOP.format(f"outputs[{ROWS}, source_lengths - 2]")),
    change(PACK, f"outputs, _ = self.encoder(words)\n{TOP.format(f'outputs[{ROWS}, source_lengths - 2]')}"),
    change(PACK, OUTPUTS + TOP.format("outputs[:, 0]")),
    tempts="Lengths count from 1 and indices from 0, so one of the two is easily subtracted once too often.",
)
SPEC.mistake(
    "one_step_past_the_end",
    "You take the encoder's outputs one step after the last word, which is padding in the shorter rows: with n = "
    "`source_lengths[b]`, the last word of row b is at index n − 1. You do not need the outputs at all: the second "
    "result of the GRU holds the states of all layers after each row's last word, if you pack the source.",
    change(PACK, f"outputs, _ = self.encoder(words)\n{TOP.format(f'outputs[{ROWS}, {CLAMPED}]')}"),
    tempts="`clamp` removes the error of an index that is too large, but not its cause.",
    keeps=["sources of equal length"],
)
SPEC.mistake(
    "last_word_only",
    "Your encoder reads only the last word of each sentence. Let it read all words of a row, each from the state "
    "after the previous one.",
    change(PACK, f"_, context = self.encoder(words[{ROWS}, source_lengths - 1][:, None])"),
    tempts="The final state belongs to the last word, so the others seem to be done.",
)
SPEC.mistake(
    "target_lengths_for_sources",
    "You pack the source with the lengths of the targets. Use `source_lengths`: a sentence and its translation differ "
    "in length.",
    change(PACK, packed_by(f"{TARGET_LENGTHS}.clamp(1, source.shape[1])")),
    change(PACK, packed_by("torch.full_like(source_lengths, min(target_in.shape[1], source.shape[1]))")),
    tempts="Both sides are padded, and the two batches have the same rows.",
    keeps=["sources of equal length", "several layers"],
)
SPEC.mistake(
    "reads_in_both_directions",
    "Your encoder reads the source in both directions. This one is not bidirectional: pass on the final states of a "
    "single pass, in the order of the words.",
    change(PACK, BACKWARD + "context = context + backward"),
    change(PACK, BACKWARD + "context = (context + backward) / 2"),
    change(PACK, PACK + "\n_, backward = self.encoder(words.flip(1))\ncontext = context + backward"),
    change(PACK, PACK + "\n_, backward = self.encoder(words.flip(1))\ncontext = (context + backward) / 2"),
    tempts="Many encoders are bidirectional, and chapter 4 ran a network over a reversed sequence.",
)
SPEC.mistake(
    "source_embedding_for_targets",
    "You embed the target words with `self.source_embedding`. Use `self.target_embedding` for them: the same id stands "
    "for different words in the two languages.",
    change("self.target_embedding(target_in)", "self.source_embedding(target_in)"),
    tempts="The line is copied from the encoder; the shapes fit, and so do the ids if the vocabularies are equally "
    "large.",
)
SPEC.mistake(
    "target_embedding_for_sources",
    "You embed the source words with `self.target_embedding`. Use `self.source_embedding` for them: the same id stands "
    "for different words in the two languages.",
    change("self.source_embedding(source)", "self.target_embedding(source)"),
    tempts="The two names differ in one word.",
)
SPEC.mistake(
    "embeddings_exchanged",
    "You exchange the two embeddings. Embed the source with `self.source_embedding` and the target words with "
    "`self.target_embedding`: the same id stands for different words in the two languages.",
    change(
        "self.source_embedding(source)",
        "self.target_embedding(source)",
        ("self.target_embedding(target_in)", "self.source_embedding(target_in)"),
    ),
    tempts="The two names differ in one word, and the shapes fit.",
)
SPEC.mistake(
    "nonlinearity_after_the_embedding",
    "You apply a nonlinearity to the embedded words. Pass the embeddings to the GRUs as they are.",
    change("self.target_embedding(target_in)", "torch.relu(self.target_embedding(target_in))"),
    change(
        "self.target_embedding(target_in)",
        "torch.relu(self.target_embedding(target_in))",
        ("self.source_embedding(source)", "torch.relu(self.source_embedding(source))"),
    ),
    tempts="PyTorch's tutorial on translation once had a ReLU there.",
)
SPEC.mistake(
    "grus_exchanged",
    "You exchange the two GRUs. Run `self.encoder` over the source and `self.decoder` over the target words: each has "
    "weights of its own.",
    change("self.encoder(packed)", "self.decoder(packed)", ("self.decoder(self.target", "self.encoder(self.target")),
    tempts="The two GRUs have the same shapes, so nothing fails.",
)
SPEC.mistake(
    "targets_encoded",
    "Your encoder reads the target words. Let it read the source alone: the targets are the decoder's inputs, and a "
    "context that contains them gives away what is to be predicted.",
    change(PACK, "_, context = self.encoder(self.target_embedding(target_in))"),
    change(PACK, PACK + "\n_, context = self.encoder(self.target_embedding(target_in), context)"),
    tempts="Both sentences are arguments, and both are embedded in the same way.",
)
SPEC.mistake(
    "source_decoded",
    "Your decoder reads the source words. Let it read `target_in` alone: it learns about the source from the context.",
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
    tempts="The embedded source is at hand, in a variable of its own.",
)
SPEC.mistake(
    "encoder_used_for_targets",
    "You run `self.encoder` over the target words. Use `self.decoder`, which has weights of its own: to read a "
    "sentence and to predict one are different tasks.",
    change("self.decoder(self.target", "self.encoder(self.target"),
    change("self.decoder(self.target_embedding(target_in), context)", "self.encoder(self.target_embedding(target_in))"),
    tempts="The two GRUs have the same shapes, so nothing fails.",
)
SPEC.mistake(
    "decoder_used_for_sources",
    "You run `self.decoder` over the source words. Use `self.encoder`, which has weights of its own.",
    change("self.encoder(packed)", "self.decoder(packed)"),
    tempts="The two GRUs have the same shapes, so nothing fails.",
)
SPEC.mistake(
    "context_added_to_the_outputs",
    "You add the context to the decoder's outputs. Pass it to `self.decoder` as its initial state, and the outputs to "
    "`self.head` as they are.",
    change("self.head(states)", "self.head(states + context[-1][:, None])"),
    change("(target_in), context)", "(target_in))", ("self.head(states)", "self.head(states + context[-1][:, None])")),
    tempts="Other encoder–decoders show the context to every step.",
)
SPEC.mistake(
    "head_on_embeddings",
    "You apply the head to the embedded target words. Apply it to the decoder's outputs, which know the source and all "
    "words so far.",
    change("self.head(states)", "self.head(self.target_embedding(target_in))"),
    tempts="The names follow each other, and the wrong one is used.",
)
SPEC.mistake(
    "one_state_for_all_steps",
    "You apply the head to a single state and repeat its logits at every step. Apply it to the decoder's outputs, "
    "(B, T, H), which hold a state for each step.",
    change("self.head(states)", "self.head(context[-1])[:, None].expand(-1, target_in.shape[1], -1)"),
    change("self.head(states)", "self.head(states[:, -1:]).expand(-1, target_in.shape[1], -1)"),
    tempts="The result has the right shape, and a classifier has a single state as well.",
)
SPEC.mistake(
    "head_left_out",
    "You return the decoder's outputs, (B, T, H). Apply `self.head` to them, which turns each into V logits.",
    change("self.head(states)", "states"),
    tempts="The decoder's result is called its output.",
)
SPEC.mistake(
    "time_first",
    "You give the GRU a tensor with time before batch, so it takes steps for rows. Both GRUs are made with "
    "`batch_first=True`: pass them the embedded words as they are, (B, T, D).",
    change(
        "self.decoder(self.target_embedding(target_in)",
        "self.decoder(self.target_embedding(target_in).transpose(0, 1)",
        ("self.head(states)", "self.head(states.transpose(0, 1))"),
    ),
    tempts="Time comes first by default in PyTorch, and in many programs.",
)
SPEC.mistake(
    "last_step_only",
    "You compute logits for the last step alone. Apply `self.head` to the decoder's outputs at all steps, (B, T, H), "
    "because the model predicts a next word after every input.",
    change("self.head(states)", "self.head(states[:, -1])"),
    change("self.head(states)", "self.head(states[:, -1:])"),
    change("states, _ = self.decoder", "_, states = self.decoder", ("self.head(states)", "self.head(states[-1])")),
    tempts="A classifier needs only the last step.",
)
SPEC.mistake(
    "softmax_applied",
    "You apply a softmax or log-softmax to the logits. Return what `self.head` gives: the loss contains the "
    "log-softmax.",
    change("self.head(states)", "self.head(states).softmax(dim=-1)"),
    change("self.head(states)", "self.head(states).log_softmax(dim=-1)"),
    change("self.head(states)", "self.head(states).softmax(dim=1)"),
    change("self.head(states)", "self.head(states).log_softmax(dim=1)"),
    tempts="The decoder gives probabilities of the next word, after all.",
)
SPEC.mistake(
    "nonlinearity_before_the_head",
    "You apply a nonlinearity to the decoder's outputs before the head. Pass them to `self.head` as they are.",
    change("self.head(states)", "self.head(torch.tanh(states))"),
    change("self.head(states)", "self.head(torch.relu(states))"),
    tempts="Between two linear layers there has to be a nonlinearity, but a GRU contains its own.",
)
SPEC.mistake(
    "context_detached",
    "No gradient reaches the encoder, so only the decoder can learn. Pass the context on without `detach` and compute "
    "it outside `torch.no_grad()`, because the loss of the target words is all that the encoder learns from.",
    change("(target_in), context)", "(target_in), context.detach())"),
    change(
        PACK,
        "with torch.no_grad():\n" + "\n".join(f"    {line}" for line in PACK.splitlines()),
    ),
    tempts="In chapter 4 the state had to be detached between two calls, and here a state is passed on as well.",
)
SPEC.mistake(
    "embedding_detached",
    "You cut the gradient of an embedding. Leave out `detach` and `torch.no_grad()`: the embeddings are learned with "
    "the rest of the model.",
    change("self.source_embedding(source)", "self.source_embedding(source).detach()"),
    change("self.target_embedding(target_in)", "self.target_embedding(target_in).detach()"),
    change(
        "self.source_embedding(source)",
        "self.source_embedding(source).detach()",
        ("self.target_embedding(target_in)", "self.target_embedding(target_in).detach()"),
    ),
    tempts="The ids are data and need no gradient, but their embeddings do.",
)
SPEC.mistake(
    "outputs_detached",
    "No gradient reaches the GRUs, so only the head can learn. Pass the decoder's outputs to `self.head` without "
    "`detach`.",
    change("self.head(states)", "self.head(states.detach())"),
    tempts="States had to be detached between two calls in chapter 4, and these are states too.",
)
SPEC.mistake(
    "detached_between_steps",
    "Your loop detaches the state between two steps, so the loss of a word does not reach the steps before it. Pass "
    "the state on without `detach`: truncation is for texts that continue from call to call.",
    change(STATES, LOOP.replace("steps.append(h)", "steps.append(h)\n    state = state.detach()")),
    tempts="In chapter 4 the state had to be detached between two calls.",
)
SPEC.mistake(
    "logits_detached",
    "No gradient leaves your logits, so this model cannot learn. Leave out `detach` and `torch.no_grad()`.",
    change("self.head(states)", "self.head(states).detach()"),
    tempts="Programs that translate run under `torch.no_grad()`.",
)
SPEC.mistake(
    "feeds_its_own_predictions",
    "You feed the decoder the words that it predicts itself. Feed it `target_in` at every step, as teacher forcing "
    "does: then every prediction is made after the right words, and one call of `self.decoder` computes all steps.",
    change(
        STATES,
        LOOP.replace("self.target_embedding(target_in[:, t : t + 1])", "self.target_embedding(word)")
        .replace("steps, state = [], context", "steps, state, word = [], context, target_in[:, :1]")
        .replace("steps.append(h)", "steps.append(h)\n    word = self.head(h).argmax(dim=2)"),
    ),
    tempts="This is what the model does later when it translates.",
)
SPEC.mistake(
    "context_at_every_step",
    "Your loop starts every step from the context, so no step knows which words came before. Replace the state at "
    "every step by the one that `self.decoder` returns, or call `self.decoder` once with all steps.",
    change(STATES, LOOP.replace("h, state = ", "h, _ = ")),
    tempts="The loop of the NumPy exercises is carried over, and the new state is not used.",
)
SPEC.mistake(
    "source_reversed",
    "You reverse the source. Read it in the order in which it is given: sources are reversed, if at all, when "
    "the batch is made, before they are padded. If a padded row is reversed as a whole, its padding comes first.",
    change("self.source_embedding(source)", "self.source_embedding(source.flip(1))"),
    change(
        "self.source_embedding(source)",
        "self.source_embedding(source.flip(1))",
        (PACK, "_, context = self.encoder(words)"),
    ),
    change(
        PACK,
        "words = torch.stack([torch.cat([x[:n].flip(0), x[n:]]) for x, n in zip(words, source_lengths)])\n" + PACK,
    ),
    tempts="Sutskever et al. reversed their sources, and it helped.",
)
SPEC.mistake(
    "targets_cut",
    "You leave out a step of the target sentence, either in `target_in` or in the result. Keep all T steps: the caller "
    "has shifted the targets already: `target_in` begins with ⟨sos⟩ and does not contain the last target.",
    change("self.target_embedding(target_in)", "self.target_embedding(target_in[:, :-1])"),
    change("self.target_embedding(target_in)", "self.target_embedding(target_in[:, 1:])"),
    change("self.head(states)", "self.head(states[:, :-1])"),
    change("self.head(states)", "self.head(states[:, 1:])"),
    change(STATES, LOOP.replace("range(", "range(1, ")),
    tempts="Inputs and targets are the same words shifted by one, and many programs shift inside the model.",
)
SPEC.mistake(
    "targets_shifted_again",
    "You shift the target words by one step. Pass `target_in` as it is: the caller has shifted the targets already, so "
    "`target_in` begins with ⟨sos⟩.",
    change("(target_in)", SHIFTED.format(f"{PAD_COLUMN}, target_in[:, :-1]")),
    change("(target_in)", SHIFTED.format(f"target_in[:, 1:], {PAD_COLUMN}")),
    change(
        "self.target_embedding(target_in)",
        "torch.nn.functional.pad(self.target_embedding(target_in)[:, :-1], (0, 0, 1, 0))",
    ),
    tempts="With teacher forcing, the inputs are the targets shifted by one step, and it is easy to shift them twice.",
)
SPEC.mistake(
    "target_padding_treated",
    "You treat the padding of `target_in` specially. Return the logits at the padded steps as they come: padding "
    "follows the last word of a row, so it changes no logits before it, and the loss leaves these steps out.",
    change("self.head(states)", f"self.head(states) * (target_in != {PAD})[:, :, None]"),
    change("self.head(states)", f"self.head(states).masked_fill((target_in == {PAD})[:, :, None], -1e9)"),
    change("self.head(states)", f"self.head(states).masked_fill((target_in == {PAD})[:, :, None], -torch.inf)"),
    change(
        STATES,
        f"y, lengths = self.target_embedding(target_in), {TARGET_LENGTHS}.clamp(min=1)\n"
        "packed = torch.nn.utils.rnn.pack_padded_sequence(y, lengths, batch_first=True, enforce_sorted=False)\n"
        "states, _ = self.decoder(packed, context)\n"
        "states, _ = torch.nn.utils.rnn.pad_packed_sequence(states, batch_first=True, total_length=target_in.shape[1])",
    ),
    tempts="The source had to be packed, and a mask belongs to every padded batch.",
    keeps=["several layers", "shorter sources, several layers"],
)
SPEC.mistake(
    "state_kept_between_calls",
    "Your model remembers a state from the previous call of `forward`. Every call gets new sentences: start the "
    "encoder from zeros and the decoder from the context of these sentences, and keep no state in `self`.",
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
    tempts="The language model of chapter 4 continued a text from call to call.",
    keeps=["sources of equal length", "several layers", "shorter sources, several layers"],
)
SPEC.mistake(
    "dropout_applied",
    "You apply dropout, which is random, and `torch.nn.functional.dropout` acts in evaluation too. Leave it out: this "
    "model has none.",
    change("self.head(states)", "self.head(torch.nn.functional.dropout(states))"),
    tempts="Most published encoder–decoders use dropout.",
)
SPEC.mistake(
    "logits_flattened",
    "You return the logits as one long matrix (B·T, V). Keep the axes, (B, T, V), and flatten them where the loss is "
    "computed: to translate, you need the logits of each sentence.",
    change("self.head(states)", "self.head(states).flatten(0, 1)"),
    tempts="`cross_entropy` wants a matrix, so many programs flatten inside the model.",
)


class Released(torch.nn.Module):
    """The submodules that the notebook gives."""

    def __init__(self, source_vocab, target_vocab, embed_size, hidden_size, num_layers, pad_id):
        super().__init__()
        self.source_embedding = torch.nn.Embedding(source_vocab, embed_size, padding_idx=pad_id)
        self.target_embedding = torch.nn.Embedding(target_vocab, embed_size, padding_idx=pad_id)
        self.encoder = torch.nn.GRU(embed_size, hidden_size, num_layers=num_layers, batch_first=True)
        self.decoder = torch.nn.GRU(embed_size, hidden_size, num_layers=num_layers, batch_first=True)
        self.head = torch.nn.Linear(hidden_size, target_vocab)


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
