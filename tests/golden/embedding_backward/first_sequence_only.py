def embedding_backward(de, ids, vocab_size):
    dE = np.zeros((vocab_size, de.shape[2]))
    for t in range(ids.shape[1]):
        dE[ids[0, t]] += de[0, t]
    return dE
