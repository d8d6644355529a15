"""A release of a table: what it says, how it is stored, read back and asked."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import polars as pl

from sfumato.data.pieces import Parts
from sfumato.errors import ParameterError
from sfumato.notebook import html_table
from sfumato.release.answer import Answer, Kind
from sfumato.release.content import Content
from sfumato.release.contradictions import find_contradictions
from sfumato.release.grouping import Marginal, table_of
from sfumato.release.query import EVERYBODY, Query, parse_query
from sfumato.release.stored import read_content, save_content
from sfumato.release.tables import make_tables


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Release(Content):
    """Boxes with weights, the group of each box, the histogram of each group, and a claim: see `Content`.

    >>> release = sf.Mondrian(k=10).publish(table)
    >>> release.query("age >= 40") > 0, release.violations()
    (True, [])
    >>> found = release.answer("age >= 40")
    >>> found.certain, found.low <= found.estimate <= found.high
    (True, True)
    >>> release.mean("age", "sex = Female").certain, release.table(["sex", "age:20"]).columns
    (True, ['sex', 'age', 'estimate', 'low', 'high'])
    >>> release.to_polars().columns == [*(axis.name for axis in table.schema.axes)]
    True
    """

    def save(self, folder: Path | str, *, parquet: bool = False, suffix: str = ".csv", replace: bool = False) -> Path:
        """Write the data, and `release.json` with claim, method and public schema, to a new folder.

        `suffix` is that of any file format; `parquet` is short for `.parquet`. With `replace`, a folder that
        holds a release and nothing else gives way to it.
        """
        return save_content(self, folder, suffix=".parquet" if parquet else suffix, replace=replace)

    @classmethod
    def load(cls, folder: Path | str) -> Self:
        """Read a release that `save` wrote."""
        return cls(**read_content(Path(folder)))

    def violations(self) -> list[str]:
        """Why the published data does not keep the claim, or contradicts it; empty if it does neither."""
        return [*find_contradictions(self), *super().violations()]

    def to_polars(self, table: str | None = None) -> pl.DataFrame:
        """What a recipient gets as a frame; of buckets the table `quasi`, unless `sensitive` is asked for."""
        tables, _ = make_tables(self)
        if table is not None and table not in tables:
            raise ParameterError(f"the release has no table {table!r}; expected {' or '.join(tables)}")
        found = tables[table or next(iter(tables))]
        return found.whole if isinstance(found, Parts) else found

    def to_pandas(self, table: str | None = None) -> Any:
        """The same as a pandas frame."""
        return self.to_polars(table).to_pandas()

    def __repr__(self) -> str:
        shape = f"{self.rows:,.0f} rows in {len(self.boxes):,} boxes"
        return f"Release of {shape} by {self.provenance.method}: {self.claim.sentence()}"

    def _repr_html_(self) -> str:
        parameters = ", ".join(f"{name} = {value}" for name, value in self.provenance.parameters.items())
        made = ", ".join(f"{number:,} {what}" for what, number in self.provenance.made.items())
        facts = (
            ("method", self.provenance.method),
            ("parameters", parameters),
            *([("made", made)] if made else []),
            ("claim", self.claim.sentence()),
            ("published as", self.layout),
            ("boxes", f"{len(self.boxes):,}"),
        )
        return html_table(f"Release of {self.rows:,.0f} rows", facts)

    def answer(self, predicate: str) -> Answer:
        """How many rows satisfy a predicate such as `age >= 40 and sex = 'Male'`: an estimate, and its bounds."""
        return self._query(predicate).answer(self)

    def sum(self, column: str, where: str | None = None) -> Answer:
        """What the numbers in a column add up to over rows that satisfy a predicate, or over all."""
        return self._query(where).sum(self, column)

    def mean(self, column: str, where: str | None = None) -> Answer:
        """The mean of a column over rows that satisfy a predicate, or over all, those with no number left out."""
        return self._query(where).mean(self, column)

    def share(self, predicate: str, where: str | None = None) -> Answer:
        """The share that satisfies a predicate among rows that satisfy another one, or among all."""
        return self._query(where).share(self, self._query(predicate), predicate)

    def table(
        self, by: Sequence[str], where: str | None = None, *, of: str | None = None, kind: Kind | None = None
    ) -> pl.DataFrame:
        """Answers for every combination of groups of some columns, such as `["sex", "age:10"]`, with their bounds.

        They are counts or, `of` a column, means or what `kind` says (`sum`, or `share` of a predicate).
        """
        return self.marginal(by, where, of=of, kind=kind).frame()

    def marginal(
        self, by: Sequence[str], where: str | None = None, *, of: str | None = None, kind: Kind | None = None
    ) -> Marginal:
        """The same as the answers themselves."""
        kind = kind or ("mean" if of is not None else "count")
        if (kind == "count") != (of is None):
            raise ParameterError("a count is of people; a sum, a mean or a share is of what `of` names")
        other = self._query(of) if kind == "share" else None

        def ask(query: Query) -> Answer:
            if of is None:
                return query.answer(self)
            if other is not None:
                return query.share(self, other, of)
            return query.sum(self, of) if kind == "sum" else query.mean(self, of)

        return table_of(by, self.schema, self._query(where), ask)

    def _query(self, predicate: str | None) -> Query:
        return EVERYBODY if predicate is None else parse_query(predicate, self.schema)

    def query(self, predicate: str) -> float:
        """The estimate alone."""
        return self.answer(predicate).estimate
