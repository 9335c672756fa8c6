"""Which other functions a function uses: found in its code in a notebook, and in the text of cells in autograding."""

import ast
import functools

import numpy as np
import pytest

from grader.checking.uses import used
from grader.submission.mentions import used_in

CODE = """
import functools
import numpy as np

def step(x):
    return x

def other(x):
    return x

def helper(x):
    return step(x)

renamed = step
last = functools.partial(helper, 1)

def alone(x):
    step_text = "step"
    return np.tanh(x)

def direct(x):
    return step(x)

def through(x):
    return helper(x)

def comprehension(x):
    return [helper(each) for each in x]

def by_partial():
    return last()

def by_another_name(x):
    return renamed(x)

def circular(x):
    return mutual(x)

def mutual(x):
    return circular(x) if x else step(x)

class Cell:
    def forward(self, x):
        return self.inner(x)

    @staticmethod
    def inner(x):
        return step(x)

class Plain:
    def forward(self, x):
        return x

def of_class(x):
    return Cell().forward(x)
"""
USES = {
    "alone": [],
    "direct": ["step"],
    "through": ["step"],
    "comprehension": ["step"],
    "by_partial": ["step"],
    "by_another_name": ["step"],
    "circular": ["step"],
    "Cell": ["step"],
    "Plain": [],
    "of_class": ["step"],
}


@pytest.mark.parametrize("name", USES)
def test_what_a_function_uses(name):
    space = {"__name__": "__main__"}
    exec(compile(CODE, "<cell>", "exec"), space)
    assert used(space[name], ["step", "other"]) == USES[name]
    assert used_in([CODE], name, ["step", "other"]) == USES[name]
    cells = [ast.unparse(statement) for statement in ast.parse(CODE).body]
    assert used_in(cells, name, ["step", "other"]) == USES[name]


@pytest.mark.parametrize("thing", [None, 3, np.tanh, functools.lru_cache(max)])
def test_without_code_to_be_read_all_may_be_used(thing):
    assert used(thing, ["step"]) == ["step"]


@pytest.mark.parametrize("cell", ["def f(:", "exec('def f(x): return step(x)')", "x = '" + "a" * 20_000 + "'"])
def test_a_cell_that_cannot_be_read_may_use_all(cell):
    assert used_in(["def f(x):\n    return x", cell], "f", ["step"]) == ["step"]
