.DEFAULT_GOAL := help
VENV := .venv
TESTS := tests

.PHONY: help
help:  ## List the targets
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 8

$(VENV)/bin/ruff:
	python3 -m venv $(VENV)
	$(VENV)/bin/pip install -q -e '.[all,test,lint]'

.PHONY: venv
venv: $(VENV)/bin/ruff  ## Make .venv with everything in it

.PHONY: test
test: venv  ## Run the tests; TESTS=tests/unit runs a part of them
	$(VENV)/bin/python -m pytest $(TESTS)

.PHONY: lint
lint: venv  ## Check style, formatting and the workflows
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/actionlint .github/workflows/*.yml
	$(VENV)/bin/zizmor --offline --quiet .github/workflows

.PHONY: format
format: venv  ## Mend style and formatting
	$(VENV)/bin/ruff check --fix .
	$(VENV)/bin/ruff format .

.PHONY: types
types: venv  ## Check types
	$(VENV)/bin/mypy

.PHONY: docs
docs: venv  ## Write the generated documentation anew (docs/causes/regenerate.py: the pages of causes)
	$(VENV)/bin/python docs/generate.py

.PHONY: check
check:  ## Everything CI runs
	.ci/run

.PHONY: bench
bench: venv  ## Run the benchmarks
	$(VENV)/bin/python benchmarks/bench_pgvector.py
