"""What Hypothesis draws is the same from run to run, whichever tests ran before and whatever they loaded."""

from __future__ import annotations

import importlib.util
import sys
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.internal.conjecture import providers

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from types import ModuleType

ODD = 8_675_309
AROUND = (ODD - 1, ODD, ODD + 1)


@pytest.fixture
def loaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    """A module with an odd number in it, that no other test has loaded."""
    path = tmp_path / "loaded_late.py"
    path.write_text(f"NUMBER = {ODD}\n")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, path.stem, module)
    providers.CONSTANTS_CACHE.cache.clear()
    yield module
    providers.CONSTANTS_CACHE.cache.clear()


def drawn() -> list[int]:
    found: list[int] = []

    @settings(settings.get_profile("default"), max_examples=400, database=None)
    @given(st.integers(0, 10**9))
    def test(number: int) -> None:
        found.append(number)

    test()
    return found


@pytest.mark.skipif(settings.get_current_profile_name() == "search", reason="a search may use what it finds")
def test_examples_do_not_depend_on_what_is_loaded(request: pytest.FixtureRequest) -> None:
    before = drawn()
    request.getfixturevalue("loaded")
    assert drawn() == before
    assert not set(AROUND) & set(before)


def test_constants_of_what_is_loaded_would_be_seen(loaded: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    """The broken twin: the constants of one module more."""
    monkeypatch.setattr(providers, "_get_local_constants", lambda: providers.constants_from_module(loaded))
    assert set(AROUND) & set(drawn())
