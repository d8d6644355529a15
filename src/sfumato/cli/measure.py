"""`sfumato measure`: attack a release, use it, and say what each number means."""

from pathlib import Path

from typer import Argument, Option

from sfumato.cli.options import File, Json, LedgerFile, SchemaFile
from sfumato.cli.show import BETTER, INDENT, explained, heading, number, print_json, say
from sfumato.data import read
from sfumato.errors import ReleaseError
from sfumato.measures.measure import LOOK, measure
from sfumato.measures.workloads import WORKLOADS
from sfumato.measures.workloads.clustering import MatchPoint
from sfumato.measures.workloads.learning import HeldOut
from sfumato.privacy.ledger import Ledger
from sfumato.release import FlowRelease, ForeignRelease, Release, load_release
from sfumato.schema import Schema

EXAMPLE = "sfumato measure people.csv release --schema people.toml"
FAMILIES = {
    "privacy": "Privacy: what an adversary learns",
    "utility": "Utility: what a recipient can still do",
    "shape": "Shape: what the release looks like",
}


def command(
    *,
    file: File,
    release: Path = Argument(
        metavar="RELEASE", help="A release folder, or a CSV or Parquet file that another tool anonymized."
    ),
    schema: SchemaFile,
    test: Path | None = Option(
        None,
        metavar="FILE",
        help="Rows held out from the release; learners trained on it predict their sensitive values.",
    ),
    clusters: int | None = Option(
        None, min=2, help="Compare so many clusters of the release with those of the original."
    ),
    ledger_file: LedgerFile = None,
    as_json: Json = False,
) -> None:
    """Measure how private and how useful a release is.

    The release may be a file that another tool made. The figures are computed on the real data: they are for
    the publisher and not to be published. The ledger notes that they were seen: noise does not cover a setting that is
    chosen after that.
    """
    table = read(file, schema)
    Ledger(ledger_file).note_look(table.schema.name, LOOK, table.digest)
    published, suppressed = _read_release(release, table.schema)
    held_out = [HeldOut(test=read(test, table.schema))] if test else []
    clustered = [MatchPoint(clusters=clusters)] if clusters else []
    found = measure(table, published, (*WORKLOADS, *held_out, *clustered))
    if as_json:
        print_json(found.spec())
        return
    say(f"{release} stands for {published.rows:,.0f} of {table.n:,} rows.")
    if suppressed:
        say(f"{suppressed:,} more stand in it with every quasi-identifier suppressed, and count as left out.")
    for family, title in FAMILIES.items():
        heading(title)
        rows = [(item.measure, item.value) for item in found.values() if item.measure.family == family]
        explained(
            ((about.title, number(value), about.unit, BETTER[about.direction]), about.sentence) for about, value in rows
        )
    if allowed := published.claim.in_words():
        heading("What noise allows: how far any adversary can get, beside what the attacks above reached")
        for sentence in allowed:
            say(sentence, indent=INDENT)
        reached = {name: found[name].value for name in ("guessed_right", "confident_guesses") if name in found}
        if len(reached) > 1:
            say(
                f"Looking people up guesses {reached['guessed_right']:.1%} of sensitive values right; the statistical "
                f"adversary {reached['confident_guesses']:.1%} of the tenth it is surest about.",
                indent=INDENT,
            )


def _read_release(path: Path, schema: Schema) -> tuple[Release, int]:
    """The release, and how many rows it publishes as suppressed."""
    if not path.is_dir():
        foreign = ForeignRelease.read(path, schema)
        return foreign.release, foreign.suppressed
    found = load_release(path)
    if isinstance(found, FlowRelease):
        raise ReleaseError(f"{path}: this release holds flows; measure them with sfumato commute evaluate")
    return found, 0
