"""The distribution of people's values from their noisy reports: solvers, how far they got, and intervals."""

from sfumato.local.reconstruct.em import em
from sfumato.local.reconstruct.estimate import Estimate, check_counts, estimate
from sfumato.local.reconstruct.filling import filling
from sfumato.local.reconstruct.intervals import Intervals
from sfumato.local.reconstruct.inversion import inversion, is_distribution
from sfumato.local.reconstruct.likelihood import likelihood
from sfumato.local.reconstruct.newton import newton
from sfumato.local.reconstruct.smooth import smooth
from sfumato.local.reconstruct.solution import Solution
from sfumato.local.reconstruct.squarem import squarem
from sfumato.local.reconstruct.update import certified_gap, log_likelihood, update

__all__ = [
    "Estimate", "Intervals", "Solution", "certified_gap", "check_counts", "em", "estimate", "filling", "inversion",
    "is_distribution", "likelihood", "log_likelihood", "newton", "smooth", "squarem", "update",
]
