"""How results are shown: plain lines that read well on a terminal and in a pipe, or JSON alone.

Results go to standard output; progress and notes go to standard error.
"""

from __future__ import annotations

import json
import math
import sys
import time
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from sfumato.cli.interrupt import interruptible
from sfumato.report.numbers import is_percent, plain

if TYPE_CHECKING:
    from rich.console import Console

    from sfumato.privacy.claims import Claim

UNWRAPPED = 100_000
BETTER = {"lower": "lower is better", "higher": "higher is better", "none": ""}
INDENT = 2
STEERING = ("Cc", "Cs", "Zl", "Zp")
TURNING = ("LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI")
"""Kinds of characters that a terminal obeys, and directions of writing that make it show a line in another order."""
SECONDS_BETWEEN_LINES = 30
"""How often progress is told where there is no terminal to draw a bar on."""


def screen(*, notes: bool = False) -> Console:
    """Standard output, or standard error for notes; lines are wrapped on a terminal only."""
    from rich.console import Console

    stream = sys.stderr if notes else sys.stdout
    width = None if stream.isatty() else UNWRAPPED
    return Console(file=stream, width=width, highlight=False, markup=False, emoji=False)


def printable(text: str) -> str:
    """The text on one line, with signs that would steer a terminal, or turn what is read around, spelled out."""
    return "".join(ascii(sign)[1:-1] if _steers(sign) else sign for sign in text)


def _steers(sign: str) -> bool:
    return unicodedata.category(sign) in STEERING or unicodedata.bidirectional(sign) in TURNING


def note(text: str) -> None:
    """Tell the user something beside the result."""
    screen(notes=True).print(printable(text))


def say(text: str = "", indent: int = 0) -> None:
    from rich.padding import Padding

    text = printable(text)
    screen().print(Padding(text, (0, 0, 0, indent), expand=False) if indent else text)


def say_claim(claim: Claim, *more: str) -> None:
    """Print what is promised, more about that, and what it assumes."""
    assumed = [f"Assumes: {assumption}." for assumption in claim.assumptions]
    for line in (f"Claim: {claim.sentence()}.", *claim.in_words(), *more, *assumed):
        say(line)


def heading(text: str) -> None:
    say()
    screen().print(printable(text), style="bold")


def print_columns(titles: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print a table without lines."""
    from rich.table import Column, Table

    table = Table(*(Column(title, overflow="fold") for title in titles), box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for row in rows:
        table.add_row(*map(printable, row))
    screen().print(table)


def explained(rows: Iterable[tuple[Sequence[str], str]]) -> None:
    """Print aligned lines, each with a sentence below that explains it."""
    known = list(rows)
    widths = [max(map(len, column)) for column in zip(*(cells for cells, _ in known), strict=True)]
    for cells, sentence in known:
        line = "  ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True))
        say(line.rstrip(), indent=INDENT)
        say(sentence, indent=3 * INDENT)


def print_json(value: Any) -> None:
    """Print the value as JSON that any terminal can show."""
    print(to_json(value))


def claim_figures(claim: Claim) -> dict[str, Any]:
    """A claim in JSON, and in words."""
    return {
        "claim": claim.spec(),
        "sentence": claim.sentence(),
        "in_words": list(claim.in_words()),
        "assumptions": list(claim.assumptions),
    }


def to_json(value: Any) -> str:
    """The value as JSON; numbers that JSON does not have become null."""
    return json.dumps(_finite(value), indent=2, allow_nan=False)


def _finite(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {str(key): _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    return value


def number(value: float, unit: str = "") -> str:
    """A measured value, short, in percent if it is a part of a whole."""
    if not math.isfinite(value):
        return str(value)
    if is_percent(unit):
        return plain(value, unit)
    return f"{value:,.0f}" if float(value).is_integer() and abs(value) >= 1 else f"{value:,.4g}"


@contextmanager
def progress_bar() -> Iterator[Callable[[str, int, int], None]]:
    """A bar on standard error for work that is counted: what is being done, how much of it, and of how much.

    Where standard error is no terminal, a plain line now and then. Where the user asked to stop, the yielded function
    does.
    """
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    console = screen(notes=True)
    words, numbers = TextColumn("{task.description}", markup=False), MofNCompleteColumn()
    shown = (words, BarColumn(), numbers, TimeElapsedColumn(), TextColumn("left"), TimeRemainingColumn())
    bar = Progress(*shown, console=console, disable=not console.is_terminal, transient=True)
    task = bar.add_task("starting", total=None)
    began = last = time.monotonic()

    def show(text: str, done: int, total: int) -> None:
        nonlocal last
        bar.update(task, description=text, completed=done, total=total)
        if not console.is_terminal and time.monotonic() - last >= SECONDS_BETWEEN_LINES:
            last = time.monotonic()
            left = f", about {(last - began) / done * (total - done):,.0f} s left" if done else ""
            console.print(f"{text}: {done:,} of {total:,}{left}")
        check()

    with interruptible() as check, bar:
        yield show
