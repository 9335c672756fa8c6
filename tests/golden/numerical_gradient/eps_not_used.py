def numerical_gradient(f, theta, eps=1e-5):
    gradient, h = np.zeros_like(theta), 1e-5
    for index in np.ndindex(theta.shape):
        old = theta[index]
        theta[index] = old + h
        above = f(theta)
        theta[index] = old - h
        below = f(theta)
        theta[index] = old
        gradient[index] = (above - below) / (2 * h)
    return gradient
