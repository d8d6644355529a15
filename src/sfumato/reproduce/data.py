"""The data sets that the papers are measured on: where they lie, where they come from, and what stands in for what.

None is part of the program. Each is looked for in one folder, which `--data` or SFUMATO_DATA names.
"""

import hashlib
import os
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import polars as pl

from sfumato.data import Table, read
from sfumato.data.flows import Flows
from sfumato.data.places import Places
from sfumato.errors import DataError
from sfumato.reproduce.tables import TABLES, TableSpec
from sfumato.schema import Schema

VARIABLE = "SFUMATO_DATA"
QUICK_ROWS = 3_000
"""Of a quick run's tables."""
SAMPLE_SEED = 11
HIERARCHIES = (
    *("age", "education", "income", "marital-status", "native-country", "occupation", "race", "sex", "workclass"),
)


@dataclass(frozen=True, kw_only=True)
class Source:
    """A data set: its files, where to get them, and how to make them if they come in another form."""

    title: str
    files: tuple[str, ...]
    origin: str
    stands_for: str = ""


SOURCES = {
    "adult": Source(
        title="Adult",
        files=("adult/adult.csv", *(f"adult/hierarchies/{name}.csv" for name in HIERARCHIES)),
        origin="rows from https://archive.ics.uci.edu/static/public/2/adult.zip, read and cleaned by "
        "sfumato.samples.adult, hierarchies from the example data of ARX, https://github.com/arx-deidentifier/arx",
    ),
    "census": Source(
        title="Census excerpt",
        files=("census/national2019.csv",),
        origin="https://github.com/usnistgov/SDNist, folder nist diverse communities data excerpts/national",
        stands_for="the 100,000 rows of IPUMS USA 2009: people of 15 and over in NIST's excerpt of the American "
        "Community Survey 2019, with sex for the state of insurance, category of industry for occupation and decile of "
        "income for the class of salary",
    ),
    "commute": Source(
        title="Rhode Island",
        files=("commute/ri_od_2019.csv.gz", "commute/ri_blocks.csv.gz"),
        origin="https://lehd.ces.census.gov/data/lodes/LODES7/ri/, the files ri_od_main_JT00_2019 and ri_xwalk, with "
        "the columns destination, origin, workers and block, latitude, longitude",
        stands_for="Minnesota: Rhode Island is some 40 miles wide, so distances are shorter and the domain has 25,181 "
        "blocks in place of 233,726",
    ),
}


@dataclass(frozen=True, kw_only=True)
class Data:
    """The data sets in a folder; quick runs see samples of the tables."""

    folder: Path
    quick: bool = False

    @classmethod
    def find(cls, folder: Path | None, *, quick: bool = False) -> "Data":
        """The data in a folder, or in the one that the environment names."""
        named = folder or (Path(os.environ[VARIABLE]) if os.environ.get(VARIABLE) else None)
        if named is None:
            raise DataError(f"no data is given; expected its folder as --data FOLDER or in the variable {VARIABLE}")
        if not named.is_dir():
            raise DataError(f"{named}: this folder does not exist; expected the data of the papers in it")
        return cls(folder=named, quick=quick)

    def expect(self, name: str) -> None:
        """Refuse a data set of which a file is missing, and say where it comes from."""
        source = SOURCES[name]
        for file in source.files:
            if not (self.folder / file).is_file():
                raise DataError(f"{self.folder / file}: this file does not exist; {source.title}: {source.origin}")

    def digest(self, needs: tuple[str, ...]) -> str:
        """A digest of the files of some data sets."""
        files = [self.folder / file for name in needs for file in SOURCES[name].files]
        return hashlib.sha256("".join(map(_digest, files)).encode()).hexdigest()[:16]

    def table(self, name: str, rows: int | None = None) -> Table:
        """One of the tables that papers make of a data set; of a random part of its rows, if so many are asked for."""
        spec = TABLES[name]
        most = min(spec.rows, QUICK_ROWS) if self.quick else spec.rows
        return _table(self.folder, name, min(rows or most, most))

    def flows(self) -> Flows:
        """The flows of workers to Rhode Island's blocks."""
        return _flows(self.folder)


@cache
def _digest(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


@cache
def _table(folder: Path, name: str, rows: int) -> Table:
    spec = TABLES[name]
    frame = _frame(folder, spec)
    if rows < len(frame):
        frame = frame.sample(rows, seed=SAMPLE_SEED, shuffle=True)
    schema = Schema.parse({"name": name, "columns": dict(spec.columns)}, folder / spec.source)
    return read(frame.select(list(spec.columns)), schema).without_rows()


def _frame(folder: Path, spec: TableSpec) -> pl.DataFrame:
    frame = pl.read_csv(folder / spec.file, infer_schema=False).head(spec.rows)
    return frame.filter(*(pl.col(column) != value for column, value in spec.without.items()))


@cache
def _flows(folder: Path) -> Flows:
    flows, blocks = (folder / file for file in SOURCES["commute"].files)
    return Flows.read(flows, Places.read(blocks))
