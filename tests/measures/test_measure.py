"""The catalogue of measures, and that every value stays in the range its measure declares."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings

from brute_force import ReleaseCase, releases
from sfumato.errors import DataError
from sfumato.measures.attacks import ATTACKS
from sfumato.measures.measure import MEASURES, measure
from sfumato.measures.measurement import Measure, Measurement
from sfumato.measures.workloads import WORKLOADS
from sfumato.methods import Original
from strategies import AxisCase, SchemaCase, TableCase

if TYPE_CHECKING:
    from collections.abc import Iterable


@pytest.mark.parametrize("entry", MEASURES.values(), ids=MEASURES)
def test_every_measure_says_what_it_means(entry: Measure) -> None:
    assert MEASURES[entry.name] is entry
    assert entry.direction in ("lower", "higher", "none")
    assert entry.family in ("privacy", "utility", "shape")
    assert entry.direction == "none" or entry.family != "shape"
    assert entry.direction != "none" or entry.family != "privacy"
    assert entry.unit
    assert entry.title[0].isupper()
    assert entry.sentence[0].isupper()
    assert entry.sentence.endswith(".")
    assert entry.highest is None or entry.lowest < entry.highest


def test_privacy_is_attacked_and_utility_is_worked_with() -> None:
    declared = [entry.name for source in (*ATTACKS, *WORKLOADS) for entry in source.measures]
    assert len(declared) == len(set(declared)) == len(MEASURES)
    assert {entry.family for attack in ATTACKS for entry in attack.measures} == {"privacy"}
    assert {entry.family for workload in WORKLOADS for entry in workload.measures} == {"utility", "shape"}


def present_in(measures: Iterable[Measure]) -> set[str]:
    """The measures that every release has."""
    return {entry.name for entry in measures if not entry.optional}


@pytest.mark.usefixtures("few_queries")
@settings(max_examples=40)
@given(releases(most_rows=12))
def test_every_value_stays_in_the_range_of_its_measure(case: ReleaseCase) -> None:
    for source in (*ATTACKS, *WORKLOADS):
        assert present_in(source.measures) <= set(source.run(case.case.table, case.release))
    values = measure(case.case.table, case.release)
    assert present_in(MEASURES.values()) <= set(values) <= set(MEASURES)
    for name, found in values.items():
        assert found.measure is MEASURES[name]
        assert math.isfinite(found.value), name
        assert found.value >= MEASURES[name].lowest - 1e-9, name
        assert MEASURES[name].highest is None or found.value <= MEASURES[name].highest + 1e-9, name


def people(highest: int) -> TableCase:
    number = AxisCase("number", {"kind": "numeric", "min": 0, "max": highest}, tuple((str(i),) for i in range(9)))
    secret = AxisCase("secret", {"kind": "categorical", "values": ["a", "b"]}, (("a",), ("b",)))
    rows = ((0, 0), (1, 1), (1, 0))
    return TableCase(SchemaCase((number,), secret), rows, tuple((str(x), "ab"[value]) for x, value in rows))


def test_a_release_of_another_table_is_refused() -> None:
    release = Original().publish(people(3).table)
    measure(people(3).table, release)
    with pytest.raises(DataError, match="other axes than the table"):
        measure(people(4).table, release)


def test_a_measurement_reads_as_a_number_with_its_unit() -> None:
    assert str(Measurement(measure=MEASURES["p_loss"], value=0.12345678)) == "0.1235 of at most 0.693"
    spread = Measurement(measure=MEASURES["p_loss"], value=0.5, interval=(0.25, 0.75))
    assert str(spread) == "0.5 [0.25, 0.75] of at most 0.693"
