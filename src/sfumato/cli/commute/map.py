"""`sfumato commute map`: one page that shows where people come from."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sfumato.cli.commute.options import PlaceId, PlacesFile, Unit
from sfumato.cli.show import note, say

EXAMPLE = "sfumato commute map release --places places.csv --outlines tracts.geojson --by tract -o map.html"


def command(
    release: Annotated[
        Path,
        typer.Argument(metavar="RELEASE", show_default=False, help="A folder of synthetic flows, or a file of them."),
    ],
    places: PlacesFile,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="HTML", show_default=False, help="The page to write.")
    ],
    outlines: Annotated[
        Path | None,
        typer.Option("--outlines", metavar="GEOJSON", show_default=False, help="Outlines of regions to draw."),
    ] = None,
    by: Annotated[
        str | None,
        typer.Option("--by", metavar="REGIONS", show_default=False, help="Draw regions instead of single places."),
    ] = None,
    original: Annotated[
        Path | None,
        typer.Option(
            "--original", metavar="FLOWS", show_default=False,
            help="Make the publisher's copy, which also holds the original flows; never publish that.",
        ),
    ] = None,
    title: Annotated[str | None, typer.Option("--title", help="The title of the page.")] = None,
    unit: Unit = "km",
    place_id: PlaceId = None,
) -> None:
    """Draw synthetic flows as one page that needs no network.

    Choose a destination there, and see where its people come from. Without --original the page holds nothing but
    synthetic flows, public places and outlines.
    """
    from sfumato.commute.flows import Flows
    from sfumato.commute.map import TITLE, draw_map, read_outlines
    from sfumato.commute.places import Places
    from sfumato.commute.publication import read_published
    from sfumato.files import place
    from sfumato.release.description import refuse_inside_release

    if original:
        refuse_inside_release(output.parent)
    known = Places.read(places, place=place_id)
    shapes = read_outlines(outlines) if outlines else None
    claim = "No claim is known for these flows."
    if release.is_dir():
        published = read_published(release, known)
        synthetic, claim = published.flows, f"Claim: {published.claim.sentence()}."
    else:
        synthetic = Flows.read(release, known)
    page = draw_map(
        synthetic, outlines=shapes, by=by, original=Flows.read(original, known) if original else None,
        title=title or TITLE, claim=claim, unit=unit,
    )
    place(output, page)
    if original:
        note(f"{output} holds original data: it is for the publisher's eyes only.")
    say(f"Written to {output}: {synthetic.total:,} people, {len(synthetic):,} destinations.")
