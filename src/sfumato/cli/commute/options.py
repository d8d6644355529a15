"""Options that the commuting commands share, and what their words mean."""

import re
from pathlib import Path
from typing import Annotated, Literal

import typer

from sfumato.data.flows import Flows
from sfumato.data.formats import name_without_ending
from sfumato.data.places import KILOMETRES, Places
from sfumato.errors import ParameterError
from sfumato.privacy.claims import NoGuarantee
from sfumato.release import FlowRelease

FlowsFile = Annotated[
    Path,
    typer.Argument(
        metavar="FLOWS", help="Pairs of origin and destination, with or without a count: CSV (.gz too) or Parquet."
    ),
]
PlacesFile = Annotated[
    Path,
    typer.Option(
        "--places",
        metavar="FILE",
        help="All places, public: id, latitude, longitude, and any regions as further columns.",
    ),
]
Unit = Annotated[Literal["km", "mi"], typer.Option("--unit", help="The unit of distances.")]
Origin = Annotated[str | None, typer.Option("--origin", metavar="COLUMN", help="The column of origins.")]
Destination = Annotated[str | None, typer.Option("--destination", metavar="COLUMN", help="The column of destinations.")]
Count = Annotated[str | None, typer.Option("--count", metavar="COLUMN", help="The column of counts, if there is one.")]
PlaceId = Annotated[
    str | None, typer.Option("--place-id", metavar="COLUMN", help="The column of ids among the places.")
]


def kilometres(text: str, unit: str, name: str = "--radius") -> float:
    """A distance such as 100, 100mi or 160 km, in kilometres."""
    found = re.fullmatch(r"\s*((?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?)\s*(km|mi)?\s*", text)
    if not found or float(found[1]) == 0:
        raise ParameterError(f"{name} is {text!r}; expected a distance above 0, such as 100mi or 160km")
    return float(found[1]) * KILOMETRES[found[2] or unit]


def refuse_idle(idle: dict[str, bool]) -> None:
    """Refuse options that would change nothing."""
    for what, is_idle in idle.items():
        if is_idle:
            raise ParameterError(f"{what} would change nothing")


def data_set_name(path: Path) -> str:
    """The name of a file without what tells its format."""
    return name_without_ending(path)


def coarsening(given: list[str] | None) -> tuple[tuple[int, str], ...]:
    """Rules such as 20:tract, in words of the domain."""
    rules = []
    for text in given or []:
        people, _, column = text.partition(":")
        if not people.isdecimal() or int(people) < 1 or not column:
            raise ParameterError(f"--coarse is {text!r}; expected people and regions, such as 20:tract")
        rules.append((int(people), column))
    return tuple(rules)


def read_release(
    path: Path, places: Places, names: tuple[str | None, str | None, str | None] = (None, None, None)
) -> tuple[FlowRelease, Flows]:
    """Synthetic flows: a folder that was published, or a file of which no claim is known."""
    if path.is_dir():
        release = FlowRelease.load(path)
        return release, release.flows(places)
    release = FlowRelease(source=path, claim=NoGuarantee(reason="no claim is known"))
    return release, release.flows(places, **dict(zip(("origin", "destination", "count"), names, strict=True)))


def read_input(
    flows: Path, places: Path, origin: str | None, destination: str | None, count: str | None, place_id: str | None
) -> tuple[Places, Flows]:
    """The places and the flows between them."""
    known = Places.read(places, place=place_id)
    return known, Flows.read(flows, known, origin=origin, destination=destination, count=count)
