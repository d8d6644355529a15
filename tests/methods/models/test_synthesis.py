"""Synthesis: what it spends, that rows follow the table, how close they come on real data, and how it degrades."""

from __future__ import annotations

import itertools
import time
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recording import WHOLE, recorded
from sfumato.data import Table, read
from sfumato.mechanisms.budget import Budget
from sfumato.mechanisms.noise import SimulatedSource
from sfumato.methods.models.measuring import WEIGHTS, Measuring
from sfumato.methods.models.network import BinnedCells
from sfumato.methods.models.offers import Offers, common_attributes
from sfumato.methods.models.quantiles import CLEAR, MAX_BINS, cut_by_mass
from sfumato.methods.models.rows import Columns
from sfumato.methods.models.synthesis import Synthesis, start_model
from sfumato.privacy.claims import ApproximateDP, PureDP
from sfumato.privacy.loss import Concentrated, Pure
from sfumato.release.foreign import read_published
from sfumato.reproduce.tables import adult_column
from sfumato.schema import NumericAxis, Schema

if TYPE_CHECKING:
    from pathlib import Path

    from sfumato.release import Release

KINDS = [{}, {"delta": 1e-9}]
COLUMNS = (
    *("age", "workclass", "education", "marital-status", "occupation", "relationship", "race", "sex"),
    *("capital-gain", "capital-loss", "hours-per-week", "native-country"),
)
CENSUS = ("AGEP", "SEX", "MSP", "HISP", "RAC1P", "NOC", "HOUSING_TYPE", "OWN_RENT", "EDU")
FINEST = 64
"""Steps of an axis at which distributions are compared."""


def made_up(rows: int, columns: int, seed: int = 1, size: int = 4) -> Table:
    """Every column repeats the one before it three times in four."""
    generator = np.random.default_rng(seed)
    found = [generator.integers(size, size=rows)]
    for _ in range(columns - 1):
        fresh = generator.random(rows) < 0.25
        found.append(np.where(fresh, generator.integers(size, size=rows), found[-1]))
    names = [f"c{number}" for number in range(columns)]
    spec: dict[str, Any] = {
        name: {"role": "quasi", "kind": "numeric", "min": 0, "max": size - 1} for name in names[:-1]
    }
    spec[names[-1]] = {"role": "sensitive", "kind": "categorical", "values": [str(value) for value in range(size)]}
    frame = pl.DataFrame({name: column.astype(str) for name, column in zip(names, found, strict=True)})
    return read(frame, Schema.parse({"name": "made up", "columns": spec}))


def codes_of(schema: Schema, points: Any, value: Any) -> list[np.ndarray[Any, Any]]:
    """Every column in at most `FINEST` steps, missing values last."""
    columns = zip(schema.axes, [*np.asarray(points, dtype=np.int64).T, value], strict=True)
    places = [(axis.positions, np.where(column < 0, axis.size, column)) for axis, column in columns]
    return [column * FINEST // size if size > FINEST else column for size, column in places]


def total_variation(table: Table, release: Release, ways: int = 2) -> float:
    """The mean over all sets of columns of ½ Σ |share − share|."""
    point, value = np.nonzero(release.histograms)
    lo, hi = release.boxes.lo, release.boxes.hi
    ours = codes_of(table.schema, np.where(hi < lo, -1, lo)[point], value), release.histograms[point, value]
    theirs = codes_of(table.schema, table.points[table.cell_point], table.cell_value), table.cell_weight
    errors = []
    for some in itertools.combinations(range(len(table.schema.axes)), ways):
        sizes = [min(table.schema.axes[axis].positions, FINEST) for axis in some]
        shares = [
            np.bincount(np.ravel_multi_index([codes[axis] for axis in some], sizes), weights, int(np.prod(sizes)))
            / weights.sum()
            for codes, weights in (ours, theirs)
        ]
        errors.append(np.abs(shares[0] - shares[1]).sum() / 2)
    return float(np.mean(errors))


@pytest.mark.parametrize("kind", KINDS, ids=["pure", "approximate"])
@pytest.mark.parametrize("columns", [2, 3, 5])
def test_the_whole_budget_is_spent_and_no_more(columns: int, kind: dict[str, Any]) -> None:
    _, budget = recorded(Synthesis(epsilon=1, **kind), made_up(4_000, columns))
    assert WHOLE * 0.999 < int(budget.paid[0]) <= WHOLE
    assert {draw.kind for draw in budget.draws} == {"counts", "choose"}


def test_what_no_pair_is_worth_goes_to_single_columns() -> None:
    """Tables of a few rows at a small ε would be nothing but noise, so none is chosen."""
    _, budget = recorded(Synthesis(epsilon=0.1), made_up(200, 12))
    assert WHOLE * 0.999 < int(budget.paid[0]) <= WHOLE
    assert {draw.kind for draw in budget.draws} == {"counts"}


def test_one_row_changes_scores_by_no_more_than_their_weight_however_much_is_expected() -> None:
    """Where noise speaks of more rows than 63 bits hold, sums once went round and told one row from none."""
    attributes = [cut_by_mass(NumericAxis(name="a", maximum=2), np.arange(3), np.full(3, 3e13), 1.0) for _ in range(2)]
    model = start_model(attributes)
    scores = []
    for rows in (0, 1):
        columns = Columns((), [np.zeros(rows, dtype=np.int64)] * 2, np.ones(rows, dtype=np.int64))
        measuring = Measuring(model, BinnedCells(attributes, columns), Budget(Pure(Fraction(1)), SimulatedSource(1)))
        scores.append(measuring._scores((0, 1), model.pairs(), WHOLE))
    assert np.abs(scores[1] - scores[0]).max() <= max(WEIGHTS)


def test_a_choice_can_be_paid_for_with_the_smallest_rho() -> None:
    budget = Budget(Concentrated(Fraction(1, 10**40)), SimulatedSource(1))
    assert 0 < budget._epsilon(Fraction(1, 100)) ** 2 <= 2 * Fraction(1, 10**42)


def test_offers_are_told_apart_by_how_wrong_a_model_is_about_them() -> None:
    """Against sums over all rows, for every view of a pair and every set of common attributes."""
    generator = np.random.default_rng(3)
    sizes = (9, 2, 5, 3)
    codes = [generator.integers(size, size=500) for size in sizes]
    attributes = [
        cut_by_mass(NumericAxis(name=str(size), maximum=size - 1), np.arange(size), np.full(size, 1e4), 1.0)
        for size in sizes
    ]
    common = common_attributes(attributes)
    assert common == (1, 3)
    offers = Offers(attributes, common, (0, 2))
    exact = np.zeros((9, 5, 2, 3), dtype=np.int64)
    np.add.at(exact, (codes[0], codes[2], codes[1], codes[3]), 1)
    expected = generator.integers(0, 4, size=exact.shape).astype(np.float64)
    wrong = offers.wrong(exact, expected)
    every = [offers[place] for place in range(len(offers))]
    assert len(wrong) == len(offers.cells) == len(set(every)) == 4 * 3 * 4
    for offer, found, cells in zip(every, wrong, offers.cells, strict=True):
        counted, guessed = (offers.table(offer, table) for table in (exact, expected.astype(np.int64)))
        assert counted.shape == tuple(int(groups[-1]) + 1 for groups in offers.groups(offer))
        assert (counted.size, counted.sum()) == (cells, 500)
        assert np.abs(counted - guessed).sum() == found


def test_claims() -> None:
    assert Synthesis(epsilon=2).claim == PureDP(epsilon=2)
    assert Synthesis(epsilon=2, delta=1e-9).claim == ApproximateDP(epsilon=2, failing=1e-9, rho=0.0561305016)
    assert Synthesis(epsilon=2, delta=1e-9).label == "Synthesis ε=2 δ=1e-09"


@pytest.mark.parametrize("kind", KINDS, ids=["pure", "approximate"])
def test_rows_follow_columns_that_depend_on_each_other(kind: dict[str, Any]) -> None:
    table = made_up(20_000, 6)
    followed = total_variation(table, Synthesis(epsilon=3, **kind).publish(table, SimulatedSource(1)))
    assert followed < 0.02
    assert total_variation(table, _independent(table)) > 0.2


@pytest.mark.parametrize("kind", KINDS, ids=["pure", "approximate"])
def test_where_there_is_nothing_but_noise_rows_are_no_worse_than_their_own_columns_shuffled(
    kind: dict[str, Any],
) -> None:
    """Independent columns, few rows and a small ε: a fit that followed noise would tie columns together."""
    generator = np.random.default_rng(5)
    names = [f"c{number}" for number in range(8)]
    frame = pl.DataFrame({name: generator.integers(6, size=2_000).astype(str) for name in names})
    spec: dict[str, Any] = {name: {"role": "quasi", "kind": "numeric", "min": 0, "max": 5} for name in names[:-1]}
    spec[names[-1]] = {"role": "sensitive", "kind": "categorical", "values": [str(value) for value in range(6)]}
    table = read(frame, Schema.parse({"name": "independent", "columns": spec}))
    method = Synthesis(epsilon=0.1, **kind)
    errors = [
        (total_variation(table, release), total_variation(table, _shuffled(release)))
        for release in (method.publish(table, SimulatedSource(seed)) for seed in range(5))
    ]
    ours, alone = np.mean(errors, axis=0)
    assert ours <= alone * 1.05


def _independent(table: Table) -> Release:
    return _shuffled(Synthesis(epsilon=100, delta=1e-3).publish(table, SimulatedSource(1)))


def _shuffled(release: Release) -> Release:
    """The same rows, every column shuffled by itself."""
    frame = release.to_polars()
    generator = np.random.default_rng(1)
    mixed = frame.select(frame[name].gather(generator.permutation(len(frame))) for name in frame.columns)
    return read_published(mixed.cast(pl.String), release.schema)


MOST_COUNTS = 250
"""It is some 100, where counting takes .13 s; ten seconds are asked of a machine twice as fast."""


def seconds_of_counting() -> float:
    """A yardstick for the machine as it is now, which can be several times slower on another day."""
    generator = np.random.default_rng(1)
    places, amounts = generator.integers(0, 2**18, 2**24), generator.random(2**24)
    started = time.process_time()
    np.bincount(places, amounts)
    return time.process_time() - started


def test_adult_with_thirteen_columns(data_folder: Path) -> None:
    """SWIFT's two-way error is .046, in 199 s."""
    spec = {name: adult_column(name, "quasi") for name in COLUMNS} | {"income": adult_column("income", "sensitive")}
    frame = pl.read_csv(data_folder / "adult" / "adult.csv", infer_schema=False)
    table = read(frame.select(list(spec)), Schema.parse({"name": "adult", "columns": spec}, data_folder / "adult"))
    Synthesis(epsilon=1, delta=1e-9).publish(made_up(100, 3))  # compiles
    started = time.process_time()
    release = Synthesis(epsilon=1, delta=1e-9).publish(table, SimulatedSource(1))
    assert time.process_time() - started < MOST_COUNTS * seconds_of_counting()
    assert total_variation(table, release) < 0.034
    assert total_variation(table, Synthesis(epsilon=1).publish(table, SimulatedSource(1))) < 0.04


def test_the_census_excerpt_with_ten_columns(data_folder: Path) -> None:
    """SWIFT's two-way error is .048, in 183 s, on as many rows."""
    frame = pl.read_csv(data_folder / "census" / "national2019.csv", infer_schema=False)
    frame = frame.sample(fraction=0.7, seed=1).select([*CENSUS, "PINCP_DECILE"])
    spec: dict[str, Any] = {
        name: {"role": "quasi", "kind": "categorical", "values": sorted(frame[name].unique())} for name in CENSUS
    }
    spec["AGEP"] = {"role": "quasi", "kind": "numeric", "min": 0, "max": 99}
    deciles = [*(str(ten) for ten in range(10)), "N"]
    spec["PINCP_DECILE"] = {"role": "sensitive", "kind": "categorical", "values": deciles}
    table = read(frame, Schema.parse({"name": "census", "columns": spec}))
    release = Synthesis(epsilon=1, delta=1e-9).publish(table, SimulatedSource(1))
    assert total_variation(table, release) < 0.042


@given(st.lists(st.integers(0, 500), min_size=1, max_size=80), st.sampled_from([1e-6, 4.0, 400.0]))
def test_bins_part_the_axis_and_views_are_nested(counts: list[int], variance: float) -> None:
    axis = NumericAxis(name="a", maximum=len(counts) - 1)
    mass = np.array(counts, dtype=np.float64)
    attribute = cut_by_mass(axis, np.arange(len(counts)), mass, variance)
    assert attribute.bin_of_step[0] == 0
    assert set(np.diff(attribute.bin_of_step)) <= {0, 1}
    assert attribute.bins <= 2 * MAX_BINS
    if attribute.bins > 1:
        steps = np.bincount(attribute.bin_of_step)
        assert (attribute.bin_counts >= CLEAR / 2 * np.sqrt(variance * steps)).all()
    for fine, coarse in itertools.pairwise(attribute.views):
        assert len({(a, b) for a, b in zip(fine, coarse, strict=True)}) == fine[-1] + 1
        assert (fine[-1] + 2) // 2 == coarse[-1] + 1
