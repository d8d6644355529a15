"""A made-up region: places in towns and districts, and people who commute between them, drawn from a seed.

Homes are dense near town centres, workplaces denser still, and few travel far. Nobody in it exists.
"""

import numpy as np
import polars as pl

TOWNS = {
    "Ashford": (0.0, 0.0, 9.0),
    "Brookvale": (14.0, 5.0, 4.0),
    "Cliffend": (-9.0, 12.0, 3.0),
    "Dunmore": (6.0, -15.0, 3.0),
    "Eastwick": (24.0, -6.0, 2.0),
    "Fernhill": (-18.0, -8.0, 1.5),
}
"""Where each town lies, in kilometres east and north of the first, and how large it is."""
LATITUDE, LONGITUDE = 52.0, -1.5
KILOMETRES_PER_DEGREE = 111.2
SPREAD = 2.6
"""Kilometres around a town's centre within which most of its places lie."""
TYPICAL = 6.0
"""Kilometres by which the chance of a commute falls to about a third."""


def commuters(
    places: int = 600, people: int = 12_000, destinations: int = 150, seed: int = 1
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The places, with coordinates, district and town, and the people by destination and origin.

    >>> places, flows = sf.commute.commuters(places=40, people=400, destinations=10)
    >>> int(flows["count"].sum())
    400
    """
    random = np.random.default_rng(seed)
    names, sizes = list(TOWNS), np.array([size for _, _, size in TOWNS.values()])
    town = np.sort(random.choice(len(names), places, p=sizes / sizes.sum()))
    offset = random.normal(0, SPREAD, (places, 2))
    at = np.array([(east, north) for east, north, _ in TOWNS.values()])[town] + offset
    district = (offset[:, 0] > 0).astype(int) * 2 + (offset[:, 1] > 0)
    ids = [f"P{number:04d}" for number in range(places)]
    frame = pl.DataFrame(
        {
            "id": ids,
            "district": [f"{names[t]} {('SW', 'NW', 'SE', 'NE')[d]}" for t, d in zip(town, district, strict=True)],
            "town": [names[t] for t in town],
            "latitude": (LATITUDE + at[:, 1] / KILOMETRES_PER_DEGREE).round(5),
            "longitude": (LONGITUDE + at[:, 0] / (KILOMETRES_PER_DEGREE * np.cos(np.radians(LATITUDE)))).round(5),
        }
    )
    central = np.exp(-np.linalg.norm(offset, axis=1) / 2)
    work = random.choice(places, destinations, replace=False, p=central / central.sum())
    share = random.pareto(1.1, destinations) + 0.05
    workers = random.multinomial(people - destinations, share / share.sum()) + 1
    rows = []
    for place, count in zip(work, workers, strict=True):
        chances = np.exp(-np.linalg.norm(at - at[place], axis=1) / TYPICAL)
        homes = random.multinomial(count, chances / chances.sum())
        rows += [(ids[place], ids[home], int(homes[home])) for home in np.flatnonzero(homes)]
    return frame, pl.DataFrame(rows, schema=["destination", "origin", "count"], orient="row")
