"""Publish, evaluate and map flows of people between places.

Commuting, migration, patient flows, trips: origin–destination data, with or without counts.
"""
