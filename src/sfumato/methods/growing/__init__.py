"""How Mondrian and the private trees grow, level by level: scan the points, decide on cuts, grow regions.

`points` holds what is scanned, `scan` and `sweep` score the cuts of every region, the methods decide (by requirements,
or by a private choice), and `regions` grows by the cuts decided on.
"""
