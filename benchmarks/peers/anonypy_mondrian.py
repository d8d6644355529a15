"""anonypy's Mondrian, from data frame to partition; prints the seconds it took."""

import sys
import time

import anonypy
import pandas as pd

path, rows, sensitive, *quasi = sys.argv[1:]
frame = pd.read_csv(path).head(int(rows))[[*quasi, sensitive]].copy()
for name in (*quasi, sensitive):
    if frame[name].dtype == object:
        frame[name] = frame[name].astype("category")
started = time.perf_counter()
partitions = anonypy.mondrian.Mondrian(frame, quasi, sensitive).partition(10)
print(time.perf_counter() - started, len(partitions))
