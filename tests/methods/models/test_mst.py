"""MST: its claim, what the claim pays for, a spanning tree that follows the data, and one run with the library."""

from __future__ import annotations

import sys
from fractions import Fraction
from importlib.util import find_spec
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import pytest

from sfumato.data import Table, read
from sfumato.errors import ParameterError
from sfumato.mechanisms.budget import WHOLE, Budget
from sfumato.mechanisms.noise import SimulatedSource
from sfumato.methods.models.binning import count_attributes
from sfumato.methods.models.mst import MST, _spanning_tree
from sfumato.methods.models.network import BinnedCells
from sfumato.methods.models.rows import Columns
from sfumato.privacy.claims import ApproximateDP
from sfumato.privacy.loss import Approximate, Concentrated
from sfumato.schema import Schema

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sfumato.release import Release

ROWS = 600
HUGE = 100_000


def chain_table() -> Table:
    """a → b → s, each the one before it nine times in ten; c by itself; d always the same."""
    generator = np.random.default_rng(4)

    def follows(column: NDArray[np.int64]) -> NDArray[np.int64]:
        return np.where(generator.random(ROWS) < 0.9, column, generator.integers(0, 4, ROWS))

    a = generator.integers(0, 4, ROWS)
    b = follows(a)
    columns = {"a": a, "b": b, "c": generator.integers(0, 4, ROWS), "d": np.zeros(ROWS, dtype=int), "s": follows(b)}
    specs = {name: {"role": "quasi", "kind": "numeric", "min": 0, "max": 3} for name in columns}
    specs["d"]["max"], specs["s"]["role"] = 0, "sensitive"
    return read(pl.DataFrame(columns), Schema.parse({"columns": specs}))


@pytest.fixture(scope="module")
def run() -> tuple[Table, Release, Budget]:
    """One release at a huge epsilon, and the budget it was paid from."""
    if find_spec("mbi") is None:
        pytest.skip("the library mbi is not installed")
    table, method = chain_table(), MST(epsilon=HUGE)
    budget = Budget(method.total, SimulatedSource(2))
    return table, method._release(table, budget), budget


def pair_counts(rows: Release | Table, one: int, other: int) -> NDArray[np.float64]:
    """Rows by two of the columns a, b, c, d, s."""
    points = rows.points if isinstance(rows, Table) else rows.boxes.lo
    point, value = np.nonzero(rows.histograms)
    columns = np.column_stack([points[point], value])
    found = np.zeros((4, 4))
    np.add.at(found, (columns[:, one], columns[:, other]), rows.histograms[point, value])
    return found


def test_rows_follow_the_tables_that_were_counted(run: tuple[Table, Release, Budget]) -> None:
    """Pairs on the chain are reproduced to a few rows; a and s, two steps apart, through b."""
    table, release, _ = run
    assert release.boxes.are_points.all()
    assert np.array_equal(release.histograms, np.round(release.histograms))
    assert release.rows == ROWS
    for pair in ((0, 1), (1, 4)):
        assert np.abs(pair_counts(release, *pair) - pair_counts(table, *pair)).max() <= 12
    assert np.abs(pair_counts(release, 0, 4) - pair_counts(table, 0, 4)).max() <= 30
    independent = np.outer(pair_counts(table, 0, 1).sum(axis=1), pair_counts(table, 0, 1).sum(axis=0)) / ROWS
    assert np.abs(independent - pair_counts(table, 0, 1)).max() > 60, "the bound tells a tree from no tree"
    assert (release.boxes.lo[:, 3] == 0).all()


def test_the_budget_is_used_and_never_passed(run: tuple[Table, Release, Budget]) -> None:
    spent = int(run[2].spent[0])
    assert spent <= WHOLE
    assert spent > WHOLE - 100


def test_the_tree_joins_what_depends_on_each_other() -> None:
    """The sensitive attribute is the root; s joins b, b joins a, and c comes last."""
    table = chain_table()
    budget = Budget(Concentrated(Fraction(HUGE)), SimulatedSource(1))
    columns = Columns.of(table)
    cells = BinnedCells(count_attributes(columns, budget), columns)
    assert _spanning_tree(cells, budget)[:2] == [(3, 1), (1, 0)]
    trees = [
        tuple(_spanning_tree(cells, Budget(Concentrated(Fraction(1, 10**9)), SimulatedSource(seed))))
        for seed in range(8)
    ]
    assert len(set(trees)) > 1, "with hardly any budget the choice is random"
    for tree in trees:
        joined = {3}
        for parent, child in tree:
            assert parent in joined
            assert child not in joined
            joined.add(child)
        assert joined == {0, 1, 2, 3}


@pytest.mark.parametrize("epsilon", ["0.000001", "0.0001", "0.001", "0.01", "0.1", "1", "3", "50", "1000"])
@pytest.mark.parametrize("delta", ["1e-5", "1e-9", "1e-12", "0.1"])
def test_the_budget_pays_for_the_claim(epsilon: str, delta: str) -> None:
    """Of ρ nothing to speak of is left unused, and twice as much would not be paid for."""
    rho = MST(epsilon=float(epsilon), delta=float(delta)).total.rho
    assert Concentrated(rho).approximate(Fraction(delta)).epsilon <= Fraction(epsilon) * (1 + Fraction(1, 10**8))
    assert Concentrated(2 * rho).approximate(Fraction(delta)).epsilon > Fraction(epsilon)


def test_losses_convert_both_ways() -> None:
    wanted = Approximate(Fraction(1), Fraction(1, 10**9))
    implied = wanted.concentrated().approximate(wanted.delta)
    assert float(implied.epsilon) == pytest.approx(1, rel=1e-9)
    assert wanted.concentrated().approximate(Fraction(1, 10**6)).epsilon < implied.epsilon


def test_the_claim() -> None:
    claim = MST(epsilon=2, delta=1e-7).claim
    assert isinstance(claim, ApproximateDP)
    assert claim == ApproximateDP(epsilon=2, failing=1e-7, rho=claim.rho)
    assert str(claim) == f"(2, 1e-07)-differential privacy, from {claim.rho:.6g}-zCDP"
    assert claim.delta == 1e-7


@pytest.mark.parametrize("absent", [["jax"], ["mbi", "mbi.estimation"]])
def test_without_the_library_the_message_says_what_to_install(
    absent: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in absent:
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ParameterError, match=r'^mst needs the library mbi: pip install "sfumato\[marginals\]"$'):
        MST(epsilon=1).publish(chain_table())


@pytest.mark.parametrize("delta", [0, 1, 1.5, -1e-9, float("nan"), True])
def test_deltas_out_of_range_are_refused(delta: float) -> None:
    with pytest.raises(ParameterError, match="delta is"):
        MST(epsilon=1, delta=delta)
