# Each command sets up in .venv what it needs: `make demo`, `make test`, `make fast`, `make docs`. constraints.txt pins the torch release they install.
PYTHON ?= python3
BIN := .venv/bin
INSTALL := $(BIN)/python -m pip install --quiet --constraint constraints.txt
# The data of tests are small: a second process helps, and a second thread does not.
JOBS ?= 2
PYTEST := OMP_NUM_THREADS=1 $(BIN)/python -m pytest --numprocesses $(JOBS) --dist worksteal

# What needs less than two minutes in all on one core. Tests of commands, methods, benchmarks and the web page take longer.
FAST := $(addprefix tests/,data evaluation fitting induction io linalg page report retrieval run search settings storage text training \
	test_aligner.py test_alignment.py test_candidates.py test_errors.py test_frames.py test_lexicon.py test_mapping.py \
	test_normalize.py test_package.py test_sample.py test_table.py)

.PHONY: demo test fast docs clean

demo: .venv/demo
	$(BIN)/bilex demo

test: .venv/test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet --site-dir build/site
	$(PYTEST)

fast: .venv/test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(PYTEST) $(FAST)

docs: .venv/test
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet --site-dir build/site

clean:
	rm -rf .venv build site

.venv/bin/python:
	$(PYTHON) -m venv .venv

# The stamps make a second call start at once; a change of the requirements installs again.
.venv/demo: pyproject.toml constraints.txt | .venv/bin/python
	$(INSTALL) --editable .
	touch $@

.venv/test: pyproject.toml constraints.txt | .venv/bin/python
	$(INSTALL) --editable '.[test,docs]'
	touch $@ .venv/demo
