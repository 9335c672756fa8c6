"""A thread of the visible cells keeps copies of both sockets and writes zeros as long as it lives.

Must: it can only spoil its own notebook.
Points: 0, 0
Seen: TOLD started
Seconds: 12
"""
# %% start
def write(descriptor):
    while True:
        say(descriptor, *zeros())
        time.sleep(0.01)


for number in SOCKETS:
    threading.Thread(target=write, args=(os.dup(number),), daemon=True).start()
tell("started")
