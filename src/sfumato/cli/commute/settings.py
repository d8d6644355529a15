"""The settings of a synthesis as the command line spells them, and what they mean."""

import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Self

import typer

from sfumato.cli.commute.options import kilometres, refuse_idle
from sfumato.cli.declared import with_options
from sfumato.data.places import OUTSIDE, Places, read_weights
from sfumato.errors import ParameterError
from sfumato.mechanisms.dirichlet import Promise
from sfumato.methods.flows.domain import EVERYWHERE, Domain
from sfumato.methods.flows.prior import DistanceHistogram, Prior
from sfumato.methods.flows.synthesis import Synthesizer
from sfumato.parameters import parameter

USUAL_DELTA = 1e-5


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The options of `synthesize` that say how people are drawn; `None` where nothing was given."""

    epsilon: float = parameter(help="What the file may cost in all.")
    delta: float | None = parameter(
        default=None,
        help="The probability, per destination, with which the promise may fail; 1e-5 unless the rule is pure.",
    )
    rule: Literal["exact", "reference", "file", "pure"] = parameter(
        default="exact",
        help="How the prior is calibrated: by exact tails, by the published theorem, for the differential privacy of "
        "the file alone, or without delta.",
    )
    radius: str | None = parameter(
        default=None, metavar="DISTANCE", help="Tell places apart up to here, such as 100mi or 160km."
    )
    beyond: str | None = parameter(
        default=None,
        metavar="REGIONS",
        help="Beyond the radius: a column of regions, or outside, which takes all for one.",
    )
    coarse: list[str] | None = parameter(
        default=None,
        metavar="PEOPLE:REGIONS",
        help="Tell origins of destinations of up to so many people apart by regions; may be repeated.",
    )
    prior: str = parameter(
        default="uniform",
        metavar="SHAPE",
        help="The public prior: uniform, distance, or a file of places and weights such as populations.",
    )
    keep: float = parameter(default=1.0, help="Keep an empty far place with this probability at least; 1 keeps all.")
    distances: Path | None = parameter(
        default=None,
        metavar="FILE",
        help="A public histogram of distances (up_to, share) for --prior distance and --keep; without it, published "
        "commutes of the year 2000.",
    )
    density: Path | None = parameter(
        default=None,
        metavar="FILE",
        help="Public weights of places, by which a drawn region becomes a place in it; without it, all alike.",
    )
    reject: bool = parameter(default=False, help="Draw a destination again while it is unlike the data.")
    unit: Literal["km", "mi"] = parameter(default="km", help="The unit of distances.")

    @classmethod
    def parse(cls, text: str) -> Self:
        """The settings in a line of options, as `synthesize` takes them."""
        try:
            alone = typer.Typer(add_completion=False)
            alone.command(add_help_option=False)(with_options(_take))
            return cls(**typer.main.get_command(alone).make_context("synthesize", shlex.split(text)).params)
        except (typer.TyperException, ValueError) as error:
            reason = error.format_message() if isinstance(error, typer.TyperException) else str(error)
            raise ParameterError(f"--try {text!r}: {reason}") from error

    def synthesizer(self, places: Places) -> Synthesizer:
        """What these settings ask for; options that would change nothing are refused."""
        by_distance, no_distances = self.prior == "distance", self.prior != "distance" and self.keep == 1
        no_regions = self.beyond in (None, OUTSIDE) and not self.coarse
        refuse_idle("--beyond without --radius", self.beyond is not None and self.radius is None)
        refuse_idle("--distances without --prior distance or --keep", self.distances is not None and no_distances)
        refuse_idle("--density without regions in --beyond or --coarse", self.density is not None and no_regions)
        usual = 0.0 if self.rule == "pure" else USUAL_DELTA
        delta = usual if self.delta is None else self.delta
        radius = EVERYWHERE if self.radius is None else kilometres(self.radius, self.unit)
        distances = DistanceHistogram.read(self.distances, self.unit) if self.distances else None
        weights = None if self.prior in ("uniform", "distance") else read_weights(Path(self.prior), places)
        return Synthesizer(
            promise=Promise(epsilon=self.epsilon, delta=delta, rule=self.rule, reject=self.reject),
            domain=Domain(radius=radius, beyond=self.beyond or OUTSIDE, coarse=tuple(map(_coarse, self.coarse or ()))),
            prior=Prior(distances=distances, by_distance=by_distance, keep=self.keep, weights=weights),
            density=read_weights(self.density, places) if self.density else None,
        )


def _coarse(text: str) -> tuple[int, str]:
    """A rule such as 20:tract, in words of the domain."""
    people, _, column = text.partition(":")
    if not people.isdecimal() or int(people) < 1 or not column:
        raise ParameterError(f"--coarse is {text!r}; expected people and regions, such as 20:tract")
    return int(people), column


def _take(settings: Settings) -> None:
    """A command of nothing but settings."""
