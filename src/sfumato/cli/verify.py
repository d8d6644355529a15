"""`sfumato verify`: recompute the claim of a release from nothing but what is published."""

from pathlib import Path
from typing import Any

import typer

from sfumato.cli.options import Json, LedgerFile, ReleaseFolder
from sfumato.cli.show import INDENT, explained, print_json, say, say_claim
from sfumato.errors import ParameterError
from sfumato.privacy.account import format_loss
from sfumato.privacy.ledger import Ledger
from sfumato.publish.agreement import (
    contradicts_ledger,
    contradicts_number,
    contradicts_parameters,
    contradicts_wording,
    unsaid_caveats,
)
from sfumato.release import FlowRelease, Release, load_release
from sfumato.release.envelope import OLD_FLOWS, describing
from sfumato.release.verification import Outcome, Verification, verify_folder

EXAMPLE = "sfumato verify release"
CODES: dict[Outcome, int] = {"holds": 0, "broken": 1, "nothing promised": 1, "undecided": 3}
VERDICTS: dict[Outcome, str] = {
    "holds": "The release keeps its claim.",
    "broken": "The release does not keep its claim.",
    "undecided": "It rests on how the release was made: what is published neither contradicts nor confirms it.",
}
BRIEF = "0.1.0"
"""The version whose claims left out some caveats about noise; what they leave out is said for them."""
NO_ID = "It has no id: no ledger was charged for it, so no cap holds for it."


def command(release: ReleaseFolder, ledger_file: LedgerFile = None, as_json: Json = False) -> None:
    """Recompute what a release promises from its files alone.

    Exit code 0: the claim was recomputed and holds. 1: it does not hold, something contradicts it, or nothing is
    promised. 3: it rests on how the release was made, so that it cannot be recomputed, and nothing contradicts it.
    2: this is no release. What no verification can see is listed.

    Of a release with an id, the ledger is asked whether it was charged for it: the one that is named, or your own if
    there is one.
    """
    published = load_release(release)
    charged, disagrees = _ask_ledger(published, ledger_file)
    unsaid = unsaid_caveats(published)
    brief = published.provenance.version == BRIEF
    old = (describing(release) or release).name == OLD_FLOWS
    more = (
        *contradicts_wording(published),
        *contradicts_parameters(published, old=old),
        *contradicts_number(published),
        *disagrees,
    )
    found = verify_folder(release, published, more=(*more, *(() if brief else unsaid)))
    left = [*unsaid, *_missing_spelled(published)] if brief else []
    if left:
        charged = " ".join([*([charged] if charged else []), f"Made by version {BRIEF}: {'; '.join(left)}."])
    if as_json:
        print_json(_figures(found, charged))
    else:
        _show(found, charged)
    raise typer.Exit(CODES[found.outcome])


def _missing_spelled(release: Release | FlowRelease) -> list[str]:
    """What the first version told about how the original spelled a missing value, which nobody can check."""
    known = [] if isinstance(release, FlowRelease) else [spelling for spelling in release.schema.missing if spelling]
    return [f"it says that the original spelled a missing value {', '.join(map(repr, known))}"] if known else []


def _ask_ledger(release: Release | FlowRelease, ledger_file: Path | None) -> tuple[str | None, list[str]]:
    """What a ledger says of a release that cost something, and how it disagrees with what the release says."""
    ledger = Ledger(ledger_file)
    if ledger_file and not ledger_file.exists():
        raise ParameterError(f"{ledger_file}: there is no such ledger")
    if release.claim.cost is None:
        return None, []
    if release.provenance.id is None:
        return NO_ID, []
    name = f"Its id is {release.provenance.id}"
    if not ledger.path.exists():
        return f"{name}; whoever made it can look it up in their ledger.", []
    entry = next((entry for entry in ledger.entries() if entry.release == release.provenance.id), None)
    if entry is None:
        return f"{name}, which the ledger {ledger.path} does not know.", []
    settled = "settled" if entry.state == "settled" else "reserved and not settled"
    charged = f"{name}; the ledger {ledger.path} was charged {format_loss(entry.cost)} for it, {settled}."
    return charged, contradicts_ledger(release, entry, ledger)


def _figures(found: Verification, charged: str | None) -> dict[str, Any]:
    return {
        "verified": found.outcome == "holds",
        "outcome": found.outcome,
        "claim": found.release.claim.spec(),
        "in_words": list(found.release.claim.in_words()),
        "requirements": _requirements(found),
        "contradictions": list(found.contradictions),
        "ledger": charged,
        "unseen": list(found.unseen),
    }


def _requirements(found: Verification) -> list[dict[str, Any]]:
    return [
        {
            "requirement": check.title,
            "sentence": check.sentence(),
            "recomputed": check.recomputed,
            "violations": list(check.violations),
        }
        for check in found.checks
    ]


def _show(found: Verification, charged: str | None) -> None:
    release = found.release
    if isinstance(release, Release) and found.checks:
        _show_checks(release, found)
        if charged:
            say(charged)
    elif release.claim.promises:
        say_claim(release.claim, *([charged] if charged else []))
    else:
        say(f"This release has no claim that could be verified; {release.claim.sentence()}.")
    for sentence in found.contradictions:
        say(f"Contradicts it: {sentence}.")
    if not release.claim.promises:
        if found.checks:
            say(f"Claim: {release.claim.sentence()}.")
        return
    say("What no verification can see:")
    for sentence in found.unseen:
        say(f"- {sentence}", indent=INDENT)
    unseen = [check.title for check in found.checks if not check.recomputed]
    if found.outcome == "undecided" and 0 < len(unseen) < len(found.checks):
        say(f"What can be recomputed holds; {' and '.join(unseen)} cannot be, and nothing contradicts it.")
    else:
        say(VERDICTS[found.outcome])


def _show_checks(release: Release, found: Verification) -> None:
    classes = "buckets" if release.layout == "buckets" else "classes"
    say(f"Recomputed from {release.rows:,.0f} published rows in {len(release.histograms):,} {classes}:")
    explained(
        (
            ("FAILS" if item["violations"] else "holds" if item["recomputed"] else "unseen", item["requirement"]),
            "; ".join((*item["violations"], item["sentence"])),
        )
        for item in _requirements(found)
    )
    for note in release.claim.notes:
        say(f"Note: {note}.")
