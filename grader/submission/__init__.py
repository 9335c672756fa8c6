"""What a student submitted: found, matched with the release, and planned as cells to run. Nothing of it is run here.

- folders and files: `folders` (which folder belongs to whom), `names`, `files`, `timestamp`, `notebook_names` (which
  files are notebooks), `choose` (which file is which notebook)
- zips of `grader submit`: `archive` (written and verified), `bounded` (archives opened within limits), `collect`
  (unpacked into a term), `course` (the manifest as it was released)
- a notebook: `readable` (its JSON without nbformat), `notebook` (read), `match` (with the release), `plan` (which cells
  run), `bindings` (which names a cell binds), `mentions` (which it uses), `cell_names` (what it is called in a
  sentence), `check_cells` (what an edited check cell checks), `saved` (which passes the saved outputs show), `ipython`
  (IPython syntax as Python), `stateless` (which cells need no fork, which notebooks no process of their own)
- `answers` (to questions that a person grades), `pictures` (pasted into cells)
- `remark` (what an instructor should know) and `fault` (why a process ended), as values

*The notebook's definition counts.* Any binding of an exercise's name in the notebook's namespace is its definition, in
whichever cell it is. A missing stub of the release is restored only if no cell binds the name or might bind it (`from
helper import *`), and an unchanged stub next to a definition is not run. Check cells come from the release: the child
runs the function named by the exercise's id, whatever the submission has in that cell.

*A fork is left out where it could change nothing.* Cells that only import, name constants and define functions without
state leave nothing behind but names; `stateless` decides this from their syntax and errs on the side of caution.

*One upload never stops a collection.* Whatever a library raises for the bytes of an archive is a line about this file.
A zip is unpacked within bounds, and of it only files that its manifest lists.

*Questions* are cells of a separate notebook, because nbgrader's *Validate* fails a notebook with an unanswered one. An
answer is the text of its cell and of the student's own text cells next to it, with their pictures.

*Files beside notebooks*: `solutions/CHAPTER/files/` is copied to `exercises/CHAPTER/`. In grading, a submission's own
files are in the child's folder, with limits on their number and size.

IPython syntax becomes Python here, as text, so that the child does not import IPython.
"""
