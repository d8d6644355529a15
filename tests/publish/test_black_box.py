"""A small attack from outside in every test run; `make audit` does the same at length."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace

import numpy as np
import pytest
from audit.blackbox.attack import attack
from audit.blackbox.cases import SCENES
from audit.blackbox.scene import Page, Scene
from audit.blackbox.twins import TWINS, Twin

RUNS, TWIN_RUNS = 64, 80
"""With fewer than 64, even what tells two tables apart for certain would not be shown to do so; a leak that hides in
one run of many needs a few more."""
FAILING = 1e-3
WITHOUT_NOISE = ("FILE", "--schema", "SCHEMA", "-o", "FOLDER", "--method", "original")
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
        "every row of nobody counts as a person",
        "a value with a bracket is refused",
    )
]


def shown(scene: Scene, twin: Twin | None = None) -> float:
    runs = TWIN_RUNS if twin else RUNS
    with twin.replaced() if twin else nullcontext():
        without, present = ([scene.play(present=there) for _ in range(runs)] for there in (False, True))
    return attack(without, present, FAILING, delta=scene.delta).epsilon


PLAYED = [scene for scene in SCENES if "pilot" not in scene.name and "5,000" not in scene.name]


@pytest.mark.parametrize("scene", PLAYED, ids=lambda scene: scene.name)
@pytest.mark.parametrize("present", [False, True], ids=["without", "present"])
def test_every_scene_ends_with_figures(scene: Scene, present: bool) -> None:
    seen = scene.play(present=present)
    for number in range(len(scene.commands)):
        assert seen[f"{number}: refused"] == 0
        tables = (".csv count", ".csv rows", ".parquet count", ".parquet rows")
        assert any(name.startswith(f"{number}: ") and any(part in name for part in tables) for name in seen)


def test_the_person_stands_instead_of_another() -> None:
    scene = replace(PLAIN[0], instead=PLAIN[0].rows[:1], commands=(("publish", *WITHOUT_NOISE),))
    counts = [
        sum(v for name, v in scene.play(present=p).items() if "csv rows" in name and " rows with " not in name)
        for p in (False, True)
    ]
    assert counts == [41, 41]


def test_pages_are_read_figure_by_figure() -> None:
    page = (
        '<style>p { width: 7px }</style><p>Of 1,204 people, 3.5% stay.</p><p class="n7">61</p><p>61</p>'
        '<script type="application/json">{"rows": [60], "seconds": 4, "said": "60 people"}</script>after 8'
        "<script>let x = 9;</script>"
    )
    seen = dict(Page(page).figures("page"))
    assert {name: value for name, value in seen.items() if value != 1.0} == {
        "page text 1 Of # people, #% stay. [0]": 1204.0,
        "page text 1 Of # people, #% stay. [1]": 3.5,
        "page text 1 # [0]": 61.0,
        "page text 2 # [0]": 61.0,
        "page text 1 after # [0]": 8.0,
        "page # people, #%": 1204.0,
        "page # % stay.": 3.5,
        "page # people": 60.0,
        "page data 0 rows 0": 60.0,
        "page data 0 said is # people [0]": 60.0,
    }


def test_a_claim_that_may_fail_is_given_its_share() -> None:
    without, present = ([{"a": float(there and run % 4 == 0)} for run in range(400)] for there in (False, True))
    assert attack(without, present, FAILING).epsilon > 1
    assert attack(without, present, FAILING, delta=0.3).epsilon < 0


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
