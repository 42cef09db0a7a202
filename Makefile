# Every target does its own set-up. `make help` lists them.
.DEFAULT_GOAL := help
SHELL := /bin/sh
PYTHON ?=
VENV := .venv
BIN := $(VENV)/bin
HOST_PORT ?= 8000
UV ?= uv
export PIP_DISABLE_PIP_VERSION_CHECK = 1

.PHONY: help
help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-15s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

# One environment; a stamp per requirement file, so that a second start installs nothing.
$(VENV)/bin/python:
	@python=$$(PYTHON="$(PYTHON)" scripts/find-python) && "$$python" -m venv $(VENV)

$(VENV)/.base: requirements/base.txt pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --require-hashes -r requirements/base.txt
	$(BIN)/python -m pip install --quiet --no-deps --no-index --no-build-isolation --editable .
	@touch $@

$(VENV)/.dev: requirements/dev.txt $(VENV)/.base
	$(BIN)/python -m pip install --quiet --require-hashes -r requirements/dev.txt
	@touch $@

# What the benchmarks compare with, and nothing else needs.
$(VENV)/.bench: $(wildcard requirements/bench.txt) $(VENV)/.dev
	@if [ -f requirements/bench.txt ]; then $(BIN)/python -m pip install --quiet --require-hashes -r requirements/bench.txt; fi
	@touch $@

.PHONY: setup
setup: $(VENV)/.dev ## Make the environment with everything for development

.PHONY: demo
demo: $(VENV)/.base ## Start the planner with a synthetic fleet on this machine
	@exec $(BIN)/python manage.py demo --port $(HOST_PORT)

.PHONY: run
run: $(VENV)/.base ## Start the planner without the demo fleet
	@exec $(BIN)/python manage.py demo --empty --port $(HOST_PORT)

.PHONY: test
test: $(VENV)/.dev ## All tests that need no service
	$(BIN)/python -m pytest -n 2 --ignore=tests/services --ignore=tests/browser --ignore=tests/cluster

.PHONY: test-services
test-services: $(VENV)/.dev ## Tests on PostgreSQL, Redis and real Celery workers
	scripts/with-services sh -c 'export PLANNER_DATABASE_URL=$$PLANNER_TEST_POSTGRES_URL && $(BIN)/python -m pytest tests/planner && PLANNER_BROKER_URL=$$PLANNER_TEST_REDIS_URL $(BIN)/python -m pytest tests/services'

.PHONY: test-browser
test-browser: $(VENV)/.dev ## Tests in real Chromium, embedded and served
	scripts/with-services $(BIN)/python -m pytest tests/browser

.PHONY: test-cluster
test-cluster: $(VENV)/.dev ## Tests on real API servers; builds them once (needs Go 1.26)
	$(BIN)/python -m tests.cluster.build
	$(BIN)/python -m pytest tests/cluster

.PHONY: bench-sync
bench-sync: $(VENV)/.bench ## Measure a sync of 5,000 nodes and 150,000 pods (13 GB of memory)
	$(BIN)/python -m tests.cluster.build 1.37
	$(BIN)/python -m benchmarks.sync

.PHONY: bench-pages
bench-pages: $(VENV)/.bench ## Measure the pages on that cluster
	$(BIN)/python -m benchmarks.pages

.PHONY: lint
lint: $(VENV)/.dev ## Style, types, templates, migrations
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/python -m mypy
	$(BIN)/python manage.py makemigrations --check --dry-run
	$(BIN)/python scripts/check-hosts

.PHONY: lock
lock: ## Write the hashed requirement files anew (needs uv)
	UV_PYTHON_DOWNLOADS=never $(UV) pip compile --quiet --universal --python-version 3.12 --generate-hashes --custom-compile-command 'make lock' --group install pyproject.toml -o requirements/base.txt
	UV_PYTHON_DOWNLOADS=never $(UV) pip compile --quiet --universal --python-version 3.12 --generate-hashes --custom-compile-command 'make lock' --group install --group dev pyproject.toml -o requirements/dev.txt
	UV_PYTHON_DOWNLOADS=never $(UV) pip compile --quiet --universal --python-version 3.12 --generate-hashes --custom-compile-command 'make lock' --constraints requirements/dev.txt --group bench -o requirements/bench.txt

.PHONY: clean
clean: ## Remove the environment and the demo's data
	rm -rf $(VENV) var
