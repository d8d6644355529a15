"""Where more is tried: between settings that the floor separates, and again where chance may decide."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato.trials.runner as runner
import sfumato.trials.search as search
from brute_force import small_table
from sfumato.measures.measure import MEASURES
from sfumato.methods import Anatomy, DPCube, Method, Mondrian, PrivBayes
from sfumato.trials.audience import FLOORS
from sfumato.trials.choice import Standard, candidates
from sfumato.trials.frontier import frontier
from sfumato.trials.refinement import between, finer_settings, undecided, unsettled
from sfumato.trials.repetition import student_interval, summarize_values
from sfumato.trials.search import Search
from sfumato.trials.store import TrialStore
from sfumato.trials.trial import SEEDS, Trial

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

TABLE = small_table()
STANDARD = Standard(floor=FLOORS["public"])


def trial(method: Method, *runs: tuple[float, float]) -> Trial:
    """A trial with these values of disclosure and error in its runs."""
    usual = dict.fromkeys(MEASURES, 0.0)
    values = tuple(usual | {"disclosure_added": risk, "query_error": error} for risk, error in runs)
    measures, intervals = summarize_values(values)
    return Trial(method=method, measures=measures, intervals=intervals, runs=values if method.randomized else ())


@pytest.mark.parametrize(
    ("first", "second", "middle"),
    [
        (Mondrian(k=10), Mondrian(k=50), Mondrian(k=22)),
        (Mondrian(k=3), Mondrian(k=2), None),
        (Mondrian(k=2), Mondrian(k=4), Mondrian(k=3)),
        (Mondrian(k=5, l=2), Mondrian(k=5, l=3), Mondrian(k=5, l=2.4)),
        (Mondrian(k=5, t=0.1), Mondrian(k=10, t=0.2), None),
        (Mondrian(k=5), Mondrian(k=5, l=2), None),
        (Mondrian(k=5), Mondrian(k=5, recoding="bucketize"), None),
        (PrivBayes(epsilon=1), PrivBayes(epsilon=3), PrivBayes(epsilon=1.7)),
        (PrivBayes(epsilon=1), DPCube(epsilon=3), None),
    ],
)
def test_the_setting_between_two(first: Method, second: Method, middle: Method | None) -> None:
    assert between(first, second) == between(second, first) == middle


def test_more_is_tried_only_where_the_floor_is_crossed_and_it_can_win() -> None:
    crossing = [trial(Mondrian(k=10), (0.3, 0.05)), trial(Mondrian(k=50), (0.05, 0.2))]
    safe = [trial(PrivBayes(epsilon=e), *[(0.0, 0.25)] * 3) for e in (1, 3)]
    assert finer_settings([*crossing, *safe], STANDARD, 5) == [Mondrian(k=22)]
    better = trial(DPCube(epsilon=1), *[(0.0, 0.04)] * 3)
    assert finer_settings([*crossing, better], STANDARD, 5) == []
    exact = [trial(replace(one.method, recoding="bucketize"), (0.3, 0.01)) for one in crossing]
    assert finer_settings(exact, STANDARD, 5) == []


def test_only_what_could_still_win_is_repeated() -> None:
    leader = trial(PrivBayes(epsilon=1), (0.0, 0.1), (0.0, 0.12), (0.0, 0.11))
    close = trial(PrivBayes(epsilon=3), (0.0, 0.05), (0.0, 0.2), (0.0, 0.1))
    hopeless = trial(DPCube(epsilon=1), (0.0, 0.5), (0.0, 0.51), (0.0, 0.52))
    unsafe = trial(DPCube(epsilon=3), (0.5, 0.05), (0.51, 0.05), (0.52, 0.05))
    fixed = trial(Mondrian(k=5), (0.0, 0.2))
    everything = [leader, close, hopeless, unsafe, fixed]
    assert undecided(everything, STANDARD, 9) == [leader, close]
    assert undecided([leader, hopeless, unsafe, fixed], STANDARD, 9) == []
    assert undecided(everything, STANDARD, 1) == [leader]


@given(st.lists(st.floats(0, 1), min_size=len(SEEDS), max_size=len(SEEDS)))
def test_the_pessimistic_end_over_all_seeds_is_no_better_than_any_run(values: list[float]) -> None:
    low, high = student_interval(values)
    assert low <= min(values) + 1e-12
    assert high >= max(values) - 1e-12


def test_over_many_runs_a_single_one_may_lie_outside() -> None:
    """So one run rules out nothing but a first set of seeds."""
    assert student_interval([0.0, 0.0, 0.0, 0.0, 0.0, 0.6])[1] < 0.6


FIGURES = st.tuples(st.floats(0, 0.2), st.floats(0, 0.6), st.floats(0, 0.05))


@given(st.lists(FIGURES, min_size=1, max_size=12), st.integers(0, 2**32 - 1))
def test_what_is_not_repeated_would_not_have_been_chosen(figures: list[tuple[float, float, float]], seed: int) -> None:
    """Candidates are those that three runs of every setting would give."""
    generator = np.random.default_rng(seed)
    whole = [
        trial(
            PrivBayes(epsilon=1 + place), *zip(*(abs(generator.normal(mean, spread, 3)) for mean in both), strict=True)
        )
        for place, (*both, spread) in enumerate(figures)
    ]
    known = {one.id: one.first(1) for one in whole}
    while promising := unsettled(list(known.values()), STANDARD, 2):
        known |= {one.id: one for one in whole if one.id in {each.id for each in promising}}
    expected = candidates([one for one in whole if STANDARD.is_fit(one)], STANDARD)
    assert candidates([one for one in known.values() if STANDARD.is_fit(one)], STANDARD) == expected


def test_what_breaks_the_floor_or_is_beaten_is_run_once() -> None:
    fit = trial(PrivBayes(epsilon=1), *[(0.02, 0.1)] * 3)
    beaten = trial(PrivBayes(epsilon=2), (0.03, 0.2))
    unsafe = trial(PrivBayes(epsilon=3), (0.11, 0.1))
    useless = trial(PrivBayes(epsilon=4), (0.03, 0.31))
    exact = trial(Anatomy(l=2), (0.05, 0.2))
    safer = trial(PrivBayes(epsilon=5), (0.01, 0.2))
    closer = trial(PrivBayes(epsilon=6), (0.09, 0.05))
    assert unsettled([fit, beaten, unsafe, useless, exact], STANDARD, 9) == []
    assert unsettled([fit, beaten, safer, closer], STANDARD, 9) == [safer, closer]
    assert unsettled([beaten, unsafe], STANDARD, 9) == [beaten, unsafe], "both are efficient"
    assert unsettled([fit, safer, closer], STANDARD, 1) == [safer]


def test_more_runs_widen_nothing_that_they_agree_about() -> None:
    first, second = trial(PrivBayes(epsilon=1), (0.0, 0.1), (0.0, 0.2)), trial(PrivBayes(epsilon=1), (0.0, 0.3))
    both = first.with_more(second)
    assert both.intervals["query_error"] == student_interval([0.1, 0.2, 0.3])
    assert both.first(2).spec() == first.spec()
    assert both.first(9) == both
    assert Trial.parse(both.spec()) == both


def answer(table: object, method: Method, seeds: Sequence[int], purpose: object) -> Trial:
    """Made-up trials: Mondrian is safe from k = 30 on and worse the larger k is; noise is close to it."""
    if isinstance(method, Mondrian):
        return trial(method, (0.3 if (method.k or 0) < 30 else 0.05, 0.002 * (method.k or 0)))
    if isinstance(method, PrivBayes):
        return trial(method, *[(0.0, 0.055 + 0.03 * (seed % 3 - 1)) for seed in seeds])
    return trial(method, *[(0.0, 0.9)] * len(seeds))


def no_answer(*asked: object) -> Trial:
    raise AssertionError("again")


SOME: list[Method] = [*(Mondrian(k=k) for k in (2, 10, 50, 100)), PrivBayes(epsilon=1), DPCube(epsilon=1)]


def searched(store: TrialStore | None = None, progress: Any = None) -> list[Trial]:
    return Search(TABLE, STANDARD, 1, store, progress).run(SOME, adaptive=True)


def test_a_search_bisects_to_the_floor_and_repeats_close_rivals(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner, "run_trial", answer)
    found = searched()
    added = [one.method.k for one in found if isinstance(one.method, Mondrian)][4:]
    assert added == [22, 33, 27, 30]
    runs = {one.method.name: len(one.runs) for one in found}
    assert runs["dpcube"] == 1
    assert runs["privbayes"] > len(SEEDS)


def test_a_search_that_is_interrupted_anywhere_goes_the_same_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runner, "run_trial", answer)
    whole = searched()
    for count in range(1, 14):
        store = TrialStore(tmp_path / f"{count}.jsonl", "table")

        def stop(_: Trial, done: int, total: int, count: int = count) -> None:
            if done == count:
                raise KeyboardInterrupt

        try:
            searched(store, stop)
        except KeyboardInterrupt:
            assert len(store.path.read_text().splitlines()) >= count
        assert searched(store) == whole
        monkeypatch.setattr(runner, "run_trial", no_answer)
        assert searched(store) == whole
        monkeypatch.setattr(runner, "run_trial", answer)


def test_kinds_are_searched_and_settings_are_taken_as_they_are() -> None:
    """What is searched and cannot be chosen has one run."""
    settings, kinds = (frontier(TABLE, some, workers=1) for some in ([Mondrian(k=2), Anatomy(l=2)], [Anatomy]))
    assert len(settings.trials) == 4
    assert kinds.kinds == (Anatomy,)
    for found, runs in ((settings, len(SEEDS)), (kinds, 1)):
        assert {len(one.runs) for one in found.trials if one.method.name == "anatomy"} == {runs}


def test_another_audience_gets_the_runs_that_its_choice_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is too risky for the public has one run, and three once colleagues may have it."""
    found = frontier(TABLE, [Anatomy], workers=1)
    risky = trial(PrivBayes(epsilon=1), (0.25, 0.1))
    front = replace(found, trials=(*found.trials, risky))
    monkeypatch.setattr(
        search, "run_trial", lambda table, method, seeds, purpose: trial(method, *[(0.25, 0.1)] * len(seeds))
    )
    assert front.recommend(audience="public", advise=False).trial is None
    chosen = front.recommend(audience="inside").chosen
    assert (chosen.id, len(chosen.runs)) == (risky.id, len(SEEDS))


def test_where_noise_is_asked_for_nothing_without_it_stops_a_search() -> None:
    exact, noisy = trial(Mondrian(k=5), (0.0, 0.01)), trial(PrivBayes(epsilon=1), (0.0, 0.2))
    assert unsettled([exact, noisy], STANDARD, 9) == []
    assert unsettled([exact, noisy], replace(STANDARD, noise=True).on([exact, noisy]), 9) == [noisy]
    assert replace(STANDARD, noise=True).on([exact]).noise is False
