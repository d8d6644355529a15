"""Choosing among trials: those that keep what is asked of them, and the most useful of these.

Every figure is taken at the pessimistic end of its interval. A trial's fate hangs on no other trial but a better one:
adding or leaving out others never makes a different one of the rest win.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, Self

import numpy as np
from numpy.typing import NDArray

from sfumato.measures.measure import MEASURES
from sfumato.trials.audience import RISK, Floor, risk_words
from sfumato.trials.document import CandidateEntry
from sfumato.trials.purpose import COUNTS, Purpose, percent
from sfumato.trials.trial import Trial

Floats = NDArray[np.float64]
Role = Literal["safest", "balanced", "most useful"]
TITLES: dict[Role, str] = {
    "safest": "the safest that is still of use",
    "balanced": "the balanced one",
    "most useful": "the most useful that keeps the floor",
}


@dataclass(frozen=True, kw_only=True)
class Standard:
    """What is asked of a release: a floor under privacy, limits, and an end to how useless it may be."""

    floor: Floor | None
    purpose: Purpose = COUNTS
    limits: dict[str, float] = field(default_factory=dict)
    enough: float = COUNTS.enough
    allow_exact: bool = False
    noise: bool = False
    """Whether a release must be protected by noise."""

    def on(self, trials: Sequence[Trial]) -> Self:
        """The same with a floor not below what suppressing everything comes to, and noise only where there is any."""
        least = [trial.measures[RISK.name] for trial in trials if trial.method.endpoint == "suppressed"]
        floor = self.floor.raised(max(least, default=0.0)) if self.floor else None
        return replace(self, floor=floor, noise=self.noise and any(map(self.admits, trials)))

    def use(self, trial: Trial) -> float:
        """How far a release is from perfectly useful, at worst."""
        return trial.at_worst(self.purpose.measure)

    def hides(self, trial: Trial) -> bool:
        """Whether a release comes with a guarantee and hides who is in the table."""
        return trial.promises and trial.method.endpoint is None and (self.allow_exact or not trial.shows_presence)

    def admits(self, trial: Trial) -> bool:
        """Whether a release may be recommended at all."""
        return self.hides(trial) and not (self.noise and not trial.method.claim.noise)

    def keeps_limits(self, trial: Trial) -> bool:
        return all(trial.at_worst(MEASURES[name]) <= limit for name, limit in self.limits.items())

    def is_safe(self, trial: Trial) -> bool:
        """Whether a release keeps the floor for sure."""
        return self.floor is None or risk(trial) <= self.floor.most

    def is_useful(self, trial: Trial) -> bool:
        """Whether a release is of use for sure."""
        return self.use(trial) <= self.enough

    def keeps_all(self, trial: Trial) -> bool:
        """Whether a release keeps everything, as far as its runs tell."""
        return self.admits(trial) and self.keeps_limits(trial) and self.is_safe(trial) and self.is_useful(trial)

    def is_fit(self, trial: Trial) -> bool:
        """Whether a release keeps everything for sure."""
        return trial.is_settled and self.keeps_all(trial)

    def could_be_chosen(self, trial: Trial, use: float) -> bool:
        """Whether a release would keep everything and be more useful than this, were its means certain."""
        certain = replace(trial, intervals={})
        return self.keeps_all(certain) and self.use(certain) < use

    def losses(self, trials: Sequence[Trial]) -> tuple[Floats, Floats]:
        """What each trial discloses, and how far it is from perfectly useful: the two sides of the chart."""
        pair = RISK.name, self.purpose.measure.name
        privacy, utility = (np.array([trial.measures.get(name, np.nan) for trial in trials]) for name in pair)
        return privacy, utility

    def share_used(self, trial: Trial) -> float:
        """The larger of the shares of what is allowed that a release uses up: of the floor, of the end of use."""
        return max(risk(trial) / (self.floor.most if self.floor else 1.0), self.use(trial) / (self.enough or 1.0))


def risk(trial: Trial) -> float:
    """What a release itself discloses about the people most exposed, at worst."""
    return trial.at_worst(RISK)


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """A release to consider, and what going on to the next more useful one would gain and cost."""

    role: Role
    trial: Trial
    risk: float
    use: float
    sentence: str

    def entry(self) -> CandidateEntry:
        """The candidate as the report needs it."""
        return CandidateEntry(
            role=self.role,
            trial=self.trial.id,
            label=self.trial.method.label,
            risk=self.risk,
            use=self.use,
            sentence=self.sentence,
        )


@dataclass(frozen=True)
class Sorted:
    """Trials by what keeps them from being recommended; each is in one place."""

    endpoints: list[Trial]
    exposing: list[Trial]
    unprotected: list[Trial]
    beyond: list[Trial]
    unsafe: list[Trial]
    useless: list[Trial]
    beaten: list[Trial]
    fit: list[Trial]


def sort_out(trials: Sequence[Trial], standard: Standard) -> Sorted:
    """The trials that come with a guarantee, sorted."""
    promising = [trial for trial in trials if trial.promises]
    found = Sorted([], [], [], [], [], [], [], [])
    for trial in promising:
        if trial.method.endpoint:
            found.endpoints.append(trial)
        elif not standard.hides(trial):
            found.exposing.append(trial)
        elif not standard.admits(trial):
            found.unprotected.append(trial)
        elif not standard.keeps_limits(trial):
            found.beyond.append(trial)
        elif not standard.is_safe(trial):
            found.unsafe.append(trial)
        elif not standard.is_useful(trial):
            found.useless.append(trial)
        else:
            (found.fit if trial.is_settled else found.beaten).append(trial)
    return found


def candidates(fit: Sequence[Trial], standard: Standard) -> tuple[Candidate, ...]:
    """The safest, the balanced and the most useful of trials that are fit, each once; the last is recommended.

    The balanced one uses up the smallest share of what is allowed: the least max(risk / floor, use / enough).
    """
    if not fit:
        return ()
    use = standard.use
    chosen: dict[Role, Trial] = {
        "most useful": min(fit, key=lambda trial: (use(trial), risk(trial), trial.id)),
        "safest": min(fit, key=lambda trial: (risk(trial), use(trial), trial.id)),
        "balanced": min(fit, key=lambda trial: (standard.share_used(trial), risk(trial) + use(trial), trial.id)),
    }
    distinct = {trial.id: role for role, trial in reversed(chosen.items())}
    roles = [role for role in TITLES if role in distinct.values()]
    return tuple(
        Candidate(
            role=role,
            trial=chosen[role],
            risk=risk(chosen[role]),
            use=use(chosen[role]),
            sentence=_next_step(chosen[role], chosen[after] if after else None, standard),
        )
        for role, after in zip(roles, [*roles[1:], None], strict=True)
    )


def _next_step(here: Trial, there: Trial | None, standard: Standard) -> str:
    if there is None:
        return "No release that keeps the same, with as few poor grades, is more useful."
    return (
        f"Going on to {there.method.label}, {standard.purpose.sentence(standard.use(there))} instead of "
        f"{percent(standard.use(here))}, and {risk_words(f'{percent(risk(there))} instead of {percent(risk(here))}')}, "
        "all at worst."
    )
