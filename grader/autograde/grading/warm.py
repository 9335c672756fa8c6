"""What workers would each import at their first submission. The process that they are copies of imports this module."""

from __future__ import annotations

import gc

gc.disable()  # all that is imported stays

from grader.autograde.imports import skip_iri_grammar  # noqa: E402

skip_iri_grammar()

import nbformat  # noqa: E402, F401 - for them

import grader.autograde.grading.pool  # noqa: E402, F401

gc.freeze()
gc.enable()
