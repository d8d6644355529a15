"""Anatomy: buckets of different values, every row in one of them, and nothing to learn from which row went where."""

from __future__ import annotations

from collections import Counter
from itertools import permutations
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from sfumato.data import read
from sfumato.errors import ParameterError, UnsatisfiableError
from sfumato.mechanisms.noise import SimulatedSource, Source, SystemSource
from sfumato.methods import Anatomy
from sfumato.methods.base import qualify
from sfumato.methods.partition.anatomy import fill_buckets
from sfumato.privacy.claims import NoGuarantee
from sfumato.schema import Schema
from strategies import TableCase, tables

if TYPE_CHECKING:
    import random

    from numpy.typing import NDArray

    from sfumato.data import Table
    from sfumato.release import Release

Person = tuple[tuple[int, ...], int]


def contents(release: Release) -> list[tuple[list[tuple[int, ...]], list[int]]]:
    """The points and the values in each bucket, as the recipient sees them."""
    assert release.boxes.are_points.all()
    points = np.where(release.boxes.missing, -1, release.boxes.lo)
    found = []
    for bucket, counts in enumerate(release.histograms.astype(int)):
        inside = np.flatnonzero(release.group_of == bucket)
        rows = [tuple(points[box].tolist()) for box in inside for _ in range(int(release.weights[box]))]
        found.append((rows, [value for value, count in enumerate(counts) for _ in range(count)]))
    return found


def could_come_from(buckets: list[tuple[list[tuple[int, ...]], list[int]]], left: Counter[Person]) -> bool:
    """Whether values can be handed to points inside the buckets so that exactly the given people come out."""
    if not buckets:
        return not +left
    points, values = buckets[0]
    for order in set(permutations(values)):
        people = Counter(zip(points, order, strict=True))
        if people <= left and could_come_from(buckets[1:], left - people):
            return True
    return False


@given(tables(most_rows=12, most_quasi=2, most=4), st.sampled_from([2, 2, 3]), st.integers(0, 99))
def test_every_row_is_in_one_bucket_of_different_values(case: TableCase, l: int, seed: int) -> None:
    commonest = max(Counter(value for _, value in case.people).values())
    if commonest * l > len(case.people):
        with pytest.raises(UnsatisfiableError, match=f"{l}-diverse"):
            Anatomy(l=l).publish(case.table, SimulatedSource(seed))
        return
    buckets = contents(Anatomy(l=l).publish(case.table, SimulatedSource(seed)))
    for points, values in buckets:
        assert len(points) == len(values) == len(set(values)) >= l
    assert len(buckets) == len(case.people) // l
    assert could_come_from(buckets, Counter(case.people))


def test_values_dealt_to_the_wrong_buckets_would_be_noticed() -> None:
    """0 has a, 1 has b, 2 has c, 3 has d: a bucket {0, 1} cannot hold c."""
    people = Counter({((0,), 0): 1, ((1,), 1): 1, ((2,), 2): 1, ((3,), 3): 1})
    assert could_come_from([([(0,), (1,)], [1, 0]), ([(2,), (3,)], [2, 3])], people)
    assert not could_come_from([([(0,), (1,)], [0, 2]), ([(2,), (3,)], [1, 3])], people)


@st.composite
def diverse_counts(draw: st.DrawFn) -> tuple[list[int], int]:
    """Rows by value, the commonest with a share of at most 1/l, often exactly that."""
    l = draw(st.integers(2, 6))
    most = draw(st.integers(1, 40))
    needed = (l - 1) * most + draw(st.sampled_from([0, 0, 1, 2, 7]))
    others: list[int] = []
    while sum(others) < needed:
        others.append(min(draw(st.integers(1, most)), needed - sum(others)))
    counts = [most, *others, *([0] * draw(st.integers(0, 2)))]
    return draw(st.permutations(counts)), l


@given(diverse_counts())
def test_buckets_can_be_filled_whenever_no_value_exceeds_its_share(drawn: tuple[list[int], int]) -> None:
    counts, l = drawn
    bucket_of_row = fill_buckets(np.array(counts, dtype=np.int64), l)
    value_of_row = np.repeat(np.arange(len(counts)), counts)
    pairs = list(zip(bucket_of_row.tolist(), value_of_row.tolist(), strict=True))
    assert len(set(pairs)) == sum(counts), "a bucket holds a value twice"
    sizes = Counter(bucket for bucket, _ in pairs)
    assert sorted(sizes) == list(range(sum(counts) // l))
    assert min(sizes.values()) >= l


def town(values: str) -> Table:
    """A person at each number, with the given values."""
    columns = {
        "number": {"role": "quasi", "kind": "numeric", "min": 0, "max": len(values) - 1},
        "secret": {"role": "sensitive", "kind": "categorical", "values": sorted(set(values))},
    }
    frame = pl.DataFrame({"number": range(len(values)), "secret": list(values)})
    return read(frame, Schema.parse({"columns": columns}))


@pytest.mark.parametrize(("values", "l"), [("aabc", 2), ("aabbcc", 3), ("aaabbcdd", 2), ("abcd", 4), ("aaabcdefg", 3)])
def test_the_commonest_value_may_have_exactly_its_share(values: str, l: int) -> None:
    assert len(contents(Anatomy(l=l).publish(town(values)))) == len(values) // l
    with pytest.raises(UnsatisfiableError, match=r"'a' has \d+\.\d% of the rows, above 1/"):
        Anatomy(l=l).publish(town("a" * len(values) + values))


def test_one_row_more_of_the_commonest_value_is_refused() -> None:
    Anatomy(l=2).publish(town("aaabbc"))
    with pytest.raises(UnsatisfiableError, match=r"'a' has 57.1% of the rows, above 1/2"):
        Anatomy(l=2).publish(town("aaaabbc"))


@given(tables(most_rows=16, most_quasi=2, most=4), st.integers(0, 99), st.randoms(use_true_random=False))
def test_a_seed_gives_one_result_whatever_the_order_of_rows(
    case: TableCase, seed: int, shuffler: random.Random
) -> None:
    if 2 * case.table.overall.max() > case.table.n:
        return
    order = list(range(len(case.rows)))
    shuffler.shuffle(order)
    other = read(case.frame[order], case.case.schema)
    ours, theirs = (Anatomy(l=2).publish(table, SimulatedSource(seed)) for table in (case.table, other))
    assert contents(ours) == contents(theirs)
    assert np.array_equal(ours.weights, theirs.weights)


def test_a_seeded_release_promises_nothing_and_a_real_one_does() -> None:
    table = town("aabbccddee")
    assert Anatomy(l=3).publish(table, SimulatedSource(1)).claim == NoGuarantee(reason="seeded")
    for source in (None, SystemSource()):
        release = Anatomy(l=3).publish(table, source)
        assert release.claim == qualify(Anatomy(l=3).claim, table.schema)
        assert release.layout == "buckets"
        assert release.violations() == []


def test_two_real_releases_differ() -> None:
    """Forty people are paired in the same way twice with probability 1/20!, whatever the numbers of buckets."""
    table = town("ab" * 20)

    def pairs(source: Source | None) -> list[object]:
        return sorted(sorted(points) for points, _ in contents(Anatomy(l=2).publish(table, source)))

    assert pairs(None) != pairs(None)
    assert pairs(SimulatedSource(1)) != pairs(SimulatedSource(2))
    assert pairs(SimulatedSource(1)) == pairs(SimulatedSource(1))


class SortedSource(Source):
    """A source that leaves everything in order."""

    protects = False

    def words(self, count: int) -> NDArray[np.uint64]:
        return np.arange(count, dtype=np.uint64)


class HalfShuffledSource(SimulatedSource):
    """A source that keeps the order with probability one tenth."""

    def permutation(self, count: int) -> NDArray[np.int64]:
        order = super().permutation(count)
        return np.arange(count) if self._generator.random() < 0.1 else order


def partners(source: Source, draws: int) -> tuple[Counter[tuple[int, ...]], Counter[int]]:
    """Over many releases of three a, two b and a c: who shares a bucket with each a, and the bucket of the c."""
    table = town("aaabbc")
    together: Counter[tuple[int, ...]] = Counter()
    bucket_of_c: Counter[int] = Counter()
    for _ in range(draws):
        release = Anatomy(l=2).publish(table, source)
        bucket_of = dict(zip(release.boxes.lo[:, 0].tolist(), release.group_of.tolist(), strict=True))
        other = {bucket_of[number]: number for number in (3, 4, 5)}
        together[tuple(other[bucket_of[number]] for number in (0, 1, 2))] += 1
        bucket_of_c[bucket_of[5]] += 1
    return together, bucket_of_c


def is_uneven(counts: Counter[object], cells: int, false_failure: float) -> bool:
    """Whether equally likely cells fall outside their exact binomial limits; the chance of that is shared out."""
    draws, tail = sum(counts.values()), false_failure / (2 * cells)
    low, high = binom.ppf(tail, draws, 1 / cells) - 1, binom.isf(tail, draws, 1 / cells) + 1
    return len(counts) < cells or any(not low <= count <= high for count in counts.values())


def test_which_row_goes_to_which_bucket_is_uniform() -> None:
    """False failures: at most 1e-6 over both checks, by a union bound over exact binomial tails.

    Six ways to pair three a with two b and a c are equally likely, and so are the three numbers of c's bucket. The
    twins, which keep the order of rows always or one time in ten, are rejected.
    """
    together, bucket_of_c = partners(SimulatedSource(11), 2_000)
    assert not is_uneven(together, 6, 5e-7)
    assert not is_uneven(bucket_of_c, 3, 5e-7)
    for twin in (SortedSource(), HalfShuffledSource(11)):
        together, bucket_of_c = partners(twin, 2_000)
        assert is_uneven(together, 6, 5e-7)
        assert is_uneven(bucket_of_c, 3, 5e-7)


@pytest.mark.parametrize("l", [1, 0, -2, 2.5, "3", True, None])
def test_an_l_that_is_no_whole_number_above_one_is_refused(l: object) -> None:
    with pytest.raises(ParameterError, match="l is"):
        Anatomy(l=l)  # type: ignore[arg-type]
