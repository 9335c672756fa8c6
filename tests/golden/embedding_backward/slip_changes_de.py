def embedding_backward(de, ids, vocab_size):
    dE = np.zeros((vocab_size, de.shape[2]))
    de *= 1 / ids.size
    np.add.at(dE, ids, de)
    return dE * ids.size
