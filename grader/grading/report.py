"""What `grader autograde` reports about a class: a table, JSON for programs, and a list for manual review."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import msgspec
from rich import box
from rich.table import Table
from rich.text import Text

from grader.counts import counted, number
from grader.gradebook.scores import NOTHING, ByStudent
from grader.gradebook.slips import Slips
from grader.grading.grade import Graded
from grader.grading.store import Change
from grader.manifest import Chapter, Exercise, Question
from grader.shown import NO_NAMES, Called, named, one_line, shortened, some
from grader.submission.remark import (
    Asks,
    Ended,
    Foreign,
    LeftOut,
    NoTime,
    NotImported,
    NotSubmitted,
    OddCell,
    OtherFiles,
    OtherName,
    OtherPython,
    Remark,
    TooLarge,
    Unreadable,
    What,
    absence,
)
from grader.term_settings import without
from grader.times import HOW

MOST_NAMED = 5  # students in a line about something harmless
MOST_OF_A_REASON = 1000  # characters
MOST_ALIKE = 3  # remarks of a kind that each get a line of their own
_NO_SCORES: ByStudent = MappingProxyType({})
_NO_EXEMPTIONS: Mapping[str, Collection[str]] = MappingProxyType({})
_WIDTH_OF_POINTS, _WIDTH_OF_THE_REST = 5, 35  # of the table's columns, at the least
_WIDTH_BY_HAND, _WIDTH_OF_A_STAR, _WIDTH_BESIDE = 9, 1, 8  # added by points that an instructor gave
_WIDTH_LATE = 14  # added by late penalties
_WIDTH_SAVED = 6  # by folding what stands in the first and last column


@dataclass(frozen=True)
class Notes:
    """What a term knows of its students besides their results: how people call them, the names in the roster, the
    notebooks of this chapter from which some are exempt, and slip days; all by student. `elsewhere` names, by chapter,
    the students whose late penalties in other chapters this run has changed.
    """

    called: Called = field(default_factory=dict)
    names: Mapping[str, str] = field(default_factory=dict)
    exempt: Mapping[str, Collection[str]] = field(default_factory=dict)
    slips: Mapping[str, Slips] = field(default_factory=dict)
    elsewhere: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def call(self, student: str) -> str:
        return self.called.get(student, student)

    def counting(self, chapter: Chapter, results: Sequence[Graded]) -> list[Graded]:
        """The results without those notebooks, and without the students who are exempt from all."""
        whole = len(chapter.notebooks)
        counts = (each.without(self.exempt.get(each.student, ())) for each in results)
        return [each for each in counts if len(self.exempt.get(each.student, ())) < whole]

    def lines(self, chapter: Chapter) -> list[str]:
        """Who is exempt from what, who used slip days in the chapter, and whose points changed in other chapters."""
        whole = len(chapter.notebooks)
        exempt = [
            f"{named(self.call(student))} ({'all' if len(notebooks) == whole else ', '.join(sorted(notebooks))})"
            for student, notebooks in sorted(self.exempt.items())
        ]
        slips = [
            f"{named(self.call(student))} {its.used[chapter.id]} ({its.left} left in the end)"
            for student, its in sorted(self.slips.items())
            if chapter.id in its.used
        ]
        lines = [f"Exempt: {', '.join(exempt)}."] if exempt else []
        lines += [f"Slip days used in this chapter: {', '.join(slips)}."] if slips else []
        for chapter_id, students in self.elsewhere.items():
            lines.append(
                f"Slip days that moved have changed late penalties in {chapter_id}, too: "
                f"{some([self.call(student) for student in students])}. Write its feedback and export its points again."
            )
        return lines


NO_NOTES = Notes()


def class_table(
    chapter: Chapter, results: list[Graded], width: int, scores: ByStudent = _NO_SCORES, notes: Notes = NO_NOTES
) -> Table:
    """One row per student: the points of each exercise, and for each that failed the likely cause, or how it ended.

    The exercises are numbered so that many of them fit a narrow terminal; `legend` explains the numbers. If they still
    do not fit, one column holds the points of all exercises of a notebook, and if these do not fit either, there are
    only the points of the chapter. The points include an instructor's changes, from the gradebook's `scores`.
    Questions get a column if points were given for any, and late penalties get two: the penalty, and the total that
    remains. Students are shown by their names too; who is exempt from an exercise has no points for it, and who is
    exempt from all is left out.
    """
    results = notes.counting(chapter, results)
    by_hand = any(its.of(question.id).changed for its in scores.values() for question in chapter.questions)
    late = any(its.late_penalty for its in scores.values())
    changed = _any_changed(chapter, scores)
    rest = _WIDTH_OF_THE_REST + _WIDTH_BY_HAND * by_hand + _WIDTH_BESIDE * changed + _WIDTH_LATE * late
    each = _WIDTH_OF_POINTS + _WIDTH_OF_A_STAR * changed
    groups = [[e] for e in chapter.exercises]
    if width < rest + each * len(groups):
        groups = [[*n.exercises] for n in chapter.notebooks if n.exercises]
        if width < rest - _WIDTH_SAVED + each * len(groups):
            groups = []
    numbers = {exercise.id: index for index, exercise in enumerate(chapter.exercises, 1)}
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, collapse_padding=True)
    table.add_column("student", overflow="fold", min_width=8)
    for group in groups:
        ends = dict.fromkeys((numbers[group[0].id], numbers[group[-1].id]))
        table.add_column(Text(f"{'–'.join(map(str, ends))}\n/ {number(sum(e.points for e in group))}"), justify="right")
    table.add_column(Text(f"points\n/ {number(sum(e.points for e in chapter.exercises))}"), justify="right")
    if by_hand:
        table.add_column(Text(f"by hand\n/ {number(sum(q.points for q in chapter.questions))}"), justify="right")
    if late:
        table.add_column(Text("late\n"), justify="right")
        table.add_column(Text(f"total\n/ {number(sum(item.points for item in chapter.items))}"), justify="right")
    table.add_column("time", justify="right")
    table.add_column("problems", overflow="fold")
    for graded in results:
        if graded.fault:
            dashes = ["–"] * (len(groups) + 1 + by_hand + 2 * late)
            table.add_row(notes.call(graded.student), *dashes, "", "see below" if graded.verdicts else "not graded")
            continue
        total = number(_of(chapter.exercises, graded, scores) or 0.0)
        if "*" in _points(chapter.exercises, graded, scores):
            total += f" ({number(graded.earned)})"
        given = _of(chapter.questions, graded, scores)
        table.add_row(
            notes.call(graded.student),
            *(_points(group, graded, scores) for group in groups),
            total,
            *(["–" if given is None else number(given)] if by_hand else []),
            *(_late(chapter, graded, scores) if late else []),
            f"{sum(graded.seconds.values()):.1f} s",
            ", ".join(_problems(graded, numbers, notes)),
        )
    return table


def _problems(graded: Graded, numbers: Mapping[str, int], notes: Notes) -> list[str]:
    """The likely cause of each failure, by the number of its exercise, and the notebooks that are missing or exempt."""
    missing = [name for name, its in graded.verdicts.items() if any(each.status == "missing" for each in its.values())]
    wrong = [verdict for verdict in graded.by_exercise.values() if not verdict and verdict.status != "missing"]
    causes = [f"{numbers[v.id]} {v.diagnosis.id if v.diagnosis else v.status}" for v in wrong]
    causes += [f"missing: {', '.join(missing)}"] if missing else []
    return causes + [f"exempt from {name}" for name in sorted(notes.exempt.get(graded.student, ()))]


def _late(chapter: Chapter, graded: Graded, scores: ByStudent) -> tuple[str, str]:
    """The late penalty, and the total that remains."""
    penalty = scores.get(graded.student, NOTHING).late_penalty
    return f"−{number(penalty)}" if penalty else "", number(total_points(chapter, graded, scores))


def total_points(chapter: Chapter, graded: Graded, scores: ByStudent) -> float:
    """All points, including an instructor's changes and the late penalty, as nbgrader exports them."""
    return scores.get(graded.student, NOTHING).after_penalty(_of(chapter.items, graded, scores) or 0.0)


def comparable(
    chapter: Chapter, graded: Graded, scores: ByStudent, exempt: Mapping[str, Collection[str]] = _NO_EXEMPTIONS
) -> float:
    """The points of a student, or if some notebooks do not count, the same share of the points of the whole chapter."""
    total = total_points(chapter, graded, scores)
    own = without(chapter, exempt.get(graded.student, ()))
    due, possible = (sum(item.points for item in each.items) for each in (chapter, own))
    return total * due / possible if possible not in (0, due) else total


def _points(group: Sequence[Exercise], graded: Graded, scores: ByStudent) -> str:
    """The points of some exercises, with a star if an instructor changed them; "ex." if none of them counts."""
    if not any(exercise.id in graded.by_exercise for exercise in group):
        return "ex."
    its = scores.get(graded.student, NOTHING)
    changed = any(its.of(exercise.id).changed for exercise in group)
    return number(_of(group, graded, scores) or 0.0) + "*" * changed


def _of(items: Sequence[Exercise | Question], graded: Graded, scores: ByStudent) -> float | None:
    """The points of exercises or questions together; None if none were given."""
    found = [final for item in items if (final := final_points(item.id, graded, scores)) is not None]
    return sum(found) if found else None


def final_points(item: str, graded: Graded, scores: ByStudent) -> float | None:
    """The points of an exercise or a question, including an instructor's changes; None if none were given."""
    return scores.get(graded.student, NOTHING).of(item).final(graded.earned_for(item))


def legend(chapter: Chapter, width: int, scores: ByStudent = _NO_SCORES) -> list[str]:
    """Lines of this width that explain the numbers, the stars and the late penalties of `class_table`."""
    lines = [""]
    for index, exercise in enumerate(chapter.exercises, 1):
        named = f"{index} {exercise.id}"
        if lines[-1] and len(lines[-1]) + len(named) + 3 > width:
            lines.append("")
        lines[-1] += f"   {named}" if lines[-1] else named
    if _any_changed(chapter, scores):
        lines.append("* changed by an instructor; in parentheses: the points that the checks gave")
    if any(its.late_penalty for its in scores.values()):
        lines.append("late: the late penalty from nbgrader; total: all points minus this penalty")
    return lines


def waiting(chapter: Chapter, scores: ByStudent) -> list[str]:
    """A line with the number of answers and scores that need manual grading; no line if there are none."""
    count = Counter(name for its in scores.values() for name, score in its.scores.items() if score.needs_a_human)
    place = {exercise.id: notebook.name for notebook in chapter.notebooks for exercise in notebook.exercises}
    place |= {question.id: notebook.name for notebook in chapter.notebooks for question in notebook.questions}
    found = [f"{item} in {place[item]} ({counted(count[item], 'student')})" for item in place if count[item]]
    return [f"To grade manually in formgrader: {', '.join(found)}."] if found else []


def _any_changed(chapter: Chapter, scores: ByStudent) -> bool:
    """Whether an instructor changed the points of an exercise."""
    return any(its.of(exercise.id).changed for its in scores.values() for exercise in chapter.exercises)


@dataclass(frozen=True)
class Finding:
    """Something that could not be graded or looks wrong, and how often by student. `rank` is one of `NOT_GRADED`,
    `MAY_CHANGE_POINTS` and `HARMLESS`. `what` is None if the grader itself failed.
    """

    rank: int
    line: str
    students: Counter[str]
    what: What | None


NOT_GRADED, MAY_CHANGE_POINTS, HARMLESS = range(3)


def findings(results: Sequence[Graded]) -> list[Finding]:
    """Everything that could not be graded or looks wrong. Ungraded notebooks come first, then what may have changed
    points, then the rest.
    """
    found: dict[tuple[int, str], Finding] = {}
    for graded in results:
        fault = [(NOT_GRADED, one_line(graded.fault), None)] if graded.fault else []
        for rank, line, what in [*_remark_lines(graded), *fault]:
            found.setdefault((rank, line), Finding(rank, line, Counter(), what)).students[graded.student] += 1
    return sorted(found.values(), key=lambda finding: finding.rank)


def _remark_lines(graded: Graded) -> list[tuple[int, str, What | None]]:
    """The rank and the line of each remark; notebooks of which there is no trace are in one line together."""
    missing = [r for r in graded.remarks if r.what == NotSubmitted(absence(f"{r.notebook}.ipynb", is_folder=False))]
    lines = [(_rank(r.what), remark_line(r), r.what) for r in graded.remarks if r not in missing]
    if not missing:
        return [*lines]
    names = ", ".join(remark.notebook for remark in missing)
    return [(NOT_GRADED, f"missing notebook{'s' * (len(missing) > 1)}: {names}", missing[0].what), *lines]


def for_a_human(results: Sequence[Graded], called: Called = NO_NAMES) -> list[str]:
    """One line for each of the `findings`, with the students that it concerns, whose names `called` has. If there are
    many of a kind, they get one line together, which shows the first.
    """
    kinds: dict[tuple[Hashable, ...], list[Finding]] = {}
    for finding in findings(results):
        kinds.setdefault((finding.rank, *_kind(finding)), []).append(finding)
    told = []
    for (rank, *kind), found in kinds.items():
        most = MOST_NAMED if rank == HARMLESS else len(results)
        students = Counter({student: 1 for each in found for student in each.students})
        if kind == [OddCell, "saw a pass"]:
            saw = {each.student: names for each in results if (names := saw_a_pass(each))}
            told.append(unconfirmed({called.get(student, student): names for student, names in saw.items()}))
        elif len(found) <= MOST_ALIKE:
            told += [_told(each.students, each.line, most, called) for each in found]
        else:
            told.append(_told(students, f"{found[0].line} (one of {len(found)} such remarks)", most, called))
    return ["Needs manual review:", *(f"  {line}" for line in told)] if told else []


def _told(students: Counter[str], line: str, most: int, called: Called) -> str:
    """A line with its students before it; of many students with their number before it and their names behind."""
    names = _names(Counter({called.get(student, student): count for student, count in students.items()}), most)
    return f"{names}: {line}" if len(students) <= MOST_NAMED else f"{len(students)} students: {line} ({names})"


def saw_a_pass(graded: Graded) -> list[str]:
    """The exercises for which a submission's saved outputs show a pass that grading does not confirm."""
    return [r.what.name for r in graded.remarks if isinstance(r.what, OddCell) and r.what.kind == "saw a pass"]


def unconfirmed(saw: Mapping[str, Sequence[str]]) -> str:
    """One line for all students and the exercises for which their saved outputs show a pass."""
    of = ", ".join(f"{named(student)} ({some(names)})" for student, names in saw.items())
    return f"{counted(len(saw), 'student')} saw a pass that grading does not confirm: {of}; compare"


def _kind(finding: Finding) -> tuple[Hashable, ...]:
    match finding.what:
        case None:
            return (finding.line,)
        case OddCell(kind):
            return OddCell, kind
        case Ended(fault):
            return Ended, fault.kind
        case what:
            return (type(what),)


def to_look_at(results: Sequence[Graded]) -> int:
    """The number of submissions that could not be graded, or whose points something unusual may have changed."""
    return len({student for each in findings(results) if each.rank != HARMLESS for student in each.students})


def summary(
    chapter: Chapter,
    results: Sequence[Graded],
    scores: ByStudent,
    changes: Sequence[Change],
    unchanged: int,
    seconds: float,
    notes: Notes = NO_NOTES,
) -> list[str]:
    """A chapter in one line, and a line for each submission that could not be graded."""
    failed = [graded for graded in results if graded.fault]
    graded = [each for each in results if not each.fault]
    new = len(results) - unchanged - len(failed)
    counts = {"graded": new, "unchanged": unchanged, "not graded": len(failed)}
    done = ", ".join(f"{count} {what}" for what, count in counts.items() if count > 0)
    parts = [f"{done or 'nothing to grade'} in {seconds:.1f} s"]
    if counting := notes.counting(chapter, graded):
        mean = sum(comparable(chapter, each, scores, notes.exempt) for each in counting) / len(counting)
        parts.append(f"mean {mean:.1f} of {number(sum(item.points for item in chapter.items))}")
    if count := to_look_at(notes.counting(chapter, results)):
        parts.append(f"{count} to be looked at")
    if count := sum(score.needs_a_human for its in scores.values() for score in its.scores.values()):
        parts.append(f"{counted(count, 'answer')} to be read")
    if count := sum(change.old is not None for change in changes):
        parts.append(f"{count} with other points than before")
    return [
        f"{chapter.id:20}  {' · '.join(parts)}",
        *(f"  {named(notes.call(each.student))}: {one_line(each.fault)}" for each in failed),
    ]


def _rank(what: What) -> int:
    if isinstance(what, Unreadable | NotSubmitted | Foreign):
        return NOT_GRADED
    return MAY_CHANGE_POINTS if may_change_points(what) else HARMLESS


def may_change_points(what: What) -> bool:
    """Whether the points might have been different without what the remark reports."""
    return not (isinstance(what, OddCell) and what.kind in _WITHOUT_EFFECT)


_WITHOUT_EFFECT = frozenset(
    {"check edited", "check missing", "check above", "check of another", "stub left", "turned to text"}
)


def _names(counts: Counter[str], most: int) -> str:
    names = [named(name) if count == 1 else f"{named(name)} ({count} times)" for name, count in counts.items()]
    more = len(names) - most
    return ", ".join(names[:most]) + (f" and {more} more" if more > 0 else "")


def remark_line(remark: Remark) -> str:
    """A remark as an instructor reads it: the notebook, the place in it, and what happened."""
    where = remark.notebook
    match remark.what:
        case OddCell(kind, name):
            text = _ODD_CELLS[kind].format(name)
        case Foreign():
            text = "contains none of this notebook's exercises. Is it from another assignment?"
        case Unreadable(reason) | NotSubmitted(reason):
            text = shortened(reason, MOST_OF_A_REASON)
        case Asks(cell):
            text = "calls input(), which returns an empty text while it is graded"
            where += f", {_place(cell, None)}"
        case OtherPython(_, theirs, ours):
            text = f"contains code that is not Python {ours}, which grades; it was written with Python {theirs}"
        case Ended(fault, exercise):
            text = fault.text
            where += f", {_place(fault.cell, exercise)}"
        case LeftOut(file, size):
            text = (
                f"{named(file)} ({size / 1e6:.1f} MB) was not available to the notebooks: too large, or too many files"
            )
        case NoTime(found):
            text = (
                f"timestamp.txt contains {named(found)}, which is no time or may be several, so the submission counts "
                f"as on time; write it {HOW}"
            )
        case OtherName(due, is_folder, taken):
            text = f"{absence(due, is_folder)}; {named(taken)} was graded instead"
        case NotImported(cell, module, reason):
            text = f"`{named(module)}` could not be imported ({named(reason)}); the lines that need it were skipped"
            where += f", {_place(cell, None)}"
        case TooLarge(exercise):
            text = "the results are too large to be judged"
            where += f", {_place(None, exercise)}"
        case OtherFiles(taken, left):
            text = f"several versions: {named(taken)} is the most complete and was graded; not graded: {some(left)}"
    return one_line(f"{where}: {text}" if where else text)


_ODD_CELLS = {
    "check of another": "the check cell of `{}` names another function; that one was graded",
    "check of a value": "the check cell of `{0}` checks more than the name of a function; `{0}` itself was graded",
    "saw a pass": "the saved output of `{}` shows a pass that grading does not confirm; compare",
    "turned to text": "the cell of `{}` had become a text cell; it was run as code",
    "magic": "the cell of `{}` begins with a magic (%%) that does not run it as Python here, so it defines nothing",
    "check edited": "the check cell of `{}` was edited; the released one was used",
    "check missing": "the check cell of `{}` was missing; it was restored",
    "check above": "the check cell of `{}` was above the cell that defines it; it was moved below",
    "undefined": "no cell defines `{}`; the released stub was inserted",
    "defined again": "`{}` is defined again below its check cell; the definition above it was graded",
    "stub left": "the released stub of `{}` was left in the notebook alongside the student's cell; it was not run",
    "cell twice": "the cell `{}` appears twice; both were run in order",
    "answer twice": "the cell `{}` appears twice; read both, and give the points in the first that is filled in",
    "answer missing": "no cell answers the question `{}`; the released empty one was restored",
    "answer beside": "the answer to `{}` continues in neighbouring cells; formgrader shows them there too",
    "picture missing": "a picture in the answer to `{}` is not in the notebook, or is too large",
}


def _place(cell: int | None, exercise: str | None) -> str:
    """The place in the notebook, with cells counted from 1."""
    if exercise is not None:
        return f"the check of {exercise}"
    return "between cells" if cell is None else f"cell {cell + 1}"


def as_tree(
    chapter: Chapter,
    results: list[Graded],
    sandboxed: bool,
    scores: ByStudent = _NO_SCORES,
    preflight: Mapping[str, Any] | None = None,
    changes: Sequence[Change] = (),
    notes: Notes = NO_NOTES,
) -> dict[str, Any]:
    """All results for another program: points, status, likely cause and what needs manual review; what was found before
    grading, and what has changed since the last run. `earned` are the points that the checks gave. `final` are the
    points that count, including an instructor's changes, or null; for a student also minus the `late_penalty`. What
    an exempt student has in an exempt notebook is left out; `exempt` names those notebooks.
    """
    students = [
        {
            "student": graded.student,
            "name": notes.names.get(graded.student, ""),
            "exempt": sorted(notes.exempt.get(graded.student, ())),
            "slip_days": _slip_days(chapter, notes.slips.get(graded.student)),
            "earned": None if graded.fault else graded.earned,
            "late_penalty": scores.get(graded.student, NOTHING).late_penalty,
            "final": None if graded.fault or not graded.verdicts else total_points(chapter, graded, scores),
            "exercises": {
                name: {
                    "earned": verdict.earned,
                    "final": final_points(name, graded, scores),
                    "points": verdict.points,
                    "status": verdict.status,
                    "cause": verdict.diagnosis.id if verdict.diagnosis else None,
                }
                for name, verdict in graded.by_exercise.items()
            },
            "questions": {
                question.id: {
                    "final": final_points(question.id, graded, scores),
                    "points": question.points,
                    "needs_a_human": scores.get(graded.student, NOTHING).of(question.id).needs_a_human,
                }
                for notebook in chapter.notebooks
                if notebook.name not in notes.exempt.get(graded.student, ())
                for question in notebook.questions
            },
            "remarks": [remark_line(remark) for remark in graded.remarks],
            "fault": graded.fault or None,
            "seconds": graded.seconds,
        }
        for graded in (each.without(notes.exempt.get(each.student, ())) for each in results)
    ]
    tree = {"format": 1, "chapter": chapter.id, "sandboxed": sandboxed, "students": students}
    return tree | {"preflight": preflight, "changes": [msgspec.to_builtins(change) for change in changes]}


def _slip_days(chapter: Chapter, slips: Slips | None) -> dict[str, int] | None:
    return None if slips is None else {"used": slips.used.get(chapter.id, 0), "left": slips.left}
