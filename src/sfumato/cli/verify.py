"""`sfumato verify`: recompute the claim of a release from nothing but what is published."""

from pathlib import Path
from typing import Any

import typer

from sfumato.cli.options import Json, LedgerFile, ReleaseFolder
from sfumato.cli.show import INDENT, explained, print_json, say, say_claim
from sfumato.errors import ParameterError, SfumatoError
from sfumato.methods import METHODS, make_method
from sfumato.methods.base import qualify
from sfumato.privacy.ledger import NOTHING, Ledger, format_loss
from sfumato.privacy.loss import Approximate, exact
from sfumato.privacy.population import population_name
from sfumato.release import FlowRelease, Release, load_release
from sfumato.release.contradictions import missing_caveats
from sfumato.release.verification import Outcome, Verification, choice_of, verify_folder

EXAMPLE = "sfumato verify release"
CODES: dict[Outcome, int] = {"holds": 0, "broken": 1, "nothing promised": 1, "undecided": 3}
VERDICTS: dict[Outcome, str] = {
    "holds": "The release keeps its claim.",
    "broken": "The release does not keep its claim.",
    "undecided": "It rests on how the release was made: what is published neither contradicts nor confirms it.",
}
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
    found = verify_folder(release, published, more=(*_contradicts_method(published), *disagrees))
    if as_json:
        print_json(_figures(found, charged))
    else:
        _show(found, charged)
    raise typer.Exit(CODES[found.outcome])


def _contradicts_method(release: Release | FlowRelease) -> list[str]:
    """How a claim differs from what its method promises at the parameters that the release names."""
    claim, made = release.claim, release.provenance
    if not claim.promises or isinstance(release, FlowRelease) or made.method not in METHODS:
        return []
    unsaid = missing_caveats(claim, qualify(claim, release.schema).assumptions)
    known = missing_caveats(claim, release.schema.caveats())
    return [*(sentence for sentence in unsaid if sentence not in known), *_contradicts_parameters(release)]


def _contradicts_parameters(release: Release) -> list[str]:
    claim, made = release.claim, release.provenance
    try:
        method = make_method(made.method, made.parameters)
    except SfumatoError as error:
        return [f"its parameters are not those of its method: {error}"]
    if method.claim.noise != claim.noise:
        return [f"{method.name} {'adds' if method.claim.noise else 'adds no'} noise, and the claim says otherwise"]
    spent, claimed, choice = method.claim.cost or NOTHING, claim.cost or NOTHING, choice_of(claim)
    if choice:
        spent += Approximate(exact(choice.epsilon), NOTHING.delta)
    if not claimed.covers(spent) or method.claim.neighbours != claim.neighbours:
        return [
            f"{method.label} costs {format_loss(spent)} for {method.claim.neighbours} neighbours, the claim says "
            f"{format_loss(claimed)} for {claim.neighbours} neighbours"
        ]
    return []


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
    entries = {entry.release: entry for entry in ledger.entries()}
    entry, choice = entries.get(release.provenance.id), choice_of(release.claim)
    if entry is None:
        return f"{name}, which the ledger {ledger.path} does not know.", []
    pilot = entries.get(choice.pilot) if choice else None
    charged = entry.cost + (pilot.cost if pilot else NOTHING)
    data_set = release.data_set if isinstance(release, FlowRelease) else release.schema.name
    disagrees = []
    if choice and not pilot:
        disagrees.append(f"the ledger {ledger.path} knows no pilot {choice.pilot}")
    elif charged != release.claim.cost or entry.neighbours != release.claim.neighbours:
        disagrees.append(
            f"the ledger was charged {format_loss(charged)} for {entry.neighbours} neighbours, the claim says "
            f"{format_loss(release.claim.cost)} for {release.claim.neighbours} neighbours"
        )
    if entry.data_set != population_name(data_set):
        disagrees.append(f"the ledger was charged for {entry.data_set!r}, not for {data_set!r}")
    settled = "settled" if entry.state == "settled" else "reserved and not settled"
    return f"{name}; the ledger {ledger.path} was charged {format_loss(entry.cost)} for it, {settled}.", disagrees


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
            "requirement": str(check.requirement),
            "sentence": check.requirement.sentence(),
            "violations": list(check.violations),
        }
        for check in found.checks
    ]


def _show(found: Verification, charged: str | None) -> None:
    release = found.release
    if isinstance(release, Release) and found.checks:
        _show_checks(release, found)
    elif release.claim.promises:
        say_claim(release.claim, *([charged] if charged else []))
    else:
        say(f"This release has no claim that could be verified; {release.claim.sentence()}.")
    for sentence in found.contradictions:
        say(f"Contradicts it: {sentence}.")
    if not release.claim.promises:
        return
    say("What no verification can see:")
    for sentence in found.unseen:
        say(f"- {sentence}", indent=INDENT)
    say(VERDICTS[found.outcome])


def _show_checks(release: Release, found: Verification) -> None:
    classes = "buckets" if release.layout == "buckets" else "classes"
    say(f"Recomputed from {release.rows:,.0f} published rows in {len(release.histograms):,} {classes}:")
    explained(
        (
            ("FAILS" if item["violations"] else "holds", item["requirement"]),
            "; ".join((*item["violations"], item["sentence"])),
        )
        for item in _requirements(found)
    )
    for note in release.claim.notes:
        say(f"Note: {note}.")
