"""The whole program: the default frontier on Adult, and how soon the command line answers."""

from __future__ import annotations

import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import sfumato as sf
from benchmarks import adult
from benchmarks.recommendations import CENSUS_SETS, census
from benchmarks.timing import Result, at_most, best_of
from sfumato.samples.town import SCHEMA_PATH

if TYPE_CHECKING:
    from collections.abc import Iterator

PEOPLE = 100
FEW_COLUMNS = ["age", "sex", "education", "district"]
OTHER_COLUMNS = ("marital_status", "occupation")
FIRST_USES = (("mondrian", "--k", "5"), ("quad-tree", "--epsilon", "1"))


def frontier(peers: str) -> list[Result]:
    """Every method at every default setting, all measures, with a recommendation: all of Adult, and a survey."""
    survey = census(CENSUS_SETS["7 columns"], 9_000)
    return [
        _timed("Adult", sf.read(adult.rows(), adult.schema()), 120),
        _timed("9,000 rows of the Census excerpt, 7 quasi-identifiers", survey, 40),
    ]


def _timed(name: str, table: sf.Table, asked: float) -> Result:
    found: list[sf.Frontier] = []

    def recommend() -> None:
        found.append(sf.frontier(table))
        found[0].recommend()

    seconds = best_of(1, recommend)
    what = f"default frontier on {name} ({len(found[0].trials)} releases, {len(sf.MEASURES)} measures each)"
    return at_most(what, asked, seconds, "s")


def start(peers: str) -> list[Result]:
    """How soon `sfumato --help` answers, and what the first use after installation takes."""
    command = shutil.which("sfumato", path=str(Path(sys.executable).parent)) or "sfumato"
    seconds = best_of(5, lambda: subprocess.run([command, "--help"], check=True, capture_output=True))
    return [at_most("sfumato --help", 0.5, seconds, "s"), *_first_uses(command)]


def _first_uses(command: str) -> Iterator[Result]:
    """A hundred people published when nothing is compiled yet, in seconds of processor time."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        people, schema = folder / "people.csv", folder / "people.toml"
        sf.residents(PEOPLE).select("person_id", *FEW_COLUMNS, "condition").write_csv(people)
        text = SCHEMA_PATH.read_text()
        for column in OTHER_COLUMNS:
            text = re.sub(rf"(\[columns\.{column}\]\nrole = )\"quasi\"", r'\1"ignore"', text)
        schema.write_text(text)
        for method in FIRST_USES:
            seconds = min(_first_use(folder, number, command, *method) for number in range(5))
            yield at_most(f"first use: {PEOPLE} people by {' '.join(method)}, nothing compiled", 1.5, seconds, "s")


def _first_use(folder: Path, number: int, *command: str) -> float:
    sfumato, *method = command
    where = folder / f"{method[0]}-{number}"
    given = ["publish", str(folder / "people.csv"), "--schema", str(folder / "people.toml"), "--method", *method]
    paths = ["--ledger", str(folder / "ledger.sqlite"), "-o", str(where)]
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(where) + "-cache"}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sfumato, *given, *paths], check=True, capture_output=True, env=environment)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
