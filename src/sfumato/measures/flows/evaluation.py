"""Synthetic flows against the original ones: what a recipient would get wrong, in figures.

Everything here is computed on the real data and is for the publisher's eyes. The limit between short and long
commutes, the distance bins and the classes of destinations are fixed beforehand, not read off the data.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.data.flows import Flows
from sfumato.data.places import KILOMETRES
from sfumato.errors import DataError, ParameterError
from sfumato.measures.flows import distances, overlap
from sfumato.measures.flows.measures import UNITS, measures
from sfumato.measures.measurement import Measurement

SHORT_MILES = 6.23
"""The published median commute of machanavajjhala2008 (Census Transportation Planning Package, Minnesota)."""
LOOK = "an evaluation"
PARTS = ("all", "short")
SUFFIXES = ("", "_synthetic")


@dataclass(frozen=True, kw_only=True)
class SideCounts:
    """How many people and destinations one table has, and how many people come from outside or on short commutes."""

    people: int
    destinations: int
    outside: int
    short: int


@dataclass(frozen=True, kw_only=True)
class Counts:
    """Both tables in numbers; of all and of short commutes, how many destinations were compared, could not be
    compared, and lost theirs to the synthesis.
    """

    places: int
    original: SideCounts
    synthetic: SideCounts
    compared: dict[str, int]
    left_out: dict[str, int]
    lost: dict[str, int]


@dataclass(frozen=True, kw_only=True, eq=False)
class Evaluation:
    """The figures of one synthetic table.

    `destinations` has a row per destination of either table: people, people from outside, and for all and for short
    commutes how many there are and how long on average, each originally and synthetically.

    >>> same = sf.commute.evaluate(flows, flows)
    >>> same.unit
    'mi'
    """

    unit: str
    short: float
    levels: tuple[str, ...]
    counts: Counts
    measurements: dict[str, Measurement]
    sizes: dict[str, list[distances.SizeClass]]
    bins: dict[str, list[int]]
    destinations: pl.DataFrame

    def __getitem__(self, measure: str) -> float:
        return self.measurements[measure].value

    def values(self) -> dict[str, float | None]:
        """Every measure, `None` where it is not defined."""
        return {name: one.value if math.isfinite(one.value) else None for name, one in self.measurements.items()}

    def csv(self) -> str:
        """The table of destinations as comma-separated values."""
        return self.destinations.write_csv()


def evaluate(
    original: Flows,
    synthetic: Flows,
    *,
    regions: str | Sequence[str] | None = None,
    short: float | None = None,
    unit: str = "mi",
    within: float = math.inf,
) -> Evaluation:
    """Compare synthetic flows with the original ones, which then know that measures of them were shown.

    Distances are compared `within` so many kilometres: those beyond are not told by flows that have people from
    "outside" there. `regions` names the columns of the places to gather flows by; `short` is the limit of short
    commutes in `unit`, by default the published 6.23 miles.

    >>> sf.commute.evaluate(flows, flows, regions="town").values()["distance_error"]
    0.0
    """
    levels = (regions,) if isinstance(regions, str) else tuple(regions or ())
    short = _limit(short, unit)
    if original.places is not synthetic.places and not original.places.ids.equals(synthetic.places.ids):
        raise DataError("the synthetic flows are between other places than the original ones; read both with the same")
    original.note_look(LOOK)
    destinations = np.union1d(original.destinations, synthetic.destinations)
    sides = [distances.Travel(flows, unit, within) for flows in (original, synthetic)]
    every, only_short = (distances.Compared(sides, destinations, below) for below in (np.inf, short))
    compared = dict(zip(PARTS, (every, only_short), strict=True))
    bins = [side.histogram() for side in sides]
    about = measures(unit, short, levels)
    table = _destinations((original, synthetic), destinations, every, only_short)
    people = table["people"].to_numpy()
    values = {
        **distances.mean_error("distance", every, people),
        **distances.mean_error("short", only_short, people),
        "distance_variation": distances.total_variation(*bins),
        "distance_shift": distances.wasserstein(*sides),
        **_flow_values(original, synthetic, levels),
    }
    return Evaluation(
        unit=unit,
        short=short,
        levels=levels,
        counts=_counts(table, compared, len(original.places)),
        measurements={name: Measurement(measure=about[name], value=value) for name, value in values.items()},
        sizes={part: distances.by_size(one, people) for part, one in compared.items()},
        bins={"from": list(distances.BINS), "original": bins[0].tolist(), "synthetic": bins[1].tolist()},
        destinations=table,
    )


def _limit(short: float | None, unit: str) -> float:
    if unit not in UNITS:
        raise ParameterError(f"unit is {unit!r}; expected {' or '.join(UNITS)}")
    if short is None:
        return SHORT_MILES * KILOMETRES["mi"] / KILOMETRES[unit]
    if not (math.isfinite(short) and short > 0):
        raise ParameterError(f"short is {short!r}; expected a distance above 0 {UNITS[unit]}")
    return float(short)


def _flow_values(original: Flows, synthetic: Flows, levels: tuple[str, ...]) -> dict[str, float]:
    busy = original.destinations[original.people >= overlap.TOP_PEOPLE]
    one, other = overlap.cells(original), overlap.cells(synthetic)
    values = _likeness("", one, other) | {"top_origins": overlap.top_recall(one, other, busy)}
    for level in levels:
        partition = original.places.partition(level)
        one, other = (overlap.cells(flows, origins=partition) for flows in (original, synthetic))
        living = (overlap.residents(flows, partition) for flows in (original, synthetic))
        values |= _likeness(f"_{level}", one.arriving_in(partition), other.arriving_in(partition)) | {
            f"top_origins_{level}": overlap.top_recall(one, other, busy),
            f"residents_error_{level}": overlap.relative_error(*living),
        }
    return values


def _likeness(suffix: str, one: overlap.Cells, other: overlap.Cells) -> dict[str, float]:
    people = overlap.align(one, other)
    return {
        f"common_part{suffix}": overlap.common_part(*people),
        f"flow_correlation{suffix}": overlap.correlation(*people),
    }


def _destinations(
    sides: tuple[Flows, Flows], destinations: NDArray[np.integer], every: distances.Compared, short: distances.Compared
) -> pl.DataFrame:
    people = np.zeros((2, len(destinations)), dtype=np.int64)
    for row, flows in zip(people, sides, strict=True):
        row[np.searchsorted(destinations, flows.destinations)] = flows.people
    columns = {
        "people": people,
        "outside": people - every.people,
        "short_people": short.people,
        "distance": every.distance,
        "short_distance": short.distance,
    }
    return pl.DataFrame(
        {
            "destination": sides[0].places.ids[destinations],
            **{f"{name}{suffix}": pair[i] for name, pair in columns.items() for i, suffix in enumerate(SUFFIXES)},
        }
    ).fill_nan(None)


def _counts(table: pl.DataFrame, compared: dict[str, distances.Compared], places: int) -> Counts:
    known = table["people"].to_numpy() > 0

    def side(suffix: str) -> SideCounts:
        people, outside, short = (table[f"{name}{suffix}"] for name in ("people", "outside", "short_people"))
        sums = {"people": people, "destinations": people > 0, "outside": outside, "short": short}
        return SideCounts(**{name: int(column.sum()) for name, column in sums.items()})

    return Counts(
        places=places,
        original=side(""),
        synthetic=side("_synthetic"),
        compared={part: int(one.both.sum()) for part, one in compared.items()},
        left_out={part: int((known & ~one.both).sum()) for part, one in compared.items()},
        lost={part: int(one.lost.sum()) for part, one in compared.items()},
    )
