# Two commands on a fresh machine: `make demo` shows JPO at work, `make test` proves it. `make help` lists the rest.
#
# All of it happens in .venv, which is made anew when a lock file changes. Python 3.11 or newer; another one: make PYTHON=python3.12
# The demo needs no torch. The tests do: where pip finds only PyPI's build (gigabytes, for GPUs), name PyTorch's own index of CPU
# builds at the first `make test`: make TORCH_INDEX=https://download.pytorch.org/whl/cpu test (Python 3.11, as in the image).

SHELL := /bin/bash
PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/python -m pip -qq --disable-pip-version-check
# Debian's package, but where there is a kubectl already, which dpkg would not overwrite.
KUBECTL := $(if $(shell command -v kubectl),,kubernetes-client)
SERVICES := acl chromium faketime fish $(KUBECTL) munge openssl postgresql prometheus prometheus-node-exporter prometheus-pushgateway rsync shellcheck slurm-wlm strace victoria-metrics zsh
OF_NPM := gitlab-ci-local@4.61.1 @actions/expressions@0.3.61 @actions/workflow-parser@0.3.61
LOCKS := $(addprefix requirements/,lock.txt lock-build.txt lock-dev.txt)

.DEFAULT_GOAL := help
.PHONY: help demo test quick unit rest slow check bench services lock release clean
.NOTPARALLEL:

help:  ## list the targets
	@sed -nE 's/^([a-z]+):.*  ## (.*)/  make \1\t\2/p' $(firstword $(MAKEFILE_LIST)) | expand -t 18

demo: .venv/.slim  ## a suggestion for the quickstart's training job, from its recorded runs: no server, no torch
	@rm -rf .demo && cp -R examples/quickstart .demo
	@cd .demo && cp config.ini before.ini && PATH="$(CURDIR)/$(BIN):$$PATH" && export JPO_AGENT__LEARN_BUDGET=0 && run() { printf '\n$$ %s\n' "$$*"; "$$@"; } && \
	  run jpo suggest config.ini && { run diff before.ini config.ini || [[ $$? == 1 ]]; } && run jpo audit verify
	@printf '\nEverything is in .demo; continue there with ../$(BIN)/jpo explain, or --help.\n'

# First the unit tests; where one fails the rest does not begin, or with make -k it does. Units have one process more than cores, the
# rest three, since many tests wait for a server, a cluster or a limit. A module of tests goes to one process as a whole (it starts
# its servers once). What is compiled is kept: the tests start some hundred processes which import jpo. tests/parts.py has the parts.
test: unit rest  ## all tests but the slow ones, real servers included; PYTEST="-k edit" for some, PYTEST="-n 0" without xdist

quick: .venv/.dev  ## the unit tests of the core that need neither torch nor a server: at every change
	@$(call pytest,quick,1)

unit: .venv/.dev services  ## the unit tests alone, in two or three minutes
	@$(call pytest,units,1)

rest: .venv/.dev services .venv/.npm  ## all others but the slow ones
	@$(call pytest,rest,3)

slow: .venv/.dev services .venv/.npm  ## tests that train for real, make installations or play a benchmark; CI runs them too
	@$(call pytest,slow,2)

# Exit code 5: of this part PYTEST names no test.
pytest = PYTHONDONTWRITEBYTECODE= OMP_NUM_THREADS=1 $(BIN)/python -m pytest --part $(1) \
  --numprocesses $$(($$(env -u OMP_NUM_THREADS nproc) + $(2))) --dist loadscope --no-loadscope-reorder $(PYTEST) || [[ $$? == 5 ]]

check: .venv/.dev  ## format, lint, types, import contracts, documentation; the site is in build/site
	@$(BIN)/ruff format --quiet --check . || { echo "run: $(BIN)/ruff format ." >&2; exit 1; }
	@$(BIN)/ruff check --quiet .
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-logo
	@$(BIN)/python -m pytest tests/test_docs.py
	@NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --quiet --strict --config-file website/mkdocs.yml

bench: .venv/.dev  ## measurements beside peers, in docs/benchmarks: PART=nights (with ARGS="..."), or all that are not of this code
	@failed=0; $(BIN)/python benchmarks/apparatus/parts.py $(if $(PART),$(PART) $(ARGS)) || failed=1; \
	  $(BIN)/python benchmarks/page.py && exit $$failed  # a claim that does not hold is no reason to leave out what follows

services:  ## servers and tools that tests use, from Debian's packages; without them their tests are skipped (in CI: an error)
	@.ci/install $(SERVICES) || [[ $${CI:-} != true ]]

lock:  ## renew requirements/ from pyproject.toml; UPGRADE=--upgrade takes the newest of everything
	@$(PYTHON) -m venv build/lock && build/lock/bin/pip -qq install pip-tools
	@requirements/compile build/lock/bin/pip-compile $(UPGRADE)

release: .venv/.dev  ## wheel, source, SBOM and hashes in dist/, as they would be published; built twice, tried on each Python here
	@.ci/release

clean:  ## remove all that make has made
	@rm -rf .venv .demo .jpo build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache *.egg-info
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +

.venv/.made: $(LOCKS)
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "JPO needs Python 3.11 or newer; found $$($(PYTHON) --version 2>&1). Try: make PYTHON=python3.12" >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || \
	  { echo "$(PYTHON) cannot make virtual environments. On Debian: apt-get install python3-venv" >&2; exit 1; }
	@echo "Making .venv (once; under a minute with a fast network)"
	@$(PYTHON) -m venv --clear .venv
	@touch $@

# What `jpo suggest` needs, and what builds the package; every file checked against its hash.
.venv/.slim: .venv/.made pyproject.toml
	@$(PIP) install --require-hashes -r requirements/lock-build.txt -r requirements/lock.txt
	@$(PIP) install --no-deps --no-build-isolation --editable .
	@touch $@

# An interpreter of .gitlab-ci.yml, and GitHub's reader of its own. All of it is JavaScript: nothing runs while npm installs it.
.venv/.npm: .venv/.made Makefile
	@{ command -v npm >/dev/null || .ci/install nodejs npm; } && \
	  npm install --prefix .venv/npm --ignore-scripts --no-audit --no-fund --no-save --loglevel=error $(OF_NPM) >/dev/null && touch $@ || \
	  { echo "not installed: $(OF_NPM), which take npm; their tests are skipped" >&2; [[ $${CI:-} != true ]]; }

# Everything else: torch to learn, tools to test. Without hashes, because torch differs by platform (see requirements/compile).
.venv/.dev: .venv/.slim
	@echo "Installing torch and the tools of the tests (once; some minutes)"
	@$(if $(TORCH_INDEX),$(PIP) install --require-hashes --no-deps --index-url $(TORCH_INDEX) -r requirements/lock-torch.txt)
	@$(PIP) install -r requirements/lock-dev.txt
	@touch $@
