"""The driver of torch modules: whatever a student's class does becomes an observation with a clear message."""

import linecache
import subprocess
import sys
import textwrap
from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from grader.checking import evaluate, settle
from grader.checking.calls import module_text
from grader.checking.case import DEFAULT_TOLERANCE, WHOLE, Case, Checks, Facet, Observation, Output
from grader.checking.diagnose.evidence import failed_cases
from grader.checking.drivers import drive
from grader.checking.gradients import PARTLY
from grader.checking.judge import judge
from grader.checking.module_cases import OUTCOMES, module_case
from grader.codec import Fixture, Opaque, encode
from grader.spec.slopes import slopes
from tests.loops import for_each

torch = pytest.importorskip("torch")

V, E, H, C = 5, 3, 4, 2
INIT = {"vocab_size": V, "embed_size": E, "hidden_size": H, "num_tags": C, "dropout": 0.5}
SHAPES = {
    "embedding.weight": (V, E),
    "rnn.weight_ih_l0": (3 * H, E),
    "rnn.weight_hh_l0": (3 * H, H),
    "rnn.bias_ih_l0": (3 * H,),
    "rnn.bias_hh_l0": (3 * H,),
    "head.weight": (C, H),
    "head.bias": (C,),
}
RNG = np.random.default_rng(0)
WEIGHTS = {name: RNG.normal(size=shape) for name, shape in SHAPES.items()}
IDS, MORE = RNG.integers(V, size=(2, 3)), RNG.integers(V, size=(2, 4))
BOTH = {"logits": "learning", "state": "detached"}

INIT_METHOD = """
def __init__(self, vocab_size, embed_size, hidden_size, num_tags, dropout=0.0):
    super().__init__()
    self.embedding = torch.nn.Embedding(vocab_size, embed_size)
    self.rnn = torch.nn.GRU(embed_size, hidden_size, batch_first=True)
    self.drop = torch.nn.Dropout(dropout)
    self.head = torch.nn.Linear(hidden_size, num_tags)
"""
FORWARD = """
h, state = self.rnn(self.embedding(ids), state)
return self.head(self.drop(h)), state.detach()
"""


def tagger(forward=FORWARD, init=INIT_METHOD, arguments="ids, state=None", base="torch.nn.Module"):
    """A student's class as a notebook's cell defines it."""
    lines = f"def forward(self, {arguments}):\n" + textwrap.indent(forward.strip(), "    ") if forward else "pass"
    source = f"class Tagger({base}):\n" + textwrap.indent(f"{init.strip()}\n\n{lines}\n", "    ")
    filename = f"<cell {hash(source)}>"
    linecache.cache[filename] = (len(source), None, source.splitlines(keepends=True), filename)
    namespace = {"torch": torch, "np": np}
    exec(compile(source, filename, "exec"), namespace)
    return namespace["Tagger"]


def case(returns=BOTH, **changes):
    return module_case(
        {"B": 2}, **{"init": INIT, "weights": WEIGHTS, "forward": {"ids": IDS}, "returns": returns} | changes
    )


def observe(cls, *args, **kwargs):
    return drive("module", cls, case(*args, **kwargs))


def by_hand(ids, h=None, weights=WEIGHTS):
    """The same in NumPy: logits, and the last state."""
    h, logits = np.zeros((len(ids), H)) if h is None else h, []
    for t in range(ids.shape[1]):
        x = weights["embedding.weight"][ids[:, t]] @ weights["rnn.weight_ih_l0"].T + weights["rnn.bias_ih_l0"]
        r = h @ weights["rnn.weight_hh_l0"].T + weights["rnn.bias_hh_l0"]
        (xr, xz, xn), (hr, hz, hn) = np.split(x, 3, axis=1), np.split(r, 3, axis=1)
        reset, update = 1 / (1 + np.exp(-(xr + hr))), 1 / (1 + np.exp(-(xz + hz)))
        h = (1 - update) * np.tanh(xn + reset * hn) + update * h
        logits.append(h @ weights["head.weight"].T + weights["head.bias"])
    return np.stack(logits, axis=1), h


def oracle(given):
    """What is expected of a case, its carried state being that of the earlier calls."""
    weights, run = given.inputs["weights"], given.inputs["run"]
    h = None
    for each in run["before"] if run["carry"] else ():
        _, h = by_hand(each["ids"], h, run.get("earlier", weights))
    logits, _ = by_hand(given.inputs["ids"], h, weights)
    return Observation((logits, "detached"))


def seen(cls, *args, **kwargs):
    """What the grader's own process sees, having compared the gradients with the slopes of the oracle."""
    given, outputs = case(*args, **kwargs), (Output("logits", ("B", "T", "C")), Output("state"))
    due = replace(oracle(given), gradients=slopes(given, outputs, oracle))
    checks = Checks("Tagger", "module", outputs, DEFAULT_TOLERANCE, WHOLE, (given,), (due,))
    return evaluate.observe(checks, cls)[0]


# What is observed -----------------------------------------------------------------------------------------------------


def test_the_weights_of_the_case_are_loaded_and_results_are_arrays():
    observation = observe(tagger())
    assert observation.raised is None
    assert observation.changed == ()
    logits, state = observation.result
    assert (type(logits), logits.dtype, state) == (np.ndarray, np.float64, "detached")
    np.testing.assert_allclose(logits, by_hand(IDS)[0], rtol=1e-12)
    encode(observation.result)


def test_a_state_is_carried_from_call_to_call():
    logits, state = observe(tagger(), forward={"ids": MORE}, before=[{"ids": IDS}], carry={"state": "state"}).result
    np.testing.assert_allclose(logits, by_hand(MORE, by_hand(IDS)[1])[0], rtol=1e-12)
    assert state == "detached"
    three = observe(
        tagger(), forward={"ids": MORE}, before=[{"ids": IDS}, {"ids": MORE}], carry={"state": "state"}
    ).result
    np.testing.assert_allclose(three[0], by_hand(MORE, by_hand(MORE, by_hand(IDS)[1])[1])[0], rtol=1e-12)


def test_a_call_in_between_takes_and_gives_no_state():
    kept = tagger(
        "h, new = self.rnn(self.embedding(ids), None if state is None else self.state)\n"
        "self.state = new.detach()\nreturn self.head(h), self.state",
        INIT_METHOD + "    self.state = None\n",
    )
    texts = {
        "before": [{"ids": IDS}],
        "between": [{"ids": MORE}],
        "forward": {"ids": MORE},
        "carry": {"state": "state"},
    }
    expected = by_hand(MORE, by_hand(IDS)[1])[0]
    np.testing.assert_allclose(observe(tagger(), **texts).result[0], expected, rtol=1e-12)
    assert not np.allclose(observe(kept, **texts).result[0], expected)


def test_without_carry_every_call_begins_anew():
    kept = tagger(
        "h, self.state = self.rnn(self.embedding(ids), self.state)\nreturn self.head(h), self.state.detach()",
        INIT_METHOD + "    self.state = None\n",
    )
    twice = {"before": [{"ids": IDS}], "forward": {"ids": IDS}}
    np.testing.assert_allclose(observe(tagger(), **twice).result[0], by_hand(IDS)[0], rtol=1e-12)
    assert not np.allclose(observe(kept, **twice).result[0], by_hand(IDS)[0])


@pytest.mark.parametrize(
    ("state", "word"),
    [
        ("state.detach()", "detached"),
        ("state", "attached"),
        ("(state.detach(), {'h': [state]})", "attached"),
        ("(state.detach(), {'h': [state.detach()]})", "detached"),
        ("None", "empty"),
        ("ids.numpy()", "empty"),
    ],
)
def test_whether_a_state_is_detached(state, word):
    forward = f"h, state = self.rnn(self.embedding(ids), state)\nreturn self.head(h), {state}"
    assert observe(tagger(forward)).result[1] == word


def test_dropout_acts_in_training_alone():
    still, moving = {"logits": "tensor", "state": "random"}, {"logits": "random", "state": "random"}
    always = tagger(
        "h, state = self.rnn(self.embedding(ids), state)\n"
        "return self.head(torch.nn.functional.dropout(h)), state.detach()"
    )
    for module, mode, differ in ((tagger(), "eval", False), (tagger(), "train", True), (always, "eval", True)):
        logits, state = observe(module, moving, mode=mode).result
        assert (logits.shape, state.shape) == ((OUTCOMES, 2, 3, C), (OUTCOMES, 1, 2, H))
        assert (logits != logits[0]).any() == differ
        assert (state == state[0]).all()
    assert observe(tagger(), still).result[1].shape == (OUTCOMES, 1, 2, H)
    assert observe(tagger("return self.head(self.drop(h))", arguments="h"), {"y": "random"}).raised is not None


@pytest.mark.parametrize("word", ["tensor", "learning", "tensors"])
def test_a_value_that_another_seed_changes_is_the_word_random(word):
    """So no recorded value depends on how a machine draws, and a report can say what is wrong."""
    always = tagger(FORWARD.replace("self.drop(h)", "torch.nn.functional.dropout(h)"))
    assert observe(always, {"logits": word, "state": "detached"}).result == ("random", "detached")
    assert observe(tagger(), {"logits": word, "state": "detached"}, mode="train").result == ("random", "detached")
    draws_in_vain = tagger(f"torch.rand(3)\n{FORWARD.strip()}")
    np.testing.assert_allclose(observe(draws_in_vain, {"logits": word, "s": "detached"}).result[0], by_hand(IDS)[0])


def test_nested_results_and_other_dtypes():
    forward = (
        "h, state = self.rnn(self.embedding(ids), state)\nreturn {'h': (h, [h[:, -1]])}, ids > 1, ids, self.training"
    )
    observed = observe(
        tagger(forward), {"tree": "tensors", "mask": "tensor", "ids": "tensor", "mode": "tensors"}, mode="train"
    ).result
    assert np.array_equal(observed[0]["h"][1][0], observed[0]["h"][0][:, -1])
    assert (observed[1].dtype, observed[2].dtype, observed[3]) == (np.bool_, np.int64, True)


def test_one_result_stands_for_itself():
    module = tagger("return self.head(self.rnn(self.embedding(ids))[0])")
    np.testing.assert_allclose(observe(module, {"logits": "learning"}).result, by_hand(IDS)[0], rtol=1e-12)
    assert observe(module, {"logits": "random"}).result.shape == (OUTCOMES, 2, 3, C)


def test_the_random_state_and_the_switches_of_a_notebook_are_left_alone():
    torch.manual_seed(7)
    before = torch.random.get_rng_state()
    with torch.no_grad():  # whatever a notebook set
        assert observe(tagger(), {"logits": "learning", "state": "random"}, mode="train").raised is None
        assert not torch.is_grad_enabled()
    assert torch.equal(torch.random.get_rng_state(), before)
    drawn = tagger("return torch.rand(3) * self.training, ids")
    assert observe(drawn, {"a": "tensor", "b": "tensor"}, mode="train").result[0] == "random"


# What is wrong with a class -------------------------------------------------------------------------------------------

GIVEN = " Take it from the released notebook again."


@pytest.mark.parametrize(
    ("init", "says"),
    [
        ("    self.extra = torch.nn.Parameter(torch.zeros(2))", "it creates `extra`, which the released one does not"),
        ("    self.head = torch.nn.Linear(hidden_size, num_tags, bias=False)", "it does not create `head.bias`"),
        (
            "    self.head = torch.nn.Linear(num_tags, hidden_size)",
            "it creates `head.weight` of shape (4, 2); the released one has (2, 4)",
        ),
        ("    self.rnn = torch.nn.LSTM(embed_size, hidden_size)", "it creates `rnn.weight_ih_l0` of shape (16, 3)"),
    ],
)
def test_a_changed_init_is_told(init, says):
    raised = observe(tagger(init=INIT_METHOD + init)).raised
    assert raised.type == "InitError"
    assert raised.text.startswith(f"your `__init__` was changed: {says}")
    assert raised.text.endswith(GIVEN)


def test_weights_that_are_shared_are_told():
    init = INIT_METHOD + "    self.rnn.bias_hh_l0 = self.rnn.bias_ih_l0"
    text = observe(tagger(init=init)).raised.text
    assert "`rnn.bias_ih_l0` does not keep the value that is loaded into it; is it shared" in text


def test_an_init_with_other_arguments_is_told():
    raised = observe(tagger(init=INIT_METHOD.replace("num_tags,", "tags, num_tags,"))).raised
    assert "`__init__` must take (vocab_size, embed_size, hidden_size, num_tags, dropout); yours takes" in raised.text


def test_an_init_that_forgets_its_base_shows_the_students_line():
    raised = observe(tagger(init=INIT_METHOD.replace("super().__init__()", "pass"))).raised
    assert raised.type == "AttributeError"
    assert tuple(line.text for line in raised.lines) == (
        "line 4, in __init__: self.embedding = torch.nn.Embedding(vocab_size, embed_size)",
    )


@pytest.mark.parametrize(
    ("thing", "this"),
    [
        (len, "of type builtin_function_or_method"),
        (None, "of type NoneType"),
        (dict, "the class dict"),
        (torch.nn.Linear(1, 1), "of type Linear"),
    ],
)
def test_what_is_no_module_says_what_is_due(thing, this):
    raised = observe(thing).raised
    assert raised.text == f"the check expects a class, a torch.nn.Module with a `forward`; what you passed is {this}"


def test_a_class_without_forward_is_not_mistaken_for_a_stub():
    raised = observe(tagger(forward="")).raised
    assert (raised.type, raised.text) == ("TypeError", "the class has no `forward` yet: that is the method to write")


def test_a_stub_is_not_implemented():
    raised = observe(tagger('raise NotImplementedError("Tagger: replace this line")')).raised
    assert raised.type == "NotImplementedError"
    assert tuple(line.text for line in raised.lines) == (
        'line 10, in forward: raise NotImplementedError("Tagger: replace this line")',
    )


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ("x", "`forward` must take (ids); yours takes (x)"),
        ("ids, state", "`forward` must take (ids); yours takes (ids, state); here `state` is left out, so it needs"),
    ],
)
def test_a_forward_with_other_arguments_is_told(arguments, says):
    assert observe(tagger(arguments=arguments)).raised.text.startswith(says)


def test_a_forward_that_cannot_take_the_state_is_told():
    raised = observe(tagger("return ids, ids", arguments="ids"), before=[{"ids": IDS}], carry={"state": "state"}).raised
    assert raised.text == "`forward` must take (ids, state); yours takes (ids)"


@pytest.mark.parametrize(
    ("result", "says"),
    [
        ("h.detach().numpy(), state", "`forward` must return a tensor for logits; yours is a NumPy array"),
        ("[h[:, 0]] * 3, state", "`forward` must return a tensor for logits; yours is a list of 3; `torch.stack"),
        ("3.5, state", "`forward` must return a tensor for logits; yours is of type float"),
        ("h.bfloat16(), state", "a torch.bfloat16 tensor was returned, whose values cannot be read"),
    ],
)
def test_results_of_another_kind_are_told(result, says):
    raised = observe(tagger(f"h, state = self.rnn(self.embedding(ids), state)\nreturn {result}")).raised
    assert raised.type == "ResultError"
    assert raised.text.startswith(says)


RNN = ["rnn.weight_ih_l0", "rnn.weight_hh_l0", "rnn.bias_ih_l0", "rnn.bias_hh_l0"]


@for_each(
    ("forward", "unreached"),
    [
        (FORWARD, []),
        (
            "h, state = self.rnn(self.embedding(ids).detach(), state)\nreturn self.head(h), state.detach()",
            ["embedding.weight"],
        ),
        (
            "h, state = self.rnn(self.embedding(ids), state)\nreturn self.head(h.detach()), state.detach()",
            ["embedding.weight", *RNN],
        ),
        (
            "with torch.no_grad():\n    h, state = self.rnn(self.embedding(ids), state)\nreturn self.head(h), state",
            ["embedding.weight", *RNN],
        ),
        ("self.head.requires_grad_(False)\n" + FORWARD.strip(), ["head.weight", "head.bias"]),
        ("h, state = self.rnn(self.embedding(ids), state)\nreturn self.head(h).detach(), state.detach()", list(SHAPES)),
        ("torch.rand(1)\n" + FORWARD.strip().replace("self.drop(h)", "h.detach()"), ["embedding.weight", *RNN]),
        (
            "with torch.no_grad():\n    h, state = self.rnn(self.embedding(ids), state)\n    y = self.head(h)\n"
            "return y + sum((p * 0).sum() for p in self.parameters()), state",
            list(SHAPES),
        ),
    ],
)
def test_weights_that_no_gradient_reaches_are_seen(forward, unreached):
    observation = seen(tagger(forward))
    assert observation.raised is None
    assert observation.unreached == ({"logits": unreached} if unreached else {})
    assert observation.result is not None
    assert seen(tagger(forward), {"logits": "tensor", "state": "detached"}).unreached == {}


def test_nothing_in_a_students_process_says_that_a_gradient_is_right():
    module = tagger(f"with torch.no_grad():\n{textwrap.indent(FORWARD.strip(), '    ')}")
    module.named_parameters = lambda self, *given, **more: iter(())
    assert seen(module).unreached == {"logits": list(SHAPES)}
    honest = observe(tagger())
    checks = Checks("Tagger", "module", (Output("logits"), Output("state")), DEFAULT_TOLERANCE, WHOLE, (case(),))
    checks = replace(checks, expected=(replace(oracle(case()), gradients=slopes(case(), checks.outputs, oracle)),))
    for forged in ({}, {"logits": None}, {"logits": {}}, {"logits": dict.fromkeys(SHAPES, 1.0)}):
        (found,) = settle.settled(checks, [replace(honest, gradients=forged, unreached={})])
        assert found.unreached == {"logits": list(SHAPES)}
    doubled = {"logits": {name: 2 * gradient for name, gradient in honest.gradients["logits"].items()}}
    assert settle.settled(checks, [replace(honest, gradients=doubled)])[0].unreached == {"logits": [PARTLY]}
    assert settle.settled(checks, [honest])[0].unreached == {}


STEPS = """
x, steps = self.embedding(ids), []
for t in range(ids.shape[1]):
    h, state = self.rnn(x[:, t : t + 1], state{cut})
    steps.append(h)
return self.head(torch.cat(steps, dim=1)), state.detach()
"""
CUT = "if state is None else state.detach()"


def test_a_gradient_that_is_cut_between_two_steps_is_seen():
    """Every weight is reached, and every value is right."""
    whole, cut = tagger(STEPS.format(cut="")), tagger(STEPS.format(cut=f" {CUT}"))
    assert seen(whole).unreached == {}
    observation = seen(cut)
    assert observation.unreached == {"logits": [PARTLY]}
    np.testing.assert_allclose(observation.result[0], by_hand(IDS)[0], rtol=1e-12)
    assert seen(cut, {"logits": "tensor", "state": "detached"}).unreached == {}
    assert seen(cut, forward={"ids": IDS[:, :1]}).unreached == {}  # one step has no path to cut
    assert seen(tagger(f"torch.rand(1)\n{STEPS.format(cut=f' {CUT}').strip()}")).unreached == {"logits": [PARTLY]}


def test_a_module_that_remembers_has_no_cut_gradient():
    kept = tagger(
        "h, self.state = self.rnn(self.embedding(ids), self.state)\nreturn self.head(h), self.state.detach()",
        INIT_METHOD + "    self.state = None\n",
    )
    assert seen(kept).unreached == {}


CARRIED = {"forward": {"ids": MORE}, "before": [{"ids": IDS}], "carry": {"state": "state"}}


@for_each(
    ("forward", "word", "unreached", "earns"),
    [
        (FORWARD, "detached", {}, True),
        (FORWARD.replace("state.detach()", "state"), "attached", {}, False),
        (FORWARD.replace("self.drop(h)", "h.detach()"), "detached", {"logits": ["embedding.weight", *RNN]}, False),
        ("return torch.zeros(*ids.shape, 2), torch.zeros(1, 2, 4)", "detached", {}, False),
        (
            FORWARD.replace("self.rnn(self.embedding(ids), state)", "self.rnn(self.embedding(ids))"),
            "detached",
            {},
            False,
        ),
        (STEPS.format(cut=f" {CUT}"), "detached", {"logits": [PARTLY]}, False),
    ],
)
def test_that_a_state_is_detached_is_earned_where_the_next_call_proves_it(forward, word, unreached, earns):
    observation = seen(tagger(forward), **CARRIED)
    assert (observation.result[1], observation.unreached) == (word, unreached)
    assert is_earned(observation) == earns


def is_earned(observation):
    """Whether a facet of the state earns its points on a case whose state is carried."""
    given, outputs = case(**CARRIED), (Output("logits", ("B", "T", "C")), Output("state"))
    facet = Facet("the state", outputs=("state",), proof=(("logits", "ordinary"),))
    due = replace(oracle(given), gradients=slopes(given, outputs, oracle))
    checks = Checks("Tagger", "module", outputs, DEFAULT_TOLERANCE, (facet,), (given,), (due,))
    return not failed_cases(checks, (judge(checks, 0, settle.settled(checks, [observation])[0]),), facet)


def test_a_state_that_is_said_to_be_detached_and_is_not():
    """A tensor of a class of the student's own, for example, may say anything."""
    attached = observe(tagger(FORWARD.replace("state.detach()", "state")), **CARRIED)
    assert attached.result[1] == "attached"
    assert not is_earned(attached)
    assert not is_earned(replace(attached, result=(attached.result[0], "detached")))
    assert is_earned(observe(tagger(), **CARRIED))


def test_random_results_are_those_of_some_mask():
    """Of dropout, that is; the rows of a batch have masks of their own."""
    given = case({"y": "random"}, mode="train", forward={"ids": IDS[:, :1]})
    h = by_hand(IDS[:, :1])[1]  # (2, 4)
    kept = np.array(list(product((0.0, 2.0), repeat=H)))  # (16, 4)
    outcomes = ((kept[:, None] * h) @ WEIGHTS["head.weight"].T + WEIGHTS["head.bias"])[:, :, None]  # (16, 2, 1, 2)
    due = Observation("random", outcomes={"y": outcomes})
    checks = Checks("Tagger", "module", (Output("y"),), DEFAULT_TOLERANCE, WHOLE, (given,), (due,))
    says = {
        "return self.head(self.drop(self.rnn(self.embedding(ids))[0]))": "random",
        "return self.head(self.rnn(self.embedding(ids))[0])": "fixed",
        "return self.head(self.rnn(self.drop(self.embedding(ids)))[0])": "unlike",
        "y = self.head(self.rnn(self.embedding(ids))[0])\nreturn y + torch.rand_like(y)": "unlike",
        "return torch.rand(2, 1, 2)": "unlike",
        "return torch.zeros(2, 1, 2)": "fixed",
        "return torch.zeros(2, 1)": "unlike",
        "return torch.zeros(2, 1, 2).float()": "unlike",
    }
    for forward, word in says.items():
        assert evaluate.observe(checks, tagger(forward, arguments="ids"))[0].result == word, forward
    for forged in (
        outcomes[:0],
        outcomes[:1],
        np.repeat(outcomes, 1_000, axis=0),
        outcomes[:4, :1],
        outcomes[:4].T,
        "random",
    ):
        assert settle.settled(checks, [Observation(forged)])[0].result == "unlike"


def test_a_gradient_that_cannot_be_computed_is_told():
    raised = observe(tagger("y = self.head(self.rnn(self.embedding(ids))[0]).exp()\ny += 1\nreturn y, ids")).raised
    assert raised.type == "GradientError"
    assert raised.text.startswith("the gradient of logits cannot be computed: one of the variables")


def test_a_module_without_weights_needs_no_gradient():
    init = "def __init__(self):\n    super().__init__()\n"
    one = case({"y": "learning"}, init={}, weights={}, forward={"x": np.ones(2)})
    assert drive("module", tagger("return 2 * x", init, "x"), one).result.tolist() == [2, 2]


def test_what_is_float32_stays_so():
    float32 = tagger("return self.head(self.rnn(self.embedding(ids))[0]).float()")
    assert observe(float32, {"logits": "learning"}).result.dtype == np.float32
    mixed = tagger("return self.head(self.rnn(self.embedding(ids))[0].float())")
    text = observe(mixed, {"logits": "learning"}).raised.text
    assert text.endswith("; the check gives the module float64 weights: does `forward` use `float()` or `float32`?")


def test_a_state_that_is_made_without_a_dtype_fits():
    zeros = tagger(f"state = torch.zeros(1, len(ids), 4) if state is None else state\n{FORWARD.strip()}")
    np.testing.assert_allclose(observe(zeros).result[0], by_hand(IDS)[0], rtol=1e-12)
    assert torch.get_default_dtype() == torch.float32


def test_it_runs_with_one_thread_and_gives_the_others_back():
    seen = tagger(f"Tagger.threads = torch.get_num_threads()\n{FORWARD.strip()}")
    before = torch.get_num_threads()
    try:
        torch.set_num_threads(2)
        observe(seen)
        assert (seen.threads, torch.get_num_threads()) == (1, 2)
    finally:
        torch.set_num_threads(before)


@pytest.mark.parametrize("result", ["h", "(h, state, h)", "[h]", "None", "{'logits': h, 'state': state}"])
def test_another_number_of_results_is_left_to_the_judge(result):
    observation = observe(tagger(f"h, state = self.rnn(self.embedding(ids), state)\nreturn {result}"))
    assert observation.raised is None
    assert (
        type(observation.result).__name__
        == {"h": "ndarray", "(": "tuple", "[": "list", "N": "NoneType", "{": "dict"}[result[0]]
    )
    encode(observation.result)


def test_in_a_first_call_too():
    observation = observe(tagger("return self.embedding(ids)"), before=[{"ids": IDS}], carry={"state": "state"})
    assert observation.result.shape == (2, 3, E)


@pytest.mark.parametrize(
    ("forward", "changed"),
    [
        ("ids += 1\nids %= 5", ("ids",)),
        ("ids.t_()\nids = ids.t()", ("ids",)),
        ("ids.resize_(1, 6)\nids = ids.view(2, 3)", ("ids",)),
        ("self.head.weight.data *= 2", ("weights",)),
        ("with torch.no_grad():\n    self.head.bias.zero_()", ("weights",)),
        ("ids = ids + 1 - 1", ()),
        ("self.float()", ("weights",)),
    ],
)
def test_what_is_changed_in_place_is_named(forward, changed):
    observation = observe(tagger(f"{forward}\n{FORWARD.strip()}"))
    assert observation.raised is None
    assert observation.changed == changed
    assert np.array_equal(IDS, case().inputs["ids"])


def test_an_input_of_an_earlier_call_that_is_changed_is_named():
    changes = tagger(f"if state is None:\n    ids[:] = 0\n{FORWARD.strip()}")
    assert observe(changes, before=[{"ids": IDS}], carry={"state": "state"}).changed == ("ids",)


def test_a_weight_made_in_forward_is_told():
    raised = observe(tagger(f"self.more = torch.nn.Linear(2, 2)\n{FORWARD.strip()}")).raised
    assert raised.text == "`forward` creates new weights. Create all weights once, in `__init__`"


def test_an_exception_shows_the_students_lines():
    raised = observe(tagger("x = self.embedding(ids)\nreturn self.head(x)")).raised
    assert raised.type == "RuntimeError"
    (line,) = raised.lines
    assert line.text == "line 11, in forward: return self.head(x)"


def test_an_interrupt_reaches_the_student():
    with pytest.raises(KeyboardInterrupt):
        observe(tagger("raise KeyboardInterrupt"))


HOSTILE = {
    "its state cannot be read": ("return ids", INIT_METHOD + "\ndef state_dict(self, *a, **k):\n    raise SystemExit"),
    "its forward kills": ("raise SystemExit(0)", INIT_METHOD),
    "its weights are no dict": ("return ids", INIT_METHOD + "\ndef state_dict(self, *a, **k):\n    return 3"),
    "its double gives something else": ("return ids", INIT_METHOD + "\ndef double(self):\n    return 3"),
    "a huge result": ("return torch.zeros(1).expand(10**10), ids", INIT_METHOD),
    "a result without end": ("a = []\na.append(a)\nreturn a, a", INIT_METHOD),
    "a sparse result": ("return torch.eye(3).to_sparse(), ids", INIT_METHOD),
    "a tensor that lies": (
        "class Lying(torch.Tensor):\n    def detach(self):\n        return b'bytes'\n"
        "return torch.zeros(2).as_subclass(Lying), ids",
        INIT_METHOD,
    ),
    "a tensor without values": ("return torch.zeros(2, device='meta'), ids", INIT_METHOD),
}


@for_each("what", HOSTILE)
@for_each("word", ["tensor", "tensors", "random"])
def test_whatever_a_class_does_is_an_observation(what, word):
    forward, init = HOSTILE[what]
    observation = observe(tagger(forward, init), {"a": word, "b": "detached"})
    encode(observation.result)
    encode(observation.raised)
    assert observation.raised or type(observation.result[0]) is Opaque


# How the call is written ----------------------------------------------------------------------------------------------


def test_a_call_as_python():
    text = module_text("Tagger", case(forward={"ids": MORE}, before=[{"ids": IDS}], carry={"state": "state"}))
    assert text == (
        "model = Tagger(vocab_size=5, embed_size=3, hidden_size=4, num_tags=2, dropout=0.5).double().eval()\n"
        "model.load_state_dict(weights)\n"
        "logits, state = model(ids (2, 3))\n"
        "logits, state = model(ids (2, 4), state=state)"
    )
    assert module_text("Tagger", case(mode="train")).splitlines()[0].endswith(".double().train()")
    between = case(forward={"ids": MORE}, before=[{"ids": IDS}], between=[{"ids": IDS}], carry={"state": "state"})
    assert module_text("Tagger", between).splitlines()[2:] == [
        "logits, state = model(ids (2, 3))",
        "model(ids (2, 3))",
        "logits, state = model(ids (2, 4), state=state)",
    ]


def test_a_tiny_call_can_be_pasted():
    init = "def __init__(self, n):\n    super().__init__()\n    self.scale = torch.nn.Parameter(torch.zeros(n))"
    inputs = {"x": np.array([[1.0, 0.5]]), "ids": np.array([1, 0]), "masks": [np.array([True, False])], "p": 2}
    tiny = case(
        {"y": "tensor"}, init={"n": 2}, weights={"scale": np.array([3.0, 0.1])}, forward=inputs, before=[inputs]
    )
    cls = tagger("return self.scale[ids] * x * masks[0] * p", init, "x, ids, masks, p")
    pasted = {"torch": torch, "Tagger": cls}
    exec(module_text("Tagger", tiny), pasted)
    assert np.array_equal(pasted["y"].detach().numpy(), drive("module", cls, tiny).result)


# What an author may ask -----------------------------------------------------------------------------------------------


@for_each(
    ("changes", "says"),
    [
        ({"forward": {"run": 1}}, "'run'"),
        ({"forward": {"ids": IDS, "state": 1}, "carry": {"state": "state"}}, "'state'"),
        ({"returns": {"logits": "value"}}, "tensor, learning, tensors, detached, random"),
        ({"returns": {}}, "name each result"),
        ({"mode": "test"}, "eval, train"),
        ({"carry": {"state": "h"}}, "a result that `returns` names"),
        ({"weights": {**WEIGHTS, "head.bias": np.zeros(2, np.float32)}}, "'head.bias'. has to be a float64 array"),
        ({"weights": {**WEIGHTS, "head.bias": [0.0, 0.0]}}, "has to be a float64 array"),
        ({"forward": {"ids": [Fixture("rng", {"seed": 1})]}}, "takes no fixtures"),
    ],
)
def test_a_case_that_cannot_be_driven_is_refused(changes, says):
    with pytest.raises(ValueError, match=says):
        case(**changes)


def test_a_case_is_plain_data():
    assert isinstance(encode(dict(case().inputs)), bytes)
    assert isinstance(case(), Case)


def test_importing_the_drivers_imports_no_torch():
    code = "import grader, grader.checking.drivers, sys; print('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
