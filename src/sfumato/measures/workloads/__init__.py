"""The utility axis: what a recipient can still do with a release."""

from sfumato.measures.base import Workload
from sfumato.measures.workloads.information_loss import InformationLoss
from sfumato.measures.workloads.large_populations import LargePopulations
from sfumato.measures.workloads.range_counts import ConjunctiveCounts, HalfDomainCounts

WORKLOADS: tuple[Workload, ...] = (LargePopulations(), HalfDomainCounts(), ConjunctiveCounts(), InformationLoss())

__all__ = ["WORKLOADS", "ConjunctiveCounts", "HalfDomainCounts", "InformationLoss", "LargePopulations", "Workload"]
