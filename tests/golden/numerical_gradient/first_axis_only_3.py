def numerical_gradient(f, theta, eps=1e-5):
    gradient = np.zeros_like(theta)
    for i in range(len(theta)):
        old = theta[i]
        theta[i] = old + eps
        above = f(theta)
        theta[i] = old - eps
        below = f(theta)
        theta[i] = old
        gradient[i] = (above - below) / (2 * eps)
    return gradient
