"""A made-up town: any number of residents, drawn from a seed, with the dependences real registers have.

Each column is drawn given the earlier ones: age, sex, district, education, marital status, occupation, hours,
income, condition. The tables hold relative chances; those of a person are the product of all that apply.
Nobody in the town exists. `town.toml` beside this module is its schema.
"""

from pathlib import Path

import numpy as np
import polars as pl

from sfumato.samples.chances import EVERY_AGE, Codes, Flags, Floats, Rng, chances_by_age, columns, draw, label, where

SCHEMA_PATH = Path(__file__).with_name("town.toml")

ROWS_AT_ONCE = 1 << 16
WEEKS_A_YEAR = 50
SMALL_WAGE = 13.0
MAX_HOURS = 80
MAX_INCOME = 500_000
MISSING_EDUCATION = 0.01

SEXES = ("Female", "Male")
WOMAN, MAN = range(2)

# above 0: longer educations; above 0: older residents; sizes of the districts
QUARTERS: dict[str, tuple[float, float, dict[str, int]]] = {
    "Old Town": (0.3, 0.5, {"Cathedral": 3, "Market Square": 4, "Castle Gate": 3, "Guildhall": 2}),
    "University": (1.2, -0.8, {"Observatory": 4, "Botanic Garden": 5, "Printers Row": 5, "Library Hill": 4}),
    "Harbour": (-0.5, -0.2, {"Docklands": 5, "Fish Quay": 3, "Ropewalk": 4, "Lighthouse": 2, "Shipyard": 6}),
    "Hillside": (0.8, 0.3, {"Vineyard": 5, "Belvedere": 3, "Orchard": 7, "Windmill": 6, "Reservoir": 4}),
    "East End": (-0.8, 0, {"Depot": 6, "Foundry": 5, "Brickworks": 8, "Canal": 6, "Mill": 7, "Gasworks": 4}),
}
DISTRICTS = {name: (learned, aged, size) for learned, aged, sizes in QUARTERS.values() for name, size in sizes.items()}

# effect on pay; women relative to men; chances at the ages below
EDUCATION_AGES = (20, 35, 50, 65, 80, 95)
EDUCATIONS = {
    "Less than primary": (0.80, 1.0, 0.5, 0.6, 0.8, 1.5, 4, 8),
    "Primary": (0.85, 1.0, 1, 2, 3, 6, 14, 24),
    "Lower secondary": (0.92, 0.9, 8, 8, 10, 14, 20, 22),
    "Vocational": (1.00, 0.8, 22, 22, 27, 30, 26, 20),
    "High school": (1.00, 1.1, 22, 19, 20, 20, 16, 13),
    "Associate": (1.05, 1.1, 9, 9, 9, 8, 6, 4),
    "Bachelor": (1.15, 1.2, 22, 21, 17, 11, 7, 5),
    "Master": (1.25, 1.05, 14, 16, 11, 7, 5, 3),
    "Doctorate": (1.40, 0.8, 1.5, 2.2, 1.8, 1.3, 0.9, 0.6),
}
GRADUATION_AGE = np.array([0, 12, 15, 18, 18, 20, 21, 23, 27])
HELD_UNTIL_THEN = np.array([0, 0, 1, 2, 2, 4, 4, 6, 7])
TIER = np.array([0, 0, 0, 1, 1, 2, 2, 3, 4])  # basic, secondary, undergraduate, master's, doctor's

# men relative to women; chances at the ages below
MARITAL_AGES = (18, 25, 35, 45, 60, 75, 95)
MARITAL_STATUSES = {
    "Never married": (1.1, 100, 82, 40, 24, 12, 6, 5),
    "Married": (1, 0, 14, 48, 55, 60, 52, 20),
    "Registered partner": (1, 0, 2, 4, 4, 2, 1, 0.3),
    "Separated": (1, 0, 0.5, 2.5, 3.5, 3, 1.5, 0.5),
    "Divorced": (0.85, 0, 0.5, 6, 13, 18, 12, 6),
    "Widowed": (0.35, 0, 0, 0.3, 1, 6, 28, 70),
}
MARRIED = list(MARITAL_STATUSES).index("Married")

# allowance per year; share with a few hours' work; women relative to men; the married relative to others;
# people with a basic education relative to others; chances at the ages below
ACTIVITY_AGES = (16, 20, 30, 45, 58, 64, 68, 75, 99)
ACTIVITIES = {
    "Child": (0, 0, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0),
    "Student": (3_500, 0.3, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0),
    "Homemaker": (2_500, 0.05, 5, 2, 1.5, 0.3, 1, 2, 2, 2, 1.5, 1, 0.5, 0.3),
    "Unemployed": (10_500, 0, 0.9, 0.8, 2, 15, 11, 6, 5, 6, 4, 0, 0, 0),
    "Retired": (19_000, 0.07, 1.1, 1, 1.2, 0, 0, 0.5, 2, 12, 50, 80, 95, 100),
    "At work": (0, 0, 1, 1, 1, 60, 75, 84, 86, 78, 48, 12, 3, 0),
}

# wage per hour; hours per week; women relative to men; chances in each tier of education
JOBS = {
    "Physician": (52, 48, 1.0, 0, 0, 0, 9, 24),
    "Nurse": (24, 37, 6.0, 0, 3, 10, 3, 0),
    "Care worker": (14, 34, 5.0, 8, 7, 2, 0.3, 0),
    "Teacher": (25, 38, 2.5, 0, 0.5, 11, 16, 9),
    "Scientist": (30, 42, 0.8, 0, 0, 1, 6, 40),
    "Lawyer": (42, 46, 0.9, 0, 0, 1, 9, 5),
    "Engineer": (34, 41, 0.25, 0, 1, 9, 14, 12),
    "Programmer": (35, 41, 0.3, 0.2, 1.5, 8, 9, 4),
    "Manager": (40, 45, 0.6, 1, 4, 10, 13, 6),
    "Clerk": (19, 37, 2.5, 4, 13, 12, 4, 0.5),
    "Shop assistant": (14, 34, 1.8, 12, 11, 5, 1, 0),
    "Cook": (14, 39, 0.8, 8, 5, 1.5, 0.2, 0),
    "Hairdresser": (13, 35, 5.0, 2, 2, 0.4, 0, 0),
    "Cleaner": (12, 31, 4.0, 12, 3, 0.6, 0.1, 0),
    "Electrician": (22, 41, 0.04, 3, 8, 1.5, 0.1, 0),
    "Builder": (18, 42, 0.04, 13, 8, 1, 0.1, 0),
    "Driver": (17, 44, 0.1, 11, 7, 1.5, 0.2, 0),
    "Factory worker": (17, 40, 0.5, 15, 9, 1.5, 0.2, 0),
    "Farmer": (13, 52, 0.4, 2, 1.5, 0.7, 0.3, 0.1),
}
CHILD, STUDENT, *_, AT_WORK = range(len(ACTIVITIES))
OCCUPATIONS = (*list(ACTIVITIES)[:AT_WORK], *JOBS)

# men relative to women; the poorest relative to the well-off; chances at the ages below
CONDITION_AGES = (0, 15, 30, 45, 60, 75, 90)
CONDITIONS = {
    "Healthy": (1.0, 1.0, 90, 76, 65, 52, 35, 23, 16),
    "Hypertension": (1.1, 1.2, 0, 0.4, 4, 12, 22, 27, 27),
    "Heart disease": (1.6, 1.3, 0.3, 0.3, 0.6, 2, 6, 13, 21),
    "Diabetes": (1.3, 1.7, 0.1, 0.4, 1.2, 3, 7, 9, 8),
    "Asthma": (0.8, 1.2, 3, 8, 7, 5, 4, 3.5, 3),
    "COPD": (1.3, 2.2, 0, 0, 0.2, 0.9, 2.7, 4.5, 4.5),
    "Arthritis": (0.55, 1.3, 0, 0.3, 1.2, 4, 8, 12, 14),
    "Cancer": (1.0, 1.0, 0.1, 0.1, 0.4, 1.5, 4, 6, 6),
    "Depression": (0.5, 1.6, 0.1, 4, 8, 7, 5, 4, 4),
    "Alcohol dependence": (3.0, 1.8, 0, 0, 1.4, 1.9, 1.6, 0.6, 0.2),
    "Hepatitis C": (2.0, 2.5, 0.01, 0.02, 0.2, 0.35, 0.3, 0.15, 0.05),
    "HIV": (3.5, 1.5, 0.001, 0.01, 0.18, 0.22, 0.12, 0.04, 0.01),
}
POVERTY_LINES = (12_000, 25_000, 45_000)
RAISED_CHANCES: dict[str, dict[str, float]] = {
    "Hypertension": {"Driver": 1.4, "Manager": 1.3},
    "Heart disease": {"Driver": 1.5, "Widowed": 1.2},
    "Asthma": {"Hairdresser": 2, "Cleaner": 1.8, "Foundry": 1.6, "Gasworks": 1.6},
    "COPD": {"Builder": 2, "Factory worker": 2.2, "Foundry": 2, "Gasworks": 2},
    "Arthritis": {"Builder": 2.2, "Farmer": 2.2, "Cleaner": 1.8, "Hairdresser": 1.4},
    "Depression": {"Unemployed": 2.2, "Divorced": 1.6, "Widowed": 1.5, "Care worker": 1.4},
    "Alcohol dependence": {"Unemployed": 2.5, "Cook": 2.2, "Divorced": 1.8, "Docklands": 1.5},
    "Hepatitis C": {"Unemployed": 2.5, "Nurse": 1.6, "Docklands": 2.5},
    "HIV": {"Never married": 2, "Docklands": 2, "Printers Row": 2},
}


def residents(rows: int = 5_000, *, seed: int = 1) -> pl.DataFrame:
    """Draw the town's residents, in no particular order; the same rows and seed give the same frame.

    >>> sf.residents(100).columns[:4]
    ['person_id', 'age', 'sex', 'education']
    """
    if rows < 0:
        raise ValueError(f"rows must be 0 or more, got {rows}")
    rng = np.random.default_rng(seed)
    starts = range(0, max(rows, 1), ROWS_AT_ONCE)
    people = pl.concat([_people(rng, min(ROWS_AT_ONCE, rows - start)) for start in starts], rechunk=True)
    number = pl.int_range(1, rows + 1, eager=True).cast(pl.String).str.zfill(max(7, len(str(rows))))
    return people.insert_column(0, ("P" + number).alias("person_id"))


def _people(rng: Rng, rows: int) -> pl.DataFrame:
    age, sex, district = _origins(rng, rows)
    final, held = _educations(rng, age, sex, district)
    men, *chances = columns(MARITAL_STATUSES)
    marital = draw(rng, chances_by_age(MARITAL_AGES, chances)[age], where(sex == MAN, men))
    occupation = _occupations(rng, age, sex, marital, held, held != final)
    hours = _hours(rng, age, sex, occupation)
    income = _incomes(rng, age, sex, held, occupation, hours)
    condition = _conditions(rng, age, sex, district, marital, occupation, income)
    known = np.where(rng.random(rows) < MISSING_EDUCATION, len(EDUCATIONS), held)
    return pl.DataFrame(
        {
            "age": age.astype(np.int32),
            "sex": label(sex, SEXES),
            "education": label(known, EDUCATIONS),
            "marital_status": label(marital, MARITAL_STATUSES),
            "occupation": label(occupation, OCCUPATIONS),
            "hours": hours.astype(np.int32),
            "district": label(district, DISTRICTS),
            "income": income.astype(np.int32),
            "condition": label(condition, CONDITIONS),
        }
    )


def _origins(rng: Rng, rows: int) -> tuple[Codes, Codes, Codes]:
    pyramid = np.interp(EVERY_AGE, (0, 20, 35, 60, 70, 80, 90, 99), (1, 1.15, 1.35, 1.3, 1, 0.55, 0.14, 0.01))
    age = rng.choice(EVERY_AGE, size=rows, p=pyramid / pyramid.sum())
    share_of_men = np.interp(EVERY_AGE, (0, 50, 70, 95), (0.51, 0.50, 0.47, 0.26))
    sex = (rng.random(rows) < share_of_men[age]).astype(np.int64)
    _, aged, size = columns(DISTRICTS)
    return age, sex, draw(rng, (size * np.exp(np.outer(EVERY_AGE / 40 - 1, aged)))[age])


def _educations(rng: Rng, age: Codes, sex: Codes, district: Codes) -> tuple[Codes, Codes]:
    """The last education a person will have, and the one held today; some lose up to two years on the way."""
    learned, (_, women, *chances) = columns(DISTRICTS)[0], columns(EDUCATIONS)
    by_district = np.exp(np.outer(learned, np.linspace(-1, 1, len(EDUCATIONS))))
    by_age = chances_by_age(EDUCATION_AGES, chances)
    final = draw(rng, by_age[age], by_district[district], where(sex == WOMAN, women))
    age_without_delay = age - rng.integers(0, 3, len(age))
    held = final
    for _ in EDUCATIONS:
        held = np.where(age_without_delay < GRADUATION_AGE[held], HELD_UNTIL_THEN[held], held)
    return final, held


def _occupations(rng: Rng, age: Codes, sex: Codes, marital: Codes, held: Codes, studies: Flags) -> Codes:
    _, _, women, married, basic, *chances = columns(ACTIVITIES)
    factors = where(sex == WOMAN, women), where(marital == MARRIED, married), where(TIER[held] == 0, basic)
    activity = draw(rng, chances_by_age(ACTIVITY_AGES, chances)[age], *factors)
    activity = np.where(age < 16, CHILD, np.where(studies, STUDENT, activity))
    _, _, women, *by_tier = columns(JOBS)
    job = draw(rng, np.array(by_tier)[TIER[held]], where(sex == WOMAN, women))
    return np.where(activity == AT_WORK, AT_WORK + job, activity)


def _hours(rng: Rng, age: Codes, sex: Codes, occupation: Codes) -> Codes:
    """Full or part time, half of it told in round fives, and the few hours of some people not at work."""
    rows, at_work = len(age), occupation >= AT_WORK
    usual = columns(JOBS)[1][np.where(at_work, occupation - AT_WORK, 0)]
    part_time = rng.random(rows) < np.where(sex == WOMAN, 0.32, 0.08) + 0.4 * (age > 62)
    hours = np.where(part_time, usual * rng.uniform(0.3, 0.75, rows), usual * rng.lognormal(0, 0.12, rows))
    hours = np.where(rng.random(rows) < 0.5, 5 * np.rint(hours / 5), np.rint(hours)).clip(1, MAX_HOURS)
    has_few = rng.random(rows) < columns(ACTIVITIES)[1][np.minimum(occupation, AT_WORK)]
    return np.where(at_work, hours, has_few * rng.integers(3, 16, rows)).astype(np.int64)


def _incomes(rng: Rng, age: Codes, sex: Codes, held: Codes, occupation: Codes, hours: Codes) -> Codes:
    """Wages and allowances with a log-normal spread; some adults' are multiplied by a Pareto factor."""
    rows = len(age)
    wage = np.concatenate([np.full(AT_WORK, SMALL_WAGE), columns(JOBS)[0]])[occupation]
    experience = np.interp(EVERY_AGE, (16, 25, 40, 55, 70), (0.6, 0.8, 1.1, 1.2, 1.1))[age]
    earned = hours * WEEKS_A_YEAR * wage * experience * np.where(sex == WOMAN, 0.92, 1)
    allowance = columns(ACTIVITIES)[0][np.minimum(occupation, AT_WORK)]
    luck = rng.lognormal(0, 0.35, rows)
    luck *= np.where((rng.random(rows) < 0.04) & (age > 25), 1 + rng.pareto(1.7, rows), 1)
    income: Floats = (earned + allowance) * luck * columns(EDUCATIONS)[0][held]
    return income.clip(max=MAX_INCOME).astype(np.int64)


def _conditions(
    rng: Rng, age: Codes, sex: Codes, district: Codes, marital: Codes, occupation: Codes, income: Codes
) -> Codes:
    men, poor, *chances = columns(CONDITIONS)
    by_income = poor ** np.array([[1], [2 / 3], [1 / 3], [0]])
    factors = where(sex == MAN, men), by_income[np.digitize(income, POVERTY_LINES)]
    raised = [RAISED_CHANCES.get(name, {}) for name in CONDITIONS]
    circumstances = (DISTRICTS, district), (MARITAL_STATUSES, marital), (OCCUPATIONS, occupation)
    by_circumstance = (
        np.array([[of.get(label, 1.0) for of in raised] for label in labels])[codes] for labels, codes in circumstances
    )
    return draw(rng, chances_by_age(CONDITION_AGES, chances)[age], *factors, *by_circumstance)
