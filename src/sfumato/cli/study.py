"""A study in a folder: the trials, the report and, apart from these, the recommended release.

What a study wrote it may replace; anything else in the folder is left alone.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import typer

from sfumato.cli.show import note, progress_bar, to_json
from sfumato.data import Table
from sfumato.errors import ParameterError
from sfumato.files import place
from sfumato.measures.measure import measure
from sfumato.methods import Method
from sfumato.privacy.ledger import Ledger
from sfumato.publish.publication import draw, publication_of
from sfumato.release import Release
from sfumato.release.envelope import refuse_inside_release
from sfumato.release.folder import refuse_target
from sfumato.trials.frontier import STORE_NAME, Frontier, frontier
from sfumato.trials.recommendation import CHOSEN, Recommendation
from sfumato.trials.trial import Trial

RELEASE = "release"
REPORT = ("report.html", "frontier.json", "frontier.csv", "frontier.png", "frontier.svg")
INTERRUPTED = 130


@dataclass(frozen=True, kw_only=True)
class Study:
    """Where a study lies, and what is in it."""

    folder: Path

    @property
    def release(self) -> Path:
        return self.folder / RELEASE

    @property
    def trials(self) -> Path:
        return self.folder / STORE_NAME

    @property
    def measures(self) -> Path:
        return self.folder / "measures.json"

    @property
    def report(self) -> Path:
        return self.folder / REPORT[0]

    def check(self, *, ours: bool) -> None:
        """Refuse a folder in which something would be overwritten that no study wrote."""
        if self.folder.exists() and not self.folder.is_dir():
            raise ParameterError(f"{self.folder}: this is a file; expected a folder for the report")
        refuse_inside_release(self.folder)
        written = (*(self.folder / name for name in REPORT), self.measures, self.release)
        there = [path for path in written if path.exists()]
        if there and not ours:
            reason = "this already exists and comes from elsewhere; choose another folder with -o"
            raise ParameterError(f"{there[0]}: {reason}")
        if self.release.exists() and not self.measures.exists():
            raise ParameterError(f"{self.release}: this is not a release written here; move it away first")
        refuse_target(self.release, replace=True)

    def try_all(self, table: Table, methods: Sequence[Method] | None, workers: int | None) -> Frontier:
        """Try every setting; what was tried before is taken from the folder."""
        reached = (0, 0)
        try:
            with progress_bar() as show:

                def progress(trial: Trial, done: int, total: int) -> None:
                    nonlocal reached
                    reached = (done, total)
                    show(trial.method.label, done, total)

                return frontier(table, methods, folder=self.folder, workers=workers, progress=progress)
        except KeyboardInterrupt:
            done, total = reached
            stored = f"{done} of {total} trials are stored in {self.trials}" if done else "no trial is stored yet"
            note(f"Interrupted; {stored}; run the same command again to go on.")
            raise typer.Exit(INTERRUPTED) from None

    def publish(self, recommendation: Recommendation, ledger: Ledger, *, parquet: bool = False) -> Release:
        """Write the recommended release in place of an earlier one, and what it measures beside it."""
        method, table = recommendation.trial.method, recommendation.table
        with publication_of(method, table, self.release, ledger=ledger, replace_release=True) as publication:
            release = draw(publication, method, table, assumptions=CHOSEN)
            measured = {
                "about": "measured on the real data, for the publisher's eyes; not to be published",
                "release": RELEASE,
                "setting": method.label,
                "claim": release.claim.spec(),
                "measures": measure(table, release).spec(),
            }
            place(self.measures, to_json(measured) + "\n")
            publication.write(release, suffix=".parquet" if parquet else ".csv")
        return release
