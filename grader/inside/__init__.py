"""What runs in the process with a student's code, and all that it imports. Its files are listed in `running/sandbox`.

`enter` (the entry point), `zygote` (the pre-warmed process), `confine` (namespaces, limits, seccomp), `child` (runs the
cells), `statements` (one cell), `shell` (what IPython would offer), `frames` (the messages), `usage` (what processes
use, from `/proc`), `lowered` (the entry point of another user's process).

*Hidden inputs never reach anything that is shown.* At each check cell the child forks, so the fork has the state that
*Run all* would have there, and waits. It gets its public cases only after the last visible cell has ended, and its
hidden cases only after all public cases of all exercises have been answered. Each case is answered once, in order; an
answer to any other ends the run of the hidden cases. No process that runs them contains an expected value.

*A crash, an endless loop or an exit affects one exercise.* It ends only the fork of that exercise.

*Nothing survives a notebook*, or the notebooks that share its child: the processes run in a PID namespace, which is
killed with its first process, and the files are in a tmpfs. The first process runs no student code.

*Forks.* The runner forks in the process that holds the student's state, so the kernel cannot forbid forks while visible
cells run. They are limited by RLIMIT_NPROC in a separate user namespace, by the memory limit over all processes, and by
the PID namespace. Hidden cases run behind a second filter, which allows only threads.

*A failed import affects only what needs it.* If a top-level import fails, its names stay unbound, and the cell goes on
without the statements that then lack such a name. There is no substitute for the module, so `try: import google.colab`
behaves as it should. A cell without imports is compiled as a whole, any other one statement at a time.

*Memory* is what a notebook uses beyond its pre-warmed process: anonymous and shared memory of all its processes, each
page once. The kernel walks through all pages to tell it, so it is asked only if there were enough page faults since the
last time to exceed the limit (`usage.Growth`). The release's cells are compiled once, in the pre-warmed process; random
generators start in the same state in every child.
"""
