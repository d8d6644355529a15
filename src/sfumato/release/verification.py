"""What a recipient can find out about a release folder, and what nobody can.

Requirements are recomputed; what a claim rules out or leaves out is named; what is left rests on trust, and is listed,
so that nobody takes a verified folder for more than it is.
"""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Literal

from sfumato.privacy.claims import Check, Choice, Claim, Conditional
from sfumato.release.contradictions import missing_caveats
from sfumato.release.envelope import Envelope
from sfumato.release.flows import ABOUT, FlowRelease
from sfumato.release.folder import read_columns, strangers
from sfumato.release.release import Release
from sfumato.release.stored import StoredTable

Outcome = Literal["holds", "broken", "undecided", "nothing promised"]
MAX_NAMED = 5
MADE = "who made it, from which rows, and whether it was changed since: nothing in it is signed"
OTHERS = "whether the same people are in other releases"
CODED = "whether labels, or which rows there are, carry a code that somebody can read"
PEOPLE = "whether each row is one person: rows that were copied or made up look like anybody's"
NOISE = "whether noise was drawn as the method says, and ε spent as the claim says"
LOOKED = "whether anybody looked at the rows before the setting was chosen"
PILOT = "whether the pilot on which the setting was chosen existed, and was all that was looked at"


@dataclass(frozen=True, eq=False, kw_only=True)
class Verification:
    """What was recomputed from a release, what contradicts its claim, and what nobody can see."""

    release: Release | FlowRelease
    contradictions: tuple[str, ...]

    @cached_property
    def checks(self) -> list[Check]:
        """Every requirement, recomputed."""
        return self.release.checks()

    @property
    def outcome(self) -> Outcome:
        """What came out; a claim that rests on how the release was made can be contradicted, never confirmed."""
        if self.contradictions or any(check.violations for check in self.checks):
            return "broken"
        if not self.release.claim.promises:
            return "nothing promised"
        return "holds" if self.checks else "undecided"

    @property
    def unseen(self) -> tuple[str, ...]:
        """What no verification can see."""
        claim = self.release.claim
        if not claim.noise:
            return (MADE, PEOPLE, OTHERS, CODED)
        chosen = (PILOT,) if choice_of(claim) else () if isinstance(claim, Conditional) else (LOOKED,)
        return (MADE, PEOPLE, NOISE, *chosen, OTHERS)


def verify_folder(folder: Path, release: Release | FlowRelease, more: tuple[str, ...] = ()) -> Verification:
    """Everything that can be found out about the release that was read from a folder; `more` contradicts it too."""
    recomputed = {sentence for check in release.checks() for sentence in check.violations}
    found = [sentence for sentence in release.violations() if sentence not in recomputed]
    if release.claim.promises:
        found += missing_caveats(release.claim, release.claim.needed)
    if beside := strangers(folder):
        left = len(beside) - MAX_NAMED
        named = ", ".join(beside[:MAX_NAMED]) + (f" and {left} more" if left > 0 else "")
        found.append(f"the folder holds what is no part of the release: {named}")
    found += _out_of_order(folder, release) if isinstance(release, Release) else _other_words(folder, release)
    return Verification(release=release, contradictions=(*found, *more))


def choice_of(claim: Claim) -> Choice | None:
    """How the choice of the setting was paid for, if it was."""
    return choice_of(claim.given) if isinstance(claim, Conditional) else claim.choice


def _other_words(folder: Path, release: FlowRelease) -> list[str]:
    """What the description of flows says in words, if its claim says otherwise."""
    details = Envelope.read(folder).details
    said = {"promise": release.claim.sentence(), "about": ABOUT}
    return [
        f"its {part} is in other words than the claim" for part in said if details.get(part, said[part]) != said[part]
    ]


def _out_of_order(folder: Path, release: Release) -> list[str]:
    """Tables whose rows stand in another order than that of their labels, which could be that of the people."""
    stored, found = StoredTable.read(folder), []
    for table, path in stored.files.items():
        usual = release.to_polars(table)
        labels = [axis.name for axis in release.schema.axes if axis.name in usual.columns]
        if not read_columns(path, usual.columns, empty=True)[labels].equals(usual[labels]):
            found.append(
                f"the rows of {path.name} are not in the order of their labels; their order could tell whose they are"
            )
    return found
