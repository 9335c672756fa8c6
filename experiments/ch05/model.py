"""An encoder–decoder of GRUs without attention: vocabularies, padded batches, training and greedy decoding, in PyTorch.

    from experiments.ch05.model import Settings, fit, exact_match

Sources and targets end with ⟨eos⟩. The decoder reads ⟨sos⟩ first, then each target token; ⟨sos⟩ is never a target.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from experiments.ch05.numbers import Pair

PAD, SOS, EOS = 0, 1, 2
SPECIAL = ["⟨pad⟩", "⟨sos⟩", "⟨eos⟩"]

torch.set_num_threads(1)


@dataclass(frozen=True)
class Settings:
    """All that decides a training run, apart from the pairs."""

    embed_size: int = 64
    hidden_size: int = 128
    layers: int = 1
    bidirectional: bool = False  # half of the hidden units read backward
    context: str = "final"  # or "mean", "max": which summary of the encoder's states the decoder gets
    every_step: bool = False  # whether the decoder also reads the context at every step
    reverse: bool = False  # read the source from its last token to its first
    updates: int = 400
    batch: int = 64
    lr: float = 2e-3
    clip: float = 1.0
    context_size: int = 0  # if set, the context passes through two linear layers with so many numbers between them
    own_share: float = 0.0  # scheduled sampling: the final share of inputs that are the model's own predictions
    seed: int = 0


class Vocabulary:
    """Tokens and their ids; 0, 1 and 2 are ⟨pad⟩, ⟨sos⟩ and ⟨eos⟩."""

    def __init__(self, sentences: Iterable[Sequence[str]]) -> None:
        self.tokens = [*SPECIAL, *sorted({token for sentence in sentences for token in sentence})]
        self.id = {token: index for index, token in enumerate(self.tokens)}

    def __len__(self) -> int:
        return len(self.tokens)

    def encode(self, sentence: Sequence[str]) -> list[int]:
        """The ids of the tokens and of ⟨eos⟩. Raises KeyError for an unknown token."""
        return [*(self.id[token] for token in sentence), EOS]

    def decode(self, ids: Iterable[int]) -> list[str]:
        """The tokens before the first ⟨eos⟩."""
        found = []
        for index in ids:
            if index == EOS:
                break
            found.append(self.tokens[index])
        return found


def padded(sequences: Sequence[Sequence[int]]) -> tuple[Tensor, Tensor]:
    """Ids (B, S), filled up with ⟨pad⟩, and lengths (B,)."""
    rows = [torch.tensor(sequence) for sequence in sequences]
    return nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=PAD), torch.tensor([len(r) for r in rows])


class Translator(nn.Module):
    """Encode a source into one context, from which the decoder predicts the target token by token."""

    def __init__(self, source_vocab: int, target_vocab: int, settings: Settings) -> None:
        super().__init__()
        self.settings = settings
        E, H, L = settings.embed_size, settings.hidden_size, settings.layers
        self.source_embedding = nn.Embedding(source_vocab, E, padding_idx=PAD)
        self.target_embedding = nn.Embedding(target_vocab, E, padding_idx=PAD)
        width = H // 2 if settings.bidirectional else H
        self.encoder = nn.GRU(E, width, L, batch_first=True, bidirectional=settings.bidirectional)
        self.decoder = nn.GRU(E + H * settings.every_step, H, L, batch_first=True)
        self.head = nn.Linear(H, target_vocab)
        K = settings.context_size
        self.bottleneck = nn.Sequential(nn.Linear(H, K), nn.Linear(K, H)) if K else nn.Identity()

    def encode(self, source: Tensor, lengths: Tensor) -> Any:
        """Source ids (B, S) and their lengths (B,) -> what the decoder gets of them: its initial state (L, B, H)."""
        state: Tensor = self.bottleneck(self.summary(source, lengths))
        return state

    def summary(self, source: Tensor, lengths: Tensor) -> Tensor:
        """What the encoder's states are summed up in, (L, B, H)."""
        packed = pack_padded_sequence(self.source_embedding(source), lengths, batch_first=True, enforce_sorted=False)
        states, final = self.encoder(packed)
        if self.settings.context != "final":
            top, _ = pad_packed_sequence(states, batch_first=True)  # (B, S, H)
            real = (torch.arange(top.shape[1]) < lengths[:, None])[..., None]
            if self.settings.context == "mean":
                summary = (top * real).sum(1) / lengths[:, None]
            else:
                summary = top.masked_fill(~real, -torch.inf).amax(1)
            return summary.expand(self.settings.layers, *summary.shape).contiguous()
        if self.settings.bidirectional:
            both = final.unflatten(0, (self.settings.layers, 2))  # (L, 2, B, H/2)
            return torch.cat([both[:, 0], both[:, 1]], dim=-1)
        return final

    def decode(self, target_in: Tensor, state: Tensor, context: Any) -> tuple[Tensor, Tensor]:
        """Ids (B, T) that the decoder reads, from state (L, B, H) on -> logits (B, T, V) and the last state."""
        read = self.target_embedding(target_in)
        if self.settings.every_step:
            read = torch.cat([read, context[-1][:, None].expand(-1, read.shape[1], -1)], dim=-1)
        states, state = self.decoder(read, state)
        return self.head(states), state

    def start(self, context: Any) -> Tensor:
        """The decoder's initial state (L, B, H), from what `encode` returns."""
        state: Tensor = context
        return state

    def forward(self, source: Tensor, lengths: Tensor, target_in: Tensor) -> Tensor:
        """Teacher forcing: logits (B, T, V)."""
        context = self.encode(source, lengths)
        return self.decode(target_in, self.start(context), context)[0]


@dataclass
class Fitted:
    """A trained model with its vocabularies, and the mean loss of each update, in nats per token."""

    model: Translator
    source: Vocabulary
    target: Vocabulary
    losses: list[float]


def source_ids(words: Sequence[str], vocabulary: Vocabulary, reverse: bool) -> list[int]:
    """The ids that the encoder reads: of the words, from the last to the first if `reverse`, then of ⟨eos⟩."""
    return vocabulary.encode(words[::-1] if reverse else words)


def batch_of(pairs: Sequence[Pair], source: Vocabulary, target: Vocabulary, reverse: bool) -> tuple[Tensor, ...]:
    """Source ids (B, S), source lengths (B,), what the decoder reads (B, T), and its targets (B, T)."""
    sources = [source_ids(words, source, reverse) for words, _ in pairs]
    targets = [target.encode(words) for _, words in pairs]
    ids, lengths = padded(sources)
    wanted, _ = padded(targets)
    return ids, lengths, shifted(wanted), wanted


def shifted(wanted: Tensor) -> Tensor:
    """Targets (B, T) -> the decoder's inputs (B, T): ⟨sos⟩, then every target but the last. ⟨eos⟩ becomes ⟨pad⟩."""
    read = torch.cat([torch.full_like(wanted[:, :1], SOS), wanted[:, :-1]], dim=1)
    return read.masked_fill(read == EOS, PAD)


def free_logits(model: Translator, ids: Tensor, lengths: Tensor, read: Tensor, own: Tensor) -> Tensor:
    """Logits (B, T, V) where the decoder reads its own most probable token wherever own (B, T) is true."""
    context = model.encode(ids, lengths)
    state, logits, predicted = model.start(context), [], read[:, 0]
    for t in range(read.shape[1]):
        given = torch.where(own[:, t], predicted, read[:, t]) if t else read[:, 0]
        now, state = model.decode(given[:, None], state, context)
        logits.append(now[:, 0])
        predicted = now[:, 0].detach().argmax(-1)
    return torch.stack(logits, dim=1)


def fit(
    pairs: Sequence[Pair],
    settings: Settings,
    vocabulary_of: Sequence[Pair] | None = None,
    look: Callable[[int, Fitted], None] = lambda update, fitted: None,
    build: Callable[[int, int, Any], Translator] = Translator,
) -> Fitted:
    """Train on pairs, with batches drawn at random in epochs. The vocabularies are those of `vocabulary_of`.

    `look` is called after every update with their number. `build` makes the model, from the sizes of the source and
    target vocabularies and the settings.
    """
    known = vocabulary_of if vocabulary_of is not None else pairs
    source, target = Vocabulary(words for words, _ in known), Vocabulary(words for _, words in known)
    torch.manual_seed(settings.seed)
    model = build(len(source), len(target), settings)
    optimizer = torch.optim.Adam(model.parameters(), lr=settings.lr)
    order, fitted = random.Random(settings.seed), Fitted(model, source, target, [])
    waiting: list[Pair] = []
    for update in range(settings.updates):
        while len(waiting) < settings.batch:
            waiting += order.sample(list(pairs), len(pairs))
        chosen, waiting = waiting[: settings.batch], waiting[settings.batch :]
        ids, lengths, read, wanted = batch_of(chosen, source, target, settings.reverse)
        if settings.own_share:
            own = torch.rand(read.shape) < settings.own_share * update / settings.updates
            logits = free_logits(model, ids, lengths, read, own)
        else:
            logits = model(ids, lengths, read)
        loss = cross_entropy(logits.flatten(0, 1), wanted.flatten(), ignore_index=PAD)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), settings.clip)
        optimizer.step()
        fitted.losses.append(loss.item())
        look(update + 1, fitted)
    model.eval()
    return fitted


@torch.no_grad()
def greedy(
    fitted: Fitted, sources: Sequence[Sequence[str]], max_length: int = 40, at_once: int = 500
) -> list[list[str]]:
    """Translate each source: the most probable token at every step, until ⟨eos⟩ or max_length."""
    found: list[list[str]] = []
    reverse = fitted.model.settings.reverse
    for start in range(0, len(sources), at_once):
        ids, lengths = padded([source_ids(s, fitted.source, reverse) for s in sources[start : start + at_once]])
        context = fitted.model.encode(ids, lengths)
        state, token = fitted.model.start(context), torch.full((len(ids),), SOS)
        rows, done = [], torch.zeros(len(ids), dtype=torch.bool)
        for _ in range(max_length):
            logits, state = fitted.model.decode(token[:, None], state, context)
            token = logits[:, 0].argmax(-1)
            rows.append(token)
            done |= token == EOS
            if done.all():
                break
        found += [fitted.target.decode(row) for row in torch.stack(rows, dim=1).tolist()]
    return found


def exact_match(found: Sequence[Sequence[str]], pairs: Sequence[Pair]) -> float:
    """The share of translations that equal the reference, in percent."""
    return 100 * sum(list(a) == list(b) for a, (_, b) in zip(found, pairs, strict=True)) / len(pairs)


@torch.no_grad()
def token_accuracy(fitted: Fitted, pairs: Sequence[Pair], free: bool) -> float:
    """The share of target tokens, ⟨eos⟩ included, that are predicted, in percent.

    The decoder reads the reference (teacher forcing) or, if `free`, its own predictions.
    """
    ids, lengths, read, wanted = batch_of(pairs, fitted.source, fitted.target, fitted.model.settings.reverse)
    own = torch.full(read.shape, free)
    right = (free_logits(fitted.model, ids, lengths, read, own).argmax(-1) == wanted)[wanted != PAD]
    return 100 * right.double().mean().item()
