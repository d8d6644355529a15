"""Yes and no in any spelling, published in one."""

import polars as pl
import pytest

from sfumato.data import read
from sfumato.errors import SchemaError
from sfumato.release.query import parse_query
from sfumato.schema import Schema, Span


def schema(**spec: object) -> Schema:
    ill = {"role": "sensitive", "kind": "categorical", "values": ["a", "b"]}
    return Schema.parse({"columns": {"smokes": {"role": "quasi", "kind": "boolean", **spec}, "ill": ill}})


def test_all_spellings_are_one() -> None:
    words = ["true", "Yes", "1", "1.0", "T", "ja", "J", "false", "no", "0", "F", "Nein", "n"]
    frame = pl.DataFrame({"smokes": words, "ill": ["a"] * 12 + ["b"]})
    table = read(frame, schema())
    assert table.weights.tolist() == [6, 7]
    assert parse_query("smokes = yes", table.schema).matches(table) == 7
    assert table.schema.quasi[0].labels == ["false", "true"]
    for column in (pl.Series([True, False]), pl.Series([1, 0]), pl.Series([1.0, 0.0])):
        assert read(pl.DataFrame({"smokes": column, "ill": ["a", "b"]}), schema()).weights.tolist() == [1, 1]


def test_other_labels() -> None:
    axis = schema(values=["nein", "ja"], nullable=True).quasi[0]
    assert (axis.labels, axis.parse("true")) == (["nein", "ja", "(missing)"], Span(1, 1, False))
    assert Schema.parse(schema(values=["nein", "ja"]).spec()) == schema(values=["nein", "ja"])
    assert axis.encode(["perhaps"]).tolist() == [-2]


@pytest.mark.parametrize(
    ("values", "expected"),
    [(["yes", "no"], "expected the spelling of false first"), (["no"], "expected how false and true are published")],
)
def test_labels_without_a_meaning(values: list[str], expected: str) -> None:
    with pytest.raises(SchemaError, match=expected):
        schema(values=values)
