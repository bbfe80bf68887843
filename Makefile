# Two commands set everything up in .venv: `make demo` and `make test`. constraints.txt pins the torch release they install.
PYTHON ?= python3
BIN := .venv/bin
INSTALL := $(BIN)/python -m pip install --quiet --constraint constraints.txt

.PHONY: demo test clean

demo: .venv/demo
	$(BIN)/bilex demo

test: .venv/test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet --site-dir build/site
	$(BIN)/python -m pytest

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
