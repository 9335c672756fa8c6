"""Starting the process with a student's code, and receiving its answers.

`together` (several notebooks in one child), `runner` (which outcomes to accept), `trial` (one run of a child), `meter`
(running time, on which limits are based), `conversation` (bytes in both directions, until the limit), `processes` (how
a child is started: a protocol), `sandbox`, `seccomp`, `selftest`, `unsandboxed`, `other_user` (where no namespaces can
be made).

*If the sandbox fails its test, nothing is graded*, unless `--unsafe-no-sandbox` is given. Each result then says so, and
the gradebook is written only with `--force-gradebook`.

*Nothing that a child sends is trusted.* Its bytes pass through `inside/frames`, which accepts five classes, and through
`codec.decode`, which accepts listed dtypes and bounded trees. Neither pickle nor npz is used, and nothing is inflated.

*No limit depends on the load.* Limits count running time, seen from outside: ten times a second `/proc` gives the
processor time of all processes of a notebook together, and whether every thread waits for something other than a
processor or a disk; if so, that tenth of a second counts too. An endless loop therefore ends after its limit of
computing, a `sleep` after its limit of real time, and a process that is not scheduled uses nothing. A student's code
cannot avoid it: the kernel adds the time of an ended process to the one that waits for it, no process may ignore
SIGCHLD, and orphans are collected by the first process of the namespace. Imports count (`import torch` takes 2 s).

*A time-out or a dead process must happen twice.* The first child gets a quarter of the limit of each cell and exercise,
and of a notebook's own limit all. If that is too little, or if a process ends or hangs, a fresh child gets the whole
limit, in the same worker, and what ends it then is the notebook's. Hyperthreads and caches can nearly double a time, so
a limit should be several times what a correct solution needs. A child that has neither used its limit nor finished
after thirty times that in real time, and at least two minutes, is reported as not graded, and the earlier score stays.

*Notebooks share a child* if their cells change nothing outside them; one that does may come last. If anything goes
wrong in a shared child, each is run in one of its own, and those results count. If an exercise uses up the memory of
all, a fresh child runs the rest.
"""
