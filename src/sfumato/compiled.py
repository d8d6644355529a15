"""Functions compiled to machine code on first use and kept on disk afterwards.

Machine code holds the code of the functions it calls, and those may be in other files. What is kept on disk is
therefore in a folder named after the contents of all files with compiled functions.
"""

import os
import time
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from hashlib import sha256
from pathlib import Path
from shutil import rmtree
from typing import Any, TypeVar, cast

import numba

Function = TypeVar("Function", bound=Callable[..., object])

CONFIG: Any = numba.config
MAX_AGE = 30 * 24 * 3600
"""Seconds after which machine code of other versions is removed if nobody has used it."""


def compiled(function: Function) -> Function:
    """Compile a loop over arrays; machine code is kept on disk where there is a place for it."""
    folder = cache_folder(Path(__file__).parent)
    before = CONFIG.CACHE_DIR
    try:
        CONFIG.CACHE_DIR = str(folder or "")
        return cast(Function, numba.njit(cache=folder is not None, nogil=True)(function))
    finally:
        CONFIG.CACHE_DIR = before


@cache
def cache_folder(package: Path) -> Path | None:
    """The folder for machine code of the sources as they are: beside them, else in the user's cache, else nowhere."""
    home = Path(os.environ.get("XDG_CACHE_HOME") or Path("~/.cache").expanduser())
    given = CONFIG.CACHE_DIR
    for place in [Path(given)] if given else [package / "__pycache__", home]:
        folder = place / "sfumato-compiled" / digest(package)
        try:
            folder.mkdir(parents=True, exist_ok=True)
            os.utime(folder)
        except OSError:
            continue
        if os.access(folder, os.W_OK):
            _remove_unused(folder.parent)
            return folder
    return None


def _remove_unused(folder: Path) -> None:
    with suppress(OSError):  # Another process may be removing the same.
        for version in folder.iterdir():
            if time.time() - version.stat().st_mtime > MAX_AGE:
                rmtree(version, ignore_errors=True)


def digest(package: Path) -> str:
    """What identifies all files with compiled functions as they are now."""
    sources = [path.read_bytes() for path in sorted(package.rglob("*.py"))]
    return sha256(b"".join(source for source in sources if b"import compiled" in source)).hexdigest()[:20]
