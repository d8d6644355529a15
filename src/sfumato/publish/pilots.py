"""What choosing on pilots costs: whoever chooses a setting may have seen every pilot that was bought of these people.

A choice after pilots at ε₁, …, ε_j is post-processing of all of them, and they compose to ε₁ + … + ε_j, each bought
after seeing those before (adaptive sequential composition). So that is what the choice adds to a claim.
"""

from collections.abc import Sequence

from sfumato.errors import ParameterError
from sfumato.privacy.account import Entry, format_loss
from sfumato.privacy.claims import Choice
from sfumato.privacy.composition import NOTHING
from sfumato.privacy.ledger import Ledger
from sfumato.privacy.loss import Approximate, Pure, exact, spell

HIDING = "add-remove"
"""The neighbours of what hides who is in the table."""
PILOT = "the report of a pilot"
"""What was seen before a release that no pilot can pay for."""


def choice_on(pilots: Sequence[Entry]) -> Choice:
    """A choice by somebody who has seen all these pilots, of which the last is named."""
    return Choice(epsilon=spell(cost_of(pilots).epsilon), pilot=pilots[-1].release)


def cost_of(pilots: Sequence[Entry]) -> Approximate:
    """What pilots cost together."""
    return sum((pilot.cost for pilot in pilots), NOTHING)


def pilots_behind(choice: Choice, data_set: str, ledger: Ledger, *, before: str | None = None) -> list[Entry]:
    """The pilot that a choice names, and all others that were bought of these people so far, or before a release.

    A ledger of an earlier version does not know which entries are pilots: there it is the one alone. None if the ledger
    does not know that one.
    """
    account = ledger.account(data_set)
    named = [entry for entry in account.entries if entry.release == choice.pilot]
    others = [entry for entry in account.pilots(before=before) if entry.release != choice.pilot]
    return [*others, *named] if named else []


def refuse_unpaid(choice: Choice, data_set: str, rows: str, ledger: Ledger) -> None:
    """Refuse a choice on a pilot that the ledger does not know to hide whoever is among these rows, at just its ε.

    That is what all pilots of these people cost: whoever chooses may have seen each of them.
    """
    pilots = pilots_behind(choice, data_set, ledger)
    if not pilots or not (pilots[-1].pilot or ledger.charged(choice.pilot, data_set, rows)):
        raise ParameterError(f"the ledger {ledger.path} knows no pilot {choice.pilot} of these rows of {data_set}")
    paid, neighbours = cost_of(pilots), {pilot.neighbours for pilot in pilots}
    if neighbours != {HIDING} or paid != Pure(exact(choice.epsilon)).approximate():
        several = f"{len(pilots)} pilots, the last of them" if len(pilots) > 1 else "the pilot"
        raise ParameterError(
            f"the ledger {ledger.path} was charged {format_loss(paid)} for {' and '.join(sorted(neighbours))} "
            f"neighbours for {several} {choice.pilot}; expected ε = {choice.epsilon:.12g} for {HIDING} neighbours"
        )
