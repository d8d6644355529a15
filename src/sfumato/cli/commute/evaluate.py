"""`sfumato commute evaluate`: what synthetic flows get wrong, and what a promise costs."""

from collections.abc import Iterable, Iterator, Sequence
from math import isfinite
from pathlib import Path
from typing import Annotated, Any

import typer

from sfumato.cli.commute.options import (
    Count,
    Destination,
    FlowsFile,
    Origin,
    PlaceId,
    PlacesFile,
    Unit,
    kilometres,
    read_input,
    read_release,
    refuse_idle,
)
from sfumato.cli.commute.settings import Settings
from sfumato.cli.interrupt import interruptible
from sfumato.cli.options import Json, names
from sfumato.cli.show import columns, note, number, print_json, progress_bar, say
from sfumato.cli.study import INTERRUPTED
from sfumato.data.flows import Flows
from sfumato.data.places import KILOMETRES
from sfumato.errors import UnsatisfiableError
from sfumato.measures.flows.evaluation import evaluate
from sfumato.release.envelope import refuse_inside_release
from sfumato.report.flows.page import write
from sfumato.trials.flows.comparison import Run, flows_document
from sfumato.trials.flows.sweep import USUAL_RADIUS, Sweep

EXAMPLE = "sfumato commute evaluate flows.csv --places places.csv --regions tract,town -o evaluation"
SHOWN = ("short_error", "distance_error", "distance_variation")


def command(
    flows: FlowsFile,
    places: PlacesFile,
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FOLDER", help="Where the report is written.")],
    releases: Annotated[
        list[Path] | None,
        typer.Option(
            "--release",
            metavar="FOLDER",
            help="Synthetic flows to evaluate: a folder, or a file as other tools make it; may be repeated. Without "
            "any, usual settings are tried with simulated noise.",
        ),
    ] = None,
    tries: Annotated[
        list[str] | None,
        typer.Option(
            "--try",
            metavar="OPTIONS",
            help="Settings of your own to try with simulated noise, in place of the usual ones: options of "
            "synthesize in quotes, such as '--epsilon 4.6 --radius 10mi'; may be repeated.",
        ),
    ] = None,
    regions: Annotated[
        list[str] | None, typer.Option("--regions", metavar="A,B", help="Columns of regions, the finest first.")
    ] = None,
    radius: Annotated[
        str | None, typer.Option("--radius", metavar="DISTANCE", help="The radius to try, such as 10mi.")
    ] = None,
    short: Annotated[
        str | None,
        typer.Option("--short", metavar="DISTANCE", help="What counts as a short commute; by default 6.23mi."),
    ] = None,
    seeds: Annotated[int, typer.Option("--seeds", min=1, help="How often every setting is tried.")] = 1,
    unit: Unit = "km",
    origin: Origin = None,
    destination: Destination = None,
    count: Count = None,
    place_id: PlaceId = None,
    as_json: Json = False,
) -> None:
    """See what synthetic flows get wrong, and what a promise costs.

    For the publisher's eyes. Writes report.html with figures by number of workers, for all and for short commutes,
    evaluation.json and evaluation.csv. Without --release, usual settings are tried at several promises.
    """
    refuse_inside_release(output)
    limit = None if short is None else kilometres(short, unit, "--short") / KILOMETRES[unit]
    levels = names(regions)
    known, original = read_input(flows, places, origin, destination, count, place_id)
    for level in levels:
        known.partition(level)
    sweep = Sweep(
        radius=USUAL_RADIUS if radius is None else kilometres(radius, unit),
        unit=unit,
        short=limit,
        regions=levels,
        seeds=tuple(range(1, seeds + 1)),
    )
    if releases:
        refuse_idle(
            {
                "--radius with --release": radius is not None,
                "--seeds with --release": seeds > 1,
                "--try with --release": bool(tries),
            }
        )
        published = _published(releases, original, levels, limit, unit, (origin, destination, count))
        runs, claim, figures, complete = published, "", None, True
    else:
        trying: Iterator[Run]
        if tries:
            refuse_idle({"--radius with --try": radius is not None})
            chosen = [(text, Settings.parse(text).synthesizer(known)) for text in dict.fromkeys(tries)]
            trying, total = (sweep.run(original, one, text, options=text) for text, one in chosen), len(chosen)
        else:
            trying, total = sweep.runs(original), len(sweep.settings())
        runs, complete = _tried(trying, total)
        figures = None if tries else [run.label for run in runs if run.label in sweep.figures()]
        claim = "Tried with simulated noise: nothing was published, and nothing spent."
    made = flows_document(flows.name, claim, runs, figures)
    written = write(made, output, runs[0].evaluations[0].csv())
    if as_json:
        print_json({"report": str(output / "report.html"), "runs": made["runs"]})
    else:
        _show(runs, levels)
        say(f"Written to {output}: {', '.join(path.name for path in written)}.")
    if not complete:
        raise typer.Exit(INTERRUPTED)


def _tried(trying: Iterable[Run], total: int) -> tuple[list[Run], bool]:
    """The runs, and whether all were made: an interrupt leaves those that were."""
    runs: list[Run] = []
    refused, complete = dict[str, list[str]](), True
    try:
        with interruptible() as check, progress_bar() as progress:
            for done, tried in enumerate(trying, start=1):
                if tried.refused is None:
                    runs.append(tried)
                else:
                    refused.setdefault(tried.refused, []).append(tried.label)
                progress("trying settings", done, total)
                check()
    except KeyboardInterrupt:
        if not runs:
            raise
        complete = False
        note(f"Interrupted: the report shows the {len(runs)} of {total} settings that were tried.")
    for reason, labels in refused.items():
        note(f"{'; '.join(labels)}: {reason}.")
    if not runs:
        raise UnsatisfiableError("none of the settings fits these flows")
    return runs, complete


def _published(
    releases: Sequence[Path],
    original: Flows,
    levels: tuple[str, ...],
    short: float | None,
    unit: str,
    names: tuple[str | None, str | None, str | None],
) -> list[Run]:
    runs = []
    for path in releases:
        about: dict[str, Any] = {"label": str(path)}
        release, synthetic = read_release(path, original.places, names)
        cost = release.claim.cost
        if cost:
            about |= {"epsilon": float(cost.epsilon), "delta": float(cost.delta)}
        if (synthetic.total, len(synthetic)) != (original.total, len(original)):
            note(
                f"{path} has {synthetic.total:,} people at {len(synthetic):,} destinations, the original "
                f"{original.total:,} at {len(original):,}: errors are over the destinations that both have."
            )
        found = evaluate(original, synthetic, regions=levels, short=short, unit=unit, within=release.reach)
        runs.append(Run(evaluations=[found], **about))
    return runs


def _show(runs: Sequence[Run], levels: tuple[str, ...]) -> None:
    suffix = f"_{levels[0]}" if levels else ""
    wanted = [*SHOWN, f"common_part{suffix}", f"top_origins{suffix}"]
    about = {name: one.measure for name, one in runs[0].evaluations[0].measurements.items()}
    shown = [name for name in wanted if name in about]
    means = [run.summary()[0] for run in runs]
    columns(
        ["", *(f"{about[name].title} ({about[name].unit})" for name in shown)],
        [
            [run.label, *(number(mean[name]) if isfinite(mean[name]) else "-" for name in shown)]
            for run, mean in zip(runs, means, strict=True)
        ],
    )
