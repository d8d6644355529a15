"""The privacy axis: what an adversary gets out of a release."""

from sfumato.measures.attacks.belief import BeliefShift
from sfumato.measures.attacks.classes import RealizedClasses
from sfumato.measures.attacks.disclosure import Disclosure
from sfumato.measures.attacks.naive_bayes import NaiveBayes
from sfumato.measures.attacks.sampled_risk import SampledRisk
from sfumato.measures.attacks.unique_matches import UniqueMatches
from sfumato.measures.base import Attack

ATTACKS: tuple[Attack, ...] = (
    Disclosure(),
    BeliefShift(),
    NaiveBayes(),
    RealizedClasses(),
    UniqueMatches(),
    SampledRisk(),
)

__all__ = [
    "ATTACKS",
    "Attack",
    "BeliefShift",
    "Disclosure",
    "NaiveBayes",
    "RealizedClasses",
    "SampledRisk",
    "UniqueMatches",
]
