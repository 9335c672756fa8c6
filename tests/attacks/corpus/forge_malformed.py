"""Sends what is no frame: a length of 4 GB, nesting without end, wrong types, sizes that do not fit, cut-off frames.

Must: the first of them ends the conversation with this cell; the parser raises nothing else.
Points: 0, 2
Seen: fault in cell 3: malformed
"""
# %% start
for junk in (
    struct.pack("<I", 2**32 - 1) + b"x" * 1000,
    struct.pack("<I", 5000) + b"\x91" * 5000,
    struct.pack("<I", 40) + b"\xdf\xff\xff\xff\xff" + b"x" * 35,
    frame_bytes(Begin(1))[:-1],
):
    os.write(RESULT, junk)
time.sleep(1)
