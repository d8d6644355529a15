"""The scenes that are played: tables of 1 to 5,000 rows, every kind of private method, people with five rows."""

from __future__ import annotations

from audit.blackbox.scene import Scene

EPSILON = 1.0
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
PUBLISH = ("publish", "FILE", "--schema", "SCHEMA", "-o", "FOLDER", "--epsilon", f"{EPSILON:g}")
METHODS: dict[str, tuple[str, ...]] = {
    "quad-tree": (),
    "kd-tree": (),
    "privtree": (),
    "diffgen": ("--h", "2"),
    "dpcube": (),
    "privbayes": (),
    "marginals": (),
}
FRONTIER = ("frontier", "FILE", "--schema", "SCHEMA", "-o", "FOLDER", "--epsilon", f"{EPSILON:g}")
PERSON = "0,A,positive"


def publishing(method: str, *more: str) -> tuple[str, ...]:
    """The command that publishes by a method."""
    return (*PUBLISH, "--method", method, *METHODS[method], *more)


def crowd(count: int) -> tuple[str, ...]:
    """People spread over all points, none of whom tests positive."""
    return tuple(f"{number % 4},{'AB'[number // 4 % 2]},negative" for number in range(count))


def mixed(count: int) -> tuple[str, ...]:
    """People spread over all points, a third of whom test positive."""
    return tuple(row.replace("negative", "positive") if number % 3 else row for number, row in enumerate(crowd(count)))


def scene(name: str, rows: tuple[str, ...], *commands: tuple[str, ...], epsilon: float = EPSILON) -> Scene:
    """A scene in which the one positive person is there or not."""
    return Scene(name, PEOPLE, rows, (PERSON,), commands, epsilon)


SCENES = (
    *(scene(f"{method}, 40 rows", crowd(40), publishing(method)) for method in METHODS),
    scene("600 rows, many positive", mixed(600), publishing("quad-tree")),
    scene("nobody but one", (), publishing("quad-tree")),
    scene("two rows", crowd(1), publishing("marginals")),
    scene("5,000 rows", crowd(4_999), publishing("quad-tree")),
    scene("rows generated", crowd(60), publishing("kd-tree", "--rows", "synthetic")),
    scene(
        "two releases",
        mixed(600),
        *((*PUBLISH[:-1], each, "--method", "quad-tree") for each in ("0.2", "0.4")),
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
    ),
    Scene(
        "five rows a person",
        PEOPLE + VISITS,
        tuple(f"{row},{number // 5}" for number, row in enumerate(crowd(100))),
        tuple(f"{PERSON},x" for _ in range(5)),
        (publishing("quad-tree"),),
        EPSILON,
    ),
)
