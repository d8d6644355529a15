"""Files of SPSS, Stata and SAS: every value is read as its label, in the words that its file has for it.

Values that the file declares missing are missing, dates are dates, and whole numbers that are stored as floats are
whole. Text is taken as bytes and decoded here, cell by cell, so that one cell that is no text stops nobody.
"""

import codecs
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import polars as pl

from sfumato.data import pieces
from sfumato.data.opening import Opening, needing
from sfumato.data.pieces import Piece, refuse_absent, refuse_duplicates
from sfumato.data.text import NOT_TEXT, spell
from sfumato.errors import DataError, shorten

READERS = {
    ".sav": "read_sav",
    ".zsav": "read_sav",
    ".por": "read_por",
    ".dta": "read_dta",
    ".sas7bdat": "read_sas7bdat",
    ".xpt": "read_xport",
}
BYTES = "LATIN1"
"""An encoding in which every byte is a letter, from which the bytes can be had back."""
UNDECLARED = "utf-8"
OLD_STATA = "cp1252"
STATA_IN_UTF_8 = 118
STATA_RELEASE = re.compile(rb"<stata_dta><header><release>(\d{3})")
DAY, SECOND, MILLISECOND = 86_400_000_000, 1_000_000, 1_000
"""In microseconds."""
FROM_1582, FROM_1960 = -141_428 * DAY, -3_653 * DAY
"""The days from which the programs count, in microseconds from 1970."""
TIMES: dict[str, tuple[tuple[str, pl.DataType, int, int], ...]] = {
    "spss": (
        (r"(DATETIME|YMDHMS)", pl.Datetime("us"), SECOND, FROM_1582),
        (r"([AEJS]?DATE)\d*$", pl.Date(), SECOND, FROM_1582),
        (r"(D?TIME|MTIME)\d", pl.Duration("us"), SECOND, 0),
    ),
    "stata": ((r"%-?t[cC]", pl.Datetime("us"), MILLISECOND, FROM_1960), (r"%-?(td|d)", pl.Date(), DAY, FROM_1960)),
    "sas": (
        (r"(DATETIME|DATEAMPM|DTDATE|E8601D[NTZ]|B8601D[NTZ])", pl.Datetime("us"), SECOND, FROM_1960),
        (r"(DATE|[EB]8601DA|YYMMDD|MMDDYY|DDMMYY|WEEKDATE|WORDDATE|NLDATE|JULIAN)", pl.Date(), DAY, FROM_1960),
        (r"(TIME|[EB]8601TM|HHMM)", pl.Duration("us"), SECOND, 0),
    ),
}
"""How the formats of a program begin that mean a time, and what a number in them counts from where."""
FAMILIES = {"read_sav": "spss", "read_por": "spss", "read_dta": "stata"}


def read_labelled(path: Path, columns: Sequence[str] | None, lenient: bool, opening: Opening) -> Iterator[Piece]:
    """The wanted columns, piece by piece; without `lenient`, text that cannot be decoded is refused."""
    file = _File(path, opening.encoding, lenient)
    names = list(file.places)
    refuse_duplicates(names, str(path))
    refuse_absent(columns or [], names, str(path))
    wanted = names if columns is None else list(columns)
    rows, before = file.rows, 0
    while True:
        some = {} if rows is None else {"row_offset": before, "row_limit": pieces.ROWS_AT_ONCE}
        frame = file.read(wanted, **some)
        before += frame.height
        last = rows is None or before >= rows or not frame.height
        yield Piece(frame, before - frame.height, 1.0 if last else before / max(rows or 1, 1))
        if last:
            return


@dataclass(frozen=True)
class _File:
    """A file and what it says of its columns."""

    path: Path
    encoding: str | None
    lenient: bool

    @cached_property
    def reader(self) -> str:
        return READERS[next(ending for ending in READERS if self.path.name.lower().endswith(ending))]

    @cached_property
    def about(self) -> Any:
        return self._ask(metadataonly=True)[1]

    @property
    def rows(self) -> int | None:
        """How many rows there are, where the file says so and can be read from any of them on."""
        found = self.about.number_rows
        return found if isinstance(found, int) and found >= 0 and self.reader != "read_por" else None

    @cached_property
    def places(self) -> dict[str, str]:
        """The name of each column as the library has it, by its own."""
        names = list(self.about.column_names)
        return dict(zip((self._decoded(name, "the names of columns") for name in names), names, strict=True))

    @cached_property
    def spelled_in(self) -> str:
        """The encoding of text: the one that was given, or that the file declares."""
        if self.encoding:
            return self.encoding
        if self.reader == "read_dta":
            with self.path.open("rb") as file:
                release = STATA_RELEASE.match(file.read(64))
            return UNDECLARED if release and int(release[1]) >= STATA_IN_UTF_8 else OLD_STATA
        try:
            return codecs.lookup(self._ask(metadataonly=True, encoding=None)[1].file_encoding or UNDECLARED).name
        except (LookupError, DataError):
            return UNDECLARED

    def read(self, wanted: Sequence[str], **some: int) -> pl.DataFrame:
        """Columns as text, those of some rows or of all."""
        names = [self.places[name] for name in wanted]
        # A file of which no column is wanted still has rows.
        found, _ = self._ask(usecols=names or list(self.about.column_names)[:1], **some)
        pairs = zip(wanted, names, strict=True)
        return pl.DataFrame([self._column(name, place, found[place]) for name, place in pairs])

    def _column(self, name: str, place: str, cells: Any) -> pl.Series:
        labels = self.about.variable_value_labels.get(place, {})
        if self.about.readstat_variable_types.get(place) == "string":
            raw = pl.Series(name, cells, dtype=pl.String)
            decoded = _each(raw, lambda cell: self._decoded(cell, f"the column {name!r}"))
            words = {self._decoded(key, name): word for key, word in labels.items() if isinstance(key, str)}
            return _worded(decoded, decoded, self._words(words, name)).replace("", None)
        raw = pl.Series(name, cells, dtype=pl.Float64)
        spelled = spell(self._as_time(place, raw)).alias(name)
        numbers = {float(key): word for key, word in labels.items() if isinstance(key, int | float)}
        return _worded(raw, spelled, self._words(numbers, name))

    def _as_time(self, place: str, raw: pl.Series) -> pl.Series:
        """A column of times as such; of other numbers as they are."""
        form = str(self.about.original_variable_types.get(place) or "")
        for start, kind, unit, since in TIMES[FAMILIES.get(self.reader, "sas")]:
            if re.match(start, form):
                moments = (raw * unit + since).cast(pl.Int64, strict=False)
                # A day that no column can hold is what it counts.
                days = (moments // DAY).cast(pl.Int32, strict=False)
                return days.cast(pl.Date) if kind == pl.Date() else moments.cast(kind)
        return raw

    def _words(self, labels: Mapping[Any, str], name: str) -> dict[Any, str]:
        """The label of each value; where two values have the same, each with the value behind it."""
        words = {key: self._decoded(word, f"the labels of {name!r}").strip() for key, word in labels.items()}
        known = list(words.values())
        shown = dict(zip(words, spell(pl.Series(list(words))), strict=True)) if words else {}
        return {key: f"{word} ({shown[key]})" if known.count(word) > 1 else word for key, word in words.items() if word}

    def _decoded(self, text: str, what: str) -> str:
        if text.isascii():
            return text
        content = text.encode("latin-1", errors="ignore")
        try:
            return content.decode(self.spelled_in, errors=NOT_TEXT if self.lenient else "strict")
        except UnicodeDecodeError as error:
            raise DataError(
                f"{self.path}: text in {what} is not {self.spelled_in}; say which encoding it has, such as "
                "--encoding cp1252"
            ) from error

    def _ask(self, **options: Any) -> tuple[Any, Any]:
        with needing("files", str(self.path)):
            import pyreadstat
        usual = {"output_format": "dict", "disable_datetime_conversion": True}
        if self.reader != "read_por":
            usual["encoding"] = BYTES
        try:
            read: tuple[Any, Any] = getattr(pyreadstat, self.reader)(self.path, **{**usual, **options})
            return read
        except (pyreadstat.ReadstatError, pyreadstat.PyreadstatError, ValueError, OverflowError, MemoryError) as error:
            reason = shorten(str(error).splitlines()[0] if str(error) else type(error).__name__, 200)
            raise DataError(f"{self.path}: cannot be read as a table ({reason})") from error


def _each(raw: pl.Series, change: Any) -> pl.Series:
    """Every text changed, each that occurs once."""
    some = raw.unique().drop_nulls()
    changed = [change(text) for text in some]
    return raw if changed == some.to_list() else raw.replace(some, pl.Series(changed, dtype=pl.String))


def _worded(raw: pl.Series, spelled: pl.Series, words: Mapping[Any, str]) -> pl.Series:
    """Values as their labels, and as they are spelled where they have none."""
    if not words:
        return spelled
    keys, labels = pl.Series(list(words), dtype=raw.dtype), pl.Series(list(words.values()), dtype=pl.String)
    return raw.replace_strict(keys, labels, default=None, return_dtype=pl.String).fill_null(spelled).alias(raw.name)
