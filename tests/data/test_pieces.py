"""Rows in pieces, in files and folders: the same table however many pieces they come in."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest import mock

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.data import Table, blocks, formats, keys, people, pieces, read
from sfumato.data.engine import PolarsEngine
from sfumato.data.keys import KeyCounts, Keys
from sfumato.data.people import Repeated
from sfumato.data.pieces import Parts
from sfumato.errors import DataError, ReleaseError
from sfumato.methods import Mondrian
from sfumato.release import Release
from sfumato.release.written import compare_writing
from sfumato.samples.town import SCHEMA_PATH, residents
from sfumato.schema import Schema
from strategies import TableCase, tables

TOWN = Schema.load(SCHEMA_PATH)
VISITS = Schema.parse({**TOWN.spec(), "rows_per_person": 3})
KEPT = Schema.parse(
    {
        **TOWN.spec(),
        "person": "person_id",
        "columns": {**TOWN.spec()["columns"], "person_id": {"role": "identifier"}, "income": {"role": "keep"}},
    }
)


@contextmanager
def in_pieces(rows: int = 100, size: int = 5_000) -> Iterator[None]:
    """Everything that limits what is in memory made small."""
    with (
        mock.patch.object(blocks, "BLOCK", size),
        mock.patch.object(pieces, "ROWS_AT_ONCE", rows),
        mock.patch.object(people, "ROWS_AT_ONCE", rows),
        mock.patch.object(keys.KeyCounts, "MOST_WAITING", rows),
    ):
        yield


def people_with_visits(rows: int = 600) -> pl.DataFrame:
    """A third of the rows belongs to people with two to five of them, some to nobody."""
    frame = residents(rows)
    random = np.random.default_rng(3)
    again = frame[random.integers(0, rows // 6, rows // 3)].with_columns(district=pl.lit("Mill"))
    nobody = frame[:7].with_columns(person_id=pl.lit(None, dtype=pl.String))
    both = pl.concat([each.cast(pl.String) for each in (frame, again, nobody)])
    return both[random.permutation(both.height)]


def same(one: Table, other: Table) -> bool:
    first = [table.cell_people if table.cell_people is None else table.cell_people.tolist() for table in (one, other)]
    facts = [(table.fingerprint, table.repeated, table.unowned) for table in (one, other)]
    return facts[0] == facts[1] and first[0] == first[1]


@pytest.mark.parametrize("suffix", [".csv", ".csv.gz", ".parquet"])
@pytest.mark.parametrize("schema", [TOWN, VISITS], ids=["one row each", "three rows each"])
def test_a_table_is_the_same_in_pieces(tmp_path: Path, suffix: str, schema: Schema) -> None:
    frame, path = people_with_visits(), tmp_path / f"people{suffix}"
    formats.write_table(frame, path)
    whole = read(path, schema)
    assert whole.repeated > 50
    assert whole.unowned == 7
    with in_pieces():
        assert len(list(formats.read_pieces(path))) > 5
        assert same(read(path, schema), whole)
        assert same(read(frame, schema), whole)


def test_people_whose_pieces_are_counted_apart_are_a_twin_that_is_found() -> None:
    frame = people_with_visits()
    none = Repeated(np.array([], dtype=np.uint64), 0)
    with in_pieces(), mock.patch.object(Repeated, "among", return_value=none):
        twin = read(frame, TOWN)
    assert not same(twin, read(frame, TOWN))


def test_kept_columns_stay_with_their_rows_in_pieces(tmp_path: Path) -> None:
    frame = people_with_visits()
    whole = Mondrian(k=5).publish(read(frame, KEPT)).to_polars()
    with in_pieces():
        apart = Mondrian(k=5).publish(read(frame, KEPT)).to_polars()
    assert whole.equals(apart)


@given(tables(most_quasi=4), st.integers(1, 5))
def test_any_table_is_the_same_in_pieces(case: TableCase, rows: int) -> None:
    whole = read(case.frame, case.case.schema)
    with in_pieces(rows):
        assert same(read(case.frame, case.case.schema), whole)


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_a_folder_and_a_pattern_are_one_table(tmp_path: Path, suffix: str) -> None:
    frame = people_with_visits()
    for number in range(3):
        formats.write_table(frame[number::3], tmp_path / f"part-{number}{suffix}")
    (tmp_path / "_SUCCESS").touch()
    (tmp_path / f".part-0{suffix}.crc").touch()
    whole = read(frame, VISITS)
    assert same(read(tmp_path, VISITS), whole)
    assert same(read(tmp_path / f"part-*{suffix}", VISITS), whole)


def test_a_file_is_known_by_itself_in_a_folder_and_in_a_pattern(tmp_path: Path) -> None:
    residents(50).write_csv(tmp_path / "people.csv")
    fewer = {**TOWN.spec()["columns"], "district": {"role": "ignore"}}
    _, alone = read(tmp_path / "people.csv", TOWN).digests
    for source in (tmp_path, tmp_path / "peo*.csv"):
        table = read(source, Schema.parse({**TOWN.spec(), "columns": fewer}))
        assert alone in table.digests
    (tmp_path / "more.csv").write_text((tmp_path / "people.csv").read_text(encoding="utf-8"), encoding="utf-8")
    assert alone in read(tmp_path, TOWN).digests


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_files_that_are_no_data_are_left_out_or_refused(tmp_path: Path, suffix: str) -> None:
    for name in (f"p{suffix}", f".p{suffix}", f"._p{suffix}", f"_p{suffix}"):
        formats.write_table(residents(20), tmp_path / name)
    assert (
        read(tmp_path, TOWN).n == read(tmp_path / f"*{suffix}", TOWN).n == read(tmp_path / f"p**{suffix}", TOWN).n == 20
    )
    (tmp_path / "more.tsv").touch()
    with pytest.raises(DataError, match=r"this is a folder, and more\.tsv is no \.csv"):
        read(tmp_path, TOWN)


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_a_name_with_brackets_is_a_name(tmp_path: Path, suffix: str) -> None:
    formats.write_table(residents(20), tmp_path / f"x[1]{suffix}")
    formats.write_table(residents(30, seed=2), tmp_path / f"x1{suffix}")
    assert read(tmp_path / f"x[1]{suffix}", TOWN).n == 20


def test_a_column_that_changes_its_type_is_refused(tmp_path: Path) -> None:
    frame = residents(40)
    frame.write_parquet(tmp_path / "a.parquet")
    frame.cast({"income": pl.String}).write_parquet(tmp_path / "b.parquet")
    with pytest.raises(DataError, match="the column 'income' is Int32 in one file and String in another"):
        Mondrian(k=5).publish(read(tmp_path, KEPT))
    assert read(tmp_path, TOWN).n == 40, "counted all the same, for the column does not matter"


@pytest.mark.parametrize("name", ["key 0", "rows", "first", "0", "row", "len", "\0 times"])
def test_a_kept_column_may_be_called_anything(name: str) -> None:
    columns = {key: value for key, value in KEPT.spec()["columns"].items() if key != "income"}
    schema = Schema.parse({**KEPT.spec(), "columns": {**columns, name: {"role": "keep"}}})
    frame = residents(60).rename({"income": name})
    release = Mondrian(k=5).publish(read(frame, schema))
    assert sorted(release.to_polars()[name]) == sorted(frame[name])


def test_what_no_files_are_behind(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="this is a folder without data"):
        read(tmp_path, TOWN)
    with pytest.raises(DataError, match="no file has such a name"):
        read(tmp_path / "part-*.csv", TOWN)


def test_a_value_that_does_not_fit_is_named_by_file_and_row(tmp_path: Path) -> None:
    frame = residents(300).cast(pl.String)
    wrong = frame.with_columns(age=pl.when(pl.int_range(300) == 123).then(pl.lit("old")).otherwise("age"))
    for name, rows in (("a.csv", frame), ("b.csv", wrong)):
        rows.write_csv(tmp_path / name)
    with in_pieces(), pytest.raises(DataError) as caught:
        read(tmp_path, TOWN)
    assert str(caught.value).startswith(f"{tmp_path / 'b.csv'}, row 124, column 'age': 'old' is not")


def test_rows_that_changed_since_they_were_counted_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    residents(300).write_csv(path)
    table = read(path, KEPT)
    residents(299).write_csv(path)
    with pytest.raises(DataError, match="the rows are no longer those that were read"):
        Mondrian(k=5).publish(table).save(tmp_path / "release")
    assert not (tmp_path / "release").exists()


def test_whoever_waits_is_told_how_far_it_is(tmp_path: Path) -> None:
    path, told = tmp_path / "people.csv", []
    residents(1_000).write_csv(path)
    with in_pieces(size=10_000):
        Table.from_rows(PolarsEngine.read(path, TOWN, progress=lambda *far: told.append(far)), TOWN)
    assert told[-1] == (1_000, 1_000)
    assert all(done <= total for done, total in told)
    assert all(0.8 < total / 1_000 < 1.25 for _, total in told), "an estimate of all rows, from the first piece on"


@given(
    st.lists(st.integers(1, 2**40), min_size=1, max_size=6).flatmap(
        lambda sizes: st.tuples(
            st.just(sizes), st.lists(st.tuples(*(st.integers(-1, min(size, 2**31) - 1) for size in sizes)), max_size=30)
        )
    )
)
def test_words_unpack_to_the_codes_that_were_packed(case: tuple[list[int], list[tuple[int, ...]]]) -> None:
    sizes, rows = case
    words, codes = Keys(sizes), np.array(rows, dtype=np.int64).reshape(-1, len(sizes))
    packed = words.pack(list(codes.T))
    assert words.unpack(packed).tolist() == codes.tolist()
    assert packed.sort(words.names).rows() == words.pack(list(np.array(sorted(rows)).reshape(-1, len(sizes)).T)).rows()


@given(
    st.lists(st.lists(st.tuples(st.integers(-1, 3), st.integers(-1, 2), st.integers(1, 9)), max_size=20), max_size=9)
)
def test_counts_add_up_whatever_the_batches(batches: list[list[tuple[int, int, int]]]) -> None:
    expected: dict[tuple[int, int], int] = {}
    with mock.patch.object(KeyCounts, "MOST_WAITING", 3):
        counts = KeyCounts(Keys([4, 3]), ["rows"])
        for batch in [[], *batches]:
            one, other, rows = np.array(batch, dtype=np.int64).reshape(-1, 3).T
            counts.add([one, other], rows=rows)
            for a, b, n in batch:
                expected[a, b] = expected.get((a, b), 0) + n
        codes, (rows,) = counts.sorted()
    assert [tuple(key) for key in codes.tolist()] == sorted(expected)
    assert rows.tolist() == [expected[key] for key in sorted(expected)]


@pytest.mark.parametrize("suffix", [".csv", ".csv.gz", ".parquet"])
@pytest.mark.parametrize("method", [Mondrian(k=5), Mondrian(k=5, recoding="bucketize", l=1.5)], ids=["rows", "buckets"])
def test_a_release_is_written_and_read_back_in_parts(tmp_path: Path, suffix: str, method: Mondrian) -> None:
    release = method.publish(read(people_with_visits(), TOWN))
    whole = release.save(tmp_path / "whole", suffix=suffix)
    with in_pieces(rows=37):
        apart = release.save(tmp_path / "apart", suffix=suffix)
        again = Release.load(apart)
        assert not compare_writing(apart, again).contradictions
    for path in whole.iterdir():
        if path.suffix == ".parquet":
            assert pl.read_parquet(path).equals(pl.read_parquet(apart / path.name))
        else:
            unpack = gzip.decompress if path.suffix == ".gz" else bytes
            assert unpack(path.read_bytes()) == unpack((apart / path.name).read_bytes())
    assert not again.violations()
    assert (again.rows, again.overall.tolist()) == (release.rows, release.overall.tolist())
    assert again.query("age >= 40 and sex = Male") == pytest.approx(release.query("age >= 40 and sex = Male"))


def test_zeros_with_a_sign_stay_as_they_are(tmp_path: Path) -> None:
    frame = residents(40).with_columns(income=pl.Series([0.0, -0.0] * 20))
    folder = Mondrian(k=5).publish(read(frame, KEPT)).save(tmp_path / "release", parquet=True)
    loaded = Release.load(folder)
    assert int(np.signbit(loaded.to_polars()["income"].to_numpy()).sum()) == 20
    assert compare_writing(folder, loaded).unseen == ()


def test_a_changed_byte_far_down_is_found(tmp_path: Path) -> None:
    with in_pieces(rows=37):
        folder = Mondrian(k=5).publish(read(people_with_visits(), TOWN)).save(tmp_path / "release")
        path = folder / "data.csv"
        lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
        here = next(here for here in range(300, len(lines)) if lines[here] != lines[here + 1])
        swapped = [*lines[:here], lines[here + 1], lines[here], *lines[here + 2 :]]
        path.write_text("".join(swapped), encoding="utf-8")
        assert any("order" in each for each in compare_writing(folder, Release.load(folder)).contradictions)
        path.write_text("".join([*lines[:300], "nonsense\n", *lines[300:]]), encoding="utf-8")
        with pytest.raises(ReleaseError, match=r"data\.csv.*row 300"):
            Release.load(folder)


@given(st.lists(st.integers(0, 9), max_size=30), st.integers(1, 12))
def test_lines_that_repeat_are_written_out(times: list[int], rows: int) -> None:
    with mock.patch.object(pieces, "ROWS_AT_ONCE", rows):
        parts = list(
            Parts.repeating(np.array(times, dtype=np.int64), lambda some: pl.DataFrame({"line": some.astype(np.int64)}))
        )
    assert all(part.height == rows for part in parts[:-1])
    assert pl.concat(parts)["line"].to_list() == np.repeat(np.arange(len(times)), times).tolist()
