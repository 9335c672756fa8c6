"""The encoder–decoder of chapter 05 with attention: GRUs, three score functions, and two choices of the query.

    from experiments.ch06.model import Attending, AttentionSettings
    fitted = fit(pairs, AttentionSettings(score="additive"), build=Attending)

`fit`, `greedy` and `exact_match` are those of `experiments.ch05.model`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from experiments.ch05.model import Fitted, Settings, Translator, batch_of
from experiments.ch05.numbers import Pair


@dataclass(frozen=True)
class AttentionSettings(Settings):
    """Settings of chapter 05, and how the decoder attends to the source."""

    bidirectional: bool = True
    score: str = "additive"  # or "dot", "bilinear"
    query: str = "previous"  # the decoder's state s_{t−1}; or "current", its state s_t
    scaled: bool = False  # whether dot scores are divided by the square root of the number of units
    attention_size: int = 128  # of the additive score


class Source(NamedTuple):
    """What the decoder gets of a batch of sources."""

    keys: Tensor  # (B, S, H), the encoder's states
    projected: Tensor  # (B, S, A), what of them the score function needs
    mask: Tensor  # (B, S), true where there is a token
    final: Tensor  # (1, B, H), the last states of both directions


class Attending(Translator):
    """Encode a source into one state per token; the decoder reads a weighted sum of them at every step."""

    settings: AttentionSettings

    def __init__(self, source_vocab: int, target_vocab: int, settings: AttentionSettings) -> None:
        super().__init__(source_vocab, target_vocab, settings)
        E, H, A = settings.embed_size, settings.hidden_size, settings.attention_size
        if settings.query == "previous":
            self.decoder = nn.GRU(E + H, H, batch_first=True)
        self.head = nn.Linear(2 * H, target_vocab)
        if settings.score == "additive":
            self.key, self.query = nn.Linear(H, A, bias=False), nn.Linear(H, A, bias=False)
            self.v = nn.Linear(A, 1, bias=False)
        elif settings.score == "bilinear":
            self.key = nn.Linear(H, H, bias=False)

    def encode(self, source: Tensor, lengths: Tensor) -> Source:
        """Source ids (B, S) and their lengths (B,) -> keys, mask and the final states."""
        packed = pack_padded_sequence(self.source_embedding(source), lengths, batch_first=True, enforce_sorted=False)
        states, final = self.encoder(packed)
        keys, _ = pad_packed_sequence(states, batch_first=True)  # (B, S, H)
        mask = torch.arange(keys.shape[1]) < lengths[:, None]
        projected = keys if self.settings.score == "dot" else self.key(keys)
        return Source(keys, projected, mask, torch.cat(list(final), dim=-1)[None])

    def start(self, context: Source) -> Tensor:
        """The decoder's initial state (1, B, H): the final states of the encoder."""
        return context.final

    def attend(self, query: Tensor, source: Source) -> tuple[Tensor, Tensor]:
        """Queries (B, T, H) -> contexts (B, T, H) and weights (B, T, S)."""
        if self.settings.score == "additive":
            sums = torch.tanh(self.query(query)[:, :, None] + source.projected[:, None])  # (B, T, S, A)
            scores = self.v(sums)[..., 0]
        else:
            scores = query @ source.projected.transpose(1, 2)
            if self.settings.scaled:
                scores = scores / math.sqrt(query.shape[-1])
        weights = torch.softmax(scores.masked_fill(~source.mask[:, None], -torch.inf), dim=-1)
        return weights @ source.keys, weights

    def decode(self, target_in: Tensor, state: Tensor, context: Source) -> tuple[Tensor, Tensor]:
        """Ids (B, T) that the decoder reads, from state (1, B, H) on -> logits (B, T, V) and the last state."""
        logits, state, _ = self.decode_attending(target_in, state, context)
        return logits, state

    def decode_attending(self, target_in: Tensor, state: Tensor, source: Source) -> tuple[Tensor, Tensor, Tensor]:
        """As `decode`, with the weights (B, T, S)."""
        read = self.target_embedding(target_in)
        if self.settings.query == "current":
            states, state = self.decoder(read, state)
            contexts, weights = self.attend(states, source)
            return self.head(torch.cat([states, contexts], dim=-1)), state, weights
        outputs, weights_of = [], []
        for t in range(read.shape[1]):
            now, weights = self.attend(state.transpose(0, 1), source)  # (B, 1, H), (B, 1, S)
            state_t, state = self.decoder(torch.cat([read[:, t : t + 1], now], dim=-1), state)
            outputs.append(torch.cat([state_t, now], dim=-1))
            weights_of.append(weights)
        return self.head(torch.cat(outputs, dim=1)), state, torch.cat(weights_of, dim=1)


@torch.no_grad()
def attention_weights(fitted: Fitted, pairs: Sequence[Pair]) -> Tensor:
    """The weights (B, T, S) with which the decoder, fed the reference, reads the source. ⟨eos⟩ is a token of both."""
    ids, lengths, read, _ = batch_of(pairs, fitted.source, fitted.target, fitted.model.settings.reverse)
    model = fitted.model
    if not isinstance(model, Attending):
        raise TypeError("This model has no attention, so it has no weights. Train one with build=Attending.")
    source = model.encode(ids, lengths)
    return model.decode_attending(read, model.start(source), source)[2]
