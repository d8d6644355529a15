"""Functions compiled to machine code on first use and kept on disk afterwards."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar, cast

import numba

Function = TypeVar("Function", bound=Callable[..., object])


def compiled(function: Function) -> Function:
    """Compile a loop over arrays; the result is cached beside the source, or in the user's cache."""
    return cast(Function, numba.njit(cache=True, nogil=True)(function))
