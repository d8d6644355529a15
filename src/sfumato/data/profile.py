"""What one look at the columns of an undescribed table shows: values, how often each occurs, and what is missing."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.data.text import as_text
from sfumato.errors import DataError
from sfumato.schema.prefixes import natural_order
from sfumato.schema.taxonomy import as_label

MISSING_SPELLINGS = ("", "?", "NA", "N/A", "NaN", "null")
OTHER_MISSING = ("N", ".", "-", "--", "n.a.", "n/a", "na", "nan", "NULL", "None", "none", "#N/A", "missing", "unknown")
"""Words that mean a missing value where they stand among numbers."""
MAX_WORDS = 2
MAX_NUMBER = 1e15
DECIMAL_COMMA = r"^[-+]?(?:\d{1,3}(?:\.\d{3})+|\d+)(?:,\d+)?$"


@dataclass(frozen=True, eq=False)
class Profile:
    """The values of a column that are not missing, as they are spelled, the commonest first."""

    name: str
    rows: int
    dtype: pl.DataType
    texts: pl.Series
    counts: NDArray[np.int64]
    plain: bool = True

    @property
    def present(self) -> int:
        return int(self.counts.sum())

    @property
    def missing(self) -> int:
        return self.rows - self.present

    @cached_property
    def labels(self) -> list[str]:
        """The distinct values, each in its one spelling, numbers inside them by their size."""
        return sorted(
            {as_label(text) for text in self.texts.to_list()}, key=lambda label: (natural_order(label), label)
        )

    @cached_property
    def numbers(self) -> NDArray[np.float64] | None:
        """The distinct values as numbers, if all are."""
        found = self.texts.cast(pl.Float64, strict=False)
        return found.to_numpy() if len(found) and bool((found.abs() <= MAX_NUMBER).fill_null(False).all()) else None

    @cached_property
    def comma_numbers(self) -> NDArray[np.float64] | None:
        """The distinct values as numbers, if all are and some have a decimal comma."""
        texts = self.texts
        if not (len(texts) and texts.str.contains(DECIMAL_COMMA).all() and texts.str.contains(",").any()):
            return None
        plain = texts.str.replace_all(".", "", literal=True).str.replace(",", ".", literal=True)
        return np.asarray(plain.cast(pl.Float64).to_numpy())

    @property
    def uniqueness(self) -> float:
        """Distinct values per row that has one."""
        return len(self.texts) / max(self.present, 1)

    @cached_property
    def bits(self) -> float:
        """The entropy of the column: how much a value tells about whose row it is, on average."""
        shares = np.append(self.counts, self.missing) / max(self.rows, 1)
        shares = shares[shares > 0]
        return float(-(shares * np.log2(shares)).sum())


def look_at(frame: pl.DataFrame, more_missing: Sequence[str] = ()) -> tuple[list[Profile], tuple[str, ...]]:
    """Every column, and the spellings that mean a missing value: the usual, those named, and those found."""
    known = (*MISSING_SPELLINGS, *more_missing)
    counted = [_count(frame[name], name) for name in frame.columns]
    found = [word for word in OTHER_MISSING if word not in known and _means_missing(word, counted, known)]
    spellings = tuple(dict.fromkeys((*known, *found)))
    return [_without(profile, spellings) for profile in counted], spellings


def _count(raw: pl.Series, name: str) -> Profile:
    try:
        text = as_text(raw.alias("raw"), name).alias("raw")
    except DataError:
        return Profile(name, len(raw), raw.dtype, pl.Series([], dtype=pl.String), np.zeros(0, np.int64), plain=False)
    counts = text.drop_nulls().value_counts().sort(["count", "raw"], descending=[True, False])
    return Profile(name, len(raw), raw.dtype, counts["raw"], counts["count"].cast(pl.Int64).to_numpy())


def _without(profile: Profile, spellings: Sequence[str]) -> Profile:
    kept = ~profile.texts.is_in(list(spellings))
    texts, counts = profile.texts.filter(kept), profile.counts[kept.to_numpy()]
    return Profile(profile.name, profile.rows, profile.dtype, texts, counts, profile.plain)


def _means_missing(word: str, columns: Sequence[Profile], known: Sequence[str]) -> bool:
    """Whether a word stands among numbers wherever it stands."""
    holders = [column for column in columns if word in column.texts]
    return bool(holders) and all(_is_beside_numbers(column, known) for column in holders)


def _is_beside_numbers(column: Profile, known: Sequence[str]) -> bool:
    others = column.texts.filter(~column.texts.is_in([*known, *OTHER_MISSING]))
    words = column.texts.is_in([word for word in OTHER_MISSING if word not in known]).sum()
    numeric = others.cast(pl.Float64, strict=False).is_not_null() | others.str.contains(DECIMAL_COMMA)
    return len(others) > 1 and words <= MAX_WORDS and bool(numeric.all())


def looks_like(name: str, words: str) -> bool:
    """Whether the name of a column has one of the words in it, cut where names are: `dept_code`, `deptCode`."""
    parts = re.sub(r"([a-z])([A-Z])", r"\1 \2", name)
    return re.search(rf"(?:^|[\W_\d])(?:{words})(?:$|[\W_\d])", parts, re.IGNORECASE) is not None
