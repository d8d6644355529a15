"""Workbooks: the cells of one sheet as text, each read by itself.

The first row that is not empty has the names of the columns. A date is a number that looks like one, so that midnight
is spelled as the day alone; rows in which every cell is empty are nobody's, as empty lines are, and cells below no name
belong to nothing.
"""

from pathlib import Path
from typing import Any

import polars as pl

from sfumato.data.opening import PART, Opening, needing
from sfumato.errors import DataError, ParameterError, quote, shorten

ENDINGS = (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods")
MAX_LISTED = 12
MIDNIGHT = r"^(\d{4}-\d\d-\d\d)[ T]00:00:00$"
ENCRYPTED = (b"E\0n\0c\0r\0y\0p\0t\0e\0d\0P\0a\0c\0k\0a\0g\0e\0", b"EncryptedPackage", b"manifest:encryption-data")
"""What a workbook says inside that is protected by a password."""


def read_sheet(path: Path, opening: Opening) -> pl.DataFrame:
    """The sheet that is meant: the one named, or the only one that holds anything."""
    with needing("files", str(path)):
        import fastexcel
    try:
        book = fastexcel.read_excel(path)
        cells = _cells(book, path, opening.part)
    except fastexcel.FastExcelError as error:
        if _is_encrypted(path):
            raise DataError(f"{path}: the workbook is encrypted; save it without a password") from error
        reason = shorten(str(error).splitlines()[0], 200)
        raise DataError(f"{path}: cannot be read as a workbook ({reason})") from error
    where = f"{path}{PART}{opening.part}" if opening.part else str(path)
    return _below_header(cells, where)


def _is_encrypted(path: Path) -> bool:
    content = path.read_bytes()
    return any(mark in content for mark in ENCRYPTED)


def _cells(book: Any, path: Path, part: str) -> pl.DataFrame:
    """The cells of the sheet that is meant, its header in the first row."""
    names = list(book.sheet_names)
    if part and part not in names:
        raise ParameterError(f"{path}: there is no sheet {quote(part)}; the workbook has {_listed(names)}")
    sheets = {name: _load(book, name) for name in ([part] if part else names)}
    full = [name for name, cells in sheets.items() if cells.height]
    if not full:
        raise DataError(f"{path}: {'the sheet ' + quote(part) if part else 'the workbook'} is empty")
    if len(full) > 1:
        raise ParameterError(
            f"{path}: the workbook has the sheets {_listed(full)}; name one, such as {path.name}{PART}{full[0]}"
        )
    return sheets[full[0]]


def _load(book: Any, name: str) -> pl.DataFrame:
    cells = book.load_sheet(name, header_row=None, dtypes="string", skip_whitespace_tail_rows=False).to_polars()
    if not isinstance(cells, pl.DataFrame) or not cells.width:
        return pl.DataFrame()
    return cells.filter(~pl.all_horizontal((pl.col("*").str.strip_chars() == "").fill_null(True)))


def _listed(names: list[str]) -> str:
    shown = ", ".join(map(quote, names[:MAX_LISTED]))
    return f"{shown} and {len(names) - MAX_LISTED} more" if len(names) > MAX_LISTED else shown


def _below_header(cells: pl.DataFrame, where: str) -> pl.DataFrame:
    header = ["" if name is None else name.strip() for name in cells.row(0)]
    below = cells.slice(1)
    used = [place for place, name in enumerate(header) if name]
    names = [header[place] for place in used]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise DataError(f"{where}: the column {quote(twice)} appears more than once")
    columns = (below.to_series(place).str.replace(MIDNIGHT, "${1}").alias(header[place]) for place in used)
    return pl.DataFrame(list(columns))
