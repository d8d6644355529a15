"""The whole program: the default frontier on Adult, and how soon the command line answers."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import sfumato as sf
from benchmarks import adult
from benchmarks.recommendations import CENSUS_SETS, census
from benchmarks.timing import Result, at_most, best_of


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
    """How soon `sfumato --help` answers."""
    command = shutil.which("sfumato", path=str(Path(sys.executable).parent)) or "sfumato"
    seconds = best_of(5, lambda: subprocess.run([command, "--help"], check=True, capture_output=True))
    return [at_most("sfumato --help", 0.5, seconds, "s")]
