"""How results are shown: plain lines that read well on a terminal and in a pipe, or JSON alone.

Results go to standard output; progress and notes go to standard error.
"""

import json
import math
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.padding import Padding
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from sfumato.measures.measurement import Measurement
from sfumato.trials.trial import Trial

UNWRAPPED = 100_000
BETTER = {"lower": "lower is better", "higher": "higher is better", "none": ""}
INDENT = 2


def screen(*, notes: bool = False) -> Console:
    """Standard output, or standard error for notes; lines are wrapped on a terminal only."""
    stream = sys.stderr if notes else sys.stdout
    width = None if stream.isatty() else UNWRAPPED
    return Console(file=stream, width=width, highlight=False, markup=False, emoji=False)


def note(text: str) -> None:
    """Tell the user something beside the result."""
    screen(notes=True).print(text)


def say(text: str = "", indent: int = 0) -> None:
    """Print a paragraph."""
    console = screen()
    console.print(Padding(Text(text), (0, 0, 0, indent), expand=False) if indent else Text(text))


def heading(text: str) -> None:
    """Print the title of what follows."""
    console = screen()
    console.print()
    console.print(Text(text, style="bold"))


def columns(titles: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print a table without lines."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for title in titles:
        table.add_column(Text(title, style="bold"), overflow="fold")
    for row in rows:
        table.add_row(*map(Text, row))
    screen().print(table)


def explained(rows: Sequence[tuple[Sequence[str], str]]) -> None:
    """Print aligned lines, each with a sentence below that explains it."""
    widths = [max(map(len, column)) for column in zip(*(cells for cells, _ in rows), strict=True)]
    for cells, sentence in rows:
        line = "  ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True))
        say(line.rstrip(), indent=INDENT)
        say(sentence, indent=3 * INDENT)


def print_json(value: Any) -> None:
    """Print the value as JSON that any terminal can show."""
    print(to_json(value))


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


def measurements(found: dict[str, Measurement]) -> dict[str, dict[str, Any]]:
    """Measured values as JSON shows them."""
    return {
        name: {
            "value": item.value,
            "unit": item.measure.unit,
            "direction": item.measure.direction,
            "title": item.measure.title,
            "family": item.measure.family,
            "sentence": item.measure.sentence,
        }
        for name, item in found.items()
    }


def number(value: float) -> str:
    """A measured value, short."""
    if not math.isfinite(value):
        return str(value)
    return f"{value:,.0f}" if float(value).is_integer() and abs(value) >= 1 else f"{value:,.4g}"


@contextmanager
def trial_progress() -> Iterator[Callable[[Trial, int, int], None]]:
    """A bar on standard error, with the setting that was tried last."""
    with progress_bar() as update:
        yield lambda trial, done, total: update(trial.method.label, done, total)


@contextmanager
def progress_bar() -> Iterator[Callable[[str, int, int], None]]:
    """A bar on standard error for work that is counted: what is being done, how much of it, and of how much."""
    console = screen(notes=True)
    shown = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*shown, console=console, disable=not console.is_terminal, transient=True) as progress:
        task = progress.add_task("starting", total=None)
        yield lambda text, done, total: progress.update(task, description=text, completed=done, total=total)
