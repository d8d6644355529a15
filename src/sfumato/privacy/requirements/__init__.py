"""Requirements on the classes of a syntactic release, by the names a release file uses."""

from typing import Any

from sfumato.errors import ReleaseError
from sfumato.privacy.requirements.alpha_k import AlphaK as AlphaK
from sfumato.privacy.requirements.base import Population as Population
from sfumato.privacy.requirements.base import Requirement as Requirement
from sfumato.privacy.requirements.beta_likeness import BetaLikeness as BetaLikeness
from sfumato.privacy.requirements.delta_disclosure import DeltaDisclosure as DeltaDisclosure
from sfumato.privacy.requirements.k_anonymity import KAnonymity as KAnonymity
from sfumato.privacy.requirements.l_diversity import DistinctLDiversity as DistinctLDiversity
from sfumato.privacy.requirements.l_diversity import EntropyLDiversity as EntropyLDiversity
from sfumato.privacy.requirements.l_diversity import LDiversity as LDiversity
from sfumato.privacy.requirements.l_diversity import RecursiveLDiversity as RecursiveLDiversity
from sfumato.privacy.requirements.of_column import OfColumn as OfColumn
from sfumato.privacy.requirements.population import KHouseholds as KHouseholds
from sfumato.privacy.requirements.population import KMap as KMap
from sfumato.privacy.requirements.t_closeness import TCloseness as TCloseness

REQUIREMENTS: dict[str, type[Requirement]] = {
    kind.name: kind
    for kind in (
        KAnonymity,
        AlphaK,
        LDiversity,
        DistinctLDiversity,
        EntropyLDiversity,
        RecursiveLDiversity,
        TCloseness,
        DeltaDisclosure,
        BetaLikeness,
        OfColumn,
        KMap,
        KHouseholds,
    )
}


def parse_requirement(spec: dict[str, Any]) -> Requirement:
    """The requirement that a release file spells."""
    if not isinstance(spec, dict):
        raise ReleaseError(f"{spec!r} is not a requirement with its parameters")
    parameters = dict(spec)
    kind = REQUIREMENTS.get(parameters.pop("requirement", ""))
    if kind is OfColumn and "of" in parameters:
        parameters["requirement"] = parse_requirement(parameters.pop("of"))
    if kind is None:
        raise ReleaseError(f"{spec!r} is not a known requirement; expected one of {', '.join(REQUIREMENTS)}")
    try:
        return kind(**parameters)
    except TypeError as error:
        raise ReleaseError(f"{spec!r} lacks parameters of {kind.name}, or has others") from error
