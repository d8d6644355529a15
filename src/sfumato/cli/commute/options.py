"""Options that the commuting commands share, and what their words mean."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from typer import Argument, Option

from sfumato.data.flows import Flows
from sfumato.data.places import KILOMETRES, Places
from sfumato.errors import ParameterError
from sfumato.parameters import parameter
from sfumato.privacy.claims import NoGuarantee
from sfumato.release import FlowRelease

FlowsFile = Annotated[
    str,
    Argument(
        metavar="FLOWS",
        help="Pairs of origin and destination, with or without a count: a file of any format, or a database.",
    ),
]
PlacesFile = Annotated[
    str,
    Option(
        metavar="FILE",
        help="All places, public: id, latitude, longitude, and any regions as further columns; or GeoJSON.",
    ),
]
DataSet = Annotated[
    str,
    Option(
        "--name",
        metavar="DATASET",
        help="Whose flows these are: the account in the ledger, one for all files about the same people.",
    ),
]
Unit = Annotated[Literal["km", "mi"], Option(help="The unit of distances.")]


@dataclass(frozen=True, kw_only=True)
class Columns:
    """What the columns of flows and places are called; where nothing was given, the usual names are looked for."""

    origin: str | None = parameter(default=None, metavar="COLUMN", help="The column of origins.")
    destination: str | None = parameter(default=None, metavar="COLUMN", help="The column of destinations.")
    count: str | None = parameter(default=None, metavar="COLUMN", help="The column of counts, if there is one.")
    place_id: str | None = parameter(
        default=None, metavar="COLUMN", help="The column, or the property in GeoJSON, of ids among the places."
    )

    def places(self, path: str) -> Places:
        return Places.read(path, place=self.place_id)

    def flows(self, rows: Any, places: Places) -> Flows:
        return Flows.read(rows, places, origin=self.origin, destination=self.destination, count=self.count)

    def release(self, path: Path, places: Places) -> tuple[FlowRelease, Flows]:
        """Synthetic flows: a folder that was published, or a file of which no claim is known."""
        if path.is_dir():
            release = FlowRelease.load(path)
            return release, release.flows(places)
        return FlowRelease(source=path, claim=NoGuarantee(reason="no claim is known")), self.flows(path, places)


def kilometres(text: str, unit: str, name: str = "--radius") -> float:
    """A distance such as 100, 100mi or 160 km, in kilometres."""
    found = re.fullmatch(r"\s*((?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?)\s*(km|mi)?\s*", text)
    if not found or float(found[1]) == 0:
        raise ParameterError(f"{name} is {text!r}; expected a distance above 0, such as 100mi or 160km")
    return float(found[1]) * KILOMETRES[found[2] or unit]


def refuse_idle(what: str, idle: bool) -> None:
    if idle:
        raise ParameterError(f"{what} would change nothing")
