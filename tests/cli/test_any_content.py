"""Under differential privacy, whether a table is published never depends on what is in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from sfumato.data import Table
from sfumato.errors import DataError
from sfumato.methods import METHODS
from sfumato.methods.base import PrivateMethod
from sfumato.parameters import declarations

if TYPE_CHECKING:
    from pathlib import Path

    from cli.conftest import Run

SCHEMA = """
name = "people"

[columns.age]
role = "quasi"
kind = "numeric"
min = 0
max = 99999
nullable = true
off_schema = "clip"

[columns.town]
role = "quasi"
kind = "categorical"
taxonomy = { North = ["A", "B"], South = ["C", "Other"] }
off_schema = "Other"

[columns.test]
role = "sensitive"
kind = "categorical"
values = ["negative", "positive"]
off_schema = "negative"
"""
TABLES: dict[str, list[str]] = {
    "nobody": [],
    "one person": ["3,A,positive"],
    "one sensitive value": [f"{age},B,negative" for age in range(30)],
    "one point": [*["7,C,negative"] * 9, *["7,C,positive"] * 9],
    "nothing but missing ages": [",A,positive", ",A,negative"] * 4,
    "nothing that fits": ["old,Nowhere,perhaps", "-1e9,,", "1e400,?,2"],
}
PRIVATE = sorted(name for name, kind in METHODS.items() if issubclass(kind, PrivateMethod))
EXACT = sorted(set(METHODS) - set(PRIVATE))


def options(name: str) -> list[str]:
    needed = {item.name: item.example for item in declarations(METHODS[name]) if item.required}
    needed |= {"h": 2} if "h" in needed else {}
    needed |= {"k": 2} if name == "mondrian" else {}
    return [word for option, value in needed.items() for word in (f"--{option}", str(value))]


def write(folder: Path, rows: list[str]) -> None:
    (folder / "people.csv").write_text("\n".join(["age,town,test", *rows, ""]))
    (folder / "people.toml").write_text(SCHEMA)


def words(name: str) -> list[str]:
    return ["publish", "people.csv", "--schema", "people.toml", "--method", name, *options(name), "-o", "release"]


@pytest.mark.parametrize("content", TABLES)
@pytest.mark.parametrize("name", PRIVATE)
def test_every_private_method_publishes_whatever_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: Run, name: str, content: str
) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path, TABLES[content])
    published = run(*words(name), "--ledger", "ledger.sqlite")
    assert (published.code, published.err) == (0, "")
    assert "fits the schema" not in published.out
    asked = run("query", "release", "age is missing and town = B")
    assert (asked.code, asked.err) == (0, "")
    assert run("verify", "release").code == 3, "noise can neither be confirmed nor refuted"


@pytest.mark.parametrize("content", TABLES)
@pytest.mark.parametrize("name", EXACT)
def test_every_other_method_publishes_or_says_in_a_sentence_why_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: Run, name: str, content: str
) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path, TABLES[content])
    published = run(*words(name))
    assert published.code == (2 if published.err else 0)
    assert published.err.count("\n") <= 1
    if not TABLES[content]:
        assert published.err == f"sfumato: the table has no rows; {name} has nothing to publish\n"


def test_a_twin_that_refuses_one_sensitive_value_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: Run
) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path, TABLES["one sensitive value"])
    counted = Table.from_rows

    def refuse_one_value(rows: object, schema: object) -> Table:
        table = counted(rows, schema)  # type: ignore[arg-type]
        if (table.overall > 0).sum() < 2:
            raise DataError("the sensitive column holds one value only")
        return table

    monkeypatch.setattr(Table, "from_rows", refuse_one_value)
    assert run(*words("quad-tree")).code == 2


@pytest.mark.parametrize("content", TABLES)
def test_measuring_such_a_table_works_or_says_why_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: Run, content: str
) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path, TABLES[content])
    assert run(*words("quad-tree"), "--ledger", "ledger.sqlite").code == 0
    measured = run("measure", "people.csv", "release", "--schema", "people.toml")
    if TABLES[content]:
        assert (measured.code, measured.err) == (0, "")
    else:
        sentence = "sfumato: the table has no rows; there is nothing to measure a release against\n"
        assert (measured.code, measured.err) == (2, sentence)


@pytest.mark.parametrize("content", TABLES)
def test_a_frontier_of_such_a_table_works_or_says_why_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: Run, content: str
) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path, TABLES[content])
    tried = [word for name in ("mondrian", "anatomy", "quad-tree", "local") for word in ("--method", name)]
    found = run("frontier", "people.csv", "--schema", "people.toml", "-o", "out", *tried)
    assert found.code in (0, 2)
    assert found.code == 0 or found.err.count("\n") == 1, found.err
    assert TABLES[content] or "the table has no rows" in found.err
