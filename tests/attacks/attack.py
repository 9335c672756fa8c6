"""The attacks of `corpus/`, as data."""

import re
from dataclasses import dataclass
from pathlib import Path

CORPUS = Path(__file__).with_name("corpus")
PLACES = ("start", "rnn_step", "rnn_forward", "end", "next")


@dataclass(frozen=True)
class Attack:
    """One file of the corpus.

    Its docstring says what it tries and what must happen, then in lines of their own: the `Points` that rnn_step and
    rnn_forward end with, what must be `Seen` in what came of it (so that it was really tried), and the `Seconds` of
    running time that it may take at most. `cells` are its cells by the place where they go: at the `start` or the
    `end` of the notebook, as an exercise's cell, or into the notebook of the `next` student. rnn_step is not solved
    where no cell stands for it; rnn_forward is.
    """

    name: str
    tries: str
    points: tuple[float, float]
    seen: tuple[str, ...]
    seconds: float
    cells: dict[str, str]


def read_attack(path: Path) -> Attack:
    head, *parts = re.split(r"^# %% (\w+)\n", path.read_text("utf-8"), flags=re.MULTILINE)
    said = head.strip().strip('"')
    fields: dict[str, list[str]] = {}
    for name, value in re.findall(r"^(Must|Points|Seen|Seconds): (.+)$", said, re.MULTILINE):
        fields.setdefault(name, []).append(value)
    assert fields.keys() >= {"Must", "Points", "Seen"}, f"{path.name}: say what must happen, the points, what is seen"
    assert set(parts[::2]) <= set(PLACES), f"{path.name}: places are {PLACES}"
    step, forward = map(float, fields["Points"][0].split(","))
    return Attack(
        path.stem,
        said,
        (step, forward),
        tuple(fields["Seen"]),
        float(fields.get("Seconds", ["6"])[0]),
        dict(zip(parts[::2], parts[1::2], strict=True)),
    )


ATTACKS = [read_attack(path) for path in sorted(CORPUS.glob("*.py"))]
