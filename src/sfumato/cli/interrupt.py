"""Interrupts that arrive as interrupts, whatever compiled code makes of them on their way."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Timer
from types import FrameType

COMPILERS = ("numba", "llvmlite")
"""Packages that end the process if an exception arrives while they compile or load machine code."""
AGAIN = 0.05
"""Seconds after which an interrupt that came while one of them worked is tried again."""


@contextmanager
def interruptible() -> Iterator[Callable[[], None]]:
    """Leave with KeyboardInterrupt once the user asked to; the yielded function does so if it was swallowed.

    Compiled code that is being loaded turns the exception into a SystemError, drops it with a printed trace, or ends
    the process; so the exception waits until it is loaded.
    """
    asked = False
    later = Timer(0, int)

    def remember(number: int, frame: FrameType | None) -> None:
        nonlocal asked, later
        asked = True
        if not is_compiling(frame):
            signal.default_int_handler(number, frame)
        later.cancel()
        later = Timer(AGAIN, signal.raise_signal, [number])
        later.start()

    def check() -> None:
        if asked:
            raise KeyboardInterrupt

    def say(unraisable: sys.UnraisableHookArgs) -> None:
        if unraisable.exc_type is not KeyboardInterrupt:
            say_before(unraisable)

    before, say_before = signal.signal(signal.SIGINT, remember), sys.unraisablehook
    sys.unraisablehook = say
    try:
        yield check
        check()
    except Exception:
        check()
        raise
    finally:
        later.cancel()
        signal.signal(signal.SIGINT, before)
        sys.unraisablehook = say_before


def is_compiling(frame: FrameType | None) -> bool:
    """Whether a compiler is at work, in this frame or in one that waits for it."""
    while frame and frame.f_globals.get("__name__", "").partition(".")[0] not in COMPILERS:
        frame = frame.f_back
    return frame is not None
