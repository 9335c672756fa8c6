"""The driver of torch modules: the release gives `__init__` with its submodules, the student writes `forward`.

A case's inputs are the arguments of the call of `forward` that is judged, and three more:

- `init`, the constructor's arguments;
- `weights`, a float64 array for each name of the module's `state_dict`;
- `run`, a dict: `mode` ("eval" or "train"); `before`, the arguments of earlier calls, in order; `carry`, which argument
  of a call takes which result of the one before it; `returns`, what is observed of each result, by its name; `unused`,
  the weights that need no gradient.

Arrays become tensors, and results arrays again. What is observed of a result:

- "tensor": its value;
- "learning": its value, and that a gradient flows from it to each of the weights but the unused;
- "tensors": the values of a nested tuple, list or dict of tensors;
- "detached": the word "detached", or "attached" where a gradient would flow through it, or "empty" without a tensor;
- "random": the word "random", or "fixed" where another seed gives the same.

PyTorch is imported when a case is driven, and not before.
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
OWN = ("init", "weights", "run")  # inputs that are no arguments of `forward`
DEEPEST = 20


class _WrongModuleError(Exception):
    """What is wrong with a student's module, in the exercise's words. `kind` stands before them, as of an exception;
    two mistakes of one kind count as one.
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
    mode: str = "eval",
    kind: str = "ordinary",
    unused: Sequence[str] = (),
) -> Case:
    """A case for the driver "module". Raises ValueError for what it cannot drive.

    `forward` are the arguments of the call that is judged, `before` those of earlier ones, `unused` the weights that no
    gradient has to reach; see the head of this file.
    """
    carry = dict(carry or {})
    taken = [name for name in (*OWN, *carry) if any(name in arguments for arguments in (forward, *before))]
    if taken:
        raise ValueError(f"an argument of forward cannot be called {taken[0]!r} and be given: it is the driver's own")
    unknown = [word for word in returns.values() if word not in OBSERVED]
    if unknown or not returns:
        raise ValueError(f"returns={dict(returns)!r}: name each result, and say one of {', '.join(OBSERVED)} of it")
    if mode not in MODES:
        raise ValueError(f"mode={mode!r}: a module is driven in one of {', '.join(MODES)}")
    if any(result not in returns for result in carry.values()):
        raise ValueError(f"carry={carry!r}: each argument takes a result that `returns` names")
    strange = [n for n, w in weights.items() if not isinstance(w, np.ndarray) or w.dtype in (np.float32, np.float16)]
    if strange:
        raise ValueError(f"weights[{strange[0]!r}] has to be a float64 array")
    if missing := [name for name in unused if name not in weights]:
        raise ValueError(f"unused={list(unused)!r}: the module has no weight {missing[0]!r}")
    if any(isinstance(leaf, Fixture) for leaf in _leaves([forward, *before])):
        raise ValueError("forward takes no fixtures: give it arrays and plain values")
    run = {
        "mode": mode,
        "before": [dict(each) for each in before],
        "carry": carry,
        "returns": dict(returns),
        "unused": list(unused),
    }
    return Case(sizes, {"init": dict(init), "weights": dict(weights), **forward, "run": run}, kind)


def run_module(cls: Any, case: Case, builders: Builders = BUILDERS) -> Observation:
    """Build the student's module with the case's weights, call it, and observe what `run` says of its results.

    Its inputs are plain values: no fixture is among them.
    """
    first = _run(cls, case, seed=0)
    returns = list(case.inputs["run"]["returns"].values())
    if "random" not in returns or not _is_whole(first, returns):
        return first
    second = _run(cls, case, seed=1)
    if not _is_whole(second, returns):
        return second
    pairs = zip(returns, _entries(first.result, returns), _entries(second.result, returns), strict=True)
    words = [_varies(a, b) if word == "random" else a for word, a, b in pairs]
    return replace(first, result=words[0] if len(words) == 1 else tuple(words))


def _varies(first: Any, second: Any) -> Any:
    """Whether two runs gave the same; what holds no arrays that could tell is shown as it is."""
    leaves = list(_leaves(first))
    if not all(isinstance(leaf, np.ndarray) for leaf in leaves) or not leaves:
        return first
    return "fixed" if same_bytes(first, second) else "random"


def _is_whole(observation: Observation, returns: Sequence[str]) -> bool:
    return observation.result is not None and _fits(observation.result, returns)


def _entries(result: Any, returns: Sequence[str]) -> Sequence[Any]:
    return (result,) if len(returns) == 1 else result


def _fits(result: Any, returns: Sequence[str]) -> bool:
    """Whether there are as many results as there should be."""
    return len(returns) == 1 or (isinstance(result, tuple | list) and len(result) == len(returns))


def _run(cls: Any, case: Case, seed: int) -> Observation:
    run = case.inputs["run"]
    arguments = {name: value for name, value in case.inputs.items() if name not in OWN}
    calls = [{name: _tensors(each) for name, each in given.items()} for given in (*run["before"], arguments)]
    module = None
    result: Any = None
    unreached: dict[str, list[str]] = {}
    raised: Raised | None = None
    with _settled(seed), warnings.catch_warnings(module=warnings):
        warnings.simplefilter("ignore")
        try:
            module = _built(cls, case)
            module.train(run["mode"] == "train")
            result, unreached = _called(module, calls, run)
        except KeyboardInterrupt:
            raise
        except _WrongModuleError as error:
            raised = Raised(error.kind, str(error))
        except BaseException as error:
            raised = _explained(caught(error))
        changed = _changed(module, case, calls)
    if raised is None and "weights added" in changed:
        raised = Raised("InitError", "`forward` makes weights of its own; all of them are made in `__init__`, once")
    named = tuple(name for name in changed if name in case.inputs)
    return Observation(raised=raised, changed=named) if raised else Observation(result, None, named, {}, unreached)


@contextmanager
def _settled(seed: int) -> Iterator[None]:
    """PyTorch with this seed, with gradients, and with float64 wherever no dtype is named; afterwards as it was."""
    import torch

    dtype = torch.get_default_dtype()
    with torch.random.fork_rng(devices=[]), torch.enable_grad():
        try:
            torch.set_default_dtype(torch.float64)
            torch.manual_seed(seed)
            yield
        finally:
            torch.set_default_dtype(dtype)


def _explained(raised: Raised) -> Raised:
    """Where PyTorch refuses to mix dtypes, with the likely reason."""
    if raised.type != "RuntimeError" or "dtype" not in raised.text:
        return raised
    return Raised(raised.type, raised.text + _FLOAT64, raised.lines)


_FLOAT64 = "; the check gives the module float64 weights: does `forward` say `float()` or `float32`?"


def _built(cls: Any, case: Case) -> Any:
    """The student's module, in float64 and with the case's weights. Raises _WrongModuleError and what `__init__`
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
            raise _changed_init(f"it makes `{name}`, which the given one does not")
    for name, value in weights.items():
        if name not in own:
            raise _changed_init(f"it does not make `{name}`")
        if own[name] != value.shape:
            raise _changed_init(f"it makes `{name}` of shape {own[name]}; the given one has {value.shape}")
    module.load_state_dict({name: _tensors(value) for name, value in weights.items()})
    for name, value in module.state_dict().items():
        if not same_bytes(weights[name], _array(value)):
            raise _changed_init(f"`{name}` does not keep a value that it is given; is it shared with another weight?")
    return module


def _changed_init(problem: str) -> _WrongModuleError:
    words = f"your `__init__` was changed: {problem}. Take it from the released notebook again."
    return _WrongModuleError("InitError", words)


def _called(
    module: Any, calls: Sequence[Mapping[str, Any]], run: Mapping[str, Any]
) -> tuple[Any, dict[str, list[str]]]:
    """What is observed of the last call's results, and the weights that no gradient reaches from them; or the first
    results that are too many or too few.
    """
    learning = {name: weight for name, weight in module.named_parameters() if name not in run["unused"]}
    names, returns = list(run["returns"]), list(run["returns"].values())
    carried: dict[str, Any] = {}
    result: Any = None
    for arguments in calls:
        given = {**arguments, **carried}
        if problem := cannot_be_called(module.forward, given, "`forward`"):
            raise _WrongModuleError("TypeError", problem)
        result = module(**given)
        if result is None:
            return None, {}
        if not _fits(result, returns):
            return plain(_arrays(result)), {}
        entries = dict(zip(names, _entries(result, returns), strict=True))
        carried = {argument: entries[name] for argument, name in run["carry"].items()}
    observed = [_observed(word, name, entries[name]) for name, word in run["returns"].items()]
    cut_off = {n: _unreached(n, entries[n], learning) for n, word in run["returns"].items() if word == "learning"}
    unreached = {name: weights for name, weights in cut_off.items() if weights}
    return observed[0] if len(observed) == 1 else tuple(observed), unreached


def _unreached(result: str, value: Any, weights: Mapping[str, Any]) -> list[str]:
    """The names of the weights that no gradient reaches from a result."""
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


def _observed(word: str, name: str, value: Any) -> Any:
    import torch

    found = [leaf for leaf in _leaves(value) if isinstance(leaf, torch.Tensor)]
    if word == "detached":
        return "empty" if not found else "attached" if any(leaf.requires_grad for leaf in found) else "detached"
    if word in ("tensor", "learning") and not isinstance(value, torch.Tensor):
        raise _WrongModuleError("ResultError", f"`forward` must return a tensor for {name}; yours is {_what(value)}")
    return plain(_arrays(value))


def _what(value: Any) -> str:
    """A result that is no tensor, in a few words, with what makes a tensor of it."""
    if isinstance(value, np.ndarray):
        return "a NumPy array"
    if isinstance(value, list | tuple):
        return f"a {type(value).__name__} of {len(value)}; `torch.stack(…, dim=…)` makes one tensor of many"
    return f"of type {type(value).__name__}"


def _leaves(value: Any, depth: int = 0) -> Iterator[Any]:
    if isinstance(value, list | tuple | dict) and depth < DEEPEST:
        for entry in value.values() if isinstance(value, dict) else value:
            yield from _leaves(entry, depth + 1)
    else:
        yield value


def _tensors(value: Any) -> Any:
    """A fresh copy of an input, its arrays as tensors that share no memory with it."""
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
    """A result with arrays in place of its tensors; all else stays. Raises _WrongModuleError where NumPy has no such
    numbers.
    """
    import torch

    if isinstance(value, torch.Tensor):
        return _array(value)
    if type(value) in (list, tuple) and depth < DEEPEST:
        return type(value)(_arrays(entry, depth + 1) for entry in value)
    if type(value) is dict and depth < DEEPEST:
        return {key: _arrays(entry, depth + 1) for key, entry in value.items()}
    return value


def _array(tensor: Any) -> Any:
    """A tensor as an array, which may share its memory."""
    try:
        return tensor.detach().resolve_conj().resolve_neg().numpy()
    except (TypeError, RuntimeError) as error:
        words = f"a {tensor.dtype} tensor came back, whose values cannot be read: {error}"
        raise _WrongModuleError("ResultError", words) from error


def _changed(module: Any, case: Case, calls: Sequence[Mapping[str, Any]]) -> set[str]:
    """The inputs that are no longer what they were, and "weights added" where the module has more than it had."""
    given = [*case.inputs["run"]["before"], {name: v for name, v in case.inputs.items() if name not in OWN}]
    found = set()
    for before, after in zip(given, calls, strict=True):
        found |= {name for name, value in before.items() if not _is_same(value, after[name])}
    if module is not None:
        try:
            state = module.state_dict()
        except Exception:  # a student's own
            state = {}
        found |= {"weights added"} if state.keys() - case.inputs["weights"].keys() else set()
        weights = case.inputs["weights"].items()
        found |= {"weights"} if any(not _is_same(value, state.get(name)) for name, value in weights) else set()
    return found


def _is_same(before: Any, after: Any) -> bool:
    try:
        return same_bytes(before, _arrays(after))
    except Exception:  # what the student put there cannot be read
        return False
