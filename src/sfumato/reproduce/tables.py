"""The tables that papers make of Adult and of the Census: which columns, over which public domains, and which rows."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

ADULT_ROWS, ADULT_TRAINING_ROWS, CENSUS_ROWS = 45_222, 30_162, 27_253


@dataclass(frozen=True, kw_only=True)
class TableSpec:
    """The first `rows` rows of a file without those that have certain values, and the columns that are used."""

    file: str
    rows: int
    columns: Mapping[str, Mapping[str, Any]]
    without: Mapping[str, str] = field(default_factory=dict)

    @property
    def source(self) -> str:
        """The folder of the data set."""
        return self.file.partition("/")[0]


NUMBERS: dict[str, dict[str, Any]] = {
    "age": {"min": 17, "max": 90},
    "hours-per-week": {"min": 1, "max": 99},
    "education-num": {"min": 1, "max": 16},
    "fnlwgt": {"min": 0, "max": 1_500_000, "width": 10_000},
    "capital-gain": {"min": 0, "max": 100_000, "width": 500},
    "capital-loss": {"min": 0, "max": 4_500, "width": 25},
}
PLAIN = {
    "income": ("<=50K", ">50K"),
    "relationship": ("Husband", "Not-in-family", "Other-relative", "Own-child", "Unmarried", "Wife"),
}
OCCUPATION = ("age", "workclass", "education", "marital-status", "race", "sex")
SPATIAL = ("workclass", "education", "sex", "hours-per-week", "income")
ELEVEN = (
    *("age", "workclass", "education", "marital-status", "occupation", "relationship", "race", "sex"),
    *("hours-per-week", "native-country"),
)
FOURTEEN = (*ELEVEN, "fnlwgt", "education-num", "capital-gain", "capital-loss")
FOUR = ("workclass", "marital-status", "race", "sex")


def adult_column(name: str, role: str, **more: Any) -> dict[str, Any]:
    """A column of Adult over its public domain."""
    if name in NUMBERS:
        return {"role": role, "kind": "numeric", **NUMBERS[name], **more}
    if name in PLAIN:
        return {"role": role, "kind": "categorical", "values": list(PLAIN[name]), **more}
    return {"role": role, "kind": "categorical", "hierarchy": f"hierarchies/{name}.csv", **more}


def adult_table(quasi: tuple[str, ...], sensitive: str, rows: int) -> TableSpec:
    """A table of Adult with some quasi-identifiers and a sensitive column."""
    columns = {name: adult_column(name, "quasi") for name in quasi}
    return TableSpec(
        file="adult/adult.csv", rows=rows, columns=columns | {sensitive: adult_column(sensitive, "sensitive")}
    )


ALPHABETICAL = {
    "workclass": (
        *("Federal-gov", "Local-gov", "Private", "Self-emp-inc", "Self-emp-not-inc", "State-gov", "Without-pay"),
    ),
    "education": (
        *("10th", "11th", "12th", "1st-4th", "5th-6th", "7th-8th", "9th", "Assoc-acdm", "Assoc-voc", "Bachelors"),
        *("Doctorate", "HS-grad", "Masters", "Preschool", "Prof-school", "Some-college"),
    ),
    "occupation": (
        *("Adm-clerical", "Armed-Forces", "Craft-repair", "Exec-managerial", "Farming-fishing", "Handlers-cleaners"),
        *("Machine-op-inspct", "Other-service", "Priv-house-serv", "Prof-specialty", "Protective-serv", "Sales"),
        *("Tech-support", "Transport-moving"),
    ),
    "sex": ("Female", "Male"),
}
"""The values that occur, as a program that knows no hierarchy would order them."""


def _alphabetical(spec: TableSpec) -> TableSpec:
    """The table with its categories in alphabetical order."""
    columns = {
        name: {"role": column["role"], "kind": "categorical", "values": list(ALPHABETICAL[name])}
        if name in ALPHABETICAL
        else column
        for name, column in spec.columns.items()
    }
    return TableSpec(file=spec.file, rows=spec.rows, columns=columns)


def _with_ages(spec: TableSpec) -> TableSpec:
    """The table with the hierarchy of ages, whose nodes name populations."""
    age = {**spec.columns["age"], "hierarchy": "hierarchies/age.csv"}
    return TableSpec(file=spec.file, rows=spec.rows, columns={**spec.columns, "age": age})


def _codes(role: str, last: int, *first: str) -> dict[str, Any]:
    return {"role": role, "kind": "categorical", "values": [*first, *map(str, range(last + 1))]}


CENSUS = TableSpec(
    file="census/national2019.csv",
    rows=CENSUS_ROWS,
    without={"PINCP_DECILE": "N"},
    columns={
        "AGEP": {"role": "quasi", "kind": "numeric", "min": 15, "max": 99},
        "SEX": {"role": "quasi", "kind": "categorical", "values": ["1", "2"]},
        "EDU": {"role": "quasi", "kind": "categorical", "values": [str(level) for level in range(1, 13)]},
        "INDP_CAT": _codes("quasi", 18, "N"),
        "PINCP_DECILE": _codes("sensitive", 9),
    },
)

TABLES: dict[str, TableSpec] = {
    "occupation": _with_ages(adult_table(OCCUPATION, "occupation", ADULT_ROWS)),
    "spatial": adult_table(SPATIAL, "occupation", ADULT_TRAINING_ROWS),
    "spatial-alphabetical": _alphabetical(adult_table(SPATIAL, "occupation", ADULT_TRAINING_ROWS)),
    "census": CENSUS,
    "income": adult_table(FOURTEEN, "income", ADULT_ROWS),
    "income-11": adult_table(ELEVEN, "income", ADULT_TRAINING_ROWS),
    "income-4": adult_table(FOUR, "income", ADULT_ROWS),
}
