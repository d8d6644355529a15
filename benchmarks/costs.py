"""What publishing costs by every method, on simulated tables of many shapes (`make costs`).

Each method publishes each table in a process of its own, whose processor seconds and peak memory are read off; laws are
fitted to them, kept with the program for `sfumato plan`, and shown in docs/scale.md.
"""

from __future__ import annotations

import json
import platform
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
from scipy.special import ndtr

import sfumato as sf
from sfumato.data.extent import Extent
from sfumato.methods import METHODS
from sfumato.trials.cost import KEPT, SIZES, Costs, Law

PAGE = Path(__file__).parents[1] / "docs" / "scale.md"
LIMIT = 120
"""Seconds after which a run is given up; what takes longer is not part of a law."""
RUN = """
import json, sys, tempfile, time
import sfumato as sf
from sfumato.methods import METHODS
path, schema, name = sys.argv[1:]
started = time.process_time()
table = sf.read(path, schema)
read = time.process_time()
if name:
    method = next(METHODS[name].grid(table, (1.0,)))
    with tempfile.TemporaryDirectory() as folder:
        method.publish(table).save(folder + "/release", parquet=True)
done = time.process_time()
with open("/proc/self/status") as status:  # what the system counts for a child begins with its parent's
    gigabytes = next(int(line.split()[1]) for line in status if line.startswith("VmHWM")) / 2**20
print(json.dumps([read - started, done - read, gigabytes, len(table.cell_weight)]))
"""


@dataclass(frozen=True)
class Shape:
    """A simulated table: rows, quasi-identifiers, the values of each, and sensitive values."""

    rows: int
    quasi: int
    size: int
    values: int

    def frame(self) -> pl.DataFrame:
        """Columns that follow one hidden number, so that some combinations are frequent and most are rare."""
        generator = np.random.default_rng(1)
        hidden = generator.normal(size=self.rows)
        found = {}
        for name, size in self.sizes.items():
            share = ndtr(0.8 * hidden + 0.6 * generator.normal(size=self.rows))
            found[name] = np.minimum((share * size).astype(np.int64), size - 1)
        return pl.DataFrame(found)

    @property
    def sizes(self) -> dict[str, int]:
        return {**{f"q{number}": self.size for number in range(self.quasi)}, "secret": self.values}

    def schema(self) -> str:
        """Every other quasi-identifier is a number, the others have values."""
        lines = ['name = "simulated"']
        for number, (name, size) in enumerate(self.sizes.items()):
            role = "sensitive" if name == "secret" else "quasi"
            values = ", ".join(f'"{value}"' for value in range(size))
            kind = f'kind = "numeric"\nmin = 0\nmax = {size - 1}'
            if number % 2 or name == "secret":
                kind = f'kind = "categorical"\nvalues = [{values}]'
            lines.append(f'[columns.{name}]\nrole = "{role}"\n{kind}')
        return "\n".join(lines) + "\n"


SHAPES = (
    Shape(30_000, 6, 20, 10),
    Shape(300_000, 6, 20, 10),
    Shape(1_000_000, 6, 20, 10),
    Shape(3_000_000, 3, 20, 10),
    Shape(300_000, 3, 20, 10),
    Shape(300_000, 12, 20, 10),
    Shape(300_000, 6, 5, 10),
    Shape(300_000, 6, 100, 10),
    Shape(300_000, 6, 20, 100),
    Shape(1_000_000, 4, 8, 5),
    Shape(100_000, 9, 50, 20),
)


def run(path: Path, schema: Path, method: str) -> list[float] | None:
    """Processor seconds for reading and for publishing, gigabytes, and cells; nothing if it takes too long or fails."""
    try:
        told = subprocess.run(
            [sys.executable, "-W", "ignore", "-c", RUN, str(path), str(schema), method],
            capture_output=True,
            text=True,
            timeout=LIMIT,
            check=True,
        )
    except (subprocess.TimeoutExpired, subprocess.CalledProcessError):
        return None
    return [float(figure) for figure in json.loads(told.stdout)]


def measure(shapes: tuple[Shape, ...] = SHAPES) -> Costs:
    """Laws for reading and for every method."""
    extents: list[Extent] = []
    reading: dict[str, list[float]] = {"text": [], "binary": []}
    found: dict[str, list[tuple[Extent, float, float]]] = {name: [] for name in METHODS}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for shape in shapes:
            frame, schema = shape.frame(), folder / "schema.toml"
            schema.write_text(shape.schema())
            frame.write_csv(folder / "people.csv")
            frame.write_parquet(folder / "people.parquet")
            for kind, file in (("text", "people.csv"), ("binary", "people.parquet")):
                seconds, _, _, cells = run(folder / file, schema, "") or [np.nan] * 4
                reading[kind].append(seconds)
            extent = Extent(
                rows=shape.rows, cells=int(cells), columns=len(shape.sizes), positions=sum(shape.sizes.values())
            )
            extents.append(extent)
            for method in METHODS:
                figures = run(folder / "people.parquet", schema, method)
                if figures:
                    found[method].append((extent, figures[1], figures[2]))
                print(shape, method, figures, flush=True)
    return Costs(
        machine=f"{platform.machine()}, Python {platform.python_version()}, Sfumato {sf.__version__}",
        text=Law.fitted(extents, reading["text"]),
        binary=Law.fitted(extents, reading["binary"]),
        seconds={name: Law.fitted([e for e, _, _ in runs], [s for _, s, _ in runs]) for name, runs in found.items()},
        gigabytes={name: Law.fitted([e for e, _, _ in runs], [g for _, _, g in runs]) for name, runs in found.items()},
    )


def law_table(costs: Costs) -> str:
    """A line for reading and every method: exponents, and how far figures are off."""
    head = ["what", *(f"{size}" for size in SIZES), "off by at most"]
    lines = [head, ["---"] * len(head)]
    for what, law in [
        ("reading text", costs.text),
        ("reading Parquet", costs.binary),
        *((f"{name}, time", law) for name, law in costs.seconds.items()),
        *((f"{name}, memory", law) for name, law in costs.gigabytes.items()),
    ]:
        lines.append([what, *(f"{power:.2f}" for power in law.powers), f"{law.off:.1f}×"])
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def main() -> None:
    """Measure, keep the laws, and show them."""
    costs = measure()
    KEPT.write_text(costs.to_json(), encoding="utf-8")
    page = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(re.sub(r"^\| what \| rows.*?\n\n", lambda _: law_table(costs) + "\n", page, flags=re.M | re.S))


if __name__ == "__main__":
    main()
