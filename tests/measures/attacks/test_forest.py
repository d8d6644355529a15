"""The forest: exact where nothing can be split, right where splits are plain, the same on every run."""

from __future__ import annotations

import numpy as np
import pytest

import sfumato as sf
from sfumato.measures.attacks.forest import Examples, Forest
from sfumato.samples.town import SCHEMA_PATH
from sfumato.schema import Axis, Schema


def axes(**columns: dict[str, object]) -> tuple[Axis, ...]:
    secret = {"role": "sensitive", "kind": "categorical", "values": ["a", "b", "c"]}
    return Schema.parse({"columns": {**columns, "secret": secret}}).quasi


NUMBER = {"role": "quasi", "kind": "numeric", "min": 0, "max": 9}
LETTER = {"role": "quasi", "kind": "categorical", "values": list("pqrstuvwxy")}


def rows(codes: list[int], values: list[int], weight: float = 1.0) -> Examples:
    """An example for each row, of one of three values."""
    return Examples(codes=np.array(codes, dtype=np.int32)[:, None], counts=weight * np.eye(3)[values])


def test_one_point_is_its_histogram_drawn_to_evenness() -> None:
    """30 a and 10 b, and a parent that weighs ten rows: (30 + 10/3) / 50 and so on."""
    found = Forest().beliefs(axes(x=NUMBER), rows([4] * 40, [0] * 30 + [1] * 10), np.array([[4], [7]], np.int32))
    assert found == pytest.approx(np.tile(np.array([30 + 10 / 3, 10 + 10 / 3, 10 / 3]) / 50, (2, 1)))


def test_a_weight_is_as_many_rows() -> None:
    points, many = np.array([[1], [8]], np.int32), rows([1] * 60 + [8] * 60, [0] * 60 + [1] * 60)
    few = rows([1] * 6 + [8] * 6, [0] * 6 + [1] * 6, 10.0)
    one, other = (Forest().beliefs(axes(x=NUMBER), each, points) for each in (many, few))
    assert one == pytest.approx(other)


def test_a_histogram_is_as_many_rows() -> None:
    """Places with several values each, and the same rows one by one."""
    points, codes = np.array([[1], [8]], np.int32), [1] * 60 + [8] * 60
    one_by_one = rows(codes, [0] * 40 + [1] * 20 + [1] * 10 + [2] * 50)
    counts = np.array([[40.0, 20.0, 0.0], [0.0, 10.0, 50.0]])
    one, other = (
        Forest().beliefs(axes(x=NUMBER), each, points) for each in (one_by_one, Examples(codes=points, counts=counts))
    )
    assert one == pytest.approx(other)
    assert np.abs(one - np.eye(3)[[0, 2]]).max() > 0.1


@pytest.mark.parametrize("kind", [NUMBER, LETTER])
def test_what_depends_on_the_code_is_found(kind: dict[str, object]) -> None:
    codes = np.repeat(np.arange(10), 200)
    learned = rows(codes.tolist(), (codes % 3).tolist())
    found = Forest().beliefs(axes(x=kind), learned, np.arange(10, dtype=np.int32)[:, None])
    assert (found.argmax(axis=1) == np.arange(10) % 3).all()
    assert found.max(axis=1).min() > 0.8


def test_without_splits_nothing_is_found() -> None:
    """The broken twin: a forest that may not try any split says the same everywhere."""
    codes = np.repeat(np.arange(10), 200)
    learned = rows(codes.tolist(), (codes % 3).tolist())
    found = Forest(tries=0).beliefs(axes(x=NUMBER), learned, np.arange(10, dtype=np.int32)[:, None])
    assert np.ptp(found, axis=0).max() == 0


def test_every_run_is_the_same_and_beliefs_are_distributions() -> None:
    table = sf.read(sf.residents(1_000), schema=SCHEMA_PATH)
    learned = Examples(codes=table.points, counts=table.histograms.astype(np.float64))
    first, second = (Forest().beliefs(table.schema.quasi, learned, table.points) for _ in range(2))
    assert (first == second).all()
    assert first.sum(axis=1) == pytest.approx(np.ones(len(first)))
    assert first.min() > 0
