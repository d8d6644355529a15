"""docs/benchmarks.md: a section for every benchmark, as it came out when it last ran, with the machine and versions."""

from __future__ import annotations

import os
import platform
import re
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

import sfumato as sf

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmarks.timing import Result

PAGE = Path(__file__).parents[1] / "docs" / "benchmarks.md"
PEERS = Path(__file__).parent / "peers"
OWN = ("numpy", "numba", "polars")
HEAD = """# Benchmarks

`make bench` runs all of this and writes it anew; `make bench ONLY=mondrian` writes one section. Comparisons are ratios
within one run on one machine: seconds alone say little about another one.
"""


def write_section(name: str, results: Sequence[Result], about: str) -> None:
    """Put what a benchmark found in place of what it found before."""
    sections = read_sections()
    lines = "".join(
        f"| {_cell(each.what)} | {_cell(each.asked)} | {_cell(each.got)} | {_met(each)} |\n" for each in results
    )
    text = f"{' '.join(about.split())}\n\n{machine()}\n\n| what | asked | got | |\n|---|---|---|---|\n{lines}"
    sections[name] = text
    body = "".join(f"\n## {title}\n\n{sections[title].strip()}\n" for title in sorted(sections))
    PAGE.write_text(HEAD + body, encoding="utf-8")


def read_sections() -> dict[str, str]:
    """The sections that there are, by name."""
    if not PAGE.exists():
        return {}
    parts = re.split(r"^## (.+)\n", PAGE.read_text(encoding="utf-8"), flags=re.M)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def machine() -> str:
    """Where and with what it was measured."""
    pinned = " ".join(path.read_text() for path in sorted(PEERS.glob("*.txt")))
    peers = ", ".join(" ".join(line.split("==")) for line in pinned.split())
    own = ", ".join(f"{name} {version(name)}" for name in OWN)
    where = f"{platform.system()} on {platform.machine()}, {os.cpu_count()} cores"
    return f"Sfumato {sf.__version__}, Python {platform.python_version()}, {own}; peers {peers}; {where}."


def _met(result: Result) -> str:
    return ("met" if result.met else "**missed**") if result.asked else ""


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")
