"""Flows: what is read, added and refused, and what a table of them says."""

from __future__ import annotations

import gzip
import math
from collections import Counter
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flow_cases import Write, flows_of, haversine, line, origins_of
from sfumato.data.flows import MAX_PEOPLE, Flows
from sfumato.data.places import OUTSIDE, Places
from sfumato.errors import DataError

if TYPE_CHECKING:
    from pathlib import Path

PLACES = Places(pl.Series(["0012", "012", "12"]), np.array([41.0, 41.1, 41.2]), np.array([-71.0, -71.0, -71.0]))
TEXT = "origin,destination,count\n0012,12,2\n12,12,1\noutside,012,4\n0012,12,3\n"
ROWS = [("012", "outside", 4), ("12", "0012", 5), ("12", "12", 1)]
ROAD = line([0, 1, 2, 5, 9])
pairs_of_people = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 5), st.integers(0, 3)), min_size=1, max_size=40)


def test_ids_keep_their_zeros_and_repeated_pairs_are_added(write: Write) -> None:
    flows = Flows.read(write("flows.csv", TEXT), PLACES)
    assert flows.frame().rows() == ROWS
    assert flows.frame("workers").columns == ["destination", "origin", "workers"]
    assert (flows.total, len(flows), flows.people.tolist()) == (10, 2, [4, 6])


def test_flows_show_how_many_there_are_but_not_who_goes_where(write: Write) -> None:
    assert repr(Flows.read(write("flows.csv", TEXT), PLACES)) == "Flows of 10 people to 2 of 3 places"


def test_every_kind_of_file_reads_alike(write: Write, tmp_path: Path) -> None:
    (tmp_path / "flows.csv.gz").write_bytes(gzip.compress(TEXT.encode()))
    frame = pl.read_csv(TEXT.encode(), schema_overrides={"origin": pl.String, "destination": pl.String})
    frame.write_parquet(tmp_path / "flows.parquet")
    for source in (tmp_path / "flows.csv.gz", tmp_path / "flows.parquet", frame, frame.cast({"count": pl.Float64})):
        assert Flows.read(source, PLACES).frame().rows() == ROWS
    tabs = write("flows.tsv", TEXT.replace(",", "\t"))
    assert Flows.read(tabs, PLACES).frame().rows() == ROWS


def test_numbers_in_parquet_are_ids_without_zeros(tmp_path: Path) -> None:
    path = tmp_path / "flows.parquet"
    pl.DataFrame({"origin": [12], "destination": [12], "count": [3]}).write_parquet(path)
    assert Flows.read(path, PLACES).frame().rows() == [("12", "12", 3)]
    pl.DataFrame({"origin": [12, 13], "destination": [12, 12], "count": [3, 1]}).write_parquet(path)
    with pytest.raises(DataError, match=r"row 2: origin is 13, which is not in the list.*store ids as text$"):
        Flows.read(path, PLACES)


def test_without_a_count_every_row_is_a_person(write: Write) -> None:
    flows = Flows.read(write("flows.csv", "home,work\n12,012\n12,012\n0012,012\n"), PLACES)
    assert flows.frame().rows() == [("012", "0012", 1), ("012", "12", 2)]


@pytest.mark.parametrize("name", ["count", "Workers", "people", "TRIPS", "flow"])
def test_usual_names_of_columns(write: Write, name: str) -> None:
    path = write("flows.csv", f"From,TO,{name}\n12,012,7\n")
    assert Flows.read(path, PLACES).frame().rows() == [("012", "12", 7)]


def test_columns_can_be_named(write: Write) -> None:
    path = write("flows.csv", "count,a,b,c\n1,12,012,7\n")
    flows = Flows.read(path, PLACES, origin="a", destination="b", count="c")
    assert flows.frame().rows() == [("012", "12", 7)]
    for wrong in ("origin", "destination", "count"):
        with pytest.raises(DataError, match=r"there is no column 'x'; the columns are count, a, b, c$"):
            Flows.read(path, PLACES, **({"origin": "a", "destination": "b"} | {wrong: "x"}))


WHOLE = "; expected a whole number from 0 to 10,000,000"
NO_PLACE = ", which is not in the list of places"
BEYOND = f"{NO_PLACE}; write 'outside' for origins beyond the list, and give a radius"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        *(
            (f"origin,destination,count\n12,12,1\n12,012,{count}\n", f"row 2: count is {count!r}{WHOLE}")
            for count in ("-1", "1.5", "two", "nan", "inf", "10000001", "1e20")
        ),
        ("origin,destination,count\n12,12,1\n\n13,12,1\n", f"row 2: origin is '13'{BEYOND}"),
        ("origin,destination\n12,12\n12,112\n", f"row 2: destination is '112'{NO_PLACE}"),
        ("origin,destination\n12,12\n12,outside\n", f"row 2: destination is 'outside'{NO_PLACE}"),
        ("origin,destination\n12,12\n12,x\n12,y\n", f"row 2: destination is 'x'{NO_PLACE} (2 rows in all)"),
        ("origin,destination\nOutside,12\n", f"row 1: origin is 'Outside'{BEYOND}"),
        ("a,destination\n12,12\n", "no column for the origin (such as 'origin'); the columns are a, destination"),
        ("origin,b\n12,12\n", "no column for the destination (such as 'destination'); the columns are origin, b"),
        ("origin,destination,count\n12,12,0\n", "the counts add up to nobody"),
        (
            "origin,destination,count\n12,12,9999999\n012,12,2\n",
            "more than 10,000,000 people go to '12'; split the destination",
        ),
        ("origin,destination,count\n", "the file has no rows"),
        ("", "the file is empty"),
    ],
)
def test_refusals_name_file_row_and_value(write: Write, text: str, sentence: str) -> None:
    path = write("flows.csv", text)
    with pytest.raises(DataError) as refused:
        Flows.read(path, PLACES)
    assert str(refused.value) == f"{path}: {sentence}"


@pytest.mark.parametrize(
    ("row", "sentence"),
    [(",12,1", "row 2: origin is"), ("12,,1", "row 2: destination is"), ("12,12,", "row 2: count is")],
)
def test_missing_values_are_refused(write: Write, row: str, sentence: str) -> None:
    with pytest.raises(DataError, match=rf"flows\.csv: {sentence} (None|empty)"):
        Flows.read(write("flows.csv", f"origin,destination,count\n12,12,1\n{row}\n"), PLACES)


def test_one_column_is_not_read_as_two(write: Write) -> None:
    path = write("flows.csv", "origin,destination,count\n12,12,1\n")
    for twice in ({"destination": "origin"}, {"count": "origin"}, {"origin": "destination"}):
        with pytest.raises(DataError, match=r"flows\.csv: origin, destination and count are different columns"):
            Flows.read(path, PLACES, **twice)


def test_a_row_that_lacks_fields_is_named(write: Write) -> None:
    with pytest.raises(DataError, match=r"flows\.csv, line 3 \(row 2\): 2 fields where the header has 3$"):
        Flows.read(write("flows.csv", "origin,destination,count\n12,12,1\n12,12\n"), PLACES)


@pytest.mark.parametrize("column", ["origin", "destination", "count"])
def test_columns_of_no_usable_type_are_refused(column: str) -> None:
    frame = pl.DataFrame({"origin": ["12"], "destination": ["12"], "count": [1]} | {column: [["12"]]})
    with pytest.raises(DataError, match=column):
        Flows.read(frame, PLACES)


def test_categories_are_text() -> None:
    frame = pl.DataFrame({"origin": ["12"], "destination": ["012"], "count": ["2"]}).cast(pl.Categorical)
    assert Flows.read(frame, PLACES).frame().rows() == [("012", "12", 2)]


def test_the_most_people_are_allowed(write: Write) -> None:
    flows = Flows.read(write("flows.csv", f"origin,destination,count\n12,12,{MAX_PEOPLE}\n"), PLACES)
    assert flows.total == MAX_PEOPLE


@given(pairs_of_people)
def test_pairs_in_any_order_become_runs(pairs: list[tuple[int, int, int]]) -> None:
    destinations, origins, counts = (np.array(part) for part in zip(*pairs, strict=True))
    flows = Flows.of_pairs(ROAD, destinations, origins, counts)
    expected: Counter[tuple[int, int]] = Counter()
    for destination, origin, count in pairs:
        expected[destination, origin] += count
    expected = +expected
    found = zip(flows.destination_of_pair.tolist(), flows.origins.tolist(), flows.counts.tolist(), strict=True)
    assert list(found) == [(*pair, expected[pair]) for pair in sorted(expected)]
    assert flows.destinations.tolist() == sorted({destination for destination, _ in expected})
    assert flows.start.tolist()[0] == 0
    assert flows.start.tolist()[-1] == len(expected)
    assert flows.total == expected.total()
    if expected:
        assert flows.people.tolist() == [sum(origins_of(flows, to).values()) for to in flows.destinations.tolist()]
        for pair, far in zip(sorted(expected), flows.kilometres.tolist(), strict=True):
            known = pair[1] < len(ROAD)
            assert far == pytest.approx(haversine(ROAD, *pair) if known else math.nan, nan_ok=True)
        assert flows.inside.tolist() == [origin < len(ROAD) for _, origin in sorted(expected)]


@given(pairs_of_people.filter(lambda pairs: any(count for *_, count in pairs)))
def test_a_table_of_flows_reads_back(pairs: list[tuple[int, int, int]]) -> None:
    flows = Flows.of_pairs(ROAD, *(np.array(part) for part in zip(*pairs, strict=True)))
    again = Flows.read(flows.frame(), ROAD)
    assert again.frame().rows() == flows.frame().rows()
    assert OUTSIDE not in again.frame()["destination"]


def test_rhode_island(rhode_island: Flows) -> None:
    assert (rhode_island.total, len(rhode_island), len(rhode_island.places)) == (406_052, 8_358, 25_181)
    assert rhode_island.inside.all()
    assert all(len(block) == 15 for block in rhode_island.places.ids)
    assert rhode_island.places.regions.columns == ["tract", "town", "town_name", "county"]


def test_small_flows_are_as_the_other_tests_take_them(flows: Flows) -> None:
    assert flows.people.tolist() == [1, 4, 19, 60, 150]
    assert flows_of(flows.places, {(0, 63): 1}).frame().rows() == [("0000", "0063", 1)]
