"""The settings of a synthesis as the command line spells them, and what they mean."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from sfumato.cli.commute.options import coarsening, kilometres, refuse_idle
from sfumato.errors import ParameterError

if TYPE_CHECKING:
    from sfumato.data.places import Places
    from sfumato.mechanisms.dirichlet.calibration import Rule
    from sfumato.methods.flows.prior import Prior
    from sfumato.methods.flows.synthesis import Synthesizer

USUAL_DELTA = 1e-5


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The options of `synthesize` that say how people are drawn; `None` where nothing was given."""

    epsilon: float
    delta: float | None
    rule: Rule
    reject: bool
    radius: str | None
    beyond: str | None
    coarse: list[str] | None
    prior: str
    keep: float
    distances: Path | None
    density: Path | None
    unit: str

    @staticmethod
    def parse(text: str) -> Settings:
        """The settings in a line of options, as `synthesize` takes them."""
        from sfumato.cli.commute import synthesize

        alone = typer.Typer()
        alone.command()(synthesize.command)
        try:
            words = ["FLOWS", "--places", "PLACES", "-o", "FOLDER", *shlex.split(text)]
            given = typer.main.get_command(alone).make_context("synthesize", words).params
        except (typer.TyperException, ValueError) as error:
            reason = error.format_message() if isinstance(error, typer.TyperException) else str(error)
            raise ParameterError(f"--try {text!r}: {reason}") from error
        return Settings(**{item.name: given[item.name] for item in fields(Settings)})

    def synthesizer(self, places: Places) -> Synthesizer:
        """What these settings ask for; options that would change nothing are refused."""
        from sfumato.data.places import OUTSIDE, read_weights
        from sfumato.mechanisms.dirichlet import Promise
        from sfumato.methods.flows.domain import EVERYWHERE, Domain
        from sfumato.methods.flows.synthesis import Synthesizer

        by_distance, no_regions = self.prior == "distance", self.beyond in (None, OUTSIDE) and not self.coarse
        refuse_idle(
            {
                "--beyond without --radius": self.beyond is not None and self.radius is None,
                "--distances without --prior distance or --keep": self.distances is not None
                and not by_distance
                and self.keep == 1,
                "--density without regions in --beyond or --coarse": self.density is not None and no_regions,
            }
        )
        usual = 0.0 if self.rule == "pure" else USUAL_DELTA
        return Synthesizer(
            promise=Promise(
                epsilon=self.epsilon,
                delta=usual if self.delta is None else self.delta,
                rule=self.rule,
                reject=self.reject,
            ),
            domain=Domain(
                radius=EVERYWHERE if self.radius is None else kilometres(self.radius, self.unit),
                beyond=self.beyond or OUTSIDE,
                coarse=coarsening(self.coarse),
            ),
            prior=self._prior(places),
            density=read_weights(self.density, places) if self.density else None,
        )

    def _prior(self, places: Places) -> Prior:
        from sfumato.data.places import read_weights
        from sfumato.methods.flows.prior import DistanceHistogram, Prior

        public = DistanceHistogram.read(self.distances, self.unit) if self.distances else None
        weights = None if self.prior in ("uniform", "distance") else read_weights(Path(self.prior), places)
        return Prior(distances=public, by_distance=self.prior == "distance", keep=self.keep, weights=weights)
