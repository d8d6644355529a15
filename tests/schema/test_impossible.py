"""What a schema declares impossible: what it means, what is refused, and what becomes of it when columns change."""

from __future__ import annotations

import itertools
import json
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.errors import SchemaError
from sfumato.schema import Schema
from sfumato.schema.column import Column

if TYPE_CHECKING:
    from pathlib import Path

COLUMNS = """
[columns.id]
role = "identifier"

[columns.age]
role = "quasi"
kind = "numeric"
min = 0
max = 4
nullable = true

[columns.marital]
role = "quasi"
kind = "categorical"
taxonomy = { Alone = ["Single", "Widowed"], Together = ["Married"] }

[columns.job]
role = "sensitive"
kind = "categorical"
values = ["nurse", "clerk"]
"""
EVERYTHING = np.array(list(itertools.product([-1, *range(5)], range(3), range(2))))


def loaded(folder: Path, *texts: str) -> Schema:
    path = folder / "people.toml"
    path.write_text(f"impossible = {json.dumps(texts)}\n{COLUMNS}")
    return Schema.load(path)


def test_a_row_is_impossible_if_it_is_in_one_of_the_combinations(tmp_path: Path) -> None:
    schema = loaded(tmp_path, "age < 2 and marital in (Together, Widowed)", "age is missing and job = nurse")
    expected = [
        (0 <= age < 2 and marital in (1, 2)) or (age == -1 and job == 0) for age, marital, job in EVERYTHING.tolist()
    ]
    assert schema.cannot_be(EVERYTHING).tolist() == expected
    assert not schema.cannot_be(np.array([schema.possible_row]))[0]


def test_the_declaration_is_part_of_the_public_schema(tmp_path: Path) -> None:
    schema = loaded(tmp_path, "age < 2 and marital = Married")
    published = json.loads(json.dumps(schema.public().spec()))
    assert published["impossible"] == ["age < 2 and marital = Married"]
    assert Schema.parse(published).impossible == schema.impossible
    assert "impossible" not in loaded(tmp_path).spec()


@pytest.mark.parametrize(
    ("texts", "sentence"),
    [
        (("age < ten",), "impossible holds 'age < ten', but found 'ten' after 'age' <; expected a number"),
        (("age < 2", "height > 3"), "impossible holds 'height > 3', but found 'height' where a column was expected"),
        (("id = 3",), "found 'id' where a column was expected: 'age', 'marital', 'job'"),
        (("marital = Divorced",), "'Divorced' is not a value of 'marital'"),
        (("age < 2 or",), "impossible holds 'age < 2 or', but found the end of the query where a column was expected"),
        (("age < 2 or not age < 2",), "impossible rules out every row"),
        (("",), "impossible holds '', but found the end of the query where a column was expected"),
        (("age >= 0", "age is missing"), "impossible rules out every row; leave a condition out"),
        (("marital = Alone", "marital = Married and job = nurse", "job = clerk"), "impossible rules out every row"),
        (("age < 1",) * 1_001, "impossible holds 1001 conditions; expected at most 1,000"),
    ],
)
def test_a_bad_condition_is_refused_in_one_sentence(tmp_path: Path, texts: tuple[str, ...], sentence: str) -> None:
    with pytest.raises(SchemaError) as caught:
        loaded(tmp_path, *texts)
    message = str(caught.value)
    assert message.startswith(f"{tmp_path / 'people.toml'}: ")
    assert sentence in message
    assert "\n" not in message


@pytest.mark.parametrize("value", ['"age < 2"', "[1]", "true"])
def test_only_a_list_of_texts_is_taken(tmp_path: Path, value: str) -> None:
    path = tmp_path / "people.toml"
    path.write_text(f"impossible = {value}\n{COLUMNS}")
    with pytest.raises(SchemaError, match=r"impossible is .*expected"):
        Schema.load(path)


@st.composite
def conditions(draw: st.DrawFn) -> str:
    words = {
        "age": st.sampled_from(["age < 2", "age >= 2", "age is missing", "age is not missing", "age = 3"]),
        "marital": st.sampled_from(["marital = Alone", "marital = Together", "marital != Widowed"]),
        "job": st.sampled_from(["job = nurse", "job = clerk"]),
    }
    named = draw(st.lists(st.sampled_from(sorted(words)), min_size=1, max_size=3, unique=True))
    return " and ".join(draw(words[name]) for name in named)


@given(st.lists(conditions(), max_size=7))
def test_a_schema_is_refused_if_and_only_if_no_row_is_left(texts: list[str]) -> None:
    plain = Schema.parse(
        {
            "columns": {
                "age": {"role": "quasi", "kind": "numeric", "min": 0, "max": 4, "nullable": True},
                "marital": {
                    "role": "quasi",
                    "kind": "categorical",
                    "taxonomy": {"Alone": ["Single", "Widowed"], "Together": ["Married"]},
                },
                "job": {"role": "sensitive", "kind": "categorical", "values": ["nurse", "clerk"]},
            }
        }
    )
    alone = [replace(plain, impossible=(text,)).cannot_be(EVERYTHING) for text in texts]
    if texts and np.logical_or.reduce(alone).all():
        with pytest.raises(SchemaError, match="rules out every row"):
            replace(plain, impossible=tuple(texts))
    else:
        schema = replace(plain, impossible=tuple(texts))
        assert not schema.cannot_be(np.array([schema.possible_row]))[0]


def test_combinations_that_overlap_in_too_many_ways_are_refused() -> None:
    """Rows of 14 columns of which each has to differ from all others, with fewer values than columns."""
    names = [f"c{number}" for number in range(14)]
    axis = {"role": "quasi", "kind": "categorical", "values": [f"v{number}" for number in range(10)]}
    texts = [
        f"{one} = v{value} and {other} = v{value}"
        for one, other in itertools.combinations(names, 2)
        for value in range(10)
    ]
    sensitive = {"job": {"role": "sensitive", "kind": "categorical", "values": ["nurse", "clerk"]}}
    with pytest.raises(SchemaError, match="too many ways to tell whether any row is left"):
        Schema.parse({"columns": {**dict.fromkeys(names, axis), **sensitive}, "impossible": texts})


def test_what_is_said_of_a_column_goes_when_the_column_changes(tmp_path: Path) -> None:
    texts = ("age < 2 and marital = Married", "age = 4 and job = nurse", "job = clerk and marital = Single")
    schema = loaded(tmp_path, *texts)
    dropped = [Column(name="age", role="ignore") if column.name == "age" else column for column in schema.columns]
    assert schema.with_columns(tuple(dropped)).impossible == texts[2:]
    assert schema.with_columns(schema.columns).impossible == texts
