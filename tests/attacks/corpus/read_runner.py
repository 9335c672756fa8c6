"""Walks frames and modules of the runner in a visible cell, in search of any case, public or hidden.

Must: no case is there before the last visible cell has ended.
Points: 0, 2
Seen: TOLD frames ['_run_cell', 'enclosed', 'main', 'run']
"""
# %% end
frame, names, things = sys._getframe(), set(), []
while frame is not None:
    names.add(frame.f_code.co_name)
    things += frame.f_locals.values()
    frame = frame.f_back
seen, kinds = set(), set()
things += [value for module in list(sys.modules.values()) if "grader" in getattr(module, "__name__", "") for value in vars(module).values()]
things += gc.get_objects()
for thing in things:
    if type(thing).__name__ in ("Case", "Part", "ExerciseCases", "Checks") and type(thing) is not type:
        won(thing)
    if isinstance(thing, dict) and {"x_t", "h_prev"} <= {key for key in thing if isinstance(key, str)}:
        won(thing)
tell("frames", sorted(names & {"run", "_run_cell", "main", "enclosed"}))
