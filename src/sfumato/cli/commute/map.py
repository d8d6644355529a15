"""`sfumato commute map`: one page that shows where people come from."""

from pathlib import Path
from typing import Annotated

import typer

from sfumato.cli.commute.options import Count, Destination, Origin, PlaceId, PlacesFile, Unit, read_release
from sfumato.cli.show import note, say
from sfumato.data.flows import Flows
from sfumato.data.places import Places
from sfumato.files import place
from sfumato.release.envelope import refuse_inside_release
from sfumato.report.map.outlines import count_matches, read_outlines
from sfumato.report.map.page import TITLE, draw_map

EXAMPLE = "sfumato commute map release --places places.csv --outlines tracts.geojson --by tract -o map.html"


SYNTHETIC = (
    "Synthetic: how many people go to each destination is exact; where they come from is drawn, about "
    "{0.from_data:.0%} from data and the rest from public knowledge. Claim: {0.claim}, for where any one person comes "
    "from."
)


def command(
    release: Annotated[Path, typer.Argument(metavar="RELEASE", help="A folder of synthetic flows, or a file of them.")],
    places: PlacesFile,
    output: Annotated[Path, typer.Option("--output", "-o", metavar="HTML", help="The page to write.")],
    outlines: Annotated[
        Path | None, typer.Option("--outlines", metavar="GEOJSON", help="Outlines of regions to draw.")
    ] = None,
    by: Annotated[
        str | None, typer.Option("--by", metavar="REGIONS", help="Draw regions instead of single places.")
    ] = None,
    original: Annotated[
        Path | None,
        typer.Option(
            "--original",
            metavar="FLOWS",
            help="Make the publisher's copy, which also holds the original flows; never publish that.",
        ),
    ] = None,
    title: Annotated[str | None, typer.Option("--title", help="The title of the page.")] = None,
    unit: Unit = "km",
    origin: Origin = None,
    destination: Destination = None,
    count: Count = None,
    place_id: PlaceId = None,
) -> None:
    """Draw synthetic flows as one page that needs no network.

    Choose a destination there, and see where its people come from. Without --original the page holds nothing but
    synthetic flows, public places and outlines.
    """
    if original:
        refuse_inside_release(output.parent)
    known = Places.read(places, place=place_id)
    names = (origin, destination, count)
    published, synthetic = read_release(release, known, names)
    promises = published.claim.promises
    shapes = read_outlines(outlines) if outlines else None
    true = Flows.read(original, known, origin=origin, destination=destination, count=count) if original else None
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
