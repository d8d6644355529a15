"""`sfumato verify`: recompute the claim of a release from nothing but what is published."""

from typing import Any

import typer

from sfumato.cli.options import Json, ReleaseFolder
from sfumato.cli.show import explained, print_json, say, say_claim
from sfumato.release import FlowRelease, Release, load_release

EXAMPLE = "sfumato verify release"
NOT_VERIFIED = 1
UNDECIDED = "It rests on how the release was made; what is published can neither confirm nor refute it."


def command(release: ReleaseFolder, as_json: Json = False) -> None:
    """Recompute what a release promises from its files alone.

    Exit code 0: every requirement holds. 1: some do not, or the release promises nothing that could be verified.
    """
    published = load_release(release)
    checked = [
        {
            "requirement": str(check.requirement),
            "sentence": check.requirement.sentence(),
            "violations": list(check.violations),
        }
        for check in published.checks()
    ]
    holds = bool(checked) and not any(item["violations"] for item in checked)
    if as_json:
        print_json({"verified": holds, "claim": published.claim.spec(), "requirements": checked})
    elif isinstance(published, FlowRelease) or not published.claim.verifiable:
        _show_unverifiable(published)
    else:
        _show(published, checked, holds)
    if not holds:
        raise typer.Exit(NOT_VERIFIED)


def _show_unverifiable(release: Release | FlowRelease) -> None:
    """What a claim rests on that nobody can recompute."""
    if not release.claim.promises:
        say(f"This release has no claim that could be verified; {release.claim.sentence()}.")
        return
    contradicted = release.violations()
    found = f"The release contradicts it: {'; '.join(contradicted)}." if contradicted else UNDECIDED
    say_claim(release.claim, found)


def _show(release: Release, checked: list[dict[str, Any]], holds: bool) -> None:
    classes = "buckets" if release.layout == "buckets" else "classes"
    say(f"Recomputed from {release.rows:,.0f} published rows in {len(release.histograms):,} {classes}:")
    explained(
        (
            ("FAILS" if item["violations"] else "holds", item["requirement"]),
            "; ".join((*item["violations"], item["sentence"])),
        )
        for item in checked
    )
    for note in release.claim.notes:
        say(f"Note: {note}.")
    say("The release keeps its claim." if holds else "The release does not keep its claim.")
