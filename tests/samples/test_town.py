"""The sample town: it repeats itself, agrees with its schema, and has the dependences it promises.

The town is seeded, so a test can only fail when the simulator or NumPy's generators change. Each dependence
has a broken twin: it must not be found in a town whose columns were shuffled independently.
"""

import time
import tomllib
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import polars as pl
import pytest

from sfumato.samples import town

SCHEMA = tomllib.loads(town.SCHEMA_PATH.read_text(encoding="utf-8"))
COLUMNS: dict[str, Any] = SCHEMA["columns"]
CATEGORICAL = [name for name, column in COLUMNS.items() if column.get("kind") == "categorical"]
NUMERIC = [name for name, column in COLUMNS.items() if column.get("kind") == "numeric"]
QUASI = {"age", "sex", "education", "marital_status", "occupation", "district"}


def leaves(node: dict[str, Any] | list[str]) -> list[str]:
    if isinstance(node, list):
        return node
    return [leaf for label, child in node.items() for leaf in (leaves(child) or [label])]


def inner_labels(node: dict[str, Any] | list[str]) -> list[str]:
    if isinstance(node, list):
        return []
    return [inner for label, child in node.items() if child for inner in [label, *inner_labels(child)]]


def declared(name: str) -> list[str]:
    column = COLUMNS[name]
    return list(column["values"]) if "values" in column else leaves(column["taxonomy"])


@pytest.fixture(scope="module")
def people() -> pl.DataFrame:
    return town.residents(200_000)


@pytest.fixture(scope="module")
def shuffled(people: pl.DataFrame) -> pl.DataFrame:
    return people.select(pl.col(name).shuffle(seed=seed) for seed, name in enumerate(people.columns))


def share(people: pl.DataFrame, event: pl.Expr, given: pl.Expr) -> float:
    return float(people.filter(given).select(event.mean()).item() or 0)


def mean_income(people: pl.DataFrame, given: pl.Expr) -> float:
    return float(people.filter(given & (pl.col("hours") >= 20)).select(pl.col("income").mean()).item())


AGE, SEX, HOURS = pl.col("age"), pl.col("sex"), pl.col("hours")
EDUCATION, OCCUPATION, CONDITION = pl.col("education"), pl.col("occupation"), pl.col("condition")


def test_same_rows_and_seed_give_the_same_frame() -> None:
    assert town.residents(3_000, seed=7).equals(town.residents(3_000, seed=7))


def test_blocks_are_drawn_anew_and_repeat() -> None:
    rows = town.ROWS_AT_ONCE
    first = town.residents(2 * rows + 5)
    assert first.equals(town.residents(2 * rows + 5))
    assert not first[:rows].drop("person_id").equals(first[rows : 2 * rows].drop("person_id"))


def test_other_seeds_give_other_people() -> None:
    one, other = town.residents(3_000, seed=1), town.residents(3_000, seed=2)
    for name in [*CATEGORICAL, *NUMERIC]:
        assert not one[name].equals(other[name]), name


@pytest.mark.parametrize("rows", [0, 1, 5_000])
def test_rows(rows: int) -> None:
    people = town.residents(rows)
    assert people.height == rows
    assert people.schema == town.residents().schema
    assert people["person_id"].n_unique() == rows


def test_negative_rows_are_refused() -> None:
    with pytest.raises(ValueError, match="0 or more, got -1"):
        town.residents(-1)


def test_identifiers(people: pl.DataFrame) -> None:
    assert people["person_id"][0] == "P0000001"
    assert people["person_id"].str.contains(r"^P\d{7}$").all()


def test_row_order_means_nothing(people: pl.DataFrame) -> None:
    # 0.012 is 5.4 standard errors of a correlation of 200,000 independent pairs.
    position = pl.int_range(pl.len())
    for name in people.columns[1:]:
        correlation = people.select(pl.corr(position, pl.col(name).to_physical())).item()
        assert abs(correlation) < 0.012, name


def test_schema_names_the_columns_in_order(people: pl.DataFrame) -> None:
    assert SCHEMA["name"] == "town"
    assert list(COLUMNS) == people.columns


def test_roles() -> None:
    roles = {name: column["role"] for name, column in COLUMNS.items()}
    assert {name for name, role in roles.items() if role == "quasi"} == QUASI
    assert [name for name, role in roles.items() if role == "sensitive"] == ["condition"]
    assert [name for name, role in roles.items() if role == "identifier"] == ["person_id"]
    assert {name for name, role in roles.items() if role == "ignore"} == {"hours", "income"}


@pytest.mark.parametrize("name", CATEGORICAL)
def test_labels_agree_with_the_schema(people: pl.DataFrame, name: str) -> None:
    dtype = people.schema[name]
    assert isinstance(dtype, pl.Enum)
    assert dtype.categories.to_list() == declared(name)
    assert set(people[name].drop_nulls().cast(pl.String)) == set(declared(name))


@pytest.mark.parametrize("name", CATEGORICAL)
def test_no_label_is_used_twice(name: str) -> None:
    labels = declared(name) + inner_labels(COLUMNS[name].get("taxonomy", {}))
    assert len(labels) == len(set(labels))


def test_numbers_lie_in_the_declared_ranges(people: pl.DataFrame) -> None:
    for name in NUMERIC:
        column, values = COLUMNS[name], people[name]
        lowest, highest = (
            (column["edges"][0], column["edges"][-1] - 1) if "edges" in column else (column["min"], column["max"])
        )
        assert values.dtype == pl.Int32
        assert values.is_between(lowest, highest).all(), name


def test_every_income_bin_is_used(people: pl.DataFrame) -> None:
    edges = COLUMNS["income"]["edges"]
    assert edges == sorted(set(edges))
    for low, high in pairwise(edges):
        assert people["income"].is_between(low, high, closed="left").any(), (low, high)


def test_only_education_has_missing_values(people: pl.DataFrame) -> None:
    assert [name for name, column in COLUMNS.items() if column.get("nullable", False)] == ["education"]
    for name in people.columns:
        missing = people[name].null_count() / people.height
        assert 0.008 < missing < 0.012 if name == "education" else missing == 0, name


def test_conditions_are_believable(people: pl.DataFrame) -> None:
    shares = dict(people["condition"].value_counts(normalize=True).rows())
    assert max(shares, key=lambda name: shares[name]) == "Healthy"
    assert 0.45 < shares["Healthy"] < 0.58
    assert 0.08 < shares["Hypertension"] < 0.16
    assert 0.001 < shares["HIV"] < 0.008


def test_incomes_have_a_heavy_right_tail(people: pl.DataFrame) -> None:
    earners = people.filter(HOURS >= 20)["income"]
    median, top = earners.quantile(0.5) or 0, earners.quantile(0.999) or 0
    assert 30_000 < median < 45_000
    assert top > 8 * median
    assert (people["income"] == town.MAX_INCOME).sum() < 0.001 * people.height


def test_children_have_no_job_no_degree_and_no_spouse(people: pl.DataFrame) -> None:
    children = people.filter(AGE < 15)
    assert children.height > 20_000
    assert children["occupation"].unique().to_list() == ["Child"]
    assert children["marital_status"].unique().to_list() == ["Never married"]
    assert set(children["education"].drop_nulls().unique().to_list()) == {"Less than primary", "Primary"}
    assert children["hours"].max() == 0
    assert children["income"].max() == 0


def test_nobody_has_a_degree_before_its_age(people: pl.DataFrame) -> None:
    youngest = dict(people.group_by("education").agg(AGE.min()).rows())
    assert {name: youngest[name] for name in ("High school", "Bachelor", "Master", "Doctorate")} == {
        "High school": 18,
        "Bachelor": 21,
        "Master": 23,
        "Doctorate": 27,
    }


def test_full_time_means_a_job(people: pl.DataFrame) -> None:
    not_at_work = leaves(COLUMNS["occupation"]["taxonomy"]["Not at work"])
    jobless = OCCUPATION.is_in(not_at_work)
    assert people.filter(jobless)["hours"].max() == 15
    assert people.filter(~jobless)["hours"].min() == 9


DEPENDENCES: dict[str, Callable[[pl.DataFrame], bool]] = {
    "most people of 70 and more are retired, few under 50": lambda people: (
        share(people, OCCUPATION == "Retired", AGE >= 70) > 0.85
        and share(people, OCCUPATION == "Retired", AGE < 50) < 0.05
    ),
    "widowhood comes with age": lambda people: (
        share(people, pl.col("marital_status") == "Widowed", AGE >= 80)
        > 20 * share(people, pl.col("marital_status") == "Widowed", AGE < 50)
    ),
    "the old are more often women": lambda people: (
        share(people, SEX == "Female", AGE >= 85) > 0.6 and share(people, SEX == "Female", AGE < 50) < 0.52
    ),
    "the young are schooled longer": lambda people: (
        share(people, EDUCATION.is_in(["Bachelor", "Master"]), AGE.is_between(30, 45))
        > 1.8 * share(people, EDUCATION.is_in(["Bachelor", "Master"]), AGE >= 70)
    ),
    "the university quarter is learned": lambda people: (
        share(people, EDUCATION == "Master", (AGE >= 30) & (pl.col("district") == "Observatory"))
        > 3 * share(people, EDUCATION == "Master", (AGE >= 30) & (pl.col("district") == "Foundry"))
    ),
    "nurses are women, builders men": lambda people: (
        share(people, SEX == "Female", OCCUPATION == "Nurse") > 0.7
        and share(people, SEX == "Female", OCCUPATION == "Builder") < 0.05
    ),
    "physicians have a master's degree or more": lambda people: (
        share(people, EDUCATION.is_in(["Master", "Doctorate"]), (OCCUPATION == "Physician") & EDUCATION.is_not_null())
        == 1
    ),
    "women work part time more often": lambda people: (
        share(people, HOURS < 30, (SEX == "Female") & (HOURS > 15))
        > 2 * share(people, HOURS < 30, (SEX == "Male") & (HOURS > 15))
    ),
    "a doctorate pays": lambda people: (
        mean_income(people, EDUCATION == "Doctorate") > 3 * mean_income(people, EDUCATION == "Primary")
    ),
    "managers earn more than clerks": lambda people: (
        mean_income(people, OCCUPATION == "Manager") > 2 * mean_income(people, OCCUPATION == "Clerk")
    ),
    "men earn more in the same occupation": lambda people: (
        1.08
        < mean_income(people, (SEX == "Male") & (OCCUPATION == "Teacher"))
        / mean_income(people, (SEX == "Female") & (OCCUPATION == "Teacher"))
        < 1.5
    ),
    "experience pays": lambda people: mean_income(people, AGE.is_between(45, 60)) > 1.4 * mean_income(people, AGE < 30),
    "long hours pay": lambda people: mean_income(people, HOURS >= 45) > 1.5 * mean_income(people, HOURS < 30),
    "heart disease comes with age": lambda people: (
        share(people, CONDITION == "Heart disease", AGE >= 70)
        > 3 * share(people, CONDITION == "Heart disease", AGE.is_between(40, 55))
        > 9 * share(people, CONDITION == "Heart disease", AGE < 30)
    ),
    "the unemployed are depressed": lambda people: (
        share(people, CONDITION == "Depression", OCCUPATION == "Unemployed")
        > 2 * share(people, CONDITION == "Depression", OCCUPATION == "Engineer")
    ),
    "HIV is more frequent among men and in the docklands": lambda people: (
        share(people, CONDITION == "HIV", SEX == "Male") > 2 * share(people, CONDITION == "HIV", SEX == "Female")
        and share(people, CONDITION == "HIV", pl.col("district") == "Docklands")
        > 1.5 * share(people, CONDITION == "HIV", pl.col("district") != "Docklands")
    ),
    "diabetes is more frequent among poor women than among well-off ones": lambda people: (
        share(people, CONDITION == "Diabetes", AGE.is_between(40, 60) & (SEX == "Female") & (pl.col("income") < 12_000))
        > 1.3
        * share(
            people, CONDITION == "Diabetes", AGE.is_between(40, 60) & (SEX == "Female") & (pl.col("income") > 45_000)
        )
    ),
}


@pytest.mark.parametrize("dependence", DEPENDENCES)
def test_dependence(people: pl.DataFrame, dependence: str) -> None:
    assert DEPENDENCES[dependence](people)


@pytest.mark.parametrize("dependence", DEPENDENCES)
def test_dependence_is_absent_when_columns_are_shuffled(shuffled: pl.DataFrame, dependence: str) -> None:
    assert not DEPENDENCES[dependence](shuffled)


def test_200_000_rows_take_little_time() -> None:
    start = time.process_time()
    town.residents(200_000, seed=3)
    assert time.process_time() - start < 5
