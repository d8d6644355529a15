"""Random releases of random tables, and slow, obvious definitions of every measure to compare the program with.

Everything is counted over explicit rows and over every position of every box, in exact fractions wherever the
definition is rational. Where several guesses are equally good, a definition gives the worst and the best outcome.
"""

from __future__ import annotations

import math
import random
from collections import Counter, defaultdict
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from hypothesis import strategies as st

from reference import Point, Span, box_around, exact, holds, normalized, points_of, positions_of
from sfumato.data import Table, read
from sfumato.privacy.claims import NoGuarantee
from sfumato.release import Boxes, Provenance, Release
from sfumato.schema import Axis, Schema
from strategies import AxisCase, TableCase, tables

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

Box = tuple[Span, ...]
Shares = list[Fraction]
Bounds = tuple[float, float]


@dataclass(frozen=True)
class ReleaseCase:
    """A table, and boxes with weights, groups and histograms that stand in for it."""

    case: TableCase
    boxes: tuple[Box, ...]
    weights: tuple[Fraction, ...]
    groups: tuple[int, ...]
    histograms: tuple[tuple[Fraction, ...], ...]

    @cached_property
    def release(self) -> Release:
        return Release(
            schema=self.case.case.schema.public(),
            boxes=Boxes.of_spans(self.boxes),
            weights=np.array(self.weights, dtype=np.float64),
            group_of=np.array(self.groups, dtype=np.int64),
            histograms=np.array(self.histograms, dtype=np.float64),
            claim=NoGuarantee(reason="drawn at random"),
            provenance=Provenance(method="random"),
        )

    @property
    def rows(self) -> Fraction:
        return sum(self.weights, Fraction(0))

    @property
    def overall(self) -> Shares:
        return normalized([sum(column) for column in zip(*self.histograms, strict=True)])

    @cached_property
    def spread(self) -> dict[Point, Shares]:
        """Expected rows by sensitive value at every point that a box covers, each box spread evenly."""
        found: dict[Point, Shares] = defaultdict(lambda: [Fraction(0)] * len(self.overall))
        for box, weight, group in zip(self.boxes, self.weights, self.groups, strict=True):
            inside, shares = points_of(box), normalized(self.histograms[group])
            for point in inside:
                added = [weight / len(inside) * share for share in shares]
                found[point] = [a + b for a, b in zip(found[point], added, strict=True)]
        return dict(found)


def made_of(case: TableCase, members: Iterable[tuple[Box, int, int]]) -> ReleaseCase:
    """A release from rows of a box, a group and a sensitive value."""
    rows = list(members)
    size = case.case.sensitive.positions
    names = sorted({group for _, group, _ in rows})
    weights = Counter((box, names.index(group)) for box, group, _ in rows)
    counts = Counter((names.index(group), value) for _, group, value in rows)
    histograms = tuple(tuple(Fraction(counts[group, value]) for value in range(size)) for group in range(len(names)))
    boxes, groups = zip(*weights, strict=True)
    return ReleaseCase(case, boxes, tuple(map(Fraction, weights.values())), groups, histograms)


@st.composite
def spans(draw: st.DrawFn, axis: AxisCase) -> Span:
    """Any generalized value of an axis."""
    missing = axis.nullable and draw(st.booleans())
    if missing and draw(st.booleans()):
        return (0, -1, True)
    lo = draw(st.integers(0, axis.size - 1))
    return (lo, draw(st.integers(lo, axis.size - 1)), missing)


def joined(a: Span, b: Span) -> Span:
    """The smallest span that holds both."""
    present = [span for span in (a, b) if span[0] <= span[1]]
    if not present:
        return (0, -1, True)
    return (min(lo for lo, _, _ in present), max(hi for _, hi, _ in present), a[2] or b[2])


@st.composite
def generalized(draw: st.DrawFn, case: TableCase) -> ReleaseCase:
    """Rows in random classes, some rows left out, some boxes wider than their rows."""
    people = case.people
    classes = draw(st.lists(st.integers(-1, 4), min_size=len(people), max_size=len(people)))
    if all(number < 0 for number in classes):
        classes[0] = 0
    box_of = {}
    for number in sorted(set(classes) - {-1}):
        box = box_around([point for (point, _), own in zip(people, classes, strict=True) if own == number])
        if draw(st.booleans()):
            wider = [draw(spans(axis)) for axis in case.case.quasi]
            box = tuple(joined(a, b) for a, b in zip(box, wider, strict=True))
        box_of[number] = box
    rows = zip(people, classes, strict=True)
    return made_of(case, [(box_of[number], number, value) for (_, value), number in rows if number >= 0])


def as_box(point: Point) -> Box:
    return tuple((code, code, False) if code >= 0 else (0, -1, True) for code in point)


@st.composite
def bucketized(draw: st.DrawFn, case: TableCase) -> ReleaseCase:
    """Exact points in random buckets."""
    people = case.people
    buckets = draw(st.lists(st.integers(0, 4), min_size=len(people), max_size=len(people)))
    return made_of(
        case, [(as_box(point), bucket, value) for (point, value), bucket in zip(people, buckets, strict=True)]
    )


@st.composite
def synthetic(draw: st.DrawFn, case: TableCase) -> ReleaseCase:
    """Points with other values than the table's, some of them the table's own; a group for each point."""
    point = st.one_of(
        st.tuples(*(st.sampled_from(axis.codes) for axis in case.case.quasi)),
        st.sampled_from([point for point, _ in case.people]),
    )
    row = st.tuples(point, st.integers(0, case.case.sensitive.positions - 1))
    rows = draw(st.lists(row, min_size=1, max_size=20))
    number = {point: i for i, point in enumerate(dict.fromkeys(point for point, _ in rows))}
    return made_of(case, [(as_box(point), number[point], value) for point, value in rows])


@st.composite
def overlapping(draw: st.DrawFn, case: TableCase) -> ReleaseCase:
    """Boxes anywhere, several to a group, with halves of rows in the histograms."""
    boxes = draw(st.lists(st.tuples(*(spans(axis) for axis in case.case.quasi)), min_size=1, max_size=6))
    groups = [draw(st.integers(0, i)) for i in range(len(boxes))]
    groups = [sorted(set(groups)).index(group) for group in groups]
    size = case.case.sensitive.positions
    halves = [draw(st.lists(st.integers(0, size - 1), min_size=1, max_size=6)) for _ in set(groups)]
    histograms = tuple(tuple(Fraction(values.count(value), 2) for value in range(size)) for values in halves)
    weights = tuple(sum(histograms[group]) / groups.count(group) for group in groups)
    return ReleaseCase(case, tuple(boxes), weights, tuple(groups), histograms)


KINDS = {"generalized": generalized, "bucketized": bucketized, "synthetic": synthetic, "overlapping": overlapping}


@st.composite
def releases(draw: st.DrawFn, most_rows: int = 14, most_quasi: int = 3, most: int = 5) -> ReleaseCase:
    """A small table, and a release of any kind."""
    case = draw(tables(most_rows, most_quasi, most))
    return draw(KINDS[draw(st.sampled_from(sorted(KINDS)))](case))


def small_table(rows: int = 90, seed: int = 5) -> Table:
    """People with an age, a sex that may be missing, a region in a taxonomy, and one of five illnesses."""
    generator = random.Random(seed)
    regions = {"north": ["n1", "n2"], "south": {"coast": ["s1", "s2"], "s3": []}}
    columns = {
        "age": {"role": "quasi", "kind": "numeric", "min": 20, "max": 49},
        "sex": {"role": "quasi", "kind": "categorical", "values": ["f", "m"], "nullable": True},
        "region": {"role": "quasi", "kind": "categorical", "taxonomy": regions},
        "illness": {"role": "sensitive", "kind": "categorical", "values": list("abcde")},
    }
    ages = [generator.randint(20, 49) for _ in range(rows)]
    frame = {
        "age": ages,
        "sex": [generator.choice(["f", "m", "f", "m", None]) for _ in range(rows)],
        "region": [generator.choice(["n1", "n2", "s1", "s2", "s3"]) for _ in range(rows)],
        "illness": ["abcde"[((age - 20) // 7 + generator.choice([0, 0, 1, 3])) % 5] for age in ages],
    }
    return read(pl.DataFrame(frame), Schema.parse({"name": "small", "columns": columns}))


def jensen_shannon(p: Sequence[Fraction], q: Sequence[Fraction]) -> float:
    def towards(a: Sequence[Fraction], b: Sequence[Fraction]) -> float:
        return sum(float(x) * math.log(x / ((x + y) / 2)) for x, y in zip(a, b, strict=True) if x > 0)

    return (towards(p, q) + towards(q, p)) / 2


def total_variation(p: Sequence[Fraction], q: Sequence[Fraction]) -> float:
    return float(sum(abs(x - y) for x, y in zip(p, q, strict=True)) / 2)


def table_shares(case: TableCase) -> Shares:
    values = [value for _, value in case.people]
    return normalized([values.count(value) for value in range(case.case.sensitive.positions)])


def looked_up(release: ReleaseCase, point: Point) -> Shares:
    """The mean of the distributions of all rows whose box holds the point; without any, the overall one."""
    around = [i for i, box in enumerate(release.boxes) if holds(box, point)]
    if not around:
        return release.overall
    total = sum(release.weights[i] for i in around)
    return [
        sum(release.weights[i] / total * normalized(release.histograms[release.groups[i]])[value] for i in around)
        for value in range(len(release.overall))
    ]


def naive_bayes(release: ReleaseCase, point: Point) -> Shares:
    """Pr[value] Π Pr[code | value] from the margins of the spread rows; the prior where nothing is possible."""
    prior = release.overall
    scores = list(prior)
    for axis, code in enumerate(point):
        for value, share in enumerate(prior):
            there = sum((counts[value] for at, counts in release.spread.items() if at[axis] == code), Fraction(0))
            scores[value] *= there / (share * release.rows) if share else 0
    return normalized(scores) if sum(scores) else prior


Beliefs = dict[Point, Shares]


def guessed_right(case: TableCase, beliefs: Beliefs) -> dict[Point, tuple[int, int]]:
    """At each point, the fewest and the most rows that one of the likeliest values gets right."""
    found = {}
    for point, belief in beliefs.items():
        own = [value for where, value in case.people if where == point]
        hits = [own.count(value) for value, share in enumerate(belief) if share == max(belief)]
        found[point] = (min(hits), max(hits))
    return found


def accuracy(case: TableCase, beliefs: Beliefs) -> Bounds:
    hits = guessed_right(case, beliefs).values()
    return sum(least for least, _ in hits) / len(case.people), sum(most for _, most in hits) / len(case.people)


def surest_accuracy(case: TableCase, beliefs: Beliefs, share: float) -> Bounds:
    """Accuracy among the people with the strongest beliefs; of equally sure people, each counts in part."""
    hits, left = guessed_right(case, beliefs), exact(share) * len(case.people)
    quota, correct = left, [Fraction(0), Fraction(0)]
    for confidence in sorted({max(belief) for belief in beliefs.values()}, reverse=True):
        points = [point for point, belief in beliefs.items() if max(belief) == confidence]
        people = sum(where in points for where, _ in case.people)
        taken = min(left, Fraction(people))
        for side in (0, 1):
            correct[side] += taken / people * sum(hits[point][side] for point in points)
        left -= taken
    return float(correct[0] / quota), float(correct[1] / quota)


def certain_rows(release: ReleaseCase) -> set[tuple[Point, int]]:
    """Rows stated exactly: a point with a value, in a group of this one box or of this one value."""
    found = set()
    for box, group in zip(release.boxes, release.groups, strict=True):
        values = [value for value, count in enumerate(release.histograms[group]) if count > 0]
        alone = release.groups.count(group) == 1
        if len(points_of(box)) == 1 and (alone or len(values) == 1):
            found |= {(points_of(box)[0], value) for value in values}
    return found


def look_alikes(release: ReleaseCase) -> dict[frozenset[Point], Fraction]:
    """How many rows are published under each distinct set of points."""
    found: dict[frozenset[Point], Fraction] = defaultdict(Fraction)
    for box, weight in zip(release.boxes, release.weights, strict=True):
        found[frozenset(points_of(box))] += weight
    return found


def halves(codes: range) -> list[frozenset[int]]:
    """A range of numbers and what cutting it in the middle, again and again, gives; the first half is no shorter."""
    if len(codes) < 2:
        return [frozenset(codes)]
    middle = (len(codes) + 1) // 2
    return [frozenset(codes), *halves(codes[:middle]), *halves(codes[middle:])]


def tree_sets(tree: dict[str, Any] | list[str], start: int = 0) -> list[frozenset[int]]:
    """The leaves under the root of a nested taxonomy, then those under each node below it."""
    below: list[frozenset[int]] = []
    at = start
    for label in tree:
        inner = tree[label] if isinstance(tree, dict) else []
        sets = tree_sets(inner, at) if inner else [frozenset({at})]
        below += sets
        at += len(sets[0])
    return [frozenset(range(start, at)), *below]


def node_sets(axis: AxisCase) -> set[frozenset[int]]:
    """The sets of codes that a condition on an axis can ask for: nodes, the missing value, all that is known."""
    found = set(tree_sets(axis.tree) if axis.tree else halves(range(axis.size)))
    if axis.nullable:
        found.add(frozenset({-1}))
    return found - {frozenset(axis.codes)}


Region = tuple[frozenset[int], ...]


def large_populations(case: TableCase, support: float) -> dict[Region, list[int]]:
    """Every conjunction of conditions that enough people satisfy, with these people's sensitive values."""
    whole = [frozenset(axis.codes) for axis in case.case.quasi]
    options = [[everything, *node_sets(axis)] for everything, axis in zip(whole, case.case.quasi, strict=True)]
    found = {}
    for region in product(*options):
        inside = [value for point, value in case.people if in_region(region, point)]
        if list(region) != whole and len(inside) >= exact(support) * len(case.people):
            found[region] = inside
    return found


def in_region(region: Region, point: Point) -> bool:
    return all(code in codes for code, codes in zip(point, region, strict=True))


def expected_in(release: ReleaseCase, region: Region) -> Shares:
    """Expected rows by sensitive value in a region: the sum over its points."""
    inside = [counts for point, counts in release.spread.items() if in_region(region, point)]
    return [sum((counts[value] for counts in inside), Fraction(0)) for value in range(len(release.overall))]


def u_loss(release: ReleaseCase, support: float) -> float:
    losses = []
    for region, values in large_populations(release.case, support).items():
        truth = normalized([values.count(value) for value in range(len(release.overall))])
        expected = expected_in(release, region)
        losses.append(jensen_shannon(truth, normalized(expected) if sum(expected) else release.overall))
    return sum(losses) / len(losses) if losses else 0.0


def region_of(box: Sequence[Span]) -> Region:
    return tuple(frozenset(positions_of(span)) for span in box)


def suppressed(release: ReleaseCase) -> Fraction:
    return max(Fraction(0), len(release.case.people) - release.rows)


def mean_penalty(release: ReleaseCase, widths: Sequence[Sequence[int]]) -> Fraction:
    """Over all rows and axes, how much wider than one position a value is, relative to the axis; suppressed rows 1."""
    total = suppressed(release)
    for weight, spread in zip(release.weights, widths, strict=True):
        shares = [
            Fraction(max(width - 1, 0), max(axis.positions - 1, 1))
            for width, axis in zip(spread, release.case.case.quasi, strict=True)
        ]
        total += weight * sum(shares) / len(shares)
    return total / (release.rows + suppressed(release))


def published_widths(release: ReleaseCase) -> list[list[int]]:
    return [[len(positions_of(span)) for span in box] for box in release.boxes]


def present_widths(release: ReleaseCase) -> list[list[int]]:
    """Categories that occur in a box, or the range from the least to the greatest number, a missing value as one."""
    found, quasi = [], release.case.case.quasi
    for box in release.boxes:
        inside = [point for point, _ in release.case.people if holds(box, point)]
        found.append([occurring(axis, {point[i] for point in inside}) for i, axis in enumerate(quasi)])
    return found


def occurring(axis: AxisCase, codes: set[int]) -> int:
    numbers = sorted(codes - {-1})
    if not axis.spaced or not numbers:
        return len(codes)
    return numbers[-1] - numbers[0] + 1 + (-1 in codes)


def discernibility(release: ReleaseCase) -> Fraction:
    """Every row counts the rows published like it; a suppressed row counts all rows of the table."""
    alike = sum((rows * rows for rows in look_alikes(release).values()), Fraction(0))
    return alike + suppressed(release) * len(release.case.people)


def apart(axes: Sequence[Axis], boxes: Boxes, line: int, person: Sequence[int]) -> float:
    """On each axis 0 inside the box, 1 for another category, the share of the range in between for numbers."""
    total = 0.0
    for number, (axis, code) in enumerate(zip(axes, person, strict=True)):
        lo, hi, missing = boxes.span(line, number)
        inside = missing if code < 0 else lo <= code <= hi
        if inside:
            continue
        known = code >= 0 and lo <= hi
        total += min(abs(lo - code), abs(hi - code)) / (axis.size - 1) if axis.spaced and known else 1
    return total


def dominated(points: Sequence[tuple[float, float]], slack: float) -> list[bool]:
    """Which points another one beats: no worse in either measure and better in one, beyond `slack`."""

    def beats(a: tuple[float, float], b: tuple[float, float]) -> bool:
        no_worse = all(x <= y + slack for x, y in zip(a, b, strict=True))
        return no_worse and any(x < y - slack for x, y in zip(a, b, strict=True))

    usable = [not any(map(math.isnan, point)) for point in points]
    return [
        not own or any(beats(other, point) for other, good in zip(points, usable, strict=True) if good)
        for point, own in zip(points, usable, strict=True)
    ]
