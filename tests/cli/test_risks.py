"""How risks against a control group are shown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sfumato.cli.risks import HEADING, show_risks
from sfumato.measures.attacks.control import compare
from sfumato.measures.attacks.risks import RISKS, Risks

if TYPE_CHECKING:
    import pytest


def test_each_risk_has_its_figures_and_its_meaning(capsys: pytest.CaptureFixture[str]) -> None:
    risk = compare(90, 100, 50, 100)
    assert risk is not None
    show_risks(Risks(membership=risk))
    shown = capsys.readouterr().out
    assert HEADING in shown
    assert "+40.0%" in shown
    assert "90.0% of 100 guesses, control 50.0%" in shown
    assert RISKS["membership"].sentence in shown
    assert f"Not applicable to this release: {RISKS['singling_out'].title}, " in shown


def test_a_release_that_tells_nothing_has_no_figures(capsys: pytest.CaptureFixture[str]) -> None:
    show_risks(Risks())
    shown = capsys.readouterr().out
    assert all(about.title in shown for about in RISKS.values())
    assert "control 0" not in shown
