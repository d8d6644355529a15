"""Publishers killed while they publish, and many at once: no spend is lost, and no cap is overspent."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

KILLS = Path(__file__).with_name("kills.py")


def kill_publishers(*options: str) -> tuple[int, dict[str, Any]]:
    done = subprocess.run([sys.executable, KILLS, *options], capture_output=True, text=True, timeout=120)
    assert done.stderr == ""
    return done.returncode, json.loads(done.stdout)


def test_publishers_killed_at_random_moments_lose_no_spend() -> None:
    """Twenty of the two hundred that `make kills` runs."""
    code, found = kill_publishers("--kills", "20")
    assert (code, found["wrong"], found["kills"]) == (0, [], 20)
    assert found["entries"] >= found["releases"] > 0


def test_publishers_killed_at_every_step_lose_no_spend() -> None:
    code, found = kill_publishers("--stepwise")
    assert (code, found["wrong"]) == (0, [])
    stages = {"not charged, not visible", "reserved, not visible", "reserved, visible", "settled, visible"}
    assert stages < set(found["stages"])


def test_publishers_at_once_use_up_the_cap_and_never_overspend() -> None:
    """Fifteen of the fifty that `make kills` runs."""
    code, found = kill_publishers("--crowd", "15")
    assert (code, found["wrong"], found["exit_codes"]) == (0, [], {"0": 6, "2": 9})
    assert found["entries"] == found["releases"] == 6


@pytest.mark.parametrize(
    ("twin", "options", "sentence"),
    [("late", ("--kills", "60"), "is there without an entry"), ("tidy", ("--stepwise",), "was forgotten")],
)
def test_broken_publishers_are_caught(twin: str, options: tuple[str, ...], sentence: str) -> None:
    """All of 60 kills at random miss half a second in which a release is not charged with a probability below 1e-6."""
    code, found = kill_publishers(*options, "--twin", twin)
    assert code == 1
    assert found["wrong"][0].endswith(sentence)
