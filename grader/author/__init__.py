"""Tools for authors: the release, the rules of the course, the demo class and what is packed for others.

- `course`, `course_rules`, `lint`, `lint_notes` (what has passed), `words` (that the course does not use),
  `shown_solutions`, `new` (the files of a new exercise), `watch` (checks after each save), `transcript` (all reports of
  an exercise, now and at another revision)
- `notebooks` (sources → student notebooks, by nbgrader's own steps), `release` (makes what is out of date),
  `other_ways` (a solution, why it works, another way)
- `demo_class` (submissions with known scores), `known_work` (solutions, mistakes and slips as cells), `standalone` (a
  function with what it uses), `breakages` (of notebooks), `planted` (the expected scores, and what differs from them)
- `pack` (the students' zip), `pack_texts`, `page_links`, `wheel`, `built_book`, `leaks` (what students must not see,
  and where a file shows it)
- what runs on a page: `pinned` (files fetched by their SHA-256), `packs` (files as scripts that a page can load),
  `engine` (those with which it starts Python), `in_page` (those of its exercises and code cells), `runnable` (which
  code runs there, and what has to run before it)

*Nothing is packed unsearched.* The bundle for students consists of listed files, and each of them, those in the wheel
included, is searched for solutions, specs and hidden cases before the zip is written.

Check cells are generated, because the id determines them. Page titles are in the manifest, because the shipped grader
has no book; lint compares the two. `released.txt` has no versions, because the same bytes are recorded on every
machine; CI makes everything again (`grader release --again`). `build/lint.json` keeps which rules an exercise has
passed, each with the hash of what it depends on. The sources of a course are always compiled from their text: Python
would take old bytecode for a source that was saved twice within a second and has kept its size.
"""
