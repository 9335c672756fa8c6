def embedding_backward(de, ids, vocab_size):
    dE, count = np.zeros((vocab_size, de.shape[2])), np.zeros((vocab_size, 1))
    np.add.at(dE, ids, de)
    np.add.at(count, ids, 1)
    return dE / np.maximum(count, 1)
