"""All risks together: what leaks shows, what does not leak does not, and what says nothing is not there."""

from __future__ import annotations

import numpy as np
import pytest

from brute_force import small_table
from sfumato.errors import DataError
from sfumato.measures.attacks.risks import CONTROLLED, RISKS, measure_risks, risks_of_method
from sfumato.measures.workloads.holdout import hold_out, split
from sfumato.methods import FullSuppression, Mondrian, Original, PrivBayes


def test_every_risk_has_a_name_and_a_meaning() -> None:
    assert list(RISKS) == ["singling_out", "singling_out_by_one", "linkability", "inference", "membership"]
    for attack in CONTROLLED:
        assert attack.measure.family == "privacy"
        assert attack.measure.direction == "lower"
        assert attack.measure.sentence


def test_a_copy_shows_everything_and_its_control_group_nothing() -> None:
    training, control = hold_out(small_table(500), 0.5)
    copied = measure_risks(training, Original().publish(training), control)
    assert {name for name, risk in copied.items() if risk.shows} >= {
        "singling_out", "linkability", "inference", "membership"
    }  # fmt: skip
    swapped = measure_risks(training, Original().publish(control), control)
    assert not any(risk.shows for risk in swapped.values())
    assert repr(copied).startswith("singling_out: +")
    assert "not" not in copied._repr_html_()


def test_a_release_of_others_shows_nothing() -> None:
    """Five risks of twelve releases: each shows by chance with 2.5%, more than 6 of 60 with less than 2e-3."""
    shown = 0
    for seed in range(1, 13):
        rest, published = split(small_table(450, seed), 3, seed)[0]
        training, control = hold_out(rest, 0.5, seed)
        found = measure_risks(training, Original().publish(published), control)
        shown += sum(risk.shows for risk in found.values())
    assert shown <= 6


def test_noise_hides_what_a_copy_shows() -> None:
    table = small_table(500)
    private = risks_of_method(table, PrivBayes(epsilon=0.5), seed=2)
    assert not any(risk.shows for risk in private.values())
    assert risks_of_method(table, Mondrian(k=2))["membership"].shows


def test_suppression_is_no_good_value_but_none() -> None:
    assert not risks_of_method(small_table(200), FullSuppression())
    spec = risks_of_method(small_table(200), FullSuppression()).spec()
    assert set(spec) == set(RISKS)
    assert not any(spec.values())


def test_the_same_seed_gives_the_same_figures() -> None:
    table, method = small_table(300), PrivBayes(epsilon=5)
    assert risks_of_method(table, method, seed=3) == risks_of_method(table, method, seed=3)


def test_tables_that_cannot_be_compared_are_refused() -> None:
    training, control = hold_out(small_table(60), 0.5)
    release = Original().publish(training)
    with pytest.raises(DataError, match="no rows"):
        measure_risks(training, release, control.reweight(np.zeros_like(control.cell_weight)))
