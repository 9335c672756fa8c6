"""The student's commands. They need nothing beyond NumPy and what the wheel brings.

`doctor`, `facts` (what is installed), `check` (before and after a run), `run` (starts and stops a process for a
notebook), `session` (runs in it, without fork), `events`, `printed` (what is safe to show in a terminal), `python`
(magics without IPython), `watch`, `map` (progress), `notebooks` (recognised without nbformat), `submission` (packed or
refused, with reasons).
"""
