"""Interrupts that arrive as interrupts, whatever compiled code makes of them on their way."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def interruptible() -> Iterator[Callable[[], None]]:
    """Leave with KeyboardInterrupt once the user asked to; the yielded function does so if it was swallowed.

    Compiled code that is being loaded turns the exception into a SystemError, or drops it with a printed trace.
    """
    asked = False

    def remember(number: int, frame: FrameType | None) -> None:
        nonlocal asked
        asked = True
        signal.default_int_handler(number, frame)

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
        signal.signal(signal.SIGINT, before)
        sys.unraisablehook = say_before
