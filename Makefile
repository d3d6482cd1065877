# Every target does its own set-up: a fresh clone needs only make, git and Python 3.11 or newer.

PYTHON ?= python3
BIN := .venv/bin
NPM := $(BIN)/python hatch_build.py npm
READY := .venv/.ready
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.DEFAULT_GOAL := help
.PHONY: help setup web dev run test test-real check bench generate pictures format clean chromium

help:            ## what there is to type
	@grep -hE '^[a-z-]+: .*##' $(MAKEFILE_LIST) | sed -E 's/: .*##/\t/' | expand -t 12

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

web: $(READY)    ## the pages of the studio, built again when their sources changed
	@$(BIN)/python hatch_build.py

dev: $(READY)    ## the pages as you edit them, of a studio that runs already (STUDIO=http://… names another one)
	@$(NPM) exec -- vite

run: web         ## the studio, at http://127.0.0.1:8765 or the next free port
	@$(BIN)/li studio

test: check web chromium  ## everything that CI runs
	@$(NPM) test --silent
	$(BIN)/python -m pytest -n 2 --dist worksteal -q

test-real: $(READY)  ## the engines with the real Claude Code and Codex, which come from the npm registry
	$(BIN)/python -m tests.real_agents
	$(BIN)/python -m pytest -q -m real

check: $(READY)  ## format, lint and types only
	$(BIN)/ruff format --check --quiet .
	$(BIN)/ruff check --quiet .
	$(BIN)/mypy
	@$(NPM) run check --silent

bench: $(READY)  ## the benchmarks, with both sides of every ratio
	$(BIN)/python -m benchmarks

generate: $(READY)  ## what is made from the code: reference pages, and the types of the web's client
	$(BIN)/python -m docs.generate
	@$(NPM) run types --silent

pictures: web chromium  ## the pictures in docs/images, taken again
	$(BIN)/python -m docs.pictures

format: $(READY) ## put the code into shape
	$(BIN)/ruff format --quiet .
	$(BIN)/ruff check --fix --quiet .
	@$(NPM) run format --silent

# The tests of the pages need a browser that the machine brings; root on Debian gets one, others are told what to type.
chromium:
	@for name in chromium chromium-browser google-chrome; do command -v $$name >/dev/null && exit 0; done; \
	if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	  apt-get install -y -q chromium >/dev/null || { apt-get update -q && apt-get install -y -q chromium; }; \
	else echo "The tests of the pages need Chromium: sudo apt-get install chromium, or brew install chromium." >&2; exit 1; fi

clean:           ## forget what was built
	rm -rf .venv dist build web/node_modules src/lionstudio/web .mypy_cache .ruff_cache .pytest_cache .hypothesis
