"""Conditions joined by `and`, `or` and `not`: which rows satisfy them, and that their boxes have none in common."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.errors import QueryError
from sfumato.schema import Schema
from sfumato.schema.alternatives import Alternatives
from sfumato.schema.conditions import MAX_DEPTH, read_conditions

if TYPE_CHECKING:
    from collections.abc import Callable

SCHEMA = Schema.parse(
    {
        "columns": {
            "age": {"role": "quasi", "kind": "numeric", "min": 0, "max": 4, "nullable": True},
            "sex": {"role": "quasi", "kind": "categorical", "values": ["f", "m"]},
            "town": {"role": "quasi", "kind": "categorical", "values": ["a", "b", "c"], "nullable": True},
            "ill": {"role": "sensitive", "kind": "categorical", "values": ["no", "flu", "hiv"]},
        }
    }
)
ROWS = np.array(list(itertools.product([-1, *range(5)], range(2), [-1, *range(3)], range(3))))
PLACES = {axis.name: place for place, axis in enumerate(SCHEMA.axes)}
Rows = "np.ndarray[Any, np.dtype[np.bool_]]"
AGE, SEX, TOWN, ILL = ROWS.T
SIMPLE: dict[str, Any] = {
    "age >= 2": AGE >= 2,
    "age != 3": (AGE != 3) & (AGE >= 0),
    "age is missing": AGE < 0,
    "sex = m": SEX == 1,
    "town in (a, c)": (TOWN == 0) | (TOWN == 2),
    "town is not missing": TOWN >= 0,
    "ill = flu": ILL == 1,
    "ill not in (flu, no)": ILL == 2,
}


def read(text: str) -> Alternatives:
    return read_conditions(text, SCHEMA.axes)


def held(found: Alternatives) -> Any:
    return found.hold(ROWS, PLACES)


@st.composite
def sentences(draw: st.DrawFn, depth: int = 3) -> tuple[str, Any]:
    """Conditions in words, and which rows satisfy them by Python's own operators."""
    kind = draw(st.sampled_from(["simple", "not", "and", "or"])) if depth else "simple"
    if kind == "simple":
        return draw(st.sampled_from(list(SIMPLE.items())))
    text, rows = draw(sentences(depth=depth - 1))
    if kind == "not":
        return f"not ({text})", ~rows
    other, more = draw(sentences(depth=depth - 1))
    combine: Callable[[Any, Any], Any] = np.logical_and if kind == "and" else np.logical_or
    return f"({text}) {kind} ({other})", combine(rows, more)


@given(sentences())
def test_conditions_hold_of_the_same_rows_as_a_look_at_each(drawn: tuple[str, Any]) -> None:
    text, rows = drawn
    found = read(text)
    assert (held(found) == rows).all()
    times = sum(held(Alternatives(found.axes, (box,))).astype(int) for box in found.boxes)
    assert (np.asarray(times) == rows).all(), "a row is in two boxes"


def test_and_binds_tighter_than_or_and_not_tighter_than_both() -> None:
    apart = (SEX == 1) | (AGE >= 2) & (ILL != 1) | (TOWN == 0)
    assert (held(read("sex = m or age >= 2 and not ill = flu or town = a")) == apart).all()
    assert (held(read("(sex = m or age >= 2) and ill = flu")) == ((SEX == 1) | (AGE >= 2)) & (ILL == 1)).all()
    assert (held(read("NOT NOT sex = m")) == (SEX == 1)).all()


def test_everybody_else_has_no_value_too() -> None:
    assert (held(read("not age >= 2")) == (AGE < 2)).all()
    assert (held(read("age < 2")) == (AGE >= 0) & (AGE < 2)).all()


def test_values_of_one_column_are_one_box() -> None:
    assert len(read("age = 0 or age = 2 or age = 4 or age is missing").boxes) == 1
    assert read("age >= 0 or age is missing").boxes == ({},)
    assert read("age < 1 and age > 3").boxes == ()
    assert len(read("sex = m and age < 2 or sex = m and age >= 2").boxes) == 1


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("age > 2 or", "found the end of the query where a column was expected"),
        ("or age > 2", "found 'or' where a column was expected"),
        ("(age > 2", "found the end of the query; expected 'and', 'or' or ')'"),
        ("age > 2) and sex = m", "found ')'; expected 'and', 'or' or the end of the query"),
        ("()", "found ')' where a column was expected"),
        ("not", "found the end of the query where a column was expected"),
        ("age > 2 sex = m", "found 'sex'; expected 'and', 'or' or the end of the query"),
        ("(" * (MAX_DEPTH + 1) + "age > 2" + ")" * (MAX_DEPTH + 1), f"more than {MAX_DEPTH} parentheses and 'not'"),
        ("not " * 5_000 + "age > 2", f"more than {MAX_DEPTH} parentheses and 'not'"),
    ],
)
def test_what_cannot_be_understood_is_refused(text: str, words: str) -> None:
    with pytest.raises(QueryError) as caught:
        read(text)
    assert words in str(caught.value)


def test_too_many_cases_are_refused() -> None:
    columns: dict[str, Any] = {f"x{i}": {"role": "quasi", "kind": "numeric", "min": 0, "max": 9} for i in range(24)}
    columns["ill"] = {"role": "sensitive", "kind": "categorical", "values": ["no", "yes"]}
    axes = Schema.parse({"columns": columns}).axes
    text = " or ".join(f"x{i} = 1 and x{i + 1} = 1" for i in range(0, 24, 2))
    with pytest.raises(QueryError, match="too involved: they fall into more than"):
        read_conditions(text, axes)
