"""The utilities of alhussaeni2018 that specializations are chosen for, and `purity`, in whole numbers."""

from typing import Literal

from sfumato.methods.growing.scan import CLASSES, DISCERNIBILITY, PENALTY, PENALTY_SCALE, PURITY

Utility = Literal["dm", "ncp", "max", "purity"]
SCORES: dict[Utility, int] = {"dm": DISCERNIBILITY, "ncp": PENALTY, "max": CLASSES, "purity": PURITY}


def sensitivity_of(utility: Utility) -> int:
    """By how much one row changes a score at most."""
    return PENALTY_SCALE if utility == "ncp" else 1
