"""What `grader check` prints. Everything that a notebook wrote is made harmless for a terminal."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from grader.counts import counted, number
from grader.manifest import Exercise
from grader.shown import harmless
from grader.submission.cell_names import subject
from grader.work.events import Begin, Checked, End, Event, Failed, Printed, TooLong, Undefined
from grader.work.run import Outcome

FEW_LINES = 6  # of one cell's output, unless all of it is asked for
WIDEST = 500  # characters of a printed line

# Escape sequences that programs use for colours, cursor movements and titles (ECMA-48: CSI … final, OSC … BEL or ST)
_ESCAPES = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[@-Z\\-_]")


def terminal_lines(text: str) -> list[str]:
    """The lines that a terminal would show in the end, without colours and control characters. A progress bar that
    returns to the start of its line leaves its last state.
    """
    lines = _ESCAPES.sub("", text.replace("\r\n", "\n")).split("\n")
    last = [line.rstrip("\r").rpartition("\r")[2] for line in lines]
    return [harmless(line.expandtabs())[:WIDEST] for line in last]


@dataclass
class Display:
    """Shows events as lines, as they come; `write` prints one line. `names` says what cells are called. At most `most`
    lines of a cell's output are shown, all of them if it is None.
    """

    write: Callable[[str], None]
    names: Mapping[int, str]
    most: int | None = FEW_LINES
    _text: list[str] = field(default_factory=list)
    _cell: int = 0

    def show(self, event: Event) -> None:
        """Print what an event reports. Output is held back until its cell or its check has ended."""
        match event:
            case Printed(text):
                self._text.append(text)
                return
            case Begin(cell) if cell != self._cell:
                self.flush()
                self._cell = cell
                return
        if not isinstance(event, Begin | End):
            self.flush()
        match event:
            case Failed(cell, kind, text, lines):
                first, *others = terminal_lines(text) or [""]
                self.write(f"{self._subject(cell)} ended with {harmless(kind)}: {first}".rstrip(": "))
                for line in others[:3]:
                    self.write(f"    {line}")
                for place, code in lines:
                    self.write(f"    {harmless(place)}: {harmless(code)}")
                if kind == ModuleNotFoundError.__name__:
                    self.write("    If the course needs this module, grader doctor says how to install it.")
                self.write("")
            case TooLong(cell, seconds):
                stopped = f"{self._subject(cell)} was stopped after {number(seconds)} s."
                self.write(f"{stopped} Does it contain a loop that never ends?")
                self.write("")
            case Checked(report=report):
                for line in terminal_lines(report):
                    self.write(line)
                self.write("")
            case Undefined(exercise):
                self.write(f"{exercise}   not defined: the cell that defines it is missing or has ended in an error")
                self.write("")

    def flush(self) -> None:
        """Print the output that was held back."""
        lines = terminal_lines("".join(self._text).rstrip("\n")) if self._text else []
        self._text.clear()
        if not lines or lines == [""]:
            return
        self.write(f"{self._subject(self._cell)} printed:")
        for line in lines[: self.most]:
            self.write(f"  │ {line}".rstrip())
        if self.most is not None and (more := len(lines) - self.most) > 0:
            self.write(f"  │ … and {counted(more, 'more line')}; see all with --output")
        self.write("")

    def _subject(self, cell: int) -> str:
        return subject(self.names[cell])


@dataclass
class OnlyNew:
    """Writes lines in blocks that end with an empty line, and leaves out those that the previous run wrote too."""

    write: Callable[[str], None]
    _before: frozenset[tuple[str, ...]] = frozenset()
    _now: list[tuple[str, ...]] = field(default_factory=list)
    _block: list[str] = field(default_factory=list)

    def line(self, text: str) -> None:
        """Take a line of the current block."""
        self._block.append(text)
        if not text:
            self.end_block()

    def end_block(self) -> None:
        """Write the current block, if it is new."""
        block = tuple(self._block)
        self._block.clear()
        if block and block not in self._before:
            for text in block:
                self.write(text)
        self._now.append(block)

    def next_run(self) -> None:
        """What was taken so far is the previous run."""
        self._before, self._now = frozenset(self._now), []
        self._block.clear()


def ending_lines(outcome: Outcome, names: Mapping[int, str]) -> list[str]:
    """Why not all cells have run; nothing if they have."""
    if outcome.finished:
        return []
    where = "before the first cell" if outcome.cell is None else f"in {names[outcome.cell]}"
    if outcome.exercise is not None:
        where += f", while {outcome.exercise} was checked"
    if outcome.hung:
        lines = [f"Stopped {where}: it ran longer than its time limit and could not be interrupted."]
    else:
        lines = [f"The notebook's process ended {where}."]
        lines += [f"    {line}" for line in (terminal_lines("\n".join(outcome.errors)) if outcome.errors else [])]
    return [*lines, "The cells after it did not run."]


def table_lines(exercises: Iterable[Exercise], results: Mapping[str, Checked]) -> list[str]:
    """One line per exercise: whether it is right, its points, and its status in words."""
    exercises = list(exercises)
    width = max((len(each.id) for each in exercises), default=0)
    points = [f"{number(_earned(each, results))} / {number(each.points)}" for each in exercises]
    column = max(map(len, points), default=0)
    lines = []
    for each, earned in zip(exercises, points, strict=True):
        result = results.get(each.id)
        sign = "✓" if result is not None and result.status == "passed" else "✗"
        status = "not checked" if result is None else result.headline
        lines.append(f"{sign} {each.id:<{width}}   {earned:>{column}}   {status}")
    return lines


def _earned(exercise: Exercise, results: Mapping[str, Checked]) -> float:
    return results[exercise.id].earned if exercise.id in results else 0.0
