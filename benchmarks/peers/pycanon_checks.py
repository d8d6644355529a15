"""pycanon's checks of a raw table; prints the seconds and the value of each as a line."""

import sys
import time

import pandas as pd
from pycanon import anonymity

path, rows, sensitive, *quasi = sys.argv[1:]
frame = pd.read_csv(path).head(int(rows))[[*quasi, sensitive]].copy()
checks = {
    "k": lambda: anonymity.k_anonymity(frame, quasi),
    "alpha_k": lambda: anonymity.alpha_k_anonymity(frame, quasi, [sensitive]),
    "l": lambda: anonymity.l_diversity(frame, quasi, [sensitive]),
    "entropy_l": lambda: anonymity.entropy_l_diversity(frame, quasi, [sensitive]),
    "recursive_l": lambda: anonymity.recursive_c_l_diversity(frame, quasi, [sensitive]),
    "basic_beta": lambda: anonymity.basic_beta_likeness(frame, quasi, [sensitive]),
    "enhanced_beta": lambda: anonymity.enhanced_beta_likeness(frame, quasi, [sensitive]),
    "t": lambda: anonymity.t_closeness(frame, quasi, [sensitive]),
    "delta": lambda: anonymity.delta_disclosure(frame, quasi, [sensitive]),
}
for name, check in checks.items():
    started = time.perf_counter()
    value = check()
    print(name, time.perf_counter() - started, value, flush=True)
