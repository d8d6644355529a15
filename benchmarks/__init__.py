"""Benchmarks against peers and targets; run them with `make bench`."""
