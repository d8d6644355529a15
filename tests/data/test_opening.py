"""Encodings and delimiters of text: said, recognized, or advised; and decimal commas."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import pytest

import sfumato as sf
from sfumato.data import blocks
from sfumato.data.formats import read_table
from sfumato.data.opening import Opening
from sfumato.errors import DataError, ParameterError, SchemaError

TEXT = "age;town;ill\n30;Köln;no\n40;Genève;yes\n50;Zürich;no\n"
ROWS = [("30", "Köln", "no"), ("40", "Genève", "yes"), ("50", "Zürich", "no")]
COLUMNS: dict[str, dict[str, Any]] = {
    "age": {"role": "quasi", "kind": "numeric", "min": 0, "max": 99},
    "town": {"role": "quasi", "kind": "categorical", "values": ["Köln", "Genève", "Zürich"]},
    "ill": {"role": "sensitive", "kind": "categorical", "values": ["no", "yes"]},
}


def written(folder: Path, content: bytes, name: str = "people.csv") -> Path:
    path = folder / name
    path.write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    return path


@pytest.mark.parametrize("name", ["people.csv", "people.csv.gz", "people.txt"])
@pytest.mark.parametrize("encoding", ["latin-1", "cp1252", "mac-roman", "utf-16-le", "utf-32-be", "utf-8-sig"])
def test_text_is_read_in_the_encoding_that_is_said(tmp_path: Path, encoding: str, name: str) -> None:
    path = written(tmp_path, TEXT.encode(encoding), name)
    assert read_table(path, opening=Opening(encoding=encoding)).rows() == ROWS


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32"])
def test_a_mark_says_which_encoding_it_is(tmp_path: Path, encoding: str) -> None:
    for given in (None, encoding, f"{encoding}-le"):
        assert read_table(written(tmp_path, TEXT.encode(encoding)), opening=Opening(encoding=given)).rows() == ROWS


def test_a_large_file_is_decoded_block_by_block(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [(str(number), "Genève" * (number % 4), "no") for number in range(500)]
    text = "age,town,ill\n" + "\n".join(",".join(row) for row in rows) + "\n"
    monkeypatch.setattr(blocks, "BLOCK", 777)
    for encoding in ("utf-16", "latin-1"):
        path = written(tmp_path, text.encode(encoding))
        found = read_table(path, opening=Opening(encoding=encoding)).fill_null("").rows()
        assert found == rows


def test_an_encoding_that_is_not_known_is_advised(tmp_path: Path) -> None:
    schema = {"columns": {**COLUMNS, "note": {"role": "keep"}}}
    for encoding, text in (("latin-1", TEXT), ("cp1252", TEXT.replace("Köln", "“ln"))):
        path = written(tmp_path, text.replace(";ill", ";ill;note").replace("no\n", "no;x\n").encode(encoding))
        with pytest.raises(DataError, match=f"not UTF-8; it looks like {encoding}: say --encoding {encoding}$"):
            sf.read(path, schema)
    path = written(tmp_path, TEXT.encode("latin-1"))
    with pytest.raises(DataError, match=r"(?s)'K.*xf6ln' is not one of.*say --encoding latin-1$"):
        sf.read(path, {"columns": COLUMNS})
    assert sf.read(path, {"columns": COLUMNS}, encoding="latin-1").n == 3


def test_under_noise_an_unknown_encoding_is_read_as_before(tmp_path: Path) -> None:
    declared = {name: {**spec, "off_schema": "clip"} for name, spec in COLUMNS.items()}
    declared["town"]["off_schema"], declared["ill"]["off_schema"] = "Köln", "no"
    table = sf.read(written(tmp_path, TEXT.encode("latin-1")), {"columns": declared})
    assert table.n == 3
    assert table.placed == {"town": 3}


@pytest.mark.parametrize(
    ("encoding", "expected"),
    [("latin-11", "expected one such as latin-1"), ("rot13", "convert it"), ("utf-7", "in which one cell can change")],
)
def test_an_encoding_that_is_none(encoding: str, expected: str) -> None:
    with pytest.raises(ParameterError, match=expected):
        Opening(encoding=encoding)


@pytest.mark.parametrize("delimiter", ["^", "|", ";", "~", " ", "tab", "space", ":"])
def test_a_delimiter_can_be_said(tmp_path: Path, delimiter: str) -> None:
    sign = {"tab": "\t", "space": " "}.get(delimiter, delimiter)
    content = TEXT.replace(";", sign).replace("Köln", '"a, b"').encode()
    found = read_table(written(tmp_path, content), opening=Opening(delimiter=delimiter))
    assert found.rows() == [("30", "a, b", "no"), *ROWS[1:]]
    lenient = read_table(written(tmp_path, content), reading="lenient", opening=Opening(delimiter=delimiter))
    assert lenient.equals(found)


def test_a_delimiter_that_was_not_found_out_is_asked_for(tmp_path: Path) -> None:
    path = written(tmp_path, TEXT.replace(";", "^").encode())
    with pytest.raises(DataError, match=r"the file has 'age.town.ill' alone. If another sign .* say --delimiter$"):
        sf.read(path, {"columns": COLUMNS})
    assert sf.read(path, {"columns": COLUMNS}, delimiter="^").n == 3
    with pytest.raises(DataError, match=r"the column 'age' is missing; the file has 'wage'$"):
        sf.read(written(tmp_path, b"wage\n1\n"), {"columns": COLUMNS})


@pytest.mark.parametrize("delimiter", ["", "ab", '"', "\n", "x", "€"])
def test_a_delimiter_that_is_none(delimiter: str) -> None:
    with pytest.raises(ParameterError, match="expected one sign such as ;"):
        Opening(delimiter=delimiter)


def test_what_is_said_must_mean_something(tmp_path: Path) -> None:
    read_table(written(tmp_path, TEXT.encode())).write_parquet(tmp_path / "people.parquet")
    for said in ({"encoding": "latin-1"}, {"delimiter": ";"}):
        with pytest.raises(ParameterError):
            sf.read(tmp_path / "people.parquet", {"columns": COLUMNS}, **said)
        with pytest.raises(ParameterError, match="this is no such file"):
            sf.read({"age": [1]}, {"columns": COLUMNS}, **said)


def test_a_ragged_row_is_named_by_its_line(tmp_path: Path) -> None:
    content = b'a,b\n1,"two\nlines"\n\n3\n4,5\n6,7,8\n'
    with pytest.raises(DataError, match=r"line 5 \(row 3\): 1 fields where the header has 2; so it is in line 7$"):
        read_table(written(tmp_path, content))


def test_a_decimal_comma(tmp_path: Path) -> None:
    columns = {
        "wage": {"role": "quasi", "kind": "numeric", "min": 0, "max": 10, "step": 0.5, "decimal": ","},
        "ill": COLUMNS["ill"],
    }
    path = written(tmp_path, b"wage;ill\n3,5;no\n3.5;yes\n 4,0 ;no\n")
    schema = sf.Schema.parse({"columns": columns})
    table = sf.read(path, schema)
    assert table.points.ravel().tolist() == [7, 8]
    assert sf.Schema.parse(schema.spec()) == schema
    assert "decimal" not in schema.public().spec()["columns"]["wage"]
    for wrong in ("1.234,5", "1,2,3", "3;5"):
        with pytest.raises(DataError, match="is not a number from 0 to 10"):
            sf.read({"wage": [wrong], "ill": ["no"]}, schema)
    with pytest.raises(DataError, match="'3,5' is not a number"):
        sf.read(path, {"columns": {**columns, "wage": {**columns["wage"], "decimal": "."}}})
    with pytest.raises(SchemaError, match=r'decimal is .;.; expected "\." or ","'):
        sf.Schema.parse({"columns": {**columns, "wage": {**columns["wage"], "decimal": ";"}}})
