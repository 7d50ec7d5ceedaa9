# Every target first creates what it needs: a virtual environment in .venv with the versions in constraints.txt.

PYTHON ?= python3
HOME_DIR ?= .evaluation
PORT ?= 3000
BIN := .venv/bin
PIP := -m pip install --quiet --disable-pip-version-check
IN_PARALLEL = -n auto --dist loadfile --no-loadscope-reorder $(IN_MEMORY)

# In CI, tests write into memory where 8 GB are free there: it takes a tenth less CPU, and nobody needs the files later.
IN_MEMORY = $(if $(CI),$(shell [ "$$(df --output=avail /dev/shm 2>/dev/null | tail -1)" -gt 8000000 ] 2>/dev/null && echo --basetemp=/dev/shm/tests))

unexport PYTHONDONTWRITEBYTECODE  # without it, each process would compile all that it imports once more

# Install packages ($2) into an environment ($1): uv takes a tenth of pip's time, but does not know the indexes of pip's settings. It does not stay: it is as big as scikit-learn.
install = { $(BIN)/python $(PIP) --target .venv/uv uv && { [ -t 2 ] || quiet=--quiet; .venv/uv/bin/uv pip install $$quiet --python $1 $2; } || $1/bin/python $(PIP) $2; } && rm -rf .venv/uv

.PHONY: demo help ui test test-slow test-again check test-stores test-evaluators lint sbom audit format docs site screenshots bench bench-judging bench-rules bench-compare clean

demo: .venv/.base  ## evaluate the sample drop with the embedded judge
	$(BIN)/evaluation-assets evaluate examples/drops --home $(HOME_DIR)

help:  ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "%-16s %s\n", $$1, $$2}' $(firstword $(MAKEFILE_LIST))

ui: .venv/.base  ## start the Dagster UI and daemon, which evaluates new files in $(HOME_DIR)/drops; PORT=3000
	$(BIN)/evaluation-assets ui --home $(HOME_DIR) --port $(PORT)

test: .venv/.dev  ## run the fast tests: for contributors, eight minutes on two cores
	$(BIN)/python -m pytest $(IN_PARALLEL) -m "not slow"

test-slow: .venv/.dev  ## run the slow tests (kills, simulations, browsers, several machines, all that takes 2 s of CPU), and those of properties with more examples
	$(BIN)/python -m pytest $(IN_PARALLEL) -m "slow or hypothesis" --hypothesis-profile thorough

test-again: .venv/.dev  ## run what failed once more, one after the other, and name what passes then as unsteady
	@echo "== unsteady, unless they fail again:"
	$(BIN)/python -m pytest --last-failed --last-failed-no-failures none -rA --show-capture no

check: .venv/.dev  ## lint with ruff and run the fast tests of what changed since main
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/python -m evaluation_assets_tests.changed $(IN_PARALLEL) -m "not slow"

test-stores: .venv/.dev  ## run the tests on real servers of trace stores, installed below ~/.cache/evaluation-assets
	$(BIN)/python -m evaluation_assets_tests.trace_servers
	$(BIN)/python -m pytest evaluation_assets_tests/test_real_stores.py evaluation_assets_tests/test_real_sinks.py

test-evaluators: .venv/.dev  ## run the tests of evaluators of other packages, installed below ~/.cache/evaluation-assets
	$(BIN)/python -m evaluation_assets_tests.evaluator_packages
	$(BIN)/python -m pytest evaluation_assets_tests/test_evaluator_packages.py evaluation_assets_tests/core/judging/evaluators

lint: .venv/.dev  ## check formatting, lint, import contracts and types
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/lint-imports
	$(BIN)/pyright

sbom: .venv/.audit .venv/.base  ## write the installed packages and their licences to sbom.json (CycloneDX)
	.venv/audit/bin/cyclonedx-py environment --pyproject pyproject.toml --output-reproducible --output-file sbom.json .venv

audit: sbom  ## ask PyPI for known vulnerabilities of constraints.txt; needs network
	.venv/audit/bin/pip-audit --requirement constraints.txt --no-deps --disable-pip --strict

format: .venv/.dev  ## format, and fix what ruff can fix
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

docs: .venv/.base  ## generate the pages that are derived from the code
	$(BIN)/python -m evaluation_assets_tests.generated_pages.tables > docs/tables.md
	$(BIN)/python -m evaluation_assets_tests.generated_pages.python_api > docs/api.md
	$(BIN)/python -m evaluation_assets_tests.generated_pages.rubrics > docs/rubrics.md
	$(BIN)/python -m evaluation_assets_tests.generated_pages.commands > docs/cli.md
	$(BIN)/python -m evaluation_assets_tests.generated_pages.settings > docs/configuration.md
	$(BIN)/evaluation-assets suite schema > docs/suite.schema.json

site: .venv/.docs  ## build the documentation as a website in site/
	.venv/docs/bin/zensical build --clean --strict

screenshots: .venv/.dev  ## make the pictures of the documentation
	$(BIN)/python -m benchmarks.screenshots
	$(BIN)/python -m benchmarks.recording

bench: .venv/.base  ## measure throughput and memory of ingest
	$(BIN)/python benchmarks/ingest.py

bench-judging: .venv/.base  ## measure CPU, wall time, refusals, caching, memory and events of judging, on a local model server
	$(BIN)/python -m benchmarks.judging

bench-rules: .venv/.base  ## measure CPU of the embedded judge
	$(BIN)/python benchmarks/rules.py

bench-compare: .venv/.base  ## compare the speed of HEAD with that of the commit BASE, in turn on this machine
	$(BIN)/python -m benchmarks.compare $(BASE)

clean:  ## remove .venv and $(HOME_DIR) with all results
	rm -rf .venv $(HOME_DIR)

.venv/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed: make PYTHON=python3.12 ...")'
	@echo "== setting up .venv, once: about 100 packages, 200 MB to download, 680 MB on disk; about a minute at 50 Mbit/s"
	@$(PYTHON) -m venv .venv

.venv/.base: .venv/bin/python pyproject.toml constraints.txt
	@echo "== installing the packages into .venv"
	@$(call install,.venv,-c constraints.txt -e .)
	@touch $@
	@echo "== installed; the first start takes about 15 s, while Python compiles the packages"

.venv/.docs: .venv/bin/python pyproject.toml  # an environment of its own: a site needs none of our packages
	@$(PYTHON) -m venv .venv/docs
	@$(call install,.venv/docs,"zensical~=0.0.73")
	@touch $@

.venv/.audit: .venv/bin/python pyproject.toml  # an environment of its own, which is not part of what it audits
	@$(PYTHON) -m venv .venv/audit
	@$(call install,.venv/audit,"pip-audit~=2.10" "cyclonedx-bom~=7.0")
	@touch $@

.venv/.dev: .venv/bin/python pyproject.toml constraints.txt
	@echo "== installing what tests and linters need into .venv, once"
	@$(call install,.venv,-c constraints.txt -e ".[dev]")
	@touch .venv/.base $@
