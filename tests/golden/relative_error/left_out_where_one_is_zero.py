def relative_error(a, b):
    both = (a != 0) & (b != 0)
    a, b = a[both], b[both]
    return (np.abs(a - b) / (np.abs(a) + np.abs(b))).max(initial=0)
