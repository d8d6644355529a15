"""Collect numbers that got noise on people's own devices.

Ages, incomes, counts: plan a survey, collect noisy reports, estimate how the true answers are distributed.
"""

EXAMPLE = "sfumato local serve age.toml --database reports.db"
