"""Shared fixtures: where files of tests lie, the real data, the Adult tables, and how hard Hypothesis searches.

`HYPOTHESIS_PROFILE=search` draws new and many more examples, `quick` fewer; all but `search` repeat themselves from run
to run. Every test belongs to one tier, by which `make quick` and others choose.
"""

from __future__ import annotations

import gc
import os
import shutil
import sys
import tempfile
import uuid
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

# Several tests run at once, each on small matrices: threads within a product only wait for each other.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import polars as pl
import pytest
from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture import providers

TESTS = Path(__file__).resolve().parent
MEMORY = Path("/dev/shm")
MIN_MEMORY = 2 * 2**30
"""Free bytes there that files of tests ask for."""
# Tests write many small files, each of which would be forced to the disk.
if "TMPDIR" not in os.environ and MEMORY.is_dir() and shutil.disk_usage(MEMORY).free >= MIN_MEMORY:
    os.environ["TMPDIR"] = tempfile.tempdir = str(MEMORY)
# `strategies` and `reference` are imported by name from any folder of tests.
sys.path.insert(0, str(TESTS))

from flow_cases import flows, grid, in_time, rhode_island, write  # noqa: E402, F401

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sfumato.data import Table
    from sfumato.schema import Schema

SLOW = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]
settings.register_profile("default", max_examples=40, deadline=None, derandomize=True, suppress_health_check=SLOW)
settings.register_profile("quick", max_examples=10, deadline=None, derandomize=True, suppress_health_check=SLOW)
settings.register_profile("search", max_examples=1_000, deadline=None, suppress_health_check=SLOW, print_blob=True)
PROFILE = os.environ.get("HYPOTHESIS_PROFILE", "default")
settings.load_profile(PROFILE)
if PROFILE != "search":
    # Otherwise constants of the modules that earlier tests happened to load become examples.
    assert callable(providers._get_local_constants)
    providers._get_local_constants = providers.Constants

ADULT_TRAINING_ROWS = 30_162
FEW = 20
"""How many random counts are asked where only that they are asked matters."""
ADULT_CATEGORICAL = ("workclass", "education", "marital-status", "race", "sex")

SLOW_TESTS = (
    "cli/",
    "collect/collector/",
    "data/test_table.py::test_nothing_depends_on_the_hash_seed",
    "estimation/test_intervals.py",
    "mechanisms/test_dirichlet_allocation.py",
    "mechanisms/test_dirichlet_enumeration.py",
    "mechanisms/test_dirichlet_rejection.py",
    "measures/",
    "methods/flows/",
    "methods/models/",
    "methods/partition/",
    "methods/randomize/",
    "methods/test_any_epsilon.py",
    "methods/test_audit.py",
    "methods/test_contract.py::test_every_private_setting",
    "methods/trees/",
    "privacy/test_ledger.py",
    "publish/",
    "report/",
    "reproduce/test_papers.py::test_everything",
    "reproduce/test_running.py::test_processes",
    "samples/",
    "test_adult",
    "test_compiled.py",
    "test_docs.py::test_outputs",
    "test_docs.py::test_the_",
    "test_public_face.py::test_the_script",
    "trials/",
)
"""Folders, files and tests that are not part of the inner loop."""
QUICK_TESTS = (
    "cli/test_help.py",
    "cli/test_interrupt.py",
    "methods/flows/test_prior.py",
    "report/test_numbers.py",
    "report/test_points.py",
    "trials/test_dominance.py",
    "trials/test_recommendation.py",
    "trials/test_store.py",
    "trials/test_verdict.py",
)
"""What is quick in folders that are not."""


def tier_of(item: pytest.Function) -> str:
    """What a test needs, or whether it is quick."""
    name = item.nodeid.removeprefix(f"{TESTS.name}/")
    for need in ("browser", "spark"):
        if item.get_closest_marker(need):
            return need
    if item.path.name == "test_kills.py":
        return "kills"
    if "postgresql" in item.fixturenames or "postgresql" in item.name:
        return "database"
    slow = name.startswith(SLOW_TESTS) and not name.startswith(QUICK_TESTS)
    return "slow" if slow or item.get_closest_marker("slow") else "quick"


def pytest_collection_modifyitems(items: list[pytest.Function]) -> None:
    """Tests on Spark come first: work is stolen from the end, so they stay with one worker and its one session."""
    for item in items:
        item.add_marker(tier_of(item))
    items.sort(key=lambda item: tier_of(item) != "spark")


def pytest_collection_finish() -> None:
    """What has been loaded by now stays: looking through it for garbage takes a twentieth of all the tests' time."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session", autouse=True)
def own_ledger(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Whatever a test charges, it never charges the ledger of whoever runs it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SFUMATO_LEDGER", str(tmp_path_factory.mktemp("ledger") / "ledger.sqlite"))
        yield


@pytest.fixture(autouse=True)
def ledger_of_one_test(
    own_ledger: None, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What one test measures or charges, no other one knows of."""
    folder = tmp_path_factory.getbasetemp() / "ledgers"
    monkeypatch.setenv("SFUMATO_LEDGER", str(folder / uuid.uuid4().hex / "ledger.sqlite"))


@pytest.fixture(scope="session", autouse=True)
def commands_made_once() -> Iterator[None]:
    """A process that runs one command makes it once; tests run hundreds, and making one can take longest of all."""
    from sfumato.cli import app
    from sfumato.methods import METHODS
    from sfumato.privacy.requirements import REQUIREMENTS

    make = cache(lambda name, *registered: program(name))
    program = app.program
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(app, "program", lambda name=None: make(name, *METHODS.values(), *REQUIREMENTS.values()))
        yield


@pytest.fixture(scope="module")
def few_queries() -> Iterator[None]:
    """Twenty random counts in place of thousands, for tests that ask whether measuring ends and not what comes out.

    On a table of a few rows hardly any random count is of anybody, and drawing so many takes longer than the rest.
    """
    from sfumato.measures.workloads import range_counts

    draw = range_counts.draw
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(range_counts, "draw", lambda table, count, *how: draw(table, min(count, FEW), *how))
        yield


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """The folder of real data, which is not part of the project."""
    folder = Path(os.environ.get("SFUMATO_DATA", TESTS.parent.parent / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip(f"the real data is not at {folder}; set SFUMATO_DATA to its folder")
    return folder


@pytest.fixture(scope="session")
def adult_schema(data_folder: Path) -> Schema:
    """Age, workclass, education, marital-status, race and sex as quasi-identifiers; occupation is sensitive."""
    from sfumato.schema import Schema

    def column(name: str, role: str, **more: Any) -> dict[str, Any]:
        return {"role": role, "kind": "categorical", "hierarchy": f"hierarchies/{name}.csv", **more}

    columns = {"age": column("age", "quasi", kind="numeric", min=17, max=90)}
    columns |= {name: column(name, "quasi") for name in ADULT_CATEGORICAL}
    columns["occupation"] = column("occupation", "sensitive")
    return Schema.parse({"name": "adult", "columns": columns}, data_folder / "adult")


@pytest.fixture(scope="session")
def adult(data_folder: Path, adult_schema: Schema) -> Table:
    """All 45,222 rows of Adult."""
    from sfumato.data import read

    return read(data_folder / "adult" / "adult.csv", adult_schema)


@pytest.fixture(scope="session")
def adult_training(data_folder: Path, adult_schema: Schema) -> Table:
    """The 30,162 rows of Adult's training part."""
    from sfumato.data import read

    frame = pl.read_csv(data_folder / "adult" / "adult.csv", infer_schema=False).head(ADULT_TRAINING_ROWS)
    return read(frame, adult_schema)
