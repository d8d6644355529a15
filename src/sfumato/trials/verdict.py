"""Is this number good? Verdicts against what the two end points of the same table reach."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from sfumato.measures.attacks.belief import revealing

if TYPE_CHECKING:
    from sfumato.trials.frontier import Frontier

Grade = Literal["good", "fair", "poor"]


@dataclass(frozen=True, kw_only=True)
class References:
    """What to compare with: the end points, and what revealing somebody's value would mean."""

    original: dict[str, float]
    suppressed: dict[str, float]
    least_revealing: float
    baseline_guess: float

    @staticmethod
    def of(frontier: Frontier) -> References:
        """The reference values of a frontier's table."""
        overall = frontier.table.overall
        return References(
            original={name: frontier.reference("original", name) for name in frontier.measures},
            suppressed={name: frontier.reference("suppression", name) for name in frontier.measures},
            least_revealing=float(revealing(overall)[overall > 0].min()),
            baseline_guess=float(overall.max() / overall.sum()),
        )


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """A value, a grade, and the sentence that explains the grade."""

    measure: str
    value: float
    grade: Grade
    sentence: str

    def spec(self) -> dict[str, Any]:
        """The verdict as the report needs it."""
        return {"measure": self.measure, "value": self.value, "verdict": self.grade, "sentence": self.sentence}


def judge(name: str, value: float, references: References) -> Verdict:
    """The verdict on a measure; grades compare with the end points, never with absolute taste where avoidable."""
    grade, sentence = _JUDGES[name](value, references)
    return Verdict(measure=name, value=value, grade=grade, sentence=sentence)


def _grade(value: float, good: float, fair: float) -> Grade:
    return "good" if value <= good else "fair" if value <= fair else "poor"


def _signed(change: float) -> str:
    percent = round(100 * change)
    return f"{percent:+d}%" if percent else "0%"


def _p_loss(value: float, references: References) -> tuple[Grade, str]:
    revealed = references.least_revealing
    return _grade(value, revealed / 4, revealed * 3 / 4), (
        f"Revealing somebody's value outright costs at least {revealed:.3f} on this table; the worst-off person is at "
        f"{value / revealed:.0%} of that."
    )


def _breach(value: float, references: References) -> tuple[Grade, str]:
    return _grade(value, 0.25, 1.0), (
        "Against naming the commonest value for everyone, the statistical adversary's hit rate changes by "
        f"{_signed(value)}; with the original table it would change by {_signed(references.original['breach'])}."
    )


def _guessed_right(value: float, references: References) -> tuple[Grade, str]:
    base = references.baseline_guess
    return _grade((value - base) / max(1 - base, 1e-9), 0.1, 0.35), (
        f"Naming the commonest value for everyone is right {base:.1%} of the time; the release raises that to "
        f"{value:.1%}."
    )


def _smallest_class(value: float, references: References) -> tuple[Grade, str]:
    return _grade(-value, -10, -5), (
        f"Everybody's sensitive value stands among those of {value:,.0f} people or more; many statistical offices ask "
        "for 5 to 10."
    )


def _u_loss(value: float, references: References) -> tuple[Grade, str]:
    worst = references.suppressed["u_loss"]
    share = value / worst if worst > 0 else 0.0
    return _grade(share, 0.1, 0.4), (
        f"Suppressing everything loses {worst:.4f}; this release loses {share:.0%} of that."
    )


def _query_error(value: float, references: References) -> tuple[Grade, str]:
    worst = references.suppressed["query_error"]
    return _grade(value, 0.1, 0.5), (
        f"A typical count is off by {value:.1%}; with everything suppressed it would be off by {worst:.0%}."
    )


def _ncp(value: float, references: References) -> tuple[Grade, str]:
    return _grade(value, 0.1, 0.4), (
        "Quasi-identifiers are published exactly."
        if value == 0
        else f"A published value spans {value:.1%} of its attribute's range on average."
    )


_JUDGES = {
    "p_loss": _p_loss,
    "breach": _breach,
    "guessed_right": _guessed_right,
    "smallest_class": _smallest_class,
    "u_loss": _u_loss,
    "query_error": _query_error,
    "ncp": _ncp,
}
