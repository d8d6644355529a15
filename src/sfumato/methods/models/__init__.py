"""Differentially private methods that fit a model to noisy tables and sample rows from it."""
