def relative_error(a, b):
    worst = 0.0
    for x, y in zip(a.flat, b.flat):
        if abs(x) + abs(y) > 1e-10:
            worst = max(worst, abs(x - y) / (abs(x) + abs(y)))
    return worst
