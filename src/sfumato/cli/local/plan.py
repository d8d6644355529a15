"""`sfumato local plan`: how many reports, how exact, or how private, two of the three given."""

from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path

from sfumato.cli.options import Json
from sfumato.cli.show import print_json, say
from sfumato.collect.planning import Planner, Quantity, SurveyPlan
from sfumato.collect.survey import read_survey
from sfumato.errors import ParameterError
from sfumato.mechanisms.channels import CHANNELS, make_channel
from sfumato.parameters import parameter

EXAMPLE = "sfumato local plan --size 100 --epsilon 0.5 --error 0.01"
QUANTITIES = {"cell": "share of people with any one value", "cdf": "share of people up to any value", "mean": "mean"}


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """What is known about a survey and what is wanted of it; `None` where nothing was given."""

    survey: Path | None = parameter(default=None, metavar="TOML", help="Plan this survey; or give --size.")
    size: int | None = parameter(default=None, help="How many values there are.")
    epsilon: float | None = parameter(default=None, help="Per step for geometric and laplace, else in all.")
    mechanism: str | None = parameter(default=None, choices=tuple(CHANNELS), help="The noise; geometric if not said.")
    error: float | None = parameter(default=None, help="Half the width of the interval: 0.01 is one percent.")
    reports: int | None = parameter(default=None, help="How many people report.")
    quantity: Quantity = parameter(
        default="cell",
        help="What is to be exact: the share of the worst value, the worst cumulative share, or the mean.",
    )
    confidence: float = parameter(default=0.95, help="Of the interval.")

    def plan(self) -> SurveyPlan:
        """What follows for the one of epsilon, error and reports that is not given."""
        planner = Planner(quantity=self.quantity, confidence=self.confidence)
        name, size = self.mechanism or "geometric", self.size
        epsilon: float | Fraction | None = self.epsilon
        both = self.error is not None and self.reports is not None
        if self.survey is not None:
            if any(given is not None for given in (self.size, self.epsilon, self.mechanism)):
                raise ParameterError("--survey says size, epsilon and mechanism; leave these options out")
            asked = read_survey(self.survey)
            planner = replace(planner, values=asked.answers())
            name, size, epsilon = asked.mechanism, asked.size, None if both else asked.epsilon
        if size is None:
            raise ParameterError("say what is planned: --survey, or --size with --epsilon")
        if epsilon is None and self.error is not None and self.reports is not None:
            return planner.epsilon(name, size, self.reports, self.error)
        if epsilon is None or both:
            raise ParameterError("give two of --epsilon, --error and --reports; the third is found")
        channel = make_channel(name, size, epsilon)
        if self.error is not None:
            return planner.reports(channel, self.error)
        if self.reports is not None:
            return planner.error(channel, self.reports)
        raise ParameterError("say what is wanted: --error for the number of reports, or --reports for the error")


def command(wanted: Wanted, as_json: Json = False) -> None:
    """Plan how many reports are needed, how exact or how private.

    Give --error for the number of reports, --reports for the error, or both, without --epsilon, for the strongest
    privacy that reaches it. People are taken to be spread evenly over the values.
    """
    plan = wanted.plan()
    channel = plan.channel
    if as_json:
        print_json({**plan.document(), "sentence": channel.claim.sentence()})
        return
    found = f"{QUANTITIES[plan.quantity]} within ±{plan.error:.3g} ({plan.confidence:.0%} confidence)"
    say(f"{plan.reports:,} reports give the {found}, with {channel.name} noise at epsilon {float(channel.epsilon):g}.")
    say(f"Claim: {channel.claim.sentence()}.")
