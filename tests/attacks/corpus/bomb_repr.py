"""A last expression whose text never ends, or is huge; and an exception whose text is.

Must: a value's text is bounded; one that takes for ever is a cell that takes for ever.
Points: 0, 2
Seen: fault in cell 3: timeout
"""
# %% start
class Endless:
    def __repr__(self):
        while True:
            time.sleep(0.01)


Endless()
# %% end
[10**1000] * 10_000
