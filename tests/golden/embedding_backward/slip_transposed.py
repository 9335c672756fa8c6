def embedding_backward(de, ids, vocab_size):
    came = np.eye(vocab_size)[ids.ravel()]
    return de.reshape(len(came), -1).T @ came
