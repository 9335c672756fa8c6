"""The driver of torch modules: the release gives `__init__` with its submodules, the student writes `forward`.

The inputs of a case are the arguments of the call of `forward` whose results are judged, and in addition:

- `init`: the constructor's arguments;
- `weights`: a float64 array for each name of the module's `state_dict`;
- `run`: a dict with `mode` ("eval" or "train"); `before`, the arguments of earlier calls, in order; `carry`, which maps
  an argument of each later call to the result of the previous call that it takes; `between`, the arguments of calls
  after those, which take and give nothing; `returns`, which maps the name of each result to what is observed of it; and
  `unused`, the weights that need no gradient.

Arrays are converted to tensors, and results back to arrays. What can be observed of a result:

- "tensor": its value;
- "learning": its value, and whether a gradient flows from it to every weight that is not listed in `unused`, if there
  are no earlier calls along every path: it must agree with a difference quotient in a random direction;
- "tensors": the values of a nested tuple, list or dict of tensors;
- "detached": the word "detached", or "attached" if a gradient can flow through it, or "empty" if it contains no tensor;
- "random": the word "random", or "fixed" if another seed gives the same values.

A value that another seed changes is observed as the word "random", so that a report can say so.

PyTorch is not imported before a case is run.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np

from grader.checking.case import Case, Observation
from grader.checking.fixtures import BUILDERS, Builders
from grader.checking.observing import cannot_be_called, caught, plain, same_bytes
from grader.codec import Fixture, Raised, freeze

MODES = ("eval", "train")
OBSERVED = ("tensor", "learning", "tensors", "detached", "random")
DRIVER_INPUTS = ("init", "weights", "run")  # inputs that are not arguments of `forward`
MAX_DEPTH = 20  # of nested results
PARTLY = "*"  # among the weights that no gradient reaches: all are reached, but not along every path
SEEDS = 17  # that are tried until one gives other values: a mask of few entries may be the same for two seeds
STEP = 1e-7  # of a difference quotient of float64 values
AGREE = 1e-4  # how much it may differ from the gradient, relative to 1 + the contributions of all weights


class _WrongModuleError(Exception):
    """A problem of a student's module, described in the exercise's words. `kind` precedes the text in the report, like
    the type of an exception; problems of the same kind are considered the same mistake.
    """

    def __init__(self, kind: str, text: str) -> None:
        super().__init__(text)
        self.kind = kind


def module_case(
    sizes: Mapping[str, int],
    *,
    init: Mapping[str, Any],
    weights: Mapping[str, Any],
    forward: Mapping[str, Any],
    returns: Mapping[str, str],
    before: Sequence[Mapping[str, Any]] = (),
    carry: Mapping[str, str] | None = None,
    between: Sequence[Mapping[str, Any]] = (),
    mode: str = "eval",
    kind: str = "ordinary",
    unused: Sequence[str] = (),
) -> Case:
    """Create a case for the driver "module". Raises ValueError if the driver cannot run it.

    `forward` contains the arguments of the call whose results are judged and `before` those of earlier calls; `unused`
    names the weights that need no gradient. The docstring of this module describes the other arguments.
    """
    carry = dict(carry or {})
    given = (forward, *before, *between)
    taken = [name for name in (*DRIVER_INPUTS, *carry) if any(name in arguments for arguments in given)]
    if taken:
        raise ValueError(f"an argument of forward cannot be called {taken[0]!r}: the driver uses that name itself")
    unknown = [word for word in returns.values() if word not in OBSERVED]
    if unknown or not returns:
        raise ValueError(f"returns={dict(returns)!r}: name each result, with one of {', '.join(OBSERVED)}")
    if mode not in MODES:
        raise ValueError(f"mode={mode!r}: a module is driven in one of {', '.join(MODES)}")
    if any(result not in returns for result in carry.values()):
        raise ValueError(f"carry={carry!r}: each argument takes a result that `returns` names")
    strange = [n for n, w in weights.items() if not isinstance(w, np.ndarray) or w.dtype in (np.float32, np.float16)]
    if strange:
        raise ValueError(f"weights[{strange[0]!r}] has to be a float64 array")
    if missing := [name for name in unused if name not in weights]:
        raise ValueError(f"unused={list(unused)!r}: the module has no weight {missing[0]!r}")
    if any(isinstance(leaf, Fixture) for leaf in _leaves(list(given))):
        raise ValueError("forward takes no fixtures: give it arrays and plain values")
    run = {
        "mode": mode,
        "before": [dict(each) for each in before],
        "carry": carry,
        "between": [dict(each) for each in between],
        "returns": dict(returns),
        "unused": list(unused),
    }
    return Case(sizes, {"init": dict(init), "weights": dict(weights), **forward, "run": run}, kind)


def run_module(cls: Any, case: Case, builders: Builders = BUILDERS) -> Observation:
    """Create the student's module with the weights of the case, call it, and observe its results as `run` says.

    The inputs are plain values without fixtures, so `builders` is not used.
    """
    first, has_drawn = _run(cls, case, seed=0)
    returns = list(case.inputs["run"]["returns"].values())
    if not (has_drawn or "random" in returns) or not _is_complete(first, returns):
        return first
    words: list[Any] = []
    for seed in range(1, SEEDS if has_drawn else 2):
        other, _ = _run(cls, case, seed)
        if not _is_complete(other, returns):
            return other
        pairs = zip(returns, _entries(first.result, returns), _entries(other.result, returns), strict=True)
        words = [_of_two_seeds(word, a, b) for word, a, b in pairs]
        if any(isinstance(word, str) and word == "random" for word in words):
            break
    return replace(first, result=words[0] if len(words) == 1 else tuple(words))


def _of_two_seeds(word: str, first: Any, second: Any) -> Any:
    """What is observed of a result that two seeds gave."""
    found = _randomness(first, second)
    is_random = isinstance(found, str) and found == "random"
    return found if word == "random" or is_random else first


def _randomness(first: Any, second: Any) -> Any:
    """'fixed' or 'random': whether two runs gave the same result. A result without arrays is returned unchanged."""
    leaves = list(_leaves(first))
    if not all(isinstance(leaf, np.ndarray) for leaf in leaves) or not leaves:
        return first
    return "fixed" if same_bytes(first, second) else "random"


def _all_calls(case: Case) -> list[dict[str, Any]]:
    """The arguments of all calls, in order, without those that are carried."""
    run = case.inputs["run"]
    judged = {name: value for name, value in case.inputs.items() if name not in DRIVER_INPUTS}
    return [*run["before"], *run["between"], judged]


def _is_complete(observation: Observation, returns: Sequence[str]) -> bool:
    """Whether the call returned the expected number of results."""
    return observation.result is not None and _has_right_count(observation.result, returns)


def _entries(result: Any, returns: Sequence[str]) -> Sequence[Any]:
    return (result,) if len(returns) == 1 else result


def _has_right_count(result: Any, returns: Sequence[str]) -> bool:
    """Whether the number of results is right."""
    return len(returns) == 1 or (isinstance(result, tuple | list) and len(result) == len(returns))


def _run(cls: Any, case: Case, seed: int) -> tuple[Observation, bool]:
    """The observation with this seed, and whether the calls have drawn random numbers from PyTorch's generator."""
    import torch

    run = case.inputs["run"]
    calls = [{name: _tensors(each) for name, each in given.items()} for given in _all_calls(case)]
    module = None
    result: Any = None
    unreached: dict[str, list[str]] = {}
    raised: Raised | None = None
    has_drawn = False
    with _torch_settings(seed), warnings.catch_warnings(module=warnings):
        warnings.simplefilter("ignore")
        try:
            module = _built_module(cls, case)
            module.train(run["mode"] == "train")
            generator = torch.get_rng_state()
            result, unreached, entries = _called(module, calls, run)
            has_drawn = not torch.equal(generator, torch.get_rng_state())
            if not (unreached or has_drawn or len(calls) > 1):
                unreached = _cut_in_part(cls, case, module, entries)
        except KeyboardInterrupt:
            raise
        except _WrongModuleError as error:
            raised = Raised(error.kind, str(error))
        except BaseException as error:
            raised = _with_likely_reason(caught(error))
        changed = _changed(module, case, calls)
    if raised is None and "weights added" in changed:
        raised = Raised("InitError", "`forward` creates new weights. Create all weights once, in `__init__`")
    named = tuple(name for name in changed if name in case.inputs)
    if raised is not None:
        return Observation(raised=raised, changed=named), False
    return Observation(result, None, named, {}, unreached), has_drawn


@contextmanager
def _torch_settings(seed: int) -> Iterator[None]:
    """Set the seed, enable gradients and make float64 the default dtype, and restore the settings afterwards."""
    import torch

    dtype = torch.get_default_dtype()
    with torch.random.fork_rng(devices=[]), torch.enable_grad():
        try:
            torch.set_default_dtype(torch.float64)
            torch.manual_seed(seed)
            yield
        finally:
            torch.set_default_dtype(dtype)


def _with_likely_reason(raised: Raised) -> Raised:
    """The exception, with the likely reason added if PyTorch refused to mix dtypes."""
    if raised.type != "RuntimeError" or "dtype" not in raised.text:
        return raised
    return Raised(raised.type, raised.text + _FLOAT64, raised.lines)


_FLOAT64 = "; the check gives the module float64 weights: does `forward` use `float()` or `float32`?"


def _built_module(cls: Any, case: Case) -> Any:
    """The student's module in float64, with the weights of the case. Raises _WrongModuleError, and whatever `__init__`
    raises.
    """
    import torch

    if not isinstance(cls, type) or not issubclass(cls, torch.nn.Module):
        this = f"the class {cls.__name__}" if isinstance(cls, type) else f"of type {type(cls).__name__}"
        raise _WrongModuleError(
            "TypeError", f"the check expects a class, a torch.nn.Module with a `forward`; what you passed is {this}"
        )
    if vars(torch.nn.Module)["forward"] is getattr(cls, "forward", None):
        raise _WrongModuleError("TypeError", "the class has no `forward` yet: that is the method to write")
    init, weights = freeze(case.inputs["init"]), case.inputs["weights"]
    if problem := cannot_be_called(cls, init, "`__init__`"):
        raise _changed_init(problem)
    module = cls(**init).double()
    own = {name: tuple(value.shape) for name, value in module.state_dict().items()}
    for name in own:
        if name not in weights:
            raise _changed_init(f"it creates `{name}`, which the released one does not")
    for name, value in weights.items():
        if name not in own:
            raise _changed_init(f"it does not create `{name}`")
        if own[name] != value.shape:
            raise _changed_init(f"it creates `{name}` of shape {own[name]}; the released one has {value.shape}")
    module.load_state_dict({name: _tensors(value) for name, value in weights.items()})
    for name, value in module.state_dict().items():
        if not same_bytes(weights[name], _array(value)):
            raise _changed_init(f"`{name}` does not keep the value that is loaded into it; is it shared?")
    return module


def _changed_init(problem: str) -> _WrongModuleError:
    words = f"your `__init__` was changed: {problem}. Take it from the released notebook again."
    return _WrongModuleError("InitError", words)


def _called(
    module: Any, calls: Sequence[Mapping[str, Any]], run: Mapping[str, Any]
) -> tuple[Any, dict[str, list[str]], dict[str, Any]]:
    """Make all calls; return what is observed of the last call's results, the weights that no gradient reaches from
    each of them, and the results by name. If a call returns the wrong number of results, these are returned instead.
    """
    learning = {name: weight for name, weight in module.named_parameters() if name not in run["unused"]}
    names, returns = list(run["returns"]), list(run["returns"].values())
    carried: dict[str, Any] = {}
    result: Any = None
    between = range(len(run["before"]), len(run["before"]) + len(run["between"]))
    for index, arguments in enumerate(calls):
        given = arguments if index in between else {**arguments, **carried}
        if problem := cannot_be_called(module.forward, given, "`forward`"):
            raise _WrongModuleError("TypeError", problem)
        result = module(**given)
        if result is None:
            return None, {}, {}
        if not _has_right_count(result, returns):
            return plain(_arrays(result)), {}, {}
        entries = dict(zip(names, _entries(result, returns), strict=True))
        if index not in between:
            carried = {argument: entries[name] for argument, name in run["carry"].items()}
    observed = [_observed(word, name, entries[name]) for name, word in run["returns"].items()]
    cut_off = {n: _unreached(n, entries[n], learning) for n, word in run["returns"].items() if word == "learning"}
    unreached = {name: weights for name, weights in cut_off.items() if weights}
    return observed[0] if len(observed) == 1 else tuple(observed), unreached, entries


def _unreached(result: str, value: Any, weights: Mapping[str, Any]) -> list[str]:
    """The names of the weights that no gradient reaches from a result. Raises _WrongModuleError."""
    import torch

    able = {name: weight for name, weight in weights.items() if weight.requires_grad and value.requires_grad}
    try:
        start = torch.ones_like(value)
        found = (
            torch.autograd.grad(value, [*able.values()], start, retain_graph=True, allow_unused=True) if able else ()
        )
    except RuntimeError as error:
        words = f"the gradient of {result} cannot be computed: {error}"
        raise _WrongModuleError("GradientError", words) from error
    reached = {name for name, gradient in zip(able, found, strict=True) if gradient is not None}
    return [name for name in weights if name not in reached]


def _cut_in_part(cls: Any, case: Case, module: Any, entries: Mapping[str, Any]) -> dict[str, list[str]]:
    """PARTLY for each learning result whose gradient is not that of its values, because some path is cut.

    If all weights are changed a little in a random direction, a result has to change as its gradient says. The changed
    weights get a module of their own, because a student's module may remember its calls.
    """
    import torch

    run, found = case.inputs["run"], {}
    names = [name for name in entries if run["returns"][name] == "learning" and entries[name].dtype == torch.float64]
    weights = {name: weight for name, weight in module.named_parameters() if name not in run["unused"]}
    if not names or not weights:
        return {}
    generator = torch.Generator().manual_seed(0)
    direction = {name: torch.randn(weight.shape, generator=generator) for name, weight in weights.items()}
    arrays = {n: w + STEP * direction[n].numpy() if n in weights else w for n, w in case.inputs["weights"].items()}
    other = _built_module(cls, replace(case, inputs={**case.inputs, "weights": arrays})).train(module.training)
    arguments = {name: _tensors(value) for name, value in _all_calls(case)[-1].items()}
    moved = dict(zip(entries, _entries(other(**arguments), list(run["returns"])), strict=True))
    for name in names:
        probe = torch.randn(entries[name].shape, generator=generator)
        gradients = torch.autograd.grad(entries[name], [*weights.values()], probe, retain_graph=True)
        parts = [float((g * direction[n]).sum()) for n, g in zip(weights, gradients, strict=True)]
        quotient = float(((moved[name] - entries[name]) * probe).sum()) / STEP
        if abs(quotient - sum(parts)) > AGREE * (1 + sum(map(abs, parts))):
            found[name] = [PARTLY]
    return found


def _observed(word: str, name: str, value: Any) -> Any:
    import torch

    found = [leaf for leaf in _leaves(value) if isinstance(leaf, torch.Tensor)]
    if word == "detached":
        return "empty" if not found else "attached" if any(leaf.requires_grad for leaf in found) else "detached"
    if word in ("tensor", "learning") and not isinstance(value, torch.Tensor):
        raise _WrongModuleError(
            "ResultError", f"`forward` must return a tensor for {name}; yours is {_kind_text(value)}"
        )
    return plain(_arrays(value))


def _kind_text(value: Any) -> str:
    """A short description of a result that is not a tensor, with the way to convert a list into one."""
    if isinstance(value, np.ndarray):
        return "a NumPy array"
    if isinstance(value, list | tuple):
        return f"a {type(value).__name__} of {len(value)}; `torch.stack(…, dim=…)` makes one tensor of many"
    return f"of type {type(value).__name__}"


def _leaves(value: Any, depth: int = 0) -> Iterator[Any]:
    if isinstance(value, list | tuple | dict) and depth < MAX_DEPTH:
        for entry in value.values() if isinstance(value, dict) else value:
            yield from _leaves(entry, depth + 1)
    else:
        yield value


def _tensors(value: Any) -> Any:
    """A copy of an input with tensors in place of its arrays. They share no memory with the arrays."""
    import torch

    match value:
        case np.ndarray():
            return torch.from_numpy(value.copy())
        case list() | tuple():
            return type(value)(map(_tensors, value))
        case dict():
            return {key: _tensors(entry) for key, entry in value.items()}
    return value


def _arrays(value: Any, depth: int = 0) -> Any:
    """A result with arrays in place of its tensors; other values are kept. Raises _WrongModuleError if NumPy has no
    corresponding dtype.
    """
    import torch

    if isinstance(value, torch.Tensor):
        return _array(value)
    if type(value) in (list, tuple) and depth < MAX_DEPTH:
        return type(value)(_arrays(entry, depth + 1) for entry in value)
    if type(value) is dict and depth < MAX_DEPTH:
        return {key: _arrays(entry, depth + 1) for key, entry in value.items()}
    return value


def _array(tensor: Any) -> Any:
    """A tensor as an array, which may share its memory. Raises _WrongModuleError."""
    try:
        return tensor.detach().resolve_conj().resolve_neg().numpy()
    except (TypeError, RuntimeError) as error:
        words = f"a {tensor.dtype} tensor was returned, whose values cannot be read: {error}"
        raise _WrongModuleError("ResultError", words) from error


def _changed(module: Any, case: Case, calls: Sequence[Mapping[str, Any]]) -> set[str]:
    """The names of the inputs that have changed, and "weights added" if the module has more weights than at first."""
    found = set()
    for before, after in zip(_all_calls(case), calls, strict=True):
        found |= {name for name, value in before.items() if not _is_same(value, after[name])}
    if module is not None:
        try:
            state = module.state_dict()
        except Exception:  # a student's class may override it
            state = {}
        found |= {"weights added"} if state.keys() - case.inputs["weights"].keys() else set()
        weights = case.inputs["weights"].items()
        found |= {"weights"} if any(not _is_same(value, state.get(name)) for name, value in weights) else set()
    return found


def _is_same(before: Any, after: Any) -> bool:
    try:
        return same_bytes(before, _arrays(after))
    except Exception:  # the student replaced it with an unreadable value
        return False
