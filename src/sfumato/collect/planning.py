"""Before a survey: how many reports it takes, how exact it will be, or how much privacy it can afford.

The error is half the width of an interval, of the least exact share of a value, of the least exact cumulative share,
or of the mean. It is that of the unbiased estimate, so the most likely distribution usually does better.
"""

import math
from dataclasses import dataclass, fields
from decimal import ROUND_CEILING, Context
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sfumato.errors import ParameterError
from sfumato.estimation.intervals import check_confidence, check_values, normal_quantile
from sfumato.estimation.variances import cdf_variances, cell_variances, mean_variance
from sfumato.mechanisms.channels import Channel, make_channel

Quantity = Literal["cell", "cdf", "mean"]
MIN_EPSILON = 1e-4
MAX_EPSILON = 20.0
"""Beyond it nothing is protected, and hardly anything becomes more exact."""
STEPS = 300
"""How many ε are tried between these two where the error does not fall steadily."""
MAX_REPORTS = 10**15
DIGITS = 4
ROUNDING = 1e-9


@dataclass(frozen=True, kw_only=True)
class SurveyPlan:
    """So many reports through a channel give a quantity with this error, at this confidence."""

    channel: Channel
    quantity: Quantity
    reports: int
    error: float
    confidence: float

    def document(self) -> dict[str, Any]:
        """The plan as JSON; `epsilon` is as the mechanism counts it, `epsilon_of_a_report` what it promises in all."""
        found = {field.name: getattr(self, field.name) for field in fields(self) if field.name != "channel"}
        return {**self.channel.spec(), "epsilon_of_a_report": self.channel.claim.epsilon, **found}


@dataclass(frozen=True, kw_only=True, eq=False)
class Planner:
    """What is to be exact, how people are taken to be distributed (evenly if not said), and at which confidence.

    `values` are what the positions on the axis stand for; only the mean depends on them.

    >>> channel = sf.local.TruncatedGeometric(size=10, epsilon=1)
    >>> sf.local.Planner().reports(channel, error=0.05).reports > 100
    True
    """

    quantity: Quantity = "cell"
    shares: ArrayLike | None = None
    values: ArrayLike | None = None
    confidence: float = 0.95

    def __post_init__(self) -> None:
        if self.quantity not in get_args(Quantity):
            expected = ", ".join(get_args(Quantity))
            raise ParameterError(f"{self.quantity!r} cannot be planned; expected one of {expected}")
        check_confidence(self.confidence)

    def reports(self, channel: Channel, error: float) -> SurveyPlan:
        """How many reports it takes for an error of at most `error`."""
        _check_error(error)
        reports = max(1.0, (self._deviation(channel) / error) ** 2)
        if not reports <= MAX_REPORTS:
            raise ParameterError(
                f"an error of {error:g} at epsilon {float(channel.exact_epsilon):g} needs more than "
                f"{MAX_REPORTS:.0e} reports; allow a larger error or a larger epsilon"
            )
        return self.error(channel, math.ceil(reports))

    def error(self, channel: Channel, reports: int) -> SurveyPlan:
        """How large the error is with so many reports."""
        if isinstance(reports, bool) or not isinstance(reports, int) or reports < 1:
            raise ParameterError(f"the number of reports is {reports!r}; expected a whole number of at least 1")
        error = self._deviation(channel) / math.sqrt(reports)
        return SurveyPlan(
            channel=channel, quantity=self.quantity, reports=reports, error=error, confidence=self.confidence
        )

    def epsilon(self, name: str, size: int, reports: int, error: float) -> SurveyPlan:
        """The strongest privacy (the smallest ε) at which so many reports through the named channel reach the error."""
        _check_error(error)

        def plan(epsilon: float) -> SurveyPlan:
            return self.error(make_channel(name, size, epsilon), reports)

        weakest = plan(MAX_EPSILON)
        # A square wave's error rises where its reach falls, so the first ε that is enough is looked for from below.
        tried = np.geomspace(MIN_EPSILON, MAX_EPSILON, 2 if weakest.channel.invertible else STEPS).tolist()
        enough = next((at for at, epsilon in enumerate(tried) if plan(epsilon).error <= error), None)
        if enough is None:
            raise ParameterError(
                f"{reports:,} reports cannot reach an error of {error:g}: with hardly any noise it is "
                f"{weakest.error:.2g}, from sampling alone; plan more reports"
            )
        if not enough:
            return plan(MIN_EPSILON)
        low, high = tried[enough - 1 : enough + 1]
        while high / low > 1 + 10 ** -(DIGITS + 1):
            middle = math.sqrt(low * high)
            low, high = (low, middle) if plan(middle).error <= error else (middle, high)
        # A few digits, upwards, so that the error is still reached.
        few_digits = Context(prec=DIGITS, rounding=ROUND_CEILING).create_decimal_from_float(high)
        rounded = plan(min(float(few_digits), MAX_EPSILON))
        return rounded if rounded.error <= error else plan(high)

    def _deviation(self, channel: Channel) -> float:
        """The error with a single report."""
        observed = channel.spread(_check_shares(self.shares, channel.size))
        values = check_values(self.values, channel.size).astype(np.float64)
        if self.quantity == "mean":
            variance = mean_variance(channel, observed, values)
        else:
            variances = cell_variances if self.quantity == "cell" else cdf_variances
            variance = float(variances(channel, observed).max())
        return normal_quantile(self.confidence) * math.sqrt(variance)


def _check_shares(shares: ArrayLike | None, size: int) -> NDArray[np.float64]:
    if shares is None:
        return np.full(size, 1 / size)
    given = np.asarray(shares, dtype=np.float64)
    if given.shape != (size,) or not (given.min() >= 0 and abs(given.sum() - 1) <= ROUNDING):
        raise ParameterError(f"the assumed shares must be {size} numbers of at least 0 that sum to 1")
    return given


def _check_error(error: float) -> None:
    if not 0 < error < math.inf:
        raise ParameterError(f"the error is {error}; expected a number above 0")
