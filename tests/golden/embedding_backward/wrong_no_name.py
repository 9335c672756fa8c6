def embedding_backward(de, ids, vocab_size):
    dE = np.zeros((vocab_size, de.shape[2]))
    np.add.at(dE, (ids + 1) % vocab_size, de)
    return dE
