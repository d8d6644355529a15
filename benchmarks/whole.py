"""The whole program: the default frontier on Adult, and how soon the command line answers."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import sfumato as sf
from benchmarks import adult
from benchmarks.timing import Result, at_most, best_of


def frontier(peers: str) -> list[Result]:
    """Every method at every default setting, all measures, on all of Adult."""
    table = sf.read(adult.rows(), adult.schema())
    found: list[sf.Frontier] = []
    seconds = best_of(1, lambda: found.append(sf.frontier(table)))
    what = f"default frontier on Adult ({len(found[0].trials)} releases, {len(sf.MEASURES)} measures each)"
    return [at_most(what, 75, seconds, "s")]


def start(peers: str) -> list[Result]:
    """`sfumato --help`."""
    command = shutil.which("sfumato", path=str(Path(sys.executable).parent)) or "sfumato"
    seconds = best_of(5, lambda: subprocess.run([command, "--help"], check=True, capture_output=True))
    return [at_most("sfumato --help", 0.5, seconds, "s")]
