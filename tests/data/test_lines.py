"""No cell of a text file changes or stops the reading of another line, where the schema says what becomes of it."""

from __future__ import annotations

import gzip
import io
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.data import delimited, read
from sfumato.data.formats import read_table
from sfumato.data.lines import is_well_formed, split_lines
from sfumato.errors import DataError

SCHEMA: dict[str, Any] = {
    "columns": {
        "age": {"role": "quasi", "kind": "numeric", "min": 0, "max": 99, "off_schema": "clip"},
        "sex": {"role": "quasi", "kind": "categorical", "values": ["F", "M"], "off_schema": "F"},
        "ill": {"role": "sensitive", "kind": "categorical", "values": ["no", "flu"], "off_schema": "no"},
    }
}
HEADER = b"age,sex,ill\n"
CROWD = b"".join(b"%d,%c,%b\n" % (n, b"FM"[n % 2], (b"no", b"flu")[n % 3 > 0]) for n in range(30))
QUOTED = b'"3","F","no"\n"4","M",""\n5,"F\nM",flu\n6,"a ""b"", c",flu\r\n'
NASTY = {
    "a mark inside a cell": b'4"2,M,no',
    "a mark behind a cell": b'34,M,no"',
    "text behind a closed cell": b'34,"M"x,no',
    "text behind an empty cell": b'34,""M,no',
    "a mark that is never closed": b'"oops,M,no',
    "a mark alone": b'",M,no',
    "a mark in the last cell": b'34,M,"no',
    "three marks": b'""",M,no',
    "a carriage return before an empty cell": b"3\r4,M,",
    "a carriage return in a quoted cell": b'"3\r4",M,',
    "line breaks in a quoted cell": b'"3\n\n4",M,',
    "no text": b"34,\xff\xfe,",
    "too few fields": b"34",
    "too many fields": b"34,M,no,no,no",
    "nothing but separators": b",,",
    "spaces": b"   ",
    "a zero byte": b"3\x004,M,",
    "line separators": "34,\u2028\x85\x1c,".encode(),
    "a long cell": b"9" * 200_000 + b',M",',
}


def cells(content: bytes, folder: Path, name: str = "people.csv") -> dict[tuple[int, ...], int]:
    path = folder / name
    path.write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    table = read(path, SCHEMA)
    points = table.points[table.cell_point].tolist()
    counted = zip(points, table.cell_value.tolist(), table.cell_weight.tolist(), strict=True)
    return {(*point, value): weight for point, value, weight in counted}


def distance(one: dict[tuple[int, ...], int], other: dict[tuple[int, ...], int]) -> int:
    return sum(abs(one.get(cell, 0) - other.get(cell, 0)) for cell in one.keys() | other.keys())


@pytest.mark.parametrize("nasty", NASTY)
@pytest.mark.parametrize("others", [CROWD, QUOTED, CROWD + QUOTED, b""], ids=["plain", "quoted", "both", "nobody"])
@pytest.mark.parametrize("end", [b"\n", b"\r\n"], ids=["lf", "crlf"])
def test_one_persons_line_is_one_row_more(tmp_path: Path, nasty: str, others: bytes, end: bytes) -> None:
    if others == QUOTED:
        others = others.replace(b"\r\n", b"\n")
    without = cells(HEADER + others, tmp_path)
    for place in (HEADER + NASTY[nasty] + end + others, HEADER + others + NASTY[nasty] + end):
        assert distance(without, cells(place, tmp_path)) == 1
    assert distance(without, cells(HEADER + others + NASTY[nasty], tmp_path, "people.csv.gz")) == 1


@pytest.mark.parametrize("nasty", ["a mark inside a cell", "a mark that is never closed", "text behind a closed cell"])
def test_a_twin_without_the_patient_reader_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, nasty: str
) -> None:
    monkeypatch.setattr(delimited, "is_well_formed", lambda *_: True)
    with pytest.raises(DataError, match="cannot be read as a table"):
        cells(HEADER + NASTY[nasty] + b"\n" + CROWD, tmp_path)


def test_empty_lines_are_nobodys(tmp_path: Path) -> None:
    expected = cells(HEADER + CROWD, tmp_path)
    for content in (CROWD + b"\n\n", b"\n" + CROWD, CROWD.replace(b"\n", b"\r\n\r\n"), CROWD + b"\n\r"):
        assert cells(HEADER + content, tmp_path) == expected


def test_a_schema_that_may_refuse_still_refuses_a_malformed_line(tmp_path: Path) -> None:
    refusing = {**SCHEMA["columns"], "sex": {**SCHEMA["columns"]["sex"], "off_schema": "refuse"}}
    for line in (b"34,M\n", b'4"2,M,no\n', b"34,M,no,no\n"):
        (tmp_path / "people.csv").write_bytes(HEADER + line)
        with pytest.raises(DataError):
            read(tmp_path / "people.csv", {"columns": refusing})


@pytest.mark.parametrize(
    ("content", "well_formed"),
    [
        (b"a,b\n1,2\n", True),
        (b'"a","b"\n"1",2\n', True),
        (b'\xef\xbb\xbf"a",b\r\n1,"2"\r\n', True),
        (b'a,b\n1,"x ""y"""', True),
        (b'a,b\n"",""""\n', True),
        (b'a,b\n1,"x\ny"\n', True),
        (b"a,b\n1\r,2\n", True),
        (b'a,b\n1,2"\n', False),
        (b'a,b\n1"",2\n', False),
        (b'a,b\n"1"x,2\n', False),
        (b'a,b\n"1"\rx,2\n', False),
        (b'a,b\n"1""\n', False),
        (b'a,b\n 1, "2"\n', False),
        (b"a,b\n\n1,2\n", False),
        (b"a,b\r\n\r\n1,2", False),
    ],
)
def test_which_files_any_reader_reads_alike(content: bytes, well_formed: bool) -> None:
    assert is_well_formed(content, ",") == well_formed


FIELDS = st.one_of(st.just(""), st.text(alphabet='ab",;\r\n \u00e9', max_size=5))


def written(cell: str | None, separator: str, quote: bool) -> str:
    if cell is None:
        return ""
    must = quote or not cell or any(sign in cell for sign in f'{separator}"\r\n')
    return '"' + cell.replace('"', '""') + '"' if must else cell


@given(
    st.lists(st.lists(st.one_of(st.none(), FIELDS), min_size=1, max_size=4), max_size=6),
    st.sampled_from([",", ";", "\t", "|"]),
    st.sampled_from(["\n", "\r\n"]),
    st.booleans(),
    st.booleans(),
)
def test_both_readers_read_well_formed_files_alike(
    rows: list[list[str | None]], separator: str, end: str, quote: bool, last: bool
) -> None:
    rows = [row for row in rows if row != [None]]
    lines = [
        "a;b;c".replace(";", separator),
        *(separator.join(written(c, separator, quote) for c in row) for row in rows),
    ]
    text = end.join(lines) + end * last
    patient = split_lines(text, separator, ["a", "b", "c"], ["c", "a"])
    expected = [([*row, None, None, None][2], row[0]) for row in rows]
    assert patient.rows() == expected
    if is_well_formed(text.encode(), separator):
        quick = pl.read_csv(
            io.BytesIO(text.encode()), separator=separator, infer_schema=False, truncate_ragged_lines=True
        )
        assert quick.select("c", "a").rows() == expected


@given(st.lists(st.text(alphabet='ab",\r', max_size=8), max_size=4), st.text(alphabet='ab,"\r', max_size=8))
def test_lines_without_breaks_never_swallow_plain_ones(before: list[str], own: str) -> None:
    """Lines in which marks are doubled and quoted, and one in which anything stands: it is one row at most."""
    others = [written(cell, ",", quote=False) + ",x" for cell in before]
    without = split_lines("\n".join(["a,b", *others]) + "\n", ",", ["a", "b"], ["a", "b"]).rows()
    beside = split_lines("\n".join(["a,b", *others, own, "1,2"]) + "\n", ",", ["a", "b"], ["a", "b"]).rows()
    assert beside[: len(without)] == without
    assert beside[-1] == ("1", "2")
    assert len(beside) - len(without) in (1, 2)


def test_many_lines_are_read_in_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from sfumato.data import lines

    monkeypatch.setattr(lines, "CHUNK", 7)
    path = tmp_path / "people.csv"
    path.write_bytes(HEADER + CROWD + b'4"2,M,no\n')
    frame = read_table(path, ["ill", "age"], reading="lenient")
    assert frame.height == 31
    assert frame.rows()[-1] == ("no", '4"2')
    assert read_table(path, reading="lenient").columns == ["age", "sex", "ill"]
