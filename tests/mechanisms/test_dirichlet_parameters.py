"""What cannot be promised, drawn or held is refused with one sentence, and large figures do not overflow."""

import math

import numpy as np
import pytest

from sfumato.errors import ParameterError, UnsatisfiableError
from sfumato.mechanisms.dirichlet import UNIT, Calibration, PriorShape, Promise
from sfumato.mechanisms.dirichlet.calibration import Rule
from sfumato.mechanisms.dirichlet.disclosure import threshold


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"epsilon": 0.0, "delta": 0.1}, "epsilon is 0.0; expected a number above 0"),
        ({"epsilon": -1.0, "delta": 0.1}, "epsilon is -1.0; expected"),
        ({"epsilon": math.nan, "delta": 0.1}, "epsilon is nan; expected"),
        ({"epsilon": math.inf, "delta": 0.1}, "epsilon is inf; expected"),
        ({"epsilon": 51.0, "delta": 0.1}, "at most 50"),
        ({"epsilon": 1.0}, "delta is 0.0; expected a number above 0"),
        ({"epsilon": 1.0, "delta": 1.0}, "delta is 1.0; expected"),
        ({"epsilon": 1.0, "delta": math.nan}, "delta is nan; expected"),
        ({"epsilon": 1.0, "delta": 0.1, "rule": "best"}, "rule is 'best'; expected one of pure, reference"),
        ({"epsilon": 1.0, "delta": 0.1, "rule": "pure"}, "the pure rule promises epsilon alone"),
        ({"epsilon": 1.09, "delta": 0.1, "rule": "reference"}, "above ln 3 = 1.0986"),
        ({"epsilon": 1.2, "delta": 0.5, "rule": "reference", "reject": True}, "above ln 3 = 1.0986"),
        ({"epsilon": 1.0, "rule": "pure", "reject": True}, "does not go with rejection"),
        ({"epsilon": 1.0, "delta": 0.1, "rule": "file", "reject": True}, "does not go with rejection"),
        ({"epsilon": 0.5, "delta": 0.5, "reject": True}, "epsilon is too small for rejection"),
    ],
)
def test_promises_that_cannot_be_are_refused(given: dict[str, object], sentence: str) -> None:
    with pytest.raises(ParameterError) as caught:
        Promise(**given)  # type: ignore[arg-type]
    assert sentence in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("weights", "keep"),
    [
        ((0.0,), None),
        ((-1.0, 1.0), None),
        ((math.nan,), None),
        ((math.inf,), None),
        ((1.0,), (0.0,)),
        ((1.0,), (1.1,)),
        ((1.0,), (0.5, 0.5)),
        ((1.0,), (math.nan,)),
        ((1.0,), (2.0**-12,)),
    ],
)
def test_shapes_that_cannot_be_are_refused(weights: tuple[float, ...], keep: tuple[float, ...] | None) -> None:
    with pytest.raises(ParameterError):
        PriorShape(weights, keep)


def test_the_reference_rule_is_refused_where_places_are_dropped() -> None:
    with pytest.raises(ParameterError, match="the reference rule does not hold when places are dropped"):
        Calibration(Promise(epsilon=2.0, delta=0.1, rule="reference"), PriorShape((1.0,), (0.5,)))


def test_masses_are_whole_and_never_below_their_share() -> None:
    shape = PriorShape((1.0, 0.37, 1e-12))
    for scale in (1e-9, 0.0386, 17.0, 1e5):
        masses = shape.masses(scale)
        assert masses.dtype == np.int64
        assert (masses >= np.maximum(scale * shape.weights * UNIT, 1)).all()
        assert (masses <= scale * shape.weights * UNIT + 1).all()


def test_a_prior_too_large_for_an_urn_is_refused() -> None:
    calibration = Calibration(Promise(epsilon=0.01, rule="pure"), PriorShape((1.0, 1 / 128)))
    with pytest.raises(UnsatisfiableError, match=r"no prior keeps epsilon 0\.01 for a destination of 1000000 people"):
        calibration.scales(np.array([10**6]), np.array([[5, 5]]))
    assert (PriorShape((1.0,)).masses(1e12) > 0).all()


@pytest.mark.parametrize("rule", ["pure", "exact", "file"])
def test_dropping_nearly_everything_is_refused_at_a_small_epsilon(rule: Rule) -> None:
    promise = Promise(epsilon=2.0, delta=0.0 if rule == "pure" else 1e-5, rule=rule)
    with pytest.raises(UnsatisfiableError, match=r"kept with probability 0\.01"):
        Calibration(promise, PriorShape((1.0,), (0.01,))).scales(np.array([10]), np.array([[1_000]]))


def test_thresholds_do_not_overflow() -> None:
    assert threshold(1, 1.0, 1.0, math.exp(50), 1.0) > 10**12
    assert threshold(5, 1e6, 1.0, math.exp(50), 1.0) > 10**12
    assert threshold(0, 0.5, 0.1, math.exp(1), 1.0) == 0
    assert [threshold(x, 0.5, 1.0, 4.0, 1.0) for x in range(4)] == [1, 1, 4, 7]
