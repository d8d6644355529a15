"""Trials of every method, the efficient ones among them, and the one to recommend."""
