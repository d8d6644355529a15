"""What a pilot says of itself: where it is little but noise, it warns."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from brute_force import small_table
from sfumato.methods import Mondrian
from sfumato.privacy.ledger import Ledger
from sfumato.trials.frontier import frontier, frontier_document

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(("epsilon", "warned"), [(4, True), (80, False)])
def test_a_pilot_that_is_little_but_noise_says_so(epsilon: float, warned: bool, tmp_path: Path) -> None:
    """Of four columns, a count is off by √2 · 4/ε: by 9 of about 90 rows at ε = 0.6, and by 0.5 at ε = 12."""
    ledger = Ledger(tmp_path / "ledger.sqlite")
    found = frontier(small_table(), [Mondrian(k=2)], epsilon=epsilon, workers=1, ledger=ledger)
    assert found.pilot is not None
    document = frontier_document(found, None)
    assert document.pilot is not None
    if warned:
        assert found.pilot.caution == document.pilot.limits[0]
        assert f"off by about 9, and the pilot has {found.table.n:,} rows" in document.pilot.limits[0]
    else:
        assert found.pilot.caution is None
        assert document.pilot.limits[0].startswith("Rare groups")
