"""Places and flows to test on, distances by another formula, and a test of laws that says how often it errs."""

from __future__ import annotations

import math
import signal
from collections.abc import Callable
from typing import TYPE_CHECKING, NoReturn

import numpy as np
import polars as pl
import pytest
from scipy.optimize import brentq

from sfumato.data.flows import Flows
from sfumato.data.places import Places

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

FALSE_FAILURE = 1e-6
SIDE = 8
"""Places along each side of the grid, about 1.11 kilometres apart."""
Write = Callable[[str, str], "Path"]


def haversine(places: Places, one: int, other: int) -> float:
    """Great-circle kilometres, by Vincenty's formula for a sphere: accurate at every distance."""
    (a, b), (c, d) = ((math.radians(places.latitude[i]), math.radians(places.longitude[i])) for i in (one, other))
    east = math.cos(c) * math.sin(d - b)
    north = math.cos(a) * math.sin(c) - math.sin(a) * math.cos(c) * math.cos(d - b)
    along = math.sin(a) * math.sin(c) + math.cos(a) * math.cos(c) * math.cos(d - b)
    return 6371.0088 * math.atan2(math.hypot(east, north), along)


def fits(counts: Mapping[object, int], law: Mapping[object, float]) -> bool:
    """Whether counts may come from a law; wrong about the true law with a probability of at most FALSE_FAILURE.

    With k outcomes and N draws, P(N·KL(counts ‖ law) ≥ t) ≤ e^−t (et/(k − 1))^(k − 1) for every t > k − 1, whatever N.
    """
    assert math.isclose(sum(law.values()), 1)
    total, free = sum(counts.values()), len(law) - 1
    if any(law.get(outcome, 0) <= 0 for outcome, number in counts.items() if number):
        return False
    divergence = sum(number * math.log(number / total / law[outcome]) for outcome, number in counts.items() if number)
    limit = brentq(lambda t: t - free * (1 + math.log(t / free)) + math.log(FALSE_FAILURE), free, 100 * free + 100)
    return divergence <= limit


def line(kilometres: Sequence[float], **regions: Sequence[str]) -> Places:
    """Places on the equator, by how far east they are."""
    degrees = np.degrees(np.array(kilometres, dtype=np.float64) / 6371.0088)
    ids = pl.Series([f"p{number}" for number in range(len(degrees))], dtype=pl.String)
    return Places(ids, np.zeros(len(degrees)), degrees, pl.DataFrame({name: list(r) for name, r in regions.items()}))


def flows_of(places: Places, pairs: Mapping[tuple[int, int], int]) -> Flows:
    """Flows of (destination, origin) pairs."""
    destinations, origins = (np.array([pair[side] for pair in pairs], dtype=np.int64) for side in (0, 1))
    return Flows.of_pairs(places, destinations, origins, np.array(list(pairs.values()), dtype=np.int64))


def origins_of(flows: Flows, destination: int) -> dict[int, int]:
    """How many people go to a place from each origin."""
    chosen = flows.destination_of_pair == destination
    return dict(zip(flows.origins[chosen].tolist(), flows.counts[chosen].tolist(), strict=True))


@pytest.fixture(scope="session")
def grid() -> Places:
    """64 places with ids that begin with zeros, 16 tracts of two by two, and 4 towns."""
    rows, columns = (part.ravel() for part in np.meshgrid(np.arange(SIDE), np.arange(SIDE), indexing="ij"))
    return Places(
        pl.Series([f"{number:04d}" for number in range(SIDE**2)]),
        41.5 + 0.01 * rows,
        -71.5 + 0.01335 * columns,
        pl.DataFrame(
            {
                "tract": [f"t{row // 2}{column // 2}" for row, column in zip(rows, columns, strict=True)],
                "town": [f"{'sn'[row // 4]}{'we'[column // 4]}" for row, column in zip(rows, columns, strict=True)],
            }
        ),
    )


@pytest.fixture
def flows(grid: Places) -> Flows:
    """Five destinations of 1 to 150 people; some come from the far corner. No other test has looked at them."""
    generator = np.random.default_rng(11)
    pairs: dict[tuple[int, int], int] = {(0, 63): 1}
    for destination, people in ((9, 4), (28, 19), (36, 60), (63, 150)):
        near = generator.choice([destination, destination - 1, destination - 8], people - people // 4)
        for origin in (*near.tolist(), *generator.integers(0, 64, people // 4).tolist()):
            pairs[destination, origin] = pairs.get((destination, origin), 0) + 1
    return flows_of(grid, pairs)


@pytest.fixture(scope="session")
def rhode_island(data_folder: Path) -> Flows:
    """Who worked where in Rhode Island in 2019, by block."""
    folder = data_folder / "commute"
    if not folder.is_dir():
        pytest.skip(f"the flows of Rhode Island are not at {folder}")
    return Flows.read(folder / "ri_od_2019.csv.gz", Places.read(folder / "ri_blocks.csv.gz"))


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Write a file and hand back where it is."""

    def written(name: str, text: str) -> Path:
        (tmp_path / name).write_text(text, encoding="utf-8")
        return tmp_path / name

    return written


@pytest.fixture
def in_time() -> Iterator[None]:
    """What does not end within ten seconds of processor time has failed."""

    def late(*_: object) -> NoReturn:
        raise TimeoutError("this does not end")

    before = signal.signal(signal.SIGPROF, late)
    signal.setitimer(signal.ITIMER_PROF, 10)
    yield
    signal.setitimer(signal.ITIMER_PROF, 0)
    signal.signal(signal.SIGPROF, before)
