"""Requirements on the classes of a syntactic release, by the names a release file uses."""

from __future__ import annotations

from typing import Any

from sfumato.errors import ReleaseError
from sfumato.privacy.requirements.alpha_k import AlphaK
from sfumato.privacy.requirements.base import Population, Requirement
from sfumato.privacy.requirements.beta_likeness import BetaLikeness
from sfumato.privacy.requirements.delta_disclosure import DeltaDisclosure
from sfumato.privacy.requirements.k_anonymity import KAnonymity
from sfumato.privacy.requirements.l_diversity import (
    DistinctLDiversity,
    EntropyLDiversity,
    LDiversity,
    RecursiveLDiversity,
)
from sfumato.privacy.requirements.t_closeness import TCloseness

REQUIREMENTS: dict[str, type[Requirement]] = {
    kind.name: kind
    for kind in (
        KAnonymity,
        LDiversity,
        DistinctLDiversity,
        EntropyLDiversity,
        RecursiveLDiversity,
        TCloseness,
        DeltaDisclosure,
        AlphaK,
        BetaLikeness,
    )
}


def parse_requirement(spec: dict[str, Any]) -> Requirement:
    """The requirement that a release file spells."""
    if not isinstance(spec, dict):
        raise ReleaseError(f"{spec!r} is not a requirement with its parameters")
    parameters = dict(spec)
    kind = REQUIREMENTS.get(parameters.pop("requirement", ""))
    if kind is None:
        raise ReleaseError(f"{spec!r} is not a known requirement; expected one of {', '.join(REQUIREMENTS)}")
    try:
        return kind(**parameters)
    except TypeError as error:
        raise ReleaseError(f"{spec!r} lacks parameters of {kind.name}, or has others") from error


__all__ = [
    "REQUIREMENTS",
    "AlphaK",
    "BetaLikeness",
    "DeltaDisclosure",
    "DistinctLDiversity",
    "EntropyLDiversity",
    "KAnonymity",
    "LDiversity",
    "Population",
    "RecursiveLDiversity",
    "Requirement",
    "TCloseness",
    "parse_requirement",
]
