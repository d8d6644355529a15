"""`sfumato compile`: the machine code of the inner loops, made before it is needed."""

from pathlib import Path

from typer import Option

from sfumato.cli.show import progress_bar, say
from sfumato.compiled import cache_folder, compiling
from sfumato.data import Table, read
from sfumato.errors import SfumatoError
from sfumato.methods import METHODS, Method
from sfumato.samples.town import SCHEMA_PATH, residents
from sfumato.trials.trial import run_trial

EXAMPLE = "sfumato compile"
PACKAGE = Path(__file__).parents[1]


def command(
    rows: int = Option(400, min=100, max=100_000, help="How many residents of a made-up town to try methods on."),
) -> None:
    """Compile the inner loops now, so that no first use waits for it.

    Methods are tried and measured on a small made-up town. What is compiled is kept beside the program, or in your
    cache folder where that cannot be written, and serves until the program changes. Without this command, loops are
    compiled when they are first used on more than a few people.
    """
    folder = cache_folder(PACKAGE)
    if folder is None:
        raise SfumatoError("there is no place to keep machine code: neither the program's folder nor a cache folder")
    table = read(residents(rows), SCHEMA_PATH)
    with compiling(), progress_bar() as progress:
        tried = settings(table)
        for number, method in enumerate(tried):
            progress("compiling", number, len(tried))
            run_trial(table, method, seeds=(1,))
    say(f"The inner loops are compiled and kept in {folder}.")


def settings(table: Table) -> list[Method]:
    """A setting of each series of every method."""
    found: dict[tuple[str, ...], Method] = {}
    for kind in METHODS.values():
        for method in kind.grid(table, (1.0,)):
            found.setdefault((kind.name, method.series, getattr(method, "recoding", "")), method)
    return list(found.values())
