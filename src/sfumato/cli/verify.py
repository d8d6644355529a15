"""`sfumato verify`: recompute the claim of a release from nothing but what is published."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import typer

from sfumato.cli.options import Json, ReleaseFolder
from sfumato.cli.show import explained, print_json, say

if TYPE_CHECKING:
    from sfumato.release import Release

EXAMPLE = "sfumato verify release"
NOT_VERIFIED = 1


def command(release: ReleaseFolder, as_json: Json = False) -> None:
    """Recompute what a release promises from its files alone.

    Exit code 0: every requirement holds. 1: some do not, or the release promises nothing that could be verified.
    """
    from sfumato.release import Release

    published = Release.load(release)
    checked = _checked(published)
    holds = bool(checked) and not any(item["violations"] for item in checked)
    if as_json:
        print_json({"verified": holds, "claim": published.claim.spec(), "requirements": checked})
    else:
        _show(published, checked, holds)
    if not holds:
        raise typer.Exit(NOT_VERIFIED)


def _checked(release: Release) -> list[dict[str, Any]]:
    """Each requirement of a syntactic claim, and how the published classes violate it."""
    from sfumato.privacy.claims import Syntactic

    claim = release.claim
    if not isinstance(claim, Syntactic):
        return []
    return [
        {
            "requirement": str(requirement),
            "sentence": requirement.sentence(),
            "violations": replace(release, claim=replace(claim, requirements=(requirement,))).violations(),
        }
        for requirement in claim.requirements
    ]


def _show(release: Release, checked: list[dict[str, Any]], holds: bool) -> None:
    from sfumato.privacy.claims import BUCKETS, CLASSES, Differential, Syntactic

    if isinstance(release.claim, Differential):
        say(f"Claim: {release.claim.sentence()}.")
        contradicted = release.violations()
        if contradicted:
            say(f"The release contradicts it: {'; '.join(contradicted)}.")
        else:
            say("It rests on how the release was made; what is published can neither confirm nor refute it.")
        for assumption in release.claim.assumptions:
            say(f"Assumes: {assumption}.")
        return
    if not checked:
        say(f"This release has no claim that could be verified; {release.claim.sentence()}.")
        return
    classes = "buckets" if release.layout == "buckets" else "classes"
    say(f"Recomputed from {release.rows:,.0f} published rows in {len(release.histograms):,} {classes}:")
    explained(
        [
            (
                ("FAILS" if item["violations"] else "holds", item["requirement"]),
                "; ".join((*item["violations"], item["sentence"])),
            )
            for item in checked
        ]
    )
    if isinstance(release.claim, Syntactic):
        for assumption in (BUCKETS if release.claim.buckets else CLASSES, *release.claim.assumptions):
            say(f"Note: {assumption}.")
    say("The release keeps its claim." if holds else "The release does not keep its claim.")
