"""`sfumato plan`: what publishing will cost, before anything is done."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from sfumato.cli.plan import duration, rough
from sfumato.methods import METHODS

if TYPE_CHECKING:
    from pathlib import Path

    from .conftest import Run


def test_every_method_is_told_of(run: Run, people: Path) -> None:
    told = run("plan", "people.csv", "--schema", "people.toml")
    assert (told.code, told.err) == (0, "")
    assert told.out.startswith("About ")
    for name in METHODS:
        assert f"\n{name} " in told.out
    assert sorted(path.name for path in people.iterdir()) == ["people.csv", "people.toml"]


def test_figures_as_json(run: Run, people: Path) -> None:
    told = json.loads(run("plan", "people.csv", "--schema", "people.toml", "--json").out)
    assert set(told["methods"]) == set(METHODS)
    assert told["rows"] >= told["cells"] > 0
    assert told["methods"]["mondrian"]["seconds"] > 0


def test_bad_input_is_one_sentence(run: Run, people: Path) -> None:
    refused = run("plan", "nothing.csv", "--schema", "people.toml")
    assert (refused.code, refused.out, refused.err.count("\n")) == (2, "", 1)


@pytest.mark.quick
@pytest.mark.parametrize(
    ("seconds", "told"), [(0.2, "under 1 s"), (47.3, "47 s"), (600, "10 min"), (9_000, "2.5 h"), (360_000, "100 h")]
)
def test_durations_read_well(seconds: float, told: str) -> None:
    assert duration(seconds) == told


@pytest.mark.quick
def test_numbers_are_rough() -> None:
    assert [rough(number) for number in (45_222, 7, 1_234_567)] == ["45,000", "7", "1,200,000"]
