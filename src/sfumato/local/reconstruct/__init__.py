"""The distribution of people's values from their noisy reports: solvers, how far they got, and intervals."""
