import numpy as np


def masked_cross_entropy(logits, targets, mask):
    """The real tokens in one list, each with its own loss."""
    found = []
    for b, t in zip(*np.nonzero(mask), strict=True):
        row = logits[b, t] - logits[b, t].max()
        found.append(np.log(np.sum(np.exp(row))) - row[targets[b, t]])
    return float(np.mean(found)) if found else 0.0
