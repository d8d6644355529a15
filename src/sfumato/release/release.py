"""A release of a table: what it says, how it is stored, read back and asked."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from sfumato.release.content import Content
from sfumato.release.query import parse_query
from sfumato.release.tables import read_content, save_content


@dataclass(frozen=True, eq=False, kw_only=True)
class Release(Content):
    """Boxes with weights, the group of each box, the histogram of each group, and a claim: see `Content`.

    >>> release = sf.Mondrian(k=10).publish(table)
    >>> release.query("age >= 40") > 0, release.violations()
    (True, [])
    """

    def save(self, folder: Path | str, *, parquet: bool = False, suffix: str = ".csv", replace: bool = False) -> Path:
        """Write the data, and `release.json` with claim, method and public schema, to a new folder.

        `suffix` is that of any file format; `parquet` is short for `.parquet`. With `replace`, a folder that
        holds a release and nothing else gives way to it.
        """
        return save_content(self, folder, suffix=".parquet" if parquet else suffix, replace=replace)

    @staticmethod
    def load(folder: Path | str) -> Release:
        """Read a release that `save` wrote."""
        return Release(**read_content(Path(folder)))

    def query(self, predicate: str) -> float:
        """The estimated number of rows that satisfy a predicate such as `age >= 40 and sex = 'Male'`."""
        return parse_query(predicate, self.schema).estimate(self)
