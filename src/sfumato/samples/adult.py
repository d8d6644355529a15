"""UCI Adult (Becker and Kohavi, 1996), the table that most papers on anonymization measure on.

It is not part of the program: it is read from a local copy, or fetched from UCI once and kept in the user's cache.
Rows with a missing value are left out, as in the literature: 45,222 remain, the 30,162 of the training part first.
Whatever was read, its content must have the checksum below.
"""

import hashlib
import io
import os
import ssl
import sys
import tempfile
import urllib.error
import urllib.request
import zipfile
from collections.abc import Callable
from http.client import HTTPException, HTTPMessage
from pathlib import Path
from typing import IO

import polars as pl

from sfumato.errors import DataError

URL = "https://archive.ics.uci.edu/static/public/2/adult.zip"
SHA256 = "d8911d123a345b625f456cdaf00b09e3a66abbb9775796897b17f300e8af7866"
"""Of the cleaned table as comma-separated values, header first."""
PARTS = ("adult.data", "adult.test")
HEADER = (
    "age,workclass,fnlwgt,education,education-num,marital-status,occupation,relationship,race,sex,"
    "capital-gain,capital-loss,hours-per-week,native-country,income"
)
NUMBERS = {"age", "fnlwgt", "education-num", "capital-gain", "capital-loss", "hours-per-week"}
COLUMNS = {name: pl.Int64 if name in NUMBERS else pl.String for name in HEADER.split(",")}
MISSING = "?"
SECONDS_TO_WAIT = 30.0
MAX_BYTES = 32 * 2**20
"""Far more than the archive and each of its files has."""

Opener = Callable[[str, float], IO[bytes]]
"""Opens a web address for reading, within so many seconds."""


class _OnlyHttps(urllib.request.HTTPRedirectHandler):
    """Follows a redirection only to an encrypted address."""

    def redirect_request(
        self, req: urllib.request.Request, fp: IO[bytes], code: int, msg: str, headers: HTTPMessage, newurl: str
    ) -> urllib.request.Request | None:
        if not newurl.startswith("https://"):
            raise urllib.error.URLError(f"redirected to {newurl}, which is not encrypted")
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def open_https(url: str, timeout: float) -> IO[bytes]:
    """Open an encrypted address."""
    if not url.startswith("https://"):
        raise urllib.error.URLError(f"{url} is not encrypted")
    handler = urllib.request.HTTPSHandler(context=ssl.create_default_context())
    opened: IO[bytes] = urllib.request.build_opener(handler, _OnlyHttps).open(url, timeout=timeout)
    return opened


def read_adult(
    path: Path | str | None = None, *, cache: Path | str | None = None, opener: Opener = open_https
) -> pl.DataFrame:
    """The 45,222 complete rows of Adult.

    `path` is a local copy: UCI's `adult.zip`, a folder with `adult.data` and `adult.test`, or the cleaned table as a
    CSV file. Without one the table is taken from the folder `cache`, and fetched there first if need be.
    """
    if path is not None:
        return _check(_read_local(Path(path)), str(path))
    kept = (Path(cache) if cache is not None else _cache_folder()) / "adult.csv"
    if kept.is_file():
        return _check(_read_local(kept), f"{kept} (remove it to fetch it again)")
    table = _check(_from_zip(_fetch(URL, opener), URL), URL)
    _keep(table, kept)
    return table


def _check(table: pl.DataFrame, where: str) -> pl.DataFrame:
    found = hashlib.sha256(table.write_csv().encode()).hexdigest()
    if found != SHA256:
        raise DataError(f"{where}: this is not the Adult table; its SHA-256 is {found}, expected {SHA256}")
    return table


def _read_local(path: Path) -> pl.DataFrame:
    try:
        if path.is_dir():
            return _clean([(path / part).read_bytes() for part in PARTS], str(path))
        content = path.read_bytes()
    except FileNotFoundError as error:
        raise DataError(f"{error.filename}: the file does not exist") from error
    except OSError as error:
        raise DataError(f"{error.filename}: cannot be read ({error.strerror})") from error
    return _from_zip(content, str(path)) if path.suffix == ".zip" else _parse(content, str(path), header=True)


def _from_zip(content: bytes, where: str) -> pl.DataFrame:
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            parts = [_read_limited(archive.open(part), f"{where}, {part}") for part in PARTS]
    except (zipfile.BadZipFile, KeyError, NotImplementedError, RuntimeError, EOFError, OSError) as error:
        raise DataError(f"{where}: expected a zip archive with {' and '.join(PARTS)}") from error
    return _clean(parts, where)


def _read_limited(file: IO[bytes], where: str) -> bytes:
    content = file.read(MAX_BYTES + 1)
    if len(content) > MAX_BYTES:
        raise DataError(f"{where}: longer than {MAX_BYTES // 2**20} MiB, far too long for this data set")
    return content


def _clean(parts: list[bytes], where: str) -> pl.DataFrame:
    """Both of UCI's files without remarks, spaces after commas, full stops after test labels, and missing values."""
    lines = [
        line.strip().replace(b", ", b",").removesuffix(b".")
        for part in parts
        for line in part.split(b"\n")
        if line.strip() and not line.startswith(b"|")
    ]
    table = _parse(b"\n".join(lines) + b"\n", where, header=False)
    return table.filter(~pl.any_horizontal(pl.col(pl.String) == MISSING))


def _parse(content: bytes, where: str, *, header: bool) -> pl.DataFrame:
    try:
        return pl.read_csv(content, has_header=header, schema=COLUMNS)
    except pl.exceptions.PolarsError as error:
        reason = str(error).strip().splitlines()[0]
        raise DataError(f"{where}: this is not the Adult table ({reason})") from error


def _fetch(url: str, opener: Opener) -> bytes:
    try:
        with opener(url, SECONDS_TO_WAIT) as response:
            return _read_limited(response, url)
    except (OSError, HTTPException) as error:
        why = getattr(error, "reason", None) or error
        raise DataError(
            f"{url}: cannot be fetched ({why}); fetch it elsewhere and give the path of the file"
        ) from error


def _cache_folder() -> Path:
    """Where the system wants programs to keep what they can fetch again."""
    if sys.platform == "win32":
        home = os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local"
    elif sys.platform == "darwin":
        home = Path.home() / "Library" / "Caches"
    else:
        home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(home) / "sfumato"


def _keep(table: pl.DataFrame, target: Path) -> None:
    """Write the table for the next time; a file half written is never seen under its name."""
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".adult.", dir=target.parent, ignore_cleanup_errors=True) as folder:
            unfinished = Path(folder) / target.name
            table.write_csv(unfinished)
            unfinished.replace(target)
    except OSError as error:
        raise DataError(f"{target}: the table cannot be kept ({error.strerror})") from error
