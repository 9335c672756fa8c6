def apply_bpe(word, merges):
    """A new tuple of pieces for each merge, by recursion."""

    def joined(pieces, left, right):
        if len(pieces) < 2:
            return pieces
        if pieces[0] == left and pieces[1] == right:
            return (left + right, *joined(pieces[2:], left, right))
        return (pieces[0], *joined(pieces[1:], left, right))

    found = tuple(word)
    for left, right in merges:
        found = joined(found, left, right)
    return list(found)
