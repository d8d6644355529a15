"""Files and folders that are never half there: written under another name, then renamed."""

import contextlib
import os
import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sfumato.errors import ReleaseError, SfumatoError

ADDRESS = re.compile(r"([a-z][a-z0-9+.-]+):/+(?=[^/])")
"""How a place that Spark's file systems know begins, with a sign too few if it was taken for a path."""


def address_of(folder: Path | str) -> str | None:
    """The address of a folder that is not given as a path of this machine."""
    found = ADDRESS.match(str(folder))
    if found is None:
        return None
    return f"{found[1]}://{'/' * (found[1] == 'file')}{str(folder)[found.end() :]}"


def read_text(path: Path, what: str, refusal: type[SfumatoError]) -> str:
    """The text of a file that the user named, or a refusal that says what it should have been."""
    try:
        return path.read_text(encoding="utf-8-sig")
    except FileNotFoundError as error:
        raise refusal(f"{path}: {what} does not exist") from error
    except (OSError, UnicodeDecodeError) as error:
        raise refusal(f"{path}: {what} cannot be read as UTF-8 text") from error
    except ValueError as error:
        raise refusal(f"{str(path)!r}: {what} cannot have this name") from error


def place(path: Path, content: str | bytes) -> Path:
    """Write a file whole or not at all, text as UTF-8."""
    if not path.name or path.is_dir():
        raise ReleaseError(f"{path}: this is a folder; expected the name of a file")
    unfinished = path.with_name(f".{path.name}.partial")
    try:
        unfinished.write_bytes(content.encode() if isinstance(content, str) else content)
        os.replace(unfinished, path)
        return path
    except OSError as error:
        if error.errno is not None:
            error.filename, error.filename2 = str(path), None
        raise
    finally:
        with contextlib.suppress(OSError):
            unfinished.unlink(missing_ok=True)


def append_line(path: Path, line: str) -> None:
    """Append a line durably; one that a crash cut short stays as a line of its own."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a+b") as file:
        if file.tell():
            file.seek(-1, os.SEEK_END)
            line = line if file.read(1) == b"\n" else f"\n{line}"
        file.write(f"{line}\n".encode())
        file.flush()
        os.fsync(file.fileno())


@contextmanager
def new_folder(target: Path, *, replace: bool = False) -> Iterator[Path]:
    """A folder to write into, which gets its name when all is written; with `replace`, that of an earlier one."""
    if not replace:
        refuse_taken(target)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=f".{target.name}.", dir=target.parent) as temporary:
            unfinished = Path(temporary) / "new"
            unfinished.mkdir()
            yield unfinished
            earlier = Path(temporary) / "earlier"
            try:
                if replace:
                    target.rename(earlier)
                unfinished.rename(target)
            except BaseException:
                if earlier.exists() and not target.exists():
                    earlier.rename(target)
                raise
    except OSError as error:
        reason = str(getattr(error, "strerror", None) or error).strip().splitlines()[0]
        raise ReleaseError(f"{target}: the release cannot be written ({reason})") from error


def refuse_taken(target: Path) -> None:
    """A release is written to a new folder only."""
    try:
        str(target).encode()
    except UnicodeEncodeError as error:
        raise ReleaseError(f"{str(target)!r}: the name of the folder is not UTF-8 text") from error
    if target.exists() or target.is_symlink():
        raise ReleaseError(f"{target}: this already exists; choose a new folder, or remove it first")


def refuse_unwritable(target: Path, *, replace: bool = False) -> None:
    """Find out what would keep a folder from being written without writing it."""
    try:
        if not replace:
            refuse_taken(target)
        nearest = next(folder for folder in target.absolute().parents if folder.exists())
        with tempfile.TemporaryDirectory(prefix=f".{target.name}.", dir=nearest):
            pass
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ReleaseError(f"{target}: the release cannot be written ({reason})") from error
