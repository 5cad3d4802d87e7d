# Targets for users and developers; `make` alone lists them.
#
# Variables: VENV    folder of the virtual environment (.venv)
#            PYTHON  interpreter that creates it (python3.11, else the first python3 from 3.11 on)
#            BOARD   board of the demo (nucleo-f446re)

VENV ?= .venv
BOARD ?= nucleo-f446re

BIN := $(abspath $(VENV))/bin
STAMP := $(VENV)/.installed
export VENV PYTHON
# cmake and ninja come from the environment, so a machine needs neither.
export PATH := $(BIN):$(PATH)

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.NOTPARALLEL:
.PHONY: help setup demo lint check test slow golden bench bench-kernels quality lines clean firmware-tools host-compiler

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-13s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: $(STAMP) ## create .venv with the tool in it; install the compiler and QEMU where missing

demo: setup ## the whole job on the shipped digits model: convert, build, emulate, compare, report
	@rm -rf build/demo
	$(BIN)/onnx2mcu run examples/digits/model.onnx --calib examples/digits/calibration.npz \
	    --data examples/digits/test.npz --board $(BOARD) -o build/demo
	@echo "Report: $(CURDIR)/build/demo/report.html"

lint: setup ## formatting, style, types, import layers
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

check: lint host-compiler ## lint and every test that needs no emulator
	$(BIN)/pytest -m "not emulator and not slow"

test: lint host-compiler ## lint and every test, firmware in the emulator included
	$(BIN)/pytest -n 2 --dist worksteal -m "not slow"

slow: setup host-compiler ## the long runs: every operator on 200 random shapes per core
	$(BIN)/pytest -n 2 --dist worksteal -m slow

golden: setup ## rewrite golden files, README tables and docs/conformance.md; review the difference
	$(BIN)/pytest tests/golden tests/conformance tests/bench/test_figures.py --update-golden

bench: setup ## measure the reference models on all cores; rewrite docs/bench.json and docs/performance.md
	$(BIN)/python -m tools.bench models

bench-kernels: setup ## measure every kernel on every core; rewrite toolchain/select/costs.json
	$(BIN)/python -m tools.bench kernels

quality: setup ## int8 against float on the shared nets; rewrite docs/quality.md
	$(BIN)/python -m tools.bench quality

lines: ## lines of every room of toolchain/
	@tools/lines.sh toolchain

clean: ## remove build results and caches; .venv stays
	rm -rf build dist .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis
	find . -name $(notdir $(VENV)) -prune -o -name __pycache__ -type d -exec rm -rf {} +

# The stamp is newer than pyproject.toml while the environment agrees with it. What the system lacks
# is looked up every time: that is quick, and a stamp would not notice a removed package.
$(STAMP): pyproject.toml | firmware-tools
	@test -x $(BIN)/pip || "$$(tools/find_python.sh)" -m venv $(VENV)
	$(BIN)/pip install --quiet --editable '.[dev,images]'
	@touch $@

firmware-tools:
	@tools/system_packages.sh firmware

host-compiler:
	@tools/system_packages.sh host
