def numerical_gradient(f, theta, eps=1e-5):
    gradient = np.zeros_like(theta)
    for index in np.ndindex(theta.shape):
        old = theta[index]
        theta[index] = old + eps
        above = f(theta)
        theta[index] = old - eps
        below = f(theta)
        theta[index] = old
        gradient[index] = (above - below) / (2 * eps)
    return gradient
