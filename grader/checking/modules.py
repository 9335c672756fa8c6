"""The driver of torch modules: create the student's module, make the calls of a case, and observe the results.

`module_cases.py` describes the inputs. Arrays are converted to tensors, and results back to arrays. What can be
observed of a result:

- "tensor": its value;
- "learning": its value, and the gradient of a weighted sum of its entries for every weight, and for the arguments
  that another network computes (see `gradients.py`);
- "tensors": the values of a nested tuple, list or dict of tensors;
- "detached": the word "detached", or "attached" if a gradient can flow through it, or "empty" if it contains no tensor;
- "random": its values for several seeds, as one array, to be compared with all that dropout can give.

Any other value that another seed changes is observed as the word "random", so that a report can say so. None of this
is believed: `settle.py` says what it shows.

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
from grader.checking.gradients import gradients
from grader.checking.module_cases import OUTCOMES, ModuleCall, leaves, module_calls
from grader.checking.observing import cannot_be_called, caught, plain, same_bytes
from grader.checking.tensors import WrongModuleError, array, arrays, tensors
from grader.codec import Raised, freeze

SEEDS = 17  # that are tried until one gives other values: a mask of few entries may be the same for two seeds


def run_module(cls: Any, case: Case, builders: Builders = BUILDERS) -> Observation:
    """Create the student's module with the weights of the case, call it, and observe its results as `run` says.

    The inputs are plain values without fixtures, so `builders` is not used.
    """
    first, has_drawn = _run(cls, case, seed=0)
    returns = list(case.inputs["run"]["returns"].values())
    if not (has_drawn or "random" in returns) or not _is_complete(first, returns):
        return first
    found = [[entry] for entry in _entries(first.result, returns)]  # of each result, those of all seeds
    for seed in range(1, SEEDS):
        if seed >= OUTCOMES and all(_is_settled(word, of) for word, of in zip(returns, found, strict=True)):
            break
        other, _ = _run(cls, case, seed)
        if not _is_complete(other, returns):
            return other
        for entries, entry in zip(found, _entries(other.result, returns), strict=True):
            entries.append(entry)
    words = [_of_seeds(word, entries) for word, entries in zip(returns, found, strict=True)]
    return replace(first, result=words[0] if len(words) == 1 else tuple(words))


def _is_settled(word: str, entries: Sequence[Any]) -> bool:
    """Whether no other seed needs to be tried for this result."""
    return word == "random" or not _has_arrays(entries[0]) or _differ(entries)


def _of_seeds(word: str, entries: Sequence[Any]) -> Any:
    """What is observed of a result that several seeds gave."""
    if word == "random":
        tried = entries[:OUTCOMES]
        alike = all(isinstance(e, np.ndarray) and e.shape == entries[0].shape for e in tried)
        return np.stack(tried) if alike else entries[0]
    return "random" if _has_arrays(entries[0]) and _differ(entries) else entries[0]


def _has_arrays(entry: Any) -> bool:
    found = list(leaves(entry))
    return bool(found) and all(isinstance(leaf, np.ndarray) for leaf in found)


def _differ(entries: Sequence[Any]) -> bool:
    return not all(same_bytes(entries[0], other) for other in entries[1:])


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
    calls = [replace(call, arguments=tensors(dict(call.arguments))) for call in module_calls(case)]
    computed = {name: calls[-1].arguments[name].requires_grad_() for name in run.get("computed", ())}
    module = None
    result: Any = None
    found: dict[str, Any] = {}
    raised: Raised | None = None
    has_drawn = False
    with _torch_settings(seed), warnings.catch_warnings(module=warnings):
        warnings.simplefilter("ignore")
        copies = {name: value.clone() for name, value in computed.items()}  # no leaves: changing them in place shows
        calls[-1] = replace(calls[-1], arguments={**calls[-1].arguments, **copies})
        try:
            module = _built_module(cls, case)
            module.train(run["mode"] == "train")
            generator = torch.get_rng_state()
            result, entries = _called(module, calls, run)
            has_drawn = not torch.equal(generator, torch.get_rng_state())
            found = _gradients({**dict(module.named_parameters()), **computed}, entries, run)
        except KeyboardInterrupt:
            raise
        except WrongModuleError as error:
            raised = Raised(error.kind, str(error))
        except BaseException as error:
            raised = _with_likely_reason(caught(error))
        changed = _changed(module, case, calls)
    if raised is None and "weights added" in changed:
        raised = Raised("InitError", "`forward` creates new weights. Create all weights once, in `__init__`")
    named = tuple(name for name in changed if name in case.inputs)
    if raised is not None:
        return Observation(raised=raised, changed=named), False
    return Observation(result, None, named, gradients=plain(found)), has_drawn


@contextmanager
def _torch_settings(seed: int) -> Iterator[None]:
    """Set the seed, enable gradients, make float64 the default dtype and use one thread, because more would mostly wait
    for one another with arrays of this size. Restore the settings afterwards.
    """
    import torch

    dtype, threads = torch.get_default_dtype(), torch.get_num_threads()
    with torch.random.fork_rng(devices=[]), torch.enable_grad():
        try:
            torch.set_default_dtype(torch.float64)
            torch.set_num_threads(1)
            torch.default_generator.manual_seed(seed)  # `torch.manual_seed` would seed every other device too
            yield
        finally:
            torch.set_default_dtype(dtype)
            torch.set_num_threads(threads)


def _with_likely_reason(raised: Raised) -> Raised:
    """The exception, with the likely reason added if PyTorch refused to mix dtypes."""
    if raised.type != "RuntimeError" or "dtype" not in raised.text:
        return raised
    return Raised(raised.type, raised.text + _FLOAT64, raised.lines)


_FLOAT64 = "; the check gives the module float64 weights: does `forward` use `float()` or `float32`?"


def _built_module(cls: Any, case: Case) -> Any:
    """The student's module in float64, with the weights of the case. Raises WrongModuleError, and whatever `__init__`
    raises.
    """
    import torch

    if not isinstance(cls, type) or not issubclass(cls, torch.nn.Module):
        this = f"the class {cls.__name__}" if isinstance(cls, type) else f"of type {type(cls).__name__}"
        raise WrongModuleError(
            "TypeError", f"the check expects a class, a torch.nn.Module with a `forward`; what you passed is {this}"
        )
    if vars(torch.nn.Module)["forward"] is getattr(cls, "forward", None):
        raise WrongModuleError("TypeError", "the class has no `forward` yet: that is the method to write")
    weights = case.inputs["weights"]
    if problem := cannot_be_called(cls, case.inputs["init"], "`__init__`"):
        raise _changed_init(problem)
    module = _new_module(cls, case)
    own = {name: tuple(value.shape) for name, value in module.state_dict().items()}
    for name in own:
        if name not in weights:
            raise _changed_init(f"it creates `{name}`, which the released one does not")
    for name, value in weights.items():
        if name not in own:
            raise _changed_init(f"it does not create `{name}`")
        if own[name] != value.shape:
            raise _changed_init(f"it creates `{name}` of shape {own[name]}; the released one has {value.shape}")
    module.load_state_dict(tensors(weights))
    for name, value in module.state_dict().items():
        if not same_bytes(weights[name], array(value)):
            raise _changed_init(f"`{name}` does not keep the value that is loaded into it; is it shared?")
    return module


def _new_module(cls: Any, case: Case) -> Any:
    return cls(**freeze(case.inputs["init"])).double()


def _changed_init(problem: str) -> WrongModuleError:
    words = f"your `__init__` was changed: {problem}. Take it from the released notebook again."
    return WrongModuleError("InitError", words)


def _called(module: Any, calls: Sequence[ModuleCall], run: Mapping[str, Any]) -> tuple[Any, dict[str, Any]]:
    """Make all calls; return what is observed of the last call's results, and the results by name. If a call returns
    the wrong number of results, these are returned instead, without names.
    """
    returns = run["returns"]
    given: dict[str, Any] = {}  # by the last call that gives its results to later ones
    for call in calls:
        arguments = {**call.arguments, **{argument: given[name] for argument, name in call.takes.items()}}
        if problem := cannot_be_called(module.forward, arguments, "`forward`"):
            raise WrongModuleError("TypeError", problem)
        result = module(**arguments)
        if result is None or not _has_right_count(result, [*returns.values()]):
            return (None if result is None else plain(arrays(result))), {}
        entries = dict(zip(returns, _entries(result, [*returns.values()]), strict=True))
        given = entries if call.gives else given
    observed = [_observed(word, name, entries[name]) for name, word in returns.items()]
    return observed[0] if len(observed) == 1 else tuple(observed), entries


def _gradients(leaves: Mapping[str, Any], entries: Mapping[str, Any], run: Mapping[str, Any]) -> dict[str, Any]:
    """The gradients of each learning result for all weights and computed arguments. Raises WrongModuleError."""
    return {name: gradients(name, e, leaves) for name, e in entries.items() if run["returns"][name] == "learning"}


def _observed(word: str, name: str, value: Any) -> Any:
    import torch

    found = [leaf for leaf in leaves(value) if isinstance(leaf, torch.Tensor)]
    if word == "detached":
        return "empty" if not found else "attached" if any(leaf.requires_grad for leaf in found) else "detached"
    if word in ("tensor", "learning") and not isinstance(value, torch.Tensor):
        raise WrongModuleError(
            "ResultError", f"`forward` must return a tensor for {name}; yours is {_kind_text(value)}"
        )
    return plain(arrays(value))


def _kind_text(value: Any) -> str:
    """A short description of a result that is not a tensor, with the way to convert a list into one."""
    if isinstance(value, np.ndarray):
        return "a NumPy array"
    if isinstance(value, list | tuple):
        return f"a {type(value).__name__} of {len(value)}; `torch.stack(…, dim=…)` makes one tensor of many"
    return f"of type {type(value).__name__}"


def _changed(module: Any, case: Case, calls: Sequence[ModuleCall]) -> set[str]:
    """The names of the inputs that have changed, and "weights added" if the module has more weights than at first."""
    found = set()
    for before, after in zip(module_calls(case), calls, strict=True):
        found |= {name for name, value in before.arguments.items() if not _is_same(value, after.arguments[name])}
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
        return same_bytes(before, arrays(after))
    except Exception:  # the student replaced it with an unreadable value
        return False
