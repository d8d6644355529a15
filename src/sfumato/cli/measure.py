"""`sfumato measure`: attack a release, use it, and say what each number means."""

from collections.abc import Callable, Sequence
from math import nan
from pathlib import Path

from typer import Argument, Option

from sfumato.cli.options import File, Json, LedgerFile, SchemaFile
from sfumato.cli.reading import Engine, read_people
from sfumato.cli.show import BETTER, INDENT, explained, heading, number, print_columns, print_json, progress_bar, say
from sfumato.cli.together import belief_figures, read_release
from sfumato.data import Table
from sfumato.errors import ParameterError
from sfumato.measures.attacks.composition import HIGHEST_BELIEF
from sfumato.measures.looks import LOOK, note_look
from sfumato.measures.measure import MEASURES, Measurements, assess
from sfumato.measures.measurement import Measure, Measurement
from sfumato.measures.workloads import WORKLOADS
from sfumato.measures.workloads.clustering import MatchPoint
from sfumato.measures.workloads.learning import HeldOut
from sfumato.privacy.ledger import Ledger
from sfumato.release import Release
from sfumato.report.numbers import format_unit

EXAMPLE = "sfumato measure people.csv release --schema people.toml"
FAMILIES = {
    "privacy": "Privacy: what an adversary learns",
    "utility": "Utility: what a recipient can still do",
    "shape": "Shape: what the release looks like",
}
TOGETHER = "together"
Progress = Callable[[str, int, int], None]


def command(
    *,
    file: File,
    releases: list[Path] = Argument(
        metavar="RELEASE...",
        help="A release folder, or a CSV or Parquet file that another tool anonymized; several: also together.",
    ),
    schema: SchemaFile,
    test: Path | None = Option(
        None,
        metavar="FILE",
        help="Rows held out from the release; learners trained on it predict their sensitive values.",
    ),
    clusters: int | None = Option(
        None, min=2, help="Compare so many clusters of the release with those of the original."
    ),
    only: list[str] | None = Option(None, metavar="NAME", help="Compute only this measure; may be repeated."),
    ledger_file: LedgerFile = None,
    as_json: Json = False,
    by: Engine,
) -> None:
    """Measure how private and how useful a release is.

    The release may be a file that another tool made. The figures are computed on the real data: they are for
    the publisher and not to be published. The ledger notes that they were seen: noise does not cover a setting that is
    chosen after that.

    With several releases, the privacy of each is shown beside what all of them give away together to somebody who has
    them all.
    """
    table, names = read_people(file, schema, by), tuple(dict.fromkeys(only or ()))
    note_look(table, LOOK, Ledger(ledger_file))
    if len(releases) > 1:
        if test or clusters:
            raise ParameterError("--test and --clusters measure one release; give one")
        with progress_bar() as progress:
            compared = _compare(table, releases, names, progress)
        _show_compared(compared, as_json=as_json)
        return
    release = releases[0]
    published, suppressed = read_release(release, table.schema)
    held_out = [HeldOut(test=read_people(test, table.schema, by))] if test else []
    clustered = [MatchPoint(clusters=clusters)] if clusters else []
    with progress_bar() as progress:
        found = assess(table, published, (*WORKLOADS, *held_out, *clustered), only=names, progress=progress)
    if as_json:
        print_json(found.spec())
        return
    made_up = published.noisy or published.moved or published.rows > table.n
    of = "rows; the table has" if made_up else "of"
    say(f"{release} stands for {published.rows:,.0f} {of} {table.n:,}{'' if made_up else ' rows'}.")
    if suppressed:
        say(f"{suppressed:,} more stand in it with every quasi-identifier suppressed, and count as left out.")
    _show_families(found)
    _show_columns(found)
    _show_allowed(published, found)


def _show_families(found: Measurements) -> None:
    for family, title in FAMILIES.items():
        rows = [(item.measure, item.value) for item in found.values() if item.measure.family == family]
        if rows:
            heading(title)
            explained(
                (
                    (about.title, number(value, about.unit), format_unit(about.unit), BETTER[about.direction]),
                    about.sentence,
                )
                for about, value in rows
            )


def _show_columns(found: Measurements) -> None:
    """Beside the worst of several sensitive columns, each of them, where they differ."""
    columns = list(found.by_column)
    rows = [
        (item.measure.title, *(number(of.get(column, nan), item.measure.unit) for column in columns))
        for name, item in found.items()
        if len(set((of := found.of_columns(name)).values())) > 1
    ]
    if rows:
        heading("By sensitive column: what stands above is the worst of them")
        print_columns(["", *columns], rows)


def _show_allowed(published: Release, found: Measurements) -> None:
    """What the claim allows any adversary, where it rests on noise."""
    if allowed := published.claim.in_words():
        heading("What noise allows: how far any adversary can get, beside what the attacks above reached")
        for sentence in allowed:
            say(sentence, indent=INDENT)
        reached = {name: found[name].value for name in ("guessed_right", "confident_guesses") if name in found}
        if len(reached) > 1:
            say(
                f"Looking people up guesses {reached['guessed_right']:.1%} of sensitive values right; the statistical "
                f"adversary {reached['confident_guesses']:.1%} of the tenth it is surest about.",
                indent=INDENT,
            )


def _compare(table: Table, paths: Sequence[Path], only: Sequence[str], progress: Progress) -> dict[str, Measurements]:
    """The privacy measures of each release, or the measures asked for, and of all of them together."""
    privacy = [name for name, item in MEASURES.items() if item.family == "privacy"]
    names = [name for name in only or privacy if name != HIGHEST_BELIEF.name]
    every, found = [], {}
    for path in dict.fromkeys(paths):
        release, _ = read_release(path, table.schema)
        every.append(release)
        beliefs = _measured(belief_figures(table, [release]), only)
        more = assess(table, release, only=names, progress=progress) if names else Measurements()
        found[str(path)] = Measurements({**beliefs, **more})
    return {**found, TOGETHER: _measured(belief_figures(table, every), only)}


def _measured(values: dict[str, float], only: Sequence[str]) -> Measurements:
    """Figures about beliefs as measurements, those asked for or all."""
    known = {**MEASURES, HIGHEST_BELIEF.name: HIGHEST_BELIEF}
    asked = {name: value for name, value in values.items() if not only or name in only}
    return Measurements({name: Measurement(measure=known[name], value=value) for name, value in asked.items()})


def _value(found: Measurements, measure: Measure) -> str:
    return number(found[measure.name].value, measure.unit) if measure.name in found else ""


def _show_compared(compared: dict[str, Measurements], *, as_json: bool) -> None:
    if as_json:
        specs = {name: found.spec() for name, found in compared.items()}
        print_json({TOGETHER: specs.pop(TOGETHER), "releases": specs})
        return
    about = {name: item.measure for found in compared.values() for name, item in found.items()}
    rows = [
        (item.title, *(_value(found, item) for found in compared.values()), format_unit(item.unit))
        for item in about.values()
    ]
    print_columns(["", *compared, ""], rows)
    say()
    say(
        "Together: for somebody who has all of them and looks up a person who is in all of them. The highest belief is "
        "how sure that makes an adversary, rightly or not; values guessed right count what is true."
    )
