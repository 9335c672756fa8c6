def moved(theta, index, by):
    new = theta.copy()
    new[index] += by
    return new


def numerical_gradient(f, theta, eps=1e-05):
    gradient = np.zeros(theta.shape)
    for i in range(theta.shape[0]):
        for j in range(theta.shape[1]):
            gradient[i, j] = (f(moved(theta, (i, j), eps)) - f(moved(theta, (i, j), -eps))) / (2 * eps)
    return gradient
