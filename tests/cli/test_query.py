"""`sfumato query`: sums, means, shares and tables, as sentences, JSON and files, and what is refused."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

import sfumato as sf
from sfumato.mechanisms.noise import SimulatedSource
from sfumato.samples.town import SCHEMA_PATH

if TYPE_CHECKING:
    from pathlib import Path

    from .conftest import Run


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    place = tmp_path_factory.mktemp("releases")
    table = sf.read(sf.residents(300), SCHEMA_PATH)
    made = {
        "exact": sf.Original().publish(table),
        "classes": sf.Mondrian(k=10).publish(table),
        "noisy": sf.KDTree(epsilon=1).publish(table, SimulatedSource(1)),
        "drawn": sf.PrivBayes(epsilon=1).publish(table, SimulatedSource(1)),
    }
    return {name: release.save(place / name) for name, release in made.items()}


def test_one_figure_as_a_sentence_and_as_json(run: Run, folders: dict[str, Path]) -> None:
    exact = sf.read(sf.residents(300), SCHEMA_PATH)
    ages = exact.points[exact.cell_point, 0][exact.points[exact.cell_point, 1] == 0]
    told = run("query", folders["exact"], "sex = Female", "--sum", "age")
    assert told.out.startswith("age adds up to exactly ")
    found = json.loads(run("query", folders["exact"], "sex = Female", "--mean", "age", "--json").out)
    weights = exact.cell_weight[exact.points[exact.cell_point, 1] == 0]
    assert found["estimate"] == pytest.approx((ages * weights).sum() / weights.sum(), rel=1e-6)
    assert (found["of"], found["kind"], found["bounds"], found["certain"]) == ("age", "mean", "certain", True)
    share = json.loads(run("query", folders["classes"], "--share", "sex = Female", "--json").out)
    assert 0 <= share["low"] <= share["estimate"] <= share["high"] <= 1
    assert share["query"] is None
    assert "%" in run("query", folders["classes"], "age >= 40 or not sex = Male", "--share", "sex = Female").out
    assert "Nobody of 300 people" in run("query", folders["exact"], "age < 0", "--mean", "age").out


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_a_table_is_shown_written_and_told_as_json(
    run: Run, folders: dict[str, Path], tmp_path: Path, suffix: str
) -> None:
    file = tmp_path / f"table{suffix}"
    asked = ("query", folders["classes"], "not condition = Diabetes", "--by", "sex,age:40")
    told = run(*asked, "-o", file)
    assert told.out.split()[:5] == ["sex", "age", "estimate", "low", "high"]
    assert "The bounds hold for certain." in told.err
    frame = pl.read_csv(file) if suffix == ".csv" else pl.read_parquet(file)
    assert frame.columns == ["sex", "age", "estimate", "low", "high"]
    assert frame["age"].to_list() == ["[0, 39]", "[40, 79]", "[80, 99]"] * 2
    release = sf.load_release(folders["classes"])
    assert isinstance(release, sf.Release)
    assert frame.equals(release.table(["sex", "age:40"], "not condition = Diabetes"))
    lines = json.loads(run(*asked, "--json").out)["table"]
    assert [line["group"]["sex"] for line in lines] == frame["sex"].to_list()
    assert [line["low"] for line in lines] == frame["low"].to_list()


def test_bounds_that_do_not_hold_the_truth_are_left_out(run: Run, folders: dict[str, Path]) -> None:
    drawn, noisy = (run("query", folders[name], "--by", "sex", "--mean", "age") for name in ("drawn", "noisy"))
    assert "no bounds" in drawn.err
    assert all(len(line.split()) == 2 for line in drawn.out.strip().splitlines()[1:])
    assert "holds with 95% confidence" in noisy.err
    release = sf.load_release(folders["drawn"])
    assert isinstance(release, sf.Release)
    assert release.table(["sex"])["low"].null_count() == 2
    assert release.answer("sex = Male or age < 3").bounds == "unknown", "a seed leaves no promise about its rows"


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ((), "nothing is asked; give conditions"),
        (("--sum", "age", "--mean", "age"), "--sum and --mean are different questions"),
        (("--sum", "height"), "there is no column 'height'; numbers of these can be added up: 'age'"),
        (("--mean", "sex"), "'sex' is categorical and has no numbers"),
        (("age > 3", "-o", "table.csv"), "say with --by what its groups are"),
        (("--by", "sex", "-o", "table.txt"), "the name of the file must end in .csv"),
        (("--by", "sex,,age"), "names no column between two commas"),
        (("--by", "height"), "there is no column 'height' to group by; expected one of 'age'"),
        (("--by", "age:0"), "'age:0' has no width; expected a number above 0, such as age:10"),
        (("--by", "age:^1"), "'age' has no taxonomy; expected a width"),
        (("--by", "age:0.001"), "expected at most 10,000"),
        (("--by", "sex:1"), "expected sex, whose taxonomy has no levels"),
        (("--by", "education:9"), "goes up the taxonomy by no such number of levels; expected education:1"),
        (("--by", "sex,sex"), "is given twice: sex, sex"),
        (("--by", "age,education,marital_status,occupation"), "groups; expected at most 10,000"),
        (("--share", "age >", "sex = Male"), "found the end of the query"),
        (("(sex = Male",), "expected 'and', 'or' or ')'"),
    ],
)
def test_what_makes_no_sense_is_refused(
    run: Run, folders: dict[str, Path], words: tuple[Any, ...], sentence: str
) -> None:
    told = run("query", folders["classes"], *words)
    assert (told.code, told.out, told.err.count("\n")) == (2, "", 1)
    assert sentence in told.err


def test_an_existing_file_is_kept(run: Run, folders: dict[str, Path], tmp_path: Path) -> None:
    file = tmp_path / "table.csv"
    file.write_text("precious")
    told = run("query", folders["classes"], "--by", "sex", "-o", file)
    assert (told.code, file.read_text()) == (2, "precious")
