"""The course of `tests/answers/`, in a notebook: answers of every kind are checked, linted, and told in a report."""

import linecache
import textwrap

import pytest
import torch

from grader.author.lint import lint_course
from grader.author.notebooks import student_notebook
from grader.cells import cell_source
from grader.checking.evaluate import evaluate, observe
from grader.released import Released
from grader.render.text import verdict_text
from tests.answers_course import write_answers_course


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    return write_answers_course(tmp_path_factory.mktemp("course"))


@pytest.fixture(scope="module")
def check(root):
    """What a student's notebook says of an object, from the released data alone."""
    released = Released(root / "grader" / "data")

    def check(name, thing):
        checks = released.checks(name)
        return evaluate(released.manifest.place(name), checks, released.messages(name).mistakes, observe(checks, thing))

    return check


def test_nothing_is_wrong_with_it(root):
    """Right ones pass, stubs are stubs, mistakes are named and earn what they keep, the release is current."""
    found = [f"{what}: {problem}" for what, problems in lint_course(root) for problem in problems]
    assert found == []


def changed(root, name, old, new):
    """The reference solution, a little changed, as a notebook's cell defines it."""
    place = Released(root / "grader" / "data").manifest.place(name)
    source = (root / "solutions" / place.chapter.id / f"{place.notebook.name}.py").read_text("utf-8")
    assert source.count(old) == 1
    source = source.replace(old, new)
    filename = f"<cell {name} {hash(source)}>"
    linecache.cache[filename] = (len(source), None, source.splitlines(keepends=True), filename)
    namespace = {"__name__": "__main__"}
    exec(compile(source, filename, "exec"), namespace)
    return namespace[name]


@pytest.mark.parametrize(
    ("name", "old", "new", "says"),
    [
        ("Tagger", "self.head(self.dropout(h))", "self.head(self.dropout(h)).float()", "got float32, expected float64"),
        (
            "Tagger",
            "return self.head(self.dropout(h)), state.detach()",
            "return self.head(h).argmax(dim=-1), state.detach()",
            "logits: got (1, 2), expected (1, 2, 2), that is (B, T, C)",
        ),
        (
            "Tagger",
            "self.embedding(ids)",
            "self.embedding(ids).detach()",
            "logits: no gradient reaches `embedding.weight`: is the path cut by `detach`, `data`, `item`, `numpy` or",
        ),
        (
            "Tagger",
            "self.dropout(h)",
            "self.dropout(h).detach()",
            "reaches `embedding.weight`, `rnn.weight_ih_l0`, `rnn.weight_hh_l0` and 2 more: is the path",
        ),
        (
            "Tagger",
            "        h, state = self.rnn(self.embedding(ids), state)\n",
            "        steps = []\n        for t in range(ids.shape[1]):\n"
            "            h, state = self.rnn(self.embedding(ids)[:, t:t+1], state if t == 0 else state.detach())\n"
            "            steps.append(h)\n        h = torch.cat(steps, dim=1)\n",
            "logits: a gradient reaches every weight, but not along the right paths: is a tensor cut off by",
        ),
        ("Tagger", "self.dropout(h)", "torch.dropout(h, 0.3, True)", "logits differs with another seed; expected the"),
        ("Reader", "softmax(dim=1)", "softmax(dim=1).detach()", "context: no gradient reaches `query.weight`: is"),
        ("Tagger", "self.dropout(h)), state.detach()", "self.dropout(h))", "2 results, `return logits, state`"),
        (
            "Tagger",
            "state.detach()\n",
            "state.detach().numpy()\n",
            "state contains no tensor; expected a detached one",
        ),
        (
            "Tagger",
            "hidden_size, num_tags)\n\n",
            "hidden_size, num_tags, bias=False)\n\n",
            "InitError: your `__init__`",
        ),
        ("Tagger", "        h, state = ", "        ids %= 2\n        h, state = ", "your function changes `ids`"),
        ("Tagger", "ids, state=None", "ids, state", "`forward` must take (ids); yours takes (ids, state)"),
        ("Reader", "self.scores(state, keys)", "self.score(state, keys)", "AttributeError"),
        ("Reader", "sum(dim=1), weights", "sum(dim=1), weights.detach()", "right on all 4 cases"),
        ("through_layers", "for layer in layers", "for layer in layers[:1]", "got 1 entry, expected 2"),
        ("through_layers", "    last = []", "    layers.reverse()\n    last = []", "your function changes `layers`"),
        ("follow", "step(y_prev, state)", "step(y_prev[0], state)", "y_prev has the shape (1,), and got ()"),
        ("train_line", 'params["w"] = params["w"] - lr', 'params["w"] -= lr', "your function changes `params`"),
    ],
)
def test_slips_are_told_in_words(root, check, name, old, new, says):
    assert says in verdict_text(check(name, changed(root, name, old, new)))


def test_the_report_of_a_module_can_be_followed(root, check):
    text = verdict_text(check("Tagger", changed(root, "Tagger", ", state.detach()", ", state")))
    called = text.partition("called")[2].partition("you returned")[0]
    pasted = {"torch": torch, "Tagger": changed(root, "Tagger", "state.detach()", "state.detach()")}
    exec(textwrap.dedent(" " * 17 + called.strip()), pasted)
    assert pasted["logits"].shape == (1, 2, 2)
    assert "(1, 2, 2), state attached to the graph\n" in text
    assert "state is still attached to the graph; expected detached (`.detach()`)" in text
    assert "likely cause   The state still hangs on the graph of the call before." in text


@pytest.mark.parametrize("name", ["Tagger", "Reader", "run_lengths"])
def test_every_region_is_a_stub(root, check, name):
    released = Released(root / "grader" / "data")
    place = released.manifest.place(name)
    stub = cell_source(student_notebook(root, released.manifest, place.chapter, place.notebook), name)
    assert stub.count("raise NotImplementedError") == {"Tagger": 1, "Reader": 2, "run_lengths": 2}[name]
    namespace = {"torch": torch}
    exec(stub, namespace)
    assert check(name, namespace[name]).status == "unimplemented"


def test_a_module_that_is_half_done_says_what_is_missing(root, check):
    stub = changed(
        root, "Reader", "return (keys @ self.query(state)[:, :, None])[:, :, 0]", "raise NotImplementedError"
    )
    assert check("Reader", stub).status == "unimplemented"
