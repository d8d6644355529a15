"""A person is whoever shares an identifier; which of their rows are used follows from these rows alone."""

from __future__ import annotations

import pickle
import random
import subprocess
import sys
from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.data import Table, engine, read
from sfumato.data.people import keep_rows_of_people
from sfumato.errors import DataError, ParameterError, SchemaError
from sfumato.measures.workloads.holdout import hold_out
from sfumato.methods import METHODS, MST, Dirichlet, LocalNoise, Mondrian, QuadTree
from sfumato.privacy.loss import Concentrated, Pure
from sfumato.schema import Schema

COLUMNS: dict[str, dict[str, Any]] = {
    "patient": {"role": "identifier"},
    "age": {"role": "quasi", "kind": "numeric", "min": 0, "max": 9},
    "ill": {"role": "sensitive", "kind": "categorical", "values": ["no", "yes"]},
}
Visits = list[tuple[str | None, int, str]]


def schema_of(rows_per_person: int = 1, **more: Any) -> Schema:
    return Schema.parse({"rows_per_person": rows_per_person, "columns": COLUMNS, **more})


def table_of(visits: Visits, rows_per_person: int = 1) -> Table:
    frame = pl.DataFrame(visits, schema={"patient": pl.String, "age": pl.Int64, "ill": pl.String}, orient="row")
    return read(frame, schema_of(rows_per_person))


def cells(table: Table) -> dict[tuple[int, int], int]:
    ages = table.points[table.cell_point, 0].tolist()
    return dict(zip(zip(ages, table.cell_value.tolist(), strict=True), table.cell_weight.tolist(), strict=True))


VISITS = st.lists(
    st.tuples(st.sampled_from(["a", "b", "c", None, ""]), st.integers(0, 9), st.sampled_from(["no", "yes"])),
    max_size=12,
)


@given(VISITS, VISITS, st.integers(1, 3), st.randoms(use_true_random=False))
def test_a_person_more_adds_their_rows_and_changes_no_other(
    others: Visits, own: Visits, limit: int, shuffle: random.Random
) -> None:
    own = [("x", age, ill) for _, age, ill in own]
    together = [*others, *own]
    shuffle.shuffle(together)
    without, alone, both = (cells(table_of(visits, limit)) for visits in (others, own, together))
    assert sum(alone.values()) == min(len(own), limit)
    assert {cell: without.get(cell, 0) + alone.get(cell, 0) for cell in without.keys() | alone.keys()} == both


@given(VISITS, st.integers(2, 4))
def test_one_row_of_each_person_is_among_those_used(visits: Visits, limit: int) -> None:
    table, first = table_of(visits, limit), table_of(visits)
    assert cells(table.people) == cells(first)
    assert first.people is first
    assert first.n == len({person for person, *_ in visits if person})
    again = pickle.loads(pickle.dumps(table.without_rows()))
    assert cells(again.people) == cells(first)


@given(VISITS, st.integers(0, 9), st.sampled_from(["no", "yes"]), st.integers(1, 3))
def test_somebody_without_an_identifier_changes_nothing(visits: Visits, age: int, ill: str, limit: int) -> None:
    table = table_of(visits, limit)
    for spelling in (None, "", " "):
        more = table_of([*visits, (spelling, age, ill)], limit)
        assert cells(more) == cells(table)
        assert more.unowned == table.unowned + 1


@pytest.mark.parametrize("instead", ["nobody", None], ids=["one person", "a person each"])
def test_twins_that_count_rows_of_nobody_are_found(monkeypatch: pytest.MonkeyPatch, instead: str | None) -> None:
    """Taken as one person's, a second such row can take the place of the first; as one each, both are used."""
    named = engine.as_names

    def name_all(*what: Any) -> pl.Series:
        names = named(*what)
        return names.fill_null(instead) if instead else pl.Series([name or str(n) for n, name in enumerate(names)])

    monkeypatch.setattr(engine, "as_names", name_all)
    alone: list[Visits] = [[(None, 0, "no")], [(None, 0, "yes")]]
    changes = [set(cells(table_of(one)).items()) ^ set(cells(table_of(alone[0] + alone[1])).items()) for one in alone]
    assert max(map(len, changes)) == (2 if instead else 1)


def test_what_means_missing_is_nobodys_name() -> None:
    schema = schema_of(missing=["-9.0", "unknown"])
    ids = {"patient": [-9, "unknown", "", " ", None, "a"], "age": [1] * 6, "ill": ["no"] * 6}
    for source in (ids, pl.DataFrame({**ids, "patient": [*map(str, ids["patient"][:4]), None, "a"]})):
        assert (read(source, schema).n, read(source, schema).unowned) == (1, 5)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("7", "7.0", True),
        ("7", "+7", True),
        ("7", "7e0", True),
        ("7", "0.7E1", True),
        ("0", "-0.00", True),
        ("700", "7e2", True),
        (".5", "5e-1", True),
        ("-7", "-7.", True),
        ("x", " x\u00a0", True),
        ("\u00e9", "e\u0301", True),
        ("7", "07", False),
        ("7", "-7", False),
        ("7", "7.5", False),
        ("a7", "A7", False),
        ("12345678901234567890", "12345678901234567891", False),
        ("1e999999999", "1e999999998", False),
        ("1e9999999999", "1e99999999999", False),
        ("\u0663", "3", False),
    ],
)
def test_spellings_of_one_identifier(one: str, other: str, same: bool) -> None:
    assert table_of([(one, 1, "no"), (other, 2, "no")]).n == (1 if same else 2)


def test_how_many_people_had_several_rows() -> None:
    visits: Visits = [("a", 1, "no"), ("a", 2, "no"), ("b", 1, "no"), (None, 2, "yes"), ("", 3, "no")]
    assert (table_of(visits).repeated, table_of(visits, 3).repeated) == (1, 1)
    assert (table_of(visits).unowned, table_of(visits, 3).unowned) == (2, 2)


def test_the_choice_is_not_always_the_first_row_nor_the_same_place() -> None:
    chosen = [cells(table_of([(f"p{person}", age, "no") for age in range(10)])) for person in range(200)]
    ages = [next(iter(found))[0] for found in chosen]
    assert set(ages) == set(range(10))


def test_the_secret_does_not_choose_the_row() -> None:
    """What hides the secret alone publishes the rest of the row as it is."""
    for person in range(20):
        visits: list[Visits] = [
            [(f"p{person}", age, "yes" if age in ill else "no") for age in range(4)] for ill in ((), (0,), (1, 3), (2,))
        ]
        assert len({next(iter(cells(table_of(each))))[0] for each in visits}) == 1


def test_another_process_chooses_the_same_rows() -> None:
    program = (
        "import polars as pl; from sfumato.data.people import keep_rows_of_people as keep\n"
        "codes = pl.DataFrame({'a': range(400), 's': 0}, schema={'a': pl.Int32, 's': pl.Int32})\n"
        "people = pl.Series([str(n % 7) for n in range(400)])\n"
        "print(keep(codes, pl.DataFrame(), people, 3, secrets=['s']).to_list())"
    )
    found = {subprocess.run([sys.executable, "-c", program], capture_output=True, check=True).stdout for _ in range(2)}
    codes = pl.DataFrame({"a": range(400), "s": 0}, schema={"a": pl.Int32, "s": pl.Int32})
    here = keep_rows_of_people(codes, pl.DataFrame(), pl.Series([str(n % 7) for n in range(400)]), 3, secrets=["s"])
    assert found == {f"{here.to_list()}\n".encode()}


def test_kept_columns_stay_beside_their_rows() -> None:
    spec = schema_of().spec()
    spec["columns"]["note"] = {"role": "keep"}
    rows = {"patient": ["a"] * 9, "age": range(9), "ill": ["no"] * 9, "note": [str(age) for age in range(9)]}
    for limit in (1, 4):
        table = read(rows, Schema.parse({**spec, "rows_per_person": limit}))
        kept = table.people.kept_rows(np.arange(1))
        assert kept is not None
        assert kept.whole["note"].to_list() == [str(table.people.points[0, 0])]


def test_a_large_table_is_quick() -> None:
    count = 300_000
    codes = pl.DataFrame({"a": np.arange(count, dtype=np.int32) % 90}).with_columns(s=0)
    people = pl.Series(np.arange(count) % (count // 3)).cast(pl.String)
    assert keep_rows_of_people(codes, pl.DataFrame(), people, 2, secrets=["s"]).sum() == 2 * (count // 3)


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ({"rows_per_person": 0}, "rows_per_person is 0; expected a whole number of at least 1"),
        ({"rows_per_person": True}, "rows_per_person is True; expected a whole number"),
        ({"rows_per_person": "2"}, "rows_per_person is '2'; expected a whole number"),
        ({"person": 3}, "person is 3; expected the name of a column"),
        ({"person": "age"}, "person is 'age'; expected a column with role = \"identifier\""),
    ],
)
def test_what_says_who_is_a_person_is_checked(more: dict[str, Any], expected: str) -> None:
    with pytest.raises(SchemaError) as caught:
        Schema.parse({"columns": COLUMNS, **more})
    assert str(caught.value).startswith(expected)


def test_several_identifiers_need_one_that_is_the_person() -> None:
    columns = {**COLUMNS, "name": {"role": "identifier"}}
    assert Schema.parse({"columns": columns, "person": "name"}).person_column == "name"
    for more in ({}, {"rows_per_person": 2}):
        with pytest.raises(SchemaError, match="'patient' and 'name' are identifiers; name the one that says whose"):
            Schema.parse({"columns": columns, **more})
    nobody = {name: spec for name, spec in COLUMNS.items() if name != "patient"}
    with pytest.raises(SchemaError, match="nothing says whose a row is"):
        Schema.parse({"columns": nobody, "rows_per_person": 2})
    chosen = Schema.parse({"columns": columns, "person": "name", "rows_per_person": 2})
    assert Schema.parse(chosen.spec()) == chosen
    assert Schema.parse(chosen.public().spec()).rows_per_person == 2


def test_a_file_without_the_person_is_refused() -> None:
    with pytest.raises(DataError, match="the column 'patient' is missing"):
        read({"age": [1], "ill": ["no"]}, schema_of())


def test_a_row_may_cost_what_all_rows_of_a_person_can_bear() -> None:
    assert Pure(Fraction(1)).per_row(5) == Pure(Fraction(1, 5))
    assert Concentrated(Fraction(1)).per_row(5) == Concentrated(Fraction(1, 25))


def test_noise_grows_with_the_rows_of_a_person() -> None:
    visits: Visits = [(str(number), 1, "no") for number in range(50)]
    few, many = (QuadTree(epsilon=1, height=0).publish(table_of(visits, rows)) for rows in (1, 5))
    assert few.deviation is not None
    assert many.deviation is not None
    assert 4.5 < many.deviation[0] / few.deviation[0] < 5.5
    assert MST(epsilon=1, delta=1e-6).claim.epsilon == 1


def test_claims_say_who_is_a_person() -> None:
    visits: Visits = [(str(number // 2), number % 10, "yes" if number % 3 else "no") for number in range(60)]
    one, five = table_of(visits), table_of(visits, 5)
    assert (
        "a person is whoever has the same patient; at most one row of each is used"
        in QuadTree(epsilon=1).publish(one).claim.assumptions
    )
    said = QuadTree(epsilon=1).publish(five).claim.assumptions
    assert said[0] == "a person is whoever has the same patient; at most 5 rows of each are used"
    assert not any("every person has at most one row" in line for line in said)
    for table in (one, five):
        release = Mondrian(k=2).publish(table)
        assert release.rows == 30
        assert "a person is whoever has the same patient; one row of each is published" in release.claim.assumptions
    for method in (Dirichlet(epsilon=1), LocalNoise(epsilon=1)):
        assert any("at most one row of each is used" in line for line in method.publish(one).claim.assumptions)
        with pytest.raises(ParameterError, match="rows_per_person is 5, but"):
            method.publish(five)
        assert not list(type(method).grid(five))


def test_claims_without_noise_say_that_rows_are_taken_for_people_where_nothing_tells() -> None:
    columns = {name: spec for name, spec in COLUMNS.items() if name != "patient"}
    rows = {"age": [1, 1, 2, 2], "ill": ["no", "yes"] * 2}
    release = Mondrian(k=2).publish(read(rows, {"columns": columns}))
    assert release.claim.assumptions[-1] == "every person has at most one row"
    assert not METHODS["original"]().publish(read(rows, {"columns": columns})).claim.promises


def test_a_part_of_a_table_knows_its_people() -> None:
    visits: Visits = [(str(number // 2), number % 10, "yes" if number % 3 else "no") for number in range(60)]
    train, test = hold_out(table_of(visits, 2))
    assert train.people.n <= train.n
    assert test.people.n <= test.n
