# Two commands a fresh machine needs: `make demo` and `make test`. Both set up .venv by themselves.

PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt

.PHONY: demo test lint types imports unit bench learn clean

demo: .venv/.core
	rm -rf out/demo
	$(BIN)/gamegen make --tasks all --count 120 --seed 7 --out out/demo
	$(BIN)/gamegen audit out/demo
	$(BIN)/gamegen gallery out/demo --out out/demo/gallery.html
	for editor in oracle wrong; do \
	  $(BIN)/gamegen edit out/demo --editor $$editor --out out/demo/runs/$$editor && \
	  $(BIN)/gamegen score out/demo out/demo/runs/$$editor || exit 1; \
	done
	$(BIN)/gamegen report out/demo/runs/oracle out/demo/runs/wrong --out out/demo/report
	@echo "open out/demo/gallery.html and out/demo/report/index.html"

test: .venv/.dev
	$(MAKE) lint types imports unit

lint: .venv/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: .venv/.dev
	$(BIN)/mypy

imports: .venv/.dev
	$(BIN)/lint-imports

unit: .venv/.dev
	$(BIN)/python -m pytest -n auto --dist worksteal

bench: .venv/.dev
	$(BIN)/python -m benchmarks.generate

learn: .venv/.dev
	rm -rf out/learn
	$(BIN)/python -m edit_models.bagel.learn overfit --out out/learn

.venv/.core: pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(PIP) --editable ".[chess]"
	touch $@

.venv/.dev: .venv/.core
	$(PIP) torch==2.13.0
	$(PIP) --editable ".[all,dev]"
	touch $@

clean:
	rm -rf .venv out .mypy_cache .ruff_cache .pytest_cache .hypothesis
