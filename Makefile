# What the course can do. Each target sets up what it needs on first use.
# Works with GNU make from 3.81 on, which is what macOS has.

SHELL := /bin/sh
PY := .venv/bin/python
LESSONS := $(sort $(wildcard solutions/*/*.ipynb))
DOLOS := autograder/similarity/dolos
COSMIC_RAY := build/cosmic-ray/cosmic_ray
TRITON := build/triton/triton
UV := build/uv/bin/uv
LEFT_OUT := $(if $(NO_BROWSER), and not browser)$(if $(NO_SANDBOX), and not sandbox)

# Without bytecode each of the tests' some hundred processes would compile the course anew.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help setup lock data models lab demo test test-all test-thorough test-submissions matrix bench \
    build site ready browser sandbox similar similar-if-possible mutants mutants-if-possible triton triton-if-possible \
    pyodide pyodide-if-possible
.DEFAULT_GOAL := help

help:
	@echo "make lab      open Home and the lessons in JupyterLab (LESSON=01 to open that one)"
	@echo "make data     get the real data of lessons from 06 on, once (about 150 MB)"
	@echo "make models   train the models that pages run, once (about 11 minutes; make data first)"
	@echo "make demo     grade a class of 32, three lessons: table, reports, feedback, messages, LMS files"
	@echo "make test     check the repository: style, types, notebooks, tests"
	@echo "make test-all run the thorough tests that make test leaves out (half an hour)"
	@echo "make matrix   show which case catches which misconception"
	@echo "make mutants  show which changes of the references, made by a tool, no case sees"
	@echo "make bench    measure the speed of checks and grading into build/bench.json"
	@echo "make build    build the lessons' notebooks from their text sources (LESSON=01 for one)"
	@echo "make site     build the reading edition, a book of all lessons, into build/site"
	@echo "              (SERVE=1 to serve it: its pages check answers; PYODIDE=folder to host Python too)"
	@echo "make sandbox  install bubblewrap, which shuts submissions in while they are graded"
	@echo "make similar  install Dolos, which compares submissions (needs Node.js 18 or newer)"
	@echo "make triton   install Triton (Linux, 1 GB): the tests run the GPU kernels of lesson 14 with it"
	@echo "make setup    install what the others need, into .venv"
	@echo "make lock     write requirements.lock after a change of pyproject.toml"
	@echo "              (UPGRADE=1 to take the newest versions)"

setup: ready
	@echo "Ready: $$($(PY) --version) in .venv."

# For every system and every Python from the oldest that is promised on.
lock: ready $(UV)
	@UV_CUSTOM_COMPILE_COMMAND="make lock" $(UV) pip compile pyproject.toml --quiet \
	  --universal --python-version=3.11.2 --extra=dask --extra=dev --extra=grade \
	  --extra=site --extra=torch $(if $(UPGRADE),--upgrade) --output-file=requirements.lock
	@echo "requirements.lock is written. make test installs from it, and tests it."

$(UV):
	@$(PY) -m pip install --quiet --disable-pip-version-check --no-deps \
	  --target build/uv uv==0.13.9

data: ready
	@$(PY) -m course_lib.corpora

models: ready data
	@$(PY) -m course_lib.nn.models

lab: ready
	@$(PY) -m autograder lab $(LESSON) $(LAB_OPTIONS)

demo: ready
	@$(PY) -m autograder demo

matrix: ready
	@$(PY) -m autograder matrix

# cosmic-ray's operators, without what it needs to run: see tests/mutants.
mutants: ready $(COSMIC_RAY)
	@$(PY) -m tests.mutants

$(COSMIC_RAY): tests/mutants/requirements.txt
	@$(PY) -m pip install --quiet --disable-pip-version-check --no-deps --upgrade \
	  --target $(dir $(COSMIC_RAY)) --requirement tests/mutants/requirements.txt
	@touch $@

# Without a network the test of the mutants is left out.
mutants-if-possible: ready
	@$(MAKE) --no-print-directory --silent $(COSMIC_RAY) \
	  || echo "cosmic-ray cannot be installed: the test of the mutants is left out."

# What runs flash_attention's kernels without a GPU. A PyTorch that is built for GPUs has
# brought a Triton of its own, which may be another version.
triton: ready $(TRITON)
	@echo "Ready: Triton in $(dir $(TRITON))"

$(TRITON): tests/nn/requirements-triton.txt
	@$(PY) -m pip install --quiet --disable-pip-version-check --no-deps --upgrade \
	  --target $(dir $(TRITON)) --requirement tests/nn/requirements-triton.txt
	@touch $@

# Without a network, or on another system than Linux, the kernels' tests are left out.
triton-if-possible: ready
	@$(PY) -m pip freeze --quiet | grep -xFf tests/nn/requirements-triton.txt >/dev/null \
	  || $(MAKE) --no-print-directory --silent $(TRITON) \
	  || echo "Triton cannot be installed: the tests of its kernels are left out."

# Python for the browser: the tests of pages that answer run with it, without its network.
pyodide: ready
	@$(PY) -m tests.site.pyodide

pyodide-if-possible:
	@$(MAKE) --no-print-directory --silent pyodide \
	  || echo "Pyodide cannot be had: the tests of pages that answer are left out."

bench: ready data
	@$(PY) -m tests.benchmarks

build: ready
	@$(PY) -m autograder build $(LESSON)

site: ready
	@$(PY) -m autograder site $(LESSON) $(if $(PYODIDE),--pyodide "$(PYODIDE)") \
	  $(if $(SERVE),--serve)

# Four processes share the tests, the docstrings' examples and the notebooks' cells: many
# wait more than they compute. What judges with short limits of time comes last, in two;
# all of that needs the sandbox. What takes long and seldom fails alone is marked
# `thorough`: `make test` leaves it to `make test-all`, which runs nothing else.
PYTEST := $(PY) -m pytest -p tests.early --dist=loadscope --no-loadscope-reorder --durations=25
BESIDE := $(PYTEST) --numprocesses=4 --doctest-modules --nbval \
    $(LESSONS) tests course_lib autograder
ALONE := $(PYTEST) --numprocesses=2 $$(grep -rl --include='*.py' mark.alone tests)

# Says what comes, runs it, and says how long it took. pytest says that itself.
timed = @echo "$(1) …"; start=$$(date +%s); $(2) || exit; \
    echo "$(1): $$(($$(date +%s) - start)) s"

test: ready browser sandbox data similar-if-possible
	$(call timed,Checking the style (ruff),$(PY) -m ruff check . && $(PY) -m ruff format --check .)
	$(call timed,Checking the types (mypy),$(PY) -m mypy)
	$(call timed,Comparing the notebooks with their sources,$(PY) -m autograder build --check)
	@echo "Running the tests, the examples in docstrings and the notebooks (pytest) …"
	@$(BESIDE) -m "not thorough and not alone$(LEFT_OUT)"
	@test -n "$(NO_SANDBOX)" || echo "Running those that need the machine alone (pytest) …"
	@test -n "$(NO_SANDBOX)" || $(ALONE) -m "alone and not thorough$(LEFT_OUT)"

test-all: test-thorough test-submissions

test-thorough: ready browser sandbox data similar-if-possible mutants-if-possible triton-if-possible \
    pyodide-if-possible
	@echo "Running the thorough tests and the notebooks that train (pytest) …"
	@$(BESIDE) -m "thorough and not alone$(LEFT_OUT)"

test-submissions: ready sandbox
	@test -n "$(NO_SANDBOX)" || echo "Running the rest of the hostile submissions (pytest) …"
	@test -n "$(NO_SANDBOX)" || $(ALONE) -m "thorough and alone$(LEFT_OUT)"

browser: ready
	@test -n "$(NO_BROWSER)" || $(PY) -I autograder/system.py browser

sandbox: ready
	@test -n "$(NO_SANDBOX)" || $(PY) -I autograder/system.py sandbox

# What package-lock.json says, and nothing of it is run while it is installed.
similar: $(DOLOS)/node_modules/.package-lock.json

$(DOLOS)/node_modules/.package-lock.json: $(DOLOS)/package-lock.json
	@command -v npm >/dev/null || { echo "Dolos needs Node.js 18 or newer with npm:" \
	  "install it (https://nodejs.org), and call again." >&2; exit 1; }
	@npm ci --prefix $(DOLOS) --ignore-scripts --no-audit --no-fund --loglevel=error
	@echo "Ready: autograder similar."

# Without Node.js or a network the tests of `autograder similar` are left out.
similar-if-possible:
	@test -z "$$(command -v npm)" || $(MAKE) --no-print-directory --silent similar \
	  || echo "Dolos cannot be installed: tests of autograder similar are left out."

# The stamp in .venv says what was installed, so that this is quick the second time.
# PYTHON=... names the Python to use; otherwise the tested version comes first.
ready:
	@$(PY) -I autograder/system.py check 2>/dev/null && exit; \
	set -- python3.11 python3.12 python3.13 python3 python; \
	if [ -n "$$PYTHON" ]; then set -- "$$PYTHON"; fi; \
	found=none; \
	for name do \
	  version=$$("$$name" -c 'import sys; print("%d.%d" % sys.version_info[:2])' \
	    2>/dev/null) || continue; \
	  found="$$version ($$name)"; \
	  if "$$name" -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then \
	    exec "$$name" -I autograder/system.py setup; \
	  fi; \
	done; \
	echo "The course needs Python 3.11 or newer, and found $$found: install" \
	  "one, or name it with PYTHON=/path/to/python." >&2; \
	exit 1
