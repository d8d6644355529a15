"""The files of a release are those that the program writes; what else is in them is found, or said to be unseen."""

from __future__ import annotations

import gzip
import io
import json
import tempfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.data import read
from sfumato.methods.partition.anatomy import Anatomy
from sfumato.methods.partition.endpoints import FullSuppression, Original
from sfumato.methods.partition.mondrian import Mondrian
from sfumato.privacy.claims import ORIGIN_ASSUMPTIONS, PureDP
from sfumato.release import FlowRelease, Provenance, load_release
from sfumato.release.envelope import spelled
from sfumato.release.written import compare_writing
from sfumato.schema import Schema
from strategies import TableCase, tables

SUFFIXES = (".csv", ".csv.gz", ".parquet")
SCHEMA: dict[str, Any] = {
    "name": "people",
    "missing": ["", "?"],
    "columns": {
        "name": {"role": "identifier"},
        "age": {"role": "quasi", "kind": "numeric", "min": 0, "max": 99, "nullable": True},
        "town": {"role": "quasi", "kind": "categorical", "taxonomy": {"north": ["a,b", 'q"'], "south": ["{c", "é"]}},
        "shoe": {"role": "ignore"},
        "disease": {"role": "sensitive", "kind": "categorical", "values": ["flu", "cold", "hiv"], "nullable": True},
    },
}
NOTE = {"note": {"role": "keep"}}
PEOPLE = pl.DataFrame(
    {
        "name": list("klmnopqr"),
        "age": ["21", "22", "23", "24", "71", "72", "?", "74"],
        "town": ["a,b", 'q"', "a,b", 'q"', "{c", "é", "{c", "é"],
        "shoe": [40, 41, 42, 43, 44, 45, 46, 47],
        "disease": ["flu", "cold", "flu", "hiv", "flu", None, "hiv", "cold"],
        "note": ["x", "", None, 'say "hi", then\nleave', "1", "2", "3", "4"],
    }
)
SECRET = "Alice has cancer"


def save(folder: Path, suffix: str = ".csv") -> Path:
    return Mondrian(k=2).publish(read(PEOPLE, Schema.parse(SCHEMA))).save(folder / "release", suffix=suffix)


def faults(folder: Path) -> tuple[str, ...]:
    return compare_writing(folder, load_release(folder)).contradictions


def unseen(folder: Path) -> tuple[str, ...]:
    return compare_writing(folder, load_release(folder)).unseen


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("keep", [False, True])
def test_what_the_program_wrote_has_no_fault(suffix: str, keep: bool, tmp_path: Path) -> None:
    columns = SCHEMA["columns"] | (NOTE if keep else {})
    table = read(PEOPLE, Schema.parse(SCHEMA | {"columns": columns}))
    methods = [Mondrian(k=2), Original(), FullSuppression(), *([] if keep else [Anatomy(l=2)])]
    for number, method in enumerate(methods):
        folder = method.publish(table).save(tmp_path / str(number), suffix=suffix)
        assert (faults(folder), unseen(folder)) == ((), ())


@given(case=tables(), recoding=st.sampled_from(["generalize", "bucketize"]), suffix=st.sampled_from(SUFFIXES))
def test_no_table_is_accused(case: TableCase, recoding: Any, suffix: str) -> None:
    release = Mondrian(k=min(2, len(case.rows)), recoding=recoding).publish(case.table)
    with tempfile.TemporaryDirectory() as place:
        folder = release.save(Path(place) / "release", suffix=suffix)
        assert (faults(folder), unseen(folder)) == ((), ())


Edit = Callable[[bytes], bytes]


@pytest.mark.parametrize(
    "edit",
    [
        lambda text: text.replace(b"\n", b"\r\n"),
        lambda text: text.replace(b"\n", b"\r\n", 2),
        lambda text: b"\xef\xbb\xbf" + text,
        lambda text: text.replace(b",flu\n", b',"flu"\n', 1),
        lambda text: text.replace(b"age,", b'"age",', 1),
        lambda text: text.removesuffix(b"\n"),
        lambda text: b"".join([*text.splitlines(keepends=True)[:1], *text.splitlines(keepends=True)[:0:-1]]),
        lambda text: pl.read_csv(io.BytesIO(text))[:, ::-1].write_csv().encode(),
    ],
    ids=["all CRLF", "some CRLF", "mark", "quoted cell", "quoted name", "no end", "order of rows", "order of columns"],
)
@pytest.mark.parametrize("suffix", [".csv", ".csv.gz"])
def test_the_same_rows_in_other_bytes(edit: Edit, suffix: str, tmp_path: Path) -> None:
    """Which cells are quoted, or which lines end otherwise, can mark people."""
    path = save(tmp_path, suffix) / f"data{suffix}"
    packed = suffix.endswith(".gz")
    text = edit(gzip.decompress(path.read_bytes()) if packed else path.read_bytes())
    path.write_bytes(packing(text) if packed else text)
    assert any(f"data{suffix}" in sentence for sentence in faults(path.parent))


def packing(text: bytes, name: str = "", level: int = 9) -> bytes:
    packed = io.BytesIO()
    with gzip.GzipFile(filename=name, mode="wb", fileobj=packed, mtime=0, compresslevel=level) as file:
        file.write(text)
    return packed.getvalue()


@pytest.mark.parametrize("name", ["", SECRET])
def test_a_second_part_of_a_compressed_file(name: str, tmp_path: Path) -> None:
    path = save(tmp_path, ".csv.gz") / "data.csv.gz"
    lines = gzip.decompress(path.read_bytes()).splitlines(keepends=True)
    path.write_bytes(packing(b"".join(lines[:4])) + packing(b"".join(lines[4:]), name))
    assert faults(path.parent) == ("data.csv.gz holds more than rows in its compression",)


def test_a_time_in_the_head_of_a_compressed_file(tmp_path: Path) -> None:
    path = save(tmp_path, ".csv.gz") / "data.csv.gz"
    packed = path.read_bytes()
    path.write_bytes(packed[:4] + b"HIV+" + packed[8:])
    assert faults(path.parent) == ("data.csv.gz holds more than rows in its compression",)


def test_rows_that_are_packed_otherwise_are_no_fault_but_that_is_said(tmp_path: Path) -> None:
    path = save(tmp_path, ".csv.gz") / "data.csv.gz"
    packed = path.read_bytes()
    text = zlib.compressobj(0, zlib.DEFLATED, -zlib.MAX_WBITS)
    body = text.compress(gzip.decompress(packed)) + text.flush()
    path.write_bytes(packed[:10] + body + packed[-8:])
    assert faults(path.parent) == ()
    assert unseen(path.parent) == ("whether data.csv.gz hides something in how it is packed",)


@pytest.mark.parametrize(
    ("edit", "sentence"),
    [
        (lambda rows: rows.reverse(), "the rows of data.parquet are not in the order of their labels"),
        (lambda rows: rows[:, ::-1], "the columns of data.parquet are not those that the program writes"),
        (lambda rows: rows.cast(pl.Categorical), "the columns of data.parquet are not those that the program writes"),
    ],
)
def test_the_same_rows_in_another_parquet_file(
    edit: Callable[[pl.DataFrame], pl.DataFrame], sentence: str, tmp_path: Path
) -> None:
    path = save(tmp_path, ".parquet") / "data.parquet"
    edit(pl.read_parquet(path)).write_parquet(path)
    assert any(sentence in fault for fault in faults(path.parent))


def test_a_parquet_file_that_names_another_writer(tmp_path: Path) -> None:
    path = save(tmp_path, ".parquet") / "data.parquet"
    path.write_bytes(path.read_bytes().replace(b"Polars", b"Alicee"))
    assert any("data.parquet holds metadata" in fault and "Alicee" in fault for fault in faults(path.parent))


def test_a_parquet_file_in_other_parts_is_no_fault_but_that_is_said(tmp_path: Path) -> None:
    path = save(tmp_path, ".parquet") / "data.parquet"
    pl.read_parquet(path).write_parquet(path, row_group_size=2)
    assert faults(path.parent) == ()
    assert unseen(path.parent) == ("whether data.parquet hides something in how it is packed",)


def describe(folder: Path, change: Callable[[dict[str, Any]], Any]) -> None:
    path = folder / "release.json"
    spec = json.loads(path.read_text(encoding="utf-8"))
    change(spec)
    path.write_text(spelled(spec), encoding="utf-8")


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda spec: spec["schema"]["columns"].update({SECRET: {"role": "ignore"}}), "schema in release.json is not"),
        (lambda spec: spec["schema"].update(missing=["", SECRET]), "schema in release.json is not what the program"),
        (lambda spec: spec["schema"]["columns"]["age"].update(from_data=[]), "schema in release.json is not"),
        (lambda spec: spec.update(version=SECRET), f"{SECRET!r} is no version of this program"),
        (lambda spec: spec.update(version="0.2.0+alice.has.cancer"), "is no version of this program"),
        (lambda spec: spec.update(id=SECRET), f"{SECRET!r} is no id that a ledger gives"),
        (lambda spec: spec["claim"].update(buckets=0.0, choice={"epsilon": 1, "pilot": SECRET}), "is no id that"),
        (lambda spec: spec["claim"].update(buckets=[]), "claim in release.json is not what the program"),
        (lambda spec: spec.update(format=spec.pop("format")), "release.json is not spelled as the program spells it"),
    ],
)
def test_text_that_a_description_has_no_place_for(
    change: Callable[[dict[str, Any]], Any], sentence: str, tmp_path: Path
) -> None:
    folder = save(tmp_path)
    describe(folder, lambda spec: None)
    assert faults(folder) == ()
    describe(folder, change)
    assert any(sentence in fault for fault in faults(folder))


@pytest.mark.parametrize("more", [" \t\n", "\n"])
def test_blanks_in_a_description(more: str, tmp_path: Path) -> None:
    path = save(tmp_path) / "release.json"
    path.write_text(path.read_text(encoding="utf-8") + more, encoding="utf-8")
    assert any("release.json is not spelled" in fault for fault in faults(path.parent))


@pytest.mark.parametrize("name", [f"{SECRET}.csv", "dаta.csv"], ids=["text", "a Cyrillic letter"])
def test_the_name_of_a_file(name: str, tmp_path: Path) -> None:
    folder = save(tmp_path)
    (folder / "data.csv").rename(folder / name)
    describe(folder, lambda spec: spec["files"].update(data=name))
    assert any("is no name that the program gives to a file" in fault for fault in faults(folder))


def test_how_the_original_spelled_a_missing_value_is_not_published(tmp_path: Path) -> None:
    """But the first version told it."""
    folder = save(tmp_path)
    assert load_release(folder).schema.missing == ("",)  # type: ignore[union-attr]
    describe(folder, lambda spec: spec.update(version="0.1.0") or spec["schema"].update(missing=["", "?"]))
    assert faults(folder) == ()


FLOWS = pl.DataFrame({"destination": ["b", "a", "a"], "origin": ["a", "outside", "b"], "count": [2, 1, 3]})


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_flows_are_in_the_order_of_their_ids(suffix: str, tmp_path: Path) -> None:
    claim = PureDP(epsilon=4, neighbours="replace-origin", assumptions=ORIGIN_ASSUMPTIONS)
    made = Provenance(method="commute")
    release = FlowRelease(source=FLOWS, claim=claim, provenance=made, from_data=0.5, terms={"synthesis": 4.0})
    folder = release.save(tmp_path / "flows", suffix=suffix)
    assert (faults(folder), unseen(folder)) == ((), ())
    assert load_release(folder).frame.rows() == [("a", "b", 3), ("a", "outside", 1), ("b", "a", 2)]  # type: ignore[union-attr]


@pytest.mark.parametrize("count", ["01", "+1", " 1", '"1"'])
def test_counts_of_flows_have_one_spelling(count: str, tmp_path: Path) -> None:
    folder = FlowRelease(source=FLOWS, claim=PureDP(epsilon=1), from_data=0.5).save(tmp_path / "flows")
    path = folder / "flows.csv"
    path.write_text(path.read_text().replace("outside,1", f"outside,{count}"))
    assert any("line 3 of flows.csv" in fault for fault in faults(folder))
