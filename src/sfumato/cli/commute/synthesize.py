"""`sfumato commute synthesize`: synthetic flows in a new folder, charged to the ledger."""

from functools import partial
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
    data_set_name,
    read_input,
)
from sfumato.cli.commute.settings import Settings, SynthesizeCommand
from sfumato.cli.declared import GIVEN
from sfumato.cli.options import Json, LedgerFile, Parquet
from sfumato.cli.show import note, print_json, progress_bar, say
from sfumato.methods.flows.synthesis import Synthesis
from sfumato.privacy.ledger import Ledger
from sfumato.publish.flows import publish_flows

EXAMPLE = "sfumato commute synthesize flows.csv --places places.csv --epsilon 4.6 --radius 100mi -o release"
COMMAND = SynthesizeCommand


def command(
    context: typer.Context,
    flows: FlowsFile,
    places: PlacesFile,
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FOLDER", help="A new folder.")],
    name: Annotated[
        str | None,
        typer.Option("--name", metavar="DATASET", help="The data set in the ledger; by default the name of the file."),
    ] = None,
    origin: Origin = None,
    destination: Destination = None,
    count: Count = None,
    place_id: PlaceId = None,
    ledger_file: LedgerFile = None,
    parquet: Parquet = False,
    as_json: Json = False,
) -> None:
    """Publish flows without showing where anyone lives.

    For every destination as many people are drawn as go there, from the data and a public prior that is as small as
    the promise allows. How many go to each destination is taken for public. What it costs is charged to the ledger.
    """
    known, original = read_input(flows, places, origin, destination, count, place_id)
    synthesizer = Settings(**context.meta[GIVEN]).synthesizer(known)
    likely = synthesizer.promise.delta
    if likely * original.total > 1:
        note(f"Delta is {likely:g}; below one over the number of people, {original.total:,}, is usual.")
    data_set = data_set_name(flows) if name is None else name
    ledger = Ledger(ledger_file)
    with progress_bar() as progress:
        made, charged = publish_flows(
            synthesizer,
            original,
            output,
            data_set=data_set,
            ledger=ledger,
            parquet=parquet,
            planning=partial(progress, "calibrating priors"),
            drawing=partial(progress, "drawing people"),
        )
    about = _about(made, output, data_set)
    if as_json:
        print_json({**about, "charge": {"release": charged, "data_set": data_set, "ledger": str(ledger.path)}})
    else:
        _show(about)


def _about(made: Synthesis, folder: Path, data_set: str) -> dict[str, Any]:
    return {
        "release": str(folder),
        "data_set": data_set,
        "people": made.flows.total,
        "destinations": len(made.flows),
        "pairs": len(made.flows.origins),
        "claim": made.claim.spec(),
        "sentence": made.claim.sentence(),
        "assumptions": list(made.claim.assumptions),
        "epsilon_made_of": made.terms,
        "prior": {"least": float(made.plan.min_prior.min()), "most": float(made.plan.max_prior.max())},
        "drawn_from_data": made.plan.from_data,
    }


def _show(about: dict[str, Any]) -> None:
    say(
        f"{about['release']}: people {about['people']:,}, destinations {about['destinations']:,}, pairs of origin and "
        f"destination {about['pairs']:,}."
    )
    say(f"Claim: {about['sentence']}.")
    if len(about["epsilon_made_of"]) > 1:
        terms = " + ".join(f"{value:.4g} ({name})" for name, value in about["epsilon_made_of"].items())
        say(f"Epsilon is made of {terms}.")
    for assumption in about["assumptions"]:
        say(f"Assumes: {assumption}.")
    least, most = about["prior"]["least"], about["prior"]["most"]
    prior = f"{least:.3g}" if least == most else f"{least:.3g} to {most:.3g}"
    say(
        f"About {about['drawn_from_data']:.0%} of the people are drawn from the data, the rest from the prior, which "
        f"counts as {prior} people at every place of a destination."
    )
    say(f"Charged to {about['data_set']}; see sfumato budget.")
