"""What students see only once a chapter is over, as secrets that `find_leaks` searches files for."""

import re
from html import escape

from grader.author.course import Course
from grader.author.leaks import Secrets, squeezed, statements
from grader.author.other_ways import Solved, solved_chapter

LONG = 40  # characters, squeezed, of words that stand nowhere else


def kept_back(course: Course) -> Secrets:
    """Another way to solve each exercise, by its statements, and why its solution works, by its words."""
    given = squeezed("\n".join(cell.source for made in course.made for cell in made.student.cells))
    words: dict[str, str] = {}
    ways: dict[tuple[str, str], list[str]] = {}
    for chapter in course.manifest.chapters:
        for name, each in solved_chapter(course, chapter).items():
            its = dict.fromkeys(plain_words(each), f"{name} (why it works)")
            assert its, f"{name}: nothing of why it works can be searched for"
            words |= its
            pieces = dict.fromkeys(map(squeezed, statements(each.way)))
            if left := [piece for piece in pieces if piece not in given]:  # not if it is as small as `return E[ids]`
                ways["another way", name] = left
    return Secrets(words, ways)


def plain_words(found: Solved) -> list[str]:
    """Why a solution works, squeezed, without code, formulas and emphasis, which a page marks up: what is between."""
    between = map(squeezed, re.split(r"`[^`]+`|\$[^$]+\$|\*", found.why))
    return [piece for piece in between if len(piece) >= LONG]


def planted(course: Course, exercise_id: str) -> dict[str, tuple[str, bytes]]:
    """Files that show something of an exercise that is kept back, each with what `find_leaks` has to say of it."""
    found = solved_chapter(course, course.manifest.place(exercise_id).chapter)[exercise_id]
    coloured = "".join(f"<span>{escape(word)}</span> " for word in found.way.split())
    why = f"of the solution of {exercise_id} (why it works)"
    return {
        "a page": (why, f"<p>{escape(found.why)}</p>".encode()),
        "a way on a page": (f"{exercise_id} of another way", f"<pre>{coloured}</pre>".encode()),
    }
