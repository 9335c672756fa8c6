def embedding_backward(de, ids, vocab_size):
    dE = np.zeros((vocab_size, de.shape[2]))
    for b in range(len(ids)):
        dE[ids[b]] += de[b]
    return dE
