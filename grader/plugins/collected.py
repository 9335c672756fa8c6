"""Which downloaded files are collected, for whom and under which names. What is left out or unexpected is logged.

`downloads` finds the files and calls these functions one after another.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from pathlib import Path

from grader.counts import counted
from grader.gradebook.people import GROUPS, People
from grader.plugins.download_names import DownloadedFile, Unclear, below, impossible, owner
from grader.shown import one_form, some
from grader.submission.bounded import same_name
from grader.term_settings import NAME

TEST_STUDENT = "studenttest"  # how Canvas writes "Student, Test" in the names of files
Files = dict[Path, DownloadedFile]
Log = Callable[[str], None]


def possible(files: Files, log: Log) -> Files:
    """The files whose students' names and own names can be those of folders and files, and are no paths."""
    problems = {path: impossible(found.student) or impossible(found.name) for path, found in files.items()}
    for path in [path for path, problem in problems.items() if problem]:
        log(f"Not collected: {path}: {problems[path]}. Put it into submitted/STUDENT/CHAPTER/ by hand.")
    return {path: found for path, found in files.items() if not problems[path]}


def told_apart(files: Files, log: Log) -> Files:
    """Add Moodle's participant number to the name of students who share it."""
    numbers: dict[str, set[str]] = {}
    for found in files.values():
        if found.participant:
            numbers.setdefault(found.student, set()).add(found.participant)
    twice = {student: sorted(its) for student, its in numbers.items() if len(its) > 1}
    for student, its in twice.items():
        names = ", ".join(f"{student}_{number}" for number in its)
        log(f"{len(its)} students are called {student}. They are collected as {names}. Rename these folders.")
    return {
        path: found._replace(student=f"{found.student}_{found.participant}")
        if found.participant and found.student in twice
        else found
        for path, found in files.items()
    }


def of_newest_downloads(files: Files, archives: Path, log: Log) -> Files:
    """For each student only the files of the newest download, which contains a whole submission."""
    downloads: dict[str, set[str]] = {}
    for found in files.values():
        if found.download:
            downloads.setdefault(found.student, set()).add(found.download)
    newest = {
        student: max(its, key=lambda download: (_age(archives, download), download))
        for student, its in downloads.items()
    }
    for student, its in downloads.items():
        if left := ", ".join(sorted(its - {newest[student]})):
            log(f"The submission of {student} is collected from {newest[student]}, which is newer than {left}.")
    return {path: found for path, found in files.items() if found.download in ("", newest.get(found.student))}


def _age(archives: Path, download: str) -> float:
    """When the archive of this download was last modified."""
    names = [f"{download}{ending}" for ending in ("", ".zip", ".gz", ".tar.gz")]
    return max((path.stat().st_mtime for name in names if (path := archives / name).exists()), default=0.0)


def newest_uploads(files: Files, notebook_of: Callable[[Path], str], log: Log) -> Files:
    """Only the newest of the uploads that Canvas numbered for one notebook, or for a file beside it. Files that a
    student numbered themselves are none: they are several notebooks, or no file of their name has no number.
    """
    of_name: dict[tuple[Path, str, str], list[Path]] = {}
    for path, found in files.items():
        of_name.setdefault((path.parent, found.student, found.unnumbered), []).append(path)
    kept: Files = {}
    older: dict[str, list[str]] = {}
    for (_, _, unnumbered), paths in of_name.items():
        kinds = {path: notebook_of(path) for path in paths} if len(paths) > 1 else {}
        is_numbered = all(files[path].name != unnumbered for path in paths)
        by_student = len(set(kinds.values()) - {""}) > 1 or (is_numbered and "" in kinds.values())
        uploads: dict[str | Path, list[Path]] = {}  # of one file: by the notebook, or each alone
        for path in paths:
            uploads.setdefault((kinds[path] or path) if by_student else "", []).append(path)
        for its in uploads.values():
            newest = max(its, key=lambda path: files[path].upload)
            kept[newest] = files[newest] if by_student else files[newest]._replace(name=unnumbered)
            older.setdefault(newest.name, []).extend(path.name for path in its if path != newest)
    for taken, names in older.items():
        if names:
            log(f"Skipped, because {taken} is newer: {some(names)}")
    return kept


def tell_rest(files: list[Path], downloads: Collection[tuple[str, ...]], log: Log) -> None:
    """Log which other files are not collected."""
    of: dict[str, list[str]] = {}
    for path in files:
        student = owner(path.parts[below(path.parts, downloads) :])
        of.setdefault(student, []).append(path.name if student else str(path))
    for student, names in of.items():
        if student:
            log(f"Not collected, because files with these endings or names are not: {some(names)} of {student}.")
        else:
            log(f"Not collected, because these names tell no student: {some(names)}. Sort them by hand.")


def tell_unclear(files: Mapping[Path, Unclear], log: Log) -> None:
    """Log which files may be several students'."""
    if files:
        ids = some(sorted({id_ for unclear in files.values() for id_ in unclear.ids}))
        log(
            f"Not collected, because these names may be those of several students ({ids}): "
            f"{some([path.name for path in files])}. Import the roster with  grader roster  and collect again, or sort "
            "them by hand."
        )


def of_one_person(files: Files, log: Log) -> Files:
    """No student's files come from two people: one download calls each of them by one name."""
    called: dict[tuple[str, str], set[str]] = {}
    for found in files.values():
        called.setdefault((found.student, found.download), set()).add(found.called)
    several = {key for key, names in called.items() if len(names) > 1}
    for student, download in sorted(several):
        names = some(sorted(called[student, download]))
        where = f" in {download}" if download else ""
        log(f"Not collected: {student}: files of several people would go there: {names}{where}. Sort them by hand.")
    return {path: found for path, found in files.items() if (found.student, found.download) not in several}


def of_groups(files: Files, people: People, folder: Path, log: Log) -> dict[Path, tuple[Path, DownloadedFile]]:
    """For each member of a group except the one that submitted, where copies of its files go, what they are copies of,
    and what each is. A group among `files` becomes its first member.
    """
    members: dict[Path, tuple[str, ...]] = {}
    for path, found in files.items():
        listed = people.members(found.called)
        its = listed if found.is_group else (found.student, *found.others, *listed)
        if len(set(its)) > 1 or (found.is_group and its):
            members[path] = tuple(dict.fromkeys(its))
            files[path] = found._replace(student=its[0], is_group=False)
    by = {found.student: found.called for found in files.values()}
    copies: dict[Path, tuple[Path, DownloadedFile]] = {}
    folders: dict[tuple[str, Path], str] = {}
    twice: dict[str, set[str]] = {}
    for path, its in members.items():
        found = files[path]
        for member in its[1:]:
            if problem := impossible(member):
                log(f"Not collected: a member of {found.called}: {problem}.")
            elif (taken := by.setdefault(member, found.called)) != found.called:
                twice.setdefault(member, set()).add(f"{found.called} (collected: {taken})")
            else:
                number = folders.setdefault((member, path.parent), str(len(folders)))
                copies[folder / "copies for groups" / number / path.name] = path, found._replace(student=member)
    for member, names in twice.items():
        log(f"{member} has another submission than that of a group, so not collected for them: {some(sorted(names))}.")
    return copies


def without_test_student(files: Files, people: People) -> Files:
    """The files without those of Canvas's test student, which teachers make to see what students see. It is left out of
    the roster, so without one nothing tells it from a student of this name.
    """
    if not people.ids:
        return files
    pretended = {f.student for f in files.values() if f.upload and f.called == TEST_STUDENT} - people.ids
    return {path: found for path, found in files.items() if found.student not in pretended}


def tell_strangers(files: Files, people: People, log: Log) -> None:
    """Log who may be a group, and who is not in the roster."""
    groups = {found.student for found in files.values() if found.is_group}
    of_canvas = {
        f"{found.called} (collected for {found.student} only)"
        for found in files.values()
        if found.upload and not people.members(found.called) and people.may_be_group(found.student, found.called)
    }
    if groups or of_canvas:
        log(
            f"These may be groups and not students: {some(sorted(groups | of_canvas))}. To collect the submission of a "
            f"group for each of its members, list them in {GROUPS} beside {NAME}, with the columns group and id, and "
            "collect again with --force."
        )
    strangers = {found.student for found in files.values()} - people.ids - groups
    if people.ids and strangers:
        log(f"Not in the roster: {some(sorted(strangers))}. They are collected under these names.")


def tell_count(files: Files, log: Log) -> None:
    """Log what is collected, and whom Canvas marks as late: no file says so once they are collected."""
    students = {found.student for found in files.values()}
    log(f"Collected {counted(len(files), 'file')} of {counted(len(students), 'student')}.")
    if late := sorted({found.student for found in files.values() if found.late}):
        log(f"Canvas marks as late: {', '.join(late)}. It does not say when they submitted; grader times enters it.")


def with_own_names(files: Files, log: Log) -> Files:
    """Rename a student's file if another of their files has the same name on some system."""
    given: set[tuple[str, str]] = set()
    others: dict[str, list[str]] = {}
    renamed = {}
    for path, found in files.items():
        found = found._replace(name=one_form(found.name))
        name, number = found.name, 1
        while (key := (found.student, same_name(name))) in given:
            number += 1
            long = f"{path.parent.name}_{found.name}"
            name = f"{number}_{found.name}" if number > 2 or impossible(long) else long
        if number > 1:
            others.setdefault(found.student, []).append(f"{found.name} as {name}")
        given.add(key)
        renamed[path] = found._replace(name=name)
    for student, names in others.items():
        log(f"{student} has several files of one name. Collected under another one: {some(names)}.")
    return renamed
