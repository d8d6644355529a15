"""`codebook.md`: what every column of a release means, in a table that people read.

It is made of `release.json` alone, of its schema, its claim and how it came about, never of rows, and is in Markdown
because programs have all of it in `release.json` already. So there is one way to write it, to which it is compared.
"""

from collections.abc import Iterator

from sfumato.release.envelope import MEAN, MOVING, Envelope
from sfumato.schema import Axis, CategoricalAxis, Schema
from sfumato.schema.axis import AS_MISSING, CLIP, MISSING_LABEL, ROUND
from sfumato.schema.column import MODELLED_ROLES, Column
from sfumato.schema.numeric import NumericAxis, spell_number

MAX_LISTED = 30
"""Values or groups that one cell lists; all are in `release.json`."""
AS_THEY_ARE = ("original", "sampling")
"""Methods that publish rows as they are."""
HEADER = ("Column", "File", "Role", "Kind", "Values", "Missing values", "How it is published", "Values off the schema")
OWN = {
    "bucket": "the number of a bucket, whose rows share the sensitive values that are counted for it",
    "count": "how many rows the line stands for",
    "noise": "the standard deviation of the noise in the counts of this box, as it was drawn; empty where not known",
}
FILES = {
    "data": "one row for each person or generated row",
    "quasi": "one row for each person, without the sensitive value",
    "sensitive": "how often each sensitive value occurs in each bucket",
    "counts": "a line for each box and sensitive value, with its count",
    "margins": "how rows lie along the columns inside the boxes, as shares",
    "measured": "the noisy tables of which the rows were made",
    "tables": "noisy tables of a few columns each, in place of rows",
    "flows": "a line for each pair of destination and origin",
}
FLOWS = (
    ("destination", "the id of the place where people go", "as it is: how many people go to each is public"),
    (
        "origin",
        "the id of the place where people come from, or `outside`",
        "drawn at random, from data and a public prior",
    ),
    ("count", "how many people go from this origin to this destination", "generated"),
)


def codebook(envelope: Envelope) -> str:
    """The text of the file beside a release that this envelope, with the names of its files, describes."""
    made, claim = envelope.provenance, envelope.claim
    promise = claim.sentence()
    lines = [
        "# Codebook",
        "",
        f"Made by sfumato {_cell(made.version)} with the method {_cell(made.method)}.",
        f"{promise[:1].upper()}{promise[1:]}.",
        "",
        *(f"- `{_cell(name)}`: {FILES.get(table, table)}." for table, name in envelope.files.items()),
        "",
        *_table(HEADER, _flow_rows(envelope) if envelope.kind == "flows" else _rows(envelope)),
        "",
        _labels(envelope),
    ]
    return "\n".join(lines).rstrip() + "\n"


def _table(header: tuple[str, ...], rows: Iterator[tuple[str, ...]]) -> Iterator[str]:
    yield f"| {' | '.join(header)} |"
    yield f"|{'---|' * len(header)}"
    for row in rows:
        yield f"| {' | '.join(row)} |"


def _flow_rows(envelope: Envelope) -> Iterator[tuple[str, ...]]:
    file = _cell(envelope.files.get("flows", ""))
    for name, meaning, how in FLOWS:
        kind = "number" if name == "count" else "id"
        yield (name, file, "", kind, meaning, "none", how, "")


def _rows(envelope: Envelope) -> Iterator[tuple[str, ...]]:
    schema = Schema.parse(envelope.details["schema"])
    for column in schema.columns:
        axis = column.axis if column.role in MODELLED_ROLES else None
        yield (
            _cell(column.name),
            _file_of(column, envelope),
            column.role,
            axis.kind if axis else "",
            _values(axis) if axis else "as in the original",
            f"`{MISSING_LABEL}`" if axis and axis.nullable else "none" if axis else "",
            _published(column, envelope),
            _off_schema(axis, envelope.provenance.off_schema.get(column.name)) if axis else "",
        )
    for table, name in envelope.details["columns"].items():
        yield (_cell(name), _file_of(None, envelope), "", "number", OWN.get(table, ""), "", "", "")


def _file_of(column: Column | None, envelope: Envelope) -> str:
    """The file with a column of the schema, or with those that are not the schema's."""
    names = [name for table, name in envelope.files.items() if table in ("data", "quasi", "sensitive", "counts")]
    if envelope.details["layout"] == "buckets" and column:
        wanted = "sensitive" if column.role == "sensitive" else "quasi"
        names = [envelope.files.get(wanted, "")]
    return ", ".join(map(_cell, names))


def _values(axis: Axis) -> str:
    if isinstance(axis, NumericAxis):
        if axis.edges:
            low, high = axis.finite_edges[0], axis.finite_edges[-1]
            beyond = [f"one below {spell_number(axis.edges[1])}"] * axis.open_below
            beyond += [f"one from {spell_number(axis.edges[-2])} on"] * axis.open_above
            ends = "".join(f", {each}" for each in (f"from {spell_number(low)} to below {spell_number(high)}", *beyond))
            return f"{axis.size:,} bins{ends}; `[a, b)` is from a up to, but without, b"
        ends = f"from {spell_number(axis.minimum)} to {spell_number(axis.maximum)}"
        open_ends = [" or less"] * axis.open_below + [" or more"] * axis.open_above
        return f"numbers {ends}{' and'.join(open_ends)} in steps of {spell_number(axis.step)}{_levels(axis)}"
    if axis.size > MAX_LISTED and not isinstance(axis, CategoricalAxis):
        return _cell(axis.expected)
    return f"{_listed(axis.labels[: axis.size])}{_levels(axis)}"


def _listed(labels: list[str]) -> str:
    shown = ", ".join(map(_cell, labels[:MAX_LISTED]))
    return f"{shown} and {len(labels) - MAX_LISTED:,} more" if len(labels) > MAX_LISTED else shown


def _levels(axis: Axis) -> str:
    """The groups of a hierarchy, level by level from the values up; nothing where there are none."""
    tree = getattr(axis, "tree", None)
    if tree is None or tree.height < 2:
        return ""
    groups = [node for node in tree.walk() if not node.is_leaf and node is not tree]
    levels = [[node.label for node in groups if node.height == height] for height in range(1, tree.height)]
    return "".join(
        f"; groups of level {level}: {_listed(names)}" for level, names in enumerate(levels, start=1) if names
    )


def _published(column: Column, envelope: Envelope) -> str:
    """Whether values are as they were, generalized, generated or noisy."""
    claim, layout = envelope.claim, envelope.details["layout"]
    if column.role not in MODELLED_ROLES or (column.role == "other" and not claim.noise):
        return "as it is"
    if layout == "counts":
        return "grouped into boxes, which have noisy counts" if column.role == "quasi" else "its counts are noisy"
    if claim.noise == "values" or "channel" in envelope.details:
        return "as it is" if column.role == "quasi" else "changed at random, with known chances"
    if claim.noise and claim.neighbours == "replace-sensitive":
        return "as it is" if column.role == "quasi" else "generated: drawn with noise"
    if claim.noise:
        return "generated from noisy counts: no row is a person's"
    made = envelope.provenance
    if layout == "buckets" or column.role == "sensitive" or made.method in AS_THEY_ARE:
        return "as it is"
    if made.method in MOVING or made.parameters.get("recoding") == MEAN:
        return "changed: it need not be anybody's value"
    return "generalized: a label covers the value that the person has"


def _off_schema(axis: Axis, count: int | None) -> str:
    """What became of values that the schema does not declare, and of how many, where that is told."""
    words = {
        "": "refused",
        CLIP: "replaced by the nearest value",
        ROUND: "rounded to the nearest value; refused beyond the ends",
        AS_MISSING: "taken as missing",
    }
    known = axis.off_schema in words and (isinstance(axis, NumericAxis) or axis.off_schema not in axis.labels)
    told = words[axis.off_schema] if known else f"replaced by {_cell(axis.off_schema)}"
    return told if count is None else f"{told} ({count:,})"


def _labels(envelope: Envelope) -> str:
    if envelope.kind == "flows":
        return ""
    return (
        "Labels: `[a, b]` is every number from a to b, `{a, b}` one of these, the name of a group one of its values, "
        f"`*` any value and a missing one, `(present)` any value, `{MISSING_LABEL}` the missing value. The schema in "
        "`release.json` has all values and groups."
    )


def _cell(text: str) -> str:
    """Text that neither ends the cell of a table nor is read as anything but text."""
    plain = " ".join(text.split())
    return "".join(f"\\{sign}" if sign in "\\|`*_<>[]#~" else sign for sign in plain)
