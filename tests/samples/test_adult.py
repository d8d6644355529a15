"""Adult as UCI publishes it, made from the cleaned table; nothing here touches the network."""

from __future__ import annotations

import hashlib
import io
import urllib.error
import urllib.request
import zipfile
from http.client import IncompleteRead
from typing import IO, TYPE_CHECKING

import polars as pl
import pytest

from sfumato.errors import DataError
from sfumato.samples import adult
from sfumato.samples.adult import SHA256, URL, read_adult

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

TRAINING_ROWS = 30_162
INCOMPLETE = "27, ?, 177119, Some-college, 10, Divorced, ?, Unmarried, White, Female, 0, 0, 44, United-States, <=50K"


@pytest.fixture(scope="module")
def cleaned(data_folder: Path) -> bytes:
    return (data_folder / "adult" / "adult.csv").read_bytes()


@pytest.fixture(scope="module")
def parts(cleaned: bytes) -> dict[str, bytes]:
    """`adult.data` and `adult.test` with UCI's peculiarities."""
    rows = [line.replace(",", ", ") for line in cleaned.decode().splitlines()[1:]]
    training, test = rows[:TRAINING_ROWS], rows[TRAINING_ROWS:]
    training.insert(7, INCOMPLETE)
    test.insert(0, INCOMPLETE)
    return {
        "adult.data": ("\n".join(training) + "\n\n").encode(),
        "adult.test": ("|1x3 Cross validator\n" + "\n".join(f"{row}." for row in test) + "\n\n").encode(),
    }


def zipped(parts: dict[str, bytes]) -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
        archive.writestr("adult.names", "| about the data")
    return target.getvalue()


@pytest.fixture(scope="module")
def archive(parts: dict[str, bytes]) -> bytes:
    return zipped(parts)


class FakeWeb:
    """Serves one content, and remembers what was asked for."""

    def __init__(self, content: bytes) -> None:
        self.content = content
        self.asked: list[str] = []

    def __call__(self, url: str, timeout: float) -> IO[bytes]:
        assert timeout > 0
        self.asked.append(url)
        return io.BytesIO(self.content)


def no_network(url: str, timeout: float) -> IO[bytes]:
    raise urllib.error.URLError("Name or service not known")


def test_the_checksum_is_that_of_the_cleaned_table(cleaned: bytes) -> None:
    assert hashlib.sha256(cleaned).hexdigest() == SHA256


def test_it_is_fetched_once_and_then_read_from_the_cache(archive: bytes, cleaned: bytes, tmp_path: Path) -> None:
    web = FakeWeb(archive)
    first = read_adult(cache=tmp_path / "new" / "cache", opener=web)
    assert web.asked == [URL]
    assert first.shape == (45_222, 15)
    assert first.write_csv().encode() == cleaned
    assert first["age"].dtype == pl.Int64
    assert read_adult(cache=tmp_path / "new" / "cache", opener=no_network).equals(first)
    assert [path.name for path in (tmp_path / "new" / "cache").iterdir()] == ["adult.csv"]


def test_the_two_files_as_they_are_distributed_are_read_from_a_folder(
    parts: dict[str, bytes], cleaned: bytes, tmp_path: Path
) -> None:
    for name, content in parts.items():
        (tmp_path / name).write_bytes(content)
    assert read_adult(tmp_path, opener=no_network).write_csv().encode() == cleaned


def test_a_local_archive_and_the_cleaned_table_are_read(archive: bytes, cleaned: bytes, tmp_path: Path) -> None:
    (tmp_path / "adult.zip").write_bytes(archive)
    (tmp_path / "cleaned.csv").write_bytes(cleaned)
    assert read_adult(tmp_path / "adult.zip").equals(read_adult(str(tmp_path / "cleaned.csv")))


TAMPERINGS: dict[str, Callable[[bytes], bytes]] = {
    "one age": lambda training: training.replace(b"39, State-gov", b"38, State-gov", 1),
    "a row less": lambda training: training.split(b"\n", 1)[1],
    "two rows swapped": lambda training: b"\n".join([*training.split(b"\n")[1::-1], *training.split(b"\n")[2:]]),
    "a field less": lambda training: training.replace(b", <=50K", b"", 1),
    "a field more": lambda training: training.replace(b", <=50K", b", <=50K, again", 1),
    "a word for a number": lambda training: training.replace(b"39, State-gov", b"old, State-gov", 1),
    "no text at all": lambda training: b"\xff\xfe\x00",
    "nothing": lambda training: b"",
}


@pytest.mark.parametrize("tampering", TAMPERINGS)
def test_a_tampered_file_is_refused_and_not_kept(parts: dict[str, bytes], tampering: str, tmp_path: Path) -> None:
    tampered = {**parts, "adult.data": TAMPERINGS[tampering](parts["adult.data"])}
    assert tampered != parts
    with pytest.raises(DataError, match="this is not the Adult table") as caught:
        read_adult(cache=tmp_path, opener=FakeWeb(zipped(tampered)))
    assert len(str(caught.value).splitlines()) == 1
    assert not list(tmp_path.iterdir())


def test_a_tampered_cache_is_refused(cleaned: bytes, tmp_path: Path) -> None:
    (tmp_path / "adult.csv").write_bytes(cleaned.replace(b"39,", b"38,", 1))
    with pytest.raises(DataError, match=r"adult\.csv \(remove it to fetch it again\): this is not the Adult table"):
        read_adult(cache=tmp_path, opener=no_network)


def test_without_a_network_the_sentence_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"adult\.zip: cannot be fetched \(Name or service not known\); fetch it"):
        read_adult(cache=tmp_path, opener=no_network)
    assert not list(tmp_path.iterdir())


def test_a_broken_connection_is_a_sentence(tmp_path: Path) -> None:
    class Broken(io.BytesIO):
        def read(self, size: int | None = -1, /) -> bytes:
            raise IncompleteRead(b"", 10)

    with pytest.raises(DataError, match="cannot be fetched"):
        read_adult(cache=tmp_path, opener=lambda url, timeout: Broken())


@pytest.mark.parametrize("content", [b"<html>not found</html>", zipped({"adult.data": b""})])
def test_something_else_than_the_archive_is_refused(content: bytes, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"expected a zip archive with adult\.data and adult\.test"):
        read_adult(cache=tmp_path, opener=FakeWeb(content))


def test_an_endless_answer_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(adult, "MAX_BYTES", 1_000)
    with pytest.raises(DataError, match="far too long"):
        read_adult(cache=tmp_path, opener=FakeWeb(b"x" * 1_001))
    with pytest.raises(DataError, match=r"adult\.data: longer than"):
        read_adult(cache=tmp_path, opener=FakeWeb(zipped({"adult.data": b"x" * 1_001, "adult.test": b""})))


def test_a_missing_local_copy_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"nowhere\.csv: the file does not exist"):
        read_adult(tmp_path / "nowhere.csv")
    with pytest.raises(DataError, match=r"adult\.data: the file does not exist"):
        read_adult(tmp_path)


def test_nothing_is_fetched_over_an_open_line() -> None:
    with pytest.raises(urllib.error.URLError, match="not encrypted"):
        adult.open_https("http://archive.ics.uci.edu/adult.zip", timeout=1)
    handler, request = adult._OnlyHttps(), urllib.request.Request(URL)
    with pytest.raises(urllib.error.URLError, match="not encrypted"):
        handler.redirect_request(request, io.BytesIO(), 302, "Found", {}, "http://example.org/adult.zip")
    assert handler.redirect_request(request, io.BytesIO(), 302, "Found", {}, "https://example.org/adult.zip")


def test_the_cache_lies_where_the_user_wants_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(adult.sys, "platform", "linux")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert adult._cache_folder() == tmp_path / "sfumato"
