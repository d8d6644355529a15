"""Values that do not fit their schema, all named at once, and what the schema can say to have them read.

Rows are gone through for this only after one has been found that does not fit, so a file that fits pays nothing.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NoReturn

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.data.encode import describe_misfit, encode_values, find_unfit
from sfumato.data.pieces import Piece
from sfumato.data.text import quote_cell
from sfumato.errors import DataError
from sfumato.schema import MISSING, Axis, Schema
from sfumato.schema.axis import AS_MISSING, CLIP, ROUND
from sfumato.schema.numeric import NumericAxis

MAX_NAMED = 20
"""Values of a column that one message names; more are counted."""
SPELLED_BYTE = "\\\\x"
"""In a message, a value of which bytes are spelled out."""
Used = NDArray[np.bool_] | None


@dataclass
class _Misfits:
    """What does not fit in one column: where each value stands first and how often it does, and how many rows more."""

    axis: Axis
    named: dict[str, tuple[str, int, int]] = field(default_factory=dict)
    others: int = 0

    def add(self, shown: str, row: str, rows: int, code: int) -> None:
        first, count, code = self.named.get(shown, (row, 0, code))
        if shown in self.named or len(self.named) < MAX_NAMED:
            self.named[shown] = (first, count + rows, code)
        else:
            self.others += rows

    @property
    def rows(self) -> int:
        return sum(count for _, count, _ in self.named.values()) + self.others

    def sentences(self) -> list[str]:
        found = [
            f"{row}, column {self.axis.name!r}: {describe_misfit(shown, code, self.axis)}"
            + (f" ({count:,} rows)" if count > 1 else "")
            for shown, (row, count, code) in self.named.items()
        ]
        more = [f"column {self.axis.name!r}: {self.others:,} rows more with other values"] if self.others else []
        return [*found, *more]

    def remedy(self) -> str:
        """What the schema could say, if anything stands there that `nullable` does not put right."""
        if all(code == MISSING for _, _, code in self.named.values()):
            return ""
        words = [f'"{CLIP}"'] if isinstance(self.axis, NumericAxis) else ["one of its values"]
        grid = isinstance(self.axis, NumericAxis) and not self.axis.edges
        words += [f'"{ROUND}"'] if grid and self.axis.off_schema != ROUND else []
        words += [f'"{AS_MISSING}"' + ("" if self.axis.nullable else " (with nullable = true)")]
        shown = " or ".join(words) if len(words) < 3 else f"{', '.join(words[:-1])} or {words[-1]}"
        return f"off_schema = {shown} in [columns.{self.axis.name}]"


def refuse_misfits(pieces: Iterable[tuple[Piece, Used]], schema: Schema, where: str, advice: str) -> NoReturn:
    """Go through all rows that are used, and refuse all values that do not fit; `advice` is for text that is none."""
    columns = {axis.name: _Misfits(axis) for axis in schema.modelled}
    for piece, used in pieces:
        for axis in schema.modelled:
            _look(piece, used, axis, schema.missing, columns[axis.name])
    found = [column for column in columns.values() if column.named]
    if not found:
        raise DataError(f"{where}: the rows are no longer those that were read")
    sentences = [sentence for column in found for sentence in column.sentences()]
    odd = any(SPELLED_BYTE in shown for column in found for shown in column.named)
    more = [f"the text is not UTF-8{advice}"] if advice and odd else []
    remedies = list(filter(None, (column.remedy() for column in found)))
    remedy = [f"correct the file, or say in the schema what stands for such a value: {', '.join(remedies)}"]
    rest = more or (remedy if remedies else [])
    if len(sentences) == 1:
        raise DataError("; ".join([*sentences, *rest]))
    total = sum(column.rows for column in found)
    named = tuple(sentence.removeprefix(f"{where}, ") for sentence in sentences)
    raise DataError(f"{where}: {total:,} values do not fit the schema", details=(*named, *rest))


def _look(piece: Piece, used: Used, axis: Axis, missing: tuple[str, ...], found: _Misfits) -> None:
    raw = piece.frame[axis.name].alias("raw")
    codes = encode_values(raw, axis, missing, piece.where).alias("code")
    wrong = find_unfit(codes, axis) if used is None else find_unfit(codes, axis) & pl.Series(used)
    if not wrong.any():
        return
    places = pl.int_range(len(raw), dtype=pl.Int64, eager=True).alias("place")
    listed = pl.DataFrame([raw, codes, places]).filter(wrong)
    alike = listed.group_by("raw", "code", maintain_order=True).agg(pl.col("place").first(), pl.len().alias("rows"))
    # A date that no calendar has cannot be handed to Python, so values are looked up by their place.
    for code, place, rows in alike.select("code", "place", "rows").iter_rows():
        shown = "" if code == MISSING else quote_cell(raw, place)
        found.add(shown, piece.row(place), rows, code)
