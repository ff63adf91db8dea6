# Pawl's recipes: people, pre-commit and CI all call these. `make help` lists them.
# Needs Python >= 3.11 with venv, and make. Everything else is fetched into .venv, .tools and frontend/node_modules.

SHELL := /bin/bash
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

PYTHON ?= python3
BOOTSTRAP := $(PYTHON) -I config/services/bootstrap.py
NPM := $(BOOTSTRAP) npm
BIN := .venv/bin
SERVICES := $(BIN)/python -m config.services

PYTEST := $(BIN)/python -m pytest
REST := $(filter-out tests/unit tests/property tests/contract tests/bench tests/prove,$(patsubst %/,%,$(filter-out tests/__pycache__/,$(wildcard tests/*/))))

.PHONY: help
help:  ## this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

# ---------------------------------------------------------------- run
.PHONY: run
run: venv frontend  ## everything on this machine, until Ctrl-C
	@exec $(SERVICES) run

.PHONY: manage
manage: venv  ## one management command with the servers up: make manage CMD="shell"
	@exec $(SERVICES) exec -- $(BIN)/python manage.py $(CMD)

.PHONY: crash-demo
crash-demo: venv  ## kill the worker at step 8 and watch the run go on
	@exec $(SERVICES) --state .pawl/crash-demo --fresh exec -- $(BIN)/python manage.py crash_demo $(ARGS)

.PHONY: bench
bench: dev frontend browser  ## figures; the last line is one JSON object
	@exec $(SERVICES) --state .pawl/bench --fresh exec -- $(BIN)/python manage.py bench $(ARGS)

.PHONY: screenshots
screenshots: dev frontend browser  ## the pictures of README and docs
	@exec $(SERVICES) --state .pawl/screenshots --fresh exec -- $(BIN)/python manage.py screenshots $(ARGS)

# ---------------------------------------------------------------- check and test
.PHONY: check
check: dev  ## lint, types, contracts, unit and property tests: under two minutes
	@$(MAKE) -j2 --output-sync=target check-lint check-front check-house check-unit check-property check-types
	@echo "==> All checks passed"

.PHONY: check-lint
check-lint:
	@echo "==> Lint, format, import contracts"
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check --quiet . || { echo "Run: make format"; exit 1; }
	@$(BIN)/lint-imports --no-cache

.PHONY: check-types
check-types:
	@echo "==> Types"
	@$(SERVICES) offline -- $(BIN)/mypy

.PHONY: check-front
check-front:
	@echo "==> Front end: lint, types, tests"
	@if [ -e frontend/package.json ]; then $(NPM) run --silent check; else echo "No frontend/package.json here: left out"; fi

.PHONY: check-unit
check-unit:
	@echo "==> Unit tests; every branch of the pure packages"
	@$(BIN)/coverage erase
	@$(BIN)/coverage run -m pytest -q -p no:xdist tests/unit
	@$(BIN)/coverage report

.PHONY: check-property
check-property:
	@echo "==> Property tests (apart: counting branches takes as long again)"
	@$(PYTEST) -q -p no:xdist tests/property

.PHONY: check-house
check-house:
	@echo "==> Contracts: the rules of the house"
	@$(PYTEST) -q -p no:xdist tests/contract

.PHONY: test
test: dev frontend browser  ## everything that gates; what CI runs
	@$(MAKE) check
	@echo "==> Against real PostgreSQL, Redis and processes"
	@$(PYTEST) -q -n 2 --dist loadgroup -m "not crash and not browser and not slow" $(REST)
	@echo "==> What kills processes or takes long: file by file, each process with servers of its own"
	@$(PYTEST) -q -n 2 --dist loadfile --no-loadscope-reorder -m "(crash or slow) and not browser" $(REST)
	@echo "==> What drives a browser: one after the other"
	@$(PYTEST) -p no:xdist -m browser $(REST)

.PHONY: chaos
chaos: dev  ## real processes under mixed faults, then a verdict: make chaos DURATION_S=60 SEED=7
	@exec $(BIN)/python -m tests.chaos --duration $(or $(DURATION_S),60) $(if $(SEED),--seed $(SEED)) $(ARGS)

.PHONY: mutants
mutants: dev  ## take away one guard of the engine at a time: its test must fail
	@$(BIN)/python tests/mutants/run.py $(ARGS)

.PHONY: prove
prove: dev  ## all that takes long, written to docs/proof: make prove ARGS="--jobs 2 chaos mutants" for some parts
	@$(BIN)/python -m tests.prove $(ARGS)

.PHONY: format
format: dev  ## let ruff and biome lay out the sources
	@$(BIN)/ruff check --fix-only --quiet .
	@$(BIN)/ruff format --quiet .
	@if [ -e frontend/package.json ]; then $(NPM) run --silent format; fi

# ---------------------------------------------------------------- generated files
.PHONY: openapi
openapi: dev  ## openapi.yaml and the front end's types, from the server's code
	@$(SERVICES) offline -- $(BIN)/python manage.py spectacular --validate --fail-on-warn --file openapi.yaml
	@$(NPM) run --silent api

.PHONY: docs
docs: dev  ## the parts of docs/ that are made from the code
	@$(SERVICES) offline -- $(BIN)/python manage.py write_docs

LOCK := $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-annotate \
	--no-emit-index-url --no-emit-find-links --custom-compile-command 'make lock'

.PHONY: lock
lock: dev  ## newer packages: requirements/*.in -> requirements/*.txt (ARGS=--upgrade)
	@$(LOCK) $(ARGS) requirements/core.in requirements/ocr.in -o requirements/run.txt
	@$(LOCK) $(ARGS) requirements/core.in requirements/ocr.in requirements/dev.in -c requirements/run.txt -o requirements/dev.txt
	@$(LOCK) $(ARGS) requirements/rabbitmq.in -o requirements/rabbitmq.txt
	@$(LOCK) $(ARGS) requirements/node.in -o requirements/node.txt

# ---------------------------------------------------------------- bootstrap
.PHONY: venv dev frontend browser
venv:  # what running needs
	@$(BOOTSTRAP) venv
dev:  # what testing needs as well
	@$(BOOTSTRAP) venv-dev
frontend:
	@$(BOOTSTRAP) frontend
browser:
	@$(BOOTSTRAP) browser

.PHONY: clean
clean:  ## drop what was built and the demo's data; refuses while Pawl runs
	@$(PYTHON) -I config/services/cleaning.py
