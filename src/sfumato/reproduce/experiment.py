"""An experiment: a figure, a table or a worked example of a paper as settings to measure and panels to draw.

Where a text can be read in several ways, every reading is a series of its own.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from sfumato.report.reproduction.document import Panel, Scalar
from sfumato.reproduce.data import Data

T = TypeVar("T")
QUICK_SEEDS = 2
SEEDS_OF_A_RUN = 1_000
"""Seeds between those of one run and those of the next."""


@dataclass(frozen=True, kw_only=True)
class Mode:
    """How thoroughly to measure: in full, or quickly on small samples with few settings and seeds."""

    quick: bool = False
    first_seed: int = 1

    def pick(self, full: T, quick: T) -> T:
        """One of two choices."""
        return quick if self.quick else full

    def seeds(self, full: int) -> int:
        """How many seeds, of so many in full."""
        return min(full, QUICK_SEEDS) if self.quick else full


@dataclass(frozen=True, kw_only=True)
class Case:
    """One setting of an experiment; `run` measures it once with a seed, which decides all that is drawn."""

    series: str
    setting: Mapping[str, Scalar]
    run: Callable[[Data, int], Mapping[str, float]]
    seeds: int = 1


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """A figure, table or worked example; `name` is what the paper calls it, such as figure-2a."""

    name: str
    title: str
    shows: str
    needs: tuple[str, ...]
    """Which data sets it is measured on."""
    cases: Callable[[Mode], Iterable[Case]]
    panels: tuple[Panel, ...] = ()
