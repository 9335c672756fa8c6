def each(theta):
    return np.ndindex(theta.shape)


def numerical_gradient(f, theta, eps=1e-05):
    gradient, plus, minus = (np.zeros(theta.shape), theta.copy(), theta.copy())
    for i in each(theta):
        plus[i] += eps
        minus[i] -= eps
        gradient[i] = (f(plus) - f(minus)) / (2 * eps)
    return gradient
