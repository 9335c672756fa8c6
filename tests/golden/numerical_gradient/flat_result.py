def each(theta):
    return np.ndindex(theta.shape)


def moved(theta, index, by):
    new = theta.copy()
    new[index] += by
    return new


def numerical_gradient(f, theta, eps=1e-05):
    result = []
    for i in each(theta):
        result.append((f(moved(theta, i, eps)) - f(moved(theta, i, -eps))) / (2 * eps))
    return np.array(result)
