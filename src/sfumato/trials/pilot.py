"""The pilot: a synthetic table bought with a share of ε, on which anything may be tried.

Whoever compares measures of the real rows and then publishes the best setting has looked at the rows, and no ε covers
that: the setting is a function of them without noise. A pilot is a release of its own, at a share ε₁ of the whole ε.
All that is computed from it alone (trials, attacks, workloads, the report, the chosen setting) is post-processing and
costs nothing more. The chosen setting is then published on the real rows at ε − ε₁. Both together compose, the second
chosen after seeing the first, to ε (adaptive sequential composition).

Whoever chooses may have seen every pilot that was bought of these people, so a choice costs what all of them cost.

A pilot is bought once for a table: it is kept as a release folder beside the trials, or with the table as long as that
is in memory, and the ledger knows it by the name in its `release.json` and by a keyed digest of the rows it was made
from. It is made by PrivBayes, whatever the table: of the private methods it keeps most of the relations by which
settings differ, on any number of columns. Its ε is somebody's choice all the same: where measures of the rows were seen
before, its claim is conditional, and so is that of what is chosen on it.
"""

from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from functools import cached_property, partial
from math import sqrt
from pathlib import Path

import numpy as np

from sfumato.data import Table
from sfumato.errors import ParameterError
from sfumato.methods import PrivBayes
from sfumato.privacy.claims import Choice, Claim, Conditional, PureDP
from sfumato.privacy.ledger import Ledger
from sfumato.privacy.loss import exact, spell
from sfumato.publish.pilots import HIDING, cost_of, pilots_behind, refuse_unpaid
from sfumato.publish.publication import draw, publication_of
from sfumato.release import Release
from sfumato.release.histograms import cells_of

SHARE = 0.15
"""Of ε, what a pilot costs unless told otherwise."""
FOLDER = "pilot"
SIGNIFICANT, SPELLED = 6, 15
"""Digits of a pilot's ε, and those that any number keeps: sums of numbers with no finer digits are exact."""
PILOT_LIMITS = (
    "Rare groups: what few people share is hidden by the pilot's own noise, so how a release treats them shows only "
    "on the rows themselves.",
    "The worst-off person: the largest belief shift and the largest gain are those of synthetic people.",
    "Fine detail: methods that model a table as the pilot's own method does look a little better than they are.",
)
"""What a pilot cannot tell."""
DROWNED = 0.02
"""Noise of this share of the rows in each count of a pilot hides how two columns go together."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Pilot:
    """A synthetic table that was paid for; `paid` is what all pilots of these people cost, if that is more."""

    release: Release
    paid: float | None = None

    def __post_init__(self) -> None:
        claim = self._promise
        hides = type(claim) is PureDP and claim.neighbours == HIDING and claim.choice is None
        if not hides or self.release.provenance.id is None:
            raise ParameterError(
                "a pilot is a release that was charged to a ledger and hides who is in the table under pure "
                f"differential privacy; this one promises: {self.release.claim.sentence()}"
            )

    @property
    def _promise(self) -> Claim:
        claim = self.release.claim
        return claim.given if isinstance(claim, Conditional) else claim

    @property
    def looked(self) -> str | None:
        """What showed measures of the rows before its ε was chosen, if anything did."""
        return self.release.claim.looked if isinstance(self.release.claim, Conditional) else None

    @property
    def choice(self) -> Choice:
        """What choosing on it adds to a claim."""
        name = self.release.provenance.id
        assert name
        return Choice(epsilon=self.paid or self._own_epsilon, pilot=name)

    @property
    def _own_epsilon(self) -> float:
        claim = self._promise
        assert isinstance(claim, PureDP)
        return claim.epsilon

    @cached_property
    def table(self) -> Table:
        """Its rows, to be tried and measured like any table."""
        return made_up_table(self.release)

    @property
    def caution(self) -> str | None:
        """That so small an ε tells little about so few people, where it does; all of it is public."""
        noise = sqrt(2) * len(self.release.schema.axes) / self._own_epsilon
        if noise <= DROWNED * self.table.n:
            return None
        return (
            f"So few people for so small an ε: a count behind the pilot is off by about {noise:,.0f}, and the pilot "
            f"has {self.table.n:,} rows. Its figures, and the choice that rests on them, may be little but noise."
        )

    @property
    def limits(self) -> tuple[str, ...]:
        """What it cannot tell."""
        return (*filter(None, [self.caution]), *PILOT_LIMITS)

    def rest(self, epsilon: float) -> float:
        """What is left of ε for the release itself."""
        left = _left(exact(epsilon), exact(self.choice.epsilon))
        if left <= 0:
            raise ParameterError(
                f"epsilon is {epsilon:g}, but pilots alone cost {self.choice.epsilon:g}; give a larger epsilon"
            )
        return float(left)


def made_up_table(release: Release) -> Table:
    """The rows of a synthetic release as a table."""
    group, value, counts = cells_of(release.histograms)
    if not counts.round().any():
        raise ParameterError("the pilot has no rows: so small an epsilon tells nothing about so few people")
    points = np.where(release.boxes.missing, -1, release.boxes.lo).astype(np.int32)
    order = np.lexsort(points.T[::-1])
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    cells = np.lexsort((value, rank[group]))
    cells = cells[counts[cells].round() > 0]
    return Table(
        schema=release.schema.without_others,
        points=np.ascontiguousarray(points[order]),
        cell_point=rank[group][cells],
        cell_value=value[cells].astype(np.int32),
        cell_weight=counts[cells].round().astype(np.int64),
        synthetic=True,
    )


def split_off(epsilon: float, share: float) -> float:
    """The share of ε that a pilot costs, in few digits: what is left, and the sum of both, are spelled exactly."""
    whole, part = exact(epsilon), exact(share, "the pilot's share")
    if part >= 1:
        raise ParameterError(f"the pilot's share is {float(part):g}; expected a number above 0 and below 1")
    asked = whole * part
    found = _round_down(asked, max(_digit(asked, SIGNIFICANT), _digit(whole, SPELLED)))
    if not found or _left(whole, found) <= 0:
        raise ParameterError(f"the pilot's share is {float(part):g}; it leaves nothing for the pilot or the release")
    return float(found)


def _left(whole: Fraction, spent: Fraction) -> Fraction:
    """What is left of ε, rounded down to digits that it is spelled with."""
    return _round_down(whole - spent, _digit(whole, SPELLED))


def _digit(number: Fraction, digits: int) -> Fraction:
    """The worth of the last of so many digits of a number above 0."""
    first = (Decimal(number.numerator) / Decimal(number.denominator)).adjusted()
    return Fraction(10) ** (first + 1 - digits)


def _round_down(number: Fraction, step: Fraction) -> Fraction:
    return number // step * step


def find_pilot(
    table: Table,
    epsilon: float,
    *,
    folder: Path | None,
    ledger: Ledger,
    share: float,
    anew: bool,
    beforehand: bool = False,
) -> Pilot:
    """The pilot of a table: the one in the folder if it was bought for the same rows, else a new one.

    Without a folder, it is the one that was bought for this table in memory and charged to the same ledger. If measures
    of the rows were seen before, it says so, unless its ε was chosen `beforehand`.
    """
    if table.schema.from_data:
        names = ", ".join(table.schema.from_data)
        raise ParameterError(
            f"the bounds or values of {names} were read off the rows, so that no pilot would promise anything; if they "
            "are public knowledge, delete from_data in the schema"
        )
    method = PrivBayes(epsilon=split_off(epsilon, share))
    kept = folder / FOLDER if folder else None
    buy = partial(_buy_pilot, table, method, kept, ledger, anew=anew, beforehand=beforehand, whole=epsilon)
    if kept is None:
        found: Pilot = _paid_for(table.remember(("pilot", ledger.path), buy, anew=anew), ledger)
    elif anew or not kept.exists():
        found = buy()
    else:
        found = load_pilot(kept, table, ledger)
    if beforehand:
        refuse_looked(found)
    return found


def load_pilot(folder: Path, table: Table, ledger: Ledger) -> Pilot:
    """The pilot in a folder, which was bought for the same rows of the same people and charged to the same ledger.

    What it says of a look at the rows, the table remembers, whether or not the ledger knows of that look.
    """
    pilot, other = (
        _paid_for(Pilot(release=Release.load(folder)), ledger),
        "choose another folder, or have a new pilot bought",
    )
    mine, theirs = table.schema, pilot.release.schema
    if (mine.person_column, mine.rows_per_person) != (theirs.person_column, theirs.rows_per_person):
        raise ParameterError(f"{folder}: this pilot counts people by another column, or other numbers of rows; {other}")
    if mine.refusing != theirs.refusing:
        raise ParameterError(f"{folder}: the schema of this pilot refuses values in other columns; {other}")
    try:
        if not ledger.charged(pilot.choice.pilot, mine.name, table.digest):
            raise ParameterError(
                f"the ledger {ledger.path} knows no pilot {pilot.choice.pilot} of these rows of {mine.name}"
            )
        refuse_unpaid(pilot.choice, mine.name, table.digest, ledger)
    except ParameterError as error:
        raise ParameterError(f"{folder}: {error}; {other}") from error
    if pilot.looked:
        table.note_look(pilot.looked)
    return pilot


def refuse_looked(pilot: Pilot) -> None:
    """Refuse to say of what is chosen on a pilot what the pilot does not say of itself."""
    if pilot.looked:
        raise ParameterError(
            f"{pilot.looked} showed measures of the rows before this pilot was bought, and nobody said that its "
            "epsilon was chosen beforehand; have a new pilot bought if it was"
        )


def _buy_pilot(
    table: Table, method: PrivBayes, kept: Path | None, ledger: Ledger, *, anew: bool, beforehand: bool, whole: float
) -> Pilot:
    before = cost_of(ledger.account(table.schema.name).pilots()).epsilon
    if _left(exact(whole), before + exact(method.epsilon)) <= 0:
        raise ParameterError(
            f"epsilon is {whole:g}, but the pilots that were bought of {table.schema.name} cost {float(before):g}, and "
            "whoever chooses may have seen them; give a larger epsilon"
        )
    replaces = anew and kept is not None
    publication = publication_of(
        method, table, kept or "", ledger=ledger, replace_release=replaces, pilot=True, beforehand=beforehand
    )
    with publication:
        release = draw(publication, method, table)
        if kept:
            publication.write(release)
    return _paid_for(Pilot(release=release), ledger)


def _paid_for(pilot: Pilot, ledger: Ledger) -> Pilot:
    """The pilot with what all pilots of its people cost."""
    pilots = pilots_behind(pilot.choice, pilot.release.schema.name, ledger)
    return replace(pilot, paid=spell(cost_of(pilots).epsilon)) if pilots else pilot
