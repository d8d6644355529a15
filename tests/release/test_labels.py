"""Published rows become the classes they show, whoever wrote them, in whatever order they stand."""

from collections import Counter, defaultdict
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.errors import DataError, ReleaseError
from sfumato.methods.partition.mondrian import Mondrian
from sfumato.privacy.claims import NoGuarantee
from sfumato.release import Boxes, ForeignRelease, Provenance, Release, read_published
from sfumato.release.tables import published_rows
from sfumato.schema import CategoricalAxis, Schema, Span
from strategies import SchemaCase, TableCase, schemas, tables

PEOPLE = Schema.parse(
    {
        "missing": ["", "?"],
        "columns": {
            "name": {"role": "identifier"},
            "age": {"role": "quasi", "kind": "numeric", "min": 0, "max": 99, "nullable": True},
            "town": {"role": "quasi", "kind": "categorical", "taxonomy": {"north": ["a", "2"], "south": ["c", "d"]}},
            "note": {"role": "keep"},
            "disease": {"role": "sensitive", "kind": "categorical", "taxonomy": {"x": ["flu", "cold"], "y": ["hiv"]}},
        },
    }
)


def frame(**columns: list[Any]) -> pl.DataFrame:
    return pl.DataFrame(columns)


def spans(release: Release) -> list[tuple[Span, ...]]:
    axes = range(len(release.schema.quasi))
    return [tuple(release.boxes.span(box, axis) for axis in axes) for box in range(len(release.boxes))]


def test_other_tools_spellings_are_understood() -> None:
    release = read_published(
        frame(
            age=["[20, 35)", "20-34", "*", "?", None, " 2.0 ", "{20, 34}"],
            town=["a", "a", "south", "2.0", "2", "{a, 2}", "a"],
            disease=["flu", "cold", "flu", "hiv", "hiv", "flu", "flu"],
        ),
        PEOPLE,
    )
    assert spans(release) == [
        (Span(0, -1, True), Span(1, 1, False)),
        (Span(0, 99, True), Span(2, 3, False)),
        (Span(2, 2, False), Span(0, 1, False)),
        (Span(20, 34, False), Span(0, 0, False)),
    ]
    assert release.histograms.tolist() == [[0, 0, 2], [1, 0, 0], [1, 0, 0], [2, 1, 0]]
    assert release.weights.tolist() == [2, 1, 1, 3]
    assert release.group_of.tolist() == [0, 1, 2, 3]
    assert release.claim == NoGuarantee(reason="published by another tool; nothing is known about how")
    assert [column.name for column in release.schema.columns] == ["age", "town", "disease"]


def test_suppressed_rows_are_no_class() -> None:
    rows = frame(age=["1", "*", " *", "*"], town=["a", "*", "*", "a"], disease=["flu", "flu", "hiv", "flu"])
    published = ForeignRelease.read(rows, PEOPLE)
    assert published.suppressed == 2
    assert spans(published.release) == [(Span(0, 99, True), Span(0, 0, False)), (Span(1, 1, False), Span(0, 0, False))]
    assert published.release.rows == 2
    assert published.release.overall.tolist() == [2, 0, 0]


def test_a_class_that_spans_the_domain_in_numbers_is_not_suppressed() -> None:
    rows = frame(age=["0-99", "1"], town=["*", "a"], disease=["flu", "hiv"])
    assert ForeignRelease.read(rows, PEOPLE).suppressed == 0


def test_everything_suppressed_is_one_class() -> None:
    published = ForeignRelease.read(frame(age=["*", "*"], town=["*", "*"], disease=["flu", "hiv"]), PEOPLE)
    assert published.suppressed == 0
    assert spans(published.release) == [(Span(0, 99, True), Span(0, 3, False))]
    assert published.release.histograms.tolist() == [[1, 0, 1]]


def test_absent_quasi_identifiers_are_suppressed_everywhere() -> None:
    rows = frame(town=["a", "a", "*"], disease=["flu", "hiv", "flu"], other=[1, 2, 3])
    published = ForeignRelease.read(rows, PEOPLE)
    assert published.suppressed == 1
    assert spans(published.release) == [(Span(0, 99, True), Span(0, 0, False))]
    alone = ForeignRelease.read(rows.select("disease"), PEOPLE)
    assert (alone.suppressed, alone.release.histograms.tolist()) == (0, [[2, 0, 1]])


def test_a_generalized_sensitive_value_counts_evenly() -> None:
    nullable = Schema.parse(
        {
            "columns": {
                "age": {"role": "quasi", "kind": "numeric", "min": 0, "max": 99},
                "disease": {
                    "role": "sensitive",
                    "kind": "categorical",
                    "nullable": True,
                    "taxonomy": {"x": ["flu", "cold"], "y": ["hiv"]},
                },
            }
        }
    )
    rows = frame(age=["1"] * 5, disease=["x", "{cold, hiv}", "*", None, "(present)"])
    third = 1 / 3
    expected = [0.5 + 0.25 + third, 0.5 + 0.5 + 0.25 + third, 0.5 + 0.25 + third, 0.25 + 1]
    assert read_published(rows, nullable).histograms[0] == pytest.approx(expected, abs=1e-12)
    assert read_published(rows, nullable).weights.tolist() == [5]


@pytest.mark.parametrize(
    ("age", "town"),
    [([1, None], [2, 2]), ([1.0, None], [2.0, 2.0]), ([1.0, float("nan")], ["2", "2.0"]), (["1", " "], ["2", "2"])],
)
def test_types_of_a_frame_do_not_matter(age: list[Any], town: list[Any]) -> None:
    release = read_published(frame(age=age, town=town, disease=["flu", "hiv"]), PEOPLE)
    assert spans(release) == [(Span(0, -1, True), Span(1, 1, False)), (Span(1, 1, False), Span(1, 1, False))]


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"town": ["a", "e"]}, "row 2, column 'town': 'e' is neither one of 'a', '2', 'c', 'd' nor a group of such"),
        ({"age": ["1", "[abc]"]}, "row 2, column 'age': '[abc]' is neither a whole number from 0 to 99 nor a group"),
        ({"age": ["x", "y"]}, "row 1, column 'age': 'x' is neither"),
        ({"town": ["a", None]}, "row 2, column 'town': the value is missing; expected one of 'a', '2', 'c', 'd'"),
        ({"town": ["?", "a"]}, "row 1, column 'town': '?' means a missing value; expected one of 'a'"),
        ({"disease": ["flu", ""]}, "row 2, column 'disease': the value is missing; expected one of 'flu'"),
        ({"disease": ["flu", "x, y"]}, "row 2, column 'disease': 'x, y' is neither one of 'flu'"),
        ({"town": [["a"], ["a"]]}, "column 'town': List"),
    ],
)
def test_refusals_name_the_place(columns: dict[str, Any], message: str) -> None:
    good = {"age": ["1", "2"], "town": ["a", "a"], "disease": ["flu", "hiv"]}
    with pytest.raises(DataError) as caught:
        read_published(frame(**{**good, **columns}), PEOPLE)
    assert f"the data frame, {message}" in str(caught.value)


def test_a_file_is_named(tmp_path: Path) -> None:
    path = tmp_path / "others.csv"
    path.write_text("town;age;disease\na;[1, 5];flu\na;(1, 5];hiv\nb;1;hiv\n")
    with pytest.raises(DataError, match=r"others\.csv, row 3, column 'town': 'b' is neither"):
        read_published(path, PEOPLE)
    path.write_text("town;age\na;[1, 5]\n")
    with pytest.raises(DataError, match=r"others\.csv: the column 'disease' is missing; there are only 'town', 'age'"):
        read_published(path, PEOPLE)
    path.write_text("town;age;disease\na;[1, 5];flu\na;(1, 5];hiv\nb;1;hiv\n".replace("\nb;", "\nd;"))
    release = read_published(path, PEOPLE, NoGuarantee(reason="a test"), Provenance(method="by hand"))
    assert spans(release)[0] == (Span(1, 1, False), Span(3, 3, False))
    assert (release.claim, release.provenance.method) == (NoGuarantee(reason="a test"), "by hand")


def test_each_distinct_label_is_parsed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    parsed: Counter[str] = Counter()
    parse = CategoricalAxis.parse

    def counted(axis: CategoricalAxis, label: str) -> Span:
        parsed[label] += 1
        return parse(axis, label)

    monkeypatch.setattr(CategoricalAxis, "parse", counted)
    read_published(frame(age=["1"] * 500, town=["a", "south"] * 250, disease=["flu", "hiv"] * 250), PEOPLE)
    assert parsed == {"a": 1, "south": 1, "flu": 1, "hiv": 1}


@st.composite
def generalized(draw: st.DrawFn) -> tuple[SchemaCase, list[tuple[Span, ...]]]:
    """A schema, and rows of random generalized values, the sensitive one last."""
    case = draw(schemas(3, 5))
    columns = []
    for axis in case.axes:
        interval = st.tuples(st.integers(0, axis.size - 1), st.integers(0, axis.size - 1)).map(sorted)
        present = st.builds(lambda run, missing: Span(run[0], run[1], missing), interval, st.just(False))
        possible = [present]
        if axis.nullable:
            possible += [present.map(lambda span: span._replace(missing=True)), st.just(Span(0, -1, True))]
        columns.append(st.one_of(possible))
    pool = draw(st.lists(st.tuples(*columns), min_size=1, max_size=6))
    return case, draw(st.lists(st.sampled_from(pool), min_size=1, max_size=15))


@given(generalized(), st.randoms(use_true_random=False))
def test_classes_are_the_distinct_rows(drawn: tuple[SchemaCase, list[tuple[Span, ...]]], random: Any) -> None:
    case, rows = drawn
    axes = case.schema.axes
    texts = [[axis.label(span) for axis, span in zip(axes, row, strict=True)] for row in rows]
    suppressed = [all(label == "*" for label in text[:-1]) for text in texts]
    if all(suppressed):
        suppressed = [False] * len(rows)
    classes: dict[tuple[Span, ...], list[float]] = defaultdict(lambda: [0.0] * case.sensitive.positions)
    for (*box, (lo, hi, missing)), left_out in zip(rows, suppressed, strict=True):
        covered = [*range(lo, hi + 1), *([case.sensitive.size] if missing else [])]
        for value in covered if not left_out else []:
            classes[tuple(box)][value] += 1 / len(covered)
    random.shuffle(texts)
    names = [axis.name for axis in axes]
    published = ForeignRelease.read(
        pl.DataFrame(texts, schema=dict.fromkeys(names, pl.String), orient="row"), case.schema
    )
    assert published.suppressed == sum(suppressed)
    assert spans(published.release) == sorted(classes)
    expected = np.array([classes[box] for box in sorted(classes)])
    assert published.release.histograms == pytest.approx(expected, abs=1e-9)
    assert published.release.weights == pytest.approx(expected.sum(axis=1), abs=1e-9)


@given(tables(), st.integers(1, 4))
def test_our_own_rows_read_back(drawn: TableCase, k: int) -> None:
    release = Mondrian(k=min(k, len(drawn.rows))).publish(drawn.table)
    rows = published_rows(release).whole
    assert rows.height == len(drawn.rows)
    again = read_published(rows, drawn.case.schema, release.claim)
    assert sorted(spans(again)) == sorted(spans(release))
    assert again.overall.tolist() == release.overall.tolist()
    assert again.violations() == []


def small_release(schema: Schema, weights: list[float], histograms: list[list[float]]) -> Release:
    boxes = Boxes.of_points(np.arange(len(weights), dtype=np.int32)[:, None])
    return Release(
        schema=schema,
        boxes=boxes,
        weights=np.array(weights),
        group_of=np.arange(len(weights)),
        histograms=np.array(histograms, dtype=float),
        claim=NoGuarantee(reason="a test"),
        provenance=Provenance(method="by hand"),
    )


DIGITS = Schema.parse(
    {
        "columns": {
            "d": {"role": "quasi", "kind": "numeric", "min": 0, "max": 9},
            "s": {"role": "sensitive", "kind": "categorical", "values": ["u", "v", "w"]},
        }
    }
)


def test_counts_that_are_not_whole_keep_the_rounded_total() -> None:
    release = small_release(
        DIGITS, [3.4, 2.0, 0.2, -1.0, 2.0], [[1.2, 1.6, 0.6], [1, 1, 0], [0.2, 0, 0], [1, 0, 0], [5, -3, 5]]
    )
    counts = published_rows(release).whole.group_by("d", "s").len().sort("d", "s").rows()
    assert counts == [("0", "u", 1), ("0", "v", 2), ("1", "u", 1), ("1", "v", 1), ("4", "u", 1), ("4", "w", 1)]


def test_equal_boxes_cannot_be_told_apart_by_order() -> None:
    release = small_release(DIGITS, [2, 2, 2], [[1, 0, 1], [1, 0, 1], [0, 2, 0]])
    twins = replace(release, boxes=Boxes.of_points(np.array([[7], [7], [3]], dtype=np.int32)))
    rows = [("3", "v"), ("3", "v"), ("7", "u"), ("7", "u"), ("7", "w"), ("7", "w")]
    assert published_rows(twins).whole.rows() == rows


def test_boxes_that_share_a_histogram_are_not_rows() -> None:
    release = small_release(DIGITS, [1, 1], [[1, 1, 0], [0, 0, 0]])
    with pytest.raises(ReleaseError, match="share a histogram"):
        published_rows(replace(release, group_of=np.zeros(2, dtype=np.int64)))


def test_labels_that_would_be_misread_are_never_written(monkeypatch: pytest.MonkeyPatch) -> None:
    release = small_release(DIGITS, [2], [[1, 1, 0]])
    monkeypatch.setattr(CategoricalAxis, "_spell", lambda axis, lo, hi: axis.leaf_labels[max(lo - 1, 0)])
    with pytest.raises(ReleaseError, match="column 's': the label 'u' would be read back as another value"):
        published_rows(release)
    monkeypatch.setattr(CategoricalAxis, "_spell", lambda axis, lo, hi: "nonsense")
    with pytest.raises(ReleaseError, match="column 's': the label 'nonsense' would be read back as another value"):
        published_rows(release)


def test_who_is_in_no_class_is_among_the_suppressed() -> None:
    """Twenty people are published in a class; the one suppressed row can only be the person outside of it."""
    schema = Schema.parse(
        {
            "columns": {
                "age": {"role": "quasi", "kind": "numeric", "min": 0, "max": 99},
                "ill": {"role": "sensitive", "kind": "categorical", "values": ["a", "b", "c"]},
            }
        }
    )
    frame = pl.DataFrame({"age": ["[30, 40]"] * 20 + ["*"], "ill": ["a", "b"] * 10 + ["c"]})
    release = read_published(frame, schema)
    assert release.rows == 20
    beliefs = release.posteriors(np.array([[35], [80]], dtype=np.int32))
    assert beliefs.tolist() == [[0.5, 0.5, 0.0], [0.0, 0.0, 1.0]]
