"""The forest: exact where nothing can be split, right where splits are plain, the same on every run."""

from __future__ import annotations

import numpy as np
import pytest

import sfumato as sf
from sfumato.measures.attacks.forest import Forest, WeightedRows
from sfumato.samples.town import SCHEMA_PATH
from sfumato.schema import Axis, Schema


def axes(**columns: dict[str, object]) -> tuple[Axis, ...]:
    secret = {"role": "sensitive", "kind": "categorical", "values": ["a", "b", "c"]}
    return Schema.parse({"columns": {**columns, "secret": secret}}).quasi


NUMBER = {"role": "quasi", "kind": "numeric", "min": 0, "max": 9}
LETTER = {"role": "quasi", "kind": "categorical", "values": list("pqrstuvwxy")}


def rows(codes: list[int], values: list[int], weight: float = 1.0) -> WeightedRows:
    return WeightedRows(
        codes=np.array(codes, dtype=np.int32)[:, None], values=np.array(values), weights=np.full(len(codes), weight)
    )


def test_one_point_is_its_histogram_drawn_to_evenness() -> None:
    """30 a and 10 b, and a parent that weighs ten rows: (30 + 10/3) / 50 and so on."""
    found = Forest().beliefs(axes(x=NUMBER), rows([4] * 40, [0] * 30 + [1] * 10), np.array([[4], [7]], np.int32), 3)
    assert found == pytest.approx(np.tile(np.array([30 + 10 / 3, 10 + 10 / 3, 10 / 3]) / 50, (2, 1)))


def test_a_weight_is_as_many_rows() -> None:
    points, many = np.array([[1], [8]], np.int32), rows([1] * 60 + [8] * 60, [0] * 60 + [1] * 60)
    few = rows([1] * 6 + [8] * 6, [0] * 6 + [1] * 6, 10.0)
    one, other = (Forest().beliefs(axes(x=NUMBER), each, points, 3) for each in (many, few))
    assert one == pytest.approx(other)


@pytest.mark.parametrize("kind", [NUMBER, LETTER])
def test_what_depends_on_the_code_is_found(kind: dict[str, object]) -> None:
    codes = np.repeat(np.arange(10), 200)
    learned = rows(codes.tolist(), (codes % 3).tolist())
    found = Forest().beliefs(axes(x=kind), learned, np.arange(10, dtype=np.int32)[:, None], 3)
    assert (found.argmax(axis=1) == np.arange(10) % 3).all()
    assert found.max(axis=1).min() > 0.8


def test_without_splits_nothing_is_found() -> None:
    """The broken twin: a forest that may not try any split says the same everywhere."""
    codes = np.repeat(np.arange(10), 200)
    learned = rows(codes.tolist(), (codes % 3).tolist())
    found = Forest(tries=0).beliefs(axes(x=NUMBER), learned, np.arange(10, dtype=np.int32)[:, None], 3)
    assert np.ptp(found, axis=0).max() == 0


def test_every_run_is_the_same_and_beliefs_are_distributions() -> None:
    table = sf.read(sf.residents(1_000), schema=SCHEMA_PATH)
    learned = WeightedRows(
        codes=table.points[table.cell_point],
        values=table.cell_value.astype(np.int64),
        weights=table.cell_weight.astype(np.float64),
    )
    first, second = (Forest().beliefs(table.schema.quasi, learned, table.points, table.values) for _ in range(2))
    assert (first == second).all()
    assert first.sum(axis=1) == pytest.approx(np.ones(len(first)))
    assert first.min() > 0
