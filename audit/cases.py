"""Which settings of which methods are audited, on which neighbouring tables.

`CASES` are the pairs for the empirical audit: a domain of a few positions on which one row moves every answer, so
that the loss comes near ε often. `PAIRS` are for the exact audit, which needs no luck: a row alone in its region, an
empty table, everybody in one cell, rows at cut points, missing values, taxonomies, a wide axis.
"""

from __future__ import annotations

import math
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING
from unittest.mock import patch

import numpy as np

from audit.neighbours import Pair, schema_of
from sfumato.methods import (
    MST,
    RPS,
    DiffMulti,
    HybridTree,
    KDTree,
    Marginals,
    PrivBayes,
    PrivTree,
    QuadTree,
    Synthesis,
    Tables,
)
from sfumato.methods.trees.diffgen import DiffGen
from sfumato.methods.trees.dpcube import DPCube
from sfumato.methods.trees.privtree import Decisions

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from sfumato.methods.base import DPMethod

EPSILON = 1.0


@dataclass(frozen=True)
class Case:
    """A setting of a method, and the pair of tables on which it is tried many times."""

    method: DPMethod
    pair: Pair
    runs: int = 4_000
    """On either table."""

    @property
    def name(self) -> str:
        told = getattr(self.method, "utility", None) or ("δ" if getattr(self.method, "delta", None) else None)
        return f"{self.method.name} ({told})" if told else self.method.name


LINE = schema_of(x=3)
NEXT_TO_EACH_OTHER = Pair(LINE, ((2, 0),), (1, 1))
"""The two cuts of the axis score the same without the second row, and only one of the scores changes with it."""
REST = {"a": [], "rest": [f"r{number}" for number in range(30)]}
NARROW_OR_NOT = Pair(schema_of(x=2, t=REST), (), (0, 9, 1))
"""A row that one attribute narrows down fully, and the other hardly."""

CASES = (
    # The more draws share ε, the less runs can tell: one tree buys margins, the others cut.
    Case(QuadTree(epsilon=EPSILON, height=0), Pair(schema_of(x=2), ((0, 0),), (1, 1))),
    Case(KDTree(epsilon=EPSILON, height=1, spread="even"), NEXT_TO_EACH_OTHER),
    Case(HybridTree(epsilon=EPSILON, height=1, spread="even"), NEXT_TO_EACH_OTHER),
    Case(RPS(epsilon=EPSILON, height=1, spread="even"), Pair(schema_of(x=3, y=3), ((2, 2, 0),), (1, 1, 1))),
    Case(PrivTree(epsilon=EPSILON), Pair(schema_of(x=4), (), (2, 1))),
    *(
        Case(DiffMulti(epsilon=EPSILON, h=1, levels=1, utility=utility), pair)
        for utility, pair in (
            ("dm", NEXT_TO_EACH_OTHER),
            ("ncp", NARROW_OR_NOT),
            ("max", NEXT_TO_EACH_OTHER),
            ("purity", NEXT_TO_EACH_OTHER),
        )
    ),
    Case(DiffGen(epsilon=EPSILON, h=1), Pair(schema_of(x=["a", "b"], y=["a", "b"]), ((0, 0, 0),), (0, 1, 1))),
    Case(DPCube(epsilon=EPSILON), NEXT_TO_EACH_OTHER),
    Case(PrivBayes(epsilon=EPSILON, theta=0.01), Pair(schema_of(x=2), ((0, 0),) * 3, (1, 1))),
    Case(Marginals(epsilon=EPSILON), Pair(schema_of(x=17), ((0, 0),), (9, 1))),
    # The code of MST sees ρ alone; this δ makes ρ large enough to be seen in few runs.
    Case(MST(epsilon=EPSILON, delta=0.5), Pair(schema_of(x=2, y=2), ((0, 0, 0),) * 3, (1, 1, 1)), 8_000),
    Case(Synthesis(epsilon=EPSILON), Pair(schema_of(x=2), ((0, 0),) * 3, (1, 1))),
    Case(Tables(epsilon=EPSILON), Pair(schema_of(x=2), ((0, 0),) * 3, (1, 1))),
    Case(Tables(epsilon=EPSILON, delta=0.5), Pair(schema_of(x=2), ((0, 0),) * 3, (1, 1)), 8_000),
)

TREE = {"low": ["a", "b"], "high": {"c": [], "top": ["d", "e"]}}
PLANE = schema_of(3, x=6, y=4)
MIXED = schema_of(x=(5, True), t=(TREE, True))
VISITS = schema_of(3, rows_per_person=5, x=6, y=4)
HOMES = schema_of(3, rows_per_household=5, x=6, y=4)
WIDE = schema_of(x=300, t=TREE, y=2)
WIDER = schema_of(x=(5_000, True), y=2)
RULED_OUT = replace(PLANE, impossible=("x > 3 and y > 1", "y = 0 and secret = v1"))
PAIRS = {
    "alone in its region": Pair(PLANE, ((0, 0, 0),) * 5, (5, 3, 2)),
    "empty": Pair(PLANE, (), (3, 1, 0)),
    "one cell": Pair(PLANE, ((2, 2, 1),) * 12, (2, 2, 1)),
    "at a cut": Pair(PLANE, ((2, 1, 0),) * 4 + ((3, 2, 1),) * 4, (3, 1, 1)),
    "missing values": Pair(MIXED, ((-1, -1, 0), (0, 0, 1), (4, 3, 0), (-1, 2, 1)), (-1, -1, 1)),
    "taxonomy": Pair(MIXED, ((0, 0, 0), (1, 1, 1), (2, 2, 0), (3, 3, 1), (4, 4, 1)), (2, 4, 0)),
    "five rows a person": Pair(VISITS, ((0, 0, 0),) * 5 + ((4, 1, 1),) * 5, (5, 3, 2), again=4),
    "five rows a household": Pair(HOMES, ((0, 0, 0),) * 5 + ((4, 1, 1),) * 5, (5, 3, 2), again=4),
    "wide axis": Pair(WIDE, tuple((17 * i % 300, i % 5, i % 2, i % 2) for i in range(40)), (150, 3, 1, 1)),
    "frequent value": Pair(WIDER, ((1_234, 0, 0),) * 60 + tuple((97 * i, i % 2, 1) for i in range(20)), (1_234, 1, 1)),
    "declared impossible": Pair(RULED_OUT, ((0, 0, 0),) * 8 + ((5, 1, 2),) * 8, (5, 3, 2)),
}


def thorough_settings(epsilon: float) -> list[DPMethod]:
    """Settings that go through every step of every method."""
    return [
        *(kind(epsilon=epsilon, height=height) for kind in (QuadTree, KDTree, HybridTree, RPS) for height in (None, 3)),
        PrivTree(epsilon=epsilon),
        *(DiffMulti(epsilon=epsilon, h=6, utility=utility) for utility in ("dm", "ncp", "max", "purity")),
        DiffMulti(epsilon=epsilon, h=6, utility="max", sharing="even"),
        *(DiffGen(epsilon=epsilon, h=h) for h in (1, 4)),
        *(DiffGen(epsilon=epsilon, h=4, utility=utility) for utility in ("dm", "ncp", "purity")),
        DPCube(epsilon=epsilon),
        PrivBayes(epsilon=epsilon),
        PrivBayes(epsilon=epsilon, degree=2, theta=0.05),
        Marginals(epsilon=epsilon),
        MST(epsilon=epsilon, delta=1e-6),
        *(kind(epsilon=epsilon, delta=1e-6) for kind in (QuadTree, KDTree, DiffGen, DPCube, PrivBayes, Marginals)),
        *(kind(rho=epsilon) for kind in (RPS, PrivTree)),
        DiffMulti(rho=epsilon, h=6, utility="purity"),
        # At a small ε a few rows are one bin; more of it buys rounds of choices.
        *(Synthesis(epsilon=times * epsilon, delta=delta) for times in (1, 30) for delta in (None, 1e-6)),
        *(Tables(epsilon=epsilon, ways=ways, delta=delta) for ways in (1, 2, 3) for delta in (None, 1e-6)),
    ]


class UnfittedTables:
    """In place of `mbi`: a model that says the same of all cells."""

    class Domain(dict[str, int]):
        def __init__(self, names: list[str], sizes: list[int]) -> None:
            super().__init__(zip(names, sizes, strict=True))

    class LinearMeasurement:
        def __init__(self, *values: object, **more: object) -> None: ...

    @property
    def estimation(self) -> UnfittedTables:
        return self

    def MirrorDescent(self) -> UnfittedTables:  # noqa: N802 - the library's name
        return self

    def estimate(self, domain: Domain, *values: object, **more: object) -> UnfittedTables:
        self.domain = domain
        return self

    def project(self, names: tuple[str, ...]) -> UnfittedTables:
        self.shape = tuple(self.domain[name] for name in names)
        return self

    def datavector(self, flatten: bool) -> NDArray[np.float64]:
        return np.ones(self.shape)


def _one_value(attributes: list[object], links: object, rows: int, uniforms: object) -> NDArray[np.int64]:
    """In place of sampling: rows that are all the same."""
    return np.zeros((rows, len(attributes)), dtype=np.int64)


@contextmanager
def large_domains() -> Iterator[None]:
    """Every domain is taken for one too large to list."""
    with (
        quick(),
        patch("sfumato.methods.trees.dpcube.MAX_LISTED", 1),
        patch("sfumato.methods.trees.diffgen.MAX_LISTED", 1),
        patch("sfumato.methods.trees.cells.FALSE_CELLS", 1),
        patch("sfumato.methods.trees.dpcube.FALSE_CELLS", 1),
    ):
        yield


@contextmanager
def quick() -> Iterator[None]:
    """Without slow arithmetic that follows from noisy counts or parameters alone; tables are bought, however noisy."""
    with (
        patch("sfumato.methods.models.synthesis.TOO_NOISY", math.inf),
        patch("sfumato.methods.models.synthesis.PURE_TOO_NOISY", math.inf),
        patch("sfumato.methods.models.mst._library", UnfittedTables),
        patch("sfumato.methods.models.mst.sample", _one_value),
        patch("sfumato.methods.models.privbayes.sample", _one_value),
        patch("sfumato.methods.models.marginals.fit", lambda shape, _: np.ones(tuple(shape))),
        patch.object(Decisions, "within", staticmethod(lru_cache(Decisions.within))),
    ):
        yield
