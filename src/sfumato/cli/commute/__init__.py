"""Publish, evaluate and map flows of people between places.

Commuting, migration, patient flows, trips: origin–destination data, with or without counts.
"""

EXAMPLE = "sfumato commute synthesize flows.csv --places places.csv --name town --epsilon 4.6 -o release"
