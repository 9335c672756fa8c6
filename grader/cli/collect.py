"""The command for instructors that unpacks what students made with `grader submit`."""

from __future__ import annotations

import typer

from grader.cli.app import ChapterArgument, TermOption, course_root, err, instructor_command, out, term_folder, told
from grader.counts import counted


@instructor_command()
def collect(chapter: ChapterArgument, given_term: TermOption = None) -> None:
    """Unpack the zips that students made with grader submit.

    A zip in TERM/submitted/STUDENT/ or in TERM/submitted/STUDENT/CHAPTER/ is unpacked into the latter, if all its
    checksums are right, and then moved to TERM/collected/. Downloads from Canvas, Moodle and Gradescope are collected
    by nbgrader zip_collect, which also unpacks such zips.

    Every zip has its line. A zip of another chapter stays for  grader collect  of that one. One that is damaged, was
    changed, or was not made by grader submit stays where it is.

    The exit status is 0 if no zip has to be looked at, 1 if the command could not run, and 3 if some zips were not
    unpacked.
    """
    from grader.manifest import load_manifest
    from grader.submission.archive import digest
    from grader.submission.collect import collect as run
    from grader.submission.collect import lines

    root = course_root()
    with told():
        manifest = load_manifest(root / "course.toml")
        found = manifest.chapter(chapter)
        others = [each.id for each in manifest.chapters if each != found]
        course = digest((root / "course.toml").read_bytes())
        collected = list(run(term_folder(root, given_term), found, course, others))
    out.print_lines(lines(collected))
    bad = sum(bool(each.problems) for each in collected)
    if not collected:
        out.print("There is no zip of grader submit to unpack.")
    elif bad:
        of = f"{bad} of {counted(len(collected), 'zip')} {'was' if bad == 1 else 'were'} not unpacked."
        err.print(f"{of} {_WHAT_NEXT.format(found.id)}", style="red", soft_wrap=True)
        raise typer.Exit(3)


_WHAT_NEXT = "Ask for a new zip of  grader submit {0}, or unpack by hand what counts into submitted/STUDENT/{0}/."
