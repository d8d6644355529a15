"""Several sensitive columns as one axis: positions count combinations, and fall apart into the codes of each column."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.errors import SchemaError
from sfumato.schema import Schema
from sfumato.schema.joint import JointAxis
from strategies import AxisCase, sensitive_axes

AGE = {"role": "quasi", "kind": "numeric", "min": 0, "max": 9}


def schema_of(**secrets: dict[str, Any]) -> Schema:
    columns = {name: {"role": "sensitive", **spec} for name, spec in secrets.items()}
    return Schema.parse({"columns": {"age": AGE, **columns}})


def values(count: int, **more: Any) -> dict[str, Any]:
    return {"kind": "categorical", "values": [f"v{number}" for number in range(count)], **more}


@given(cases=st.tuples(sensitive_axes(4, "a"), sensitive_axes(4, "b"), sensitive_axes(3, "c")))
def test_positions_are_all_combinations_and_fall_apart_again(cases: tuple[AxisCase, ...]) -> None:
    axis = JointAxis.of([case.axis() for case in cases])
    combinations = [[code if code < case.size else -1 for code in range(case.positions)] for case in cases]
    expected = np.array(list(product(*combinations)))
    assert axis.positions == len(expected)
    apart = axis.apart(np.arange(axis.positions))
    assert np.array_equal(np.column_stack(apart), expected)
    assert np.array_equal(axis.together(apart), np.arange(axis.positions))
    assert len(set(axis.labels)) == axis.positions


@given(case=sensitive_axes(5))
def test_a_single_column_is_its_own_axis(case: AxisCase) -> None:
    axis = case.axis()
    assert JointAxis.of([axis]) is axis
    (codes,) = axis.apart(np.arange(axis.positions))
    assert codes.tolist() == [*range(case.size), *([-1] if case.nullable else [])]
    assert np.array_equal(axis.together([codes]), np.arange(axis.positions))


def test_a_combination_is_a_secret_if_it_holds_one() -> None:
    schema = schema_of(a=values(2, not_sensitive=["v0"]), b=values(2, not_sensitive=["v1"]))
    assert schema.sensitive.secret.tolist() == [True, False, True, True]


def test_too_many_combinations_are_refused_with_what_to_do() -> None:
    with pytest.raises(SchemaError, match=r"a and b have 90,000 combinations of values.*coarsen"):
        schema_of(a=values(300), b=values(300))
    assert schema_of(a=values(100), b=values(200)).sensitive.size == 20_000


def test_each_sensitive_column_needs_a_secret_and_few_enough_values() -> None:
    with pytest.raises(SchemaError, match="sensitive column 'b' has one value"):
        schema_of(a=values(3), b=values(1))
    with pytest.raises(SchemaError, match="sensitive column 'a' has 1001 values"):
        schema_of(a=values(1001), b=values(2))


def test_a_schema_without_a_secret_is_refused() -> None:
    with pytest.raises(SchemaError, match='no column with role = "sensitive"'):
        Schema.parse({"columns": {"age": AGE}})


def test_one_column_alone_keeps_what_is_impossible_of_it() -> None:
    spec = schema_of(a=values(2), b=values(3)).spec() | {
        "impossible": ["age < 3 and a = v1", "a = v0 and b = v2", "b = v1 and age > 8"]
    }
    assert Schema.parse(spec).focused("b").impossible == ("b = v1 and age > 8",)
