"""`sfumato commute map`: one page that shows where people come from."""

from pathlib import Path

from typer import Argument, Option

from sfumato.cli.commute.options import Columns, PlacesFile, Unit, refuse_idle
from sfumato.cli.options import LedgerFile, output_option
from sfumato.cli.show import note, say
from sfumato.errors import ParameterError
from sfumato.files import place
from sfumato.privacy.ledger import Ledger
from sfumato.release.envelope import refuse_inside_release
from sfumato.report.map.outlines import count_matches, read_outlines
from sfumato.report.map.page import LOOK, TITLE, draw_map

EXAMPLE = "sfumato commute map release --places places.csv --outlines tracts.geojson --by tract -o map.html"
SYNTHETIC = (
    "Synthetic: how many people go to each destination is exact; where they come from is drawn, about "
    "{0.from_data:.0%} from data and the rest from public knowledge. Claim: {0.claim}, for where any one person comes "
    "from."
)


def command(
    *,
    release: Path = Argument(metavar="RELEASE", help="A folder of synthetic flows, or a file of them."),
    places: PlacesFile,
    output: Path = output_option("HTML", "The page to write."),
    outlines: Path | None = Option(None, metavar="GEOJSON", help="Outlines of regions to draw."),
    by: str | None = Option(None, metavar="REGIONS", help="Draw regions instead of single places."),
    original: Path | None = Option(
        None,
        metavar="FLOWS",
        help="Make the publisher's copy, which also holds the original flows; never publish that.",
    ),
    name: str | None = Option(
        None, metavar="DATASET", help="Whose flows the original ones are: their account in the ledger."
    ),
    title: str | None = Option(None, help="The title of the page."),
    unit: Unit = "km",
    columns: Columns,
    ledger_file: LedgerFile = None,
) -> None:
    """Draw synthetic flows as one page that needs no network.

    Choose a destination there, and see where its people come from. Without --original the page holds nothing but
    synthetic flows, public places and outlines; with it, the ledger notes that measures of these flows were seen.
    """
    refuse_idle("--name without --original", name is not None and original is None)
    if original:
        if name is None:
            raise ParameterError("the ledger notes who saw original flows; say with --name whose they are")
        refuse_inside_release(output.parent)
    known = columns.places(places)
    published, synthetic = columns.release(release, known)
    promises = published.claim.promises
    true = columns.flows(original, known) if original else None
    if name is not None and true is not None:
        Ledger(ledger_file).note_look(name, LOOK, true.digest)
    shapes = read_outlines(outlines) if outlines else None
    page = draw_map(
        synthetic,
        outlines=shapes,
        by=by,
        original=true,
        title=title or TITLE,
        unit=unit,
        claim=SYNTHETIC.format(published) if promises else "No claim is known for these flows.",
    )
    place(output, page)
    if not promises:
        note(f"No claim is known for {release}: publish the page only if these are synthetic flows.")
    if shapes and by and not count_matches(shapes, known.partition(by).labels):
        note(f"No outline in {outlines} has the name of a {by} among its properties: they are drawn as background.")
    if original:
        note(f"{output} holds original data: it is for the publisher's eyes only.")
    say(f"Written to {output}: {synthetic.total:,} people.")
