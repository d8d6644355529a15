"""Measures: what an adversary learns and what a recipient can still do, one protocol for tables and flows."""
