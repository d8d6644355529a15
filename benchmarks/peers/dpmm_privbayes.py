"""PrivBayes of dpmm, degree 2, ε = 1: seconds for fitting and generating; the rows go to a file."""

import sys
import time

import pandas as pd
from dpmm.models.priv_bayes import PrivBayesGM

path, rows, out, *columns = sys.argv[1:]
frame = pd.read_csv(path).head(int(rows))[columns]
values = {name: sorted(frame[name].unique()) for name in columns}
codes = pd.DataFrame({name: frame[name].map({value: i for i, value in enumerate(values[name])}) for name in columns})
domain = {name: len(values[name]) for name in columns}

started = time.perf_counter()
model = PrivBayesGM(epsilon=1.0, delta=1e-9, degree=2, domain=domain)
model.fit(codes)
found = model.generate(n_records=len(codes))
seconds = time.perf_counter() - started
found = found if isinstance(found, pd.DataFrame) else pd.DataFrame(found, columns=columns)
pd.DataFrame({name: [values[name][int(code)] for code in found[name]] for name in columns}).to_csv(out, index=False)
print(seconds)
