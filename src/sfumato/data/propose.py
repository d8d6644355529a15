"""A first schema for a table nobody has described yet, read off its rows and saying so.

What is read off the data (bounds, categories, whether values are missing) is listed in each column's
`from_data`, for the owner to replace by public knowledge.
"""

import json
import math
import re
from dataclasses import dataclass
from typing import Any

import polars as pl

from sfumato.data.pieces import refuse_absent
from sfumato.data.source import FRAME, read_frame
from sfumato.data.text import LEADING_ZERO, as_text
from sfumato.errors import DataError, SchemaError
from sfumato.schema import Schema
from sfumato.schema.axis import CLIP
from sfumato.schema.column import Column
from sfumato.schema.taxonomy import as_label

MISSING_SPELLINGS = ("", "?", "NA", "N/A", "NaN", "null")
MAX_CATEGORIES = 200
MAX_GRID_POINTS = 2_000
DEFAULT_BINS = 50
MAX_QUASI = 8
IDENTIFYING_SHARE = 0.95
MAX_NUMBER = 1e15
DIGITS = re.compile(r"(\d+(?:\.\d+)?)", re.ASCII)


@dataclass(frozen=True)
class _Profile:
    """What one look at a column showed."""

    name: str
    present: int
    missing: int
    distinct: list[str]
    numbers: pl.Series | None


def propose(source: Any, sensitive: str, quasi: tuple[str, ...] = ()) -> Schema:
    """A schema for the table, with `sensitive` as its sensitive column.

    Columns named in `quasi` become quasi-identifiers; without any, every column with few enough values does.

    >>> sf.propose("town.csv", sensitive="condition", quasi=("age", "sex")).sensitive.name
    'condition'
    """
    frame, where = read_frame(source)
    refuse_absent([sensitive, *quasi], frame.columns, where)
    if sensitive in quasi:
        raise DataError(f"{where}: the column {sensitive!r} cannot be both sensitive and a quasi-identifier")
    columns = {name: _column_spec(_profile(name, frame[name]), sensitive, quasi, where) for name in frame.columns}
    if not quasi:
        _limit_quasi(columns)
    if not any(spec["role"] == "quasi" for spec in columns.values()):
        raise DataError(f"{where}: no column looks like a quasi-identifier; name some")
    try:
        named = [name for name, spec in columns.items() if spec["role"] == "identifier"]
        person = {"person": named[0]} if len(named) > 1 else {}
        return Schema.parse({"name": _name(where), "missing": list(MISSING_SPELLINGS), **person, "columns": columns})
    except SchemaError as error:
        raise DataError(f"{where}: {error}") from error


def _profile(name: str, raw: pl.Series) -> _Profile:
    try:
        text = as_text(raw.alias("raw"), name)
    except DataError:
        return _Profile(name, len(raw), 0, [], None)
    present = text.filter(~text.is_in(MISSING_SPELLINGS).fill_null(True))
    numbers = present.cast(pl.Float64, strict=False)
    are_codes = bool(present.str.contains(LEADING_ZERO).any())
    numeric = len(present) > 0 and not are_codes and bool((numbers.abs() <= MAX_NUMBER).fill_null(False).all())
    distinct = sorted({as_label(value) for value in present.unique().to_list()}, key=_reading_order)
    return _Profile(name, len(present), len(raw) - len(present), distinct, numbers if numeric else None)


def _reading_order(label: str) -> tuple[list[tuple[bool, float, str]], str]:
    """Numbers inside labels by their size: neighbours on an axis should be alike, and 10 is not next to 1."""
    parts = [(part, DIGITS.fullmatch(part)) for part in DIGITS.split(label) if part]
    return [(False, float(part), "") if is_number else (True, 0.0, part) for part, is_number in parts], label


def _column_spec(column: _Profile, sensitive: str, quasi: tuple[str, ...], where: str) -> dict[str, Any]:
    if column.name == sensitive:
        role = "sensitive"
    elif column.name in quasi:
        role = "quasi"
    elif quasi or not column.distinct:
        role = "ignore"
    else:
        role = _guess_role(column)
    if role in ("identifier", "ignore"):
        return {"role": role}
    if not column.distinct:
        raise DataError(f"{where}: the column {column.name!r} holds no values of a plain type")
    spec = {"role": role, **_declare_domain(column, role, where)}
    if column.missing:
        spec["nullable"] = True
        spec["from_data"].append("nullable")
    return spec


def _guess_role(column: _Profile) -> str:
    identifying = len(column.distinct) / max(column.present, 1) > IDENTIFYING_SHARE
    if identifying and (column.numbers is None or column.present > DEFAULT_BINS):
        return "identifier"
    return "ignore" if column.numbers is None and len(column.distinct) > MAX_CATEGORIES else "quasi"


def _declare_domain(column: _Profile, role: str, where: str) -> dict[str, Any]:
    few = len(column.distinct) <= (12 if role == "quasi" else 30)
    if column.numbers is not None and not (few and role == "sensitive"):
        return _declare_numbers(column.numbers, role)
    if len(column.distinct) > MAX_CATEGORIES:
        raise DataError(
            f"{where}: the column {column.name!r} has {len(column.distinct)} different values, too many for "
            "categories; group them first"
        )
    values = sorted(column.distinct, key=float) if column.numbers is not None else column.distinct
    return {"kind": "categorical", "values": values, "from_data": ["values"]}


def _declare_numbers(numbers: pl.Series, role: str) -> dict[str, Any]:
    low, high = float(numbers.min()), float(numbers.max())  # type: ignore[arg-type]
    whole = bool((numbers == numbers.round()).all())
    most = MAX_GRID_POINTS if role == "quasi" else 30
    if whole and high - low < most:
        grid: dict[str, Any] = {"min": int(low), "max": int(high), "step": 1}
    else:
        grid = {"edges": _even_edges(low, high, DEFAULT_BINS if role == "quasi" else 20)}
    return {"kind": "numeric", **grid, "off_schema": CLIP, "from_data": list(grid)}


def _even_edges(low: float, high: float, bins: int) -> list[float]:
    """About `bins` bins of one round width from below `low` to above `high`."""
    rough = max((high - low) / bins, 1e-9 * max(abs(low), abs(high), 1))
    magnitude = 10.0 ** math.floor(math.log10(rough))
    width = next(step * magnitude for step in (1, 2, 5, 10) if step * magnitude >= rough * (1 - 1e-9))
    first = math.floor(low / width)
    first -= _shorten(first * width) > low
    edges = [_shorten(first * width)]
    while edges[-1] <= high:
        edges.append(_shorten((first + len(edges)) * width))
    return edges


def _shorten(number: float) -> float:
    rounded = float(f"{number:.12g}")
    return int(rounded) if rounded.is_integer() else rounded


def _limit_quasi(columns: dict[str, dict[str, Any]]) -> None:
    """Keep the first few quasi-identifiers; the rest are left out rather than made into noise."""
    for spec in [spec for spec in columns.values() if spec["role"] == "quasi"][MAX_QUASI:]:
        spec["role"] = "ignore"


def _name(where: str) -> str:
    stem = where.replace("\\", "/").rsplit("/", 1)[-1].split(".", 1)[0]
    return stem if where != FRAME and stem else "table"


def to_toml(schema: Schema) -> str:
    """The schema as a commented file to edit."""
    lines = [
        "# A proposal. Roles: identifier (dropped), quasi, sensitive, weight (of a survey), household, keep (published",
        "# as it is), ignore.",
        "# from_data lists what was read off the rows: replace it by what is public knowledge, then delete the line.",
        "# off_schema says what becomes of a value that does not fit: clip takes the nearest; a categorical column can",
        '# name one of its values, such as "Other". A column without it refuses the file, which tells about somebody.',
        '# not_sensitive = ["N"] in the sensitive column names values that are no secret, such as "not applicable".',
        f"name = {_toml_value(schema.name)}",
        f"missing = {_toml_value(list(schema.missing))}",
    ]
    if schema.person:
        lines += ["# person names the identifier that says whose a row is.", f"person = {_toml_value(schema.person)}"]
    if schema.protect != "person":
        lines.append(f"protect = {_toml_value(schema.protect)}")
    if schema.rows_per_person > 1:
        lines.append(f"rows_per_{schema.protect} = {schema.rows_per_person}")
    if schema.impossible:
        lines.append(f"impossible = {_toml_value(list(schema.impossible))}")
    for column in schema.columns:
        lines += ["", toml_of_column(column)]
    return "\n".join(lines) + "\n"


def toml_of_column(column: Column) -> str:
    """The table of one column in a schema file."""
    lines = [f"{key} = {_toml_value(value)}" for key, value in column.spec().items()]
    return "\n".join([f"[columns.{_toml_value(column.name)}]", *lines])


def _toml_value(value: Any) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{_toml_value(key)} = {_toml_value(item)}" for key, item in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(map(_toml_value, value)) + "]"
    # JSON leaves one control character as it is that TOML wants escaped.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
