"""From a method to a release in a folder: reserve, draw, write, settle, once, for everybody."""

import os
import uuid
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Self, TypeVar

from sfumato.data import Table
from sfumato.data.formats import require_format
from sfumato.errors import ParameterError, ReleaseError, SfumatoError
from sfumato.files import address_of
from sfumato.mechanisms.noise import SystemSource
from sfumato.methods.base import Method
from sfumato.privacy.account import BY_ROW, format_loss
from sfumato.privacy.claims import Choice, Claim, Conditional
from sfumato.privacy.composition import NOTHING
from sfumato.privacy.ledger import Ledger
from sfumato.privacy.loss import Approximate, exact
from sfumato.publish.pilots import HIDING, PILOT, choice_on, refuse_unpaid
from sfumato.release import FlowRelease, Release
from sfumato.release.folder import refuse_target
from sfumato.release.sampling import RowKind, generate_rows

LOOKED = (
    "its setting was chosen after measures of data under its name, or of the same rows, were seen; what that tells is "
    "not covered"
)
NAMELESS = (
    "the schema declares no name, so that its people would share an account with those of all other tables without "
    'one; add a line such as name = "people of 2026" at its top'
)
BEFOREHAND = "its setting was chosen before anybody saw measures of these rows"
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
    - a claim that rests on noise says so first if measures of these people were seen before the setting was chosen,
      and holds the cost of all pilots that were bought before, which this ledger must know, whether or not the choice
      was made on them;
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
    rows: str = ""
    hides: str = ""
    person: str = ""
    pilot: bool = False
    choice: Choice | None = None
    looked: str | None = None
    beforehand: bool = False
    id: str | None = field(init=False)
    written: bool = field(default=False, init=False)

    def __post_init__(self) -> None:
        super().__init__()
        self.cost = self.claim.cost or NOTHING
        self.rho = self.claim.concentrated.rho if self.claim.concentrated else None
        self.id = str(uuid.uuid4()) if self.claim.cost else None
        self.neighbours = self.claim.neighbours or HIDING

    def check(self) -> None:
        """Refuse now what would be refused on entering, and charge nothing."""
        if self.folder:
            refuse_target(Path(self.folder), replace=self.replace_release)
        if self.choice:
            refuse_unpaid(self.choice, self.data_set, self.rows, self.ledger)
            if self.neighbours != HIDING:
                raise ParameterError(
                    f"{self.method} does not hide who is in the table, and a pilot pays for choosing among what does"
                )
        if self.id:
            exact(self.promised.epsilon)
            self.ledger.check(
                self.data_set,
                self.cost.epsilon,
                self.cost.delta,
                self.neighbours,
                rho=self.rho,
                hides=self.hides,
                person=self.person,
            )

    def __enter__(self) -> Self:
        self.check()
        if self.id:
            self.ledger.reserve(
                data_set=self.data_set,
                release=self.id,
                epsilon=self.cost.epsilon,
                delta=self.cost.delta,
                rho=self.rho,
                neighbours=self.neighbours,
                rows=self.rows,
                hides=self.hides,
                person=self.person,
                pilot=self.pilot,
                method=self.method,
                folder=address_of(self.folder) or os.path.abspath(self.folder) if self.folder else "",
            )
            self.push(self._settle)
            self.enter_context(adding(SPENT))
        return self

    def _settle(self, error: type[BaseException] | None, *_: object) -> None:
        if self.id and self.written and error is None:
            with adding(IN_PLACE):
                self.ledger.settle(self.id)

    def sign(self, release: AnyRelease) -> AnyRelease:
        """The release under the name that was charged for it, with a claim that says how its setting was chosen."""
        self._refuse_dearer(release, self.cost)
        claim = promise(release.claim, self.choice, self.looked, beforehand=self.beforehand)
        return replace(release, claim=claim, provenance=replace(release.provenance, id=self.id))

    @property
    def promised(self) -> Approximate:
        """What the release costs with the choice of its setting, as its claim spells it."""
        return promise(self.claim, self.choice).cost or NOTHING

    def write(self, release: Release | FlowRelease, *, suffix: str = ".csv") -> Path:
        """Put the release in its folder, whole."""
        if not self.folder or release.provenance.id != self.id or self.written:
            raise ReleaseError("a publication writes the one release that it signed, to its own folder")
        self._refuse_dearer(release, self.promised)
        saved = release.save(self.folder, suffix=suffix, replace=self.replace_release)
        self.written = True
        return saved

    def _refuse_dearer(self, release: Release | FlowRelease, most: Approximate) -> None:
        """A claim speaks of the noise that was drawn, so one that claims more than was charged spent more."""
        claimed = release.claim.cost or NOTHING
        if not most.covers(claimed):
            raise ReleaseError(
                f"the release claims {format_loss(claimed)}, but its method says it costs {format_loss(most)}"
            )


def publish_to(
    method: Method,
    table: Table,
    folder: Path | str,
    *,
    ledger: Ledger | None = None,
    parquet: bool = False,
    suffix: str = ".csv",
    rows: RowKind | None = None,
    choice: Choice | None = None,
    beforehand: bool = False,
    before_writing: Callable[[Release], None] | None = None,
) -> tuple[Release, Path]:
    """Publish a table to a new folder, and charge the ledger if the method spends privacy budget.

    Without a ledger, the user's own is charged. With `rows`, noisy counts are published as rows generated from them.
    `suffix` is that of any file format; `parquet` is short for `.parquet`. A setting that was chosen on a pilot has its
    `choice`; one that was chosen `beforehand`, though measures of these rows were seen since, says so. `before_writing`
    is shown the signed release, and cannot change it.

    >>> release, folder = sf.publish_to(sf.Mondrian(k=10), table, "release")
    >>> sf.Release.load(folder).claim == release.claim
    True
    """
    suffix = ".parquet" if parquet else suffix
    require_format(Path(f"data{suffix}"))
    if rows and method.claim.noise != "counts":
        raise ParameterError(f"{method.name} publishes rows as they are; rows are generated from noisy counts only")
    if rows and method.instead_of_rows:
        raise ParameterError(f"{method.name} publishes tables and no rows; synthesis makes rows from tables")
    with publication_of(method, table, folder, ledger=ledger, choice=choice, beforehand=beforehand) as publication:
        release = draw(publication, method, table, rows=rows)
        if before_writing:
            before_writing(release)
        saved = publication.write(release, suffix=suffix)
    return release, saved


def publication_of(
    method: Method,
    table: Table,
    folder: Path | str,
    *,
    ledger: Ledger | None = None,
    replace_release: bool = False,
    pilot: bool = False,
    choice: Choice | None = None,
    beforehand: bool = False,
) -> Publication:
    """The publication of a table by a method, charged to the account of the table's people.

    Whoever bought pilots of these people may have chosen on them, so their cost is part of the claim, unless the
    setting was chosen `beforehand` or the release is a `pilot` itself.
    """
    claim, ledger = method.claim, ledger or Ledger()
    method.refuse(table)
    if claim.hollow:
        raise ParameterError(claim.hollow)
    if claim.cost and table.schema.account is None:
        raise ParameterError(NAMELESS)
    looked = looked_at(table, ledger)
    pilots = ledger.account(table.schema.name).pilots() if claim.noise and not choice and not pilot else ()
    if pilots and claim.neighbours == HIDING and not beforehand:
        choice = choice_on(pilots)
    elif pilots:
        looked = looked or PILOT
    return Publication(
        claim=claim,
        data_set=table.schema.name,
        method=method.label,
        folder=folder,
        ledger=ledger,
        replace_release=replace_release,
        rows=table.digest,
        hides=table.schema.sensitive.name if claim.neighbours == "replace-sensitive" else "",
        person=table.schema.person_column or BY_ROW,
        pilot=pilot,
        choice=choice,
        looked=looked,
        beforehand=beforehand,
    )


def draw(publication: Publication, method: Method, table: Table, *, rows: RowKind | None = None) -> Release:
    """The release with fresh randomness, signed."""
    release = publication.sign(method.publish(table))
    return generate_rows(release, rows, SystemSource().uniforms) if rows else release


def looked_at(table: Table, ledger: Ledger) -> str | None:
    """What first showed measures of a table's rows, if anything did; the table remembers it from now on."""
    found = ledger.looked(table.schema.account, *table.digests)
    if found:
        table.note_look(found)
    return found or table.looked


def promise(
    claim: Claim, choice: Choice | None = None, looked: str | None = None, *, beforehand: bool = False
) -> Claim:
    """A claim that says how its setting was chosen: on a pilot, after measures of the rows were seen, or beforehand."""
    claim = claim.given if isinstance(claim, Conditional) else claim
    if choice:
        claim = claim.chosen(choice)
    if not looked:
        return claim
    if beforehand:
        return claim.assuming(BEFOREHAND)
    return Conditional(given=claim, looked=looked) if claim.noise else claim.assuming(LOOKED)


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
