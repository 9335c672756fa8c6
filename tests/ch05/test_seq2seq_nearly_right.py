"""Encoder–decoders that are nearly right must fail and get no wrong name; right ones in other styles must pass."""

import linecache
import textwrap

import numpy as np
import torch

from tests.conftest import SEEDS, exercise
from tests.loops import for_each
from tests.nearly_right import fails, passes

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
    """A student's class with this body of `forward`, as a notebook's cell defines it."""
    body = textwrap.indent(textwrap.dedent(forward).strip(), "    ")
    lines = f"def forward(self, source, source_lengths, target_in):\n{body}"
    source = "class Seq2Seq(torch.nn.Module):\n" + textwrap.indent(f"{init.strip()}\n\n{lines}\n", "    ")
    filename = f"<cell {hash(source)}>"
    linecache.cache[filename] = (len(source), None, source.splitlines(keepends=True), filename)
    namespace = {"torch": torch, "np": np, "F": torch.nn.functional, "rnn": torch.nn.utils.rnn}
    exec(compile(source, filename, "exec"), namespace)
    return namespace["Seq2Seq"]


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
    "two results": (f"{ENCODE}{DECODE}return self.head(h), s", None, "must return a tensor for logits"),
    "no return": (f"{ENCODE}{DECODE}self.head(h)", None, "Does it end with `return`?"),
    "no head": (f"{ENCODE}{DECODE}return h", "head_left_out", "got (2, 2, 1), expected (2, 2, 3)"),
    "the source is not embedded": (encoded("_, context = self.encoder(source)"), None, "Error: "),
    "outputs in place of the context": (
        encoded("context, _ = self.encoder(x)"),
        None,
        "RuntimeError: Expected hidden",
    ),
    "last output, without an axis for the layers": (
        encoded("context = self.encoder(x)[0][:, -1]"),
        None,
        "RuntimeError",
    ),
    "last output, one layer only": (
        encoded(f"{ENCODE}{PADDED}context = outputs[torch.arange(len(x)), source_lengths - 1][None]"),
        "one_layer_passed_on",
        "RuntimeError: Expected hidden",
    ),
    "the padded end by an index": (
        encoded("outputs, _ = self.encoder(x)\ncontext = outputs[:, -1][None].repeat(self.decoder.num_layers, 1, 1)"),
        "last_output_repeated",
        None,
    ),
    "one step too early": (
        encoded(
            "outputs, _ = self.encoder(x)\nlast = outputs[torch.arange(len(x)), source_lengths - 2]\n"
            "context = last.repeat(self.decoder.num_layers, 1, 1)"
        ),
        "wrong_step_of_outputs",
        None,
    ),
    "sorted rows are required": (
        encoded("_, context = self.encoder(rnn.pack_padded_sequence(x, source_lengths, batch_first=True))"),
        "rows_must_be_sorted",
        "enforce_sorted",
    ),
    "time first while packing": (
        encoded("_, context = self.encoder(rnn.pack_padded_sequence(x, source_lengths, enforce_sorted=False))"),
        "packed_time_first",
        None,
    ),
    "packed by the longest": (
        encoded(
            "full = torch.full_like(source_lengths, source.shape[1])\n"
            "_, context = self.encoder(rnn.pack_padded_sequence(x, full, batch_first=True))"
        ),
        "state_at_the_padded_end",
        None,
    ),
    "a mask on the embedding, by the lengths": (
        encoded(
            "real = torch.arange(source.shape[1]) < source_lengths[:, None]\n"
            "_, context = self.encoder(x * real[:, :, None])"
        ),
        "padding_read_as_zero",
        None,
    ),
    "the state becomes zero at the end of a row": (
        encoded(STEPS.format(kept="new * (s < source_lengths)[None, :, None]")),
        "state_set_to_zero",
        None,
    ),
    "every step from the first state": (
        encoded(STEPS.format(kept="torch.where((s < source_lengths)[None, :, None], new, 0 * context)")),
        "state_set_to_zero",
        None,
    ),
    "one step is missing": (
        encoded(STEPS.format(kept="torch.where((s < source_lengths - 1)[None, :, None], new, context)")),
        "counterfactual: less source_lengths",
        None,
    ),
    "sorted by rising length": (
        encoded(
            "order = source_lengths.argsort(stable=True).flip(0)\n"
            "p = rnn.pack_padded_sequence(x[order], source_lengths[order], batch_first=True)\n"
            "_, context = self.encoder(p)"
        ),
        "rows_not_restored",
        None,
    ),
    "restored by the order itself": (
        encoded(
            "lengths, order = source_lengths.sort(descending=True)\n"
            "p = rnn.pack_padded_sequence(x[order], lengths, batch_first=True)\n"
            "_, context = self.encoder(p)\ncontext = context[:, order]"
        ),
        "rows_not_restored",
        None,
    ),
    "the largest state": (
        encoded(
            f"{ENCODE}outputs, _ = rnn.pad_packed_sequence(outputs, batch_first=True, padding_value=-9.0)\n"
            "context = outputs.max(dim=1).values.repeat(self.decoder.num_layers, 1, 1)"
        ),
        "outputs_combined",
        None,
    ),
    "the first layer's state for all": (
        decoded(f"context = context[:1].repeat(len(context), 1, 1)\n{DECODE}{HEAD}"),
        "bottom_layer_repeated",
        None,
    ),
    "the context as (B, L, H)": (
        decoded(f"context = context.transpose(0, 1).reshape(context.shape)\n{DECODE}{HEAD}"),
        "layers_and_rows_mixed",
        None,
    ),
    "a tanh on the context": (
        decoded(f"context = torch.tanh(context)\n{DECODE}{HEAD}"),
        "nonlinearity_on_the_context",
        None,
    ),
    "zeros on purpose": (
        decoded("h, _ = self.decoder(y, torch.zeros_like(context))\n" + HEAD),
        "starts_from_zeros",
        None,
    ),
    "zeros in a loop": (
        decoded(
            LOOP.format(before="", new="state", index="", joined="cat", dim=1).replace("= [], context", "= [], None")
        ),
        "starts_from_zeros",
        None,
    ),
    "the context is added to the outputs": (
        "x, y = self.source_embedding(source), self.target_embedding(target_in)\n"
        f"{ENCODE}h, _ = self.decoder(y)\nreturn self.head(h + context[-1][:, None])",
        "context_added_to_the_outputs",
        None,
    ),
    "the source is decoded": (
        decoded("h, _ = self.decoder(x, context)\n" + HEAD),
        "source_decoded",
        None,
    ),
    "both embeddings exchanged": (
        "x, y = self.target_embedding(source), self.source_embedding(target_in)\n_, context = self.encoder("
        "rnn.pack_padded_sequence(x, source_lengths, batch_first=True, enforce_sorted=False))\n"
        f"h, _ = self.decoder(y, context)\n{HEAD}",
        "embeddings_exchanged",
        None,
    ),
    "targets reversed": (
        decoded("h, _ = self.decoder(y.flip(1), context)\n" + HEAD),
        {None, "counterfactual: backward target_in"},
        None,
    ),
    "greedy from the first word": (
        decoded(
            "logits, state, word = [], context, target_in[:, 0]\n"
            "for _ in range(target_in.shape[1]):\n"
            "    h, state = self.decoder(self.target_embedding(word)[:, None], state)\n"
            "    logits.append(self.head(h[:, 0]))\n"
            "    word = logits[-1].argmax(dim=-1)\n"
            "return torch.stack(logits, dim=1)"
        ),
        "feeds_its_own_predictions",
        None,
    ),
    "the last state for the head": (f"{ENCODE}{DECODE}return self.head(s)", {None, "last_step_only"}, None),
    "steps stacked in front": (
        decoded(LOOP.format(before="", new="state", index="[:, 0]", joined="stack", dim=0)),
        {None, "after: axes B and T exchanged"},
        None,
    ),
    "a loop that forgets": (
        decoded(LOOP.format(before="", new="new", index="", joined="cat", dim=1)),
        "context_at_every_step",
        None,
    ),
    "a loop that cuts": (
        decoded(LOOP.format(before="state = state.detach()", new="state", index="", joined="cat", dim=1)),
        {None, "context_detached"},
        "no gradient reaches",
    ),
    "a loop that cuts after the first step": (
        decoded(
            LOOP.format(before="state = state.detach() if t else state", new="state", index="", joined="cat", dim=1)
        ),
        "detached_between_steps",
        "not along every path",
    ),
    "argmax": (f"{ENCODE}{DECODE}{HEAD}.argmax(dim=2)", {None, "after: argmax along V"}, "(2, 2, 3)"),
    "softmax over time": (f"{ENCODE}{DECODE}{HEAD}.softmax(dim=1)", "softmax_applied", None),
    "axes (B, V, T)": (f"{ENCODE}{DECODE}{HEAD}.transpose(1, 2)", "after: axes T and V exchanged", None),
    "logits at the padding set to zero": (
        f"{ENCODE}{DECODE}{HEAD} * (target_in != self.target_embedding.padding_idx)[:, :, None]",
        "target_padding_treated",
        None,
    ),
    "encoder detached in the embedding": (
        "x = self.source_embedding(source).detach()\n_, context = self.encoder(rnn.pack_padded_sequence(x, "
        f"source_lengths, batch_first=True, enforce_sorted=False))\n{DECODE}{HEAD}",
        "embedding_detached",
        "no gradient reaches `source_embedding.weight`",
    ),
    "the encoder under no_grad": (
        f"with torch.no_grad():\n    _, context = self.encoder({PACK})\n{DECODE}{HEAD}",
        "context_detached",
        None,
    ),
    "everything under no_grad": (
        f"with torch.no_grad():\n    _, context = self.encoder({PACK})\n    {DECODE}    {HEAD}",
        "logits_detached",
        None,
    ),
    "a state that is kept in self": (
        decoded(f"self.kept = getattr(self, 'kept', context)\nh, self.kept = self.decoder(y, self.kept)\n{HEAD}"),
        "state_kept_between_calls",
        None,
    ),
    "an encoder that reads on": (
        encoded(f"_, self.kept = self.encoder({PACK}, getattr(self, 'kept', None))\ncontext = self.kept"),
        "state_kept_between_calls",
        None,
    ),
    "logits of a single state": (
        decoded("return self.head(context[-1]).unsqueeze(1).repeat(1, y.shape[1], 1)"),
        "one_state_for_all_steps",
        None,
    ),
    "rows sorted, lengths not": (
        encoded(
            "order = source_lengths.argsort(descending=True)\n"
            "_, context = self.encoder(rnn.pack_padded_sequence(x[order], source_lengths, batch_first=True, "
            "enforce_sorted=False))\ncontext = context[:, order.argsort()]"
        ),
        "lengths_or_rows_sorted_alone",
        None,
    ),
    "both directions": (
        encoded(f"_, context = self.encoder({PACK})\ncontext = context + self.encoder(x.flip(1))[1]"),
        "reads_in_both_directions",
        None,
    ),
    "targets packed": (
        decoded(
            "n = (target_in != self.target_embedding.padding_idx).sum(dim=1).clamp(min=1)\n"
            "h, _ = self.decoder(rnn.pack_padded_sequence(y, n, batch_first=True, enforce_sorted=False), context)\n"
            "h, _ = rnn.pad_packed_sequence(h, batch_first=True, total_length=y.shape[1])\n" + HEAD
        ),
        "target_padding_treated",
        None,
    ),
    "a step later once more": (
        decoded(f"h, _ = self.decoder(F.pad(y[:, :-1], (0, 0, 1, 0)), context)\n{HEAD}"),
        "targets_shifted_again",
        None,
    ),
    "lengths of the targets": (
        encoded(
            "n = (target_in != 0).sum(dim=1).clamp(1, source.shape[1])\n"
            "_, context = self.encoder(rnn.pack_padded_sequence(x, n, batch_first=True, enforce_sorted=False))"
        ),
        {None, "target_lengths_for_sources"},
        None,
    ),
    "head on the embeddings": (f"{READ}return self.head(y)", "head_on_embeddings", None),
    "only the top layer": (
        decoded(f"context = context[-1].unsqueeze(0)\n{DECODE}{HEAD}"),
        "one_layer_passed_on",
        "Expected hidden size",
    ),
    "dropout": (f"{ENCODE}{DECODE}return self.head(F.dropout(h, 0.3))", "dropout_applied", "differs with another seed"),
    "the shared embedding of another program": (
        f"{ENCODE}h, _ = self.decoder(self.embedding(target_in), context)\n{HEAD}",
        None,
        "AttributeError",
    ),
    "float32": (f"{ENCODE}{DECODE}{HEAD}.float()", {None, "float32"}, None),
}

RIGHT = {
    "as it is": f"{ENCODE}{DECODE}{HEAD}",
    "lengths as a list": f"{ENCODE}{DECODE}{HEAD}".replace("source_lengths,", "source_lengths.tolist(),"),
    "lengths from the ids": encoded(
        "n = (source != self.source_embedding.padding_idx).sum(dim=1)\n_, context = self.encoder("
        "rnn.pack_padded_sequence(x, n, batch_first=True, enforce_sorted=False))"
    ),
    "time first": encoded(
        "self.encoder.batch_first = False\n_, context = self.encoder(rnn.pack_padded_sequence(x.transpose(0, 1), "
        "source_lengths, enforce_sorted=False))\nself.encoder.batch_first = True"
    ),
    "step by step": encoded(STEPS.format(kept="torch.where((s < source_lengths)[None, :, None], new, context)")),
    "a mask of zeros and ones": encoded(
        STEPS.format(kept="new * (s < source_lengths)[None, :, None] + context * (s >= source_lengths)[None, :, None]")
    ),
    "packed from a list of rows": encoded(
        "rows = [row[:n] for row, n in zip(x, source_lengths)]\n"
        "_, context = self.encoder(rnn.pack_sequence(rows, enforce_sorted=False))"
    ),
    "a loop over the rows": encoded(
        "context = torch.cat([self.encoder(r[None, :n])[1] for r, n in zip(x, source_lengths)], dim=1)"
    ),
    "a loop over the targets": decoded(LOOP.format(before="", new="state", index="", joined="cat", dim=1)),
    "a loop that stacks": decoded(LOOP.format(before="", new="state", index="[:, 0]", joined="stack", dim=1)),
    "head on a matrix": f"{ENCODE}{DECODE}return self.head(h.flatten(0, 1)).unflatten(0, target_in.shape)",
    "one-hot times the table": (
        f"{ENCODE}table = self.target_embedding.weight\n"
        f"h, _ = self.decoder(F.one_hot(target_in, len(table)).double() @ table, context)\n{HEAD}"
    ),
    "functional": f"{ENCODE}{DECODE}return F.linear(h, self.head.weight, self.head.bias)",
}


@for_each("name", WRONG)
def test_a_nearly_right_model_fails_and_gets_no_wrong_name(name):
    forward, allowed, says = WRONG[name]
    fails("Seq2Seq", seq2seq(forward), allowed, seeds=SEEDS[:2])
    if says:
        assert says in exercise("Seq2Seq").verdict(seq2seq(forward)).first_problem[1].text


@for_each("name", RIGHT)
def test_a_right_model_passes_however_it_is_written(name):
    passes("Seq2Seq", seq2seq(RIGHT[name]), SEEDS[:2])
