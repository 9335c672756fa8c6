def embedding_backward(de, ids, vocab_size):
    came = np.eye(vocab_size)[ids.ravel()]  # (B * T, V)
    return came.T @ de.reshape(len(came), -1)
