# Unrolled. `make course` builds and tries everything, `make test` checks the code, `make help` lists the rest.
# Each target is one command of `grader` or of a standard tool.

# The Python to build with, 3.11 or newer.
PYTHON ?= python3
# Where PyTorch's CPU build comes from if pip finds no wheel of it on this machine.
TORCH_INDEX ?= https://download.pytorch.org/whl/cpu

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DELETE_ON_ERROR:
python := $(shell command -v '$(PYTHON)')
export PATH := $(CURDIR)/.venv/bin:$(PATH)

BOOK := build/book/_build/html/index.html
DEMO := build/demo
DEMO_CHAPTER := ch01_vanilla_rnn
torch = $(shell grep '^torch==' constraints.txt)
course_extras := [torch,book,autograde]
extras := [torch,book,autograde,dask,postgres,similar,dev]
build_book := python book/build.py build . --path-output build/book
strict := --warningiserror --nitpick --keep-going
# All tests of a file run in one worker, so that their fixtures are made once (pages: tests/browser/conftest.py).
side_by_side := -n auto --maxprocesses 8 --dist loadfile
# With arrays as small as ours, several threads would mostly wait for one another, and tests run side by side as it is.
test system browser slow term: export OMP_NUM_THREADS := 1
test system browser slow term: export OPENBLAS_NUM_THREADS := 1
say = @printf '\n== %s\n'

.PHONY: help course demo test system sandbox book book-self-study book-instructors pack slides browser variations slow term bench constraints pins clean

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-14s %s\n", $$1, $$2 }' Makefile

course: .venv/.course ## the book, the release, a graded demo class of one chapter and where to look next
	@$(sandbox_or_not)
	@$(MAKE) --no-print-directory --jobs=2 --keep-going course-book course-demo || failed=1; \
	cat build/logs/book.line; exit $${failed:-0} # a page whose code fails is named below
	$(say) 'Where to look next'
	@echo 'the book          file://$(CURDIR)/$(BOOK)'
	@echo 'a first exercise  .venv/bin/jupyter lab exercises/ch01_vanilla_rnn/recurrence.ipynb'
	@echo 'the demo class    $(DEMO)/submitted, $(DEMO)/autograded, $(DEMO)/gradebook.db'
	@$(failed_pages)

demo: .venv/.course ## a demo class in all chapters, graded and compared with the points that it should get
	@$(sandbox_or_not)
	@$(call step,The release: exercises/ and grader/data/,release,grader release)
	@$(call graded,A demo class in every chapter,,$(DEMO)-all)

.PHONY: course-book course-demo
course-book:
	@mkdir -p build/logs; { $(call step,The book,book,$(build_book)); } > build/logs/book.line 2>&1

course-demo:
	@$(call step,The release: exercises/ and grader/data/,release,grader release)
	@$(call graded,A demo class of one chapter,--chapter $(DEMO_CHAPTER),$(DEMO))

sandbox_or_not = $(MAKE) --no-print-directory sandbox || echo 'The demo class, which is our own code, is therefore graded without the sandbox.'

# $(call graded,NAME,WHICH,FOLDER): write a demo class, grade it (what is up to date is kept), and compare its points.
graded = $(call step,$(1),demo,grader demo-class --seed 3 $(2) --out $(3)) \
&& printf '\n== %s\n' 'Grading it (what is up to date is kept)' \
&& grader autograde --all --term $(3) && grader demo-class --verify --out $(3)

test: .venv/.stamp sandbox ## style, types, tests, and the rules of the course
	ruff check .
	ruff format --check .
	mypy
	grader lint # first: tests use the checks that it keeps
	pytest $(side_by_side) --no-loadscope-reorder -m 'not browser and not slow and not system'

system: .venv/.stamp sandbox ## the tests that start nbgrader or Jupyter, kill or grade whole classes, or try every exercise at length
	@{ command -v initdb || ls /usr/lib/postgresql/*/bin/initdb; } >/dev/null 2>&1 || { $(call apt,'postgresql'); }
	pytest $(side_by_side) --no-loadscope-reorder -m system

sandbox: ## install what the sandbox for student code needs
	@command -v bwrap >/dev/null || { $(call apt,'bubblewrap libseccomp2'); }

book: .venv/.course ## the book, warnings as errors
	$(say) 'The book'
	@$(build_book) $(strict)

book-self-study: .venv/.course ## the book with collapsed solutions, for self-study
	@UNROLLED_EDITION=self-study $(build_book)-self-study $(strict)

book-instructors: .venv/.course ## the book with solutions and a page on the lecture of each chapter
	@UNROLLED_EDITION=instructors $(build_book)-instructors $(strict)

pack: .venv/.stamp ## one zip for students: the release, the book and what they install
	$(say) 'The release'
	@grader release
	@$(MAKE) --no-print-directory book
	@grader pack

slides: book ## a deck of slides for each chapter, made from the book
	@python -m slides

browser: book ## the built book, opened in Chromium and Firefox
	@{ command -v chromium && command -v firefox-esr && playwright --version; } >/dev/null 2>&1 || { $(call apt,'chromium firefox-esr libatomic1'); }
	pytest $(side_by_side) -m 'browser and not slow' tests/browser

variations: .venv/.stamp ## pages and notebooks on other processors, threads, texts and initial weights (half an hour)
	python -m tests.variations

slow: book .venv/.stamp ## the tests that take minutes, and pages and notebooks under all variations
	pytest -m slow
	@$(MAKE) --no-print-directory variations

term: .venv/.stamp sandbox ## a whole term of 40 students, from the roster to the exports, with totals known before
	python tests/whole_term.py --out build/term

bench: .venv/.stamp sandbox ## how fast a check answers, and how fast a class is graded, compared with nbgrader and Otter
	status=0; for each in check_latency autograde chapters; do python benchmarks/$$each.py || status=1; done; exit $$status

constraints: ## update constraints.txt to the newest compatible versions; PyTorch keeps its pin
	$(python) -m venv --clear build/constraints
	export PATH="$(CURDIR)/build/constraints/bin:$$PATH"; $(get_torch) && pip install uv --editable '.$(extras)'
	{ echo '# What CI tested, pinned. Regenerate: make constraints'; \
	build/constraints/bin/pip freeze --all --exclude pip --exclude-editable | sed 's/^\(torch==[^+]*\).*/\1/'; } > build/constraints.txt
	mv build/constraints.txt constraints.txt

pins: .venv/.stamp ## the SHA-256 of what pages load to run code, after book/try_here/pins.toml got other addresses
	python -m grader.author.pinned

clean: ## delete what was built; the environment and term/ are kept
	rm -rf build dist *.egg-info .mypy_cache .pytest_cache .ruff_cache

# The environment: made once, and updated when a pin or a dependency changes. `.course` has what the course needs,
# `.stamp` what tests need as well.
.venv/.course: pyproject.toml constraints.txt
	@test -n '$(python)' || { echo 'There is no $(PYTHON). Install Python 3.11 or newer, or run: make PYTHON=/path/to/python …' >&2; exit 1; }
	@'$(python)' -c 'import sys; sys.version_info >= (3, 11) or sys.exit("$(PYTHON) is Python %d.%d; the course needs 3.11 or newer. Run for example: make PYTHON=python3.12 …" % sys.version_info[:2])'
	@'$(python)' -c 'import ensurepip, venv' 2>/dev/null || { $(call apt,"$$('$(python)' -c 'import sys; print("python%d.%d-venv" % sys.version_info[:2])')"); }
	@.venv/bin/python -m pip --version >/dev/null 2>&1 || { $(call step,The environment in .venv,venv,'$(python)' -m venv --clear .venv); }
	@printf '%-44s' '$(torch)'; SECONDS=0; $(get_torch); printf '%4d s\n' $$SECONDS
	@$(call step,All other packages,packages,$(call install,$(course_extras)))
	@touch $@

.venv/.stamp: .venv/.course
	@$(call step,What tests need,packages-for-tests,$(call install,$(extras)))
	@touch $@

# Packages with these extras, in the pinned versions: with uv, which takes a tenth of pip's time, or else with pip. Both
# compile what they install, because where PYTHONDONTWRITEBYTECODE is set, every process would do it again.
install = { pip install --quiet --constraint constraints.txt uv && uv pip install --compile-bytecode --python .venv/bin/python --constraint constraints.txt --editable '.$(1)'; } || pip install --constraint constraints.txt --editable '.$(1)'

# $(call step,NAME,FILE,COMMAND): one line with the seconds that it took. What the command prints is in build/logs/FILE.log.
step = mkdir -p build/logs; printf '%-44s' '$(1)'; SECONDS=0; \
if { $(3); } > build/logs/$(2).log 2>&1; then printf '%4d s\n' $$SECONDS; \
else status=$$?; printf 'failed after %d s; all of it is in build/logs/$(2).log:\n' $$SECONDS; tail -n 25 build/logs/$(2).log | cut -c 1-200 >&2; (exit $$status); fi

# The pages that the last build of the book names, two lines for each, and what to do.
failed_pages = cat build/book/_build/no_try_here.txt 2>/dev/null || true; if [ -s build/book/_build/failed_pages.txt ]; then printf '\nThe book is complete but for this:\n'; cat build/book/_build/failed_pages.txt; \
echo "Please report it: send these lines, build/logs/book.log and what  uname -m; $(python) --version  prints."; fi

# PyTorch: from a wheel that pip finds on this machine, otherwise from TORCH_INDEX, otherwise from pip's default index.
define get_torch
trap 'exit 130' INT; pip install --quiet --no-index --no-deps $(torch) 2>/dev/null \
|| { printf '%s\n' '' 'No wheel of it on this machine. Trying $(TORCH_INDEX)'; \
PIP_EXTRA_INDEX_URL=' ' pip install --quiet --no-deps --index-url '$(TORCH_INDEX)' --timeout 15 --retries 1 $(torch) 2>/dev/null; } \
|| { echo "Not available there. Trying pip's default index: 2.7 GB on Linux with an Intel or AMD processor (it includes CUDA), 0.2 GB elsewhere"; \
pip install --constraint constraints.txt $(torch); } \
|| { printf '%s\n' '' "$(torch) could not be installed in $$(python --version). Choose one:" \
'  make $(MAKECMDGOALS) PYTHON=python3.12        a Python for which there is a wheel: 3.11, 3.12, 3.13 and 3.14 have one' \
'  make $(MAKECMDGOALS) TORCH_INDEX=URL          another index with the CPU build' \
'  PIP_FIND_LINKS=FOLDER make $(MAKECMDGOALS)    a folder with its wheel' >&2; exit 1; }
endef

# $(call apt,'PACKAGE …'): install Debian packages if we are root, otherwise print the command.
apt = packages=$(1); if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then $(call step,Debian packages,apt,$(apt_install)); \
else printf '%s\n' "This needs $$packages, which only root can install. On Debian or Ubuntu run this once:" \
"  sudo apt-get update && sudo apt-get install -y --no-install-recommends $$packages" 'and then make again.' >&2; exit 1; fi
apt_install = apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends $$packages
