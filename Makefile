# Everything runs in an environment of its own, made from the pinned versions in requirements.lock.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
PEERS := .venv-peers
PEERS_READY := $(PEERS)/.ready
PRIVATE_PEERS := .venv-peers-dp
PRIVATE_PEERS_READY := $(PRIVATE_PEERS)/.ready

# Tests start the program hundreds of times; each time all of it would be read from source.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test quick lint types unit audit kills bench costs docs reproduction lock clean

demo: $(READY)
	$(BIN)/sfumato demo -o sfumato-demo

test: $(READY)
	$(MAKE) -j2 lint types
	$(MAKE) unit

# Under a minute on two cores: for every change while working on it.
quick: lint
	HYPOTHESIS_PROFILE=quick $(BIN)/python -m pytest -m quick

lint: $(READY)
	$(BIN)/ruff check src tests benchmarks audit
	$(BIN)/ruff format --check src tests benchmarks audit

types: $(READY)
	$(BIN)/mypy

unit: $(READY)
	$(BIN)/python -m pytest

kills: $(READY)
	$(BIN)/python tests/cli/kills.py --kills 200
	$(BIN)/python tests/cli/kills.py --stepwise
	$(BIN)/python tests/cli/kills.py --crowd 50
	$(BIN)/python tests/collect/collector/kills.py --kills 100 --database sqlite
	$(BIN)/python tests/collect/collector/kills.py --kills 100 --database postgresql
	SFUMATO_KILLS=1 $(BIN)/python -m pytest -n 0 tests/publish/test_lost_executors.py

bench: $(READY) $(PEERS_READY) $(PRIVATE_PEERS_READY)
	$(BIN)/python -m benchmarks --peers $(PEERS)/bin/python --private-peers $(PRIVATE_PEERS)/bin/python $(ONLY)

# About half an hour: what sfumato plan knows, and docs/scale.md shows.
costs: $(READY)
	$(BIN)/python -m benchmarks.costs

audit: $(READY)
	$(BIN)/python -m audit $(ONLY)

docs: $(READY)
	$(BIN)/python tests/documentation.py

# About half an hour on two cores; goes on where it was interrupted.
reproduction: $(READY)
	$(BIN)/sfumato reproduce --all -o reproduction
	rm -rf docs/reproduction
	cp -r reproduction/reproduction reproduction/reproduction.md docs/

lock: $(READY)
	$(BIN)/uv pip compile --universal --python-version 3.11 --no-emit-index-url --no-header --quiet --extra dev -o requirements.lock pyproject.toml

$(READY): pyproject.toml requirements.lock
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps -e .
	$(BIN)/sfumato compile
	touch $@

$(PEERS_READY): benchmarks/peers/requirements.txt
	$(PYTHON) -m venv $(PEERS)
	$(PEERS)/bin/python -m pip install --quiet --disable-pip-version-check -r benchmarks/peers/requirements.txt
	touch $@

$(PRIVATE_PEERS_READY): benchmarks/peers/private.txt
	$(PYTHON) -m venv $(PRIVATE_PEERS)
	$(PRIVATE_PEERS)/bin/python -m pip install --quiet --disable-pip-version-check -r benchmarks/peers/private.txt
	touch $@

clean:
	rm -rf $(VENV) $(PEERS) $(PRIVATE_PEERS) build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis sfumato-demo
