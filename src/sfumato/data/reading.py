"""From a source of rows, wherever they are, to the table that everything else works on."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from sfumato.data.engine import PolarsEngine, Progress
from sfumato.data.source import is_on_spark
from sfumato.data.table import Table
from sfumato.schema import Schema


def read(source: Any, schema: Schema | Mapping[str, Any] | Path | str, *, progress: Progress | None = None) -> Table:
    """The table in a file, in all files of a folder or of a pattern (`part-*.parquet`), or in a data frame.

    The schema, which declares it, is a `Schema`, the path of a TOML file, or a mapping with the same contents. Rows are
    read piece by piece and not held; `progress` is told how many were read, and of how many as far as is known. Those
    of a Spark frame stay where they are, and Spark counts and joins them.

    >>> age = {"role": "quasi", "kind": "numeric", "min": 0, "max": 99}
    >>> ill = {"role": "sensitive", "kind": "categorical", "values": ["no", "yes"]}
    >>> people = {"age": [34, 35, 71], "ill": ["no", "no", "yes"]}
    >>> sf.read(people, schema={"columns": {"age": age, "ill": ill}})
    Table of 3 rows; Schema 'table' of age (quasi, 100 numeric values), ill (sensitive, 2 categorical values)
    """
    if isinstance(schema, Mapping):
        schema = Schema.parse(dict(schema))
    elif not isinstance(schema, Schema):
        schema = Schema.load(schema)
    if is_on_spark(source):
        from sfumato.data.spark import read_on_spark  # Spark takes a second to import

        return read_on_spark(source, schema)
    rows = PolarsEngine.read(source, schema, progress)
    return replace(Table.from_rows(rows, schema), files=rows.source.files)
