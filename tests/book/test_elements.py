"""The page elements: what their HTML holds without script, and what each says about bad use."""

from __future__ import annotations

import json
import re
import zlib
from pathlib import Path

import pytest
from one_page import ROOT, build, words

ALL = ("predict", "quiz", "museum", "explorable", "exercise_link", "mistake_diary", "made", "more")
STATIC = ROOT / "book" / "_static"


def predict(body: str) -> str:
    return f"# Page\n\n::::{{predict}}\n{body}\n::::\n"


def quiz(body: str, name: str = "which") -> str:
    return f"# Page\n\n:::{{quiz}} {name}\n{body}\n:::\n"


def museum(body: str) -> str:
    return f"# Page\n\n::::{{museum}} Bugs\nGuess.\n\n{body}\n::::\n"


def exhibit(name: str, body: str = "It writes `hehe`.") -> str:
    return f":::{{exhibit}} {name}\n{body}\n:::\n"


ANSWER = ":::{answer}\nThey are not.\n:::"
RIGHT = "- [x] one || It is shared."
WRONG = "- [ ] three || Count the names."
DIARY = "```{mistake-diary} ch01_vanilla_rnn\n```\n"
INSTEAD = "```{explorable} hello\nA table.\n```\n"

GOOD = {
    "predict": predict(f"Equal, with $h_0 = 0$?\n\n{ANSWER}"),
    "quiz": quiz(f"How many $W$?\n\n{RIGHT}\n{WRONG}\n  Not\n  the boxes."),
    "museum": museum(exhibit("No bug") + exhibit("`h_prev` is left out")),
    "explorable": f"# Page\n\n{INSTEAD}",
    "mistake_diary": f"# Page\n\n{DIARY}",
    "made": "# Page\n\n:::{made} experiments.ch03.adding\nFive seeds, $H = 64$.\n:::\n",
    "more": "# Page\n\n:::{more} All pages, with a sentence for each\n- One, $h_0$.\n:::\n",
    "made, with nothing to add": "# Page\n\n:::{made} experiments.ch03.adding\n:::\n",
}

BAD = {
    "no answer": (predict("Equal?"), 3, "predict: has 0 answers. Write one"),
    "two answers": (predict(f"Equal?\n\n{ANSWER}\n{ANSWER}"), 3, "predict: has 2 answers"),
    "no question": (predict(ANSWER), 3, "predict: asks nothing"),
    "text after the answer": (predict(f"Equal?\n\n{ANSWER}\n\nMore."), 3, "predict: something follows the answer"),
    "an empty answer": (predict("Equal?\n\n:::{answer}\n:::"), 6, "answer: is empty"),
    "a lost answer": (f"# Page\n\n{ANSWER}\n", 3, "answer: stands outside a {predict}"),
    "no right option": (quiz(f"Q\n\n{WRONG}\n{WRONG}"), 3, "quiz: which: no option is marked right. Mark just one"),
    "two right options": (quiz(f"Q\n\n{RIGHT}\n{RIGHT}"), 7, "quiz: which: 2 options are marked right"),
    "no answer text": (quiz(f"Q\n\n{RIGHT}\n- [ ] three"), 7, "quiz: which: the option 'three' needs its answer text"),
    "empty answer text": (quiz(f"Q\n\n{RIGHT}\n- [ ] three || "), 7, "the option 'three' needs its answer text"),
    "two answer texts": (quiz(f"Q\n\n{RIGHT}\n{WRONG} || And more."), 7, "write ` || ` once"),
    "a misspelt mark": (quiz(f"Q\n\n{RIGHT}\n- [y] three || No."), 7, "cannot read the option '- [y] three || No.'"),
    "a stray line": (quiz(f"Q\n\n{RIGHT}\nstray\n{WRONG}"), 7, "'stray' belongs to no option"),
    "one option": (quiz(f"Q\n\n{RIGHT}"), 3, "quiz: which: needs two options at least"),
    "nothing asked": (quiz(f"{RIGHT}\n{WRONG}"), 3, "quiz: which: asks nothing"),
    "a verdict twice": (quiz(f"Q\n\n- [x] one || Yes. It is shared.\n{WRONG}"), 6, "begins with a verdict"),
    "nothing more": ("# Page\n\n:::{more} All pages\n:::\n", 3, "more: 'All pages' is empty. Write what is folded."),
    "no such experiment": ("# Page\n\n:::{made} experiments.ch03.add\n:::\n", 3, "there is no experiments/ch03/add.py"),
    "no experiment": ("# Page\n\n:::{made} grader.cells\n:::\n", 3, "is not the module of an experiment"),
    "no record": ("# Page\n\n:::{made} experiments.char_lm\n:::\n", 3, "has no --record, so it made no record"),
    "a bad id": (quiz(f"Q\n\n{RIGHT}\n{WRONG}", "My quiz"), 3, "quiz: 'My quiz' is not an id"),
    "a lost exhibit": (f"# Page\n\n{exhibit('A bug')}", 3, "exhibit: stands outside a {museum}"),
    "an empty exhibit": (museum(exhibit("No bug") + exhibit("A bug", "")), 9, "exhibit: 'A bug' is empty"),
    "one exhibit": (museum(exhibit("No bug")), 3, "museum: needs two exhibits at least"),
    "two of one name": (museum(exhibit("A bug") * 2), 3, "museum: two exhibits are called 'A bug'"),
    "text between": (museum(f"{exhibit('A')}\nText.\n\n{exhibit('B')}"), 3, "museum: text stands between"),
    "no such explorable": (
        "# Page\n\n```{explorable} helo\nA.\n```\n",
        3,
        "there is no 'helo'. There is: hello, tape, lag, gates, beam, attention, bpe.",
    ),
    "nothing instead": ("# Page\n\n```{explorable} hello\n```\n", 3, "hello shows nothing without script"),
    "two explorables": (f"# Page\n\n{INSTEAD}\n{INSTEAD}", 7, "hello stands on this page twice"),
    "no such chapter": ("# Page\n\n```{mistake-diary} ch01\n```\n", 3, "mistake-diary: There is no chapter 'ch01'"),
    "two diaries": (f"# Page\n\n{DIARY}\n{DIARY}", 6, "mistake-diary: stands on this page twice. Keep one."),
    "two boxes": ("# Page\n\n```{exercise-link} rnn_step\n```\n" * 2, 7, "rnn_step has a box here already"),
}


@pytest.mark.parametrize("name", GOOD)
def test_good_use_says_nothing(tmp_path: Path, name: str) -> None:
    _, warnings = build(tmp_path, GOOD[name], *ALL)
    assert warnings == ""


@pytest.mark.parametrize("name", BAD)
def test_bad_use_says_what_and_where(tmp_path: Path, name: str) -> None:
    page, line, message = BAD[name]
    _, warnings = build(tmp_path, page, *ALL)
    assert re.search(rf"index\.md:{line}: WARNING: .*{re.escape(message)}", warnings), warnings


def test_a_quiz_id_is_used_once_in_the_book(tmp_path: Path) -> None:
    page = quiz(f"Q\n\n{RIGHT}\n{WRONG}")
    _, warnings = build(tmp_path, page, *ALL, others={"zoo": f"---\norphan: true\n---\n{page}"})
    assert "zoo.md:6: WARNING: quiz: the id 'which' is taken by a question in index." in warnings


def test_a_prediction_holds_its_answer(tmp_path: Path) -> None:
    html, _ = build(tmp_path, GOOD["predict"], *ALL)
    details = re.search(r"<details.*?</details>", html, re.S)
    assert details is not None
    assert words(details[0]) == "Show what happens They are not."


def test_a_quiz_holds_all_answers(tmp_path: Path) -> None:
    html, _ = build(tmp_path, GOOD["quiz"], *ALL)
    text = words(html[html.index('<div class="quiz"') :])
    assert "one three" in text
    assert "Right. It is shared." in text
    assert "Not this one. Count the names. Not the boxes." in text
    assert html.count("data-right") == 1
    assert "quiz.js" in html


def test_how_a_figure_was_made_ends_with_its_command(tmp_path: Path) -> None:
    html, _ = build(tmp_path, GOOD["made"], *ALL)
    note = re.search(r"<details.*?</details>", html, re.S)
    assert note is not None
    told = words(note[0])
    assert told.startswith("How this was made Five seeds")
    assert told.endswith("Recorded with python -m experiments.ch03.adding --record.")


def test_a_museum_holds_all_exhibits_under_headings(tmp_path: Path) -> None:
    html, _ = build(tmp_path, GOOD["museum"], *ALL)
    assert [words(found) for found in re.findall(r"<h2.*?</h2>", html)] == ["Bugs"]
    names = re.findall(r'<h3 class="exhibit-name.*?</h3>', html)
    assert [words(name) for name in names] == ["No bug", "h_prev is left out"]
    assert "hidden" not in html[html.index('<div class="museum"') : html.index("</section>")]


def test_scripts_load_where_they_are_used(tmp_path: Path) -> None:
    html, _ = build(tmp_path, GOOD["predict"], *ALL)
    assert not re.search(r"(quiz|museum|parts|hello|tape|lag|gates|beam|attention|bpe)\.js", html)


@pytest.mark.parametrize(
    ("name", "record", "parts"),
    [
        ("hello", "experiments/ch01/hello_weights.json", ("vocabulary", "text", "weights")),
        ("tape", "experiments/ch02/tape.json", ("x", "y", "h_0", "w_xh", "w_hh", "b_h")),
        ("lag", "experiments/ch03/lag.json", ("matrices", "w_xh", "dh", "x")),
        ("gates", "experiments/ch04/gates.json", ("w", "u", "pulse", "x")),
        ("beam", "experiments/ch05/tree.json", ("source", "max_length", "next")),
        ("attention", "experiments/ch06/attention.json", ("source", "target", "alignment", "pads", "networks")),
        ("bpe", "experiments/ch00/bpe.json", ("text", "merges", "longest", "most")),
    ],
)
def test_an_explorable_holds_its_data_and_what_stands_instead(
    tmp_path: Path, name: str, record: str, parts: tuple[str, ...]
) -> None:
    html, _ = build(tmp_path, GOOD["explorable"].replace("hello", name), *ALL)
    data = re.search(r'<script type="application/json" class="explorable-data">(.*?)</script>', html, re.S)
    assert data is not None
    recorded = json.loads((ROOT / record).read_text("utf-8"))
    assert json.loads(data[1]) == {part: recorded[part] for part in parts}
    assert "A table." in words(html)
    loaded = re.findall(r"explorables/(\w+\.js)", html)
    assert loaded == ["parts.js", f"{name}.js"]
    weight = sum((STATIC / "explorables" / script).stat().st_size for script in loaded)
    assert weight + len(data[1].encode()) < 25_000


def test_a_mistake_diary_says_how_to_see_it_and_holds_the_titles(tmp_path: Path) -> None:
    html, _ = build(tmp_path, GOOD["mistake_diary"], *ALL)
    box, _, data = html.partition('<script type="application/json" class="mistake-diary-data">')
    text = words(box)
    assert "from grader import diary" in text
    assert 'diary("ch01_vanilla_rnn")' in text
    assert "grader diary ch01_vanilla_rnn" in text
    assert len(text[text.index("Your mistake diary") :].split()) < 80
    assert "mistake_diary.js" in html
    found = json.loads(data.partition("</script>")[0])["exercises"]
    title, address, titles = found["rnn_step"]
    assert (title, address) == (
        "One step of the recurrence",
        "book/ch01_vanilla_rnn/one_step.html#exercise-rnn_step",
    )
    assert titles["no_tanh"] == "You return the pre-activation."
    assert list(found) == re.findall(
        r'\[\[chapters\.notebooks\.exercises\]\]\nid = "(\w+)"',
        (ROOT / "course.toml").read_text("utf-8").partition('id = "ch01_vanilla_rnn"')[2].partition('id = "ch02')[0],
    )


def test_the_last_page_of_each_chapter_has_its_mistake_diary() -> None:
    pages = re.findall(r"file: book/((ch\w+)/\w+)", (ROOT / "_toc.yml").read_text("utf-8"))
    last = {chapter: page for page, chapter in pages}
    assert len(last) == 7
    having = {
        (path.parent.name, chapter)
        for path in (ROOT / "book").glob("ch*/*.md")
        for chapter in re.findall(r"```\{mistake-diary\} (\w+)\n```", path.read_text("utf-8"))
        if f"{path.parent.name}/{path.stem}" == last[path.parent.name]
    }
    assert having == {(chapter, chapter) for chapter in last}


@pytest.mark.parametrize("chapter", ["ch00_sequences", "ch05_encoder_decoder"])
def test_the_data_of_a_mistake_diary_is_light(tmp_path: Path, chapter: str) -> None:
    """Even in the chapter with most mistakes."""
    html, _ = build(tmp_path, f"# Page\n\n```{{mistake-diary}} {chapter}\n```\n", *ALL)
    data = re.search(r'class="mistake-diary-data">(.*?)</script>', html, re.S)
    assert data is not None
    assert len(data[1].encode()) < 50_000
    assert len(zlib.compress(data[1].encode())) < 15_000
