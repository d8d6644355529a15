"""`sfumato local plan`: how many reports, how exact, or how private, two of the three given."""

from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from sfumato.cli.options import Json
from sfumato.cli.show import print_json, say
from sfumato.collect.planning import Planner, SurveyPlan
from sfumato.collect.survey import read_survey
from sfumato.errors import ParameterError
from sfumato.mechanisms.channels import make_channel

EXAMPLE = "sfumato local plan --size 100 --epsilon 0.5 --error 0.01"
QUANTITIES = {"cell": "share of people with any one value", "cdf": "share of people up to any value", "mean": "mean"}


def command(
    survey: Annotated[
        Path | None, typer.Option("--survey", metavar="TOML", help="Plan this survey; or give --size.")
    ] = None,
    size: Annotated[int | None, typer.Option("--size", help="How many values there are.")] = None,
    epsilon: Annotated[
        float | None, typer.Option("--epsilon", help="Per step for geometric and laplace, else in all.")
    ] = None,
    mechanism: Annotated[
        Literal["geometric", "randomized-response", "laplace", "square-wave"] | None,
        typer.Option("--mechanism", help="The noise; geometric if not said."),
    ] = None,
    error: Annotated[
        float | None, typer.Option("--error", help="Half the width of the interval: 0.01 is one percent.")
    ] = None,
    reports: Annotated[int | None, typer.Option("--reports", help="How many people report.")] = None,
    quantity: Annotated[
        Literal["cell", "cdf", "mean"],
        typer.Option(
            "--quantity",
            help="What is to be exact: the share of the worst value, the worst cumulative share, or the mean.",
        ),
    ] = "cell",
    confidence: Annotated[float, typer.Option("--confidence", help="Of the interval.")] = 0.95,
    as_json: Json = False,
) -> None:
    """Plan how many reports are needed, how exact or how private.

    Give --error for the number of reports, --reports for the error, or both, without --epsilon, for the strongest
    privacy that reaches it. People are taken to be spread evenly over the values.
    """
    plan = _plan(survey, size, epsilon, mechanism, error, reports, quantity=quantity, confidence=confidence)
    if as_json:
        print_json({**plan.document(), "sentence": plan.channel.claim.sentence()})
        return
    found = f"{QUANTITIES[quantity]} within ±{plan.error:.3g} ({plan.confidence:.0%} confidence)"
    channel = plan.channel
    say(f"{plan.reports:,} reports give the {found}, with {channel.name} noise at epsilon {float(channel.epsilon):g}.")
    say(f"Claim: {channel.claim.sentence()}.")


def _plan(
    survey: Path | None,
    size: int | None,
    epsilon: float | Fraction | None,
    mechanism: str | None,
    error: float | None,
    reports: int | None,
    **more: Any,
) -> SurveyPlan:
    name, both = mechanism or "geometric", error is not None and reports is not None
    if survey is not None:
        if any(given is not None for given in (size, epsilon, mechanism)):
            raise ParameterError("--survey says size, epsilon and mechanism; leave these options out")
        asked = read_survey(survey)
        name, size, more["values"] = asked.mechanism, asked.size, asked.answers()
        epsilon = None if both else asked.epsilon
    if size is None:
        raise ParameterError("say what is planned: --survey, or --size with --epsilon")
    planner = Planner(**more)
    if epsilon is None and error is not None and reports is not None:
        return planner.epsilon(name, size, reports, error)
    if epsilon is None or both:
        raise ParameterError("give two of --epsilon, --error and --reports; the third is found")
    channel = make_channel(name, size, epsilon)
    if error is not None:
        return planner.reports(channel, error)
    if reports is not None:
        return planner.error(channel, reports)
    raise ParameterError("say what is wanted: --error for the number of reports, or --reports for the error")
