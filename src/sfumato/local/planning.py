"""Before a survey: how many reports it takes, how exact it will be, or how much privacy it can afford.

The error is half the width of an interval, of the least exact share of a value, of the least exact cumulative share,
or of the mean. It is that of the unbiased estimate, so the most likely distribution usually does better.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from sfumato.errors import ParameterError
from sfumato.local.reconstruct.intervals import normal_quantile
from sfumato.local.reconstruct.inversion import is_distribution
from sfumato.local.reconstruct.variances import cdf_variances, cell_variances, mean_variance
from sfumato.privacy.channels import make_channel
from sfumato.privacy.channels.rounded_laplace import MOST_EPSILON, RoundedLaplace

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from sfumato.privacy.channels import Channel

    Floats = NDArray[np.float64]

Quantity = Literal["cell", "cdf", "mean"]
LEAST_EPSILON = 1e-4
LARGEST_EPSILON = 60.0
"""Beyond it nothing is protected, and nothing becomes more exact."""
MOST_REPORTS = 10**15
DIGITS = 4


@dataclass(frozen=True, kw_only=True)
class Plan:
    """So many reports through a channel give a quantity with this error, at this confidence."""

    channel: Channel
    quantity: Quantity
    reports: int
    error: float
    confidence: float

    def document(self) -> dict[str, Any]:
        """The plan as JSON; `epsilon` is as the mechanism counts it, `epsilon_of_a_report` what it promises in all."""
        return {
            **self.channel.spec(),
            "epsilon_of_a_report": self.channel.claim.epsilon,
            "quantity": self.quantity,
            "reports": self.reports,
            "error": self.error,
            "confidence": self.confidence,
        }


def plan_reports(
    channel: Channel,
    error: float,
    *,
    quantity: Quantity = "cell",
    shares: ArrayLike | None = None,
    values: ArrayLike | None = None,
    confidence: float = 0.95,
) -> Plan:
    """How many reports it takes for an error of at most `error`, if people are distributed like `shares`."""
    _check_error(error)
    variance = _variance(channel, quantity, _shares(shares, channel.size), _values(values, channel.size))
    reports = max(1.0, variance * (_reach(confidence) / error) ** 2)
    if not reports <= MOST_REPORTS:
        raise ParameterError(
            f"an error of {error:g} at epsilon {float(channel.exact_epsilon):g} needs more than {MOST_REPORTS:.0e} "
            "reports; allow a larger error or a larger epsilon"
        )
    return plan_error(
        channel, math.ceil(reports), quantity=quantity, shares=shares, values=values, confidence=confidence
    )


def plan_error(
    channel: Channel,
    reports: int,
    *,
    quantity: Quantity = "cell",
    shares: ArrayLike | None = None,
    values: ArrayLike | None = None,
    confidence: float = 0.95,
) -> Plan:
    """How large the error is with so many reports, if people are distributed like `shares` (uniformly if not said)."""
    _check_reports(reports)
    variance = _variance(channel, quantity, _shares(shares, channel.size), _values(values, channel.size))
    error = _reach(confidence) * math.sqrt(variance / reports)
    return Plan(channel=channel, quantity=quantity, reports=reports, error=error, confidence=confidence)


def plan_epsilon(
    name: str,
    size: int,
    reports: int,
    error: float,
    *,
    quantity: Quantity = "cell",
    shares: ArrayLike | None = None,
    values: ArrayLike | None = None,
    confidence: float = 0.95,
) -> Plan:
    """The strongest privacy (the smallest ε) at which so many reports through the named channel reach the error."""
    _check_error(error)

    def plan(epsilon: float) -> Plan:
        channel = make_channel(name, size, epsilon)
        return plan_error(channel, reports, quantity=quantity, shares=shares, values=values, confidence=confidence)

    weakest = plan(MOST_EPSILON if name == RoundedLaplace.name else LARGEST_EPSILON)
    if weakest.error > error:
        raise ParameterError(
            f"{reports:,} reports cannot reach an error of {error:g}: with hardly any noise it is {weakest.error:.2g}, "
            "from sampling alone; plan more reports"
        )
    strongest = plan(LEAST_EPSILON)
    if strongest.error <= error:
        return strongest
    low, high = LEAST_EPSILON, float(weakest.channel.exact_epsilon)
    while high / low > 1 + 10 ** -(DIGITS + 1):
        middle = math.sqrt(low * high)
        low, high = (low, middle) if plan(middle).error <= error else (middle, high)
    return plan(min(_rounded_up(high), float(weakest.channel.exact_epsilon)))


def _rounded_up(epsilon: float) -> float:
    """A few digits, upwards, so that the error is still reached."""
    unit = 10.0 ** (math.floor(math.log10(epsilon)) - DIGITS + 1)
    return float(f"{math.ceil(epsilon / unit) * unit:.{DIGITS}g}")


def _reach(confidence: float) -> float:
    if not 0 < confidence < 1:
        raise ParameterError(f"the confidence is {confidence}; expected a number between 0 and 1")
    return normal_quantile(confidence)


def _variance(channel: Channel, quantity: Quantity, shares: Floats, values: Floats) -> float:
    """The variance of one report in the estimate of the quantity."""
    if not channel.invertible:
        raise ParameterError(f"{channel.name} has no unbiased estimate to plan with; plan with another mechanism")
    observed = channel.spread(shares)
    if quantity == "cell":
        return float(cell_variances(channel, observed).max())
    if quantity == "cdf":
        return float(cdf_variances(channel, observed).max())
    if quantity == "mean":
        return mean_variance(channel, observed, values)
    raise ParameterError(f"{quantity!r} cannot be planned; expected one of {', '.join(get_args(Quantity))}")


def _shares(shares: ArrayLike | None, size: int) -> Floats:
    if shares is None:
        return np.full(size, 1 / size)
    given = np.asarray(shares, dtype=np.float64)
    if given.shape != (size,) or not is_distribution(given):
        raise ParameterError(f"the assumed shares must be {size} numbers of at least 0 that sum to 1")
    return given


def _values(values: ArrayLike | None, size: int) -> Floats:
    if values is None:
        return np.arange(float(size))
    given = np.asarray(values, dtype=np.float64)
    if given.shape != (size,) or not np.isfinite(given).all():
        raise ParameterError(f"the values of an axis of {size} must be as many numbers")
    return given


def _check_error(error: float) -> None:
    if not 0 < error < math.inf:
        raise ParameterError(f"the error is {error}; expected a number above 0")


def _check_reports(reports: int) -> None:
    if isinstance(reports, bool) or not isinstance(reports, int) or reports < 1:
        raise ParameterError(f"the number of reports is {reports!r}; expected a whole number of at least 1")
