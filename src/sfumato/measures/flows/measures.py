"""What the figures of an evaluation mean, which way is better, and in which unit they are."""

import math
from collections.abc import Iterator
from typing import Any

from sfumato.measures.flows.overlap import TOP, TOP_PEOPLE
from sfumato.measures.measurement import Direction, Measure

UNITS = {"mi": "miles", "km": "kilometres"}
DISTRIBUTION = ("distance_variation", "distance_shift")
"""The measures of the distribution of distances as a whole."""


def swept_measures(levels: tuple[str, ...]) -> tuple[str, ...]:
    """The measures to be shown against epsilon: flows between regions where there are any, else between places."""
    suffix = f"_{levels[0]}" if levels else ""
    return "short_error", f"common_part{suffix}", "distance_variation", f"top_origins{suffix}"


def headline_measures(levels: tuple[str, ...]) -> tuple[str, ...]:
    """The measures that settings are compared by: those shown against epsilon, and the error of all distances."""
    return "distance_error", *swept_measures(levels)


def measures(unit: str, short: float, levels: tuple[str, ...]) -> dict[str, Measure]:
    """The measures of an evaluation, by name; those of a level of regions end with its name."""
    found = [*_of_distances(UNITS[unit], short), *_of_flows("", "place", "places")]
    for level in levels:
        found += _of_flows(f"_{level}", level, f"regions ({level})")
        title = f"Error of people living in a {level}"
        living = (
            f"How far the number of people who come from a {level} is off, relative to the true number; the mean over "
            f"every {level} where somebody lives."
        )
        found.append(_measure(f"residents_error_{level}", title, "lower", "relative error", sentence=living))
    return {measure.name: measure for measure in found}


def _of_distances(unit: str, short: float) -> Iterator[Measure]:
    each = (
        "average commute distance of a destination, every destination counting alike (those left without any such "
        "commute like the others of their size)"
    )
    off, too_long = f"Mean absolute error of the {each}", f"Mean of synthetic minus original {each}"
    only = f"Only commutes shorter than {short:.4g} {unit} are averaged."
    moved = (
        "The share of people who would have to move to another distance bin for the two distributions to be the same "
        "(total variation distance)."
    )
    shifted = (
        "The mean distance by which commutes would have to be lengthened or shortened for the two distributions to be "
        "the same (Wasserstein-1 distance)."
    )
    error, bias = "Error of average distance", "Bias of average distance"
    above, within = f"{too_long}: above 0, commutes came out too long.", {"lowest": -short, "highest": short}
    yield _measure("distance_error", error, "lower", unit, sentence=f"{off}.")
    yield _measure("distance_bias", bias, "none", unit, lowest=-math.inf, sentence=above)
    yield _measure("short_error", f"{error}, short commutes", "lower", unit, highest=short, sentence=f"{off}. {only}")
    yield _measure("short_bias", f"{bias}, short commutes", "none", unit, **within, sentence=f"{too_long}. {only}")
    title = "Difference of distance distributions"
    yield _measure("distance_variation", title, "lower", "share of people", highest=1, sentence=moved)
    yield _measure("distance_shift", "Shift of distance distribution", "lower", unit, sentence=shifted)


def _of_flows(suffix: str, one: str, many: str) -> Iterator[Measure]:
    between = f"between the same {many}"
    common = f"The share of people who travel {between} in both tables: 2 Σ min / (Σ + Σ). Outside is one more origin."
    alike = f"Pearson's correlation of the number of people {between}, over all pairs that occur in either table."
    found = (
        f"How many of the {TOP} {many} that send the most people to a destination are also among its {TOP} largest "
        f"synthetic origins; the mean over destinations with at least {TOP_PEOPLE} people. Ties are broken by a fixed "
        "shuffle, the same in both tables."
    )
    for name, title, unit, lowest, sentence in (
        ("common_part", f"Common part of commuters by {one}", "share of people", 0.0, common),
        ("flow_correlation", f"Correlation of flows by {one}", "correlation", -1, alike),
        ("top_origins", f"Top origins found, by {one}", f"share of the top {TOP}", 0.0, found),
    ):
        yield _measure(f"{name}{suffix}", title, "higher", unit, lowest=lowest, highest=1, sentence=sentence)


def _measure(name: str, title: str, direction: Direction, unit: str, **more: Any) -> Measure:
    return Measure(name, title, "utility", direction, unit, **more)
