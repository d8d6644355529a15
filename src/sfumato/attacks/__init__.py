"""The privacy axis: what an adversary gets out of a release."""

from sfumato.attacks.base import Attack
from sfumato.attacks.belief import BeliefShift
from sfumato.attacks.classes import RealizedClasses
from sfumato.attacks.naive_bayes import NaiveBayes
from sfumato.attacks.unique_matches import UniqueMatches

ATTACKS: tuple[Attack, ...] = (BeliefShift(), NaiveBayes(), RealizedClasses(), UniqueMatches())

__all__ = ["ATTACKS", "Attack", "BeliefShift", "NaiveBayes", "RealizedClasses", "UniqueMatches"]
