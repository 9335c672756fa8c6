"""Writes over the code of NumPy, of the C library and of Python's own objects in memory that all copies once shared.

Must: a page that is written is the writer's own; the next copy has the old one.
Points: 0, 0
Seen: TOLD patched
"""
# %% end
page = ctypes.cast(libc.getuid, ctypes.c_void_p).value & ~4095
if libc.mprotect(ctypes.c_void_p(page), ctypes.c_size_t(8192), 7) == 0:
    ctypes.memmove(ctypes.cast(libc.getuid, ctypes.c_void_p).value, b"\xb8\x2a\x00\x00\x00\xc3", 6)  # return 42
    tell("patched", libc.getuid()) if "x86" in os.uname().machine else tell("patched")
ctypes.memmove(id(256) + 24, struct.pack("<I", 255), 4)
np.tanh = np.zeros = len
np.random.seed(7)
# %% rnn_forward
def rnn_forward(**inputs):
    return np.zeros(1)
# %% next
two = 2
tell(os.getuid(), 128 * two, np.tanh(0.0), np.random.random())
if os.getuid() == 42 or 128 * two != int("256") or np.tanh(0.0) != 0.0:
    won("a patched page")
