# Every target does its own set-up: a fresh clone needs only make, git and Python 3.11 or newer.

PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.DEFAULT_GOAL := help
.PHONY: help setup run test check bench generate format clean

help:            ## what there is to type
	@grep -hE '^[a-z]+: .*##' $(MAKEFILE_LIST) | sed -E 's/: .*##/\t/' | expand -t 12

$(READY): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit("Python 3.11 or newer is needed: make PYTHON=…" if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv .venv
	PIP_CONSTRAINT=constraints.txt $(BIN)/pip install --quiet --editable '.[dev]'
	@# lionagi brings a command `li` of its own; whoever is installed last has the name.
	PIP_CONSTRAINT=constraints.txt $(BIN)/pip install --quiet --force-reinstall --no-deps --editable .
	@# An installed package comes with its bytecode; without it every start would compile the sources again.
	$(BIN)/python -m compileall -q src
	@touch $@

setup: $(READY)  ## the virtual environment .venv, with `li` in it

run: $(READY)    ## the studio, at http://127.0.0.1:8765 or the next free port
	@$(BIN)/li studio

test: check      ## everything that CI runs
	$(BIN)/python -m pytest -n 2 --dist worksteal -q

check: $(READY)  ## format, lint and types only
	$(BIN)/ruff format --check --quiet .
	$(BIN)/ruff check --quiet .
	$(BIN)/mypy

bench: $(READY)  ## the benchmarks, with both sides of every ratio
	$(BIN)/python -m benchmarks

generate: $(READY)  ## the parts of the documentation that are made from the code
	$(BIN)/python -m docs.generate

format: $(READY) ## put the code into shape
	$(BIN)/ruff format --quiet .
	$(BIN)/ruff check --fix --quiet .

clean:           ## forget what was built
	rm -rf .venv dist build .mypy_cache .ruff_cache .pytest_cache .hypothesis
