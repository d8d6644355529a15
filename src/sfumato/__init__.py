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
    "LocalDP": "privacy.claims",
    "LocalNoise": "methods",
    "MEASURES": "trials.measure",
    "MST": "methods",
    "Marginals": "methods",
    "MatchPoint": "workloads.clustering",
    "Mondrian": "methods",
    "NoGuarantee": "privacy.claims",
    "Original": "methods",
    "Places": "commute.places",
    "Planner": "local.planning",
    "Prior": "commute.prior",
    "PrivBayes": "methods",
    "PrivTree": "methods",
    "ProbabilisticDP": "privacy.claims",
    "Promise": "privacy.dirichlet",
    "PureDP": "privacy.claims",
    "QuadTree": "methods",
    "RPS": "methods",
    "RandomizedResponse": "privacy.channels",
    "RecursiveLDiversity": "privacy.requirements",
    "Release": "release",
    "RoundedLaplace": "privacy.channels",
    "Schema": "schema",
    "SfumatoError": "errors",
    "SquareWave": "privacy.channels",
    "Survey": "local.survey",
    "Syntactic": "privacy.claims",
    "Synthesizer": "commute.synthesis",
    "TCloseness": "privacy.requirements",
    "Table": "engines",
    "TruncatedGeometric": "privacy.channels",
    "cluster_labels": "workloads.clustering",
    "commuters": "samples.commuters",
    "count_reports": "local.reports",
    "cross_validate": "workloads.holdout",
    "estimate": "local.reconstruct.estimate",
    "frontier": "trials.frontier",
    "hold_out": "workloads.holdout",
    "measure": "trials.measure",
    "promised_epsilon": "privacy.dirichlet",
    "propose": "engines.propose",
    "publish_flows": "commute.publication",
    "publish_to": "methods.publication",
    "read": "engines",
    "read_published": "release",
    "read_survey": "local.survey",
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
    "LocalDP",
    "LocalNoise",
    "Marginals",
    "MatchPoint",
    "Mondrian",
    "NoGuarantee",
    "Original",
    "Places",
    "Planner",
    "Prior",
    "PrivBayes",
    "PrivTree",
    "ProbabilisticDP",
    "Promise",
    "PureDP",
    "QuadTree",
    "RandomizedResponse",
    "RecursiveLDiversity",
    "Release",
    "RoundedLaplace",
    "Schema",
    "SfumatoError",
    "SquareWave",
    "Survey",
    "Syntactic",
    "Synthesizer",
    "TCloseness",
    "Table",
    "TruncatedGeometric",
    "__version__",
    "cluster_labels",
    "commuters",
    "count_reports",
    "cross_validate",
    "estimate",
    "frontier",
    "hold_out",
    "measure",
    "promised_epsilon",
    "propose",
    "publish_flows",
    "publish_to",
    "read",
    "read_published",
    "read_survey",
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
    from sfumato.local.planning import Planner
    from sfumato.local.reconstruct.estimate import estimate
    from sfumato.local.reports import count_reports
    from sfumato.local.survey import Survey, read_survey
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
        LocalNoise,
        Marginals,
        Mondrian,
        Original,
        PrivBayes,
        PrivTree,
        QuadTree,
    )
    from sfumato.methods.publication import publish_to
    from sfumato.privacy.channels import RandomizedResponse, RoundedLaplace, SquareWave, TruncatedGeometric
    from sfumato.privacy.claims import ApproximateDP, LocalDP, NoGuarantee, ProbabilisticDP, PureDP, Syntactic
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
