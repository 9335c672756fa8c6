def moved(theta, index, by):
    new = theta.copy()
    new[index] += by
    return new


def numerical_gradient(f, theta, eps=1e-05):
    return np.array([(f(moved(theta, i, eps)) - f(moved(theta, i, -eps))) / (2 * eps) for i in range(len(theta))])
