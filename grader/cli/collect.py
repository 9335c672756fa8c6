"""The command for instructors that unpacks what students made with `grader submit`."""

from __future__ import annotations

import typer

from grader.cli.app import ChapterArgument, TermOption, app, course_root, err, out, term_folder, told


@app.command()
def collect(chapter: ChapterArgument, given_term: TermOption = None) -> None:
    """Unpack the zips that students made with grader submit.

    A zip in TERM/submitted/STUDENT/ or in TERM/submitted/STUDENT/CHAPTER/ is unpacked into the latter, if all its
    checksums are right, and then moved to TERM/collected/. Downloads from Canvas, Moodle and Gradescope are collected
    by nbgrader zip_collect, which also unpacks such zips.

    The exit status is 0 if every zip was unpacked, 1 if the command could not run, and 3 if some zips were not
    unpacked.
    """
    from grader.autograde.collect import collect as run
    from grader.autograde.collect import lines
    from grader.manifest import load_manifest
    from grader.render.rows import harmless
    from grader.work.archive import digest

    root = course_root()
    with told():
        found = load_manifest(root / "course.toml").chapter(chapter)
        course = digest((root / "course.toml").read_bytes())
        collected = list(run(term_folder(root, given_term), found, course))
    for line in lines(collected):
        out.print(harmless(line).replace("\n", " "), soft_wrap=True)
    bad = sum(bool(each.problems) for each in collected)
    if not collected:
        out.print("There is no zip of grader submit to unpack.")
    elif bad:
        err.print(f"{bad} of {len(collected)} zips were not unpacked.", style="red", soft_wrap=True)
        raise typer.Exit(3)
