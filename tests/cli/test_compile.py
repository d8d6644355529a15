"""`sfumato compile` makes machine code of what publishing needs, and says where it is."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import sfumato as sf
import sfumato.cli.compile
from sfumato.cli.compile import settings
from sfumato.methods import METHODS
from sfumato.methods.partition.mondrian import Mondrian
from sfumato.samples.town import SCHEMA_PATH

if TYPE_CHECKING:
    from .conftest import Run


def test_every_method_and_every_requirement_is_tried() -> None:
    """But for Anatomy: too many residents are healthy."""
    chosen = settings(sf.read(sf.residents(400), SCHEMA_PATH))
    assert {method.name for method in chosen} == set(METHODS) - {"anatomy"}
    tried = {method.series for method in chosen if isinstance(method, Mondrian)}
    assert tried == {"k-anonymity", "l-diversity", "t-closeness", "delta-disclosure"}


def test_it_says_where_machine_code_is_kept(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sfumato.cli.compile, "settings", lambda table: settings(table)[:1])
    told = run("compile", "--rows", 100)
    assert told.code == 0
    assert "sfumato-compiled" in told.out


def test_without_a_place_for_machine_code_it_says_so(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sfumato.cli.compile, "cache_folder", lambda package: None)
    told = run("compile")
    assert told.code == 2
    assert "no place to keep machine code" in told.err
