"""AIM of OpenDP on columns of codes: processor seconds for fitting and generating; the rows go to a file.

Without δ it is given ε, otherwise the ρ that implies (ε, δ), which is how it is charged then.
"""

import json
import sys
import time

import opendp.prelude as dp
import polars as pl

_, epsilon, delta, path, domain, out = sys.argv[1:]
codes = pl.read_csv(path)
sizes = json.loads(domain)
dp.enable_features("contrib")

started = time.process_time()
amount = float(epsilon)
loss = dp.loss_of(rho=amount) if float(delta) else dp.loss_of(epsilon=amount)
context = dp.Context.compositor(
    data=codes.lazy(), privacy_unit=dp.unit_of(contributions=1), privacy_loss=loss, split_evenly_over=1
)
keys = {name: list(range(size)) for name, size in sizes.items()}
table = context.query().contingency_table(keys=keys, algorithm=dp.mbi.AIM()).release()
made = table.synthesize(rows=codes.height)
seconds = time.process_time() - started
made.select(pl.col(list(sizes)).fill_null(0)).write_csv(out)
print(seconds)
