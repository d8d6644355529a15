"""From a source of rows, wherever they are, to the table that everything else works on."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from sfumato.data.engine import PolarsEngine, Progress
from sfumato.data.source import Source, is_on_spark
from sfumato.data.table import Table
from sfumato.errors import ParameterError
from sfumato.schema import Schema


def read(
    source: Any,
    schema: Schema | Mapping[str, Any] | Path | str,
    *,
    encoding: str | None = None,
    delimiter: str | None = None,
    progress: Progress | None = None,
) -> Table:
    """The table in a file, in all files of a folder or of a pattern (`part-*.parquet`), or in a data frame.

    A sheet stands behind its workbook (`people.xlsx#2024`), a table or a query behind the address of its database
    (`sqlite:///people.db#visits`). Files of text are UTF-8 unless an `encoding` is given or they begin with the mark of
    UTF-16; what stands between their cells is found out unless a `delimiter` is given.

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
        if encoding or delimiter:
            raise ParameterError("encoding and delimiter mean nothing for rows that Spark reads; say them to Spark")
        from sfumato.data.spark import read_on_spark  # Spark takes a second to import

        return read_on_spark(source, schema)
    rows = PolarsEngine.read(Source.of(source, encoding=encoding, delimiter=delimiter), schema, progress)
    return replace(Table.from_rows(rows, schema), files=rows.source.files)
