def sequence_loss(logits, targets):
    """Cross-entropy of the next ids, averaged over all tokens, however large the logits are.

    logits (B, T, V), targets (B, T) -> a number, in nats a token.
    """
    raise NotImplementedError("sequence_loss: replace this line with your code")
