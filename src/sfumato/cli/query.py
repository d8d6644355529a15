"""`sfumato query`: ask a release what its recipient would ask."""

from typer import Argument

from sfumato.cli.options import Json, ReleaseFolder
from sfumato.cli.show import print_json, say
from sfumato.release import load_release

EXAMPLE = "sfumato query release \"age >= 40 and sex = 'Male'\""


def command(
    release: ReleaseFolder,
    conditions: str = Argument(
        metavar="CONDITIONS",
        help="Conditions joined by and: = != < <= > >=, in (a, b), not in (a, b), between a and b, is missing.",
    ),
    as_json: Json = False,
) -> None:
    """Estimate from a release how many people satisfy conditions.

    It says how far off that can be: for certain, where classes or buckets of people are published, and by an interval
    where there is noise.

    A release of flows is asked about origin and destination, such as "destination = 7 and origin not in (3, 4)".
    """
    published = load_release(release)
    answer = published.answer(conditions)
    if as_json:
        print_json({"query": conditions, **answer.spec(), "rows": published.rows})
    else:
        say(answer.sentence)
