"""Columns of a survey in a schema: weights, households, and whose rows are protected."""

from typing import Any

import pytest

from sfumato.errors import SchemaError
from sfumato.schema import Schema

COLUMNS: dict[str, dict[str, Any]] = {
    "age": {"role": "quasi", "kind": "numeric", "min": 0, "max": 9},
    "ill": {"role": "sensitive", "kind": "categorical", "values": ["no", "yes"]},
}


def schema(more: dict[str, Any] | None = None, **top: Any) -> Schema:
    return Schema.parse({"columns": {**COLUMNS, **(more or {})}, **top})


WEIGHT, HOME, WHO = {"w": {"role": "weight"}}, {"home": {"role": "household"}}, {"id": {"role": "identifier"}}


@pytest.mark.parametrize(
    "spec",
    [{"role": "weight"}, {"role": "weight", "off_schema": 2.5}, {"role": "weight", "publish": "mean", "off_schema": 1}],
)
def test_a_weight_survives_its_spelling(spec: dict[str, Any]) -> None:
    found = schema({"w": spec})
    assert Schema.parse(found.spec()) == found
    assert found.weight is not None
    assert found.weight.spec() == spec


def test_refuse_is_the_default() -> None:
    assert schema({"w": {"role": "weight", "off_schema": "refuse"}}) == schema(WEIGHT)


def test_only_a_mean_weight_is_published_and_never_a_household() -> None:
    told = schema({"w": {"role": "weight", "publish": "mean"}, **HOME})
    assert [column.name for column in told.public(weights=True).columns] == ["age", "ill", "w"]
    for kept_back in (told.public(), schema(WEIGHT | HOME).public(weights=True)):
        assert [column.name for column in kept_back.columns] == ["age", "ill"]
    assert told.public(weights=True).public(weights=True) == told.public(weights=True)


def test_a_protected_household_takes_the_place_of_a_person() -> None:
    found = schema(HOME | WHO | {"other": {"role": "identifier"}}, protect="household", rows_per_household=4)
    assert (found.person_column, found.rows_per_person) == ("home", 4)
    assert Schema.parse(found.spec()) == found
    again = Schema.parse(found.public().spec())
    assert (again.person_column, again.rows_per_person, again.protect) == ("home", 4, "household")
    assert schema(HOME | WHO).person_column == "id"


@pytest.mark.parametrize(
    ("more", "top", "message"),
    [
        ({"w": {"role": "weight"}, "v": {"role": "weight"}}, {}, "at most one column"),
        ({"g": {"role": "household"}, "h": {"role": "household"}}, {}, "at most one column"),
        ({"w": {"role": "weight", "publish": "yes"}}, {}, "expected no or mean"),
        ({"w": {"role": "weight", "off_schema": 0}}, {}, "off_schema is 0; expected 'refuse' or a number"),
        ({"w": {"role": "weight", "off_schema": True}}, {}, "off_schema is True"),
        ({"w": {"role": "weight", "off_schema": float("nan")}}, {}, "off_schema is nan"),
        ({"w": {"role": "weight", "off_schema": "clip"}}, {}, "off_schema is 'clip'"),
        ({"w": {"role": "weight", "nullable": True}}, {}, "neither kind nor nullable"),
        ({"w": {"role": "weight", "kind": "numeric", "min": 1, "max": 5}}, {}, "neither kind nor nullable"),
        ({"w": {"role": "weight", "min": 1}}, {}, "'min' has no meaning here"),
        ({"h": {"role": "household", "publish": "mean"}}, {}, "'publish' has no meaning here"),
        (HOME, {"protect": "everybody"}, "protect is 'everybody'; expected person or household"),
        ({}, {"protect": "household"}, "households are to be protected"),
        (HOME, {"rows_per_household": 3}, "rows_per_household means nothing unless protect is household"),
        (HOME, {"protect": "household", "rows_per_person": 3}, "rows_per_person means nothing unless"),
        (HOME, {"protect": "household", "rows_per_household": 0}, "rows_per_household is 0"),
        (HOME | WHO, {"protect": "household", "person": "id"}, "person is given, but households are protected"),
    ],
)
def test_what_makes_no_sense_is_refused(more: dict[str, Any], top: dict[str, Any], message: str) -> None:
    with pytest.raises(SchemaError, match=message):
        schema(more, **top)
