"""Every measure of an evaluation against a slow oracle that looks at one pair at a time, and against known numbers."""

from __future__ import annotations

import json
import math
from bisect import bisect_right
from collections import Counter
from dataclasses import asdict
from statistics import mean
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.data.flows import Flows
from sfumato.data.places import Places
from sfumato.errors import DataError, ParameterError
from sfumato.measures.flows import distances, overlap
from sfumato.measures.flows.evaluation import Evaluation, SideCounts, evaluate
from sfumato.measures.flows.measures import measures
from sfumato.trials.document import to_json
from sfumato.trials.flows.comparison import MAX_POINTS, Run, flows_document

if TYPE_CHECKING:
    from pathlib import Path

Pairs = dict[tuple[int, int], int]
STEP = 6371.0088 * math.radians(0.01) / 1.609344
"""Miles between neighbours of the line of places, 0.6909…"""


def places_at(coordinates: list[tuple[float, float]]) -> Places:
    """Places with a district for every three of them, and a half."""
    n = len(coordinates)
    return Places(
        pl.Series([f"p{i}" for i in range(n)]),
        np.array([latitude for latitude, _ in coordinates]),
        np.array([longitude for _, longitude in coordinates]),
        pl.DataFrame(
            {"district": [f"d{i // 3}" for i in range(n)], "half": ["w" if i < n / 2 else "e" for i in range(n)]}
        ),
    )


SPREAD = np.random.default_rng(5)
TOWN = places_at([(41.5 + float(a), -71.5 + float(b)) for a, b in SPREAD.uniform(0, 0.25, (16, 2))])
LINE = places_at([(0.01 * i, 0.0) for i in range(12)])


def flows_of(places: Places, pairs: Pairs) -> Flows:
    destinations, origins = (np.array([pair[i] for pair in pairs], dtype=np.int64) for i in (0, 1))
    return Flows.of_pairs(places, destinations, origins, np.array(list(pairs.values()), dtype=np.int64))


pair_lists = st.dictionaries(
    st.tuples(st.integers(0, 4), st.integers(0, len(TOWN))),
    st.integers(1, 9) | st.integers(1, 2),
    min_size=1,
    max_size=50,
)

dense_lists = st.dictionaries(
    st.tuples(st.integers(0, 1), st.integers(0, len(TOWN))), st.integers(1, 3), min_size=24, max_size=34
)
"""Many origins to few destinations, so that a top ten leaves some out and has ties at its end."""


def miles(places: Places, one: int, other: int) -> float:
    """The haversine formula."""
    (a, b), (c, d) = ((math.radians(places.latitude[i]), math.radians(places.longitude[i])) for i in (one, other))
    half = math.sin((c - a) / 2) ** 2 + math.cos(a) * math.cos(c) * math.sin((d - b) / 2) ** 2
    return 2 * 6371.0088 * math.asin(math.sqrt(half)) / 1.609344


def average(pairs: Pairs, destination: int, below: float) -> float | None:
    found = [
        (miles(TOWN, destination, origin), people)
        for (to, origin), people in pairs.items()
        if to == destination and origin < len(TOWN) and miles(TOWN, destination, origin) < below
    ]
    return sum(far * people for far, people in found) / sum(people for _, people in found) if found else None


def workers(pairs: Pairs, destination: int) -> int:
    return sum(people for (to, _), people in pairs.items() if to == destination)


def travellers(pairs: Pairs) -> list[float]:
    """The distance of every single person from inside."""
    inside = [(pair, people) for pair, people in pairs.items() if pair[1] < len(TOWN)]
    return [miles(TOWN, *pair) for pair, people in inside for _ in range(people)]


def size_of(pairs: Pairs, destination: int) -> int:
    return bisect_right(distances.SIZES, workers(pairs, destination)) - 1


@given(pair_lists, pair_lists, st.sampled_from([1.0, 6.23, 30.0]))
def test_averages_errors_and_classes(original: Pairs, synthetic: Pairs, short: float) -> None:
    found = evaluate(flows_of(TOWN, original), flows_of(TOWN, synthetic), short=short)
    everyone = sorted({to for to, _ in original} | {to for to, _ in synthetic})
    assert found.destinations["destination"].to_list() == [f"p{to}" for to in everyone]
    assert found.destinations["people"].to_list() == [workers(original, to) for to in everyone]
    assert found.destinations["people_synthetic"].to_list() == [workers(synthetic, to) for to in everyone]
    assert found.destinations["outside"].to_list() == [original.get((to, len(TOWN)), 0) for to in everyone]
    for part, prefix, below in (("all", "", math.inf), ("short", "short_", short)):
        true = [average(original, to, below) for to in everyone]
        made = [average(synthetic, to, below) for to in everyone]
        assert found.destinations[f"{prefix}distance"].to_list() == pytest.approx(true)
        assert found.destinations[f"{prefix}distance_synthetic"].to_list() == pytest.approx(made)
        both = [(to, a, b) for to, a, b in zip(everyone, true, made, strict=True) if None not in (a, b)]
        there = Counter(size_of(original, to) for to, a in zip(everyone, true, strict=True) if a is not None)
        compared = Counter(size_of(original, to) for to, _, _ in both)
        weights = [there[size] / compared[size] for size in (size_of(original, to) for to, _, _ in both)]
        errors = [b - a for _, a, b in both]
        name = "distance" if part == "all" else "short"
        nothing = pytest.approx(math.nan, nan_ok=True)
        assert found[f"{name}_error"] == (
            pytest.approx(sum(w * abs(e) for w, e in zip(weights, errors, strict=True)) / sum(weights))
            if errors
            else nothing
        )
        assert found[f"{name}_bias"] == (
            pytest.approx(sum(w * e for w, e in zip(weights, errors, strict=True)) / sum(weights), abs=1e-12)
            if errors
            else nothing
        )
        assert found.counts.compared[part] == len(both)
        assert found.counts.left_out[part] == sum(workers(original, to) > 0 for to in everyone) - len(both)
        assert found.counts.lost[part] == sum(a is not None and b is None for a, b in zip(true, made, strict=True))
        for i, row in enumerate(found.sizes[part]):
            mine = [b - a for to, a, b in both if size_of(original, to) == i]
            assert row.destinations == len(mine)
            assert row.error == (pytest.approx(mean(map(abs, mine))) if mine else None)
            assert row.bias == (pytest.approx(mean(mine), abs=1e-12) if mine else None)


@given(pair_lists, pair_lists)
def test_the_distribution_of_distances(original: Pairs, synthetic: Pairs) -> None:
    found = evaluate(flows_of(TOWN, original), flows_of(TOWN, synthetic))
    ours, theirs = travellers(original), travellers(synthetic)
    bins = [Counter(bisect_right(distances.BINS, far) - 1 for far in side) for side in (ours, theirs)]
    for side, counted in zip(("original", "synthetic"), bins, strict=True):
        assert found.bins[side] == [counted[i] for i in range(len(distances.BINS))]
        assert getattr(found.counts, side).short == sum(far < 6.23 for far in (ours, theirs)[side == "synthetic"])
    if not ours or not theirs:
        assert found.values()["distance_variation"] is found.values()["distance_shift"] is None
        return
    shares = [[counted[i] / counted.total() for i in range(len(distances.BINS))] for counted in bins]
    assert found["distance_variation"] == pytest.approx(sum(abs(p - q) for p, q in zip(*shares, strict=True)) / 2)
    # Everybody in order of distance, each as often as the other side has people: then the shift is a plain mean.
    one, other = ([far for far in sorted(a) for _ in b] for a, b in ((ours, theirs), (theirs, ours)))
    shift = mean(abs(p - q) for p, q in zip(one, other, strict=True))
    assert found["distance_shift"] == pytest.approx(shift, abs=1e-12)


def scattered(key: int) -> int:
    """SplitMix64's finalizer on whole numbers of any size."""
    whole = 2**64 - 1
    mixed = (key + 0x9E3779B97F4A7C15) & whole
    mixed = ((mixed ^ mixed >> 30) * 0xBF58476D1CE4E5B9) & whole
    mixed = ((mixed ^ mixed >> 27) * 0x94D049BB133111EB) & whole
    return mixed ^ mixed >> 31


def leaders(table: Pairs, destination: int, width: int) -> set[int]:
    order = sorted(
        (-people, scattered(to * width + origin), origin)
        for (to, origin), people in table.items()
        if to == destination and origin < width - 1
    )
    return {origin for _, _, origin in order[: overlap.TOP]}


def regrouped(pairs: Pairs, *, destinations: bool, size: int) -> Pairs:
    """People between regions of `size` places; outside is the last origin."""
    last = math.ceil(len(TOWN) / size)
    table: Pairs = Counter()
    for (to, origin), people in pairs.items():
        table[to // size if destinations else to, min(origin // size, last) if origin < len(TOWN) else last] += people
    return table


@given(pair_lists | dense_lists, pair_lists | dense_lists)
def test_flows_between_places_and_regions(original: Pairs, synthetic: Pairs) -> None:
    found = evaluate(flows_of(TOWN, original), flows_of(TOWN, synthetic), regions="district")
    busy = [to for to in range(5) if workers(original, to) >= overlap.TOP_PEOPLE]
    for suffix, size in (("", 1), ("_district", 3)):
        tables = [regrouped(pairs, destinations=True, size=size) for pairs in (original, synthetic)]
        cells = sorted({*tables[0], *tables[1]})
        x, y = ([table.get(cell, 0) for cell in cells] for table in tables)
        assert found[f"common_part{suffix}"] == pytest.approx(2 * sum(map(min, x, y)) / (sum(x) + sum(y)))
        if len(set(x)) > 1 and len(set(y)) > 1:
            assert found[f"flow_correlation{suffix}"] == pytest.approx(np.corrcoef(x, y)[0, 1], abs=1e-9)
        else:
            assert found.values()[f"flow_correlation{suffix}"] is None
        width = math.ceil(len(TOWN) / size) + 1
        fans = [regrouped(pairs, destinations=False, size=size) for pairs in (original, synthetic)]
        pairs = [(leaders(fans[0], to, width), leaders(fans[1], to, width)) for to in busy]
        shares = [len(true & made) / len(true) for true, made in pairs if true]
        assert found.values()[f"top_origins{suffix}"] == (pytest.approx(mean(shares)) if shares else None)
    homes = [Counter(), Counter()]
    for home, table in zip(homes, (original, synthetic), strict=True):
        for (_, origin), people in table.items():
            home[origin // 3 if origin < len(TOWN) else -1] += people
    errors = [abs(homes[1][i] - homes[0][i]) / homes[0][i] for i in range(6) if homes[0][i]]
    assert found.values()["residents_error_district"] == (pytest.approx(mean(errors)) if errors else None)


@given(pair_lists)
def test_a_copy_is_perfect(original: Pairs) -> None:
    flows = flows_of(TOWN, original)
    found = evaluate(flows, flows_of(TOWN, dict(reversed(original.items()))), regions=["district", "half"]).values()
    for name, value in found.items():
        perfect = 1.0 if name.startswith(("common", "flow", "top")) else 0.0
        assert value is None or value == pytest.approx(perfect, abs=1e-12), name
    assert found["common_part"] == found["common_part_half"] == 1.0


def test_known_numbers_on_a_line() -> None:
    """Three go to place 0 from places 0, 2 and 4; synthetically from 2, 4 and 11, which is no short commute."""
    original = flows_of(LINE, {(0, 0): 1, (0, 2): 1, (0, 4): 1, (5, 12): 2})
    synthetic = flows_of(LINE, {(0, 2): 1, (0, 4): 1, (0, 11): 1, (5, 5): 2})
    found = evaluate(original, synthetic, regions="half")
    assert found["distance_error"] == found["distance_bias"] == pytest.approx((17 - 6) / 3 * STEP)
    assert found["short_error"] == found["short_bias"] == pytest.approx((3 - 2) * STEP)
    assert asdict(found.counts) == {
        "places": 12,
        "original": {"people": 5, "destinations": 2, "outside": 2, "short": 3},
        "synthetic": {"people": 5, "destinations": 2, "outside": 0, "short": 4},
        "compared": {"all": 1, "short": 1},
        "left_out": {"all": 1, "short": 1},
        "lost": {"all": 0, "short": 0},
    }
    # Bins: 0 (0–1 mi), 2 steps (1.38 mi), 4 steps (2.76 mi), 11 steps (7.6 mi).
    assert found.bins["original"][:8] == [1, 1, 1, 0, 0, 0, 0, 0]
    assert found.bins["synthetic"][:8] == [2, 1, 1, 0, 0, 0, 1, 0]
    assert found["distance_variation"] == pytest.approx((1 / 15 + 2 * (1 / 3 - 1 / 5) + 1 / 5) / 2)
    assert found["common_part"] == pytest.approx(2 / 5)
    assert found["common_part_half"] == pytest.approx(3 / 5)
    assert found["residents_error_half"] == pytest.approx((4 - 3) / 3)
    row = found.sizes["all"][0]
    assert (row.size, row.destinations, row.people) == ("1–4", 1, 3)
    assert (row.original, row.synthetic) == (pytest.approx(2 * STEP), pytest.approx(17 / 3 * STEP))
    assert [one.size for one in found.sizes["all"]] == ["1–4", "5–9", "10–19", "20–49", "50–99", "100–199", "200+"]


def test_a_shift_of_everyone_is_that_shift() -> None:
    original = flows_of(LINE, {(0, 1): 4, (0, 3): 2})
    synthetic = flows_of(LINE, {(0, 3): 2, (0, 5): 1})
    assert evaluate(original, synthetic)["distance_shift"] == pytest.approx(2 * STEP)
    assert evaluate(original, synthetic, unit="km")["distance_shift"] == pytest.approx(2 * STEP * 1.609344)


def test_a_commute_as_long_as_the_limit_is_not_short() -> None:
    flows = flows_of(LINE, {(0, 1): 1, (0, 2): 1})
    limit = float(flows.kilometres[1])
    assert evaluate(flows, flows, unit="km", short=limit).counts.original.short == 1
    assert evaluate(flows, flows, unit="km", short=limit * (1 + 1e-12)).counts.original.short == 2


def test_the_limit_is_public_and_the_same_in_both_units() -> None:
    flows = flows_of(LINE, {(0, 1): 1})
    assert evaluate(flows, flows).short == 6.23
    assert evaluate(flows, flows, unit="km").short == pytest.approx(10.0262, abs=1e-4)


def test_top_origins_with_and_without_ties() -> None:
    """Twelve origins, two of them small: the top ten is known, and replacing one of them costs a tenth."""
    many = {(0, i): 9 for i in range(10)} | {(0, 10): 1, (0, 11): 1}
    swapped = many | {(0, 3): 1, (0, 10): 9}
    one, other = flows_of(LINE, many), flows_of(LINE, swapped)
    assert evaluate(one, other)["top_origins"] == pytest.approx(0.9)
    few = flows_of(LINE, {(0, 0): 15, (0, 1): 5})
    assert evaluate(few, flows_of(LINE, {(0, 1): 1, (0, 2): 19}))["top_origins"] == pytest.approx(0.5)
    assert evaluate(few, flows_of(LINE, {(0, 12): 20}))["top_origins"] == 0
    small = flows_of(LINE, {(0, 0): 19})
    assert evaluate(small, small).values()["top_origins"] is None


def test_ties_favour_no_place() -> None:
    """Forty tied origins of 5,000 destinations: each is in the top ten of a quarter of them.

    Under a fair shuffle a count is binomial with deviation 30.6; 5.5 deviations fail for 40 counts with probability
    1.5e−6. Taking the first ten, as a stable sort would, is far off.
    """
    destinations, places = 5_000, 40
    keys = np.arange(destinations * (places + 1), dtype=np.int64)
    table = overlap.Cells(keys, np.ones(len(keys), dtype=np.int64), places + 1)
    chosen = overlap.find_leaders(table, np.arange(destinations))
    expected, slack = destinations / 4, 5.5 * math.sqrt(destinations * 3 / 16)
    counts = np.bincount(chosen.origins, minlength=places)
    assert np.abs(counts - expected).max() < slack
    first_ten = np.where(np.arange(places) < 10, destinations, 0)
    assert np.abs(first_ten - expected).max() > 10 * slack


def test_scattering_is_as_published() -> None:
    keys = [0, 1, 12_345, 2**40]
    assert overlap.shuffle(np.array(keys)).tolist() == [scattered(key) for key in keys]
    assert scattered(0) == 0xE220A8397B1DCDAF


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"unit": "yards"}, "unit is 'yards'; expected mi or km"),
        ({"short": 0}, "short is 0; expected a distance above 0 miles"),
        ({"short": math.nan}, "short is nan"),
        ({"regions": "street"}, "there are no regions 'street'; those in the file: district, half"),
    ],
)
def test_bad_parameters_are_refused(wrong: dict[str, Any], words: str) -> None:
    flows = flows_of(LINE, {(0, 1): 1})
    with pytest.raises(ParameterError, match=words):
        evaluate(flows, flows, **wrong)


def test_other_places_are_refused() -> None:
    with pytest.raises(DataError, match="between other places than the original ones"):
        evaluate(flows_of(LINE, {(0, 1): 1}), flows_of(TOWN, {(0, 1): 1}))


def test_measures_are_explained_and_within_their_range() -> None:
    found = evaluate(flows_of(TOWN, {(0, 1): 20, (2, 3): 4}), flows_of(TOWN, {(0, 2): 20, (2, 4): 4}), regions="half")
    assert list(found.measurements) == list(found.values())
    assert set(found.measurements) == set(measures("mi", 6.23, ("half",)))
    for one in found.measurements.values():
        assert one.measure.sentence.endswith(".")
        assert math.isnan(one.value) or one.measure.lowest <= one.value <= (one.measure.highest or math.inf)
    made = written(title="town", claim="", runs=[Run(label="one", evaluations=[found])])
    assert made["runs"][0]["evaluation"]["measures"] == found.values()
    table = pl.read_csv(found.csv().encode(), schema=found.destinations.schema)
    assert table.equals(found.destinations)


def noisy(flows: Flows, share: float, seed: int) -> Flows:
    """The flows after a share of the people has swapped homes."""
    random = np.random.default_rng(seed)
    goes_to, comes_from = (np.repeat(column, flows.counts) for column in (flows.destination_of_pair, flows.origins))
    moving = random.random(len(goes_to)) < share
    comes_from[moving] = random.permutation(comes_from[moving])
    return Flows.of_pairs(flows.places, goes_to, comes_from, np.ones(len(goes_to), dtype=np.int64))


def written(**parts: Any) -> Any:
    """The document as it comes back from its file."""
    return json.loads(to_json(flows_document(**parts)))


def runs() -> list[Run]:
    original = flows_of(TOWN, {(to, origin): 1 + (to + origin) % 4 for to in range(5) for origin in range(16)})
    evaluations = [evaluate(original, noisy(original, share, 1), regions="half") for share in (0.8, 0.2)]
    return [
        Run(label="rough", epsilon=1, delta=1e-5, options="plain", evaluations=[evaluations[0]]),
        Run(label="fine", epsilon=4, delta=1e-5, options="plain", evaluations=evaluations, paper=True),
    ]


def test_the_document_holds_runs_means_and_intervals() -> None:
    rough, fine = runs()
    made = written(title="town", claim="none", runs=[rough, fine])
    assert made["sweep"] == ["short_error", "common_part_half", "distance_variation", "top_origins_half"]
    first, second = made["runs"]
    assert (first["repetitions"], first["intervals"]) == (1, {})
    assert (second["label"], second["epsilon"], second["delta"], second["paper"]) == ("fine", 4, 1e-5, True)
    a, b = (one["common_part"] for one in fine.evaluations)
    assert second["measures"]["common_part"] == pytest.approx((a + b) / 2)
    # Student's t with one degree of freedom: 12.706 deviations of the mean, cut to what a share can be.
    half = 12.7062047 * abs(a - b) / 2
    assert second["intervals"]["common_part"] == pytest.approx([max((a + b) / 2 - half, 0), min((a + b) / 2 + half, 1)])
    assert set(first["measures"]) == set(made["measures"])
    assert made["measures"]["distance_bias"]["range"] == [None, None]
    assert [(one["number"], one["run"], one["part"]) for one in made["figures"]] == [
        (1, "rough", "all"),
        (2, "rough", "short"),
        (3, "fine", "all"),
        (4, "fine", "short"),
    ]


def test_figures_of_few_destinations_show_them_all_in_order_of_size() -> None:
    original = flows_of(LINE, {(0, 1): 5, (1, 1): 2, (2, 1): 9, (3, 1): 2, (4, 12): 1})
    made = written(title="line", claim="", runs=[Run(label="copy", evaluations=[evaluate(original, original)])])
    assert made["figures"][0]["destinations"] == 4
    points = made["figures"][0]["points"]
    assert points["destination"] == ["p1", "p3", "p0", "p2"]
    assert points["people"] == [2, 2, 5, 9]
    assert points["original"] == points["synthetic"] == pytest.approx([0, 2 * STEP, STEP, STEP], abs=5e-4)


def test_figures_of_many_destinations_are_thinned_evenly() -> None:
    n = 2_500
    places = places_at([(0.001 * i, 0.0) for i in range(n)])
    flows = flows_of(places, {(i, i): n - i for i in range(n)})
    made = written(title="many", claim="", runs=[Run(label="copy", evaluations=[evaluate(flows, flows)])])
    people = made["figures"][0]["points"]["people"]
    assert (len(people), people[0], people[-1], made["figures"][0]["destinations"]) == (MAX_POINTS, 1, n, n)
    assert set(np.diff(people)) == {2, 3}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda rough, fine: {"runs": []}, "there are no runs to compare"),
        (lambda rough, fine: {"runs": [rough, rough]}, "two runs are called 'rough'"),
        (lambda rough, fine: {"figures": ["coarse"]}, "there is no run 'coarse' to draw; the runs are rough, fine"),
        (lambda rough, fine: {"runs": [rough, other(short=3)]}, "'other' was evaluated with another unit, limit or"),
        (lambda rough, fine: {"runs": [rough, other()]}, "'other' was compared with another original"),
    ],
)
def test_runs_that_cannot_be_compared_are_refused(change: Any, words: str) -> None:
    rough, fine = runs()
    with pytest.raises(ParameterError, match=words):
        flows_document(**({"title": "town", "claim": "", "runs": [rough, fine]} | change(rough, fine)))


def other(short: float | None = None) -> Run:
    flows = flows_of(TOWN, {(0, 1): 1})
    return Run(label="other", evaluations=[evaluate(flows, flows, regions="half", short=short)])


def test_a_run_without_evaluations_is_refused() -> None:
    with pytest.raises(ParameterError, match="the run 'empty' has no evaluation"):
        Run(label="empty", evaluations=[])


@pytest.fixture(scope="module")
def rhode_island(data_folder: Path) -> Flows:
    folder = data_folder / "commute"
    if not folder.is_dir():
        pytest.skip(f"the commuting data is not at {folder}")
    return Flows.read(folder / "ri_od_2019.csv.gz", Places.read(folder / "ri_blocks.csv.gz"))


@pytest.fixture(scope="module")
def reshuffled(rhode_island: Flows) -> Evaluation:
    return evaluate(rhode_island, noisy(rhode_island, 0.3, 1), regions=["tract", "town"])


def test_rhode_island_against_itself(rhode_island: Flows) -> None:
    found = evaluate(rhode_island, rhode_island, regions="tract")
    side = SideCounts(people=406_052, destinations=8_358, outside=0, short=208_500)
    assert found.counts.original == found.counts.synthetic == side
    assert found.counts.places == 25_181
    assert set(found.values().values()) == {0.0, 1.0}


def test_swapping_homes_shows_in_every_measure(reshuffled: Evaluation) -> None:
    """Of 30% who swap, hardly anyone gets the home of a fellow worker: seven tenths remain in common."""
    assert reshuffled["common_part"] == pytest.approx(0.7, abs=0.01)
    for name in ("common_part", "flow_correlation"):
        assert reshuffled[name] < reshuffled[f"{name}_tract"] < reshuffled[f"{name}_town"] < 1
    assert reshuffled["residents_error_tract"] == 0
    assert reshuffled["distance_error"] > reshuffled["distance_bias"] > 5 * reshuffled["short_error"] > 1
    assert 0.05 < reshuffled["distance_variation"] < 0.1
    assert reshuffled["distance_shift"] == pytest.approx(1.59, abs=0.1)
    assert 0.5 < reshuffled["top_origins"] < reshuffled["top_origins_tract"] < 0.8


def test_errors_shrink_with_the_number_of_workers(reshuffled: Evaluation) -> None:
    every = [row.error for row in reshuffled.sizes["all"]]
    assert every == sorted(every, reverse=True)
    assert sum(row.destinations for row in reshuffled.sizes["all"]) == 8_358
    assert reshuffled.counts.left_out["short"] > reshuffled.counts.lost["short"] > 0
