"""Random numbers for experiments, in streams that are told apart by what they are for, whatever their seeds.

The same small seeds are given to data, folds, queries and noise. A stream is made of its seed and the name of its use,
so no two uses share numbers, and none shares them with data made by `numpy.random.default_rng(seed)`, as samples are.
"""

import numpy as np


def stream(use: str, seed: int) -> np.random.Generator:
    """The random numbers of a use, the same for the same seed."""
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=tuple(use.encode())))
