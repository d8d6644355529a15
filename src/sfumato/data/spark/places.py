"""Folders that Spark's file systems know, such as `hdfs://` and `s3a://`: written beside, then put in place.

A folder is made on the driver, and copied under a hidden name next to where it belongs. That gets its name when all but
the last file is in it; with the last one it is complete. Where renaming a folder is not one step, as in object stores,
who waits for the last file never sees half of it.
"""

import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from pyspark.sql import SparkSession

from sfumato.data.spark.session import FAILED, reason
from sfumato.errors import ParameterError, ReleaseError


@contextmanager
def new_folder_at(address: str, last: str) -> Iterator[Path]:
    """A folder to write into, which is put in place when all is written, one of its files last."""
    with TemporaryDirectory(prefix="sfumato-") as name:
        yield Path(name)
        with _files_at(address) as files:
            files.put(Path(name), last)


def refuse_unwritable_at(address: str) -> None:
    """Find out what would keep a folder from being written, and leave nothing."""
    with _files_at(address) as files:
        files.refuse_taken()
        try:
            files.make(files.hidden)
        finally:
            files.delete(files.hidden)


@contextmanager
def _files_at(address: str) -> Iterator["_Files"]:
    session = SparkSession.getActiveSession()
    if session is None:
        raise ParameterError(f"{address}: this is no folder of this machine; Spark writes there, with --engine spark")
    try:
        files = _Files(session, address)
        try:
            yield files
        finally:
            files.close()
    except FAILED as error:
        raise ReleaseError(f"{address}: the release cannot be written ({reason(error)})") from error


class _Files:
    """The file system of a place, asked through Java; one of our own, so that its settings are nobody else's."""

    def __init__(self, session: SparkSession, address: str) -> None:
        java: Any = session._jvm
        self.address, self._path = address, java.org.apache.hadoop.fs.Path
        self.target = self._path(address)
        if self.target.getParent() is None or not self.target.getName():
            raise ParameterError(f"{address}: this is no folder; expected an address such as hdfs://host/folder")
        self.hidden = self._path(self.target.getParent(), f".{self.target.getName()}.{uuid.uuid4().hex[:8]}")
        configuration = session._jsc.hadoopConfiguration()
        self._system = java.org.apache.hadoop.fs.FileSystem.newInstance(self.target.toUri(), configuration)
        self._system.setWriteChecksum(False)  # that would be files beside the release's

    def refuse_taken(self) -> None:
        if self._system.exists(self.target):
            raise ReleaseError(f"{self.address}: this already exists; choose a new folder, or remove it first")

    def make(self, folder: Any) -> None:
        if not self._system.mkdirs(folder):
            raise ReleaseError(f"{self.address}: the release cannot be written (no folder can be made there)")

    def put(self, folder: Path, last: str) -> None:
        """The files of a folder in place; whatever goes wrong, nothing of them stays."""
        named = False
        try:
            self.make(self.hidden)
            for path in sorted(folder.iterdir()):
                if path.name != last:
                    self._copy(path, self._path(self.hidden, path.name))
            self.refuse_taken()
            named = True
            self._rename(self.hidden, self.target)
            unfinished = self._path(self.target, f".{last}.partial")
            self._copy(folder / last, unfinished)
            self._rename(unfinished, self._path(self.target, last))
        except BaseException:
            self.delete(self.hidden)
            if named:
                self.delete(self.target)
            raise

    def _copy(self, path: Path, there: Any) -> None:
        self._system.copyFromLocalFile(False, True, self._path(path.absolute().as_uri()), there)

    def _rename(self, before: Any, after: Any) -> None:
        if not self._system.rename(before, after):
            raise ReleaseError(f"{self.address}: the release cannot be written (it cannot be renamed there)")

    def delete(self, place: Any) -> None:
        with suppress(*FAILED):
            self._system.delete(place, True)

    def close(self) -> None:
        with suppress(*FAILED):
            self._system.close()
