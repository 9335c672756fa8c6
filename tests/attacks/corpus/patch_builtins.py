"""Replaces builtins: isinstance, len, abs, all, any, __import__, __build_class__.

Must: it confuses its own process alone, which ends with this cell; the grader goes on in a fresh one.
Points: 0, 2
Seen: fault in cell 3: malformed
"""
# %% start
import builtins

for name in ("isinstance", "issubclass", "len", "abs", "all", "any", "callable", "__import__", "__build_class__"):
    setattr(builtins, name, lambda *_, **__: True)
