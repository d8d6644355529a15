"""The document: the keys that the report reads, and JSON that any program can read."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from datetime import datetime
from typing import Any

import pytest

import sfumato
from brute_force import small_table
from sfumato.measures.attacks.belief import revealed_shift
from sfumato.measures.attacks.sampled_risk import SampledRisk
from sfumato.measures.measure import MEASURES
from sfumato.methods import Anatomy, Mondrian
from sfumato.trials.document import to_json
from sfumato.trials.frontier import Frontier, frontier, frontier_document

TOP = {
    "format",
    "sfumato",
    "created",
    "table",
    "pilot",
    "measures",
    "default_pair",
    "trials",
    "previews",
    "sample",
    "refused",
    "efficient",
    "recommendation",
}
TABLE = {"name", "rows", "quasi", "sensitive", "sensitive_shares", "unique_share", "from_data"}
MEASURE = {"title", "direction", "unit", "family", "sentence", "range", "scale"}
TRIAL = {
    "id",
    "method",
    "label",
    "series",
    "recoding",
    "parameters",
    "claim",
    "endpoint",
    "measures",
    "intervals",
    "seconds",
    "eligible",
    "command",
}
RECOMMENDATION = {
    *("status", "trial", "claim", "rule", "constraints", "why", "recipient", "adversary", "figures"),
    *("floor", "use", "candidates", "advice"),
}
FIGURE = {"measure", "value", "verdict", "sentence"}

SURVEYED = tuple(measure.name for measure in SampledRisk.measures)
"""Measures of tables with survey weights alone."""


@pytest.fixture(scope="module")
def front() -> Frontier:
    settings = [Mondrian(k=3), Mondrian(k=10), Mondrian(k=3, recoding="bucketize"), Anatomy(l=2), Anatomy(l=5)]
    return frontier(small_table(), settings, workers=1)


@pytest.fixture(scope="module")
def written(front: Frontier) -> dict[str, Any]:
    """As it comes back from a file of strict JSON."""
    return json.loads(to_json(frontier_document(front, front.recommend(max_p_loss=0.5))))


def test_the_document_has_the_agreed_keys(written: dict[str, Any]) -> None:
    assert set(written) == TOP
    assert set(written["table"]) == TABLE
    assert set(written["measures"]) == set(MEASURES)
    assert all(set(entry) == MEASURE for entry in written["measures"].values())
    assert all(set(entry) == TRIAL for entry in written["trials"])
    assert all(set(entry) == {"label", "reason"} for entry in written["refused"])
    assert set(written["recommendation"]) == RECOMMENDATION
    assert all(set(entry) == FIGURE for entry in written["recommendation"]["figures"])
    assert (written["format"], written["sfumato"]) == (1, sfumato.__version__)
    assert datetime.fromisoformat(written["created"]).tzinfo is not None


def test_the_table_is_described(front: Frontier, written: dict[str, Any]) -> None:
    table = written["table"]
    assert (table["name"], table["rows"]) == ("small", 90)
    assert table["quasi"] == ["age", "sex", "region"]
    assert table["sensitive"] == "illness"
    assert [label for label, _ in table["sensitive_shares"]] == list("abcde")
    assert sum(share for _, share in table["sensitive_shares"]) == pytest.approx(1)
    points = [tuple(point) for point in front.table.points.repeat(front.table.weights, axis=0).tolist()]
    alone = sum(points.count(point) == 1 for point in points)
    assert table["unique_share"] == pytest.approx(alone / 90)
    assert table["from_data"] == {}


def test_every_trial_is_there_with_its_values(front: Frontier, written: dict[str, Any]) -> None:
    assert [entry["id"] for entry in written["trials"]] == [trial.id for trial in front.trials]
    for entry, trial in zip(written["trials"], front.trials, strict=True):
        assert entry["measures"] == trial.measures
        assert entry["label"] == trial.method.label
        assert entry["claim"] == trial.method.claim.sentence()
        assert entry["endpoint"] == (trial.method.name in ("original", "suppression"))
        assert bool(entry["intervals"]) == trial.method.randomized
    recodings = {entry["label"]: entry["recoding"] for entry in written["trials"]}
    assert recodings == {
        "Original table": None,
        "Full suppression": None,
        "Mondrian k=3": "generalize",
        "Mondrian k=10": "generalize",
        "Mondrian k=3 (bucketized)": "bucketize",
        "Anatomy l=2": "bucketize",
    }
    assert [entry["label"] for entry in written["refused"]] == ["Anatomy l=5"]
    assert "5-diverse" in written["refused"][0]["reason"]


def test_every_pair_of_measures_has_its_frontier(front: Frontier, written: dict[str, Any]) -> None:
    families = {
        family: [name for name, entry in MEASURES.items() if entry.family == family and entry.direction != "none"]
        for family in ("privacy", "utility")
    }
    assert set(written["efficient"]) == {f"{p}|{u}" for p in families["privacy"] for u in families["utility"]}
    assert "|".join(written["default_pair"]) in written["efficient"]
    fit = {"original:", "suppression:", "mondrian:k=3", "mondrian:k=10"}
    rivals = replace(front, trials=tuple(trial for trial in front.trials if trial.id in fit))
    for pair, efficient in written["efficient"].items():
        assert efficient == rivals.efficient(*pair.split("|"))
        assert efficient or pair.startswith(("definetti", *SURVEYED)), "buckets or surveys alone have these"


def test_what_shows_who_is_in_the_table_is_not_eligible_unless_allowed(front: Frontier) -> None:
    def eligible(**more: Any) -> list[str]:
        entries = frontier_document(front, front.recommend(max_p_loss=0.5, **more)).trials
        return [entry.label for entry in entries if entry.eligible]

    hiding = ["Mondrian k=3", "Mondrian k=10"]
    assert eligible() == hiding
    assert eligible(allow_exact=True) == [*hiding, "Anatomy l=2"], "a size of buckets promises nothing"


def test_scales_give_values_to_hold_on_to(front: Frontier, written: dict[str, Any]) -> None:
    overall = front.table.overall
    costs = revealed_shift(overall)[overall > 0]
    values = [mark["value"] for mark in written["measures"]["p_loss"]["scale"]]
    assert values == pytest.approx([0, costs.min(), costs.max()])
    assert written["measures"]["u_loss"]["scale"] == [
        {"value": front.references.suppressed["u_loss"], "text": "everything suppressed"},
        {"value": front.references.original["u_loss"], "text": "the original table"},
    ]
    assert written["measures"]["p_loss"]["range"] == [0, pytest.approx(math.log(2))]
    assert written["measures"]["discernibility"]["range"] == [0, None]


def test_a_value_that_is_no_number_is_null(front: Frontier) -> None:
    """Also where it is an end point's, or has an interval."""
    original, *others = front.trials
    measures = original.measures | {"query_error": math.nan, "u_loss": math.inf}
    odd = replace(original, measures=measures, intervals={"query_error": (math.nan, math.nan)})
    written = json.loads(to_json(frontier_document(replace(front, trials=(odd, *others)), None)))
    assert written["recommendation"] is None
    assert written["trials"][0]["measures"]["query_error"] is None
    assert written["trials"][0]["measures"]["u_loss"] is None
    assert [mark["text"] for mark in written["measures"]["u_loss"]["scale"]] == ["everything suppressed"]


def test_a_limit_that_limits_nothing_is_valid_json(front: Frontier) -> None:
    document = frontier_document(front, front.recommend(max_p_loss=math.inf))
    assert json.loads(to_json(document))["recommendation"]
