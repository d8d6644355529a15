"""A scene: a file of people, the same with one person more or another, and the commands by which it is published.

What an attacker sees is every byte that a recipient gets, or that nothing was published. What the publisher alone sees
(what is printed, the ledger, the report on real rows) is no part of it.
"""

from __future__ import annotations

import csv
import io
import json
import re
import shlex
import tempfile
from collections import Counter, defaultdict
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from sfumato.cli import main

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

Seen = dict[str, float]
"""What is seen in one run: numbers by name; what is not named did not occur."""
RANDOM_NAMES = ("id", "pilot", "created", "seconds")
"""Parts of a description that are random names or tell the time, where they are no descriptions themselves."""
FIGURE = re.compile(r"\d+(?:,\d{3})*(?:\.\d+)?")
FOLLOWING = 2
"""Words after a figure that say what it is."""
PAGES = (".html", ".svg")


@dataclass(frozen=True)
class Scene:
    """Rows as a file has them; `commands` are run in order, with FILE, SCHEMA and FOLDER replaced.

    CHOSEN stands for what the frontier before recommends. The person's rows are there or not, or stand `instead` of
    others; the claim may fail with probability `delta`. A `file` that is no text has the rows as columns of text. An
    audit plays so many `runs` with the person and as many without.
    """

    name: str
    schema: str
    rows: tuple[str, ...]
    person: tuple[str, ...]
    commands: tuple[tuple[str, ...], ...]
    epsilon: float
    instead: tuple[str, ...] = ()
    delta: float = 0.0
    file: str = "people.csv"
    runs: int = 400

    @property
    def header(self) -> str:
        """The names of the columns, in the order in which the schema declares them."""
        return ",".join(line[9:-1] for line in self.schema.splitlines() if line.startswith("[columns."))

    def play(self, *, present: bool) -> Seen:
        """What a recipient sees after all commands, with or without the person."""
        text = "\n".join((self.header, *self.rows, *(self.person if present else self.instead), ""))
        seen: Seen = {}
        with tempfile.TemporaryDirectory() as folder:
            home = Path(folder)
            places = {"FILE": home / self.file, "SCHEMA": home / "people.toml", "HOME": home}
            if places["FILE"].suffix == ".parquet":
                pl.read_csv(text.encode(), infer_schema=False).write_parquet(places["FILE"])
            else:
                places["FILE"].write_text(text)
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
            yield from _lines(name, list(csv.reader(io.StringIO(content.decode()))), columns)
        elif path.suffix == ".parquet":
            frame = pl.read_parquet(content)
            yield from _lines(name, [frame.columns, *([str(cell) for cell in row] for row in frame.rows())], columns)
        elif path.suffix == ".json":
            yield from _leaves(name, json.loads(content))
        elif path.suffix == ".jsonl":
            yield from _leaves(name, [json.loads(line) for line in content.splitlines()])
        elif path.suffix in PAGES:
            yield from Page(content.decode()).figures(name)


def _lines(name: str, lines: list[list[str]], columns: list[str]) -> Iterator[tuple[str, float]]:
    """How often each value and each combination of the table's own columns occurs, and numbers beside the latter."""
    titles, *rows = lines
    yield f"{name} lines", float(len(rows))
    for place, row in enumerate(rows[:2]):
        yield f"{name} line {place} is {row}", 1.0
    counts: Counter[str] = Counter()
    totals: dict[str, float] = defaultdict(float)
    for row in rows:
        fields = dict(zip(titles, row, strict=True))
        key = ",".join(fields[title] for title in titles if title in columns)
        counts.update([key, *(f"with {title} {fields[title]}" for title in titles if title in columns)])
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
            if key not in RANDOM_NAMES or isinstance(inner, dict):
                yield from _leaves(f"{path} {key}", inner)
    elif isinstance(value, list):
        yield f"{path} length", float(len(value))
        for place, inner in enumerate(value):
            yield from _leaves(f"{path} {place}", inner)
    elif isinstance(value, int | float):
        yield path, float(value)
    else:
        yield from _said(f"{path} is", str(value))


def _said(path: str, text: str) -> Iterator[tuple[str, float]]:
    """A text without its figures, and the figures in it: by their places, and by the words that follow wherever."""
    form = FIGURE.sub("#", text)
    yield f"{path} {form}", 1.0
    for place, found in enumerate(FIGURE.finditer(text)):
        figure = float(found.group().replace(",", ""))
        follow = FIGURE.sub("#", text[found.end() :]).split()[:FOLLOWING]
        yield f"{path} {form} [{place}]", figure
        if follow:
            yield f"{path.split(' ')[0]} # {' '.join(follow)}", figure


class Page(HTMLParser):
    """What stands on a page, text by text, and the data that it carries."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self._inside = ""
        self._texts: list[str] = []
        self._data: list[Any] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        data = tag == "script" and ("type", "application/json") in attrs
        self._inside = "data" if data else tag

    def handle_endtag(self, tag: str) -> None:
        self._inside = ""

    def handle_data(self, data: str) -> None:
        if self._inside == "data":
            self._data.append(json.loads(data))
        elif self._inside not in ("script", "style"):
            self._texts.append(" ".join(data.split()))

    def figures(self, name: str) -> Iterator[tuple[str, float]]:
        """Numbers for all that stands on it; the same words are told apart by how often they came before."""
        yield from _leaves(f"{name} data", self._data)
        before: Counter[str] = Counter()
        for text in filter(None, self._texts):
            form = FIGURE.sub("#", text)
            before[form] += 1
            yield from _said(f"{name} text {before[form]}", text)


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None
