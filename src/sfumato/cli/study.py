"""A study in a folder: the trials, the report and, where the choice is paid for, the pilot.

What a study wrote it may replace; anything else in the folder is left alone. A release is published by a command of its
own: exploring draws and charges nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import typer

from sfumato.cli.show import note, progress_bar
from sfumato.data import Table
from sfumato.errors import ParameterError
from sfumato.methods import Method
from sfumato.release.envelope import refuse_inside_release
from sfumato.trials.frontier import PILOT_STORE_NAME, STORE_NAME, Frontier, frontier
from sfumato.trials.pilot import FOLDER as PILOT
from sfumato.trials.trial import Trial

RELEASE = "release"
REPORT = ("report.html", "frontier.json", "frontier.csv", "frontier.png", "frontier.svg")
ADVISED = "advised.toml"
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
    def pilot_trials(self) -> Path:
        return self.folder / PILOT_STORE_NAME

    @property
    def pilot(self) -> Path:
        return self.folder / PILOT

    @property
    def advised(self) -> Path:
        return self.folder / ADVISED

    @property
    def report(self) -> Path:
        return self.folder / REPORT[0]

    def check(self, *more: str, ours: bool) -> None:
        """Refuse a folder in which something would be overwritten that no study wrote, or more that a demo writes."""
        if self.folder.exists() and not self.folder.is_dir():
            raise ParameterError(f"{self.folder}: this is a file; expected a folder for the report")
        refuse_inside_release(self.folder)
        there = [self.folder / name for name in (*REPORT, PILOT, ADVISED, *more) if (self.folder / name).exists()]
        if there and not ours:
            reason = "this already exists and comes from elsewhere; choose another folder with -o"
            raise ParameterError(f"{there[0]}: {reason}")

    def try_all(
        self, table: Table, methods: Sequence[Method | type[Method]] | None = None, **settings: Any
    ) -> Frontier:
        """Try every setting, of the given ones or all; what was tried before is taken from the folder."""
        reached = (0, 0)
        try:
            with progress_bar() as show:

                def progress(trial: Trial, done: int, total: int) -> None:
                    nonlocal reached
                    reached = (done, total)
                    show(trial.method.label, done, total)

                return frontier(table, methods, folder=self.folder, progress=progress, **settings)
        except KeyboardInterrupt:
            done, total = reached
            place = self.trials if settings.get("epsilon") is None else self.pilot_trials
            stored = f"{done} of {total} trials are stored in {place}" if done else "no trial is stored yet"
            note(f"Interrupted; {stored}; run the same command again to go on.")
            raise typer.Exit(INTERRUPTED) from None
