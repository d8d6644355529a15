"""A small audit in every test run: exact laws, no transcript that reveals more than it paid, every broken twin caught.

`make audit` does the same at length. All seeds are fixed here, so that nothing fails by chance.
"""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
import pytest
from audit.cases import CASES, EPSILON, PAIRS, Case, large_domains, quick, thorough_settings
from audit.empirical import at_least, at_most, concentrated_epsilon, lower_bound, ratios
from audit.enumeration import largest_selection_ratio, shapes, winning
from audit.exact import differences, examine, examine_pair, recorded
from audit.laws import Counts, Decisions, GaussianCounts, Selection, SparseCounts, log_below, log_winning
from audit.meddling import Twin
from audit.neighbours import Pair, schema_of, table_of
from audit.transcript import AuditedBudget
from audit.twins import TWINS, Quieter
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest

from sfumato.mechanisms.noise import SimulatedSource
from sfumato.methods import METHODS, DPMethod, KDTree, PrivTree, QuadTree
from sfumato.privacy.loss import Pure
from strategies import TableCase, tables

if TYPE_CHECKING:
    from audit.neighbours import Row

LN2 = math.log(2)


def laplace(x: int, epsilon: float) -> float:
    alpha = math.exp(-epsilon)
    return (1 - alpha) / (1 + alpha) * alpha ** abs(x)


@pytest.mark.parametrize("bound", range(-5, 6))
def test_the_tail_of_laplace_noise_is_its_sum(bound: int) -> None:
    below = sum(laplace(x, 0.3) for x in range(-400, bound))
    assert log_below(bound, 0.3) == pytest.approx(math.log(below), rel=1e-9)


def test_laws_of_counts_are_ratios_of_their_probabilities() -> None:
    one = Counts(np.array([[3, 1], [0, 5]]), np.array([0.2, 0.7]))
    other = Counts(np.array([[3, 2], [0, 5]]), np.array([0.2, 0.7]))
    for answer in ([[0, 0], [9, 9]], [[3, 2], [1, 1]], [[5, 5], [5, 5]]):
        noisy = np.array(answer)
        expected = math.log(laplace(noisy[0, 1] - 1, 0.2) / laplace(noisy[0, 1] - 2, 0.2))
        assert one.log_ratio(other, noisy) == pytest.approx(expected)
    assert one.distance(other) == pytest.approx(0.2)
    assert one.touched(other).tolist() == [True, False]
    rho = GaussianCounts(np.array([4]), np.array([1 / 18])), GaussianCounts(np.array([5]), np.array([1 / 18]))
    density = [math.exp(-((7 - exact) ** 2) / (2 * 9)) for exact in (4, 5)]
    assert rho[0].log_ratio(rho[1], np.array([7])) == pytest.approx(math.log(density[0] / density[1]))
    assert rho[0].distance(rho[1]) == pytest.approx(1 / (2 * 9))


@given(st.lists(st.integers(-6, 6), min_size=1, max_size=5))
def test_the_law_of_selection_is_that_of_enumeration(scores: list[int]) -> None:
    exact = winning(scores, Fraction(1, 2))
    assert sum(exact) == 1
    assert np.allclose(np.exp(log_winning(tuple(scores), LN2)), [float(share) for share in exact], rtol=1e-12, atol=0)


def test_the_law_of_selection_keeps_its_digits_with_many_candidates() -> None:
    scores = tuple((7 * i) % 50 for i in range(200))
    for epsilon in (1e-4, 0.05, 3.0):
        logs = log_winning(scores, epsilon)
        assert math.fsum(np.exp(logs)) == pytest.approx(1, abs=1e-12)
        equal = log_winning((4,) * 200, epsilon)
        assert equal[0] == pytest.approx(max(equal))
        assert equal[0] - equal[-1] == pytest.approx(epsilon)


def test_selections_are_counted_where_they_differ() -> None:
    starts = np.array([0, 2])
    one, other = (Selection(np.array(scores), starts, LN2) for scores in ([1, 1, 0, 4], [1, 2, 0, 4]))
    assert one.touched(other).tolist() == [True, False]
    assert one.distance(other) == pytest.approx(LN2)
    assert one.log_ratio(other, np.array([0, 3])) == pytest.approx(LN2)
    assert one.log_ratio(other, np.array([1, 2])) == pytest.approx(-LN2)


def test_laws_of_sparse_counts_are_those_of_all_cells() -> None:
    threshold, epsilon = 2, 0.6
    one = SparseCounts(np.array([1, 3]), np.array([2, 1]), threshold, epsilon)
    other = SparseCounts(np.array([1, 2, 3]), np.array([2, 1, 1]), threshold, epsilon)

    def log_probability(counts: list[int], told: dict[int, int]) -> float:
        return sum(
            math.log(laplace(told[cell] - count, epsilon))
            if cell in told
            else math.log(sum(laplace(x, epsilon) for x in range(-200, threshold - count)))
            for cell, count in enumerate(counts)
        )

    for told in ({}, {2: 2}, {0: 5, 2: 4, 3: 2}, {1: 3}):
        answer = np.array(list(told), dtype=np.int64), np.array(list(told.values()), dtype=np.int64)
        expected = log_probability([0, 2, 0, 1], told) - log_probability([0, 2, 1, 1], told)
        assert one.log_ratio(other, answer) == pytest.approx(expected)
    assert one.distance(other) == pytest.approx(epsilon)


def test_decisions_have_probabilities() -> None:
    law = Decisions(np.array([3, -1]), 0, 0.4)
    total = sum(
        math.exp(law.log_probabilities(np.array(answer)).sum()) for answer in itertools.product((False, True), repeat=2)
    )
    assert total == pytest.approx(1)
    above = sum(laplace(x, 0.4) for x in range(-2, 300))
    assert math.exp(law.log_probabilities(np.array([True, True]))[0]) == pytest.approx(above)


def test_every_method_is_audited() -> None:
    registered = {name for name, kind in METHODS.items() if issubclass(kind, DPMethod)}
    assert registered <= {case.method.name for case in CASES}
    assert registered <= {method.name for method in thorough_settings(1.0)}
    assert all(case.method.epsilon == EPSILON for case in CASES)


@pytest.mark.parametrize("number", range(len(thorough_settings(1.0))))
def test_no_transcript_reveals_more_than_it_paid_for(number: int) -> None:
    method = thorough_settings(1.0)[number]
    with quick():
        for name, pair in PAIRS.items():
            for finding in examine_pair(method, pair, SimulatedSource(number), 2):
                assert finding.faults == (), name
                assert abs(finding.log_ratio) <= method.epsilon + 1e-9 or not isinstance(method.total, Pure)


@pytest.mark.parametrize("number", [i for i, m in enumerate(thorough_settings(3.0)) if m.name in ("dpcube", "diffgen")])
def test_sparse_counts_reveal_no_more_than_they_paid_for(number: int) -> None:
    method = thorough_settings(3.0)[number]
    with large_domains():
        transcript, _ = recorded(method, PAIRS["wide axis"].without, SimulatedSource(1))
        assert "sparse counts" in [entry.question[0] for entry in transcript.entries]
        for pair in PAIRS.values():
            for finding in examine_pair(method, pair, SimulatedSource(number), 2):
                assert finding.faults == ()


@pytest.mark.parametrize("number", range(len(thorough_settings(1.0))))
@settings(max_examples=6)
@given(case=tables(most_rows=14, most_quasi=3, most=6), data=st.data())
def test_no_random_neighbour_is_told_apart(number: int, case: TableCase, data: st.DataObject) -> None:
    method = thorough_settings(data.draw(st.sampled_from([0.2, 1.0, 4.0])))[number]
    rows: list[Row] = list(case.rows)
    more = data.draw(st.tuples(*(st.sampled_from(axis.codes) for axis in case.case.axes)))
    pair = Pair(case.case.schema, tuple(rows), more)
    with quick():
        for finding in examine_pair(method, pair, SimulatedSource(data.draw(st.integers(0, 99))), 1):
            assert finding.faults == ()


def test_tables_of_codes_are_those_that_files_give() -> None:
    schema = schema_of(3, x=(4, True), t=["a", "b"])
    rows = [(0, 1, 2), (-1, 0, 0), (0, 1, 2), (3, -0, 1)]
    table = table_of(schema, rows)
    assert table.n == 4
    assert table.points.tolist() == [[-1, 0], [0, 1], [3, 0]]
    assert table.weights.tolist() == [1, 2, 1]
    assert table.histograms.tolist() == [[1, 0, 0], [0, 0, 2], [0, 1, 0]]
    assert table_of(schema, []).n == 0


def test_a_release_that_differs_is_noticed() -> None:
    pair = Pair(schema_of(x=4), ((1, 0),), (2, 1))
    one, other = (recorded(QuadTree(epsilon=1.0, height=1), pair.without, SimulatedSource(seed))[1] for seed in (1, 2))
    assert differences(one, one) == []
    assert {"weights", "histograms"} <= set(differences(one, other))
    deeper = recorded(QuadTree(epsilon=1.0, height=2), pair.without, SimulatedSource(1))[1]
    assert {"boxes", "provenance"} <= set(differences(one, deeper))


@pytest.mark.parametrize("twin", TWINS, ids=lambda twin: twin.fault)
def test_broken_twins_are_caught(twin: Twin) -> None:
    source = SimulatedSource(11)
    with quick(), twin.replaced():
        findings = examine_pair(twin.case.method, twin.case.pair, source, 200, twin.kind)
        assert any(finding.faults for finding in findings)


def test_two_paths_that_depend_on_one_row_are_noticed() -> None:
    class CountedTwice(AuditedBudget):
        """Every part of a level is given the counts of all."""

        def counts(self, exact, cost):  # type: ignore[no-untyped-def]
            return super().counts(np.broadcast_to(exact.sum(axis=0), exact.shape), cost)

    pair = Pair(schema_of(x=4), ((0, 0),), (3, 1))
    finding = examine(QuadTree(epsilon=1.0, height=1), pair.without, pair.added, SimulatedSource(1), CountedTwice)
    assert "counts of 2 paths depend on one row" in finding.faults


@pytest.mark.parametrize("name", ["dpcube", "diffgen (max)"])
def test_an_empirical_bound_lies_between_a_third_of_the_claim_and_the_claim(name: str) -> None:
    case = next(case for case in CASES if case.name == name)
    found = lower_bound(ratios(case, 800, SimulatedSource(3)), 1e-3)
    assert 1 / 3 < found.epsilon <= 1
    assert found.runs == 600


def test_less_noise_than_promised_is_seen() -> None:
    case = Case(QuadTree(epsilon=1.0, height=0), Pair(schema_of(x=2), ((0, 0),), (1, 1)))
    found = lower_bound(ratios(case, 2_000, SimulatedSource(4), Quieter), 1e-3)
    exact = list(examine_pair(case.method, case.pair, SimulatedSource(4), 20, Quieter))
    assert found.epsilon > 1
    assert not any(finding.faults for finding in exact), "only the runs themselves can show this"


def test_a_leak_outside_the_transcript_is_seen_in_runs_too() -> None:
    twin = next(twin for twin in TWINS if twin.fault == "height from the exact number of rows")
    found = lower_bound(ratios(twin.case, 200, SimulatedSource(5), twin.kind), 1e-3)
    assert found.epsilon > 1
    assert math.isinf(found.threshold)


def test_bounds_are_those_of_clopper_and_pearson() -> None:
    for hits, runs in ((0, 50), (7, 50), (50, 50), (499, 1_000)):
        interval = binomtest(hits, runs).proportion_ci(0.998, method="exact")
        assert at_least(hits, runs, 1e-3) == pytest.approx(interval.low)
        assert at_most(hits, runs, 1e-3) == pytest.approx(interval.high)


def test_bounds_from_runs_are_seldom_too_large() -> None:
    """Randomized response at ε = 1: 400 bounds that may each be too large with probability 0.02, so 8 are expected;
    more than 25 have a probability below 1e-6. The bounds of a response at ε = 1.5 mostly are above 1."""
    generator = np.random.default_rng(8)

    def too_large(epsilon: float) -> int:
        honest = 1 / (1 + math.exp(-epsilon))
        answers = generator.random((400, 2, 1_000)) < np.array([1 - honest, honest])[None, :, None]
        return sum(lower_bound(np.where(answer, 1.0, -1.0), 0.02).epsilon > 1 for answer in answers)

    assert too_large(1.0) <= 25
    assert too_large(1.5) > 300


def test_concentrated_bounds_use_the_difference_of_probabilities() -> None:
    rule = concentrated_epsilon(1e-3)
    rho = 2 * 0.1**2
    assert rule(0.4, 0.3) == pytest.approx(rho + 2 * math.sqrt(rho * math.log(1e3)))
    assert rule(0.3, 0.4) == 0


@pytest.mark.parametrize(("steps", "expected"), [((0, 1), 2), ((0, -1), 2), ((-1, 0, 1), 4), ((0, 2), 4)])
def test_the_largest_ratio_of_selections_is_what_is_charged(steps: tuple[int, ...], expected: int) -> None:
    """e^ε for scores that move one way by at most 1, and reached; e^2ε otherwise."""
    assert largest_selection_ratio(3, 3, Fraction(1, 2), steps) == expected


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 4.0])
@pytest.mark.parametrize("rows", [0, 1, 4])
def test_all_shapes_of_a_small_privtree_keep_the_charge(epsilon: float, rows: int) -> None:
    pair = Pair(schema_of(x=4), ((2, 0),) * rows, (2, 1))
    with quick():
        found = np.array(list(shapes(PrivTree(epsilon=epsilon), pair)))
    assert np.exp(found).sum(axis=0) == pytest.approx([1, 1])
    assert 0.4 * epsilon / 2 < np.abs(found[:, 0] - found[:, 1]).max() <= epsilon / 2


def test_a_tree_that_makes_no_decisions_has_no_shapes() -> None:
    with pytest.raises(TypeError, match="apart cannot be dictated, only decisions"):
        list(shapes(KDTree(epsilon=1.0, height=1, spread="even"), Pair(schema_of(x=4), (), (2, 1))))


def test_cases_are_named_once() -> None:
    assert len({case.name for case in CASES}) == len(CASES)
    assert all(isinstance(case, Case) for case in CASES)
