def each(theta):
    return np.ndindex(theta.shape)


def numerical_gradient(f, theta, eps=1e-05):
    gradient = np.zeros(theta.shape)
    for i in each(theta):
        plus, minus, old = (theta, theta, theta[i])
        plus[i] += eps
        minus[i] -= eps
        gradient[i] = (f(plus) - f(minus)) / (2 * eps)
        theta[i] = old
    return gradient
