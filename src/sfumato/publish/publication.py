"""From a method to a release in a folder: how the command line and recommendations publish.

What a differentially private release costs is reserved in the ledger before any noise is drawn, under a random name
that the release carries, and settled once its folder is in place. Whatever goes wrong in between, the spend stays:
noise may have been drawn, so everything that can be refused is refused before.
"""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

from sfumato.data import Table
from sfumato.errors import ParameterError, ReleaseError, SfumatoError
from sfumato.files import refuse_unwritable
from sfumato.mechanisms.noise import SystemSource
from sfumato.methods.base import Method, refuse_kept_columns
from sfumato.privacy.claims import Differential, LocalDP
from sfumato.privacy.ledger import NOTHING, Ledger, spelled
from sfumato.privacy.loss import Approximate, exact
from sfumato.release import Release
from sfumato.release.sampling import RowKind, generate_rows

ACCOUNTS = {"add-remove": "", "replace-sensitive": " (sensitive values)"}
"""Losses add up among releases that protect the same thing; what protects sensitive values alone is counted apart."""
SPENT = "what was reserved for it in the ledger stays spent"


def publish_to(
    method: Method,
    table: Table,
    folder: Path | str,
    *,
    ledger: Ledger | None = None,
    parquet: bool = False,
    assumptions: Sequence[str] = (),
    rows: RowKind | None = None,
) -> tuple[Release, Path]:
    """Publish a table to a new folder, and charge the ledger if the method spends privacy budget.

    Without a ledger, the user's own is charged. `assumptions` are added to those of the release's claim. With `rows`,
    noisy counts are published as rows generated from them.

    >>> release, folder = sf.publish_to(sf.Mondrian(k=10), table, "release")
    >>> sf.Release.load(folder).claim == release.claim
    True
    """
    target = Path(folder)
    refuse_unwritable(target)
    if rows and (isinstance(method.claim, LocalDP) or not isinstance(method.claim, Differential)):
        raise ParameterError(f"{method.name} publishes rows as they are; rows are generated from noisy counts only")
    release = draw(method, table, ledger=ledger, folder=target, assumptions=assumptions, rows=rows)
    with adding(SPENT) if release.provenance.id else nullcontext():
        saved = release.save(target, parquet=parquet)
    settle(release, ledger)
    return release, saved


def draw(
    method: Method,
    table: Table,
    *,
    ledger: Ledger | None = None,
    folder: Path | str = "",
    assumptions: Sequence[str] = (),
    rows: RowKind | None = None,
) -> Release:
    """The release with fresh randomness, its cost reserved first; `folder` is where it is going to be saved."""
    claim = method.claim
    if not isinstance(claim, Differential):
        release = method.publish(table).assuming(*assumptions)
        _refuse_dearer(release, NOTHING)
        return release
    if claim.neighbours not in ACCOUNTS:
        raise ParameterError(f"{method.name} protects {claim.neighbours} neighbours; the ledger counts add-remove")
    refuse_kept_columns(table, f"{method.name} publishes no row as it is; give the column another role")
    name = str(uuid.uuid4())
    (ledger or Ledger()).reserve(
        data_set=table.schema.name + ACCOUNTS[claim.neighbours],
        release=name,
        epsilon=claim.epsilon,
        delta=claim.delta,
        method=method.label,
        folder=os.path.abspath(folder) if folder else "",
    )
    with adding(SPENT):
        release = method.publish(table).assuming(*assumptions)
        _refuse_dearer(release, _cost(claim))
        if rows:
            release = generate_rows(release, rows, SystemSource().uniforms)
    return replace(release, provenance=replace(release.provenance, id=name))


def settle(release: Release, ledger: Ledger | None = None) -> None:
    """Note in the ledger that the release is in place, if it cost anything."""
    if release.provenance.id is not None:
        with adding("the release is in place, and stays reserved in the ledger"):
            (ledger or Ledger()).settle(release.provenance.id)


@contextmanager
def adding(more: str) -> Iterator[None]:
    """Say with an error, or an interrupt, what has come to pass before it."""
    try:
        yield
    except KeyboardInterrupt as interrupt:
        raise KeyboardInterrupt(f"interrupted; {more}") from interrupt
    except SfumatoError as error:
        error.args = (f"{error}; {more}",)
        raise


def _refuse_dearer(release: Release, charged: Approximate) -> None:
    """A claim speaks of the noise that was drawn, so a release that claims a larger ε than was charged spent more."""
    if isinstance(release.claim, Differential) and not charged.covers(_cost(release.claim)):
        raise ReleaseError(
            f"the release claims {spelled(_cost(release.claim))}, but its method says it costs {spelled(charged)}"
        )


def _cost(claim: Differential) -> Approximate:
    return Approximate(exact(claim.epsilon), exact(claim.delta, "delta") if claim.delta else Fraction(0))
