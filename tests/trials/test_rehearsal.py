"""What reports say of pilots of sample data is what such pilots measure."""

from __future__ import annotations

import pytest

from documentation import PILOTS, rehearsal
from sfumato.trials.rehearsal import Rehearsal


def test_the_kept_figures_are_those_that_are_measured() -> None:
    """The truth and the first pilot of each; the other pilots have other seeds, nothing else."""
    kept, measured = Rehearsal.kept(), rehearsal(pilots=1)
    assert (kept.name, kept.rows, kept.epsilon) == (measured.name, measured.rows, measured.epsilon)
    assert len(kept.figures) == len(measured.figures)
    for shown, found in zip(kept.figures, measured.figures, strict=True):
        assert (shown.setting, shown.measure) == (found.setting, found.measure)
        assert [shown.real, shown.tried[0]] == pytest.approx([found.real, *found.tried], rel=1e-6), "run: make docs"
        assert len(shown.tried) == PILOTS
        assert len(set(shown.tried)) > 1 or shown.measure == "Worst-case belief shift"
