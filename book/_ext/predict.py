"""The directives `predict` and `answer`: the reader guesses, then unfolds what happens.

    ::::{predict}
    Will the four states be equal?
    :::{answer}
    They are not: ...
    :::
    ::::

The answer is a `<details>`, which needs no script, opens with the keyboard, and stands open in print.
"""

from __future__ import annotations

from docutils import nodes
from page_element import PageElement, folded, has_class, stands_in
from sphinx.application import Sphinx
from sphinx.util.typing import ExtensionMetadata


class Predict(PageElement):
    def run(self) -> list[nodes.Node]:
        prompt = nodes.admonition("", nodes.title("", "Predict"), classes=["predict"])
        self.set_source_info(prompt)
        self.parse(prompt)
        answers = [child for child in prompt if has_class("answer")(child)]
        if len(answers) != 1:
            return [self.refuse(f"has {len(answers)} answers. Write one :::{{answer}} inside, with what shows.")]
        if prompt[-1] is not answers[0]:
            return [self.refuse("something follows the answer. Put it into the answer, or after the prompt.")]
        if len(prompt) == 2:
            return [self.refuse("asks nothing. Write the question before the answer.")]
        return [prompt]


class Answer(PageElement):
    def run(self) -> list[nodes.Node]:
        answer = folded("Show what happens", classes=["answer"])
        self.set_source_info(answer)
        self.parse(answer)
        if len(answer) == 1:
            return [self.refuse("is empty. Write what shows.")]
        return [answer]


def setup(app: Sphinx) -> ExtensionMetadata:
    app.setup_extension("page_element")
    app.add_directive("predict", Predict)
    app.add_directive("answer", Answer)
    stands_in(app, "answer", "predict")
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
