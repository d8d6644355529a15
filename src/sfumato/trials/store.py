"""The file of finished trials: each is on disk the moment it ends, so an interrupt loses none."""

import json
from dataclasses import dataclass
from pathlib import Path

from sfumato.errors import SfumatoError
from sfumato.files import append_line
from sfumato.measures.measure import MEASURES
from sfumato.trials.trial import Trial
from sfumato.version import __version__

REQUIRED = {name for name, measure in MEASURES.items() if not measure.optional}


@dataclass(frozen=True)
class TrialStore:
    """Trials of one table, a line of JSON each; lines of other tables or versions are passed over."""

    path: Path
    table: str
    more: frozenset[str] = frozenset()
    """Measures that the trials have beside the usual ones."""

    def load(self) -> list[Trial]:
        """The trials stored so far."""
        if not self.path.exists():
            return []
        stored = map(self._parse, self.path.read_text(encoding="utf-8").splitlines())
        return list({trial.id: trial for trial in stored if trial}.values())

    def add(self, trial: Trial) -> None:
        """Append a trial durably."""
        append_line(self.path, json.dumps({"table": self.table, "version": __version__, "trial": trial.spec()}))

    def _parse(self, line: str) -> Trial | None:
        try:
            entry = json.loads(line)
            if entry["table"] != self.table or entry["version"] != __version__:
                return None
            trial = Trial.parse(entry["trial"])
        except (ValueError, KeyError, TypeError, AttributeError, SfumatoError):
            return None
        known = REQUIRED | self.more <= set(trial.measures) <= set(MEASURES) | self.more
        return trial if trial.refused or known else None
