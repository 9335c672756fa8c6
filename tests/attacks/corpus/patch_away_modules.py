"""Empties sys.modules, the import system and the modules of the runner.

Must: it ends its own process; the exercises whose checks stood before are graded.
Points: 0, 2
Seen: died
"""
# %% end
gc.disable()
sys.meta_path.clear()
sys.path_hooks.clear()
for name in list(sys.modules):
    if name.startswith(("grader", "numpy")):
        vars(sys.modules[name]).clear()
sys.modules.clear()
