"""A first schema for a table nobody has described yet, read off its rows and saying so.

What is read off the data (bounds, categories, whether values are missing) is listed in each column's
`from_data`, for the owner to replace by public knowledge. Every column has a sentence that says what it was taken
for, and why.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from sfumato.data.pieces import refuse_absent
from sfumato.data.profile import Profile, look_at, looks_like
from sfumato.data.recognize import CODE_NAMES, Finding, recognize
from sfumato.data.relations import choose_between, find_following
from sfumato.data.source import FRAME, read_frame
from sfumato.errors import DataError, SchemaError
from sfumato.schema import Schema
from sfumato.schema.column import Column
from sfumato.schema.taxonomy import as_label

MAX_QUASI = 8
IDENTIFYING_SHARE = 0.95
IDENTIFYING_ROWS = 50
"""So few rows may differ in a number by chance."""
REPEATED_SHARE = 0.05
"""Distinct values per row of a column that is called a number of somebody."""
IDENTIFIER_NAMES = (
    "id|ids|key|uuid|guid|ssn|patient|person|household|family|respondent|serial|serialno|account|email|mail|phone|"
    "tel|name|surname|lastname|firstname|number|nr|no|pid|hhid|mrn|passport"
)
WEIGHT_NAMES = "weight|weights|wgt|fnlwgt|pwgtp|wgtp|sampleweight|surveyweight"
BODY_WEIGHT = "body|birth|kg|lb|lbs|patient"
ROLES = {"sensitive": "the sensitive column", "quasi": "a quasi-identifier"}


@dataclass(frozen=True)
class Proposal:
    """A schema, and for each column what it was taken for and why."""

    schema: Schema
    why: dict[str, str]


@dataclass
class _Columns:
    """The columns while they are looked at: their specs and reasons."""

    profiles: dict[str, Profile]
    secrets: tuple[str, ...]
    quasi: tuple[str, ...]
    where: str
    specs: dict[str, dict[str, Any]] = field(default_factory=dict)
    why: dict[str, str] = field(default_factory=dict)

    def leave_out(self, name: str, why: str, role: str = "ignore") -> None:
        self.specs[name], self.why[name] = {"role": role}, why

    def take(self, name: str, role: str, finding: Finding) -> None:
        self.specs[name], self.why[name] = {"role": role, **finding.spec}, finding.why

    def with_role(self, role: str) -> list[str]:
        return [name for name, spec in self.specs.items() if spec["role"] == role]


def propose(
    source: Any,
    sensitive: str | Sequence[str],
    quasi: tuple[str, ...] = (),
    *,
    missing: Sequence[str] = (),
    max_quasi: int = MAX_QUASI,
) -> Schema:
    """A schema for the table, with `sensitive` as its sensitive column or columns.

    Columns named in `quasi` become quasi-identifiers; without any, those that tell most about whose a row is, at most
    `max_quasi`. `missing` are more spellings that mean a missing value.

    >>> sf.propose("town.csv", sensitive="condition", quasi=("age", "sex")).sensitive.name
    'condition'
    """
    secrets = (sensitive,) if isinstance(sensitive, str) else tuple(sensitive)
    return make_proposal(source, secrets, quasi, missing, max_quasi).schema


def make_proposal(
    source: Any, secrets: Sequence[str], quasi: tuple[str, ...], missing: Sequence[str], max_quasi: int
) -> Proposal:
    """The same, with the reasons."""
    frame, where = read_frame(source)
    refuse_absent([*secrets, *quasi], frame.columns, where)
    for name in secrets:
        if name in quasi:
            raise DataError(f"{where}: the column {name!r} cannot be both sensitive and a quasi-identifier")
    profiles, spellings = look_at(frame, missing)
    columns = _Columns({profile.name: profile for profile in profiles}, tuple(secrets), quasi, where)
    for profile in profiles:
        _look(profile, columns)
    if not quasi:
        _leave_out_what_follows(frame, columns)
        _keep_most_telling(columns, max_quasi)
    if not columns.with_role("quasi"):
        raise DataError(f"{where}: no column looks like a quasi-identifier; name some")
    person = _person(columns)
    keys = {"name": _name(where), "missing": list(spellings), **({"person": person} if person else {})}
    try:
        return Proposal(Schema.parse({**keys, "columns": columns.specs}), columns.why)
    except SchemaError as error:
        raise DataError(f"{where}: {error}") from error


def _look(profile: Profile, columns: _Columns) -> None:
    """Give a column its first role: the sensitive ones, identifiers, what tells nothing, or a quasi-identifier."""
    name = profile.name
    if name in (*columns.secrets, *columns.quasi):
        role = "sensitive" if name in columns.secrets else "quasi"
        finding = recognize(profile, role)
        if not finding.spec:
            raise DataError(f"{columns.where}: the column {name!r} cannot be {role}: {finding.why}")
        columns.take(name, role, Finding(finding.spec, f"named as {ROLES[role]}; {finding.why}"))
    elif columns.quasi:
        columns.leave_out(name, "not among the columns named")
    elif identifying := _identifies(profile):
        columns.leave_out(name, identifying, "identifier")
    elif len(profile.texts) == 1 and profile.rows > 1 and not profile.missing:
        columns.leave_out(name, f"every row has {profile.texts[0]!r}, which tells nothing")
    elif looks_like(name, WEIGHT_NAMES) and not looks_like(name, BODY_WEIGHT) and profile.numbers is not None:
        columns.leave_out(name, "called a weight of rows, which nobody knows about a person; role weight uses it")
    else:
        finding = recognize(profile, "quasi")
        if finding.spec:
            columns.take(name, "quasi", finding)
        else:
            columns.leave_out(name, finding.why)


ROLES = {"sensitive": "a sensitive column", "quasi": "a quasi-identifier"}


def _identifies(profile: Profile) -> str:
    """Why a column is taken for a name or number of somebody, empty if it is not."""
    if not profile.plain or profile.dtype.is_temporal() or profile.present < 2:
        return ""
    texts, decimal = profile.texts, profile.texts.str.contains(r"[.,]\d").any() and profile.numbers is not None
    dated = recognize(profile, "quasi").spec.get("kind") == "date" if len(texts) > 1 else False
    named = looks_like(profile.name, IDENTIFIER_NAMES)
    coded = looks_like(profile.name, CODE_NAMES) and not named
    if decimal or dated or coded or profile.comma_numbers is not None:
        return ""
    sentences = texts.head(1000).str.split(" ").list.len().mean()
    if profile.uniqueness > IDENTIFYING_SHARE and (profile.numbers is None or profile.present > IDENTIFYING_ROWS):
        if isinstance(sentences, float) and sentences > 4:
            return ""
        return f"{len(texts):,} different values in {profile.present:,} rows: it names whose row it is"
    if named and len(texts) > max(REPEATED_SHARE * profile.present, 100):
        return f"called a name or number of somebody, with {len(texts):,} different values"
    return ""


def _leave_out_what_follows(frame: pl.DataFrame, columns: _Columns) -> None:
    """Of columns that say the same, more or less finely, keep one; and none that tells the sensitive value."""
    names = columns.with_role("quasi")
    following = find_following(frame, [*names, *columns.secrets])
    for name in names:
        if told := set(columns.secrets) & set(following.get(name, ())):
            columns.leave_out(name, f"{min(told)} follows from it, so who knew it would know the secret")
    kind = {name: columns.specs[name]["kind"] for name in columns.with_role("quasi")}
    for name, kept in choose_between(following, kind).items():
        alike = kept in following.get(name, ())
        if alike and kind[name] == "numeric" and kind[kept] == "categorical":
            _order_by(frame, columns, kept, name)
        how = "says the same as" if alike else "follows from"
        better = "is finer" if not alike else "is no mere number" if kind[name] == "numeric" else "comes first"
        columns.leave_out(name, f"{how} {kept}, which is kept because it {better}")


def _order_by(frame: pl.DataFrame, columns: _Columns, words: str, number: str) -> None:
    """Categories in the order of the numbers that stand beside them."""

    pairs = (
        frame.select(words, number).unique().drop_nulls().with_columns(pl.col(number).cast(pl.Float64, strict=False))
    )
    place = {as_label(word): value for word, value in pairs.iter_rows() if value is not None}
    spec = columns.specs[words]
    if all(value in place for value in spec.get("values", ())):
        spec |= {"values": sorted(spec["values"], key=place.__getitem__), "ordered": True}
        columns.why[words] += f"; in the order of {number}"


def _keep_most_telling(columns: _Columns, most: int) -> None:
    """Keep the quasi-identifiers that tell most about whose a row is."""
    names = columns.with_role("quasi")
    bits = {name: columns.profiles[name].bits for name in names}
    ranked = sorted(names, key=lambda name: -round(bits[name], 6))
    for name in ranked[most:]:
        least = ranked[most - 1]
        why = f"tells less about whose a row is ({bits[name]:.1f} bits) than the {most} that are taken"
        columns.leave_out(name, f"{why} ({bits[least]:.1f} bits or more)")
    for name in ranked[:most]:
        columns.why[name] += f"; {bits[name]:.1f} bits about whose a row is"


def _person(columns: _Columns) -> str | None:
    """Of several identifiers the one that says whose a row is: the finest that several rows share, or the first."""
    named = columns.with_role("identifier")
    if len(named) < 2:
        return None
    shared = [name for name in named if columns.profiles[name].uniqueness < 1]
    found = max(shared, key=lambda name: len(columns.profiles[name].texts)) if shared else named[0]
    columns.why[found] += "; taken for whose a row is"
    return found


def _name(where: str) -> str:
    stem = where.partition("#")[0].replace("\\", "/").rsplit("/", 1)[-1].split(".", 1)[0]
    return stem if where != FRAME and stem else "table"


def to_toml(schema: Schema, why: dict[str, str] | None = None) -> str:
    """The schema as a commented file to edit, with what is known about each column above it."""
    lines = [
        "# A proposal. Roles: identifier (dropped), quasi, sensitive, other (no secret, known to nobody), weight (of a",
        "# survey), household, keep (published as it is), ignore.",
        "# from_data lists what was read off the rows: replace it by what is public knowledge, then delete the line.",
        "# off_schema says what becomes of a value that does not fit: clip takes the nearest; a categorical column can",
        '# name one of its values, such as "Other". A column without it refuses the file, which tells about somebody.',
        '# not_sensitive = ["N"] in the sensitive column names values that are no secret, such as "not applicable".',
        *(["# What stands above a column is about your rows: delete it before you hand this file on."] if why else []),
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
        reason = " ".join((why or {}).get(column.name, "").split())
        lines += ["", *([f"# {reason}"] if reason else []), toml_of_column(column)]
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
