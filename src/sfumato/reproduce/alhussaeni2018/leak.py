"""That Algorithm 1 as printed is not differentially private: an output that one person makes possible."""

import numpy as np

from sfumato.data import Table, read
from sfumato.mechanisms.noise import SimulatedSource
from sfumato.reproduce.alhussaeni2018.printed import PrintedDiffMulti
from sfumato.reproduce.data import Data

RUNS = 400
PEOPLE = 40
SCHEMA = {
    "columns": {
        "x": {"role": "quasi", "kind": "numeric", "min": 0, "max": 3},
        "y": {"role": "quasi", "kind": "numeric", "min": 0, "max": 1},
        "class": {"role": "sensitive", "kind": "categorical", "values": ["N", "Y"]},
    }
}


def people(*, with_one: bool) -> Table:
    """Forty people at x = 0, and perhaps one at x = 3."""
    rows = {
        "x": [0] * PEOPLE + [3] * with_one,
        "y": [0, 1] * (PEOPLE // 2) + [0] * with_one,
        "class": ["N", "Y"] * (PEOPLE // 2) + ["N"] * with_one,
    }
    return read(rows, SCHEMA)


def told(data: Data, seed: int, *, with_one: bool, runs: int = RUNS) -> dict[str, float]:
    """How often y is cut where x > 0 while it is not cut where x = 0.

    Without the one person everybody is at x = 0. Parts without them are exactly empty and get no specializations, so y
    can be cut only together with x = 0.
    """
    table, method = people(with_one=with_one), PrintedDiffMulti(epsilon=1.0, h=50)
    found = 0
    for run in range(runs):
        ranges = method.grow(table, SimulatedSource(seed * runs + run)).leaves.ranges
        lo, hi = ranges.lo, ranges.hi
        beyond, at_zero = lo[:, 0] > 0, lo[:, 0] == 0
        cut = lo[:, 1] == hi[:, 1]
        found += bool(np.any(beyond & cut) and np.any(at_zero & ~cut))
    return {"outputs": found, "share": found / runs}
