"""Feedback: one page for each student, from the stored result alone.

`page`, `remarks` (addressed to a student), `regrades` (requests and their answers), `solutions` (how exercises are
solved), `over` (is a chapter over for the whole class?), `write` (a whole chapter), `archives` (for the bulk upload of
Canvas and Moodle) with `choices`.

A page is `TERM/feedback/STUDENT/CHAPTER.html`, next to nbgrader's folder and not inside it, because nbgrader skips an
existing folder, or deletes it with its contents when it writes it again.
"""
