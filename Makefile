# Everything a contributor or CI runs. Both `make demo` and `make test` create .venv when it is missing.
.DEFAULT_GOAL := help
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
RECOMPILED := $(VENV)/.recompiled
# Two BLAS pools fighting over the same cores cost far more than one core each gains.
export OPENBLAS_NUM_THREADS ?= 1
export OMP_NUM_THREADS ?= 1
ifneq ($(wildcard ../shared/data),)
export FACTORSTREAM_DATA ?= $(abspath ../shared/data)
endif

# Tests that hold the filter to naive loops and to its contracts, and those of the variational fit. Both are repeated
# below without what says nothing new there: long tests marked `once`, estimators that no filter runs in, and in compiled
# code those that it does not know, which tests/contracts/asking.py marks `uncompiled`. Tests in tests/core/variational
# say themselves where the features are, test_places.py in every place, and so are not repeated.
OF_THE_FILTER := tests/core/filter tests/tall \
	$(addprefix tests/estimators/test_, dictionary_filter.py properties.py failed_calls.py bad_input.py) tests/contracts
OF_THE_FACTORIZATION := tests/estimators/test_bayesian_factorization.py
OF_THE_THREADS := tests/core/filter tests/core/variational tests/tall \
	$(addprefix tests/estimators/test_, dictionary_filter.py bayesian_factorization.py)
ON_A_DEVICE := tests/tall \
	$(addprefix tests/estimators/test_, dictionary_filter.py bayesian_factorization.py low_rank_imputer.py)
# Neighbours among the tests run in the same process, which keeps what they share.
PYTEST := $(BIN)/python -m pytest -n 2 --dist worksteal

.PHONY: help demo test lint types contract unit long large threads strict gpu triton compiled split browser docs site release-check bench format clean

help: ## list the commands
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 16

$(READY): pyproject.toml Makefile
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade "pip>=25.1"
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[report,faces,frames,hdf5,zarr,fast,images,river,dask]" --group test --group lint
	touch $(READY)

demo: $(READY) ## restore real faces and say which files to open
	$(BIN)/factorstream reproduce --quick --output demo
	$(BIN)/python examples/restore_faces.py demo

test: lint types contract unit ## what a change must pass; `make long` has the rest

lint: $(READY) ## style
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(READY) ## strict types on src/ and benchmarks/
	$(BIN)/mypy

contract: $(READY) ## the layers import one way
	$(BIN)/lint-imports

# Numba sees changes of a function, and not those of the functions and constants that it uses.
$(RECOMPILED): $(READY) $(wildcard src/factorstream/cores/*.py src/factorstream/tall/*.py src/factorstream/core/*.py src/factorstream/core/*/*.py)
	find src -name '*.nb?' -delete
	touch $(RECOMPILED)

unit: $(READY) $(RECOMPILED) ## tests and docstring examples
	$(PYTEST) -m "not long"

long: $(READY) $(RECOMPILED) compiled split threads strict ## tests marked `long`, and those of the filter in compiled code, in two places and in threads
	$(PYTEST) -m "long and not gigabytes"

large: $(READY) $(RECOMPILED) ## files four times as large as memory may be; up to an hour, and no part of another target
	$(BIN)/python -m pytest -m gigabytes

threads: $(READY) $(RECOMPILED) ## the tests of filter and factorisation once more, all work in pieces for three threads
	$(PYTEST) -m "not once and not long" $(OF_THE_THREADS) --place threads

strict: $(READY) $(RECOMPILED) ## the same on a device of array-api-strict, which has no more than the array API promises
	$(PYTEST) -m "not once and not long" $(ON_A_DEVICE) --place strict

gpu: $(READY) $(RECOMPILED) ## the same on a GPU; needs PyTorch and CuPy in .venv, and is no part of another target
	$(PYTEST) -m "not once and not long" $(ON_A_DEVICE) --place torch
	$(PYTEST) -m "not once and not long" $(ON_A_DEVICE) --place cupy

triton: $(READY) ## the kernels for GPUs, by Triton's interpreter; needs PyTorch and Triton in .venv, and is no part of another target
	TRITON_INTERPRET=1 $(BIN)/python -m pytest $(shell find tests -name 'test_triton*.py')

compiled: $(READY) $(RECOMPILED) ## the tests of the filter once more, all rows through compiled code
	FACTORSTREAM_COMPILED=1 $(PYTEST) -m "not once and not uncompiled" $(OF_THE_FILTER) \
		-k "not Bayesian and not Imputer and not Sequence and not NMF"

split: $(READY) ## the tests of filter and factorisation once more, the features in two arrays
	$(PYTEST) -m "not once" $(OF_THE_FILTER) $(OF_THE_FACTORIZATION) --place split -k "not Sequence and not NMF"

browser: $(READY) ## install the driver with which tests open reports in Chromium; without it they are skipped
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --group browser

docs: $(READY) ## build the site in docs/_build/html, run its gallery, check its links
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --group docs
	$(BIN)/python -m sphinx -W --keep-going --nitpicky --quiet --jobs 2 docs docs/_build/html
	$(BIN)/python docs/check_site.py docs/_build/html
	@echo "Open docs/_build/html/index.html."

site: docs ## keep the built site in site/, beside those of other versions
	$(BIN)/python docs/keep_version.py docs/_build/html site

release-check: $(READY) ## build wheel and sdist, use them with nothing else, and with the lowest versions
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --group release
	$(BIN)/python tests/release_check.py

bench: $(READY) ## time us beside the peers
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --group bench
	$(BIN)/python -m benchmarks --output benchmark

format: $(READY) ## rewrite the files in the project's style
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean: ## remove everything that was made
	rm -rf $(VENV) demo benchmark build dist site docs/_build docs/gallery docs/generated docs/sg_execution_times.rst .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
