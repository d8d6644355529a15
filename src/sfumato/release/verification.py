"""What a recipient can find out about a release folder, and what nobody can.

Requirements are recomputed; what a claim rules out or leaves out is named; what is left rests on trust, and is listed,
so that nobody takes a verified folder for more than it is.
"""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Literal

from sfumato.privacy.claims import Check, Conditional, choice_of
from sfumato.release.contradictions import missing_caveats
from sfumato.release.envelope import Envelope
from sfumato.release.flows import ABOUT, FlowRelease
from sfumato.release.folder import links_in, strangers
from sfumato.release.release import Release
from sfumato.release.written import compare_writing

Outcome = Literal["holds", "broken", "undecided", "nothing promised"]
MAX_NAMED = 5
MADE = "who made it, from which rows, and whether it was changed since: nothing in it is signed"
OTHERS = "whether the same people are in other releases"
CODED = "whether names or labels, or which rows there are, carry a code that somebody can read"
PEOPLE = "whether each row is one person: rows that were copied or made up look like anybody's"
NOISE = "whether noise was drawn as the method says, and ε spent as the claim says"
DEVIATION = (
    "whether the noise beside the counts is what was drawn: it depends on where the method stopped, so that no more is "
    "seen than that it is not below the least that ε allows"
)
HIDDEN = "whether classes satisfy {}: what it counts is not published"
LOOKED = "whether anybody looked at the rows before the setting was chosen"
PILOT = "whether the pilot on which the setting was chosen existed, and was all that was looked at"


@dataclass(frozen=True, eq=False, kw_only=True)
class Verification:
    """What was recomputed from a release, what contradicts its claim, and what nobody can see."""

    release: Release | FlowRelease
    contradictions: tuple[str, ...]
    not_compared: tuple[str, ...] = ()
    """What of its files could not be compared with what the program writes."""

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
        return "holds" if self.checks and all(check.recomputed for check in self.checks) else "undecided"

    @property
    def unseen(self) -> tuple[str, ...]:
        """What no verification can see."""
        claim = self.release.claim
        if not claim.noise:
            resting = (HIDDEN.format(check.title) for check in self.checks if not check.recomputed)
            return (*resting, MADE, PEOPLE, OTHERS, CODED, *self.not_compared)
        chosen = (PILOT,) if choice_of(claim) else () if isinstance(claim, Conditional) else (LOOKED,)
        counted = (DEVIATION,) if isinstance(self.release, Release) and self.release.layout == "counts" else ()
        return (MADE, PEOPLE, NOISE, *counted, *chosen, OTHERS, CODED, *self.not_compared)


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
    found += links_in(folder)
    found += _other_words(folder, release) if isinstance(release, FlowRelease) else []
    writing = compare_writing(folder, release)
    return Verification(
        release=release, contradictions=(*found, *writing.contradictions, *more), not_compared=writing.unseen
    )


def _other_words(folder: Path, release: FlowRelease) -> list[str]:
    """What the description of flows says in words, if its claim says otherwise, or does not say."""
    details = Envelope.read(folder).details
    said = {"promise": release.claim.sentence(), "about": ABOUT} if release.claim.promises else {}
    missing = [f"it leaves out its {part} in words" for part in said if part not in details]
    other = [part for part in said if part in details and details[part] != said[part]]
    return [*missing, *(f"its {part} is in other words than the claim" for part in other)]
