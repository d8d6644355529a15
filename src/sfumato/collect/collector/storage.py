"""Surveys, reports and their counts in SQLite or PostgreSQL.

A batch of reports is one transaction: its ids are written down, those that were new are added to the counts, and it is
acknowledged after the commit. So a report is counted once however often it is sent, and whenever a server dies.
"""

import json
import threading
from collections import Counter
from collections.abc import Iterable, Mapping
from contextlib import nullcontext
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, func, select
from sqlalchemy.dialects import postgresql, sqlite

from sfumato.collect.collector.database import COUNTS, REPORTS, SURVEYS, begin, format_url, open_engine, parse_database
from sfumato.collect.survey import Survey
from sfumato.errors import DataError, ParameterError


class ConflictError(DataError):
    """Something else is stored under the same name or id."""


class Report(NamedTuple):
    """A noisy value in the survey's units, under an id that its sender drew at random."""

    id: str
    value: int


class Receipt(NamedTuple):
    """How many reports of a batch were new, and how many had been counted before."""

    accepted: int
    repeated: int


class Storage:
    """The database of a collector, made when it is first opened; any thread may use it, and several servers too."""

    def __init__(self, database: Path | str) -> None:
        self._engine = open_engine(parse_database(database))
        self._dialect: Any = sqlite if self._engine.dialect.name == "sqlite" else postgresql
        # SQLite lets one writer in at a time; a queue here spares the others from polling for it.
        self._turn = threading.Lock() if self._dialect is sqlite else nullcontext()

    @classmethod
    def existing(cls, database: Path | str) -> Self:
        """The database of a collector that has run; a file that is not there is refused, not made."""
        url = parse_database(database)
        if url.get_backend_name() == "sqlite" and not Path(str(url.database)).is_file():
            raise ParameterError(f"{url.database}: the file does not exist; expected the database of a collector")
        return cls(database)

    def __str__(self) -> str:
        return format_url(self._engine.url)

    def close(self) -> None:
        """Give up all connections."""
        self._engine.dispose()

    def add_survey(self, survey: Survey) -> bool:
        """Store a survey; whether it is new. Another one under its name is a conflict."""
        row = {"name": survey.name, "spec": json.dumps(survey.spec())}
        insert = self._dialect.insert(SURVEYS).on_conflict_do_nothing().returning(SURVEYS.c.name)
        with self._turn, begin(self._engine, write=True) as connection:
            if connection.execute(insert, row).first():
                return True
        stored = self.survey(survey.name)
        if stored is None or stored.spec() != survey.spec():
            raise ConflictError(f"another survey has the name {survey.name!r}; choose a new name")
        return False

    def survey(self, name: str) -> Survey | None:
        """The survey with a name, if there is one."""
        with begin(self._engine) as connection:
            spec = connection.scalar(select(SURVEYS.c.spec).where(SURVEYS.c.name == name))
        return None if spec is None else Survey.parse(json.loads(spec))

    def surveys(self) -> list[tuple[Survey, int]]:
        """Every survey with its number of reports, by name."""
        total = func.coalesce(func.sum(COUNTS.c.count), 0)
        counted = select(SURVEYS.c.spec, total).outerjoin(COUNTS, COUNTS.c.survey == SURVEYS.c.name)
        query = counted.group_by(SURVEYS.c.name, SURVEYS.c.spec).order_by(SURVEYS.c.name)
        with begin(self._engine) as connection:
            rows = connection.execute(query).all()
        return [(Survey.parse(json.loads(spec)), int(reports)) for spec, reports in rows]

    def add_reports(self, survey: str, reports: Iterable[Report]) -> Receipt:
        """Count the reports of a batch that are new, durably; an id with another value refuses all of it."""
        sent = list(reports)
        values = dict(sent)
        _refuse_changed(values, sent, "is sent with two values")
        with self._turn, begin(self._engine, write=True) as connection:
            new = self._insert(connection, survey, values)
            if known := values.keys() - new:
                stored = select(REPORTS.c.id, REPORTS.c.value).where(
                    REPORTS.c.survey == survey, REPORTS.c.id.in_(known)
                )
                _refuse_changed(values, connection.execute(stored), "came before with another value")
            self._count(connection, survey, Counter(values[key] for key in new))
        return Receipt(accepted=len(new), repeated=len(sent) - len(new))

    def _insert(self, connection: Connection, survey: str, values: Mapping[str, int]) -> set[str]:
        """Write down the ids that are new; they are the result."""
        if not values:
            return set()
        # In the order of the ids: two batches that share some wait for each other, and never in a circle.
        rows = [{"survey": survey, "id": key, "value": values[key]} for key in sorted(values)]
        insert = self._dialect.insert(REPORTS).on_conflict_do_nothing().returning(REPORTS.c.id)
        return set(connection.scalars(insert, rows))

    def _count(self, connection: Connection, survey: str, added: Counter[int]) -> None:
        if not added:
            return
        # In the order of the values, for the same reason.
        rows = [{"survey": survey, "value": value, "count": added[value]} for value in sorted(added)]
        insert = self._dialect.insert(COUNTS)
        more = {"count": COUNTS.c.count + insert.excluded.count}
        connection.execute(insert.on_conflict_do_update(index_elements=["survey", "value"], set_=more), rows)

    def counts(self, survey: str) -> dict[int, int]:
        """How often each value was reported, in rising order; values that were not are left out."""
        query = select(COUNTS.c.value, COUNTS.c.count).where(COUNTS.c.survey == survey).order_by(COUNTS.c.value)
        with begin(self._engine) as connection:
            return dict(connection.execute(query).all())

    def histogram(self, survey: Survey) -> NDArray[np.int64]:
        """How often each possible report was sent, lowest first."""
        counts = self.counts(survey.name)
        return np.array([counts.get(value, 0) for value in survey.reports], dtype=np.int64)


def _refuse_changed(values: Mapping[str, int], reports: Iterable[Any], problem: str) -> None:
    """An id may be sent any number of times, with one value."""
    for key, value in reports:
        if values[key] != value:
            raise ConflictError(f"the id {key!r} {problem}; expected a new id for each report")
