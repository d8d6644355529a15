"""Loops that may run as they are written give the same bits as their machine code.

Tables are published while such loops run as they are written, each call noted with what it was given and what it made;
then their machine code is given the same.
"""

from __future__ import annotations

import pkgutil
import sys
from collections import defaultdict
from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np
import polars as pl
import pytest

import sfumato as sf
from sfumato.compiled import Loop, compiling
from sfumato.mechanisms.noise import SimulatedSource
from sfumato.methods.partition import search
from sfumato.samples.town import SCHEMA_PATH
from sfumato.schema import Schema

pytestmark = pytest.mark.slow
MOST = 150
"""Calls of each loop that are compared: the first ones of each setting."""
PEOPLE = 120
SETTINGS: tuple[sf.Method, ...] = (
    sf.Mondrian(k=3),
    sf.Mondrian(k=3, look_ahead=2),
    sf.Mondrian(k=5, cut="median"),
    sf.Mondrian(k=3, l=1.5),
    sf.Mondrian(k=3, t=0.4, cut="purity", look_ahead=0),
    sf.Mondrian(k=3, requirements=(sf.KHouseholds(k_households=3), sf.KMap(k_map=40))),
    sf.QuadTree(epsilon=40),
    sf.KDTree(epsilon=40),
    sf.PrivTree(epsilon=40),
    sf.DPCube(epsilon=20),
    sf.DiffGen(epsilon=10),
    *(sf.DiffMulti(epsilon=10, utility=utility, h=12) for utility in ("dm", "ncp", "max", "purity")),
)

CHEAPEST_FIRST = sf.Mondrian(k=3, l=1.4)
"""Published as if there were too many cuts to look at all of them."""
DEFINED: dict[str, Callable[[Any], Any]] = {
    "double": lambda array: array[: len(array) // 2],
    "_room_for": lambda scratch: tuple(np.array(array.shape) for array in scratch),
}
"""What is defined of the results of loops that make room: not what stands there yet."""


@dataclass(frozen=True)
class Call:
    """What a loop was given, what it left of that, and what it returned."""

    given: tuple[Any, ...]
    left: tuple[Any, ...]
    made: Any


def loops() -> dict[str, Loop]:
    """All loops that may run as they are written, by name."""
    for module in pkgutil.walk_packages(sf.__path__, "sfumato."):
        if not module.name.startswith(("sfumato.cli", "sfumato.reproduce")) and not module.name.endswith("__main__"):
            import_module(module.name)
    values = [value for name, module in [*sys.modules.items()] if "sfumato" in name for value in vars(module).values()]
    return {loop.py_func.__qualname__: loop for loop in values if isinstance(loop, Loop) and loop.if_many}


LOOPS = loops()


@pytest.fixture(scope="module")
def calls() -> dict[str, list[Call]]:
    """Calls of every loop while tables of a hundred people are published, with missing values and taxonomies."""
    found: dict[str, list[Call]] = defaultdict(list)
    with pytest.MonkeyPatch.context() as patch:
        for name, loop in LOOPS.items():
            noting = _noting(loop.py_func, found[name])
            for module in [module for key, module in sys.modules.items() if key.startswith("sfumato")]:
                for attribute in [key for key, value in vars(module).items() if value is loop]:
                    patch.setattr(module, attribute, noting)
        for number, method in enumerate((*SETTINGS, CHEAPEST_FIRST)):
            if method is CHEAPEST_FIRST:
                patch.setattr(search, "CELLS_AT_ONCE", 0)
            compared = {name: noted[:] for name, noted in found.items()}
            method.publish(_table(number), SimulatedSource(number))
            for name, noted in found.items():
                noted[:] = [*compared.get(name, []), *noted[len(compared.get(name, [])) :][:MOST]]
    return found


def _noting(function: Callable[..., Any], noted: list[Call]) -> Callable[..., Any]:
    def call(*given: Any) -> Any:
        before = deepcopy(given)
        made = function(*given)
        noted.append(Call(before, deepcopy(given), deepcopy(made)))
        return made

    return call


def _table(seed: int) -> sf.Table:
    """Residents of whom some did not say how old they are, or where they live."""
    spec = Schema.load(SCHEMA_PATH).spec()
    spec["columns"] |= {name: {**spec["columns"][name], "nullable": True} for name in ("age", "district")}
    spec["columns"] |= {"home": {"role": "household"}, "weight": {"role": "weight"}}
    silent = np.random.default_rng(seed).random((2, PEOPLE)) < 0.1
    people = sf.residents(PEOPLE, seed=seed + 1).with_columns(
        pl.when(pl.Series(silent[0])).then(None).otherwise(pl.col("age")).alias("age"),
        pl.when(pl.Series(silent[1])).then(None).otherwise(pl.col("district")).alias("district"),
        (pl.int_range(PEOPLE) // 3).alias("home"),
        pl.lit(12).alias("weight"),
    )
    return sf.read(people, Schema.parse(spec))


@pytest.mark.parametrize("name", LOOPS)
def test_machine_code_gives_the_same_bits(name: str, calls: dict[str, list[Call]]) -> None:
    assert calls[name], "no setting reaches this loop"
    for call in calls[name]:
        given = deepcopy(call.given)
        with compiling():
            made = LOOPS[name](*given)
        defined = DEFINED.get(name, lambda result: result)
        same(defined(made), defined(call.made))
        same(given, call.left)


def same(one: Any, other: Any) -> None:
    """Refuse two results that differ in a bit."""
    if isinstance(one, tuple):
        assert len(one) == len(other)
        for each, its_twin in zip(one, other, strict=True):
            same(each, its_twin)
    elif isinstance(one, np.ndarray):
        assert one.dtype == other.dtype
        assert one.shape == other.shape
        assert one.tobytes() == other.tobytes()
    else:
        assert np.array(one).tobytes() == np.array(other).astype(np.array(one).dtype).tobytes()


def test_a_sum_in_another_order_would_be_noticed() -> None:
    """The broken twin: NumPy adds in pairs, machine code one after the other."""
    numbers = np.random.default_rng(1).random(1000)
    with pytest.raises(AssertionError):
        same(np.array([numbers.sum()]), np.array([sum(numbers.tolist())]))
