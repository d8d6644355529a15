"""Functions compiled to machine code on first use and kept on disk afterwards.

Machine code holds the code of the functions it calls, and those may stand in other files. What is kept on disk is
therefore used only while none of the files with compiled functions has changed.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeVar, cast

import numba

Function = TypeVar("Function", bound=Callable[..., object])


def compiled(function: Function) -> Function:
    """Compile a loop over arrays; the result is cached beside the source, or in the user's cache."""
    made: Any = numba.njit(cache=True, nogil=True)(function)
    if hasattr(made, "_cache"):
        made._cache._cache_file._source_stamp = stamp(Path(__file__).parent)
    return cast(Function, made)


@cache
def stamp(folder: Path) -> str:
    """What identifies all files with compiled functions as they are now."""
    digest = sha256()
    for path in sorted(folder.rglob("*.py")):
        source = path.read_bytes()
        if b"import compiled" in source:
            digest.update(source)
    return digest.hexdigest()
