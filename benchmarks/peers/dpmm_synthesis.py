"""AIM or MST of dpmm on columns of codes: processor seconds for fitting and generating; the rows go to a file."""

import json
import sys
import time

import pandas as pd
from dpmm.models.aim import AIMGM
from dpmm.models.mst import MSTGM

kind, epsilon, delta, path, domain, out = sys.argv[1:]
codes = pd.read_csv(path)
sizes = json.loads(domain)

started = time.process_time()
model = {"aim": AIMGM, "mst": MSTGM}[kind](epsilon=float(epsilon), delta=float(delta), domain=sizes)
model.fit(codes)
found = model.generate(n_records=len(codes))
seconds = time.process_time() - started
found = found if isinstance(found, pd.DataFrame) else pd.DataFrame(found, columns=list(sizes))
found[list(sizes)].to_csv(out, index=False)
print(seconds)
