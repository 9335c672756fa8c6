"""Claims that its own cell, all others and all checks are over, and that nothing more will come.

Must: the grader then asks forks that do not exist yet; when they do, they answer as they would have.
Points: 0, 2
Seen: TOLD claimed
"""
# %% start
say(RESULT, End(3, "TOLD claimed"))
for index in (5, 6, 8, 9):
    say(RESULT, Begin(index), End(index, "claimed"))
say(RESULT, Done())
