"""The utility axis: what a recipient can still do with a release."""

from sfumato.workloads.base import Workload
from sfumato.workloads.information_loss import InformationLoss
from sfumato.workloads.large_populations import LargePopulations
from sfumato.workloads.range_counts import ConjunctiveCounts, HalfDomainCounts

WORKLOADS: tuple[Workload, ...] = (
    LargePopulations(), HalfDomainCounts(), ConjunctiveCounts(), InformationLoss()
)

__all__ = ["WORKLOADS", "ConjunctiveCounts", "HalfDomainCounts", "InformationLoss", "LargePopulations", "Workload"]
