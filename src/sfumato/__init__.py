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
    "Domain": "methods.flows.domain",
    "EntropyLDiversity": "privacy.requirements",
    "Flows": "data.flows",
    "Frontier": "trials.frontier",
    "FullSuppression": "methods",
    "HeldOut": "measures.workloads.learning",
    "HybridTree": "methods",
    "KAnonymity": "privacy.requirements",
    "KDTree": "methods",
    "LDiversity": "privacy.requirements",
    "Learning": "measures.workloads.learning",
    "Ledger": "privacy.ledger",
    "LocalDP": "privacy.claims",
    "LocalNoise": "methods",
    "MEASURES": "measures.measure",
    "MST": "methods",
    "Marginals": "methods",
    "MatchPoint": "measures.workloads.clustering",
    "Mondrian": "methods",
    "NoGuarantee": "privacy.claims",
    "Original": "methods",
    "Places": "data.places",
    "Planner": "collect.planning",
    "Prior": "methods.flows.prior",
    "PrivBayes": "methods",
    "PrivTree": "methods",
    "ProbabilisticDP": "privacy.claims",
    "Promise": "mechanisms.dirichlet",
    "PureDP": "privacy.claims",
    "QuadTree": "methods",
    "RPS": "methods",
    "RandomizedResponse": "mechanisms.channels",
    "RecursiveLDiversity": "privacy.requirements",
    "Release": "release",
    "RoundedLaplace": "mechanisms.channels",
    "Schema": "schema",
    "SfumatoError": "errors",
    "SquareWave": "mechanisms.channels",
    "Survey": "collect.survey",
    "Syntactic": "privacy.claims",
    "Synthesizer": "methods.flows.synthesis",
    "TCloseness": "privacy.requirements",
    "Table": "data",
    "TruncatedGeometric": "mechanisms.channels",
    "cluster_labels": "measures.workloads.clustering",
    "commuters": "samples.commuters",
    "count_reports": "collect.reports",
    "cross_validate": "measures.workloads.holdout",
    "estimate": "estimation.estimate",
    "frontier": "trials.frontier",
    "hold_out": "measures.workloads.holdout",
    "measure": "measures.measure",
    "promised_epsilon": "mechanisms.dirichlet",
    "propose": "data.propose",
    "publish_flows": "publish.flows",
    "publish_to": "publish.publication",
    "read": "data",
    "read_published": "release",
    "read_survey": "collect.survey",
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
    from sfumato.collect.planning import Planner
    from sfumato.collect.reports import count_reports
    from sfumato.collect.survey import Survey, read_survey
    from sfumato.data import Table, read
    from sfumato.data.flows import Flows
    from sfumato.data.places import Places
    from sfumato.data.propose import propose
    from sfumato.errors import SfumatoError
    from sfumato.estimation.estimate import estimate
    from sfumato.measures.measure import MEASURES, measure
    from sfumato.measures.workloads.clustering import MatchPoint, cluster_labels
    from sfumato.measures.workloads.holdout import cross_validate, hold_out
    from sfumato.measures.workloads.learning import HeldOut, Learning
    from sfumato.mechanisms.channels import RandomizedResponse, RoundedLaplace, SquareWave, TruncatedGeometric
    from sfumato.mechanisms.dirichlet import Promise, promised_epsilon
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
    from sfumato.methods.flows.domain import Domain
    from sfumato.methods.flows.prior import Prior
    from sfumato.methods.flows.synthesis import Synthesizer
    from sfumato.privacy.claims import ApproximateDP, LocalDP, NoGuarantee, ProbabilisticDP, PureDP, Syntactic
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
    from sfumato.publish.flows import publish_flows
    from sfumato.publish.publication import publish_to
    from sfumato.release import Release, read_published
    from sfumato.report import write_report
    from sfumato.samples.commuters import commuters
    from sfumato.samples.town import residents
    from sfumato.schema import Schema
    from sfumato.trials.frontier import Frontier, frontier


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'sfumato' has no attribute {name!r}")
    value = getattr(import_module(f"sfumato.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
