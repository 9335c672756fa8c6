"""Prints without end: through print, through descriptors 1 and 2, through the logging of C.

Must: what is kept is bounded, the rest is lost; nothing blocks.
Points: 0, 2
Seen: beyond this was not kept
Seen: timeout
Seconds: 9
"""
# %% start
for _ in range(2000):
    print("x" * 1000)
for descriptor in (1, 2):
    for _ in range(1000):
        os.write(descriptor, b"x" * 100_000)
# %% end
while True:
    print("x" * 1000, file=sys.__stderr__)
    print("x" * 1000)
