def embedding_backward(de, ids, vocab_size):
    dE = np.zeros((vocab_size, de.shape[2]))
    for t in range(ids.shape[1]):
        dE[ids[:, t]] += de[:, t]
    return dE
