"""A release of flows: how many people go to each destination from each origin, under a claim.

The folder names places by their ids alone; where these lie, whoever reads it knows from elsewhere.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from math import inf, isclose, nan
from pathlib import Path
from typing import Any, Self

import numpy as np
import polars as pl

from sfumato.data.flows import MAX_PEOPLE, Flows
from sfumato.data.pieces import Parts
from sfumato.data.places import OUTSIDE, Places
from sfumato.errors import ReleaseError, SchemaError
from sfumato.parameters import MAX_SHOWN, MAX_SIZE
from sfumato.privacy.claims import Check, Claim
from sfumato.release.answer import Answer, answer_of_sample
from sfumato.release.envelope import Envelope, Provenance, describing, entry, naming, word
from sfumato.release.folder import read_columns, read_numbers, write_folder
from sfumato.release.query import parse_conditions
from sfumato.schema import CategoricalAxis
from sfumato.schema.taxonomy import flat_tree

ABOUT = "synthetic flows: how many people go to each destination is exact, where they come from is drawn"
ENDS = ("origin", "destination")
COLUMNS = ("destination", "origin", "count")
TERMS = ("synthesis", "places dropped", "prior shrunk", "rejection")
"""What epsilon is made of."""
ROUNDING = 1e-9


@dataclass(frozen=True, eq=False, kw_only=True)
class FlowRelease:
    """Published flows; `source` is the file they are read from when somebody looks, or a frame of them.

    `from_data` is the share of people expected to be drawn from the data, `terms` what epsilon is made of; `data_set`
    is the account in the ledger.

    >>> synthesizer = sf.commute.Synthesizer(promise=sf.commute.Promise(epsilon=4.6, delta=1e-3))
    >>> made, name = sf.commute.publish_flows(synthesizer, flows, "release", data_set="example")
    >>> sf.commute.FlowRelease.load("release").query("origin is not missing") == flows.total
    True
    """

    source: Path | pl.DataFrame
    claim: Claim
    provenance: Provenance = field(default_factory=lambda: Provenance(method="another tool", version="unknown"))
    from_data: float = nan
    terms: Mapping[str, float] = field(default_factory=dict)
    data_set: str = ""

    @property
    def settings(self) -> dict[str, Any]:
        """How people were drawn."""
        return self.provenance.parameters

    @property
    def reach(self) -> float:
        """Up to how many kilometres the flows tell where people come from."""
        return float(self.settings["radius_km"]) if self.settings.get("beyond") == OUTSIDE else inf

    @cached_property
    def frame(self) -> pl.DataFrame:
        """A row for each pair of destination and origin, with the count of people."""
        if isinstance(self.source, pl.DataFrame):
            return self.source
        frame = read_columns(self.source, COLUMNS)
        people = pl.Series("count", read_numbers(frame["count"], self.source))
        return frame.with_columns(pl.col(ENDS).cast(pl.String).fill_null(""), people)

    @property
    def rows(self) -> float:
        """How many people there are."""
        return float(self.frame["count"].sum())

    def flows(self, places: Places, **names: str | None) -> Flows:
        """The flows between places that are known; `names` are columns of a file that calls them otherwise."""
        return Flows.read(self.source, places, **names)

    def violations(self) -> list[str]:
        """Why what is published does not fit the claim; nobody can see from the flows that it is kept."""
        found = []
        if self.frame.select(ENDS).is_duplicated().any():
            found.append("a pair of origin and destination is counted twice")
        people = self.frame.group_by("destination").agg(pl.col("count").cast(pl.Float64).sum())
        if (people["count"] > MAX_PEOPLE).any():
            found.append(f"more than {MAX_PEOPLE:,} people go to one destination, which no flows have")
        if cost := self.claim.cost:
            if self.claim.neighbours != "replace-origin":
                found.append(f"flows protect where people come from, the claim {self.claim.neighbours} neighbours")
            spent = sum(self.terms.values())
            if not self.terms:
                found.append("it leaves out what epsilon is made of")
            elif not set(self.terms) <= set(TERMS) or min(self.terms.values()) < 0:
                found.append(f"epsilon is made of {', '.join(TERMS)}, none of them below 0; it says otherwise")
            elif not isclose(spent, float(cost.epsilon), rel_tol=ROUNDING):
                found.append(f"epsilon is made of {spent:.12g} in all, the claim says {float(cost.epsilon):.12g}")
            if not 0 <= self.from_data <= 1:
                found.append(f"no share of people is {self.from_data:.12g}, which it says are drawn from the data")
        return found

    def checks(self) -> list[Check]:
        """No requirement of flows can be recomputed from what is published."""
        return []

    def query(self, predicate: str) -> float:
        """The number of people who satisfy a predicate such as `destination = 7 and origin not in (3, outside)`."""
        return self.answer(predicate).estimate

    def answer(self, predicate: str) -> Answer:
        """The same with bounds: everybody who goes to a destination is counted, where people come from is drawn."""
        codes = {name: np.unique(self.frame[name].to_numpy(), return_inverse=True) for name in ENDS}
        try:
            axes = [CategoricalAxis(name=name, tree=flat_tree(labels.tolist())) for name, (labels, _) in codes.items()]
        except SchemaError as error:
            raise ReleaseError(f"these flows cannot be asked, {error}") from error
        rows = np.column_stack([code.reshape(-1) for _, code in codes.values()]).astype(np.int64)
        inside = parse_conditions(predicate, axes).rows.hold(rows, {name: place for place, name in enumerate(codes)})
        return answer_of_sample(float(self.frame["count"].to_numpy()[inside].sum()), self.rows)

    def save(self, folder: Path | str, *, suffix: str = ".csv", replace: bool = False) -> Path:
        """Write `flows.csv`, and `release.json` with the claim and how it came about, to a new folder.

        `suffix` is that of any file format. With `replace`, a folder that holds a release and nothing else gives way.
        """
        return write_folder(Path(folder), *self.stored_form(), suffix=suffix, replace=replace)

    def stored_form(self) -> tuple[dict[str, pl.DataFrame | Parts], Envelope]:
        """The table of flows in the order of its ids, and what stands beside it, but for the name of its file."""
        details = {
            "data_set": self.data_set,
            "about": ABOUT,
            "promise": self.claim.sentence(),
            "epsilon_made_of": self.terms,
            "drawn_from_data": self.from_data,
        }
        envelope = Envelope(kind="flows", claim=self.claim, provenance=self.provenance, details=details)
        return {"flows": self.frame.sort("destination", "origin")}, envelope

    @classmethod
    def load(cls, folder: Path | str) -> Self:
        """Read a release of flows that `save` wrote, or an earlier version."""
        folder = Path(folder)
        envelope = Envelope.read(folder, "flows")
        with naming(describing(folder) or folder):
            settings, details = envelope.provenance.parameters, envelope.details
            if settings.get("beyond") == OUTSIDE:
                _number(settings, "radius_km")
            terms = entry(details, "epsilon_made_of", dict) if "epsilon_made_of" in details else {}
            return cls(
                source=folder / word(envelope.files, "flows", "files"),
                claim=envelope.claim,
                provenance=envelope.provenance,
                from_data=_number(details, "drawn_from_data"),
                terms={name: _number(terms, name) for name in terms},
                data_set=str(details.get("data_set", "")),
            )


def _number(spec: Mapping[str, Any], key: str) -> float:
    value = spec.get(key)
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) <= MAX_SIZE:
        raise ReleaseError(f"{key} is {repr(value)[:MAX_SHOWN]}; expected a number")
    return float(value)
