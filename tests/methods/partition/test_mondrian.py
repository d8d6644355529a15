"""Mondrian's releases: both recodings, kept columns, what they say about a point and a region, and Adult's figures."""

from collections import Counter, defaultdict
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import reference
from sfumato.data import Table, read
from sfumato.errors import ParameterError, ReleaseError, SfumatoError, UnsatisfiableError
from sfumato.mechanisms.noise import SimulatedSource
from sfumato.methods.partition.decide import partition
from sfumato.methods.partition.mondrian import Mondrian
from sfumato.privacy.claims import NoGuarantee, Syntactic
from sfumato.privacy.requirements import AlphaK, DeltaDisclosure, KAnonymity, LDiversity, TCloseness
from sfumato.release import Provenance, Release
from sfumato.release.boxes import Boxes
from sfumato.release.kernels import holding_pairs
from sfumato.schema import Schema, Span
from strategies import AxisCase, SchemaCase, TableCase, schemas, tables

GENERALIZED = Mondrian(k=2)
BUCKETIZED = Mondrian(k=2, recoding="bucketize")


def boxes_of(boxes: Boxes) -> list[tuple[Span, ...]]:
    return [tuple(boxes.span(box, axis) for axis in range(boxes.lo.shape[1])) for box in range(len(boxes))]


@given(tables())
def test_a_generalized_release(case: TableCase) -> None:
    release = GENERALIZED.publish(case.table)
    class_of = partition(case.table, [KAnonymity(k=2)], "ncp", look_ahead=1).tolist()
    at = dict(zip(map(tuple, case.table.points.tolist()), class_of, strict=True))
    people: dict[int, reference.Group] = defaultdict(list)
    for person in case.people:
        people[at[person[0]]].append(person)
    values = case.case.sensitive.positions
    assert release.layout == "rows"
    assert release.group_of.tolist() == list(range(len(people)))
    assert release.weights.tolist() == [len(people[number]) for number in range(len(people))]
    assert release.histograms.tolist() == [
        reference.histogram((value for _, value in people[number]), values) for number in range(len(people))
    ]
    assert boxes_of(release.boxes) == [
        reference.box_around([point for point, _ in people[number]]) for number in range(len(people))
    ]
    assert release.rows == len(case.rows)


@given(tables())
def test_a_bucketized_release(case: TableCase) -> None:
    """The same partition, exact points, and the histogram of each bucket instead of each point."""
    release, generalized = BUCKETIZED.publish(case.table), GENERALIZED.publish(case.table)
    assert release.layout == "buckets"
    assert release.boxes.are_points.all()
    points = [tuple(-1 if span.missing else span.lo for span in box) for box in boxes_of(release.boxes)]
    assert Counter(dict(zip(points, release.weights.tolist(), strict=True))) == Counter(
        point for point, _ in case.people
    )
    assert np.array_equal(release.histograms, generalized.histograms)
    assert release.group_of.tolist() == partition(case.table, [KAnonymity(k=2)], "ncp", look_ahead=1).tolist()
    around = boxes_of(generalized.boxes)
    assert all(reference.holds(around[group], point) for group, point in zip(release.group_of, points, strict=True))


@given(tables())
def test_labels_of_a_release_read_back(case: TableCase) -> None:
    release = GENERALIZED.publish(case.table)
    for position, axis in enumerate(release.schema.quasi):
        labels = release.boxes.labels(axis, position)
        assert [axis.parse(label) for label in labels] == [box[position] for box in boxes_of(release.boxes)]


@given(tables(most_rows=16, most_quasi=3), st.data())
def test_kept_columns_stay_with_their_rows(case: TableCase, data: st.DataObject) -> None:
    """Each kept row is an original one: its class, its sensitive value and what was to be kept, in no telling order."""
    wages = data.draw(st.lists(st.integers(0, 5), min_size=len(case.rows), max_size=len(case.rows)))
    notes = data.draw(st.lists(st.sampled_from(["a", "b", None]), min_size=len(wages), max_size=len(wages)))
    more = {"wage": {"role": "keep"}, "note": {"role": "keep"}, "id": {"role": "identifier"}}
    schema = SchemaCase(case.case.quasi, case.case.sensitive, more=more).schema
    frame = case.frame.with_columns(
        wage=pl.Series(wages), note=pl.Series(notes, dtype=pl.String), id=pl.int_range(len(wages))
    )
    table = read(frame, schema)
    release = GENERALIZED.publish(table)
    class_of = partition(table, [KAnonymity(k=2)], "ncp", look_ahead=1).tolist()
    at = dict(zip(map(tuple, table.points.tolist()), class_of, strict=True))
    last = table.schema.sensitive.size
    expected = Counter(
        (at[row[:-1]], last if row[-1] < 0 else row[-1], wage, note)
        for row, wage, note in zip(case.rows, wages, notes, strict=True)
    )
    assert release.kept is not None
    assert set(release.kept.whole.columns) == {"box", "value", "wage", "note"}
    assert Counter(release.kept.whole.select("box", "value", "wage", "note").rows()) == expected
    backwards = GENERALIZED.publish(read(frame.reverse(), schema))
    assert backwards.kept is not None
    assert release.kept.whole.equals(backwards.kept.whole)


def small_table(**more: Any) -> Table:
    columns: dict[str, Any] = {
        "age": {"role": "quasi", "kind": "numeric", "min": 0, "max": 9},
        "ill": {"role": "sensitive", "kind": "categorical", "values": ["no", "yes"]},
    }
    columns |= {name: {"role": "keep"} for name in more}
    frame = pl.DataFrame({"age": [1, 1, 2, 2, 8, 8], "ill": ["no", "yes"] * 3, **more})
    return read(frame, Schema.parse({"columns": columns}))


def test_kept_columns_cannot_follow_detached_values() -> None:
    table = small_table(wage=[1, 2, 3, 4, 5, 6])
    assert GENERALIZED.publish(table).kept is not None
    with pytest.raises(ParameterError, match="the column 'wage' has role keep"):
        BUCKETIZED.publish(table)
    assert not any(setting.recoding == "bucketize" for setting in Mondrian.grid(table))
    assert GENERALIZED.publish(small_table()).kept is None


@pytest.mark.parametrize("name", ["box", "value"])
def test_a_kept_column_is_never_overwritten(name: str) -> None:
    table = small_table(**{name: list("abcdef")})
    try:
        kept = GENERALIZED.publish(table).kept
    except SfumatoError:
        return
    assert kept is not None
    assert any(set(column) == set("abcdef") for column in kept.whole)


def test_requirements_and_their_shorthands() -> None:
    short = Mondrian(k=3, l=1.5, t=0.2, distance="ordered", delta=2)
    assert short.all_requirements == (
        KAnonymity(k=3),
        LDiversity(l=1.5),
        TCloseness(t=0.2, distance="ordered"),
        DeltaDisclosure(delta=2),
    )
    both = Mondrian(k=3, requirements=(AlphaK(alpha=0.5, k=2),))
    assert both.all_requirements == (KAnonymity(k=3), AlphaK(alpha=0.5, k=2))
    release = both.publish(small_table())
    assert isinstance(release.claim, Syntactic)
    assert release.claim.requirements == both.all_requirements
    assert release.provenance.method == "mondrian"
    assert release.provenance.parameters == {
        "k": 3,
        "requirements": [{"requirement": "(alpha,k)-anonymity", "alpha": 0.5, "k": 2}],
    }


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"k": 0},
        {"k": True},
        {"l": 0.5},
        {"t": -1},
        {"delta": -1},
        {"k": 2, "cut": "best"},
        {"k": 2, "look_ahead": -1},
        {"k": 2, "look_ahead": 5},
        {"k": 2, "height": -1},
        {"k": 2, "height": 2.5},
        {"k": 2, "suppress": -0.1},
        {"k": 2, "suppress": 1},
        {"k": 2, "recoding": "shuffle"},
        {"t": 0.1, "distance": "far"},
        {"distance": "equal"},
    ],
)
def test_parameters_out_of_range(parameters: dict[str, Any]) -> None:
    with pytest.raises(ParameterError):
        Mondrian(**parameters)


def test_what_no_release_can_satisfy_is_refused() -> None:
    with pytest.raises(UnsatisfiableError, match=r"k-anonymity \(k=7\): its 6 rows"):
        Mondrian(k=7).publish(small_table())
    with pytest.raises(UnsatisfiableError, match=r"l-diversity \(l=2.5\)"):
        Mondrian(k=2, l=2.5).publish(small_table())


def test_a_release_that_breaks_its_claim_is_refused() -> None:
    release = GENERALIZED.publish(small_table())
    assert release.verified() is release
    stricter = Release(
        schema=release.schema,
        boxes=release.boxes,
        weights=release.weights,
        group_of=release.group_of,
        histograms=release.histograms,
        claim=Syntactic(requirements=(KAnonymity(k=3),)),
        provenance=release.provenance,
    )
    with pytest.raises(ReleaseError, match=r"3 of 3 classes fail k-anonymity \(k=3\)"):
        stricter.verified()


def test_a_seed_does_not_weaken_a_method_without_randomness() -> None:
    seeded = GENERALIZED.publish(small_table(), SimulatedSource(1))
    assert isinstance(seeded.claim, Syntactic)
    assert isinstance(seeded.without_guarantee("seeded").claim, NoGuarantee)


def test_the_grid_can_be_published() -> None:
    table = small_table()
    settings = list(Mondrian.grid(table))
    assert {setting.recoding for setting in settings} == {"generalize", "bucketize"}
    assert len(settings) == len(set(settings))
    assert all(len(setting.publish(table).verified().boxes) for setting in settings)


def spans(axis: AxisCase) -> st.SearchStrategy[Span]:
    """Generalized values of an axis."""
    everything = [Span(lo, hi, False) for lo in range(axis.size) for hi in range(lo, axis.size)]
    with_missing = [Span(0, -1, True), *(span._replace(missing=True) for span in everything)]
    return st.sampled_from(everything + with_missing * axis.nullable)


def box_lists(case: SchemaCase) -> st.SearchStrategy[list[tuple[Span, ...]]]:
    return st.lists(st.tuples(*map(spans, case.quasi)), min_size=1, max_size=8)


@st.composite
def releases(draw: st.DrawFn) -> tuple[SchemaCase, Release]:
    """Boxes that may overlap and share groups, with weights and histograms of whole numbers."""
    case = draw(schemas(most_quasi=3, most=4))
    boxes = draw(box_lists(case))
    groups = draw(st.integers(1, len(boxes)))
    counts = st.lists(st.integers(0, 5), min_size=case.sensitive.positions, max_size=case.sensitive.positions)
    release = Release(
        schema=case.schema,
        boxes=Boxes.of_spans(boxes),
        weights=np.array(draw(st.lists(st.integers(1, 9), min_size=len(boxes), max_size=len(boxes))), dtype=float),
        group_of=np.array([i % groups for i in range(len(boxes))]),
        histograms=np.array([draw(counts.filter(any)) for _ in range(groups)], dtype=float),
        claim=NoGuarantee(reason="made up"),
        provenance=Provenance(method="none"),
    )
    return case, release


def parts(release: Release) -> tuple[Any, ...]:
    return boxes_of(release.boxes), release.weights.tolist(), release.group_of.tolist(), release.histograms.tolist()


@settings(max_examples=100)
@given(releases())
def test_posteriors_at_every_point(made: tuple[SchemaCase, Release]) -> None:
    case, release = made
    points = reference.points_of([axis.axis().everything for axis in case.quasi])
    expected = [reference.posterior(point, *parts(release)) for point in points]
    found = release.posteriors(np.array(points, dtype=np.int32))
    assert found == pytest.approx(np.array(expected), abs=1e-12)
    assert found.sum(axis=1) == pytest.approx(1)
    alone = [release.posteriors(np.array([point], dtype=np.int32))[0] for point in points[:5]]
    assert np.array(alone) == pytest.approx(found[:5], abs=1e-12)


@settings(max_examples=100)
@given(releases(), st.data())
def test_estimates_in_regions(made: tuple[SchemaCase, Release], data: st.DataObject) -> None:
    """Every position of every box is looked at, and counted by the share of the region."""
    case, release = made
    whole = Boxes.whole(release.schema.quasi)
    wanted = [*data.draw(box_lists(case)), *boxes_of(whole)]
    regions = Boxes.of_spans(wanted)
    expected = np.array([reference.estimate(region, *parts(release)) for region in wanted])
    assert release.histograms_in(regions) == pytest.approx(expected, abs=1e-9)
    assert release.histograms_in(whole).sum() == pytest.approx(release.rows)
    last_code = expected.shape[1] - 1
    ends = st.tuples(st.integers(0, last_code), st.integers(0, last_code)).map(sorted)
    ranges = data.draw(st.lists(ends, min_size=len(wanted), max_size=len(wanted)))
    counts = [expected[i, first : last + 1].sum() for i, (first, last) in enumerate(ranges)]
    first, last = np.array(ranges).T
    assert release.counts_in(regions, first, last) == pytest.approx(counts, abs=1e-9)


def test_a_posterior_does_not_depend_on_the_other_points_asked_for() -> None:
    schema = small_table().schema
    release = Release(
        schema=schema,
        boxes=Boxes.of_spans([[Span(0, 3, False)], [Span(5, 6, False)], [Span(6, 7, False)]]),
        weights=np.array([0.0, 1, 1]),
        group_of=np.arange(3),
        histograms=np.array([[1.0, 0], [1, 3], [3, 1]]),
        claim=NoGuarantee(reason="made up"),
        provenance=Provenance(method="none"),
    )
    alone = release.posteriors(np.array([[1]], dtype=np.int32))[0]
    together = release.posteriors(np.array([[1], [6]], dtype=np.int32))[0]
    assert alone.tolist() == together.tolist()


def test_a_posterior_is_a_distribution_even_where_nothing_was_counted() -> None:
    release = Release(
        schema=small_table().schema,
        boxes=Boxes.of_spans([[Span(0, 3, False)], [Span(5, 6, False)]]),
        weights=np.array([1.0, 1]),
        group_of=np.arange(2),
        histograms=np.array([[0.0, 0], [1, 3]]),
        claim=NoGuarantee(reason="made up"),
        provenance=Provenance(method="none"),
    )
    assert release.posteriors(np.array([[1]], dtype=np.int32)).sum() == pytest.approx(1)


def random_boxes(seed: int, boxes: int, axes: int, width: int) -> tuple[np.ndarray[Any, Any], Boxes]:
    """Several hundred points and boxes, some around missing values: enough pairs to be split many times."""
    generator = np.random.default_rng(seed)
    points = generator.integers(-1, 40, size=(400, axes), dtype=np.int32)
    lo = generator.integers(0, 40, size=(boxes, axes), dtype=np.int32)
    hi = np.minimum(lo + generator.integers(-1, width, size=(boxes, axes), dtype=np.int32), 39)
    missing = generator.random((boxes, axes)) < 0.3
    empty = hi < lo
    missing |= empty
    return points, Boxes(np.where(empty, 0, lo), np.where(empty, -1, hi), missing)


@pytest.mark.parametrize(
    ("seed", "boxes", "axes", "width"),
    [(1, 300, 1, 4), (2, 300, 2, 12), (3, 500, 3, 25), (4, 200, 4, 40), (5, 7, 2, 40)],
)
def test_pairs_of_points_and_boxes(seed: int, boxes: int, axes: int, width: int) -> None:
    points, around = random_boxes(seed, boxes, axes, width)
    inside = [[set(reference.positions_of(span)) for span in box] for box in boxes_of(around)]
    expected = {
        (i, j)
        for i, point in enumerate(points.tolist())
        for j, box in enumerate(inside)
        if all(code in codes for code, codes in zip(point, box, strict=True))
    }
    pairs = holding_pairs(points, around.arrays)
    found = list(zip(*(numbers.tolist() for numbers in pairs), strict=True))
    assert len(found) == len(set(found))
    assert set(found) == expected
    assert len(expected) > 20


def certainty_penalty(table: Table, class_of: np.ndarray[Any, Any]) -> float:
    """Mean over rows and axes of age range / 73 and (distinct values − 1) / (domain − 1), from the points."""
    total = 0.0
    for axis, size in enumerate([73, 6, 15, 6, 4, 1]):
        spread = (
            pl.DataFrame({"class": class_of, "code": table.points[:, axis], "rows": table.weights})
            .group_by("class")
            .agg(
                width=pl.col("code").max() - pl.col("code").min(),
                distinct=pl.col("code").n_unique() - 1,
                rows=pl.col("rows").sum(),
            )
        )
        total += float((spread["width" if axis == 0 else "distinct"] * spread["rows"]).sum()) / size
    return total / table.n / 6


MOST_PENALTY, MOST_DISCERNIBILITY = 0.0240, 855_000
"""Below what another program's local recoding reaches: 0.0274 and 889,516."""


def test_adult_is_cut_finely(adult_training: Table) -> None:
    release = Mondrian(k=10).publish(adult_training)
    assert release.weights.min() >= 10
    assert release.rows == 30_162
    assert int((release.weights**2).sum()) <= MOST_DISCERNIBILITY
    class_of = partition(adult_training, [KAnonymity(k=10)], "ncp", look_ahead=1)
    assert np.bincount(class_of, adult_training.weights).tolist() == release.weights.tolist()
    assert 0.02 < certainty_penalty(adult_training, class_of) <= MOST_PENALTY


def test_the_bounds_on_adult_reject_coarser_partitions(adult_training: Table) -> None:
    """Categories in alphabetical order, median cuts, no look ahead, and k = 11 each miss a bound."""
    alphabetical = {
        axis.name: {"role": "quasi", "kind": "categorical", "values": sorted(axis.labels)}
        for axis in adult_training.schema.quasi[1:]
    }
    spec = adult_training.schema.spec()
    schema = Schema.parse({**spec, "columns": spec["columns"] | alphabetical})
    cells = np.column_stack([adult_training.points[adult_training.cell_point], adult_training.cell_value])
    codes = np.repeat(cells, adult_training.cell_weight, axis=0).T
    axes = adult_training.schema.axes
    labels = {axis.name: [axis.labels[code] for code in column] for axis, column in zip(axes, codes, strict=True)}
    reordered = read(pl.DataFrame(labels), schema)
    assert certainty_penalty(reordered, partition(reordered, [KAnonymity(k=10)], "ncp", look_ahead=1)) > MOST_PENALTY
    assert certainty_penalty(adult_training, partition(adult_training, [KAnonymity(k=10)], "median")) > MOST_PENALTY
    for coarser in (Mondrian(k=10, look_ahead=0), Mondrian(k=11)):
        assert int((coarser.publish(adult_training).weights ** 2).sum()) > MOST_DISCERNIBILITY
    assert certainty_penalty(adult_training, partition(adult_training, [KAnonymity(k=10)], "ncp")) > MOST_PENALTY


def test_adult_under_every_requirement(adult: Table) -> None:
    for method in (Mondrian(k=10, l=3), Mondrian(k=8, t=0.2, distance="jensen-shannon"), Mondrian(k=50, cut="median")):
        release = method.publish(adult)
        assert release.rows == 45_222
        assert len(release.boxes) > 20
        assert release.violations() == []
    with pytest.raises(UnsatisfiableError, match=r"l-diversity \(l=8\)"):
        Mondrian(l=8).publish(adult)
