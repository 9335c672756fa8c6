# %%
import torch

from grader import check


# %% exercise="Tagger"
class Tagger(torch.nn.Module):
    """Tags each token of a text, and can go on where it stopped.

    forward: ids (B, T), state None or what the call before returned -> logits (B, T, C), state, detached.
    """

    def __init__(self, vocab_size, embed_size, hidden_size, num_tags, dropout):
        super().__init__()
        self.embedding = torch.nn.Embedding(vocab_size, embed_size)
        self.rnn = torch.nn.GRU(embed_size, hidden_size, batch_first=True)
        self.dropout = torch.nn.Dropout(dropout)
        self.head = torch.nn.Linear(hidden_size, num_tags)

    def forward(self, ids, state=None):
        ### BEGIN SOLUTION
        h, state = self.rnn(self.embedding(ids), state)
        return self.head(self.dropout(h)), state.detach()
        ### END SOLUTION


# %% exercise="Reader"
class Reader(torch.nn.Module):
    """Attends to what it remembers.

    forward: state (B, H), keys (B, S, K), mask (B, S), True where a key is real -> context (B, K), weights (B, S).
    """

    def __init__(self, hidden_size, key_size):
        super().__init__()
        self.query = torch.nn.Linear(hidden_size, key_size, bias=False)

    def scores(self, state, keys):
        """state (B, H), keys (B, S, K) -> (B, S)."""
        ### BEGIN SOLUTION
        return (keys @ self.query(state)[:, :, None])[:, :, 0]
        ### END SOLUTION

    def forward(self, state, keys, mask):
        ### BEGIN SOLUTION
        weights = self.scores(state, keys).masked_fill(~mask, -torch.inf).softmax(dim=1)
        ### END SOLUTION
        return (weights[:, :, None] * keys).sum(dim=1), weights


# %%
torch.manual_seed(0)
text = torch.randint(5, (1, 7))
print(text.shape)
