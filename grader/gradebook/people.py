"""The people of a term: which student of the roster, or which group, a name or a number in a download stands for.

Without a roster, a name in a download is the student's id. With one, a name that is no id is looked up in what else the
roster tells: the id of another system, the name, the e-mail address. It counts only if it is one student's.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from grader.errors import ExpectedError
from grader.gradebook.roster import Student
from grader.sheets import original, read_sheet
from grader.shown import named, one_form

GROUPS = "groups.csv"
_EXAMPLE = "It begins with a line  group,id  and has a line for each member of each group, such as  Team Red,12345."


class GroupsError(ExpectedError):
    """`groups.csv` contains a mistake; the message says which, and how to write it."""


def alike(name: str) -> str:
    """The letters and digits of a name, without differences in case and form. Canvas leaves out everything else."""
    return re.sub(r"[\W_]+", "", unicodedata.normalize("NFKC", name)).casefold()


@dataclass(frozen=True)
class People:
    """The ids of the roster, empty if there is none; the id for each other name that is one student's alone; and the
    members of each group, by its name as `alike` gives it. `names` are those of each student, as `alike` gives them.
    """

    ids: frozenset[str] = frozenset()
    others: Mapping[str, str] = field(default_factory=dict)
    groups: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    names: Mapping[str, frozenset[str]] = field(default_factory=dict)

    def student(self, name: str) -> str | None:
        """The id of the student whom a download calls so; None if the roster has no such student. In an e-mail address,
        capitals make no difference.
        """
        return name if name in self.ids else self.others.get(name.casefold() if "@" in name else name)

    def members(self, group: str) -> tuple[str, ...]:
        """The ids of a group's members; empty if `groups.csv` has no such group."""
        return self.groups.get(alike(group), ())

    def may_be_group(self, student: str, called: str) -> bool:
        """Whether what Canvas calls a submission is probably not its student's name, which is written in one word."""
        names = self.names.get(student)
        return "_" in called if names is None else alike(called) not in names


def people(students: Iterable[Student], groups: Mapping[str, tuple[str, ...]] | None = None) -> People:
    """What these students of the gradebook tell. Those that grading added, with nothing but an id, are no roster."""
    known = [student for student in students if student.is_known]
    ids = frozenset(one_form(student.id) for student in known)
    others: dict[str, set[str]] = {}
    for student in known:
        full = f"{student.first_name} {student.last_name}".strip()
        addresses = (text.casefold() for text in (student.email, student.id) if "@" in text)
        for name in (student.lms_user_id, full, *addresses):
            if name:
                others.setdefault(one_form(name), set()).add(one_form(student.id))
    single = {
        name: next(iter(its)) for name, its in others.items() if len(its) == 1 and (name not in ids or name in its)
    }
    names = {
        one_form(s.id): frozenset({alike(s.first_name + s.last_name), alike(s.last_name + s.first_name)})
        for s in known
        if s.first_name or s.last_name
    }
    return People(ids, single, groups or {}, names)


def read_groups(term: Path) -> dict[str, tuple[str, ...]]:
    """The members of each group in the term's `groups.csv`; empty if there is no such file. Raises GroupsError,
    ExchangeError, OSError.
    """
    path = term / GROUPS
    if not path.is_file():
        return {}
    sheet = read_sheet(path)
    columns = sheet.columns()
    if not {"group", "id"} <= columns.keys():
        found = ", ".join(map(named, sheet.header))
        raise GroupsError(f"{path}: the columns are {found}, and group and id are needed. {_EXAMPLE}")
    members: dict[str, list[str]] = {}
    group_of: dict[str, str] = {}
    for line in sheet.lines:
        group, id_ = (one_form(original(line.cells[columns[name]], sheet.delimiter)) for name in ("group", "id"))
        if not alike(group) or not id_:
            raise GroupsError(f"{path}, line {line.number}: it needs a group and an id. {_EXAMPLE}")
        if group_of.setdefault(id_, group) != group:
            raise GroupsError(
                f"{path}, line {line.number}: {named(id_)} is in two groups, {named(group_of[id_])} and {named(group)}."
            )
        its = members.setdefault(alike(group), [])
        its += [id_] if id_ not in its else []
    return {group: tuple(its) for group, its in members.items()}
