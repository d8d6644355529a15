"""A table in a folder: the details that `release.json` adds to the envelope for it, and how its files are read back."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self, cast

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.data.kept import KeptRows
from sfumato.data.pieces import Parts
from sfumato.errors import DataError, ReleaseError
from sfumato.estimation.shape import Spread
from sfumato.mechanisms.channels import Channel, parse_channel
from sfumato.release.assembled import ASSEMBLED, Assembled
from sfumato.release.boxes import Boxes
from sfumato.release.content import Content, Layout, sampling_deviation
from sfumato.release.envelope import Envelope, describing, entry, naming, refuse_unknown, word
from sfumato.release.folder import Lines, read_lines, read_numbers, write_folder
from sfumato.release.histograms import histograms_of
from sfumato.release.labels import ParsedColumn, distinct_boxes, parse_labels
from sfumato.release.margins import MARGINS, read_margins
from sfumato.release.measured import MEASURED, Measured, read_measured
from sfumato.release.tables import COLUMNS, WHOLE, make_tables
from sfumato.schema import MISSING, Axis, Schema

TABLES: dict[Layout, tuple[str, ...]] = {"rows": ("data",), "buckets": ("quasi", "sensitive"), "counts": ("counts",)}


def save_content(release: Content, folder: Path | str, *, suffix: str = ".csv", replace: bool = False) -> Path:
    """Write the release to a new folder, or in place of the release in it, and return the folder."""
    return write_folder(Path(folder), *stored_form(release), suffix=suffix, replace=replace)


def stored_form(release: Content) -> tuple[dict[str, pl.DataFrame | Parts], Envelope]:
    """The tables of a release by name, and what stands beside them, but for the names of their files."""
    tables, columns = make_tables(release)
    details = {
        "layout": release.layout,
        "columns": columns,
        **({} if release.channel is None else {"channel": release.channel.spec()}),
        **({"exact_people": True} if release.exact_people else {}),
        "schema": release.schema.public(weights=True).spec(),
    }
    return tables, Envelope(kind="table", claim=release.claim, provenance=release.provenance, details=details)


def read_content(folder: Path) -> dict[str, Any]:
    """The fields of the release in a folder that `save_content` wrote."""
    stored = StoredTable.read(folder)
    envelope = stored.envelope
    read = {"rows": stored.rows, "buckets": stored.buckets, "counts": stored.counts}[stored.layout]
    try:
        parts, spreads, measured = read(), stored.spreads(), stored.measured()
    except DataError as error:
        raise ReleaseError(str(error)) from error
    return {
        "schema": stored.schema,
        "claim": envelope.claim,
        "provenance": envelope.provenance,
        "layout": stored.layout,
        "spreads": spreads,
        "measured": measured,
        **parts,
    }


@dataclass(frozen=True, kw_only=True)
class StoredTable:
    """How a table lies in its folder: the path of each file, and the names of the columns that are not the schema's."""

    envelope: Envelope
    schema: Schema
    layout: Layout
    files: dict[str, Path]
    columns: dict[str, str]
    channel: Channel | None

    @classmethod
    def read(cls, folder: Path) -> Self:
        """What `release.json` in a folder describes."""
        envelope = Envelope.read(folder, "table")
        with naming(describing(folder) or folder):
            return cls.parse(envelope, folder)

    @classmethod
    def parse(cls, envelope: Envelope, folder: Path) -> Self:
        """What the details of an envelope describe."""
        spec = envelope.details
        if entry(spec, "layout", str) not in TABLES:
            raise ReleaseError(f"layout is {spec['layout']!r}; expected {' or '.join(TABLES)}")
        layout, columns = cast(Layout, spec["layout"]), entry(spec, "columns", dict)
        schema, channel = _parse_schema(entry(spec, "schema", dict)), _parse_channel(spec)
        names = [*(column.name for column in schema.columns), *map(str, columns.values())]
        if len(set(names)) < len(names):
            raise ReleaseError("two columns have the same name")
        stored = cls(
            envelope=envelope,
            schema=schema,
            layout=layout,
            files={
                table: folder / word(envelope.files, table, "files")
                for table in (*TABLES[layout], *(_told_beside(layout, envelope) & set(envelope.files)))
            },
            columns={column: word(columns, column, "columns") for column in COLUMNS[layout]},
            channel=channel,
        )
        refuse_unknown(columns, stored.columns, "columns")
        refuse_unknown(envelope.files, stored.files, "files")
        return stored

    def spreads(self) -> tuple[Spread, ...] | None:
        """How rows lie along each axis, where a file says so."""
        path = self.files.get(MARGINS)
        return None if path is None else read_margins(path, self.schema.quasi)

    def measured(self) -> Measured | None:
        """The tables that rows were made from, or that are published in place of rows, where a file tells them."""
        kind = Assembled if self.layout == "counts" else Measured
        path = self.files.get(kind.file)
        return None if path is None else read_measured(path, self.schema.modelled, kind)

    def rows(self) -> dict[str, Any]:
        """The fields of a release from its rows."""
        weight = (self.schema.weight.name,) if self.schema.weight else ()
        lines, columns = self._read("data", self.schema.axes, (*self.schema.keep, *weight))
        quasi, values = columns[: len(self.schema.quasi)], columns[len(self.schema.quasi) :]
        boxes, box_of = distinct_boxes(quasi)
        value = self._positions("data", lines, values)
        kept = None
        if self.schema.keep:
            row = np.repeat(np.arange(len(value)), lines.times)
            keep = lines.frame.select(*self.schema.keep)[row]
            kept = KeptRows.of_columns(box_of[row], value[row], keep, len(boxes), str(self.files["data"]))
        fields = self._classes(boxes, self._histograms(box_of, value, len(boxes), lines.times))
        claim = self.envelope.claim
        presence = claim.cost is not None and claim.shows_presence
        units = {}
        for name in weight:
            means = read_numbers(lines.frame[name], self.files["data"], whole=False, number=lines.number)
            units["weights"] = np.bincount(box_of, means * lines.times, len(boxes))
        return fields | {
            "kept": kept,
            "units": units,
            "deviation": sampling_deviation(fields["histograms"]) if claim.cost and self.channel is None else None,
            "exact_people": self.envelope.details.get("exact_people") is True or presence,
            "channel": self.channel,
        }

    def counts(self) -> dict[str, Any]:
        """The fields of a release from the count of each box and sensitive value."""
        count, noise = self.columns["count"], self.columns["noise"]
        lines, columns = self._read("counts", self.schema.axes, (count, noise))
        quasi, values = columns[: len(self.schema.quasi)], columns[len(self.schema.quasi) :]
        boxes, box_of = distinct_boxes(quasi)
        value, path = self._positions("counts", lines, values), self.files["counts"]
        counts = read_numbers(lines.frame[count], path, whole=False, number=lines.number)
        deviations = read_numbers(lines.frame[noise].fill_null(0), path, whole=False, number=lines.number)
        if (lines.times > 1).any() or pl.DataFrame({"box": box_of, "value": value}).is_duplicated().any():
            raise ReleaseError(f"{path}: two lines have the same box and sensitive value")
        deviation = np.zeros(len(boxes))
        deviation[box_of] = deviations
        if (deviation[box_of] != deviations).any():
            raise ReleaseError(f"{path}: the lines of one box differ in {noise!r}")
        fields = self._classes(boxes, self._histograms(box_of, value, len(boxes), counts))
        return fields | {"deviation": deviation if (deviations > 0).any() else None}

    def _classes(self, boxes: Boxes, histograms: NDArray[np.float64]) -> dict[str, Any]:
        """The fields of a release in which every box has a histogram of its own."""
        weights, group_of = histograms.sum(axis=1), np.arange(len(boxes))
        return {"boxes": boxes, "weights": weights, "group_of": group_of, "histograms": histograms}

    def buckets(self) -> dict[str, Any]:
        """The fields of a release from its rows of quasi-identifiers and the sensitive values of each bucket."""
        path, bucket = self.files["quasi"], self.columns["bucket"]
        lines, columns = self._read("quasi", self.schema.quasi, (bucket,))
        numbers = read_numbers(lines.frame[bucket], path, number=lines.number)
        buckets, group_of_line = np.unique(numbers, return_inverse=True)
        boxes, box_of = distinct_boxes(columns, group_of_line)
        group_of = np.empty(len(boxes), dtype=np.int64)
        group_of[box_of] = group_of_line
        histograms = self._bucket_histograms(buckets)
        rows, counted = np.bincount(group_of_line, lines.times).astype(np.int64), histograms.sum(axis=1)
        for wrong in np.flatnonzero(np.abs(rows - counted) > WHOLE):
            raise ReleaseError(
                f"{path}: bucket {buckets[wrong]} has {rows[wrong]} rows, but "
                f"{self.files['sensitive'].name} counts {counted[wrong]:.0f} sensitive values in it"
            )
        weights = np.bincount(box_of, lines.times)
        return {"boxes": boxes, "weights": weights, "group_of": group_of, "histograms": histograms}

    def _bucket_histograms(self, buckets: NDArray[np.int64]) -> NDArray[np.float64]:
        """The sensitive values of each bucket: (buckets, values)."""
        path, bucket, count = self.files["sensitive"], self.columns["bucket"], self.columns["count"]
        lines, columns = self._read("sensitive", self.schema.secrets, (bucket, count))
        bucket_of, counts = (read_numbers(lines.frame[name], path, number=lines.number) for name in (bucket, count))
        group_of = np.minimum(np.searchsorted(buckets, bucket_of), len(buckets) - 1)
        for line in np.flatnonzero(buckets[group_of] != bucket_of):
            raise ReleaseError(
                f"{path}, row {lines.number[line]}: bucket {bucket_of[line]} has no rows in {self.files['quasi'].name}"
            )
        value = self._positions("sensitive", lines, columns)
        return self._histograms(group_of, value, len(buckets), counts * lines.times)

    def _read(self, table: str, axes: Sequence[Axis], others: Sequence[str]) -> tuple[Lines, list[ParsedColumn]]:
        """The columns of one file, and those of the axes parsed."""
        path = self.files[table]
        # Noise may not depend on whether there is anybody, so its releases may be of nobody.
        empty = self.layout == "rows" and self.envelope.claim.noise is not None
        names = [*(axis.name for axis in axes), *others]
        lines = read_lines(path, names, empty=empty, distinct=not set(others) & set(self.schema.keep))
        columns = [
            parse_labels(lines.frame[axis.name], axis, str(path), own=True, number=lines.number) for axis in axes
        ]
        return lines, columns

    def _positions(self, table: str, lines: Lines, values: Sequence[ParsedColumn]) -> NDArray[np.int32]:
        """The positions of the sensitive values of a file, a single one in each column; a missing value comes last."""
        codes = []
        for axis, (spans, code) in zip(self.schema.secrets, values, strict=True):
            lo, hi, missing = spans.T
            for line in np.flatnonzero((hi - lo + 1 + missing)[code] != 1):
                label, row = lines.frame[axis.name][int(line)], lines.number[line]
                raise ReleaseError(
                    f"{self.files[table]}, row {row}, column {axis.name!r}: {label!r} is not {axis.expected}"
                )
            codes.append(np.where(missing, MISSING, lo)[code])
        return self.schema.sensitive.together(codes)

    def _histograms(
        self, group_of: NDArray[np.int64], value: NDArray[np.int32], groups: int, rows: NDArray[Any] | None = None
    ) -> NDArray[np.float64]:
        """The rows of each group by sensitive value; `rows` says how many each entry stands for, one if not given."""
        return histograms_of(group_of, value, rows, groups, self.schema.sensitive.positions)


def _told_beside(layout: Layout, envelope: Envelope) -> set[str]:
    """What noise covers and may be told beside tables: how rows lie along axes, and what they were made from."""
    if layout == "buckets" or envelope.claim.verifiable:
        return set()
    return {MARGINS, MEASURED if layout == "rows" else ASSEMBLED}


def _parse_schema(spec: dict[str, Any]) -> Schema:
    """The schema in `release.json`, which is complete in itself: what other files say is not published."""
    columns = spec.get("columns")
    for name, column in columns.items() if isinstance(columns, dict) else ():
        if isinstance(column, dict) and "hierarchy" in column:
            raise ReleaseError(f"column {name!r}: the hierarchy of a release stands in its taxonomy, not in a file")
    return Schema.parse(spec)


def _parse_channel(spec: dict[str, Any]) -> Channel | None:
    if "channel" not in spec:
        return None
    channel = parse_channel(spec["channel"])
    refuse_unknown(spec["channel"], channel.spec(), "channel")
    return channel
