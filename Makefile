# `make demo` shows the tool at work, `make test` proves it. Both make .venv on their first run, from hashed requirements.
.DEFAULT_GOAL := help
.SUFFIXES:
MAKEFLAGS += --no-print-directory

# The newest Python that the locked requirements serve, and that can make a virtual environment.
FIND_PYTHON = for name in python3.14 python3.13 python3.12 python3.11 python3; do \
	"$$name" -c 'import ensurepip, sys, venv; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 14))' 2>/dev/null \
	&& { command -v "$$name"; break; }; done
PYTHON ?= $(shell $(FIND_PYTHON))
BIN := .venv/bin
PIP_INSTALL := $(BIN)/python -m pip install -qq --no-input --disable-pip-version-check
COMPILE := $(BIN)/uv pip compile pyproject.toml --extra sandbox --universal --python-version 3.11 \
	--generate-hashes --no-header --no-annotate --no-emit-options --quiet

.PHONY: help demo test lint types layers unit bench docs format lock clean
help: ## show this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-8s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: .venv/.runtime ## MIG on GKE and AKS, time-slicing on EKS, in the sandbox: no account needed
	@docs/demo.sh

test: lint types layers unit ## all that must hold before a change is merged

lint: .venv/.dev ## ruff: rules and format
	$(BIN)/ruff check
	$(BIN)/ruff format --check

types: .venv/.dev ## mypy, strict
	$(BIN)/mypy

layers: .venv/.dev ## import-linter: who may import whom
	$(BIN)/lint-imports

unit: .venv/.dev ## pytest
	$(BIN)/python -m pytest

bench: .venv/.dev ## how long it takes, and how much memory
	@set -e; for file in benchmarks/*.py; do echo "$$file"; $(BIN)/python "$$file"; done

docs: .venv/.dev ## write the generated reference, and what console blocks really show
	$(BIN)/python docs/generate.py
	$(BIN)/python docs/console.py

format: .venv/.dev ## let ruff put the code in order
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

lock: .venv/.dev ## pin the newest releases that fit pyproject.toml, with hashes for every platform
	$(COMPILE) --upgrade --group build --output-file requirements.txt
	$(COMPILE) --upgrade --group dev --constraints requirements.txt --output-file requirements-dev.txt

clean: ## remove what make made
	rm -rf .venv build dist .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	find fracgpu tests -name __pycache__ -type d -prune -exec rm -rf {} +

.venv/bin/python:
	@test -n "$(PYTHON)" || { echo "fracgpu needs Python 3.11 to 3.14 with venv. Install one, or say which: make PYTHON=/path/to/python3" >&2; exit 1; }
	@echo "making .venv with $(PYTHON)"
	@$(PYTHON) -m venv .venv

.venv/.runtime: .venv/bin/python requirements.txt pyproject.toml
	@echo "installing requirements.txt"
	@$(PIP_INSTALL) --require-hashes -r requirements.txt
	@$(PIP_INSTALL) --no-deps --no-build-isolation --editable .
	@touch $@

.venv/.dev: .venv/.runtime requirements-dev.txt
	@echo "installing requirements-dev.txt"
	@$(PIP_INSTALL) --require-hashes -r requirements-dev.txt
	@touch $@
