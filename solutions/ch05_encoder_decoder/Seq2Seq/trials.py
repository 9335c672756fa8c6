"""Programs that the spec of `Seq2Seq` does not contain; beside each wrong one is what it is told."""

from grader.spec.trials import Trials, module_cell

TRIALS = Trials()


INIT = """
def __init__(self, source_vocab, target_vocab, embed_size, hidden_size, num_layers, pad_id):
    super().__init__()
    self.source_embedding = torch.nn.Embedding(source_vocab, embed_size, padding_idx=pad_id)
    self.target_embedding = torch.nn.Embedding(target_vocab, embed_size, padding_idx=pad_id)
    self.encoder = torch.nn.GRU(embed_size, hidden_size, num_layers=num_layers, batch_first=True)
    self.decoder = torch.nn.GRU(embed_size, hidden_size, num_layers=num_layers, batch_first=True)
    self.head = torch.nn.Linear(hidden_size, target_vocab)
"""


def seq2seq(forward, init=INIT):
    """The cell of a student whose `forward` has this body."""
    return module_cell("Seq2Seq", init, "source, source_lengths, target_in", forward)


PACK = "rnn.pack_padded_sequence(self.source_embedding(source), source_lengths, batch_first=True, enforce_sorted=False)"


ENCODE = f"outputs, context = self.encoder({PACK})\n"


READ = "x, y = self.source_embedding(source), self.target_embedding(target_in)\n"


DECODE = "h, s = self.decoder(self.target_embedding(target_in), context)\n"


HEAD = "return self.head(h)"


PADDED = "outputs, _ = rnn.pad_packed_sequence(outputs, batch_first=True)\n"


def encoded(line):
    """The whole body, with this in place of the encoder's line."""
    return f"{READ}{line}\n{DECODE}{HEAD}"


def decoded(line):
    """The whole body, with this in place of the decoder's line and the head's."""
    return f"{READ}{ENCODE}{line}"


LOOP = """
logits, state = [], context
for t in range(target_in.shape[1]):
    {before}
    h, {new} = self.decoder(y[:, t : t + 1], state)
    logits.append(self.head(h{index}))
return torch.{joined}(logits, dim={dim})
"""


STEPS = """
context = x.new_zeros(self.encoder.num_layers, len(x), self.encoder.hidden_size)
for s in range(x.shape[1]):
    _, new = self.encoder(x[:, s : s + 1], context)
    context = {kept}
"""


WRONG = {  # the body of forward, what it is told: a name, some names or None, and words of the first problem
    "words that are not 0": (
        encoded(
            "n = torch.count_nonzero(source, dim=1)\n"
            "_, context = self.encoder(rnn.pack_padded_sequence(x, n, batch_first=True, enforce_sorted=False))"
        ),
        "lengths_counted_by_id_0",
    ),
    "two results": (f"{ENCODE}{DECODE}return self.head(h), s", None),
    "no return": (f"{ENCODE}{DECODE}self.head(h)", None),
    "no head": (f"{ENCODE}{DECODE}return h", "head_left_out"),
    "the source is not embedded": (encoded("_, context = self.encoder(source)"), None),
    "outputs in place of the context": (
        encoded("context, _ = self.encoder(x)"),
        None,
    ),
    "last output, without an axis for the layers": (
        encoded("context = self.encoder(x)[0][:, -1]"),
        None,
    ),
    "last output, one layer only": (
        encoded(f"{ENCODE}{PADDED}context = outputs[torch.arange(len(x)), source_lengths - 1][None]"),
        "one_layer_passed_on",
    ),
    "sorted rows are required": (
        encoded("_, context = self.encoder(rnn.pack_padded_sequence(x, source_lengths, batch_first=True))"),
        "rows_must_be_sorted",
    ),
    "time first while packing": (
        encoded("_, context = self.encoder(rnn.pack_padded_sequence(x, source_lengths, enforce_sorted=False))"),
        "packed_time_first",
    ),
    "one step is missing": (
        encoded(STEPS.format(kept="torch.where((s < source_lengths - 1)[None, :, None], new, context)")),
        "altered input: less source_lengths",
    ),
    "sorted by rising length": (
        encoded(
            "order = source_lengths.argsort(stable=True).flip(0)\n"
            "p = rnn.pack_padded_sequence(x[order], source_lengths[order], batch_first=True)\n"
            "_, context = self.encoder(p)"
        ),
        "rows_not_restored",
    ),
    "both embeddings exchanged": (
        "x, y = self.target_embedding(source), self.source_embedding(target_in)\n_, context = self.encoder("
        "rnn.pack_padded_sequence(x, source_lengths, batch_first=True, enforce_sorted=False))\n"
        f"h, _ = self.decoder(y, context)\n{HEAD}",
        "embeddings_exchanged",
    ),
    "targets reversed": (
        decoded("h, _ = self.decoder(y.flip(1), context)\n" + HEAD),
        {None, "altered input: backward target_in"},
    ),
    "the last state for the head": (f"{ENCODE}{DECODE}return self.head(s)", {None, "last_step_only"}),
    "steps stacked in front": (
        decoded(LOOP.format(before="", new="state", index="[:, 0]", joined="stack", dim=0)),
        {None, "after: axes B and T exchanged"},
    ),
    "a loop that cuts": (
        decoded(LOOP.format(before="state = state.detach()", new="state", index="", joined="cat", dim=1)),
        {None, "context_detached"},
    ),
    "a loop that cuts after the first step": (
        decoded(
            LOOP.format(before="state = state.detach() if t else state", new="state", index="", joined="cat", dim=1)
        ),
        "detached_between_steps",
    ),
    "argmax": (f"{ENCODE}{DECODE}{HEAD}.argmax(dim=2)", {None, "after: argmax along V"}),
    "axes (B, V, T)": (f"{ENCODE}{DECODE}{HEAD}.transpose(1, 2)", "after: axes T and V exchanged"),
    "encoder detached in the embedding": (
        "x = self.source_embedding(source).detach()\n_, context = self.encoder(rnn.pack_padded_sequence(x, "
        f"source_lengths, batch_first=True, enforce_sorted=False))\n{DECODE}{HEAD}",
        "embedding_detached",
    ),
    "lengths of the targets": (
        encoded(
            "n = (target_in != 0).sum(dim=1).clamp(1, source.shape[1])\n"
            "_, context = self.encoder(rnn.pack_padded_sequence(x, n, batch_first=True, enforce_sorted=False))"
        ),
        {None, "target_lengths_for_sources"},
    ),
    "head on the embeddings": (f"{READ}return self.head(y)", "head_on_embeddings"),
    "only the top layer": (
        decoded(f"context = context[-1].unsqueeze(0)\n{DECODE}{HEAD}"),
        "one_layer_passed_on",
    ),
    "dropout": (f"{ENCODE}{DECODE}return self.head(F.dropout(h, 0.3))", "dropout_applied"),
    "the shared embedding of another program": (
        f"{ENCODE}h, _ = self.decoder(self.embedding(target_in), context)\n{HEAD}",
        None,
    ),
    "float32": (f"{ENCODE}{DECODE}{HEAD}.float()", {None, "float32"}),
}


SAYS = {
    "two results": "must return a tensor for logits",
    "no return": "Does it end with `return`?",
    "no head": "got (2, 2, 1), expected (2, 2, 3)",
    "the source is not embedded": "Error: ",
    "outputs in place of the context": "RuntimeError: Expected hidden",
    "last output, without an axis for the layers": "RuntimeError",
    "last output, one layer only": "RuntimeError: Expected hidden",
    "sorted rows are required": "enforce_sorted",
    "a loop that cuts": "no gradient reaches",
    "a loop that cuts after the first step": "not along the right paths",
    "argmax": "(2, 2, 3)",
    "encoder detached in the embedding": "no gradient reaches `source_embedding.weight`",
    "only the top layer": "Expected hidden size",
    "dropout": "differs with another seed",
    "the shared embedding of another program": "AttributeError",
}


RIGHT = {
    "step by step": encoded(STEPS.format(kept="torch.where((s < source_lengths)[None, :, None], new, context)")),
    "a loop over the targets": decoded(LOOP.format(before="", new="state", index="", joined="cat", dim=1)),
}

TRIALS.all_wrong(WRONG, make=seq2seq, seeds=(0, 1), says=SAYS)
TRIALS.all_right(RIGHT, make=seq2seq, seeds=(0, 1))
