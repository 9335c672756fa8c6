"""Slides for lectures: `python -m slides` makes a reveal.js deck of each chapter out of the built book.

A deck is a short file of texts beside this one, `CHAPTER.md`. What it shows beyond them, it takes from the pages:
a figure by its name, an equation by its label, code by one of its lines, a number by the name it is glued under. So a
slide changes with its page, and a reference that the book does not have is an error with the file and the line.

- `source`: the texts of a deck, and what may stand in them
- `book`: the built book, and the pieces that slides take from it
- `panels`: plots whose panels are stacked on a page, side by side on a slide
- `deck`: the HTML of a deck
- `site`: the folder of all decks, with reveal.js, MathJax and the book's style sheets

It reads the built book and `course.toml`, and imports of `grader` only what reads those.
"""
