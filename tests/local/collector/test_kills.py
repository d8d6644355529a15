"""Collectors killed while reports come in: what was acknowledged is counted once, whatever the moment."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from .postgres import unavailable

KILLS = Path(__file__).with_name("kills.py")
POSTGRESQL = pytest.param(
    "postgresql", marks=pytest.mark.skipif(unavailable() is not None, reason=str(unavailable())), id="postgresql"
)


def kill_collectors(*options: str) -> tuple[int, list[dict[str, Any]]]:
    command = [sys.executable, str(KILLS), "--kills", "3", *options]
    ran = subprocess.run(command, stdout=subprocess.PIPE, text=True, timeout=120, check=False)
    return ran.returncode, json.loads(ran.stdout)


@pytest.mark.parametrize("database", ["sqlite", POSTGRESQL])
def test_what_was_acknowledged_is_counted_once(database: str) -> None:
    """Three of the hundred kills that the script makes by itself."""
    code, [found] = kill_collectors("--database", database)
    assert (code, found["wrong"], found["kills"]) == (0, [], 3)
    assert found["counted"] == found["acknowledged"] > 0
    assert found["retries"] > 0


def test_broken_collectors_are_found_out() -> None:
    code, runs = kill_collectors("--twin", "early", "blind", "apart")
    assert code == 1
    early, blind, apart = runs
    assert any("acknowledged reports were lost" in sentence for sentence in early["wrong"])
    assert blind["counted"] > blind["acknowledged"]
    assert apart["counted"] < apart["acknowledged"]
    for found in (blind, apart):
        assert any(" is counted " in sentence for sentence in found["wrong"])
