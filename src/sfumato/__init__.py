"""Sfumato: which version of this table of people should I publish?

The names below are the public face; each is imported when it is first used, so that importing the package and
starting the command line cost nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from sfumato.version import __version__

_HOMES = {
    "AlphaK": "privacy.requirements",
    "Anatomy": "methods",
    "BetaLikeness": "privacy.requirements",
    "DeltaDisclosure": "privacy.requirements",
    "DistinctLDiversity": "privacy.requirements",
    "EntropyLDiversity": "privacy.requirements",
    "Frontier": "trials.frontier",
    "FullSuppression": "methods",
    "KAnonymity": "privacy.requirements",
    "LDiversity": "privacy.requirements",
    "MEASURES": "trials.measure",
    "Mondrian": "methods",
    "NoGuarantee": "privacy.claims",
    "Original": "methods",
    "RecursiveLDiversity": "privacy.requirements",
    "Release": "release",
    "Schema": "schema",
    "SfumatoError": "errors",
    "Syntactic": "privacy.claims",
    "TCloseness": "privacy.requirements",
    "Table": "engines",
    "frontier": "trials.frontier",
    "measure": "trials.measure",
    "propose": "engines.propose",
    "read": "engines",
    "read_published": "release",
    "residents": "samples.town",
    "write_report": "report",
}

__all__ = [
    "MEASURES",
    "AlphaK",
    "Anatomy",
    "BetaLikeness",
    "DeltaDisclosure",
    "DistinctLDiversity",
    "EntropyLDiversity",
    "Frontier",
    "FullSuppression",
    "KAnonymity",
    "LDiversity",
    "Mondrian",
    "NoGuarantee",
    "Original",
    "RecursiveLDiversity",
    "Release",
    "Schema",
    "SfumatoError",
    "Syntactic",
    "TCloseness",
    "Table",
    "__version__",
    "frontier",
    "measure",
    "propose",
    "read",
    "read_published",
    "residents",
    "write_report",
]

if TYPE_CHECKING:
    from sfumato.engines import Table, read
    from sfumato.engines.propose import propose
    from sfumato.errors import SfumatoError
    from sfumato.methods import Anatomy, FullSuppression, Mondrian, Original
    from sfumato.privacy.claims import NoGuarantee, Syntactic
    from sfumato.privacy.requirements import (
        AlphaK,
        BetaLikeness,
        DeltaDisclosure,
        DistinctLDiversity,
        EntropyLDiversity,
        KAnonymity,
        LDiversity,
        RecursiveLDiversity,
        TCloseness,
    )
    from sfumato.release import Release, read_published
    from sfumato.report import write_report
    from sfumato.samples.town import residents
    from sfumato.schema import Schema
    from sfumato.trials.frontier import Frontier, frontier
    from sfumato.trials.measure import MEASURES, measure


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'sfumato' has no attribute {name!r}")
    value = getattr(import_module(f"sfumato.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
