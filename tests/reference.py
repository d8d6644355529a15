"""Slow, obvious definitions to compare the program with; nothing here is shared with it.

A person is a pair of a point (codes, -1 where missing) and a sensitive code. Exact fractions wherever the
definition is rational; a threshold given as a float means the decimal number it prints as.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
from scipy.optimize import linprog

Point = tuple[int, ...]
Person = tuple[Point, int]
Group = list[Person]
Span = tuple[int, int, bool]
Allowed = Callable[[Group], bool]
SLACK = 1e-9


def exact(number: float) -> Fraction:
    return Fraction(str(number))


def histogram(values: Iterable[int], size: int) -> list[int]:
    counts = Counter(values)
    return [counts[value] for value in range(size)]


def normalized(counts: Sequence[int]) -> list[Fraction]:
    return [Fraction(count, sum(counts)) for count in counts]


def is_k_anonymous(counts: Sequence[int], table: Sequence[int], k: int) -> bool:
    return sum(counts) >= k


def is_distinct_diverse(counts: Sequence[int], table: Sequence[int], l: float) -> bool:
    return sum(1 for count in counts if count > 0) >= l


def is_probabilistic_diverse(counts: Sequence[int], table: Sequence[int], l: float) -> bool:
    return max(normalized(counts)) <= 1 / exact(l)


def is_entropy_diverse(counts: Sequence[int], table: Sequence[int], l: float) -> bool:
    entropy = -sum(float(share) * math.log(share) for share in normalized(counts) if share > 0)
    return entropy >= math.log(l) - SLACK


def is_recursive_diverse(counts: Sequence[int], table: Sequence[int], l: int, c: float) -> bool:
    falling = sorted(counts, reverse=True)
    return falling[0] < exact(c) * sum(falling[l - 1 :])


def is_delta_private(counts: Sequence[int], table: Sequence[int], delta: float) -> bool:
    pairs = zip(normalized(counts), normalized(table), strict=True)
    return all(p > 0 and abs(math.log(p / q)) <= delta + SLACK for p, q in pairs if q > 0)


def is_alpha_k_anonymous(counts: Sequence[int], table: Sequence[int], alpha: float, k: int) -> bool:
    return sum(counts) >= k and max(normalized(counts)) <= exact(alpha)


def is_beta_like(counts: Sequence[int], table: Sequence[int], beta: float) -> bool:
    pairs = zip(normalized(counts), normalized(table), strict=True)
    return all((p - q) / q <= exact(beta) for p, q in pairs if q > 0)


def is_enhanced_beta_like(counts: Sequence[int], table: Sequence[int], beta: float) -> bool:
    pairs = zip(normalized(counts), normalized(table), strict=True)
    return all((p - q) / q <= min(beta, -math.log(q)) + SLACK for p, q in pairs if q > 0)


def is_close(counts: Sequence[int], table: Sequence[int], t: float) -> bool:
    """t-closeness where any two values are equally far apart."""
    pairs = zip(normalized(counts), normalized(table), strict=True)
    return sum(max(p - q, Fraction(0)) for p, q in pairs) <= exact(t)


def transport(p: Sequence[float], q: Sequence[float], ground: np.ndarray[Any, Any]) -> float:
    """The least cost of moving `p` to `q`, by linear programming over all plans."""
    size = len(p)
    rows = np.kron(np.eye(size), np.ones(size))
    columns = np.kron(np.ones(size), np.eye(size))
    constraints = np.vstack([rows, columns])
    solved = linprog(ground.ravel(), A_eq=constraints, b_eq=np.concatenate([p, q]), method="highs")
    assert solved.status == 0, solved.message
    return float(solved.fun)


def equal_ground(size: int) -> np.ndarray[Any, Any]:
    return 1.0 - np.eye(size)


def ordered_ground(size: int) -> np.ndarray[Any, Any]:
    steps = np.arange(size)
    return np.abs(steps[:, None] - steps[None, :]) / (size - 1)


def leaf_paths(tree: dict[str, Any] | list[str], above: tuple[int, ...] = ()) -> list[tuple[int, ...]]:
    """The way down to each leaf of a nested taxonomy, as positions among siblings."""
    if isinstance(tree, list):
        return [(*above, i) for i in range(len(tree))]
    paths = []
    for i, below in enumerate(tree.values()):
        paths += leaf_paths(below, (*above, i)) if below else [(*above, i)]
    return paths


def hierarchical_ground(tree: dict[str, Any] | list[str], nullable: bool) -> np.ndarray[Any, Any]:
    """Height of the lowest common ancestor over the height of the tree; a missing value hangs under the root."""
    paths = leaf_paths(tree)
    if nullable:
        paths.append((len(tree),))
    tallest = max(map(len, paths))

    def height(node: tuple[int, ...]) -> int:
        return max(len(path) - len(node) for path in paths if path[: len(node)] == node)

    ground = np.zeros((len(paths), len(paths)))
    for i, a in enumerate(paths):
        for j, b in enumerate(paths):
            if i != j:
                common = next(at for at in range(len(a) + 1) if a[: at + 1] != b[: at + 1])
                ground[i, j] = height(a[:common]) / tallest
    return ground


def box_around(points: Sequence[Point]) -> tuple[Span, ...]:
    """On each axis, the smallest interval with all codes that are there, and whether a missing one is."""
    spans = []
    for codes in zip(*points, strict=True):
        present = [code for code in codes if code >= 0]
        spans.append((min(present), max(present), -1 in codes) if present else (0, -1, True))
    return tuple(spans)


def positions_of(span: Span) -> list[int]:
    lo, hi, missing = span
    return [-1] * missing + list(range(lo, hi + 1))


def points_of(box: Sequence[Span]) -> list[Point]:
    """Every combination of values inside a box."""
    return list(product(*map(positions_of, box)))


def holds(box: Sequence[Span], point: Sequence[int]) -> bool:
    return all(code in positions_of(span) for code, span in zip(point, box, strict=True))


def penalty(points: Sequence[Point], positions: Sequence[int]) -> Fraction:
    """Normalized certainty penalty of one row of a class."""
    spans = box_around(points)
    return sum(
        (Fraction(len(positions_of(span)) - 1, max(size - 1, 1)) for span, size in zip(spans, positions, strict=True)),
        Fraction(0),
    )


def cuts(group: Group, axis: int) -> list[int]:
    """The codes after which a class can be cut in two non-empty parts."""
    return sorted({point[axis] for point, _ in group})[:-1]


def sides(group: Group, axis: int, code: int) -> tuple[Group, Group]:
    return [p for p in group if p[0][axis] <= code], [p for p in group if p[0][axis] > code]


def median_cuts(group: Group, axis: int) -> list[int]:
    """The cuts on either side of the median: the median to the left first, where both exist."""
    codes = sorted(point[axis] for point, _ in group)
    median = codes[(len(codes) - 1) // 2]
    possible = cuts(group, axis)
    before = [code for code in possible if code < median]
    return [code for code in possible if code == median] + before[-1:]


def best_ncp_cut(group: Group, positions: Sequence[int], allowed: Allowed) -> tuple[int, int] | None:
    """The allowed cut with the least total penalty; of equals the first axis, then the first code."""
    best = None
    for axis in range(len(positions)):
        for code in cuts(group, axis):
            parts = sides(group, axis, code)
            if all(map(allowed, parts)):
                cost = sum(len(part) * penalty([point for point, _ in part], positions) for part in parts)
                if best is None or (cost, axis, code) < best:
                    best = (cost, axis, code)
    return best and best[1:]


def best_median_cut(group: Group, positions: Sequence[int], allowed: Allowed) -> tuple[int, int] | None:
    """An allowed median cut on the widest axis; of equals the median to the left, then the first axis."""
    best = None
    spans = box_around([point for point, _ in group])
    for axis, size in enumerate(positions):
        width = Fraction(len(positions_of(spans[axis])) - 1, max(size - 1, 1))
        median = sorted(point[axis] for point, _ in group)[(len(group) - 1) // 2]
        for code in median_cuts(group, axis):
            rank = (-width, code != median, axis, code)
            if all(map(allowed, sides(group, axis, code))) and (best is None or rank < best):
                best = rank
    return best and best[2:]


def greedy_partition(
    people: Group,
    positions: Sequence[int],
    allowed: Allowed,
    choose: Callable[[Group, Sequence[int], Allowed], tuple[int, int] | None],
    height: int = 1_000,
) -> list[Group]:
    """Cut as `choose` says until it finds no cut, at most so many times in a row."""
    chosen = choose(people, positions, allowed) if height else None
    if chosen is None:
        return [people]
    parts = (greedy_partition(side, positions, allowed, choose, height - 1) for side in sides(people, *chosen))
    return [group for part in parts for group in part]


def cuts_needed(groups: Sequence[Group]) -> int | None:
    """The least number of cuts in a row that separates all groups, or `None` if no cuts do."""
    if len(groups) == 1:
        return 0
    everybody = [person for group in groups for person in group]
    best = None
    for axis in range(len(everybody[0][0])):
        for code in cuts(everybody, axis):
            parts = [
                [group for group in groups if all((p[0][axis] > code) == above for p in group)] for above in (0, 1)
            ]
            if sum(map(len, parts)) == len(groups):
                needed = [cuts_needed(part) for part in parts]
                if None not in needed and (best is None or 1 + max(needed) < best):
                    best = 1 + max(needed)
    return best


def posterior(
    point: Point,
    boxes: Sequence[Sequence[Span]],
    weights: Sequence[float],
    groups: Sequence[int],
    histograms: Sequence[Sequence[float]],
) -> list[float]:
    """The weighted mean of the distributions of the boxes around a point; without any, the overall one."""
    around = [i for i, box in enumerate(boxes) if holds(box, point)]
    size = len(histograms[0])
    total = sum(weights[i] for i in around)
    if total == 0:
        overall = [sum(counts[value] for counts in histograms) for value in range(size)]
        return [count / sum(overall) for count in overall]
    belief = [0.0] * size
    for i in around:
        counts = histograms[groups[i]]
        for value in range(size):
            belief[value] += weights[i] / total * counts[value] / sum(counts)
    return belief


def estimate(
    region: Sequence[Span],
    boxes: Sequence[Sequence[Span]],
    weights: Sequence[float],
    groups: Sequence[int],
    histograms: Sequence[Sequence[float]],
) -> list[float]:
    """Expected rows by sensitive value in a region, every box spread evenly over its positions."""
    expected: dict[int, float] = defaultdict(float)
    inside = set(points_of(region))
    for box, weight, group in zip(boxes, weights, groups, strict=True):
        within = points_of(box)
        share = sum(point in inside for point in within) / len(within)
        counts = histograms[group]
        for value, count in enumerate(counts):
            expected[value] += weight * share * count / sum(counts)
    return [expected[value] for value in range(len(histograms[0]))]
