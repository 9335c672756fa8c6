"""Claims that its cell printed, returned and raised far more than the child would have let it.

Must: the grader keeps of it what an honest child would have sent.
Points: 0, 2
Seen: TOLD printed
"""
# %% start
from grader.codec import Line, Raised

long = "x" * 600_000
say(RESULT, End(3, "TOLD printed" + long, long, Raised(long, long, (Line(1, long, long),))))
# %% end
from grader.codec import Line, Raised

say(RESULT, End(15, "x" * 600_000, None, Raised("E", "", (Line(1, "x" * 30, "x" * 30),) * 30_000)))
