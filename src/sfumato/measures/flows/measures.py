"""What the figures of an evaluation mean, which way is better, and in which unit they are."""

from __future__ import annotations

import math

from sfumato.measures.flows.overlap import TOP, TOP_PEOPLE
from sfumato.measures.measurement import Direction, Measure

UNITS = {"mi": "miles", "km": "kilometres"}


def measures(unit: str, short: float, levels: tuple[str, ...]) -> dict[str, Measure]:
    """The measures of an evaluation, by name; those of a level of regions end with its name."""
    found = [*_of_distances(UNITS[unit], short), *_of_flows("", "place", "places")]
    for level in levels:
        found += _of_flows(f"_{level}", level, f"regions ({level})")
        found.append(
            _measure(
                f"residents_error_{level}",
                f"Error of people living in a {level}",
                "lower",
                "relative error",
                f"How far the number of people who come from a {level} is off, relative to the true number; the mean "
                f"over every {level} where somebody lives.",
            )
        )
    return {measure.name: measure for measure in found}


def _of_distances(unit: str, short: float) -> list[Measure]:
    each = (
        "average commute distance of a destination, every destination counting alike (those left without any such "
        "commute like the others of their size)"
    )
    only = f"Only commutes shorter than {short:.4g} {unit} are averaged"
    moved = "The mean distance by which commutes would have to be lengthened or shortened"
    return [
        _measure("distance_error", "Error of average distance", "lower", unit, f"Mean absolute error of the {each}."),
        _measure(
            "distance_bias",
            "Bias of average distance",
            "none",
            unit,
            f"Mean of synthetic minus original {each}: above 0, commutes came out too long.",
            lowest=-math.inf,
        ),
        _measure(
            "short_error",
            "Error of average distance, short commutes",
            "lower",
            unit,
            f"Mean absolute error of the {each}. {only}.",
            highest=short,
        ),
        _measure(
            "short_bias",
            "Bias of average distance, short commutes",
            "none",
            unit,
            f"Mean of synthetic minus original {each}. {only}.",
            lowest=-short,
            highest=short,
        ),
        _measure(
            "distance_variation",
            "Difference of distance distributions",
            "lower",
            "share of people",
            "The share of people who would have to move to another distance bin for the two distributions to be the "
            "same (total variation distance).",
            highest=1,
        ),
        _measure(
            "distance_shift",
            "Shift of distance distribution",
            "lower",
            unit,
            f"{moved} for the two distributions to be the same (Wasserstein-1 distance).",
        ),
    ]


def _of_flows(suffix: str, one: str, many: str) -> list[Measure]:
    between = f"between the same {many}"
    return [
        _measure(
            f"common_part{suffix}",
            f"Common part of commuters by {one}",
            "higher",
            "share of people",
            f"The share of people who travel {between} in both tables: 2 Σ min / (Σ + Σ). Outside is one more origin.",
            highest=1,
        ),
        _measure(
            f"flow_correlation{suffix}",
            f"Correlation of flows by {one}",
            "higher",
            "correlation",
            f"Pearson's correlation of the number of people {between}, over all pairs that occur in either table.",
            lowest=-1,
            highest=1,
        ),
        _measure(
            f"top_origins{suffix}",
            f"Top origins found, by {one}",
            "higher",
            f"share of the top {TOP}",
            f"How many of the {TOP} {many} that send the most people to a destination are also among its {TOP} largest "
            f"synthetic origins; the mean over destinations with at least {TOP_PEOPLE} people. Ties are broken by a "
            "fixed shuffle, the same in both tables.",
            highest=1,
        ),
    ]


def _measure(
    name: str,
    title: str,
    direction: Direction,
    unit: str,
    sentence: str,
    *,
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
