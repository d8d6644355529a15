"""Claims: what a release promises, and on which assumptions. No release exists without one."""

from sfumato.privacy.claims.base import CLAIMS, Check, Choice, Claim, Neighbours, Noise, Recoding, Units, parse_claim
from sfumato.privacy.claims.conditional import Conditional, choice_of
from sfumato.privacy.claims.differential import (
    ORIGIN_ASSUMPTIONS,
    ApproximateDP,
    Differential,
    LocalDP,
    ProbabilisticDP,
    PureDP,
)
from sfumato.privacy.claims.none import NoGuarantee
from sfumato.privacy.claims.syntactic import Syntactic

__all__ = [
    "CLAIMS",
    "ORIGIN_ASSUMPTIONS",
    "ApproximateDP",
    "Check",
    "Choice",
    "Claim",
    "Conditional",
    "Differential",
    "LocalDP",
    "Neighbours",
    "NoGuarantee",
    "Noise",
    "ProbabilisticDP",
    "PureDP",
    "Recoding",
    "Syntactic",
    "Units",
    "choice_of",
    "parse_claim",
]
