def embedding_backward(de, ids, vocab_size):
    dE = np.zeros((ids.max() + 1, de.shape[2]))
    np.add.at(dE, ids, de)
    return dE
