"""The points of a pair of measures: who is shown where, and what stands beside them."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest

from sfumato.errors import ParameterError
from sfumato.report.frontier.points import (
    MARGIN,
    axes,
    check_pair,
    extent,
    format_parameters,
    log_scale,
    main_measures,
    pair_rows,
    reference_marks,
    share_of,
    trial_rows,
)

from .document import typed


def by_id(rows: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    return {row["id"]: row for row in rows}


def test_trials_without_a_value_are_left_out(document: dict[str, Any]) -> None:
    shown = by_id(pair_rows(typed(document), "p_loss", "u_loss"))
    assert set(by_id(trial_rows(typed(document)))) - set(shown) == {"mondrian-k=50"}
    assert set(by_id(trial_rows(typed(document)))) - set(by_id(pair_rows(typed(document), "breach", "accuracy"))) == {
        "mondrian-k=20"
    }


def test_efficiency_is_taken_from_the_document_and_never_worked_out(document: dict[str, Any]) -> None:
    document["efficient"]["p_loss|u_loss"] = ["mondrian-k=5"]
    rows = pair_rows(typed(document), "p_loss", "u_loss")
    assert [row["id"] for row in rows if row["efficient"]] == ["mondrian-k=5"]
    del document["efficient"]["p_loss|u_loss"]
    assert not any(row["efficient"] for row in pair_rows(typed(document), "p_loss", "u_loss"))


def test_intervals_belong_to_the_axis_of_their_measure(document: dict[str, Any]) -> None:
    row = by_id(pair_rows(typed(document), "p_loss", "accuracy"))["kd-tree-1"]
    low, high = document["trials"][2]["intervals"]["p_loss"]
    assert (row["x_low"], row["x_high"], row["y_low"], row["y_high"]) == (low, high, None, None)
    assert row["text"]["p_loss"] == "0.142 (0.121 to 0.171)"
    assert row["text"]["accuracy"] == "61.6%"


def test_the_recommended_trial_and_the_ends_are_told_apart(document: dict[str, Any]) -> None:
    rows = trial_rows(typed(document))
    assert [row["id"] for row in rows if row["recommended"]] == ["mondrian-t=0.15,-bucketized"]
    assert [row["label"] for row in rows if row["endpoint"]] == ["Original table", "Everything suppressed"]
    assert by_id(rows)["mondrian-t=0.15,-bucketized"]["note"] == "Recommended:\nMondrian t=0.15,\nbucketized"
    document["recommendation"] = None
    assert not any(row["recommended"] for row in trial_rows(typed(document)))


def test_axis_titles_say_the_unit_and_the_better_direction(document: dict[str, Any]) -> None:
    about = axes(typed(document))
    assert about["p_loss"]["title"] == "Worst-case belief shift (of at most 0.693), lower is better"
    assert about["empirical_privacy"]["title"] == "Empirical privacy (% of people), higher is better"
    assert (about["p_loss"]["lower"], about["empirical_privacy"]["lower"]) == (True, False)


def test_a_scale_that_only_repeats_the_end_points_is_not_drawn(document: dict[str, Any]) -> None:
    assert [mark["value"] for mark in axes(typed(document))["p_loss"]["scale"]] == [0.0, 0.16, 0.68]
    assert axes(typed(document))["u_loss"]["scale"] == []
    document["measures"] = document["measures"] | {
        "u_loss": document["measures"]["u_loss"]
        | {"scale": [{"value": 0.0, "text": "a"}, {"value": 0.02, "text": "b"}]}
    }
    assert len(axes(typed(document))["u_loss"]["scale"]) == 2


def test_reference_values_off_the_axis_are_left_out() -> None:
    scale = [{"value": value, "text": "x"} for value in (0.0, 0.2, 0.6, 0.9)]
    axis = {"scale": scale, "domain": (0.1, 0.8), "constant": 0.01}
    assert [(mark["value"], mark["late"]) for mark in reference_marks(axis, log=False)] == [(0.2, False), (0.6, True)]
    late = {mark["value"]: mark["late"] for mark in reference_marks(axis | {"domain": (0.0, 0.8)}, log=True)}
    assert late == {0.0: False, 0.2: True, 0.6: True}


def test_an_axis_holds_points_and_intervals_and_is_never_empty(document: dict[str, Any]) -> None:
    trial = replace(typed(document).trials[2], measures={"x": 1.0}, intervals={"x": (0.5, 1.0)})
    low, high = extent([trial], "x", [trial])
    assert (low, high) == pytest.approx((0.5 - MARGIN / 2, 1.0 + MARGIN / 2))
    assert extent([trial], "x") == (0.5, 1.5)
    assert extent([], "x") == (0.0, 0.5)
    from_zero = [replace(trial, measures={"x": value}, intervals={}) for value in (0.0, 2.0)]
    assert extent(from_zero, "x") == pytest.approx((0.0, 2.0 + 2 * MARGIN))


def test_an_interval_that_leaves_the_axis_ends_with_it(document: dict[str, Any]) -> None:
    document["trials"][2]["intervals"]["p_loss"] = [0.1, 5.0]
    highest = axes(typed(document))["p_loss"]["domain"][1]
    row = by_id(pair_rows(typed(document), "p_loss", "u_loss"))["kd-tree-1"]
    assert highest < 1
    assert (row["x_low"], row["x_high"]) == (0.1, highest)


def test_what_decides_takes_the_place_of_other_reference_values(document: dict[str, Any]) -> None:
    floor = {"audience": "public", "measure": "p_loss", "most": 0.1, "sentence": ""}
    document["recommendation"]["floor"] = floor
    about = axes(typed(document))
    assert about["p_loss"]["scale"] == [{"value": 0.1, "text": "the most that may be disclosed (public)"}]
    assert about["query_error"]["scale"] == [{"value": 0.3, "text": "of use up to here"}]


def test_where_a_bound_decides_its_surroundings_have_room() -> None:
    """Of values up to 1.2, those around 0.3 are what matters, however many lie above."""
    values = [0.0, 0.2, 0.5, 0.7, 0.8, 0.9, 1.0, 1.2]
    assert not log_scale(values)["skewed"]
    near = log_scale(values, 0.3)
    assert near["skewed"]
    assert not log_scale(values, 0.5)["skewed"]
    assert log_scale([0.0, 0.001, 1.0], 0.1)["constant"] == pytest.approx(0.01)


def test_a_log_scale_is_chosen_where_most_values_are_small() -> None:
    assert log_scale([0.0, 0.01, 0.02, 0.2, 1.0])["skewed"]
    assert not log_scale([0.0, 0.2, 0.5, 0.7, 1.0])["skewed"]
    assert not log_scale([-0.1, 0.001, 0.002, 1.0])["skewed"]
    assert log_scale([0.0, 0.0])["ticks"] == [0.0]
    assert log_scale([0.0, 0.1, 1.0])["ticks"] == pytest.approx([0.0, 0.1, 0.2, 0.5, 1.0])
    assert log_scale([1e-9, 1.0])["constant"] == pytest.approx(1e-3)


def test_shares_run_from_end_to_end_on_either_scale() -> None:
    axis = {"domain": (0.0, 1.0), "constant": 0.1}
    assert [share_of(axis, value, log=False) for value in (0.0, 0.25, 1.0)] == [0.0, 0.25, 1.0]
    assert [share_of(axis, value, log=True) for value in (0.0, 1.0)] == [0.0, 1.0]
    assert share_of(axis, 0.25, log=True) == pytest.approx(math.log(3.5) / math.log(11))


def test_a_curve_is_one_series_in_one_recoding_in_the_order_of_its_settings(document: dict[str, Any]) -> None:
    rows = trial_rows(typed(document))
    curves = {row["curve"] for row in rows if row["series"] == "k-anonymity"}
    assert curves == {"k-anonymity, generalized", "k-anonymity, bucketized"}
    assert {row["curve"] for row in rows if row["series"] == "differential privacy"} == {"differential privacy"}
    for curve in curves:
        steps = [row["step"] for row in rows if row["curve"] == curve]
        assert steps == list(range(1, len(steps) + 1))


def test_main_measures_are_the_pair_and_what_the_recommendation_cites(document: dict[str, Any]) -> None:
    assert main_measures(typed(document)) == [
        "p_loss",
        "mean_p_loss",
        "breach",
        "empirical_privacy",
        "u_loss",
        "query_error",
    ]
    document["recommendation"]["figures"] = [
        {"measure": name, "value": 1, "verdict": "good", "sentence": ""} for name in document["measures"]
    ]
    assert main_measures(typed(document)) == list(document["measures"])


def test_parameters_are_written_as_they_are_said() -> None:
    assert format_parameters({"k": 10, "recoding": "bucketize", "deep": [1, "a"], "exact": True}) == (
        'k = 10, recoding = bucketize, deep = [1, "a"], exact = true'
    )
    assert format_parameters({}) == "none"


def test_unknown_measures_are_refused(document: dict[str, Any]) -> None:
    with pytest.raises(
        ParameterError, match="'u_loss' is not a privacy measure of this frontier; expected one of p_loss"
    ):
        check_pair(typed(document), "u_loss", "p_loss")
    check_pair(typed(document), "p_loss", "u_loss")
