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
    "ApproximateDP": "privacy.claims",
    "BetaLikeness": "privacy.requirements",
    "DPCube": "methods",
    "DPMethod": "methods",
    "DeltaDisclosure": "privacy.requirements",
    "DiffGen": "methods",
    "DiffMulti": "methods",
    "Dirichlet": "methods",
    "DistinctLDiversity": "privacy.requirements",
    "Domain": "commute.domain",
    "EntropyLDiversity": "privacy.requirements",
    "Flows": "commute.flows",
    "Frontier": "trials.frontier",
    "FullSuppression": "methods",
    "HeldOut": "workloads.learning",
    "HybridTree": "methods",
    "KAnonymity": "privacy.requirements",
    "KDTree": "methods",
    "LDiversity": "privacy.requirements",
    "Learning": "workloads.learning",
    "Ledger": "privacy.ledger",
    "MEASURES": "trials.measure",
    "MST": "methods",
    "Marginals": "methods",
    "MatchPoint": "workloads.clustering",
    "Mondrian": "methods",
    "NoGuarantee": "privacy.claims",
    "Original": "methods",
    "Places": "commute.places",
    "Prior": "commute.prior",
    "PrivBayes": "methods",
    "PrivTree": "methods",
    "ProbabilisticDP": "privacy.claims",
    "Promise": "privacy.dirichlet",
    "PureDP": "privacy.claims",
    "QuadTree": "methods",
    "RPS": "methods",
    "RecursiveLDiversity": "privacy.requirements",
    "Release": "release",
    "Schema": "schema",
    "SfumatoError": "errors",
    "Syntactic": "privacy.claims",
    "Synthesizer": "commute.synthesis",
    "TCloseness": "privacy.requirements",
    "Table": "engines",
    "cluster_labels": "workloads.clustering",
    "commuters": "samples.commuters",
    "cross_validate": "workloads.holdout",
    "frontier": "trials.frontier",
    "hold_out": "workloads.holdout",
    "measure": "trials.measure",
    "promised_epsilon": "privacy.dirichlet",
    "propose": "engines.propose",
    "publish_flows": "commute.publication",
    "publish_to": "methods.publication",
    "read": "engines",
    "read_published": "release",
    "residents": "samples.town",
    "write_report": "report",
}

__all__ = [
    "MEASURES",
    "MST",
    "RPS",
    "AlphaK",
    "Anatomy",
    "ApproximateDP",
    "BetaLikeness",
    "DPCube",
    "DPMethod",
    "DeltaDisclosure",
    "DiffGen",
    "DiffMulti",
    "Dirichlet",
    "DistinctLDiversity",
    "Domain",
    "EntropyLDiversity",
    "Flows",
    "Frontier",
    "FullSuppression",
    "HeldOut",
    "HybridTree",
    "KAnonymity",
    "KDTree",
    "LDiversity",
    "Learning",
    "Ledger",
    "Marginals",
    "MatchPoint",
    "Mondrian",
    "NoGuarantee",
    "Original",
    "Places",
    "Prior",
    "PrivBayes",
    "PrivTree",
    "ProbabilisticDP",
    "Promise",
    "PureDP",
    "QuadTree",
    "RecursiveLDiversity",
    "Release",
    "Schema",
    "SfumatoError",
    "Syntactic",
    "Synthesizer",
    "TCloseness",
    "Table",
    "__version__",
    "cluster_labels",
    "commuters",
    "cross_validate",
    "frontier",
    "hold_out",
    "measure",
    "promised_epsilon",
    "propose",
    "publish_flows",
    "publish_to",
    "read",
    "read_published",
    "residents",
    "write_report",
]

if TYPE_CHECKING:
    from sfumato.commute.domain import Domain
    from sfumato.commute.flows import Flows
    from sfumato.commute.places import Places
    from sfumato.commute.prior import Prior
    from sfumato.commute.publication import publish_flows
    from sfumato.commute.synthesis import Synthesizer
    from sfumato.engines import Table, read
    from sfumato.engines.propose import propose
    from sfumato.errors import SfumatoError
    from sfumato.methods import (
        MST,
        RPS,
        Anatomy,
        DiffGen,
        DiffMulti,
        Dirichlet,
        DPCube,
        DPMethod,
        FullSuppression,
        HybridTree,
        KDTree,
        Marginals,
        Mondrian,
        Original,
        PrivBayes,
        PrivTree,
        QuadTree,
    )
    from sfumato.methods.publication import publish_to
    from sfumato.privacy.claims import ApproximateDP, NoGuarantee, ProbabilisticDP, PureDP, Syntactic
    from sfumato.privacy.dirichlet import Promise, promised_epsilon
    from sfumato.privacy.ledger import Ledger
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
    from sfumato.samples.commuters import commuters
    from sfumato.samples.town import residents
    from sfumato.schema import Schema
    from sfumato.trials.frontier import Frontier, frontier
    from sfumato.trials.measure import MEASURES, measure
    from sfumato.workloads.clustering import MatchPoint, cluster_labels
    from sfumato.workloads.holdout import cross_validate, hold_out
    from sfumato.workloads.learning import HeldOut, Learning


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'sfumato' has no attribute {name!r}")
    value = getattr(import_module(f"sfumato.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
