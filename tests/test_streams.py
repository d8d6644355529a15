"""Numbers drawn for different uses have nothing to do with each other, even where their seeds are the same."""

from __future__ import annotations

import re
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import pytest
from scipy.stats import binom

import sfumato
from sfumato.data import read
from sfumato.mechanisms.noise import SimulatedSource
from sfumato.methods import FullSuppression
from sfumato.streams import stream
from sfumato.trials.purpose import drawn_rows

if TYPE_CHECKING:
    from numpy.typing import NDArray

SOURCE = Path(sfumato.__path__[0])
USES = [
    use
    for path in sorted(SOURCE.rglob("*.py"))
    for use in re.findall(r"\bstream\(\s*\"([^\"]+)\"", path.read_text(encoding="utf-8"))
]
SEEDS, WORDS = range(6), 1_024


def words(generator: np.random.Generator) -> NDArray[np.uint64]:
    return generator.integers(0, 2**64, size=WORDS, dtype=np.uint64)


def related(sequences: list[NDArray[np.uint64]], false_failure: float = 1e-6) -> bool:
    """Whether the bits of two sequences agree too often or too rarely, by a union bound over exact binomial tails."""
    pairs = list(combinations(sequences, 2))
    agreeing = np.array([np.bitwise_count(~(one ^ other)).sum() for one, other in pairs])
    tail = false_failure / (2 * len(pairs))
    low, high = binom.ppf(tail, 64 * WORDS, 0.5) - 1, binom.isf(tail, 64 * WORDS, 0.5) + 1
    return bool(((agreeing < low) | (agreeing > high)).any())


def loose_generators(text: str) -> list[str]:
    """Where a module makes a generator of its own."""
    return re.findall(r"default_rng\([^)]*\)|RandomState\([^)]*\)", text)


def test_every_use_has_a_name_of_its_own() -> None:
    assert {"noise", "folds", "queries"} <= set(USES)
    assert len(USES) == len(set(USES))


@pytest.mark.parametrize("seed", SEEDS)
def test_data_noise_and_every_other_use_are_independent(seed: int) -> None:
    """With the same seed, and with the next one; false failures: below 1e-6 for each seed."""
    plain = [words(np.random.default_rng(each)) for each in (seed, seed + 1)]
    noise = [SimulatedSource(each).words(WORDS) for each in (seed, seed + 1)]
    named = [words(stream(use, seed)) for use in USES if use != "noise"]
    assert not related([*plain, *noise, *named])
    assert np.array_equal(noise[0], words(stream("noise", seed)))


@pytest.mark.parametrize("every", [1, 8])
def test_a_source_that_shares_its_numbers_with_data_would_be_found(every: int) -> None:
    """All of them, or every eighth."""
    data, source = words(np.random.default_rng(1)), words(np.random.default_rng(2))
    assert not related([data, source])
    source[::every] = data[::every]
    assert related([data, source])


def test_only_samples_make_generators_without_a_name() -> None:
    loose = {
        path.relative_to(SOURCE).parts[0]
        for path in sorted(SOURCE.rglob("*.py"))
        if loose_generators(path.read_text(encoding="utf-8"))
    }
    assert loose == {"samples", "streams.py"}
    assert loose_generators("generator = np.random.default_rng(seed)")


def quarters_and_values() -> set[tuple[int, int]]:
    """Where in a box of 64 positions rows are drawn, and with which of two equally common values."""
    columns = {
        "x": {"role": "quasi", "kind": "numeric", "min": 0, "max": 63},
        "s": {"role": "sensitive", "kind": "categorical", "values": ["a", "b"]},
    }
    rows = pl.DataFrame({"x": [0] * 500 + [63] * 500, "s": ["a", "b"] * 500})
    table = read(rows, {"name": "box", "columns": columns})
    drawn = drawn_rows(FullSuppression().publish(table), table)
    quarter = drawn.points[drawn.cell_point, 0] // 16
    return set(zip(quarter.tolist(), drawn.cell_value.tolist(), strict=True))


def test_rows_drawn_from_a_box_have_values_that_do_not_follow_from_their_place(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every quarter has both values, but with probability 8 / 2^250; the twin draws places and values alike."""
    both = {(quarter, value) for quarter in range(4) for value in range(2)}
    assert quarters_and_values() == both
    for module in ("sfumato.trials.purpose.stream", "sfumato.measures.workloads.features.stream"):
        monkeypatch.setattr(module, lambda use, seed: np.random.default_rng(seed))
    assert quarters_and_values() < both
