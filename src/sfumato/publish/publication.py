"""From a method to a release in a folder: reserve, draw, write, settle, once, for everybody."""

import os
import uuid
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Self, TypeVar

from sfumato.data import Table
from sfumato.data.formats import require_format
from sfumato.errors import ParameterError, ReleaseError, SfumatoError
from sfumato.mechanisms.noise import SystemSource
from sfumato.methods.base import Method, refuse_kept_columns
from sfumato.privacy.claims import Claim
from sfumato.privacy.ledger import NOTHING, Ledger, format_loss
from sfumato.release import FlowRelease, Release
from sfumato.release.folder import refuse_target
from sfumato.release.sampling import RowKind, generate_rows

ACCOUNTS = {"add-remove": "", "replace-sensitive": " (sensitive values)"}
"""Losses add up among releases that protect the same thing; what protects sensitive values alone is counted apart."""
SPENT = "what was reserved for it in the ledger stays spent"
IN_PLACE = "the release is in place, and stays reserved in the ledger"
AnyRelease = TypeVar("AnyRelease", Release, FlowRelease)


@dataclass(eq=False, kw_only=True)
class Publication(ExitStack):
    """One release on its way to its folder; the body of the `with` draws it, signs it and writes it.

        with Publication(claim=method.claim, data_set="people", method=method.label, folder=folder) as publication:
            release = publication.sign(method.publish(table))
            publication.write(release)

    What holds, whatever goes wrong and whenever the process is killed:

    - everything that can be refused is refused on entering, before anything is charged: a folder that cannot be
      written or is taken, a spend beyond the cap;
    - what the claim costs is in the ledger, durably, before the body runs, so before any noise is drawn;
    - a spend is never taken back: noise may have been drawn;
    - a release carries the name of its entry in the ledger, a random one that is used once; a release that was not
      signed is not written, and one that claims more than was charged is not signed;
    - a folder is written in another place and renamed when complete, so it is never half there;
    - an entry is settled only after its release is in place; until then, and after a crash, it stays reserved.

    Errors and interrupts say which of this had come to pass. A release that costs nothing has no name, and the ledger
    is not touched. With `replace_release`, a folder that holds a release and nothing else gives way to the new one.
    """

    claim: Claim
    data_set: str
    method: str
    folder: Path | str = ""
    ledger: Ledger = field(default_factory=Ledger)
    replace_release: bool = False
    id: str | None = field(init=False)
    written: bool = field(default=False, init=False)

    def __post_init__(self) -> None:
        super().__init__()
        self.cost = self.claim.cost or NOTHING
        self.id = str(uuid.uuid4()) if self.claim.cost else None

    def check(self) -> None:
        """Refuse now what would be refused on entering, and charge nothing."""
        if self.folder:
            refuse_target(Path(self.folder), replace=self.replace_release)
        if self.id:
            self.ledger.check(self.data_set, self.cost.epsilon, self.cost.delta)

    def __enter__(self) -> Self:
        self.check()
        if self.id:
            self.ledger.reserve(
                data_set=self.data_set,
                release=self.id,
                epsilon=self.cost.epsilon,
                delta=self.cost.delta,
                method=self.method,
                folder=os.path.abspath(self.folder) if self.folder else "",
            )
            self.push(self._settle)
            self.enter_context(adding(SPENT))
        return self

    def _settle(self, error: type[BaseException] | None, *_: object) -> None:
        if self.id and self.written and error is None:
            with adding(IN_PLACE):
                self.ledger.settle(self.id)

    def sign(self, release: AnyRelease) -> AnyRelease:
        """The release under the name that was charged for it."""
        self._refuse_dearer(release)
        return replace(release, provenance=replace(release.provenance, id=self.id))

    def write(self, release: Release | FlowRelease, *, suffix: str = ".csv") -> Path:
        """Put the release in its folder, whole."""
        if not self.folder or release.provenance.id != self.id or self.written:
            raise ReleaseError("a publication writes the one release that it signed, to its own folder")
        self._refuse_dearer(release)
        saved = release.save(self.folder, suffix=suffix, replace=self.replace_release)
        self.written = True
        return saved

    def _refuse_dearer(self, release: Release | FlowRelease) -> None:
        """A claim speaks of the noise that was drawn, so one that claims more than was charged spent more."""
        claimed = release.claim.cost or NOTHING
        if not self.cost.covers(claimed):
            raise ReleaseError(
                f"the release claims {format_loss(claimed)}, but its method says it costs {format_loss(self.cost)}"
            )


def publish_to(
    method: Method,
    table: Table,
    folder: Path | str,
    *,
    ledger: Ledger | None = None,
    parquet: bool = False,
    suffix: str = ".csv",
    assumptions: Sequence[str] = (),
    rows: RowKind | None = None,
) -> tuple[Release, Path]:
    """Publish a table to a new folder, and charge the ledger if the method spends privacy budget.

    Without a ledger, the user's own is charged. `assumptions` are added to those of the release's claim. With `rows`,
    noisy counts are published as rows generated from them. `suffix` is that of any file format; `parquet` is short for
    `.parquet`.

    >>> release, folder = sf.publish_to(sf.Mondrian(k=10), table, "release")
    >>> sf.Release.load(folder).claim == release.claim
    True
    """
    suffix = ".parquet" if parquet else suffix
    require_format(Path(f"data{suffix}"))
    if rows and method.claim.noise != "counts":
        raise ParameterError(f"{method.name} publishes rows as they are; rows are generated from noisy counts only")
    with publication_of(method, table, folder, ledger=ledger) as publication:
        release = draw(publication, method, table, assumptions=assumptions, rows=rows)
        saved = publication.write(release, suffix=suffix)
    return release, saved


def publication_of(
    method: Method, table: Table, folder: Path | str, *, ledger: Ledger | None = None, replace_release: bool = False
) -> Publication:
    """The publication of a table by a method, charged to the account of the table's people."""
    claim, account = method.claim, table.schema.name
    if claim.neighbours:
        if claim.neighbours not in ACCOUNTS:
            raise ParameterError(f"{method.name} protects {claim.neighbours} neighbours; the ledger counts add-remove")
        refuse_kept_columns(table, f"{method.name} publishes no row as it is; give the column another role")
        account += ACCOUNTS[claim.neighbours]
    return Publication(
        claim=claim,
        data_set=account,
        method=method.label,
        folder=folder,
        ledger=ledger or Ledger(),
        replace_release=replace_release,
    )


def draw(
    publication: Publication,
    method: Method,
    table: Table,
    *,
    assumptions: Sequence[str] = (),
    rows: RowKind | None = None,
) -> Release:
    """The release with fresh randomness, signed."""
    release = publication.sign(method.publish(table).assuming(*assumptions))
    return generate_rows(release, rows, SystemSource().uniforms) if rows else release


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
