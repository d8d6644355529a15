"""Engines: two operations on rows, and every table and recoded release follows from them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import Phase, given, settings
from numpy.typing import NDArray

from engines import EVERY_ENGINE, engine_on, on_spark, table_on
from sfumato.data import Engine, Table, read
from sfumato.data.encode import encode_column
from sfumato.data.engine import Counted, PolarsEngine
from sfumato.data.pieces import Parts
from sfumato.data.spark import SparkEngine
from sfumato.measures.workloads.holdout import hold_out
from sfumato.methods import Mondrian
from sfumato.samples.town import SCHEMA_PATH, residents
from sfumato.schema import Axis, Schema
from strategies import TableCase, tables

KEEP_PERSON = Schema.load(SCHEMA_PATH).spec()
KEEP_PERSON["columns"]["person_id"] = {"role": "keep"}
SCHEMA = Schema.parse(KEEP_PERSON)


class Listed:
    """The same two operations on a list of rows, in plain Python; it counts what it is asked."""

    def __init__(self, frame: pl.DataFrame, schema: Schema) -> None:
        self.where = "a list"
        columns = [encode_column(frame[axis.name], axis, schema.missing, self.where) for axis in schema.axes]
        self.codes = pl.DataFrame(columns).to_dicts()
        self.kept = [frame[name] for name in schema.keep]
        self.asked: list[str] = []

    @property
    def one_each(self) -> Listed:
        return self

    def count_by_key(self, axes: Sequence[Axis]) -> Counted:
        self.asked.append("count")
        counted = Counter(tuple(row[axis.name] for axis in axes) for row in self.codes)
        keys = sorted(counted)
        return Counted(keys=np.array(keys, dtype=np.int32), rows=np.array([counted[key] for key in keys]))

    def join_to_class(
        self, axes: Sequence[Axis], keys: NDArray[np.int32], class_of_key: NDArray[np.int64], value: Axis
    ) -> Parts:
        self.asked.append("join")
        class_of = {tuple(key): number for key, number in zip(keys.tolist(), class_of_key.tolist(), strict=True)}
        boxes = [class_of[tuple(row[axis.name] for axis in axes)] for row in self.codes]
        codes = (row[value.name] for row in self.codes)
        values = pl.Series("value", [value.size if code < 0 else code for code in codes], dtype=pl.Int32)
        joined = pl.DataFrame([pl.Series("box", boxes), values, *self.kept]).sort(pl.all())
        return Parts(lambda: iter([joined]))


def check_same_answers(one: Engine, other: Engine, schema: Schema, classes: int = 3) -> None:
    for axes in (schema.axes, schema.quasi, schema.quasi[:1]):
        counted, same = one.count_by_key(axes), other.count_by_key(axes)
        keys = counted.keys
        assert (keys.tolist(), counted.rows.tolist()) == (same.keys.tolist(), same.rows.tolist())
        class_of = np.arange(len(keys)) % classes
        joined = [engine.join_to_class(axes, keys, class_of, schema.sensitive).whole for engine in (one, other)]
        assert joined[0].equals(joined[1])


@given(tables(most_quasi=4))
def test_polars_counts_and_joins_as_plain_python_does(case: TableCase) -> None:
    schema = case.case.schema
    check_same_answers(PolarsEngine.read(case.frame, schema), Listed(case.frame, schema), schema)


@pytest.mark.spark
@settings(max_examples=4, phases=[Phase.generate])
@given(tables(most_quasi=4))
def test_spark_counts_and_joins_as_plain_python_does(case: TableCase) -> None:
    schema = case.case.schema
    check_same_answers(SparkEngine.read(on_spark(case.frame), schema), Listed(case.frame, schema), schema)


@pytest.mark.parametrize("name", EVERY_ENGINE)
def test_keys_that_do_not_fit_into_an_integer_are_joined_too(name: str, tmp_path: Path) -> None:
    wide: dict[str, Any] = {
        name: {"role": "quasi", "kind": "numeric", "min": 0, "max": 2_000_000_000, "nullable": True} for name in "abc"
    }
    columns = wide | {"ill": {"role": "sensitive", "kind": "categorical", "values": ["no", "yes"]}}
    schema = Schema.parse({"columns": columns | {"note": {"role": "keep"}}})
    random = np.random.default_rng(1)
    frame = pl.DataFrame({name: random.integers(0, 2_000_000_000, 40) for name in "abc"}).vstack(
        pl.DataFrame({name: [5, None] for name in "abc"})
    )
    frame = frame.with_columns(ill=pl.Series(["no", "yes"] * 21), note=pl.Series(map(str, range(42))))
    check_same_answers(engine_on(name, frame, schema, tmp_path), Listed(frame, schema), schema)


@pytest.mark.parametrize("name", EVERY_ENGINE)
def test_a_table_and_its_recoded_release_reach_rows_through_the_engine_alone(name: str, tmp_path: Path) -> None:
    people = residents(500).cast({pl.Enum: pl.String})
    (tmp_path / "rows").mkdir()
    rows, listed = engine_on(name, people, SCHEMA, tmp_path / "rows"), Listed(people, SCHEMA)
    table, other = Table.from_rows(rows, SCHEMA), Table.from_rows(listed, SCHEMA)
    assert table.fingerprint == other.fingerprint
    folders = [Mondrian(k=5).publish(each).save(tmp_path / str(number)) for number, each in enumerate((table, other))]
    assert listed.asked == ["count", "join"]
    written = [(folder / "data.csv").read_bytes() for folder in folders]
    assert written[0] == written[1]
    hold_out(other)
    assert listed.asked == ["count", "join"], "held-out parts follow from the cells"


@pytest.mark.parametrize("name", EVERY_ENGINE)
def test_a_recoded_release_has_every_row_in_the_class_of_its_point(name: str, tmp_path: Path) -> None:
    people = residents(500).cast({pl.Enum: pl.String})
    (tmp_path / "rows").mkdir()
    release = Mondrian(k=5).publish(table_on(name, people, SCHEMA, tmp_path / "rows"))
    published = pl.read_csv(release.save(tmp_path / "release") / "data.csv", infer_schema=False)
    both = published.join(people.cast(pl.String), on="person_id", suffix="_true")
    assert both.height == people.height
    for axis in SCHEMA.quasi:
        for label, true in zip(both[axis.name], both[f"{axis.name}_true"], strict=True):
            lo, hi, missing = axis.parse(label)
            assert missing if true is None else lo <= axis.parse(true).lo <= hi
    assert both["condition"].equals(both["condition_true"])


@pytest.mark.parametrize("show", [repr, str, Table._repr_html_], ids=["repr", "str", "html"])
def test_a_table_shows_its_shape_and_schema_but_no_rows(show: Any) -> None:
    spec: dict[str, Any] = {
        "<b>age": {"role": "quasi", "kind": "numeric", "min": 0, "max": 999},
        "ill": {"role": "sensitive", "kind": "categorical", "values": ["<script>", "secret"]},
    }
    table = read({"<b>age": [871, 872, 873], "ill": ["<script>", "secret", "secret"]}, {"columns": spec})
    shown = show(table)
    assert "3 rows" in shown
    assert "1,000 numeric values" in shown
    assert not any(word in shown for word in ("871", "secret", "<script>", "array"))
    assert ("&lt;b&gt;age" in shown) == (show is Table._repr_html_)
    assert "871" not in repr(table.rows) + repr(table.without_rows())
