"""The points of a pair of measures: who is shown where, and what stands beside them."""

from __future__ import annotations

from typing import Any

import pytest

from sfumato.errors import ParameterError
from sfumato.report.frontier.points import (
    axes,
    check_pair,
    extent,
    format_parameters,
    main_measures,
    marks_within,
    pair_rows,
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
    assert about["p_loss"]["title"] == "Worst-case belief shift (nats), lower is better"
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
    assert [(mark["value"], mark["late"]) for mark in marks_within(scale, 0.1, 0.8)] == [(0.2, False), (0.6, True)]


def test_an_axis_holds_points_and_intervals_and_is_never_empty() -> None:
    row = {"x": 1.0, "x_low": 0.5, "x_high": None}
    assert extent([row], "x") == (0.5, 1.0)
    assert extent([row | {"x_low": None}], "x") == (0.5, 1.5)
    assert extent([], "x") == (-0.5, 0.5)


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
