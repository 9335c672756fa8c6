"""The directive `quiz`: one question, a few options, and a sentence for each of them.

    :::{quiz} states-differ
    Which of these changes from step to step?

    - [x] the state || Every step makes a new one from the one before.
    - [ ] $W_{hh}$ || The weights are shared: drawn three times, they are the same three times.
    :::

The id is the question's own in the whole book. Just one option is right. Behind ` || ` stands what the reader who
chose it is told: why it is right, or which idea led there and what to think about instead. With script the options
are radio buttons (quiz.js); without, and in print, the answers lie in a `<details>`. Nothing is sent or kept.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from docutils import nodes
from page_element import PageElement, attach, folded, has_class, make
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util.typing import ExtensionMetadata

_ID = re.compile(r"[a-z][a-z0-9-]*\Z")
_OPTION = re.compile(r"- \[(?P<mark>[ xX])\] (?P<text>.*)\Z")
_VERDICT = re.compile(r"(Yes|No|Right|Wrong|Correct)[.:,;!]")
_BETWEEN = re.compile(r"\s\|\|(?:\s|\Z)")


class QuizError(Exception):
    """What is wrong with a question, with the line of its content."""

    def __init__(self, what: str, index: int = 0) -> None:
        super().__init__(what)
        self.index = index


@dataclass(frozen=True)
class Option:
    """An option of a question; `index` is the line of the directive's content that it begins at."""

    right: bool
    text: str
    answer: str
    index: int


def split(content: list[str]) -> tuple[list[str], list[Option]]:
    """The question's lines and its options. Raises QuizError."""
    starts = [index for index, line in enumerate(content) if re.match(r"[-*+] \[", line)]
    if len(starts) < 2:
        raise QuizError("needs two options at least, each on a line such as `- [ ] a wrong answer || why it is wrong`")
    question = content[: starts[0]]
    if not any(line.strip() for line in question):
        raise QuizError("asks nothing. Write the question before the options")
    ends = [*starts[1:], len(content)]
    options = [_option(content[start:end], start) for start, end in zip(starts, ends, strict=True)]
    right = [option for option in options if option.right]
    if len(right) != 1:
        how_many = f"{len(right)} options are" if right else "no option is"
        raise QuizError(f"{how_many} marked right. Mark just one with `- [x]`", right[1].index if right else 0)
    return question, options


def _option(lines: list[str], index: int) -> Option:
    head = _OPTION.match(lines[0])
    if head is None:
        raise QuizError(f"cannot read the option {lines[0]!r}. Begin it with `- [x] ` or `- [ ] `", index)
    for number, line in enumerate(lines[1:], index + 1):
        if line.strip() and not line.startswith("  "):
            raise QuizError(f"{line!r} belongs to no option. Indent it by two spaces, or put it above them", number)
    text = " ".join([head["text"], *(line.strip() for line in lines[1:])]).strip()
    parts = _BETWEEN.split(text)
    if len(parts) != 2 or not all(part.strip() for part in parts):
        raise QuizError(
            f"the option {parts[0].strip()!r} needs its answer text: write ` || ` once, and behind it what the reader "
            "who chose it is told", index,
        )  # fmt: skip
    if _VERDICT.match(parts[1].strip()):
        raise QuizError(
            f"{parts[1].strip()!r} begins with a verdict, which the page prints itself. Give the reason", index
        )
    return Option(head["mark"] != " ", parts[0].strip(), parts[1].strip(), index)


class Quiz(PageElement):
    required_arguments = 1
    final_argument_whitespace = True

    def run(self) -> list[nodes.Node]:
        name = self.arguments[0]
        if not _ID.match(name):
            return [self.refuse(f"{name!r} is not an id: small letters, digits and -, a letter first")]
        known = _quizzes(self.env)
        if name in known:
            return [self.refuse(f"the id {name!r} is taken by a question in {known[name]}. Give this one another")]
        known[name] = self.env.docname
        try:
            question, options = split(list(self.content))
        except QuizError as fault:
            line = self.lineno + self.content_offset + fault.index + 1 if fault.index else None
            return [self.refuse(f"{name}: {fault}.", line)]
        return [self._box(name, question, options)]

    def _box(self, name: str, question: list[str], options: list[Option]) -> nodes.Element:
        asked = make("div", classes=["quiz-question"])
        self.parse(asked, question)
        listed, answers = make("ol", classes=["quiz-options"]), make("ol")
        for option in options:
            right = {"data_right": ""} if option.right else {}
            listed += make("li", make("span", *self.parse_inline(option.text)), **right)
            verdict = nodes.strong("", "Right." if option.right else "Not this one.")
            answers += make("li", make("p", verdict, nodes.Text(" "), *self.parse_inline(option.answer)))
        whole = make(
            "div", make("p", nodes.Text("Question"), classes=["quiz-title"]), asked, listed,
            folded("Show the answers", answers, classes=["quiz-answers"]), classes=["quiz"], data_quiz=name,
        )  # fmt: skip
        whole["ids"] = [f"quiz-{name}"]
        self.set_source_info(whole)
        return whole


def _quizzes(env: BuildEnvironment) -> dict[str, str]:
    """Id → page, of all questions read so far."""
    if not hasattr(env, "unrolled_quizzes"):
        env.unrolled_quizzes = {}
    known: dict[str, str] = env.unrolled_quizzes
    return known


def _forget(app: Sphinx, env: BuildEnvironment, page: str) -> None:
    for name in [name for name, where in _quizzes(env).items() if where == page]:
        del _quizzes(env)[name]


def setup(app: Sphinx) -> ExtensionMetadata:
    app.setup_extension("page_element")
    app.add_directive("quiz", Quiz)
    app.connect("env-purge-doc", _forget)
    attach(app, has_class("quiz"), "quiz.js")
    return {"version": "1", "env_version": 1, "parallel_read_safe": False, "parallel_write_safe": True}
