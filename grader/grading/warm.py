"""The imports that all workers need. The process of which they are copies imports this module once."""

from __future__ import annotations

import gc

gc.disable()  # imported objects are never freed

from grader.imports import skip_iri_grammar  # noqa: E402

skip_iri_grammar()

import nbformat  # noqa: E402, F401 - for them

import grader.grading.pool  # noqa: E402, F401

gc.freeze()
gc.enable()
