def rnn_step_backward(dh_t, x_t, h_prev, h_t, W_xh, W_hh):
    da_t = np.einsum("bj,bj->bj", dh_t, 1 - h_t * h_t)
    return (
        np.einsum("bj,ij->bi", da_t, W_xh),
        np.einsum("bj,kj->bk", da_t, W_hh),
        np.einsum("bi,bj->ij", x_t, da_t),
        np.einsum("bk,bj->kj", h_prev, da_t),
        np.einsum("bj->j", da_t),
    )
