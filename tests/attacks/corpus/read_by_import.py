"""Imports the judge, the recorded data, the oracle's specs and the solutions.

Must: the package in the sandbox holds nothing that judges and no data.
Points: 0, 2
Seen: TOLD {'ModuleNotFoundError'}
"""
# %% start
import importlib

sys.path += ["/", ROOT, TERM, "/sandbox", os.path.dirname(ROOT)]
names = ["checking.judge", "checking.evaluate", "checking.diagnose", "released", "spec.record", "spec.spec", "manifest", "data"]
names += ["grading.score", "grading.hidden"]
names = [f"grader.{name}" for name in names] + ["solutions", "solutions.ch01_vanilla_rnn.recurrence", "exercises"]
tell({tried(lambda: importlib.import_module(name)) for name in names})
