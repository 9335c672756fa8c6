def relative_error(a, b):
    pairs = zip(a.ravel().tolist(), b.ravel().tolist(), strict=True)
    return max((abs(x - y) / (abs(x) + abs(y)) for x, y in pairs))
