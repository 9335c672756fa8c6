"""What nbgrader loads, named in `nbgrader_config.py`.

`nbgrader_steps` (its own autograde step, which refuses to run: there is one way to grade), `nbgrader_display` (how it
shows what students wrote), `downloads` (`zip_collect`: each student's newest download), `collected` (which files of it,
for whom), `download_names` (the file names of three systems), `unpacking` (each downloaded file opened by itself,
within limits), `exchange_collect` (how `nbgrader collect` copies submissions), `plain_files` (opened without following
a link).

*Nothing that a student wrote runs in an instructor's browser.* Formgrader shares its origin with the Jupyter server.
Text cells are rendered as Markdown and cleaned with bleach, and no address in them is fetched or can be followed.
Submitted outputs are discarded, and names that nbgrader's templates would treat as markup are not graded.

*No link of a student is followed.* What is collected from the exchange is copied first, relative to open folders, plain
files only, within limits.
"""
