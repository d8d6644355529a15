"""A made-up hospital: any number of visits, drawn from a seed, about two and a half of each patient.

Households live in one place; a patient has a main disease, to which most visits belong. Each column is drawn given the
earlier ones: age, sex, date, diagnosis, department, stay, outcome. The tables hold relative chances of the kind that
everybody knows; nobody in the hospital exists. `hospital.toml` beside this module is its schema.
"""

from pathlib import Path

import numpy as np
import polars as pl

from sfumato.samples.chances import EVERY_AGE, Codes, Flags, Floats, Rng, chances_by_age, columns, draw, label, where

SCHEMA_PATH = Path(__file__).with_name("hospital.toml")

HOUSEHOLDS_AT_ONCE = 1 << 13
FIRST_DAY = np.datetime64("2023-01-01")
DAYS = 731
SEXES = ("Female", "Male")
WOMAN, MAN = range(2)
HOUSEHOLD_SIZES = (0.38, 0.30, 0.14, 0.12, 0.06)
MORE_VISITS = 1.5
MAIN_DISEASE = 0.55
EMERGENCY = 0.12
WEEKDAYS = np.array([1.25, 1.1, 1.05, 1.05, 1.0, 0.6, 0.5])
MISSING = {"postal_code": 0.008, "insurance": 0.02, "stay": 0.005, "outcome": 0.01}

# households; codes with these first two digits; above 0: older people; above 0: better off
REGIONS = {
    "04": (9, 30, -0.2, -0.2), "10": (24, 60, -0.5, 0.3), "12": (14, 40, -0.2, -0.3), "13": (10, 35, 0.1, 0.1),
    "15": (5, 25, 0.4, -0.1), "16": (6, 40, 0.3, -0.2), "17": (3, 50, 0.5, -0.3), "20": (8, 25, 0.0, 0.4),
    "21": (5, 30, 0.2, 0.2), "39": (2, 20, 0.6, -0.4),
}  # fmt: skip

# the commoner department; days in it; deaths in a thousand; above 0: in winter; women; men; chances at the ages below
AGES = (0, 1, 11, 14, 18, 30, 42, 52, 65, 80, 99)
DISEASES = {
    "A09": ("Internal medicine", 1.5, 0.5, 0.2, 1, 1, 6, 9, 3, 2, 3, 3, 2, 2, 3, 4, 6),
    "B34.9": ("Paediatrics", 0.5, 0, 0.8, 1, 1, 14, 16, 8, 5, 3, 3, 2, 1, 1, 1, 1),
    "C18.9": ("Surgery", 9, 25, 0, 0.8, 1, 0, 0, 0, 0, 0, 0.1, 0.7, 2, 6, 9, 6),
    "C34.9": ("Internal medicine", 8, 45, 0, 0.7, 1, 0, 0, 0, 0, 0, 0, 0.6, 3, 7, 7, 3),
    "C50.9": ("Gynaecology", 5, 8, 0, 1, 0.01, 0, 0, 0, 0, 0, 1, 6, 10, 11, 8, 5),
    "C56": ("Gynaecology", 8, 20, 0, 1, 0, 0, 0, 0, 0, 0.1, 0.3, 1, 2, 3, 2, 1),
    "C61": ("Urology", 5, 8, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0.4, 5, 14, 12, 6),
    "D50.9": ("Internal medicine", 2, 1, 0, 1, 0.5, 1, 2, 2, 2, 3, 4, 4, 3, 3, 4, 5),
    "E10.9": ("Internal medicine", 3, 1, 0, 1, 1, 0.1, 1, 3, 4, 3, 2, 2, 1, 1, 1, 0.3),
    "E11.9": ("Internal medicine", 3, 3, 0, 0.9, 1, 0, 0, 0.1, 0.2, 0.5, 2, 7, 13, 19, 18, 9),
    "E66.9": ("Internal medicine", 1, 0.5, 0, 1, 0.8, 0, 0.5, 2, 3, 3, 5, 6, 6, 4, 1, 0.2),
    "F10.2": ("Psychiatry", 6, 4, 0.1, 0.4, 1, 0, 0, 0, 0.4, 4, 7, 9, 9, 5, 2, 0.5),
    "F20.0": ("Psychiatry", 21, 1, 0, 0.8, 1, 0, 0, 0, 0.2, 3, 5, 4, 3, 1.5, 0.5, 0.2),
    "F32.1": ("Psychiatry", 14, 1, 0.2, 1, 0.55, 0, 0, 0.5, 4, 8, 9, 9, 9, 6, 4, 3),
    "F41.1": ("Psychiatry", 5, 0, 0.1, 1, 0.5, 0, 0, 1, 4, 8, 9, 8, 6, 3, 2, 1),
    "G40.9": ("Neurology", 3, 2, 0, 1, 1, 1, 3, 4, 4, 3, 3, 3, 3, 3, 4, 4),
    "G43.9": ("Neurology", 0.7, 0, 0, 1, 0.35, 0, 0.3, 3, 5, 7, 9, 9, 6, 2, 0.7, 0.2),
    "H25.9": ("Ophthalmology", 0.3, 0, 0, 1, 0.9, 0, 0, 0, 0, 0, 0.1, 0.6, 3, 11, 22, 20),
    "H66.9": ("Paediatrics", 0.3, 0, 0.6, 1, 1, 8, 16, 7, 3, 1, 1, 0.7, 0.5, 0.4, 0.3, 0.3),
    "I10": ("Internal medicine", 1, 0.7, 0.1, 1, 1, 0, 0, 0.1, 0.2, 1, 4, 11, 20, 28, 29, 20),
    "I21.9": ("Cardiology", 6, 60, 0.3, 0.45, 1, 0, 0, 0, 0, 0.1, 0.6, 3, 7, 11, 14, 13),
    "I48.9": ("Cardiology", 3, 8, 0.1, 0.8, 1, 0, 0, 0, 0, 0.2, 0.5, 1.5, 4, 12, 22, 22),
    "I50.9": ("Cardiology", 8, 60, 0.3, 0.9, 1, 0.2, 0.1, 0, 0, 0.1, 0.3, 1, 3, 10, 26, 40),
    "I63.9": ("Neurology", 10, 50, 0.1, 0.9, 1, 0.1, 0, 0, 0, 0.1, 0.4, 1.5, 4, 10, 19, 21),
    "J06.9": ("Internal medicine", 0.2, 0, 1, 1, 1, 16, 20, 11, 8, 7, 6, 5, 4, 3, 2, 2),
    "J18.9": ("Internal medicine", 6, 45, 0.8, 0.9, 1, 5, 6, 2, 1.5, 1.5, 2, 3, 4, 8, 17, 30),
    "J44.9": ("Internal medicine", 6, 25, 0.6, 0.8, 1, 0, 0, 0, 0, 0, 0.3, 2, 6, 14, 16, 8),
    "J45.0": ("Paediatrics", 1, 0.2, 0.3, 0.8, 1, 1, 7, 9, 6, 4, 3, 2, 1.5, 1, 0.5, 0.3),
    "J45.9": ("Internal medicine", 1.5, 1, 0.3, 1, 0.7, 0.3, 3, 4, 4, 4, 4, 4, 4, 4, 3, 2),
    "K35.8": ("Surgery", 3, 1, 0, 0.9, 1, 0.1, 2, 12, 12, 10, 6, 4, 3, 2, 1.5, 1),
    "K40.9": ("Surgery", 1, 0.5, 0, 0.12, 1, 5, 3, 1, 0.7, 1, 2, 4, 6, 9, 9, 6),
    "K80.2": ("Surgery", 3, 2, 0, 1, 0.5, 0, 0, 0.2, 0.7, 3, 6, 8, 9, 10, 9, 7),
    "M16.9": ("Orthopaedics", 8, 2, 0, 1, 0.8, 0, 0, 0, 0, 0, 0.3, 1.5, 5, 13, 15, 7),
    "M54.5": ("Orthopaedics", 1, 0, 0, 1, 1, 0, 0, 0.5, 2, 7, 13, 16, 16, 12, 9, 6),
    "N20.0": ("Urology", 2, 0.5, -0.3, 0.5, 1, 0, 0.1, 0.3, 0.6, 3, 6, 7, 7, 6, 3, 1.5),
    "N39.0": ("Urology", 3, 4, 0, 1, 0.35, 3, 4, 2, 3, 6, 5, 4, 4, 6, 11, 19),
    "N40": ("Urology", 3, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0.7, 5, 16, 22, 14),
    "N80.9": ("Gynaecology", 2, 0, 0, 1, 0, 0, 0, 0, 0.3, 4, 9, 8, 1, 0, 0, 0),
    "O14.9": ("Obstetrics", 5, 0.5, 0, 1, 0, 0, 0, 0, 0.1, 2, 5, 1.5, 0, 0, 0, 0),
    "O80": ("Obstetrics", 2.5, 0.1, 0, 1, 0, 0, 0, 0, 0.2, 12, 55, 9, 0, 0, 0, 0),
    "P07.3": ("Paediatrics", 18, 8, 0, 1, 1.1, 30, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0),
    "S06.0": ("Surgery", 1, 1, 0, 0.7, 1, 4, 7, 8, 9, 8, 5, 4, 4, 4, 7, 11),
    "S52.5": ("Orthopaedics", 1, 0.3, 0.2, 1, 0.8, 0.3, 4, 13, 10, 4, 3, 3, 4, 6, 8, 8),
    "S72.0": ("Orthopaedics", 10, 30, 0.2, 1, 0.5, 0, 0.1, 0.1, 0.1, 0.1, 0.2, 0.4, 1, 4, 16, 42),
}
DEPARTMENTS = (*sorted({disease[0] for disease in DISEASES.values()}), "Emergency")
INSURANCES = ("Public", "Supplementary", "Private", "None")
OUTCOMES = ("Discharged home", "Rehabilitation", "Nursing home", "Transferred", "Left on own wish", "Died")


def visits(rows: int = 5_000, *, seed: int = 1) -> pl.DataFrame:
    """Draw the hospital's visits, patient by patient; the same rows and seed give the same frame.

    >>> sf.visits(100).columns[:4]
    ['patient', 'household', 'visit', 'age']
    """
    if rows < 0:
        raise ValueError(f"rows must be 0 or more, got {rows}")
    rng = np.random.default_rng(seed)
    blocks = [_block(rng, 0, 0, min(rows + 1, HOUSEHOLDS_AT_ONCE))]
    while sum(map(len, blocks)) < rows:
        patients, households = (int(blocks[-1][name].max()) for name in ("patient", "household"))  # type: ignore[arg-type]
        blocks.append(_block(rng, patients, households, HOUSEHOLDS_AT_ONCE))
    numbered = (
        (prefix + pl.col(name).cast(pl.String).str.zfill(7)).alias(name)
        for name, prefix in (("patient", pl.lit("P")), ("household", pl.lit("H")))
    )
    return pl.concat(blocks, rechunk=True).head(rows).with_columns(*numbered)


def _block(rng: Rng, patients: int, households: int, count: int) -> pl.DataFrame:
    """The visits of all members of so many households, whose numbers and those of patients begin after these."""
    home, age, sex, region = _members(rng, count)
    frailty = np.interp(age, (0, 2, 20, 60, 85), (1.6, 0.7, 0.7, 1.2, 2.0))
    many = 1 + rng.poisson(MORE_VISITS * frailty / frailty.mean())
    of = np.repeat(np.arange(len(age)), many)
    day = rng.choice(DAYS, len(of), p=_busy_days())
    day = day[np.lexsort((day, of))]
    code = _diseases(rng, age[of], sex[of], day, of)
    wealth = columns(REGIONS)[3][region]
    department = np.array([DEPARTMENTS.index(disease[0]) for disease in DISEASES.values()])[code]
    urgent = rng.random(len(of)) < EMERGENCY + 0.3 * (_facts(2)[code] > 20)
    department = np.where(urgent & (rng.random(len(of)) < 0.5), len(DEPARTMENTS) - 1, department)
    stay = _stays(rng, code, age[of])
    insurance = _insurances(rng, age, wealth)[of]
    outcome = _outcomes(rng, code, age[of], stay, np.diff(of, append=-1) != 0)
    weight = np.round(rng.lognormal(0, 0.25, len(of)) * np.exp(0.4 * wealth[of]) * 12, 2)
    postal = pl.Series(_postal_codes(rng, region, count, home)).gather(of)
    frame = pl.DataFrame(
        {
            "patient": of + patients + 1,
            "household": home[of] + households + 1,
            "visit": FIRST_DAY + day,
            "age": np.minimum(age[of], EVERY_AGE[-1]).astype(np.int32),
            "sex": label(sex[of], SEXES),
            "postal_code": postal,
            "insurance": label(insurance, INSURANCES),
            "department": label(department, DEPARTMENTS),
            "urgent": pl.Series(np.where(urgent, "yes", "no")),
            "stay": stay.astype(np.int32),
            "diagnosis": label(code, DISEASES),
            "outcome": label(outcome, OUTCOMES),
            "weight": weight,
        }
    )
    return frame.with_columns(
        pl.when(pl.Series(rng.random(len(of)) >= share)).then(pl.col(name)).alias(name)
        for name, share in MISSING.items()
    )


def _members(rng: Rng, count: int) -> tuple[Codes, Codes, Codes, Codes]:
    """The household, age, sex and region of everybody in so many households: one or two adults, and children."""
    weights, _, aged, _ = columns(REGIONS)
    region = rng.choice(len(REGIONS), count, p=weights / weights.sum())
    size = 1 + rng.choice(len(HOUSEHOLD_SIZES), count, p=HOUSEHOLD_SIZES)
    oldest = np.clip(rng.normal(np.where(size > 2, 41, 58) + 6 * aged[region], np.where(size > 2, 9, 19)), 19, 102)
    home = np.repeat(np.arange(count), size)
    place = np.arange(len(home)) - np.repeat(np.cumsum(size) - size, size)
    child = place > 1
    apart = np.where(child, rng.normal(30, 5, len(home)), rng.normal(1, 4, len(home)) * (place == 1))
    age = np.clip(oldest[home] - apart, np.where(child, 0, 18), 102).astype(np.int64)
    first = rng.integers(0, 2, count)
    together = np.where((place == 1) & (rng.random(len(home)) < 0.95), 1 - first[home], rng.integers(0, 2, len(home)))
    return home, age, np.where(place == 0, first[home], together), region[home]


def _postal_codes(rng: Rng, region: Codes, count: int, home: Codes) -> list[str]:
    """The code of everybody's home: the first ones of a region are the commonest, spread over its hundreds."""
    _, codes, *_ = columns(REGIONS)
    chosen = (rng.random(count)[home] ** 1.6 * codes[region]).astype(np.int64)
    prefix = np.array(list(REGIONS))[region]
    return [f"{start}{number * 37 % 1000:03d}" for start, number in zip(prefix, chosen, strict=True)]


def _busy_days() -> Floats:
    weekday = (np.arange(DAYS) + 6) % 7  # the first day is a Sunday
    return np.asarray(WEEKDAYS[weekday] / WEEKDAYS[weekday].sum())


def _facts(place: int) -> Floats:
    """One of the numbers that is known of each disease."""
    return np.array([disease[place] for disease in DISEASES.values()], dtype=np.float64)


def _diseases(rng: Rng, age: Codes, sex: Codes, day: Codes, of: Codes) -> Codes:
    """What each visit is for: the patient's main disease, or what is common at the age and in the season."""
    chances = chances_by_age(AGES, [_facts(place) for place in range(6, 6 + len(AGES))])
    winter = np.cos(2 * np.pi * (day - 15) / 365.25)
    season = np.exp(np.outer(winter, _facts(3)))
    known = np.minimum(age, EVERY_AGE[-1])
    code = draw(rng, chances[known], where(sex == WOMAN, _facts(4)), where(sex == MAN, _facts(5)), season)
    first = np.unique(of, return_index=True)[1]
    main = code[first][np.cumsum(np.diff(of, prepend=of[:1]) > 0)]
    return np.where(rng.random(len(of)) < MAIN_DISEASE, main, code)


def _stays(rng: Rng, code: Codes, age: Codes) -> Codes:
    """Days in hospital: many none, a few very many."""
    usual = _facts(1)[code] * np.interp(age, (0, 20, 60, 90), (1.1, 0.8, 1, 1.6))
    long = np.where(rng.random(len(code)) < 0.01, 4, 1)
    return np.floor(usual * long * rng.lognormal(-0.2, 0.75, len(code))).clip(0, 365).astype(np.int64)


def _insurances(rng: Rng, age: Codes, wealth: Floats) -> Codes:
    chances = np.tile([70.0, 14.0, 11.0, 4.0], (len(age), 1))
    chances[:, 1:3] *= np.exp(1.2 * wealth)[:, None]
    chances[:, 3] *= np.where((age > 17) & (age < 65), 1.5, 0.2)
    return draw(rng, chances)


def _outcomes(rng: Rng, code: Codes, age: Codes, stay: Codes, last: Flags) -> Codes:
    """What became of the patient; who died does not come again."""
    old = np.interp(age, (0, 50, 70, 95), (0.2, 0.5, 1.5, 6))
    chances = np.ones((len(code), len(OUTCOMES)))
    chances[:, 0] = 900
    chances[:, 1] = 6 * stay
    chances[:, 2] = 4 * old * (age > 60) * np.minimum(stay, 15)
    chances[:, 3] = 20
    chances[:, 4] = 12
    chances[:, 5] = _facts(2)[code] * old * last * (1 + MORE_VISITS)
    return draw(rng, chances)
