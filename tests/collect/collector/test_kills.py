"""Collectors killed while reports come in: what was acknowledged is counted once, whatever the moment."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from .postgres import unavailable

KILLS = Path(__file__).with_name("kills.py")
DATABASES = ["sqlite"] if unavailable() else ["sqlite", "postgresql"]


def kill_collectors(*options: str) -> tuple[int, list[dict[str, Any]]]:
    command = [sys.executable, str(KILLS), "--kills", "3", *options]
    ran = subprocess.run(command, stdout=subprocess.PIPE, text=True, timeout=120, check=False)
    return ran.returncode, json.loads(ran.stdout)


def test_what_was_acknowledged_is_counted_once() -> None:
    """Three of the hundred kills that the script makes by itself, on each database there is."""
    code, runs = kill_collectors("--database", *DATABASES)
    assert (code, [found["database"] for found in runs]) == (0, DATABASES)
    for found in runs:
        assert (found["wrong"], found["kills"]) == ([], 3)
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
