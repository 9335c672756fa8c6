def moved(theta, index, by):
    new = theta.copy()
    new[index] += by
    return new


def numerical_gradient(f, theta, eps=1e-05):
    gradient = np.zeros(theta.shape)
    for i in range(len(theta)):
        gradient[i] = (f(moved(theta, i, eps)) - f(moved(theta, i, -eps))) / (2 * eps)
    return gradient
