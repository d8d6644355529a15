"""From counts to the results document."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from sfumato.errors import ParameterError
from sfumato.estimation.estimate import estimate
from sfumato.mechanisms.channels import make_channel

from .oracle import drawn, two_humps

KEYS = [
    "reports",
    "estimate",
    "gap",
    "reached",
    "fits",
    "confidence",
    "cells",
    "cdf",
    "mean",
    "quantiles",
    "one_report_moves",
]


@pytest.mark.parametrize("name", ["geometric", "laplace", "randomized-response", "square-wave"])
@pytest.mark.parametrize("solver", ["likelihood", "inversion", "em", "smooth"])
def test_the_document_is_what_pages_and_commands_show(name: str, solver: Any) -> None:
    channel = make_channel(name, 10, 2.0)
    counts, values = drawn(channel, two_humps(10), 5_000, 1), 1950 + 5 * np.arange(10)
    found = estimate(counts, channel, solver=solver, values=values, steps=2_000)
    document = json.loads(json.dumps(found.document(), allow_nan=False))
    assert list(document) == KEYS
    assert (document["reports"], document["estimate"], document["confidence"]) == (5_000, solver, 0.95)
    assert document["reached"] == (document["gap"] is not None and document["gap"] <= 1e-9)
    assert [row["value"] for row in document["cells"]] == values.tolist()
    assert sum(row["share"] for row in document["cells"]) == pytest.approx(1)
    np.testing.assert_allclose([row["share"] for row in document["cdf"]], np.cumsum(found.shares))
    assert [document["cdf"][-1][end] for end in ("low", "share", "high")] == [1, 1, 1]
    for row in (*document["cells"], *document["cdf"]):
        assert list(row) == ["value", "share", "low", "high"]
        assert row["low"] <= row["share"] <= row["high"]
        assert row["high"] <= 1
    assert document["mean"]["value"] == pytest.approx(found.shares @ values)
    assert 1950 <= document["mean"]["low"] <= document["mean"]["value"] <= document["mean"]["high"] <= 1995
    for quantile, share in zip(document["quantiles"], (0.25, 0.5, 0.75), strict=True):
        assert list(quantile) == ["share", "value", "low", "high"]
        assert quantile["share"] == share
        assert quantile["low"] <= quantile["value"] <= quantile["high"]
        assert quantile["value"] in values
    assert document["one_report_moves"] > 1
    assert document["fits"]


def test_a_perfect_sample_gives_known_numbers() -> None:
    """With hardly any noise the estimate is the counts themselves."""
    document = estimate([10, 20, 40, 30], make_channel("geometric", 4, 40.0), values=[1, 2, 3, 4]).document()
    np.testing.assert_allclose([row["share"] for row in document["cells"]], [0.1, 0.2, 0.4, 0.3], atol=1e-8)
    assert document["mean"]["value"] == pytest.approx(2.9)
    half = 1.959964 * np.sqrt((0.1 * 1.9**2 + 0.2 * 0.9**2 + 0.4 * 0.1**2 + 0.3 * 1.1**2) / 100)
    assert document["mean"]["high"] - document["mean"]["value"] == pytest.approx(half, rel=0.005)
    assert document["cells"][0]["high"] == pytest.approx(0.1 + 1.959964 * 0.03, rel=1e-5)
    assert [q["value"] for q in document["quantiles"]] == [2, 3, 4]
    assert document["one_report_moves"] == pytest.approx(1)


def test_one_value_leaves_nothing_to_estimate() -> None:
    for name in ("geometric", "laplace", "randomized-response", "square-wave"):
        channel = make_channel(name, 1, 1.0)
        counts = np.full(channel.reports, 5)
        document = estimate(counts, channel).document()
        assert document["reached"]
        assert document["cells"][0]["share"] == pytest.approx(1)
        assert document["quantiles"][1] == {"share": 0.5, "value": 0, "low": 0, "high": 0}


def test_a_single_report_is_enough_for_a_document() -> None:
    channel = make_channel("geometric", 1_000, 0.01)
    document = estimate(np.eye(1_000, dtype=np.int64)[400], channel).document()
    json.dumps(document, allow_nan=False)
    assert document["reached"]
    assert document["cells"][400]["share"] == pytest.approx(1, abs=1e-3)
    assert document["quantiles"][1]["low"] <= 400 <= document["quantiles"][1]["high"]


@pytest.mark.parametrize("name", ["geometric", "laplace", "randomized-response", "square-wave"])
@pytest.mark.parametrize("epsilon", [Fraction(1, 10**12), 1e-6])
def test_the_smallest_epsilon_gives_a_document_that_says_nothing(name: str, epsilon: float | Fraction) -> None:
    channel = make_channel(name, 5, epsilon)
    document = estimate(drawn(channel, two_humps(5), 1_000, 1), channel).document()
    json.dumps(document, allow_nan=False)
    assert document["fits"]
    assert [(row["low"], row["high"]) for row in document["cells"]] == [(0, 1)] * 5
    assert document["one_report_moves"] > 1e6


def test_early_stopping_and_smoothing_are_said() -> None:
    channel = make_channel("geometric", 50, 0.2)
    counts = drawn(channel, two_humps(50), 10**5, 2)
    early = estimate(counts, channel, solver="em", steps=25)
    assert (early.solution.steps, early.solution.reached, early.document()["estimate"]) == (25, False, "em")
    assert early.document()["gap"] > 1e-5
    assert not estimate(counts, channel, solver="smooth").document()["reached"]
    assert estimate(counts, channel).document()["reached"]
    wider = estimate(counts, channel, confidence=0.99).intervals.cells.high
    assert (wider >= estimate(counts, channel).intervals.cells.high).all()


@pytest.mark.parametrize(
    ("counts", "options", "sentence"),
    [
        ([1, 2], {}, "there are 2 counts; expected one for each of 3"),
        ([[1, 2, 3]], {}, "expected one for each of 3"),
        ([1.0, 2.0, 3.0], {}, "expected whole numbers"),
        ([True, True, False], {}, "expected whole numbers"),
        ([1, -2, 3], {}, "the count of report 1 is -2"),
        ([0, 0, 0], {}, "no reports"),
        ([1, 2, 3], {"solver": "guess"}, "'guess' is not a known estimate"),
        ([1, 2, 3], {"confidence": 1.0}, "between 0 and 1"),
        ([1, 2, 3], {"confidence": float("nan")}, "between 0 and 1"),
        ([1, 2, 3], {"gap": float("nan")}, "at least 0"),
        ([1, 2, 3], {"steps": 0}, "at least 1"),
        ([1, 2, 3], {"values": [1, 2]}, "ascending order"),
        ([1, 2, 3], {"values": [1, 3, 2]}, "ascending order"),
        ([1, 2, 3], {"values": ["a", "b", "c"]}, "ascending order"),
    ],
)
def test_what_cannot_be_estimated_is_refused(counts: Any, options: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ParameterError, match=sentence):
        estimate(counts, make_channel("geometric", 3, 1.0), **options)
