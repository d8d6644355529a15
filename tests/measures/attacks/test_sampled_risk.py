"""The risk of people of a sample: printed figures, the distribution behind it, and households."""

from __future__ import annotations

import math
from collections import defaultdict
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.data import Table, read
from sfumato.measures.attacks.sampled_risk import MANY, SampledRisk, individual_risk
from sfumato.methods import FullSuppression, LocalNoise, Mondrian, Original, QuadTree
from sfumato.release import Release
from sfumato.schema import Schema

FRANCDAT = {
    "key1": [1, 1, 1, 3, 4, 4, 6, 1],
    "key2": [2, 2, 2, 3, 3, 3, 2, 2],
    "key3": [5, 1, 1, 1, 1, 1, 1, 5],
    "key4": [1, 1, 1, 5, 4, 1, 5, 1],
    "w": [18, 45.5, 39, 17, 541, 8, 5, 92],
    "ill": ["no", "no", "yes", "no", "yes", "no", "no", "yes"],
}
"""The example of Capobianchi, Polettini and Lucarelli, as sdcMicro ships it."""
SAMPLE = [2, 2, 2, 1, 1, 1, 1, 2]
POPULATION = [110.0, 84.5, 84.5, 17.0, 541.0, 8.0, 5.0, 110.0]
PRINTED = [0.01714426, 0.02204233, 0.02204233, 0.17707583, 0.01165448, 0.29706308, 0.40235948, 0.01714426]
MORE = [3.0, 3, 4, 5, 6, 3, 5, 4], [30.0, 7.5, 100, 20, 9, 2000, 8, 4]
EXACT = [0.0463684295, 0.1603824391, 0.0130834693, 0.0581740509, 0.1168997477, 0.0007488920, 0.1337915284, 0.25]
ROUGH = [0.0476190476, 0.1666666667, 0.0131578947, 0.0588235294, 0.1176470588, 0.0007494379, 0.1351351351, 0.25]
"""What the formulas of sdcMicro's `indivRisk` come to in R, by its methods exact and approx."""
KEYS = {f"key{number}": {"role": "quasi", "kind": "numeric", "min": 0, "max": 9} for number in range(1, 5)}
OTHERS: dict[str, dict[str, Any]] = {
    "ill": {"role": "sensitive", "kind": "categorical", "values": ["no", "yes"]},
    "w": {"role": "weight"},
}
HOME = {"home": {"role": "household"}}


def risks(table: Table, release: Release) -> dict[str, float]:
    return SampledRisk().run(table, release)


def test_the_example_has_its_printed_risks() -> None:
    table = read(FRANCDAT, Schema.parse({"columns": KEYS | OTHERS}))
    found = SampledRisk().risk_of_points(table, Original().publish(table))
    codes = np.array([FRANCDAT[name] for name in KEYS]).T
    of_row = [int(np.flatnonzero((table.points == code).all(axis=1))[0]) for code in codes]
    assert found[of_row].tolist() == pytest.approx(PRINTED, abs=1e-8)
    measured = risks(table, Original().publish(table))
    assert measured["expected_matches"] == pytest.approx(sum(PRINTED), abs=1e-7)
    assert measured["sample_risk"] == pytest.approx(sum(PRINTED) / 8, abs=1e-7)
    assert measured["risky_rows"] == 3
    assert "household_matches" not in measured


def test_formulas_are_those_of_others() -> None:
    assert individual_risk(np.array(SAMPLE, float), np.array(POPULATION)).tolist() == pytest.approx(PRINTED, abs=1e-8)
    people, population = map(np.array, MORE)
    assert individual_risk(people, population).tolist() == pytest.approx(EXACT, abs=1e-9)
    assert individual_risk(people, population, exact=False).tolist() == pytest.approx(ROUGH, abs=1e-9)
    rough = individual_risk(np.array(SAMPLE, float), np.array(POPULATION), exact=False)
    assert rough.tolist() == pytest.approx(PRINTED, abs=1e-8)


@pytest.mark.parametrize("people", [1, 2, 3, 7, MANY, MANY + 1, 80])
@pytest.mark.parametrize("p", [0.05, 0.3, 0.9, 1.0])
def test_the_risk_is_the_mean_of_one_over_the_population(people: int, p: float) -> None:
    """Over the negative binomial distribution of F, term by term."""
    term, mean, h = p**people, 0.0, people
    while h < people / p * 20 + 500:
        mean += term / h
        term *= h / (h + 1 - people) * (1 - p)
        h += 1
    found = individual_risk(np.array([float(people)]), np.array([people / p]))
    assert found[0] == pytest.approx(mean, rel=1e-9)


def test_the_ends_of_the_scale() -> None:
    many = individual_risk(np.array([1.0, 1.0, 1e6, 4.0, 2.0]), np.array([1e9, 1 + 1e-13, 1e9, 3.0, 2.0]))
    assert many.tolist() == pytest.approx([math.log(1e9) * 1e-9, 1.0, 1e-9, 0.25, 0.5], rel=1e-5)


ROW = st.tuples(st.integers(0, 2), st.sampled_from([1.0, 2.5, 40.0, 0.2]), st.sampled_from(["f", "g", "h", None]))


@settings(max_examples=30)
@given(st.lists(ROW, min_size=1, max_size=15), st.booleans())
def test_rows_and_households_add_up(rows: list[tuple[int, float, str | None]], whole: bool) -> None:
    columns = {"key1": KEYS["key1"], **OTHERS, **HOME}
    frame = pl.DataFrame(rows, schema={"key1": pl.Int64, "w": pl.Float64, "home": pl.String}, orient="row")
    table = read(frame.with_columns(ill=pl.lit("no")), Schema.parse({"columns": columns}))
    release = (FullSuppression() if whole else Original()).publish(table)
    alike: dict[int, list[float]] = defaultdict(list)
    for key, weight, _ in rows:
        alike[0 if whole else key].append(weight)
    of_key = {
        key: float(individual_risk(np.array([float(len(own))]), np.array([sum(own)]))[0]) for key, own in alike.items()
    }
    risk = [of_key[0 if whole else key] for key, _, _ in rows]
    homes = [home or number for number, (_, _, home) in enumerate(rows)]
    found = risks(table, release)
    assert found["expected_matches"] == pytest.approx(sum(risk))
    assert found["risky_rows"] == sum(each > 0.1 for each in risk)
    safe = {home: math.prod(1 - each for each, own in zip(risk, homes, strict=True) if own == home) for home in homes}
    assert found["household_matches"] == pytest.approx(sum(1 - safe[home] for home in homes))


def test_classes_hide_people_and_those_left_out_are_at_no_risk() -> None:
    rows = {"key1": [0, 1, 2, 3, 9, 9], "w": [3.0] * 6, "ill": ["no", "yes"] * 3, "home": list("aabbcd")}
    table = read(rows, Schema.parse({"columns": {"key1": KEYS["key1"], **OTHERS, **HOME}}))
    exact, coarse = (risks(table, method.publish(table)) for method in (Original(), Mondrian(k=3)))
    assert exact["expected_matches"] > coarse["expected_matches"] > 0
    assert coarse["household_matches"] > coarse["expected_matches"]
    part = Mondrian(k=3).publish(table.reweight(np.where(table.points[table.cell_point, 0] < 4, table.cell_weight, 0)))
    assert SampledRisk().risk_of_points(table, part)[-1] == 0


def test_noise_stands_for_nobody_and_without_weights_there_is_no_population() -> None:
    table = read(FRANCDAT, Schema.parse({"columns": KEYS | OTHERS}))
    assert risks(table, QuadTree(epsilon=1).publish(table)) == {}
    assert risks(table, LocalNoise(epsilon=1, mechanism="randomized-response").publish(table))["risky_rows"] == 3
    plain = read(FRANCDAT, Schema.parse({"columns": {**KEYS, "ill": OTHERS["ill"]}}))
    assert risks(plain, Original().publish(plain)) == {}
