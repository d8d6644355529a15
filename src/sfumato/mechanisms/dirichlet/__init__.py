"""Synthetic people from a Dirichlet prior: how large the prior must be for a promise, and the draw itself.

The mechanism and its calibration are those of Machanavajjhala, Kifer, Abowd, Gehrke and Vilhuber (2008), repaired
where places are dropped; `dirichlet.proof.md` proves every claim.
"""

from sfumato.mechanisms.dirichlet.calibration import Calibration, Promise, promised_epsilon
from sfumato.mechanisms.dirichlet.prior import UNIT, PriorShape
from sfumato.mechanisms.dirichlet.urn import Segments, Urn

__all__ = ["UNIT", "Calibration", "PriorShape", "Promise", "Segments", "Urn", "promised_epsilon"]
