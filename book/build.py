"""`jupyter-book` without a grammar that it never uses: `python book/build.py build …` takes two seconds less.

jupyter-book checks notebooks against their schema, and this imports a grammar for addresses, which is compiled each
time; see `grader.imports`. It comes before any extension of the book could keep it out.
"""

from grader.imports import skip_iri_grammar

skip_iri_grammar()

from jupyter_book.cli.main import main  # noqa: E402

main()
