"""Cells are what counting rows one by one gives, whatever the order of rows and the seed of Python's hashes."""

import json
import os
import random
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato
from sfumato.data import Table, read
from sfumato.schema import Schema
from strategies import TableCase, tables


def cells_of(table: Table) -> Counter[tuple[tuple[int, ...], int]]:
    """The table's cells as a count for each point and sensitive code."""
    points = [tuple(point) for point in table.points.tolist()]
    triples = zip(table.cell_point.tolist(), table.cell_value.tolist(), table.cell_weight.tolist(), strict=True)
    cells: Counter[tuple[tuple[int, ...], int]] = Counter()
    for point, value, weight in triples:
        assert (points[point], value) not in cells
        cells[points[point], value] = weight
    return cells


@given(tables())
def test_cells_are_a_count_over_rows(case: TableCase) -> None:
    table = case.table
    assert cells_of(table) == Counter(case.people)
    assert table.n == len(case.rows)
    assert table.overall.sum() == table.weights.sum() == table.histograms.sum() == len(case.rows)
    assert table.overall.tolist() == [
        sum(value == code for _, value in case.people) for code in range(case.case.sensitive.positions)
    ]


@given(tables())
def test_points_and_cells_rise(case: TableCase) -> None:
    table = case.table
    points = [tuple(point) for point in table.points.tolist()]
    assert points == sorted({point for point, _ in case.people})
    cells = list(zip(table.cell_point.tolist(), table.cell_value.tolist(), strict=True))
    assert cells == sorted(set(cells))
    for i, point in enumerate(points):
        own = [value for where, value in case.people if where == point]
        start, end = table.cell_start[i], table.cell_start[i + 1]
        assert table.weights[i] == len(own)
        assert table.cell_value[start:end].tolist() == sorted(set(own))
        assert table.histograms[i].tolist() == [own.count(code) for code in range(table.values)]


@given(tables(), st.randoms(use_true_random=False))
def test_the_order_of_rows_does_not_matter(case: TableCase, shuffler: random.Random) -> None:
    order = list(range(len(case.rows)))
    shuffler.shuffle(order)
    other = read(case.frame[order], case.case.schema)
    for name in ("points", "cell_point", "cell_value", "cell_weight"):
        assert np.array_equal(getattr(other, name), getattr(case.table, name))
    assert other.fingerprint == case.table.fingerprint


@given(tables())
def test_the_fingerprint_tells_tables_apart(case: TableCase) -> None:
    doubled = read(pl.concat([case.frame, case.frame[:1]]), case.case.schema)
    assert doubled.fingerprint != case.table.fingerprint
    renamed = Schema.parse({**case.case.spec, "name": "others"})
    assert read(case.frame, renamed).fingerprint != case.table.fingerprint
    assert case.table.without_rows().fingerprint == case.table.fingerprint
    assert case.table.without_rows().rows is None


AXES: dict[str, dict[str, Any]] = {
    "age": {"role": "quasi", "kind": "numeric", "min": 0, "max": 9, "nullable": True},
    "town": {"role": "quasi", "kind": "categorical", "values": ["a", "b"]},
    "ill": {"role": "sensitive", "kind": "categorical", "values": ["no", "yes"], "nullable": True},
}
ROWS = {"age": [0, 5, None, 5], "town": ["a", "b", "b", "b"], "ill": ["no", None, "yes", "no"]}


def digest(rows: dict[str, list[Any]] = ROWS, **changed: dict[str, Any]) -> str:
    columns = {name: {**AXES[name], **changed.get(name, {})} for name in {**changed, **AXES}}
    return read(rows, {"name": "-".join(["table", *changed]), "columns": columns}).digest


def test_the_digest_knows_the_same_rows_however_they_are_declared() -> None:
    expected = digest()
    assert digest(town={}, age={}) == expected
    assert digest(age={"min": -1, "max": 120}) == digest(age={"step": 0.5}) == expected
    assert digest(town={"values": ["z", "b", "a"]}) == expected
    assert digest(town={"values": ["b", "a"], "nullable": True}, ill={"values": ["yes", "maybe", "no"]}) == expected
    assert digest(town={"role": "sensitive"}, ill={"role": "quasi"}) == expected
    taxonomy = {"values": None, "taxonomy": {"north": ["b"], "south": ["a", "c"]}}
    columns = {**AXES, "town": {key: value for key, value in {**AXES["town"], **taxonomy}.items() if value}}
    assert read(ROWS, {"columns": columns}).digest == expected


@pytest.mark.parametrize(
    "rows",
    [
        {**ROWS, "age": [0, 5, None, 6]},
        {**ROWS, "age": [5, 0, None, 5]},
        {**ROWS, "age": [0, 5, 5, 5]},
        {**ROWS, "ill": ["no", "yes", "yes", "no"]},
        {name: values * 2 for name, values in ROWS.items()},
        {name: values[1:] for name, values in ROWS.items()},
        {name: [] for name in ROWS},
    ],
)
def test_the_digest_tells_other_rows_apart(rows: dict[str, list[Any]]) -> None:
    assert digest(rows) != digest()


def test_columns_do_not_stand_in_for_each_other() -> None:
    both = {"role": "quasi", "kind": "numeric", "min": 0, "max": 9}
    columns = {"p": both, "q": both, "ill": AXES["ill"]}
    one, other = (read({"p": p, "q": q, "ill": ["no"]}, {"columns": columns}) for p, q in (([1], [2]), ([2], [1])))
    assert one.digest != other.digest
    swapped = {"columns": {"r": both, "q": both, "ill": AXES["ill"]}}
    assert read({"r": [1], "q": [2], "ill": ["no"]}, swapped).digest != one.digest


def test_missing_values_are_a_leaf_of_their_own() -> None:
    schema = Schema.parse(
        {
            "missing": ["", "?"],
            "columns": {
                "age": {"role": "quasi", "kind": "numeric", "min": 0, "max": 99, "nullable": True},
                "job": {"role": "quasi", "kind": "categorical", "values": ["a", "b"], "nullable": True},
                "ill": {"role": "sensitive", "kind": "categorical", "values": ["no", "yes"], "nullable": True},
            },
        }
    )
    frame = pl.DataFrame(
        {
            "age": ["30", None, "?", "", " ? ", "30"],
            "job": ["a", "b", None, "?", "b", "a"],
            "ill": ["no", "yes", "?", None, "yes", ""],
        }
    )
    table = read(frame, schema)
    assert table.n == 6
    assert table.points.tolist() == [[-1, -1], [-1, 1], [30, 0]]
    assert table.histograms.tolist() == [[0, 0, 2], [0, 2, 0], [1, 0, 1]]
    assert table.schema.sensitive.labels == ["no", "yes", "(missing)"]


HASHED = """
import json, sys
from sfumato.data import read
from sfumato.methods.partition.mondrian import Mondrian
from sfumato.schema import Schema
spec = json.loads(sys.argv[1])
table = read(sys.argv[2], Schema.parse(spec))
release = Mondrian(k=2, t=0.4).publish(table)
labels = [release.boxes.labels(axis, i) for i, axis in enumerate(release.schema.quasi)]
print(json.dumps([table.fingerprint, table.points.tolist(), labels, release.histograms.tolist()]))
"""


def test_nothing_depends_on_the_hash_seed(tmp_path: Path) -> None:
    spec = {
        "columns": {
            "town": {"role": "quasi", "kind": "categorical", "taxonomy": {"north": ["x", "y"], "south": ["z", "w"]}},
            "trade": {"role": "quasi", "kind": "categorical", "values": ["p", "q", "r"], "nullable": True},
            "ill": {"role": "sensitive", "kind": "categorical", "values": ["no", "yes", "maybe"]},
        }
    }
    rows = [f"{'xyzw'[i % 4]},{['p', 'q', 'r', ''][i * i % 7 % 4]},{['no', 'yes', 'maybe'][i % 3]}" for i in range(60)]
    (tmp_path / "people.csv").write_text("town,trade,ill\n" + "\n".join(rows) + "\n")
    source = str(Path(sfumato.__path__[0]).parent)
    running = [
        subprocess.Popen(
            [sys.executable, "-c", HASHED, json.dumps(spec), str(tmp_path / "people.csv")],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": source},
            stdout=subprocess.PIPE,
            text=True,
        )
        for seed in ("0", "4711")
    ]
    printed = [process.communicate()[0] for process in running]
    assert [process.returncode for process in running] == [0, 0]
    assert printed[0] == printed[1]
    assert len(json.loads(printed[0])[1]) > 4


def test_adult_has_its_rows(adult: Table, adult_training: Table) -> None:
    assert (adult.n, adult_training.n) == (45_222, 30_162)
    assert [axis.positions for axis in adult.schema.axes] == [74, 8, 16, 7, 5, 2, 14]
    assert adult.overall.sum() == 45_222


@pytest.mark.parametrize("value", [-1, 3])
def test_a_wrong_count_would_be_seen(value: int) -> None:
    """The comparison above can fail: one row more or less is another Counter."""
    rows = [((0,), 0), ((0,), 1), ((1,), 1)]
    assert Counter(rows) != Counter([*rows, ((value,), 0)])
