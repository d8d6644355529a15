"""Measures of one setting tried with several seeds: their mean, and Student's interval for it."""

import math
from collections.abc import Mapping, Sequence

import numpy as np
from scipy.special import stdtrit

from sfumato.measures.measurement import Measurement

CONFIDENCE = 0.95
Interval = tuple[float, float]
NO_MARGINS: Mapping[str, Interval] = {}


def summarize(runs: Sequence[Mapping[str, Measurement]]) -> tuple[dict[str, float], dict[str, Interval]]:
    """The mean of every measure over measured runs, and intervals."""
    return summarize_values([{name: found.value for name, found in run.items()} for run in runs])


def summarize_values(
    runs: Sequence[Mapping[str, float]], margins: Mapping[str, Interval] = NO_MARGINS
) -> tuple[dict[str, float], dict[str, Interval]]:
    """The mean of every measure over the runs and, where there are several or it was a sample's, an interval for it.

    `margins` are how far below and above the value of one run that of the whole may be. The errors of a sample and of
    few runs have nothing to do with each other, so their squares add up; that of the sample is the same in all runs.
    """
    values = {name: [run[name] for run in runs] for name in runs[0] if all(name in run for run in runs)}
    means = {name: float(np.mean(several)) for name, several in values.items()}
    intervals = {name: student_interval(several) for name, several in values.items()} if len(runs) > 1 else {}
    for name in margins.keys() & means.keys():
        low, high = intervals.get(name, (means[name], means[name]))
        below, above = margins[name]
        mean = means[name]
        intervals[name] = mean - math.hypot(mean - low, below), mean + math.hypot(high - mean, above)
    return means, intervals


def student_interval(values: Sequence[float]) -> Interval:
    """Student's interval for the mean: mean ± t(n - 1) · s / √n."""
    if not np.isfinite(values).all():
        return math.nan, math.nan
    mean, count = float(np.mean(values)), len(values)
    half = float(np.std(values, ddof=1) / math.sqrt(count) * stdtrit(count - 1, (1 + CONFIDENCE) / 2))
    return mean - half, mean + half
