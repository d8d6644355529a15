"""The scenes that are played: tables of 1 to 5,000 rows, every kind of private method, people with many rows or none to
their name, cells that make trouble, and other formats."""

from __future__ import annotations

from audit.blackbox.scene import Scene

EPSILON = 1.0
DELTA = 1e-3
PEOPLE = """
name = "people"

[columns.age]
role = "quasi"
kind = "numeric"
min = 0
max = 3

[columns.town]
role = "quasi"
kind = "categorical"
values = ["A", "B"]

[columns.test]
role = "sensitive"
kind = "categorical"
values = ["negative", "positive"]
"""
VISITS = '\n[columns.patient]\nrole = "identifier"\n'
HOMES = f'\n[columns.home]\nrole = "household"\n{VISITS}'
TOTAL = PEOPLE.replace("max = 3", 'max = 3\noff_schema = "clip"').replace('"B"]', '"B"]\noff_schema = "B"')
TOTAL = TOTAL.replace('"positive"]', '"positive"]\noff_schema = "negative"')
"""The same with a place for every value off the schema."""
PUBLISH = ("publish", "FILE", "--schema", "SCHEMA", "-o", "FOLDER", "--epsilon", f"{EPSILON:g}")
METHODS: dict[str, tuple[str, ...]] = {
    "quad-tree": (),
    "kd-tree": (),
    "privtree": (),
    "diffgen": ("--h", "2"),
    "dpcube": (),
    "privbayes": (),
    "marginals": (),
    "synthesis": (),
    "tables": (),
}
LENIENT = ("--max-p-loss", "inf", "--max-query-error", "inf")
FRONTIER = ("frontier", "FILE", "--schema", "SCHEMA", "-o", "FOLDER", "--epsilon", f"{EPSILON:g}", *LENIENT)
PERSON = "0,A,positive"


def publishing(method: str, *more: str) -> tuple[str, ...]:
    """The command that publishes by a method."""
    return (*PUBLISH, "--method", method, *METHODS[method], *more)


def crowd(count: int, first: int = 0) -> tuple[str, ...]:
    """People spread over all points from an age on, none of whom tests positive."""
    ages = 4 - first
    return tuple(f"{first + number % ages},{'AB'[number // ages % 2]},negative" for number in range(count))


def mixed(count: int) -> tuple[str, ...]:
    """People spread over all points, a third of whom test positive."""
    return tuple(row.replace("negative", "positive") if number % 3 else row for number, row in enumerate(crowd(count)))


def scene(name: str, rows: tuple[str, ...], *commands: tuple[str, ...], epsilon: float = EPSILON) -> Scene:
    """A scene in which the one positive person is there or not."""
    return Scene(name, PEOPLE, rows, (PERSON,), commands, epsilon)


SCENES = (
    *(scene(f"{method}, 40 rows", crowd(40), publishing(method)) for method in METHODS),
    *(
        Scene(
            f"{method} with δ, {count} rows",
            PEOPLE,
            crowd(count),
            (PERSON,),
            (publishing(method, "--delta", f"{DELTA:g}"),),
            EPSILON,
            delta=DELTA,
        )
        for method, count in (("synthesis", 40), ("synthesis", 600), ("tables", 40), ("kd-tree", 40))
    ),
    scene("600 rows, many positive", mixed(600), publishing("quad-tree")),
    scene("nobody but one", (), publishing("quad-tree")),
    scene(
        "an empty corner",
        crowd(60, first=2),
        (*PUBLISH[:-1], "0.2", "--method", "quad-tree", "--height", "3"),
        epsilon=0.2,
    ),
    scene("two rows", crowd(1), publishing("marginals")),
    scene("5,000 rows", crowd(4_999), publishing("quad-tree")),
    scene("rows generated", crowd(60), publishing("kd-tree", "--rows", "synthetic")),
    scene(
        "two releases",
        mixed(600),
        *((*PUBLISH[:-1], each, "--method", "quad-tree", "--height", "1") for each in ("0.2", "0.4")),
        epsilon=0.6,
    ),
    Scene(
        "pilot, choice and release",
        PEOPLE,
        crowd(60),
        (PERSON,),
        (
            (*FRONTIER, "--method", "quad-tree", "--method", "privtree", "--workers", "1"),
            ("publish", "FILE", "--schema", "SCHEMA", "-o", "FOLDER", "CHOSEN"),
        ),
        EPSILON,
        runs=120,
    ),
    Scene(
        "five rows a person",
        PEOPLE + VISITS,
        tuple(f"{row},{number // 5}" for number, row in enumerate(crowd(100))),
        tuple(f"{PERSON},x" for _ in range(5)),
        (publishing("quad-tree", "--height", "0"),),
        EPSILON,
    ),
    Scene(
        "five rows a household",
        PEOPLE.replace('name = "people"', 'name = "people"\nprotect = "household"') + HOMES,
        tuple(f"{row},{number // 5},{number}" for number, row in enumerate(crowd(100))),
        tuple(f"{PERSON},x,p{number}" for number in range(5)),
        (publishing("quad-tree", "--height", "0"),),
        EPSILON,
        runs=1_000,
    ),
    Scene(
        "two rows of a person are used",
        PEOPLE.replace('name = "people"', 'name = "people"\nrows_per_person = 2') + VISITS,
        tuple(f"{row},{number // 5}" for number, row in enumerate(crowd(100))),
        tuple(f"{PERSON},x" for _ in range(5)),
        (publishing("quad-tree"),),
        EPSILON,
    ),
    Scene(
        "nobody's name",
        TOTAL + VISITS,
        (*(f"{row},{number}" for number, row in enumerate(crowd(40))), "0,A,negative,"),
        tuple(f"{PERSON}," for _ in range(20)),
        (publishing("quad-tree"),),
        EPSILON,
    ),
    Scene("a cell off the schema", TOTAL, crowd(40), ('["4"2],A,positive',), (publishing("quad-tree"),), EPSILON),
    Scene("a cell that is not closed", TOTAL, crowd(40), ('"oops,A,positive',), (publishing("quad-tree"),), EPSILON),
    Scene(
        "Parquet in and out",
        PEOPLE,
        crowd(40),
        (PERSON,),
        (publishing("quad-tree", "--parquet"), publishing("kd-tree", "--parquet", "--rows", "synthetic")),
        2 * EPSILON,
        file="people.parquet",
    ),
    *(
        Scene(
            f"{method}, another value",
            PEOPLE,
            crowd(40),
            (PERSON,),
            ((*PUBLISH, "--method", method, *more),),
            EPSILON,
            instead=(PERSON.replace("positive", "negative"),),
            delta=delta,
        )
        for method, more, delta in (("dirichlet", ("--delta", f"{DELTA:g}"), DELTA), ("local", (), 0.0))
    ),
)
