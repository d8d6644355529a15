"""What recipients predict and ask for: what it weighs, that scores stay bounded by it, and that it helps."""

from __future__ import annotations

import itertools
import json
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from audit.cases import PAIRS, quick
from audit.exact import examine_pair
from audit.neighbours import schema_of, table_of

from recording import WHOLE, recorded
from sfumato.errors import ParameterError, QueryError
from sfumato.mechanisms.budget import Budget
from sfumato.mechanisms.noise import SimulatedSource
from sfumato.methods import make_method
from sfumato.methods.models.interest import DEAREST, NOTHING, PLAIN, WANTED, Interest, Weighing
from sfumato.methods.models.measuring import WEIGHTS, Measuring
from sfumato.methods.models.network import BinnedCells
from sfumato.methods.models.quantiles import cut_by_mass
from sfumato.methods.models.rows import Columns
from sfumato.methods.models.synthesis import Synthesis, start_model
from sfumato.privacy.loss import Pure
from sfumato.schema import NumericAxis

AXES = [NumericAxis(name=name, maximum=5) for name in ("a", "b", "c", "d", "e")]
ASKED = ("a < 2 and b > 1", "b = 3 and a = 2 and c < 4", "c = 1 and d = 2", "e = 1")


def tied(rows: int, columns: int = 10, size: int = 6) -> Columns:
    """Every column repeats its neighbour two times in three."""
    generator = np.random.default_rng(7)
    found = [generator.integers(size, size=rows)]
    for _ in range(columns - 1):
        fresh = generator.random(rows) < 1 / 3
        found.append(np.where(fresh, generator.integers(size, size=rows), found[-1]))
    axes = [NumericAxis(name=f"c{number}", maximum=size - 1) for number in range(columns)]
    return Columns(axes, found, np.ones(rows, dtype=np.int64))


def test_tables_weigh_what_is_asked_of_them() -> None:
    names = [axis.name for axis in AXES]
    asked = Weighing(Interest.of(None, ASKED, AXES), names, rounds=99)
    assert [asked.weight(table) for table in ((0, 1), (1, 2), (2, 3), (0, 3), (0,), (3, 4, 0))] == [6, 5, 5, 4, 4, 4]
    assert [asked.times(table) for table in ((0, 1), (1, 2), (0, 3), (4, 2, 0, 1))] == [DEAREST, 2, 1, DEAREST]
    predicted = Weighing(Interest.of("c", (), AXES), names, rounds=99)
    assert [predicted.weight(table) for table in ((2, 3), (0, 1), (0, 1, 2))] == [WANTED, PLAIN, WANTED]
    assert predicted.times((1, 2)) == DEAREST
    few = Weighing(Interest.of("c", (), AXES), names, rounds=9)
    assert [few.times(table) for table in ((1, 2), (0, 1))] == [2, 1]
    assert Weighing(Interest.of("c", (), AXES), names, rounds=5).times((1, 2)) == 1
    part_of_all = Weighing(Interest.of("c", (), AXES), names, rounds=19, common=(2,))
    assert (part_of_all.times((0, 1, 2)), part_of_all.weight((0, 1, 2))) == (1, WANTED)
    nothing = Weighing(NOTHING, names, rounds=99)
    assert {(nothing.weight(table), nothing.times(table)) for table in ((0, 1), (2,))} == {(1, 1)}


def test_columns_that_do_not_vary_can_be_asked_for() -> None:
    interest = Interest.of("a", ("a = 1 and b = 2",), AXES)
    weighing = Weighing(interest, ["b", "c"], rounds=99)
    assert weighing.weight((0, 1)) == 1


@pytest.mark.parametrize("asked", [{"predict": "x1"}, {"queries": ("x0 < 1 and x1 = 2", "x1 = 0 and x2 = 0")}])
def test_one_row_changes_scores_by_no_more_than_what_is_paid_for(asked: dict[str, Any]) -> None:
    axes = [NumericAxis(name=f"x{number}", maximum=2) for number in range(3)]
    attributes = [cut_by_mass(axis, np.arange(3), np.full(3, 3e13), 1.0) for axis in axes]
    model = start_model(attributes)
    interest = Interest.of(asked.get("predict"), asked.get("queries", ()), axes)
    scores = []
    for rows in (0, 1):
        columns = Columns((), [np.zeros(rows, dtype=np.int64)] * 3, np.ones(rows, dtype=np.int64))
        budget = Budget(Pure(Fraction(1)), SimulatedSource(1))
        measuring = Measuring(model, BinnedCells(attributes, columns), budget, interest)
        tables = [measuring._scores(base, model.pairs(), WHOLE) for base in measuring.bases]
        tables += [measuring._scores(base, model.pairs(), 1) for base in measuring.bases]
        scores.append(np.concatenate(tables))
    changed = np.abs(scores[1] - scores[0]).max()
    assert max(WEIGHTS) < changed <= max(WEIGHTS) * measuring.weighing.most
    assert np.abs(scores).max() < 2**62


def test_a_selection_pays_for_the_greatest_weight() -> None:
    """The sensitivity that is told to the budget; with the one of plain tables this would be the twin that leaks."""

    class Noting(Budget):
        told: set[int]

        def choose(self, *scores: Any, sensitivity: int = 1, **more: Any) -> Any:
            self.told = {*getattr(self, "told", set()), sensitivity}
            return super().choose(*scores, sensitivity=sensitivity, **more)

    columns = tied(4_000, 4)
    for method, expected in ((Synthesis(epsilon=3), 4), (Synthesis(epsilon=3, predict="c1"), 24)):
        budget = Noting(method.total, SimulatedSource(1))
        method._sample(columns, budget)
        assert budget.told == {expected}


@pytest.mark.parametrize("kind", [{}, {"delta": 1e-9}], ids=["pure", "approximate"])
def test_the_whole_budget_is_spent_and_no_more(kind: dict[str, Any]) -> None:
    table = table_of(schema_of(x=4, y=4, z=4), [(i % 4, i % 3, i % 4, i % 2) for i in range(4_000)])
    method = Synthesis(epsilon=1, predict="y", queries=("x < 2 and z < 2",), **kind)
    _, budget = recorded(method, table)
    assert WHOLE * 0.999 < int(budget.paid[0]) <= WHOLE


def test_parameters_are_part_of_the_release_and_make_the_method_again() -> None:
    method = Synthesis(epsilon=1, predict="a", queries=ASKED)
    spelled = json.loads(json.dumps(method.parameters()))
    assert spelled == {"epsilon": 1, "predict": "a", "queries": list(ASKED)}
    assert make_method("synthesis", spelled) == method
    assert method.label == "Synthesis ε=1 to predict a for 4 queries"
    assert Synthesis(epsilon=1).parameters() == {"epsilon": 1}


@pytest.mark.parametrize("wrong", [{"predict": 3}, {"predict": ""}, {"queries": "a = 1"}, {"queries": (1,)}])
def test_parameters_of_another_kind_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ParameterError, match=r"; expected (a text|texts)$"):
        Synthesis(epsilon=1, **wrong)


def test_what_a_table_does_not_have_is_refused() -> None:
    table = table_of(schema_of(x=4), [(1, 0)])
    with pytest.raises(ParameterError, match="no column 'income' to predict; expected one of x, secret"):
        Synthesis(epsilon=1, predict="income").publish(table)
    with pytest.raises(QueryError, match="query 2, y = 1: found 'y' where a column was expected: 'x', 'secret'"):
        Synthesis(epsilon=1, queries=("x = 1", "y = 1")).publish(table)


@pytest.mark.parametrize("kind", [{}, {"delta": 1e-6}], ids=["pure", "approximate"])
def test_no_transcript_reveals_more_than_it_paid_for(kind: dict[str, Any]) -> None:
    method = Synthesis(epsilon=30, predict="x", queries=("y < 2 and secret = v1",), **kind)
    with quick():
        for name in ("alone in its region", "empty", "at a cut", "declared impossible"):
            for finding in examine_pair(method, PAIRS[name], SimulatedSource(2), 4):
                assert finding.faults == (), name


def pair_error(rows: Any, columns: Columns, pairs: Any) -> float:
    """The mean distance of tables of two columns."""
    errors = []
    for one, other in pairs:
        true = np.bincount(columns.positions[one] * 6 + columns.positions[other], minlength=36) / len(columns.weights)
        made = np.bincount(rows[:, one] * 6 + rows[:, other], minlength=36) / len(rows)
        errors.append(np.abs(true - made).sum() / 2)
    return float(np.mean(errors))


def test_what_is_asked_for_comes_out_closer() -> None:
    """Means of six runs: tables with the predicted column, or of columns that a query joins, against no wishes."""
    columns = tied(3_000)
    everything = list(itertools.combinations(range(10), 2))
    wishes: list[tuple[dict[str, Any], Any]] = [
        ({"predict": "c5"}, [pair for pair in everything if 5 in pair]),
        ({"queries": ("c3 < 2 and c4 < 3 and c5 = 1",)}, [(3, 4), (3, 5), (4, 5)]),
    ]
    for asked, pairs in wishes:
        errors = []
        for kind in (asked, {}):
            method = Synthesis(epsilon=1, delta=1e-6, **kind)
            runs = (method._sample(columns, Budget(method.total, SimulatedSource(seed))).rows for seed in range(6))
            errors.append(np.mean([pair_error(rows, columns, pairs) for rows in runs]))
        assert errors[0] < 0.95 * errors[1], (asked, errors)
