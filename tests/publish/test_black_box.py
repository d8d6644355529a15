"""A small attack from outside in every test run; `make audit` does the same at length."""

from __future__ import annotations

from contextlib import nullcontext

import numpy as np
import pytest
from audit.blackbox.attack import attack
from audit.blackbox.cases import SCENES
from audit.blackbox.scene import Scene
from audit.blackbox.twins import TWINS, Twin

RUNS = 64
"""With fewer, even what tells the two tables apart for certain would not be shown to do so."""
FAILING = 1e-3
PLAIN = [scene for scene in SCENES if scene.name in ("quad-tree, 40 rows", "nobody but one")]
SHOWN = [
    twin
    for twin in TWINS
    if twin.fault
    in (
        "one draw of noise for all cells",
        "the exact number of rows in release.json",
        "a table with one value is refused",
        "an empty table is refused",
        "a digest of the rows",
    )
]


def shown(scene: Scene, twin: Twin | None = None) -> float:
    with twin.replaced() if twin else nullcontext():
        without, present = ([scene.play(present=there) for _ in range(RUNS)] for there in (False, True))
    return attack(without, present, FAILING).epsilon


@pytest.mark.parametrize("scene", PLAIN, ids=lambda scene: scene.name)
def test_nothing_that_is_published_shows_more_than_was_claimed(scene: Scene) -> None:
    assert shown(scene) <= scene.epsilon


@pytest.mark.parametrize("twin", SHOWN, ids=lambda twin: twin.fault)
def test_leaks_around_a_method_are_caught(twin: Twin) -> None:
    assert shown(twin.scene, twin) > twin.scene.epsilon


def test_the_attack_finds_noise_that_two_numbers_share_and_nothing_where_there_is_nothing() -> None:
    generator = np.random.default_rng(1)
    noise = generator.geometric(0.3, (2, 200)) - generator.geometric(0.3, (2, 200))
    without = [{"a": 5.0 + draw, "b": 2.0 + draw} for draw in noise[0]]
    present = [{"a": 6.0 + draw, "b": 2.0 + draw} for draw in noise[1]]
    found = attack(without, present, FAILING)
    assert (found.statistic, found.epsilon > 2) == ("a − b", True)
    assert attack(without[:100], without[100:], FAILING).epsilon < 0.5
