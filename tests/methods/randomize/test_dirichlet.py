"""Dirichlet for tables: everybody's quasi-identifiers stay, sensitive values are drawn by the law that was promised."""

from __future__ import annotations

import math
from collections import Counter
from itertools import product
from math import comb, factorial, prod
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brute_force import small_table
from flow_cases import fits
from sfumato.data import Table, read
from sfumato.errors import BudgetError, ParameterError
from sfumato.measures.measure import measure
from sfumato.mechanisms.dirichlet import UNIT, Calibration, PriorShape, Promise
from sfumato.mechanisms.noise import SimulatedSource
from sfumato.methods import Dirichlet, Mondrian, make_method
from sfumato.privacy.claims import NoGuarantee, ProbabilisticDP
from sfumato.privacy.ledger import Ledger
from sfumato.publish.publication import publish_to
from sfumato.release import Release
from sfumato.schema import Schema
from sfumato.trials.frontier import frontier
from sfumato.trials.trial import Trial
from strategies import TableCase, tables

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

TABLE = small_table()
POINTS = 4000
OTHERS = (1, 1, 1)
"""A last group, since a table with one sensitive value is refused."""


def rising(start: float, steps: int) -> float:
    return prod(start + step for step in range(steps))


def dirichlet_multinomial(histogram: Sequence[int], alpha: float) -> dict[tuple[int, ...], float]:
    """The law of as many draws as there are people: m!/(T)_m · Π (n_i + α)_{m_i} / m_i!."""
    n, total = sum(histogram), sum(histogram) + alpha * len(histogram)
    found = {}
    for drawn in product(range(n + 1), repeat=len(histogram)):
        if sum(drawn) == n:
            terms = (rising(people + alpha, m) / factorial(m) for people, m in zip(histogram, drawn, strict=True))
            found[drawn] = factorial(n) * prod(terms) / rising(total, n)
    return found


def table_of(histograms: Sequence[Sequence[int]], **columns: Any) -> Table:
    """A table with one point per histogram."""
    cells = [(age, "abc"[v], n) for age, histogram in enumerate(histograms) for v, n in enumerate(histogram)]
    rows = [(age, value) for age, value, people in cells for _ in range(people)]
    spec = {
        "age": {"role": "quasi", "kind": "numeric", "min": 0, "max": len(histograms) - 1},
        "illness": {"role": "sensitive", "kind": "categorical", "values": ["a", "b", "c"]},
    } | columns
    frame = pl.DataFrame({"age": [age for age, _ in rows], "illness": [value for _, value in rows]})
    more = {name: pl.lit("x") for name in spec if name not in frame.columns}
    return read(frame.with_columns(**more), Schema.parse({"name": "people", "columns": spec}))


def alpha_of(method: Dirichlet, n: int, values: int) -> float:
    """The prior mass of a value in a group of n, in people."""
    shape = PriorShape()
    calibration = Calibration(Promise(epsilon=method.epsilon, delta=method.delta), shape)
    return float(shape.masses(float(calibration.scales(np.array([n]), np.array([[values]]))[0]))[0] / UNIT)


@settings(max_examples=25)
@given(tables(most_rows=40, most_quasi=3, most=6), st.sampled_from([0.1, 1.0, 5.0]), st.integers(0, 2**32))
def test_everybody_keeps_their_quasi_identifiers(case: TableCase, epsilon: float, seed: int) -> None:
    release = Dirichlet(epsilon=epsilon).publish(case.table, SimulatedSource(seed))
    assert release.boxes.are_points.all()
    published = np.where(release.boxes.missing, -1, release.boxes.lo)
    assert np.array_equal(published, case.table.points)
    assert np.array_equal(release.weights, case.table.histograms.sum(axis=1))
    assert np.array_equal(release.histograms.sum(axis=1), release.weights)
    assert release.rows == case.table.n
    assert release.layout == "rows"
    assert release.exact_people


@pytest.mark.parametrize("histogram", [(2, 1, 0), (1, 0, 0), (0, 0, 4)])
def test_the_law_of_a_group(histogram: tuple[int, ...]) -> None:
    """Four thousand groups of the same people; a law with half the prior, or of other people, is rejected."""
    method = Dirichlet(epsilon=1.5, delta=0.05)
    release = method.publish(table_of([histogram] * POINTS + [OTHERS]), SimulatedSource(2))
    drawn = Counter(tuple(map(int, row)) for row in release.histograms[:POINTS])
    alpha = alpha_of(method, sum(histogram), 3)
    assert len(dirichlet_multinomial(histogram, alpha)) == comb(sum(histogram) + 2, 2)
    assert fits(drawn, dirichlet_multinomial(histogram, alpha))
    assert not fits(drawn, dirichlet_multinomial(histogram, alpha / 2))
    assert not fits(drawn, dirichlet_multinomial(histogram[::-1] if histogram[0] else (1, 1, 2), alpha))


def test_groups_of_different_sizes_have_their_own_prior() -> None:
    """Larger groups need a larger prior at the same promise; each group is drawn by its own."""
    method = Dirichlet(epsilon=1.5, delta=0.05)
    assert alpha_of(method, 1, 3) < alpha_of(method, 3, 3) < alpha_of(method, 30, 3)
    release = method.publish(table_of([(1, 0, 0), (3, 0, 0)] * POINTS + [OTHERS]), SimulatedSource(3))
    for start, histogram in ((0, (1, 0, 0)), (1, (3, 0, 0))):
        drawn = Counter(tuple(map(int, row)) for row in release.histograms[start : 2 * POINTS : 2])
        assert fits(drawn, dirichlet_multinomial(histogram, alpha_of(method, sum(histogram), 3)))
        assert not fits(drawn, dirichlet_multinomial(histogram, alpha_of(method, 4 - sum(histogram), 3)))


def test_the_claim_is_about_sensitive_values() -> None:
    release = Dirichlet(epsilon=2, delta=1e-4).publish(TABLE)
    assert type(release.claim) is ProbabilisticDP
    assert (release.claim.epsilon, release.claim.delta, release.claim.neighbours) == (2, 1e-4, "replace-sensitive")
    assert release.claim.sentence() == (
        "any one person's sensitive value changes the probability of every output by a factor of at most 7.39, but for "
        "a probability of 0.0001 ((2, 0.0001)-differential privacy); in each group of people with the same public "
        "values, nothing about anybody is told by more than that factor, but for a probability of 0.0001 ((2, 0.0001)-"
        "probabilistic differential privacy)"
    )
    assert any("who is in the table" in assumption for assumption in release.claim.assumptions)
    assert Dirichlet(epsilon=2).publish(TABLE, SimulatedSource(1)).claim == NoGuarantee(reason="seeded")


def test_values_read_off_the_rows_leave_no_claim() -> None:
    known = {"role": "sensitive", "kind": "categorical", "values": ["a", "b", "c"], "from_data": ["values"]}
    release = Dirichlet(epsilon=2).publish(table_of([(1, 2, 0), OTHERS], illness=known))
    assert isinstance(release.claim, NoGuarantee)
    assert "illness were read off the rows" in release.claim.reason


def test_people_who_are_alone_are_singled_out() -> None:
    """A noisy release describes nobody, but here quasi-identifiers are those of real people."""
    table = table_of([(1, 0, 0), (0, 2, 1), (0, 1, 0), (4, 4, 2)])
    found = measure(table, Dirichlet(epsilon=1).publish(table))
    assert found["singled_out"].value == pytest.approx(2 / 15)
    together = table_of([(5, 4, 3), (6, 6, 6)])
    assert measure(together, Dirichlet(epsilon=1).publish(together))["singled_out"].value == 0


def test_it_is_never_recommended_unless_exact_people_are_allowed() -> None:
    """At ε = 10 it is the most useful of all, and is recommended as soon as it may be; otherwise not even offered."""
    front = frontier(TABLE, [Dirichlet(epsilon=10), Mondrian(k=10)], workers=1)
    drawn, classes = (
        next(trial for trial in front.trials if trial.method.name == name) for name in ("dirichlet", "mondrian")
    )
    assert drawn.promises
    assert drawn.shows_presence
    assert drawn.measures["singled_out"] > 0.5
    assert drawn.measures["query_error"] < classes.measures["query_error"]
    lenient = {"max_p_loss": math.inf, "max_query_error": math.inf}
    hidden = front.recommend(**lenient)
    assert {candidate.trial.method.name for candidate in hidden.candidates} == {"mondrian"}
    assert front.recommend(**lenient, allow_exact=True).chosen.method.name == "dirichlet"


def test_presence_shows_even_where_nobody_is_alone() -> None:
    trial = Trial(method=Dirichlet(epsilon=1.0), measures={"singled_out": 0.0})
    assert trial.shows_presence


def test_a_release_is_charged_to_the_account_of_its_people_at_half(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "ledger.sqlite")
    ledger.cap("small", 1, 2e-6)
    for number in range(2):
        publish_to(Dirichlet(epsilon=1), TABLE, tmp_path / f"release{number}", ledger=ledger)
    with pytest.raises(BudgetError):
        publish_to(Dirichlet(epsilon=1), TABLE, tmp_path / "release2", ledger=ledger)
    assert [(entry.data_set, entry.state, float(entry.cost.delta)) for entry in ledger.entries()] == [
        ("small", "settled", 1e-6)
    ] * 2
    assert not (tmp_path / "release2").exists()


def test_a_saved_release_is_the_same_again(tmp_path: Path) -> None:
    release, folder = publish_to(Dirichlet(epsilon=1), TABLE, tmp_path / "release", ledger=Ledger(tmp_path / "ledger"))
    again = Release.load(folder)
    assert again.claim == release.claim
    assert again.provenance.method == "dirichlet"
    assert (again.exact_people, again.noisy) == (True, True)
    before, after = measure(TABLE, release), measure(TABLE, again)
    assert {name: one.value for name, one in after.items()} == {name: one.value for name, one in before.items()}
    rows = pl.read_csv(folder / "data.csv", infer_schema=False)
    assert rows.height == TABLE.n
    points = rows.select("age", "sex", "region").rows()
    assert points == sorted(points), "the order of rows tells something"
    assert make_method("dirichlet", again.provenance.parameters) == Dirichlet(epsilon=1)


def test_kept_columns_are_refused(tmp_path: Path) -> None:
    table = table_of([(1, 2, 0), (2, 0, 1)], note={"role": "keep"})
    with pytest.raises(ParameterError, match=r"^the column 'note' has role keep, but dirichlet publishes no row"):
        Dirichlet(epsilon=1).publish(table)
    ledger = Ledger(tmp_path / "ledger.sqlite")
    with pytest.raises(ParameterError, match=r"^the column 'note' has role keep"):
        publish_to(Dirichlet(epsilon=1), table, tmp_path / "release", ledger=ledger)
    assert ledger.entries() == []
    assert list(Dirichlet.grid(table)) == []
    labels = [method.label for method in Dirichlet.grid(TABLE)]
    assert labels == [f"Dirichlet ε={epsilon:g} δ=1e-06" for epsilon in (0.1, 0.3, 1, 3)]


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"epsilon": 0}, "epsilon is 0"),
        ({"epsilon": 51}, "epsilon is 51"),
        ({"epsilon": float("nan")}, "epsilon is nan"),
        ({"epsilon": 1, "delta": 0.0}, "delta is 0.0"),
        ({"epsilon": 1, "delta": 1}, "delta is 1"),
    ],
)
def test_parameters_are_checked(parameters: dict[str, float], sentence: str) -> None:
    with pytest.raises(ParameterError, match=f"^{sentence}; expected a number (above 0|from 1e-06 to 50)"):
        Dirichlet(**parameters)
