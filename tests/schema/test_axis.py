"""Labels: every generalized value of every axis has one spelling that reads back, and foreign ones are understood."""

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given

from sfumato.errors import DataError
from sfumato.schema import MISSING, UNKNOWN, Axis, Span
from sfumato.schema.column import parse_column
from strategies import AxisCase, axes, grids


def declared(**spec: Any) -> Axis:
    axis = parse_column("x", {"role": "quasi", **spec}, Path()).axis
    assert axis is not None
    return axis


def spans_of(size: int, nullable: bool) -> list[Span]:
    """Every generalized value: all intervals with and without the missing value, and the missing value alone."""
    missing = [False, True] if nullable else [False]
    spans = [Span(lo, hi, absent) for lo in range(size) for hi in range(lo, size) for absent in missing]
    return [*spans, Span(0, -1, True)] if nullable else spans


def misread(axis: Axis) -> list[tuple[Span, str]]:
    """The generalized values whose label does not read back as themselves."""
    wrong = []
    for span in spans_of(axis.size, axis.nullable):
        label = axis.label(span)
        try:
            if axis.parse(label) != span:
                wrong.append((span, label))
        except DataError:
            wrong.append((span, label))
    return wrong


@given(axes())
@example(AxisCase("x", {"kind": "categorical", "values": ['a"', "b;", "{c", "d}", ","], "nullable": True}, ((),) * 5))
@example(AxisCase("x", {"kind": "categorical", "taxonomy": {"all": {"both": ["a", "b"]}}}, ((),) * 2))
def test_every_generalized_value_reads_back(case: AxisCase) -> None:
    axis = case.axis()
    assert axis.size == case.size
    assert axis.positions == case.positions
    assert misread(axis) == []
    spelled = [axis.label(span) for span in spans_of(axis.size, axis.nullable)]
    assert len(set(spelled)) == len(spelled)


@given(axes())
def test_codes_follow_the_declared_order(case: AxisCase) -> None:
    axis = case.axis()
    for code, texts in enumerate(case.raw):
        stripped = [text.strip() for text in texts]
        raw: Any = np.array(stripped, dtype=float) if axis.kind == "numeric" else stripped
        assert axis.encode(raw).tolist() == [code] * len(texts)
        assert axis.parse(stripped[0]) == Span(code, code, False)
    assert [axis.parse(label) for label in axis.labels] == [
        *(Span(code, code, False) for code in range(axis.size)),
        *([Span(0, -1, True)] if axis.nullable else []),
    ]


@given(axes())
def test_the_taxonomy_numbers_its_leaves_in_order(case: AxisCase) -> None:
    root = case.axis().taxonomy
    assert (root.lo, root.hi) == (0, case.size - 1)
    leaves = [node for node in root.walk() if node.is_leaf]
    assert [(leaf.lo, leaf.hi) for leaf in leaves] == [(code, code) for code in range(case.size)]
    for node in root.walk():
        if node.children:
            bounds = [(child.lo, child.hi) for child in node.children]
            assert bounds[0][0] == node.lo
            assert bounds[-1][1] == node.hi
            assert all(left[1] + 1 == right[0] for left, right in itertools.pairwise(bounds))


@given(grids())
def test_numbers_off_the_grid_are_unknown(case: AxisCase) -> None:
    axis = case.axis()
    step, low, high = case.spec["step"], case.spec["min"], case.spec["max"]
    outside = np.array([low - step, high + step, low + step / 3, high - step / 7, np.inf, -np.inf])
    assert axis.encode(outside).tolist() == [UNKNOWN] * len(outside)


def test_nothing_is_stored_for_each_code_of_a_wide_axis() -> None:
    axis = declared(kind="numeric", min=0, max=2**31 - 3)
    assert axis.encode(np.array([0.0, 2**31 - 3, 2**31 - 2])).tolist() == [0, 2**31 - 3, UNKNOWN]
    assert axis.parse("[5, 2000000000]") == Span(5, 2_000_000_000, False)
    assert axis.taxonomy.children[1].hi == 2**31 - 3


AGE = {"kind": "numeric", "min": 0, "max": 99}
TREE = {"kind": "numeric", "taxonomy": {"young": ["0", "1", "2"], "old": {"ripe": ["3", "4"], "5": []}}}
BINS = {"kind": "numeric", "edges": [0, 20, 35, 60, 100]}
JOBS = {"kind": "categorical", "taxonomy": {"care": ["nurse", "medic"], "office": ["clerk", "judge"], "2": []}}


@pytest.mark.parametrize(
    ("spec", "label", "lo", "hi"),
    [
        (AGE, "[20, 35)", 20, 34),
        (AGE, "[20,35]", 20, 35),
        (AGE, "(20, 35]", 21, 35),
        (AGE, "(20; 35)", 21, 34),
        (AGE, "[20,35[", 20, 34),
        (AGE, "]20,35]", 21, 35),
        (AGE, "20-35", 20, 35),
        (AGE, "20 – 35", 20, 35),
        (AGE, "20..35", 20, 35),
        (AGE, "20 to 35", 20, 35),
        (AGE, " 20 ", 20, 20),
        (AGE, "20.0", 20, 20),
        (AGE, "2e1", 20, 20),
        (AGE, ">=60", 60, 99),
        (AGE, "> 60", 61, 99),
        (AGE, "≥60", 60, 99),
        (AGE, "60+", 60, 99),
        (AGE, "<60", 0, 59),
        (AGE, "≤ 60", 0, 60),
        (AGE, "{20, 22, 35}", 20, 35),
        (AGE, "[-10, 5]", 0, 5),
        (AGE, "[90, 120)", 90, 99),
        (AGE, "*", 0, 99),
        ({**AGE, "min": -9, "max": 9}, "-5--2", 4, 7),
        ({**AGE, "max": 2, "step": 0.5}, "[0.5, 1.5)", 1, 2),
        (TREE, "young", 0, 2),
        (TREE, "old", 3, 5),
        (TREE, "ripe", 3, 4),
        (TREE, "5", 5, 5),
        (TREE, "[1, 3]", 1, 3),
        (BINS, "[20, 35)", 1, 1),
        (BINS, "[20, 60)", 1, 2),
        (BINS, "20-34", 1, 1),
        (BINS, "25", 1, 1),
        (BINS, "35", 2, 2),
        (BINS, ">=60", 3, 3),
        (BINS, ">=50", 2, 3),
        (BINS, "<35", 0, 1),
        (BINS, "99.9", 3, 3),
        (JOBS, "care", 0, 1),
        (JOBS, "office", 2, 3),
        (JOBS, "clerk", 2, 2),
        (JOBS, "{nurse, medic}", 0, 1),
        (JOBS, "{medic; clerk}", 1, 2),
        (JOBS, '{"medic", clerk}', 1, 2),
        (JOBS, "{clerk, medic}", 1, 2),
        (JOBS, "{care, clerk}", 0, 2),
        (JOBS, "2", 4, 4),
        (JOBS, "2.0", 4, 4),
        (JOBS, "{judge, 2.0}", 3, 4),
        (JOBS, "*", 0, 4),
    ],
)
def test_foreign_spellings(spec: dict[str, Any], label: str, lo: int, hi: int) -> None:
    assert declared(**spec).parse(label) == Span(lo, hi, False)
    with_missing = declared(**spec, nullable=True)
    assert with_missing.parse(label) == Span(lo, hi, label == "*")
    if label != "*":
        assert with_missing.parse(f"{label} or (missing)") == Span(lo, hi, True)


@pytest.mark.parametrize(
    ("spec", "label"),
    [
        (AGE, "old"),
        (AGE, ""),
        (AGE, "100"),
        (AGE, "[100, 200]"),
        (AGE, "[35, 20]"),
        (AGE, "nan"),
        (AGE, "{}"),
        (AGE, "20.5"),
        (AGE, "(20, 21)"),
        (AGE, "{20, x}"),
        (AGE, "inf"),
        (AGE, "(missing)"),
        (AGE, "20 or (missing)"),
        (BINS, "100"),
        (BINS, "-1"),
        (JOBS, "pilot"),
        (JOBS, "{nurse, pilot}"),
        (JOBS, "{}"),
        (JOBS, '{"nurse}'),
        (JOBS, "nurse, medic"),
        (JOBS, "(missing)"),
        (JOBS, ""),
    ],
)
def test_labels_without_meaning_are_refused(spec: dict[str, Any], label: str) -> None:
    with pytest.raises(DataError, match="column 'x'"):
        declared(**spec).parse(label)


@pytest.mark.parametrize("spec", [AGE, BINS, JOBS])
def test_the_missing_value_has_labels_of_its_own(spec: dict[str, Any]) -> None:
    axis = declared(**spec, nullable=True)
    last = axis.size - 1
    assert axis.label(Span(0, -1, True)) == "(missing)"
    assert axis.label(Span(0, last, True)) == "*"
    assert axis.label(Span(0, last, False)) == "(present)"
    assert axis.label(Span(0, 1, True)).endswith(" or (missing)")
    assert axis.everything == Span(0, last, True)
    assert MISSING not in axis.encode(np.zeros(1) if axis.kind == "numeric" else ["nurse"])


def test_numbers_and_their_spellings_are_one_value() -> None:
    axis = declared(kind="categorical", values=[1, 2.0, "3.0", "4"])
    assert axis.labels == ["1", "2", "3", "4"]
    assert axis.encode([1, 2, 3.0, "4.0"]).tolist() == [0, 1, 2, 3]
    assert axis.encode(["1.0", "2.00", "3.", "4"]).tolist() == [0, 1, 2, 3]
    assert axis.encode(["1.5", "01", "x"]).tolist() == [UNKNOWN] * 3


@pytest.mark.parametrize(
    "spec",
    [
        {"kind": "numeric", "min": 0, "max": 1, "width": 0.1},
        {"kind": "numeric", "edges": [0, 0.1, 0.2, 0.1 + 0.2, 0.4]},
        {"kind": "numeric", "min": 1_600_000_000_000, "max": 1_600_000_000_005},
        {"kind": "numeric", "edges": [1_600_000_000_000, 1_600_000_000_001, 1_600_000_000_002]},
    ],
)
def test_numbers_of_many_digits_read_back(spec: dict[str, Any]) -> None:
    assert misread(declared(**spec)) == []


@pytest.mark.parametrize("tree", [{" x ": ["a", "b"], "c": []}, {"x": ["a", "b"], " c": []}])
def test_space_around_a_taxonomy_key_does_not_matter(tree: dict[str, Any]) -> None:
    assert misread(declared(kind="categorical", taxonomy=tree, nullable=True)) == []


def test_a_number_as_taxonomy_key_is_the_same_with_and_without_fraction() -> None:
    axis = declared(kind="categorical", taxonomy={"one": ["1.0"], "2.0": []})
    assert axis.encode(["1", "2", 2, "2.0"]).tolist() == [0, 1, 1, 1]
