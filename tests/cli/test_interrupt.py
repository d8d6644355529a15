"""An interrupt stays an interrupt, even when compiled code turns it into another error or swallows it."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from typing import TYPE_CHECKING, Any

import pytest

from sfumato.cli.interrupt import AGAIN, interruptible
from sfumato.privacy.ledger import Ledger

if TYPE_CHECKING:
    from pathlib import Path

    from .conftest import Run


def interrupt() -> None:
    os.kill(os.getpid(), signal.SIGINT)


def disguise() -> None:
    try:
        interrupt()
    except KeyboardInterrupt as error:
        raise SystemError("returned a result with an exception set") from error


def test_an_interrupt_that_became_another_error_is_an_interrupt() -> None:
    with pytest.raises(KeyboardInterrupt), interruptible():
        disguise()


def test_a_swallowed_interrupt_ends_the_work_at_the_next_check() -> None:
    done = []

    def work() -> None:
        with interruptible() as check:
            for step in range(3):
                with contextlib.suppress(KeyboardInterrupt):
                    interrupt()
                done.append(step)
                check()

    with pytest.raises(KeyboardInterrupt):
        work()
    assert done == [0]


def test_an_interrupt_waits_until_a_compiler_is_done() -> None:
    done = []

    def work() -> None:
        compiler: dict[str, Any] = {"__name__": "llvmlite.binding.ffi", "interrupt": interrupt}
        exec("def load():\n    interrupt()\n    return 'loaded'", compiler)
        with interruptible():
            done.append(compiler["load"]())
            time.sleep(10 * AGAIN)
            done.append("never")

    with pytest.raises(KeyboardInterrupt):
        work()
    assert done == ["loaded"]
    time.sleep(2 * AGAIN)


def test_other_errors_pass_and_the_handler_is_put_back() -> None:
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(SystemError, match="own"), interruptible():
        raise SystemError("own")
    assert signal.getsignal(signal.SIGINT) is before


def test_an_interrupt_inside_a_finalizer_prints_no_trace(capsys: pytest.CaptureFixture[str]) -> None:
    class Finalized:
        def __del__(self) -> None:
            interrupt()

    def work() -> None:
        with interruptible():
            del [Finalized()][0]

    with pytest.raises(KeyboardInterrupt):
        work()
    assert capsys.readouterr().err == ""


def test_an_interrupt_says_what_has_come_to_pass(run: Run, people: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Ledger, "settle", stop)
    words = ("--schema", "people.toml", "--method", "quad-tree", "--epsilon", "1", "-o", "r")
    told = run("publish", "people.csv", *words)
    assert (told.code, told.out) == (130, "")
    assert told.err.startswith("interrupted; ")
    assert told.err.count("\n") == 1
