"""Workbooks: every cell is read by itself, one sheet is meant, and what cannot be read is refused in a sentence."""

from __future__ import annotations

import datetime as dt
import zipfile
from pathlib import Path
from typing import Any

import pytest
import xlsxwriter

import sfumato as sf
from sfumato.data.formats import read_table
from sfumato.data.source import read_frame
from sfumato.errors import DataError, ParameterError

HEADER = ["age", "town", "day", "ill"]
ROWS: list[list[Any]] = [
    [30.0, "Köln", dt.datetime(2024, 1, 31), True],
    [41.5, "7.0", dt.datetime(2024, 1, 31, 12, 30), 1],
]
OLD_OFFICE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
"""How files of the 1990s begin, in which encrypted ones are packed to this day."""
SPELLED = [("30", "Köln", "2024-01-31", "true"), ("41.5", "7.0", "2024-01-31 12:30:00", "1")]


def workbook(path: Path, **sheets: list[list[Any]]) -> Path:
    with xlsxwriter.Workbook(path, {"default_date_format": "yyyy-mm-dd"}) as book:
        for name, rows in sheets.items():
            sheet = book.add_worksheet(name)
            for number, row in enumerate(rows):
                sheet.write_row(number, 0, row)
    return path


CELL = {str: '<table:table-cell office:value-type="string"><text:p>{}</text:p></table:table-cell>'}
NAMES = " ".join(
    f'xmlns:{short}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"'
    for short, name in (("office", "office"), ("table", "table"), ("text", "text"))
)


def open_document(path: Path, rows: list[list[str]]) -> Path:
    """A sheet as the simplest office programs write it."""
    lines = "".join(f"<table:table-row>{''.join(map(CELL[str].format, row))}</table:table-row>" for row in rows)
    sheet = f'<table:table table:name="Sheet1">{lines}</table:table>'
    body = f"<office:body><office:spreadsheet>{sheet}</office:spreadsheet></office:body>"
    kind = "application/vnd.oasis.opendocument.spreadsheet"
    with zipfile.ZipFile(path, "w") as packed:
        packed.writestr("mimetype", kind)
        packed.writestr("content.xml", f"<office:document-content {NAMES}>{body}</office:document-content>")
        packed.writestr("META-INF/manifest.xml", "<manifest/>")
    return path


def refusal(source: Path | str) -> str:
    with pytest.raises((DataError, ParameterError)) as caught:
        read_frame(source)
    return str(caught.value)


def test_cells_are_spelled_one_by_one(tmp_path: Path) -> None:
    path = workbook(tmp_path / "people.xlsx", People=[HEADER, *ROWS, [None] * 4, ["x", None, None, False]])
    frame = read_table(path)
    assert frame.columns == HEADER
    assert frame.rows() == [*SPELLED, ("x", None, None, "false")]
    assert read_table(path, ["ill", "age"]).rows()[0] == ("true", "30")


def test_a_cell_changes_no_other(tmp_path: Path) -> None:
    """Whatever one row holds, others are as they are without it."""
    for odd in (dt.datetime(2024, 1, 31), "text", 0.1, True, "=1/0", None):
        path = workbook(tmp_path / "people.xlsx", People=[HEADER, *ROWS, [odd] * 4])
        assert read_table(path).rows()[:2] == SPELLED, odd


def test_open_documents(tmp_path: Path) -> None:
    path = open_document(tmp_path / "people.ods", [["age", "town"], ["30", "Köln"]])
    assert read_table(path).rows() == [("30", "Köln")]


def test_a_sheet_is_named_where_several_hold_something(tmp_path: Path) -> None:
    path = workbook(tmp_path / "two.xlsx", First=[["a"], [1]], Empty=[], Second=[["b"], [2]])
    assert read_frame(f"{path}#Second")[0].rows() == [("2",)]
    assert refusal(path).endswith(f"has the sheets 'First', 'Second'; name one, such as {path.name}#First")
    assert refusal(f"{path}#Third").endswith("there is no sheet 'Third'; the workbook has 'First', 'Empty', 'Second'")
    assert refusal(f"{path}#Empty").endswith("the sheet 'Empty' is empty")
    alone = workbook(tmp_path / "one.xlsx", First=[["a"], [1]], Empty=[])
    assert read_table(alone).rows() == [("1",)]


def test_a_sign_in_the_name_of_a_file_belongs_to_it(tmp_path: Path) -> None:
    path = workbook(tmp_path / "people #2.xlsx", First=[["a"], [1]])
    assert read_frame(path)[0].rows() == [("1",)]
    (tmp_path / "people#3.csv").write_text("a\n1\n")
    assert read_frame(tmp_path / "people#3.csv")[0].rows() == [("1",)]
    assert "only workbooks and databases have parts" in refusal_of_part(tmp_path)


def refusal_of_part(folder: Path) -> str:
    (folder / "plain.csv").write_text("a\n1\n")
    return refusal(f"{folder / 'plain.csv'}#a")


def test_cells_below_no_name_belong_to_nothing(tmp_path: Path) -> None:
    """Otherwise a note beside one person's row would stop everybody's."""
    path = workbook(tmp_path / "people.xlsx", People=[["a", None, "b"], [1, None, 3], [4, "note", 6, "note"]])
    assert read_table(path).rows() == [("1", "3"), ("4", "6")]


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ([], "the workbook is empty"),
        ([["a"]], "has no rows"),
        ([["a", "a"], [1, 2]], "the column 'a' appears more than once"),
    ],
)
def test_a_sheet_without_a_table(tmp_path: Path, rows: list[list[Any]], expected: str) -> None:
    assert expected in refusal(workbook(tmp_path / "people.xlsx", People=rows))


def test_files_that_are_no_workbooks(tmp_path: Path) -> None:
    path = workbook(tmp_path / "people.xlsx", People=[HEADER, *ROWS])
    whole = path.read_bytes()
    for content in (whole[: len(whole) // 2], b"", b"age,ill\n1,no\n", OLD_OFFICE + bytes(600)):
        path.write_bytes(content)
        assert "cannot be read as a workbook" in refusal(path)
    path.write_bytes(OLD_OFFICE + bytes(600) + "EncryptedPackage".encode("utf-16-le"))
    assert refusal(path).endswith("the workbook is encrypted; save it without a password")


def test_without_the_package_it_is_said_how_to_get_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "fastexcel", None)
    assert refusal(workbook(tmp_path / "people.xlsx", People=[HEADER, *ROWS])).endswith(
        "reading this needs fastexcel, which is not installed; run: pip install 'sfumato[files]'"
    )


def test_a_workbook_is_a_table_like_any_other(tmp_path: Path) -> None:
    people = [[20 + number % 5, "no" if number % 3 else "yes"] for number in range(40)]
    path = workbook(tmp_path / "survey.xlsx", Notes=[["x"], [1]], People=[["age", "ill"], *people])
    schema = sf.propose(f"{path}#People", sensitive="ill", quasi=("age",))
    assert schema.name == "survey"
    table = sf.read(f"{path}#People", schema)
    assert (
        table.fingerprint == sf.read({"age": [p[0] for p in people], "ill": [p[1] for p in people]}, schema).fingerprint
    )
    assert table.files == (path,)
    assert len(table.digests) == 2
