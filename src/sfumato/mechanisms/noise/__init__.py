"""The randomness that protects people: exact on integers, drawn in bulk, never seeded.

`Source` says where random words come from; `geometric`, `gaussian` and `sparse` turn words into
draws whose law is exactly the one the proofs speak of.
"""

from sfumato.mechanisms.noise.source import SimulatedSource, Source, SystemSource

__all__ = ["SimulatedSource", "Source", "SystemSource"]
