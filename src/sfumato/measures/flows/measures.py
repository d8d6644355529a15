"""What the figures of an evaluation mean, which way is better, and in which unit they are."""

from __future__ import annotations

import math

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
        living = (
            f"How far the number of people who come from a {level} is off, relative to the true number; the mean over "
            f"every {level} where somebody lives."
        )
        title = f"Error of people living in a {level}"
        found.append(_measure(f"residents_error_{level}", title, "lower", "relative error", living))
    return {measure.name: measure for measure in found}


def _of_distances(unit: str, short: float) -> list[Measure]:
    each = (
        "average commute distance of a destination, every destination counting alike (those left without any such "
        "commute like the others of their size)"
    )
    only = f"Only commutes shorter than {short:.4g} {unit} are averaged."
    error, bias = "Error of average distance", "Bias of average distance"
    off, too_long = f"Mean absolute error of the {each}", f"Mean of synthetic minus original {each}"
    moved = (
        "The share of people who would have to move to another distance bin for the two distributions to be the same "
        "(total variation distance)."
    )
    shifted = (
        "The mean distance by which commutes would have to be lengthened or shortened for the two distributions to be "
        "the same (Wasserstein-1 distance)."
    )
    above = f"{too_long}: above 0, commutes came out too long."
    return [
        _measure("distance_error", error, "lower", unit, f"{off}."),
        _measure("distance_bias", bias, "none", unit, above, -math.inf),
        _measure("short_error", f"{error}, short commutes", "lower", unit, f"{off}. {only}", 0.0, short),
        _measure("short_bias", f"{bias}, short commutes", "none", unit, f"{too_long}. {only}", -short, short),
        _measure(
            "distance_variation", "Difference of distance distributions", "lower", "share of people", moved, 0.0, 1
        ),
        _measure("distance_shift", "Shift of distance distribution", "lower", unit, shifted),
    ]


def _of_flows(suffix: str, one: str, many: str) -> list[Measure]:
    between = f"between the same {many}"
    common = f"The share of people who travel {between} in both tables: 2 Σ min / (Σ + Σ). Outside is one more origin."
    alike = f"Pearson's correlation of the number of people {between}, over all pairs that occur in either table."
    found = (
        f"How many of the {TOP} {many} that send the most people to a destination are also among its {TOP} largest "
        f"synthetic origins; the mean over destinations with at least {TOP_PEOPLE} people. Ties are broken by a fixed "
        "shuffle, the same in both tables."
    )
    share, top = "share of people", f"share of the top {TOP}"
    return [
        _measure(f"common_part{suffix}", f"Common part of commuters by {one}", "higher", share, common, 0.0, 1),
        _measure(f"flow_correlation{suffix}", f"Correlation of flows by {one}", "higher", "correlation", alike, -1, 1),
        _measure(f"top_origins{suffix}", f"Top origins found, by {one}", "higher", top, found, 0.0, 1),
    ]


def _measure(
    name: str,
    title: str,
    direction: Direction,
    unit: str,
    sentence: str,
    lowest: float = 0.0,
    highest: float | None = None,
) -> Measure:
    return Measure(
        name=name,
        title=title,
        family="utility",
        direction=direction,
        unit=unit,
        sentence=sentence,
        lowest=lowest,
        highest=highest,
    )
