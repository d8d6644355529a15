"""The adversary who knows the method (Wong, Fu, Wang and Pei, Minimality attack, VLDB 2007; Cohen, 2022).

Mondrian cuts as long as it may. So of every cut that it did not make of a published class, the adversary knows that
one side would have failed the requirement, and asks in which of the assignments of the class's sensitive values to its
people that is so. That ranges are tight, with somebody at both ends, tells nothing more to those who know everybody's
quasi-identifiers, and the cuts above a class, which also were the cheapest allowed ones, are not reasoned about.
"""

from collections.abc import Iterator
from math import lgamma
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import ReleaseError
from sfumato.methods.growing.points import PointArrays, Runs
from sfumato.methods.growing.sweep import sweep_cuts
from sfumato.methods.partition.decide import Cut, sweep_rule
from sfumato.methods.partition.search import allow
from sfumato.privacy.claims import Syntactic
from sfumato.privacy.requirements import KAnonymity, Requirement
from sfumato.release import Release
from sfumato.release.kernels import holding_pairs
from sfumato.streams import stream

SAMPLES = 5_000
"""Assignments drawn for a class, at most; where there are no more than these, all are gone through."""
ENOUGH = 1_000
"""When so many of the drawn assignments fit, no more are drawn."""
MIN_KEPT = 500
"""Fewer that fit say too little (a share is off by up to 0.02): the class is believed as it is published."""
MAX_PEOPLE = 200
"""Larger classes are believed as published: what is known of one cut hardly tells about one of so many."""
MAX_CLASSES = 500
"""Classes that are reasoned about, drawn at random where there are more."""
SAMPLES_AT_ONCE = 500
CUTS_AT_ONCE = 16


class Members(NamedTuple):
    """The points of one class, the people at each, and which of its cuts leave each point on the left."""

    points: NDArray[np.int64]
    people: NDArray[np.int64]
    left: NDArray[np.float64]  # (cuts, points)


def applies(release: Release) -> bool:
    """Whether Mondrian made the classes, under a requirement on more than their size, and cut as long as it might."""
    requirements = release.claim.requirements if isinstance(release.claim, Syntactic) else ()
    made = release.provenance.method == "mondrian" and "height" not in release.provenance.parameters
    return made and not all(isinstance(one, KAnonymity) for one in requirements)


def minimality_beliefs(
    release: Release,
    points: NDArray[np.int32],
    people: NDArray[np.int64],
    *,
    samples: int = SAMPLES,
    max_classes: int = MAX_CLASSES,
    seed: int = 0,
) -> NDArray[np.float64]:
    """What the adversary believes at each point, where it knows how many people are: (points, values).

    Assignments with the published histogram are equally likely; those in which Mondrian would have gone on are left
    out. Classes that have nothing to cut, many people, or too few drawn assignments that fit are believed as published.
    """
    if not applies(release):
        raise ReleaseError(
            "the minimality adversary attacks Mondrian of any height under a requirement on the sensitive values"
        )
    beliefs, random = release.posteriors(points), stream("minimality", seed)
    classes = [
        one for one in _classes(release, points, people) if len(one[1].left) and one[1].people.sum() <= MAX_PEOPLE
    ]
    if len(classes) > max_classes:
        classes = [classes[number] for number in random.choice(len(classes), max_classes, replace=False)]
    for number, members in classes:
        counts = np.rint(release.histograms[number]).astype(np.int64)
        if counts.sum() == members.people.sum():
            found = _fitting(release, members, counts, samples, random)
            beliefs[members.points] = beliefs[members.points] if found is None else found
    return beliefs


def _requirements(release: Release) -> tuple[Requirement, ...]:
    assert isinstance(release.claim, Syntactic)
    return release.claim.requirements


def _classes(release: Release, points: NDArray[np.int32], people: NDArray[np.int64]) -> Iterator[tuple[int, Members]]:
    """Every class with its members and the cuts that Mondrian proposed last."""
    point, box = holding_pairs(points, release.boxes.arrays)
    group = release.group_of[box]
    order = np.argsort(group, kind="stable")
    numbers, starts = np.unique(group[order], return_index=True)
    ends = np.append(starts[1:], len(order))
    nullable = np.array([axis.nullable for axis in release.schema.quasi])
    arrays = PointArrays(
        positions=points + nullable.astype(np.int32),
        sizes=np.array([axis.positions for axis in release.schema.quasi], dtype=np.int64),
        missing=np.where(nullable, 0, -1).astype(np.int32),
        weights=people,
        cell_start=np.arange(len(points) + 1),
        cell_value=np.zeros(len(points), dtype=np.int32),
        cell_weight=people,
        values=1,
    )
    cut: Cut = "median" if release.provenance.parameters.get("cut") == "median" else "ncp"
    cuts = sweep_cuts(arrays, Runs(point[order], starts, ends), sweep_rule(_requirements(release), cut))
    first = np.searchsorted(cuts.region, np.arange(len(numbers) + 1))
    for i, number in enumerate(numbers):
        members, own = point[order[starts[i] : ends[i]]], slice(first[i], first[i + 1])
        left = (arrays.positions[members][:, cuts.axis[own]] < cuts.position[own]).T
        yield int(number), Members(members, people[members], _even_first(left, people[members]))


def _even_first(left: NDArray[np.bool_], people: NDArray[np.int64]) -> NDArray[np.float64]:
    """Different cuts, the most even ones first: those are the likeliest to be allowed."""
    different = np.unique(left, axis=0).astype(np.float64)
    return np.asarray(different[np.argsort(np.abs(different @ people - people.sum() / 2), kind="stable")])


def _fitting(
    release: Release, members: Members, counts: NDArray[np.int64], samples: int, random: np.random.Generator
) -> NDArray[np.float64] | None:
    """The mean of the assignments that fit, by point: (points, values); nothing if they are too few."""
    every = count_assignments(counts) <= samples
    least = 1 if every else MIN_KEPT
    values = np.repeat(np.arange(len(counts)), counts)
    tried, kept, total = 0, 0, np.zeros((len(members.people), len(counts)))
    for given in _batches(values, samples, random, every=every):
        there = _by_point(given, members.people, len(counts))
        fits = _nothing_to_cut(release, members, counts, there)
        tried, kept = tried + len(fits), kept + int(fits.sum())
        total += there[fits].sum(axis=0)
        if not every and (kept >= ENOUGH or kept * samples < least * tried):
            break
    if kept < least:
        return None
    found = total / kept / members.people[:, None]
    return np.asarray(found if every else _shrink(found, counts / counts.sum(), kept * members.people))


def _by_point(given: NDArray[np.int64], people: NDArray[np.int64], values: int) -> NDArray[np.float64]:
    """The people at each point by value, for each assignment of values to people: (assignments, points, values)."""
    point_of = np.repeat(np.arange(len(people)), people)
    flat = (np.arange(len(given))[:, None] * len(people) + point_of) * values + given
    shape = (len(given), len(people), values)
    return np.bincount(flat.reshape(-1), minlength=int(np.prod(shape))).reshape(shape).astype(np.float64)


def _nothing_to_cut(
    release: Release, members: Members, counts: NDArray[np.int64], there: NDArray[np.float64]
) -> NDArray[np.bool_]:
    """In which assignments no cut is allowed; those that fail one cut are not asked for the others."""
    fits = np.ones(len(there), dtype=bool)
    for start in range(0, len(members.left), CUTS_AT_ONCE):
        asked = np.flatnonzero(fits)
        left = np.rint(members.left[start : start + CUTS_AT_ONCE] @ there[asked])
        flat = left.reshape(-1, len(counts))
        allowed = allow(flat, counts - flat, _requirements(release), release.population)
        fits[asked] = ~allowed.reshape(left.shape[:2]).any(axis=1)
    return fits


def _shrink(
    found: NDArray[np.float64], published: NDArray[np.float64], people: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Shares that were found by sampling so many people, as far as chance alone does not explain them.

    Of the squared distance D from the published shares p, chance makes (1 − Σ p²) / people; the rest is believed
    (the positive-part James–Stein estimate): a largest belief over thousands of samples would be chance otherwise.
    """
    away = found - published
    apart = (away**2).sum(axis=1)
    chance = (1 - (published**2).sum()) / people
    believed = np.maximum(1 - np.divide(chance, apart, out=np.ones_like(apart), where=apart > 0), 0)
    return np.asarray(published + believed[:, None] * away)


def count_assignments(counts: NDArray[np.int64]) -> float:
    """In how many ways the values can be handed out: n! / Π count!, as far as it can be told."""
    log_ways = lgamma(counts.sum() + 1) - sum(lgamma(count + 1) for count in counts)
    return float(np.rint(np.exp(log_ways))) if log_ways < 40 else np.inf


def _batches(
    values: NDArray[np.int64], samples: int, random: np.random.Generator, *, every: bool
) -> Iterator[NDArray[np.int64]]:
    """Assignments of sorted values to people, some at a time: all different ones, or uniformly drawn ones."""
    if every:
        yield _arrangements(values)
        return
    for start in range(0, samples, SAMPLES_AT_ONCE):
        yield random.permuted(np.tile(values, (min(SAMPLES_AT_ONCE, samples - start), 1)), axis=1)


def _arrangements(values: NDArray[np.int64]) -> NDArray[np.int64]:
    """All different orders of some values: (orders, people)."""
    if len(values) <= 1:
        return values[None, :]
    parts = []
    for first in np.unique(values):
        rest = np.delete(values, np.searchsorted(values, first))
        others = _arrangements(rest)
        parts.append(np.column_stack([np.full(len(others), first), others]))
    return np.concatenate(parts)
