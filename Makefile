# Everything a contributor or CI runs. Both `make demo` and `make test` create .venv when it is missing.
.DEFAULT_GOAL := help
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
# Two BLAS pools fighting over the same cores cost far more than one core each gains.
export OPENBLAS_NUM_THREADS ?= 1
export OMP_NUM_THREADS ?= 1
ifneq ($(wildcard ../shared/data),)
export FACTORSTREAM_DATA ?= $(abspath ../shared/data)
endif

# Tests that hold the filter to naive loops and to its contracts.
OF_THE_FILTER := $(addprefix tests/core/filter/test_, recursion.py steps_in_the_filter.py covariance.py coefficients.py \
	gains.py) \
	tests/tall tests/baselines $(addprefix tests/estimators/test_, dictionary_filter.py properties.py contracts.py \
	bad_input.py sklearn_checks.py)

.PHONY: help demo test lint types contract unit compiled bench format clean

help: ## list the commands
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 12

$(READY): pyproject.toml Makefile
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade "pip>=25.1"
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[report,faces,frames,fast]" --group test --group lint
	touch $(READY)

demo: $(READY) ## restore real faces and say which files to open
	$(BIN)/factorstream reproduce --quick --output demo
	$(BIN)/python examples/restore_faces.py demo

test: lint types contract unit compiled ## everything that must pass

lint: $(READY) ## style
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(READY) ## strict types on src/ and benchmarks/
	$(BIN)/mypy

contract: $(READY) ## the layers import one way
	$(BIN)/lint-imports

unit: $(READY) ## tests and docstring examples
	$(BIN)/python -m pytest -n 2

compiled: $(READY) ## the tests of the filter once more, all rows through compiled code
	rm -f src/factorstream/tall/__pycache__/*.nb?
	FACTORSTREAM_COMPILED=1 $(BIN)/python -m pytest -n 2 $(OF_THE_FILTER)

bench: $(READY) ## time us beside the peers
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --group bench
	$(BIN)/python -m benchmarks --output benchmark

format: $(READY) ## rewrite the files in the project's style
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean: ## remove everything that was made
	rm -rf $(VENV) demo benchmark build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
