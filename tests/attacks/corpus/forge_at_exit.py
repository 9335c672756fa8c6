"""Hooks what runs at a fork, at a thread's end, at the interpreter's end and at the next line of code.

Must: whatever the hooks write in the fork of the check has no value that is due.
Points: 0, 2
Seen: TOLD hooked
"""
# %% start
import atexit

atexit.register(lambda: say(SOCKETS[0], *zeros()))
os.register_at_fork(after_in_child=lambda: say(SOCKETS[0], *zeros()))
sys.exitfunc = lambda: say(SOCKETS[0], *zeros())
tell("hooked")
