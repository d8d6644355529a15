"""A scene: a file of people, the same with one person more, and the commands by which it is published.

What an attacker sees is every byte that a recipient gets, or that nothing was published. What the publisher alone sees
(what is printed, the ledger, the report on real rows) is no part of it.
"""

from __future__ import annotations

import csv
import io
import json
import shlex
import tempfile
from collections import Counter, defaultdict
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sfumato.cli import main

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

Seen = dict[str, float]
"""What is seen in one run: numbers by name; what is not named did not occur."""
RANDOM_NAMES = ("id", "pilot")
"""Parts of `release.json` that are random names."""


@dataclass(frozen=True)
class Scene:
    """Rows as a file has them; `commands` are run in order, with FILE, SCHEMA and FOLDER replaced.

    CHOSEN stands for what the frontier before recommends.
    """

    name: str
    schema: str
    rows: tuple[str, ...]
    person: tuple[str, ...]
    commands: tuple[tuple[str, ...], ...]
    epsilon: float

    @property
    def header(self) -> str:
        """The names of the columns, in the order in which the schema declares them."""
        return ",".join(line[9:-1] for line in self.schema.splitlines() if line.startswith("[columns."))

    def play(self, *, present: bool) -> Seen:
        """What a recipient sees after all commands, with or without the person."""
        lines = (self.header, *self.rows, *(self.person if present else ()))
        seen: Seen = {}
        with tempfile.TemporaryDirectory() as folder:
            home = Path(folder)
            places = {"FILE": home / "people.csv", "SCHEMA": home / "people.toml", "HOME": home}
            places["FILE"].write_text("\n".join(lines) + "\n")
            places["SCHEMA"].write_text(self.schema)
            told = ""
            for number, command in enumerate(self.commands):
                output = home / f"release-{number}"
                chosen = [word for word in command if word != "CHOSEN"]
                words = [_filled(word, {**places, "FOLDER": output}) for word in chosen]
                words += _chosen(told) if "CHOSEN" in command else []
                with redirect_stdout(io.StringIO()) as printed, redirect_stderr(io.StringIO()):
                    code = main([*words, "--ledger", str(home / "ledger.sqlite")])
                told = printed.getvalue()
                seen[f"{number}: refused"] = float(code != 0)
                seen |= {f"{number}: {name}": value for name, value in _published(output, self.header.split(","))}
        return seen


def _filled(word: str, places: Mapping[str, Path]) -> str:
    for name, place in places.items():
        word = word.replace(name, str(place))
    return word


def _chosen(told: str) -> list[str]:
    """The method, its options and its pilot, from the command that a frontier names."""
    words = shlex.split(told.splitlines()[-1])
    start, end = words.index("--method"), words.index("--ledger")
    return words[start:end]


def _published(folder: Path, columns: list[str]) -> Iterator[tuple[str, float]]:
    """Numbers for all that a folder holds: its files, their sizes, and what stands in them."""
    for path in sorted(folder.rglob("*")) if folder.is_dir() else ():
        name, content = path.relative_to(folder).as_posix(), path.read_bytes() if path.is_file() else b""
        yield f"{name} exists", 1.0
        yield f"{name} bytes", float(len(content))
        if path.suffix == ".csv":
            yield from _lines(name, content.decode(), columns)
        elif path.suffix == ".json":
            yield from _leaves(name, json.loads(content))


def _lines(name: str, text: str, columns: list[str]) -> Iterator[tuple[str, float]]:
    """How often each combination of the table's own columns occurs, and the numbers that stand beside it."""
    titles, *rows = csv.reader(io.StringIO(text))
    yield f"{name} lines", float(len(rows))
    for place, row in enumerate(rows[:2]):
        yield f"{name} line {place} is {row}", 1.0
    counts: Counter[str] = Counter()
    totals: dict[str, float] = defaultdict(float)
    for row in rows:
        fields = dict(zip(titles, row, strict=True))
        key = ",".join(fields[title] for title in titles if title in columns)
        counts[key] += 1
        for title in titles:
            number = None if title in columns else _number(fields[title])
            if number is not None:
                totals[f"{name} {title} in all"] += number
                yield f"{name} {title} at {key}", number
    yield from totals.items()
    yield from ((f"{name} rows {key}", float(count)) for key, count in counts.items())


def _leaves(path: str, value: Any) -> Iterator[tuple[str, float]]:
    if isinstance(value, dict):
        for key, inner in value.items():
            if key not in RANDOM_NAMES:
                yield from _leaves(f"{path} {key}", inner)
    elif isinstance(value, list):
        yield f"{path} length", float(len(value))
        for place, inner in enumerate(value):
            yield from _leaves(f"{path} {place}", inner)
    elif isinstance(value, int | float):
        yield path, float(value)
    else:
        yield f"{path} is {value}", 1.0


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None
