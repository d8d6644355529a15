"""Functions compiled to machine code on first use and kept on disk afterwards.

Machine code holds the code of the functions it calls, and those may be in other files. What is kept on disk is
therefore in a folder named after the contents of all files with compiled functions. Where there is none yet, loops over
few elements run as they are written, since compiling takes longer. Of several processes one compiles a function, and
the others wait for what it keeps.
"""

import os
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import cache
from hashlib import sha256
from pathlib import Path
from shutil import rmtree
from threading import local
from typing import Any, TypeVar, cast

import numba
import numpy as np
from numba.core.caching import NullCache
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import CPUDispatcher

try:
    import fcntl
except ImportError:  # Not everywhere can files be locked so; functions are then compiled once by each process.
    fcntl = None  # type: ignore[assignment]

Function = TypeVar("Function", bound=Callable[..., object])

CONFIG: Any = numba.config
DISPATCHER: Any = CPUDispatcher
"""What `numba.njit` makes of a function; its annotations do not say what it has."""
MAX_AGE = 30 * 24 * 3600
"""Seconds after which machine code of other versions is removed if nobody has used it."""
FEW = 20_000
"""Loops over so many elements may run as they are written."""
PATIENCE = 1.0
"""Seconds of processor time that a loop does so, in all; most take longer to compile."""


class Running(local):
    """Whether this thread is in a loop that runs as it is written, and whether none may."""

    plain = False
    never_plain = False


RUNNING = Running()
LOCKED: set[Path] = set()
"""Locks that this process holds: a function may need machine code of itself for other types."""


class Loop(DISPATCHER):  # type: ignore[misc]
    """A function that is compiled for the types it is called with, unless it may and should run as it is written."""

    if_many = False
    folder: Path | None = None
    spent = 0.0
    """Seconds of processor time that it took as it is written."""

    def compile(self, sig: Any) -> Any:
        """The machine code for some types, from disk if another process has made it in the meantime."""
        if self.folder is None:
            return super().compile(sig)
        with global_compiler_lock, _alone(self.folder / f"{self.py_func.__module__}.{self.py_func.__qualname__}.lock"):
            try:
                return super().compile(sig)
            except Exception:  # What is kept cannot be read, or nothing can be kept; other errors come again.
                self._keep_nothing()
                return super().compile(sig)

    def _compile_for_args(self, *args: Any, **named: Any) -> Callable[..., Any]:
        """What Numba calls in place of machine code that it does not have for some arguments."""
        if self.if_many and not RUNNING.never_plain:
            if RUNNING.plain:
                return cast(Callable[..., Any], self.py_func)
            if self.spent < PATIENCE and count_elements(args) <= FEW and not self._is_kept(args):
                return self._run_plain
        return cast(Callable[..., Any], super()._compile_for_args(*args, **named))

    def _run_plain(self, *args: Any) -> Any:
        started, RUNNING.plain = time.thread_time(), True
        try:
            return self.py_func(*args)
        finally:
            self.spent += time.thread_time() - started
            RUNNING.plain = False

    def _is_kept(self, args: tuple[Any, ...]) -> bool:
        """Whether there is machine code for the types of these arguments on disk."""
        if self.folder is None:
            return False
        cache: Any = self._cache
        types = tuple(map(self.typeof_pyval, args))
        try:
            kept = cache._cache_file._load_index()
        except Exception:  # Garbled bytes fail in any way when they are taken for an index.
            self._keep_nothing()
            return False
        return bool(kept) and cache._index_key(types, self.targetctx.codegen()) in kept

    def _keep_nothing(self) -> None:
        self.folder, self._cache = None, NullCache()


def compiled(function: Function) -> Function:
    """Compile a loop over arrays; machine code is kept on disk where there is a place for it."""
    folder = cache_folder(Path(__file__).parent)
    before = CONFIG.CACHE_DIR
    try:
        CONFIG.CACHE_DIR = str(folder or "")
        loop = Loop(function, targetoptions={"nopython": True, "nogil": True, "boundscheck": None})
        if folder is not None:
            loop.folder = folder
            loop.enable_caching()
        return cast(Function, loop)
    finally:
        CONFIG.CACHE_DIR = before


def compiled_if_many(function: Function) -> Function:
    """The same for a loop that gives the same bits as it is written, which it does for few elements at first.

    Sums of floating-point numbers are therefore loops, and functions that it calls are marked alike.
    """
    loop: Any = compiled(function)
    loop.if_many = True
    return cast(Function, loop)


@contextmanager
def compiling() -> Iterator[None]:
    """In here everything is compiled, however few elements there are."""
    before, RUNNING.never_plain = RUNNING.never_plain, True
    try:
        yield
    finally:
        RUNNING.never_plain = before


def count_elements(values: tuple[Any, ...]) -> int:
    """The elements of all arrays in arguments, and the whole numbers, which say how many of something there are."""
    return sum(
        count_elements(value)
        if isinstance(value, tuple)
        else value.size
        if isinstance(value, np.ndarray)
        else abs(int(value))
        if isinstance(value, int | np.integer)
        else 1
        for value in values
    )


@contextmanager
def _alone(path: Path) -> Iterator[None]:
    """With no other process in the same place, as far as files can be locked here."""
    if fcntl is None or path in LOCKED:
        yield
        return
    with ExitStack() as resources:
        with suppress(OSError):  # Where the folder is gone or locks are not known, a function may be compiled twice.
            fcntl.flock(resources.enter_context(open(path, "a")), fcntl.LOCK_EX)
        LOCKED.add(path)
        resources.callback(LOCKED.remove, path)
        yield


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
