"""A proposed schema reads the file it was made from, says what it took from it, and survives being written."""

import math
import re
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from sfumato.data import read
from sfumato.data.propose import MAX_QUASI, make_proposal, propose, to_toml
from sfumato.errors import DataError
from sfumato.schema import NumericAxis, Schema
from strategies import SchemaCase, schemas

PEOPLE = pl.DataFrame(
    {
        "name": [f"person {i}" for i in range(60)],
        "age": [20 + i % 37 for i in range(60)],
        "wage": [1_000.5 + 331 * i for i in range(60)],
        "town": [["Oslo", "Bergen", "?"][i % 3] for i in range(60)],
        "ill": [["no", "yes"][i % 5 == 0] for i in range(60)],
    }
)


def written(folder: Path, frame: pl.DataFrame, name: str = "people.csv") -> Path:
    path = folder / name
    frame.write_csv(path)
    return path


def test_a_proposal_for_people(tmp_path: Path) -> None:
    path = written(tmp_path, PEOPLE)
    schema = propose(path, "ill", quasi=("age", "wage", "town"))
    assert schema.name == "people"
    assert {column.name: column.role for column in schema.columns} == {
        "name": "ignore",
        "age": "quasi",
        "wage": "quasi",
        "town": "quasi",
        "ill": "sensitive",
    }
    age, wage, town = schema.quasi
    assert isinstance(age, NumericAxis)
    assert (age.minimum, age.maximum, age.step) == (20, 56, 1)
    assert isinstance(wage, NumericAxis)
    assert 20 < len(wage.edges) <= 60
    assert wage.edges[0] <= 1_000.5
    assert wage.edges[-1] > 1_000.5 + 331 * 59
    assert (town.labels, town.nullable) == (["Bergen", "Oslo", "(missing)"], True)
    assert schema.from_data == {
        "age": ("min", "max", "step"),
        "wage": ("edges",),
        "town": ("values", "nullable"),
        "ill": ("values",),
    }
    assert read(path, schema).n == 60


def test_roles_are_guessed() -> None:
    schema = propose(PEOPLE, "ill")
    roles = {column.name: column.role for column in schema.columns}
    assert roles == {"name": "identifier", "age": "quasi", "wage": "quasi", "town": "quasi", "ill": "sensitive"}
    assert schema.name == "table"


def test_at_most_eight_quasi_identifiers_are_guessed_those_that_tell_most() -> None:
    rng = np.random.default_rng(3)
    frame = pl.DataFrame({f"q{i}": rng.integers(0, 2 + i, 400).astype(str) for i in range(11)}).select(
        pl.all().replace_strict({str(n): f"value {n}" for n in range(13)}),
        ill=pl.Series(["no", "no", "yes", "no"] * 100),
    )
    proposal = make_proposal(frame, ["ill"], (), (), MAX_QUASI)
    assert [axis.name for axis in proposal.schema.quasi] == [f"q{i}" for i in range(3, 11)]
    assert proposal.why["q0"] == (
        "tells less about whose a row is (1.0 bits) than the 8 that are taken (2.3 bits or more)"
    )
    assert [axis.name for axis in propose(frame, "ill", max_quasi=2).quasi] == ["q9", "q10"]
    assert len(propose(frame, "ill", quasi=tuple(f"q{i}" for i in range(11))).quasi) == 11


@pytest.mark.parametrize(
    ("sensitive", "quasi", "expected"),
    [
        ("disease", (), "the data frame: the column 'disease' is missing; the file has 'name', 'age'"),
        ("ill", ("city",), "the column 'city' is missing"),
        ("ill", ("ill",), "the column 'ill' cannot be both sensitive and a quasi-identifier"),
    ],
)
def test_columns_that_cannot_be_used(sensitive: str, quasi: tuple[str, ...], expected: str) -> None:
    with pytest.raises(DataError) as caught:
        propose(PEOPLE, sensitive, quasi)
    assert expected in str(caught.value)


def test_columns_without_use() -> None:
    with pytest.raises(DataError, match="no column looks like a quasi-identifier"):
        propose(PEOPLE.select("name", "ill"), "ill")
    with pytest.raises(DataError, match="the column 'town' cannot be quasi: no row has a value"):
        propose(PEOPLE.with_columns(town=pl.lit("?")), "ill", quasi=("age", "town"))
    many = pl.DataFrame({"q": [f"a{'b' * i}" for i in range(300)], "ill": ["no", "yes"] * 150})
    with pytest.raises(DataError, match="the column 'q' cannot be quasi: 300 different texts in 300 rows, too many"):
        propose(many, "ill", quasi=("q",))
    with pytest.raises(DataError, match="has one value"):
        propose(PEOPLE.with_columns(ill=pl.lit("no")), "ill")


texts = st.one_of(
    st.integers(-3, 40).map(str),
    st.integers(-(10**6), 10**6).map(str),
    st.sampled_from(["", "NA", "?", "2.0", " a "]),
    st.text("abcXYZ ,;{}'é漢*-", min_size=1, max_size=6).filter(
        lambda text: not re.fullmatch(r"|\*|\{.*\}", text.strip())
    ),
)
whole_columns = st.lists(st.integers(-(10**5), 10**5), min_size=4, max_size=12)


@given(st.lists(texts, min_size=4, max_size=12), whole_columns)
def test_a_proposal_reads_its_own_rows(texts: list[str], numbers: list[int]) -> None:
    size = min(len(texts), len(numbers))
    frame = pl.DataFrame({"q": texts[:size], "n": numbers[:size], "ill": ["no", "yes", *["no"] * (size - 2)]})
    assume(any(text.strip() not in ("", "NA", "?") for text in texts[:size]))
    schema = propose(frame, "ill", quasi=("q", "n"))
    assert read(frame, schema).n == size
    assert all(column.from_data for column in schema.columns if column.axis and column.axis.kind != "boolean")
    assert Schema.parse(schema.spec()) == schema


@given(st.lists(st.integers(-(10**4), 10**4), min_size=3, max_size=12), st.sampled_from([10, 100, 1000]))
@example([5, 430, 100], 100)
def test_a_proposal_reads_its_own_decimals(numbers: list[int], scale: int) -> None:
    values = [number / scale for number in numbers]
    frame = pl.DataFrame({"q": values, "ill": ["no", "yes", *["no"] * (len(values) - 2)]})
    assert read(frame, propose(frame, "ill", quasi=("q",))).n == len(values)


@pytest.mark.parametrize("values", [[123456.5] * 3, [1.6e12 + 0.5, 1.6e12 + 3, 1.6e12]])
def test_a_proposal_for_numbers_close_together(values: list[float]) -> None:
    frame = pl.DataFrame({"q": values, "ill": ["no", "yes", "no"]})
    assert read(frame, propose(frame, "ill", quasi=("q",))).n == 3


def reloaded(folder: Path, schema: Schema) -> Schema:
    path = folder / "proposed.toml"
    path.write_text(to_toml(schema), encoding="utf-8")
    return Schema.load(path)


@given(schemas())
def test_a_schema_survives_its_file(tmp_path_factory: pytest.TempPathFactory, case: SchemaCase) -> None:
    assert reloaded(tmp_path_factory.getbasetemp(), case.schema) == case.schema


def test_a_proposal_survives_its_file(tmp_path: Path) -> None:
    odd = PEOPLE.rename({"town": 'to"w.n = ü'}).with_columns(ill=pl.lit("a\tb\\") + pl.col("ill"))
    schema = propose(written(tmp_path, odd, "café.csv"), "ill")
    text = to_toml(schema)
    assert text.startswith("# A proposal.")
    assert "from_data" in text
    assert reloaded(tmp_path, schema) == schema
    assert schema.name == "café"


@pytest.mark.parametrize(("name", "value"), [("😀.csv", "no"), ("people.csv", "n\x7fo")])
def test_every_character_survives_the_file(tmp_path: Path, name: str, value: str) -> None:
    frame = PEOPLE.with_columns(ill=pl.Series([value, "yes"] * 30))
    schema = propose(written(tmp_path, frame, name), "ill")
    assert reloaded(tmp_path, schema) == schema


@given(st.integers(1, 10**6), st.integers(0, 10**6))
def test_edges_of_whole_numbers_are_few_and_even(low: int, spread: int) -> None:
    frame = pl.DataFrame({"q": [low, low + spread + 2_000], "ill": ["no", "yes"]})
    axis = propose(frame, "ill", quasi=("q",)).quasi[0]
    assert isinstance(axis, NumericAxis)
    widths = {round(b - a, 6) for a, b in zip(axis.edges, axis.edges[1:], strict=False)}
    assert len(widths) == 1
    assert widths.pop() / 10 ** math.floor(math.log10(axis.edges[1] - axis.edges[0])) in (1, 2, 5)
    assert 15 <= axis.size <= 52


def test_digits_with_leading_zeros_are_names() -> None:
    frame = pl.DataFrame({"code": ["01049", "10115", "01049", "99084"], "ill": ["no", "yes", "no", "yes"]})
    axis = propose(frame, "ill", quasi=("code",)).quasi[0]
    assert axis.kind == "code"
    assert axis.labels == ["01049", "10115", "99084"]


@pytest.mark.parametrize(
    ("values", "order"),
    [
        (["10", "2", "1", "X", "12"], ["1", "2", "10", "12", "X"]),
        (["R10", "R2", "R1"], ["R1", "R2", "R10"]),
        (["65+", "5-9", "10-14", "0-4"], ["0-4", "5-9", "10-14", "65+"]),
        (["b", "a", "B"], ["B", "a", "b"]),
    ],
)
def test_categories_with_numbers_in_them_are_ordered_by_these(values: list[str], order: list[str]) -> None:
    """Neighbours are put into one group, so that 10 should not stand between 1 and 2."""
    frame = pl.DataFrame({"q": values, "ill": ["no", "yes", *["no"] * (len(values) - 2)]})
    assert propose(frame, "ill", quasi=("q",)).quasi[0].labels == order


def test_several_sensitive_columns_are_proposed_together() -> None:
    people = {"age": [30, 31, 32, 33] * 5, "ill": ["no", "yes"] * 10, "income": ["low", "high", "low", "low"] * 5}
    found = propose(pl.DataFrame(people), ("ill", "income"), ("age",))
    assert found.secret_names == ["ill", "income"]
    with pytest.raises(DataError, match="'income' cannot be both"):
        propose(pl.DataFrame(people), ("ill", "income"), ("income",))
