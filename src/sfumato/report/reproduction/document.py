"""What a reproduction of papers found, as one document: experiments with their rows, and statements with verdicts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from sfumato.trials.document import Document
from sfumato.trials.repetition import Interval

Scalar = float | int | str
Verdict = Literal["holds", "fails", "open"]
VERDICTS: dict[Verdict, str] = {"holds": "holds", "fails": "fails", "open": "cannot be checked"}


@dataclass(frozen=True, kw_only=True)
class Row:
    """One setting of an experiment: means over its seeds, and 95% intervals where there are several."""

    series: str
    setting: Mapping[str, Scalar]
    values: Mapping[str, float]
    intervals: Mapping[str, Interval] = field(default_factory=dict)
    seeds: int = 1
    seconds: float = 0.0

    def at(self, name: str) -> Scalar | None:
        """A measured value, or a part of the setting."""
        return self.values.get(name, self.setting.get(name))


@dataclass(frozen=True, kw_only=True)
class Mark:
    """A number that the paper prints: a point, or a line where one side is not given."""

    text: str
    x: float | None = None
    y: float | None = None


@dataclass(frozen=True, kw_only=True)
class Panel:
    """One chart of an experiment: which part of its rows, what along the axes, and what the paper prints there.

    `only` names parts of the setting that rows must have. `efficient` joins the rows that no other beats on both axes.
    """

    name: str
    title: str
    x: str
    y: str
    x_title: str
    y_title: str
    only: Mapping[str, Scalar] = field(default_factory=dict)
    x_log: bool = False
    y_log: bool = False
    x_percent: bool = False
    y_percent: bool = False
    joined: bool = True
    efficient: bool = False
    printed: tuple[Mark, ...] = ()

    def shows(self, row: Row) -> bool:
        """Whether a row is drawn here."""
        wanted = all(row.setting.get(name) == value for name, value in self.only.items())
        return wanted and row.at(self.x) is not None and row.at(self.y) is not None


@dataclass(frozen=True, kw_only=True)
class ExperimentEntry:
    """An experiment and what it found."""

    name: str
    title: str
    shows: str
    command: str
    panels: Sequence[Panel]
    rows: Sequence[Row]

    @property
    def seconds(self) -> float:
        """Processor time of all its runs."""
        return sum(row.seconds for row in self.rows)

    @property
    def runs(self) -> int:
        return sum(row.seeds for row in self.rows)


@dataclass(frozen=True, kw_only=True)
class StatementEntry:
    """A statement of a paper, what the paper prints, what was measured, and the verdict."""

    paper: str
    place: str
    says: str
    printed: str
    measured: str
    verdict: Verdict
    why: str
    command: str
    experiment: str


@dataclass(frozen=True, kw_only=True)
class PaperEntry:
    """A paper: who wrote it, which data stands in for its own, its experiments and its statements."""

    name: str
    title: str
    reference: str
    stand_in: str
    experiments: Sequence[ExperimentEntry]
    statements: Sequence[StatementEntry]

    def count(self, verdict: Verdict) -> int:
        """How many statements have a verdict."""
        return sum(one.verdict == verdict for one in self.statements)


@dataclass(frozen=True, kw_only=True)
class Reproduction(Document):
    """All papers that were reproduced in one run."""

    quick: bool
    first_seed: int
    papers: Sequence[PaperEntry]

    @property
    def statements(self) -> list[StatementEntry]:
        return [one for paper in self.papers for one in paper.statements]

    def count(self, verdict: Verdict) -> int:
        """How many statements have a verdict."""
        return sum(paper.count(verdict) for paper in self.papers)
