"""`sfumato commute synthesize`: synthetic flows in a new folder, charged to the ledger."""

from functools import partial
from pathlib import Path
from typing import Any

from sfumato.cli.budget import warn_of_other_names
from sfumato.cli.commute.options import Columns, DataSet, FlowsFile, PlacesFile
from sfumato.cli.commute.settings import Settings
from sfumato.cli.options import Beforehand, Json, LedgerFile, Parquet, output_option
from sfumato.cli.reading import Engine
from sfumato.cli.show import claim_figures, note, print_json, progress_bar, say, say_claim
from sfumato.errors import ParameterError
from sfumato.methods.flows.synthesis import Synthesis
from sfumato.privacy.ledger import Ledger
from sfumato.publish.flows import publish_flows

EXAMPLE = "sfumato commute synthesize flows.csv --places places.csv --name town --epsilon 4.6 -o release"


def command(
    *,
    flows: FlowsFile,
    places: PlacesFile,
    output: Path = output_option("FOLDER", "A new folder."),
    name: DataSet,
    columns: Columns,
    beforehand: Beforehand = False,
    ledger_file: LedgerFile = None,
    parquet: Parquet = False,
    as_json: Json = False,
    by: Engine,
    settings: Settings,
) -> None:
    """Publish flows without showing where anyone lives.

    For every destination as many people are drawn as go there, from the data and a public prior that is as small as
    the promise allows. How many go to each destination is taken for public. What it costs is charged to the ledger,
    under the name that you give: the name of a file would be another one for every copy. If measures of these flows
    were seen before, the claim says that choosing the setting is not covered.
    """
    known = columns.places(places)
    rows = by.open(flows)
    if derived := getattr(rows, "derived", ""):
        raise ParameterError(f"{flows}: {derived}, which no noise covers; give Parquet")
    original = columns.flows(rows, known)
    synthesizer = settings.synthesizer(known)
    likely = synthesizer.promise.delta
    if likely * original.total > 1:
        note(f"Delta is {likely:g}; below one over the number of people, {original.total:,}, is usual.")
    ledger = Ledger(ledger_file)
    with progress_bar() as progress:
        made, charged = publish_flows(
            synthesizer,
            original,
            output,
            data_set=name,
            ledger=ledger,
            parquet=parquet,
            beforehand=beforehand,
            planning=partial(progress, "calibrating priors"),
            drawing=partial(progress, "drawing people"),
        )
    warn_of_other_names(ledger, name, original.digest)
    if as_json:
        charge = {"release": charged, "data_set": name, "ledger": str(ledger.path)}
        print_json({"release": str(output), "data_set": name, **_figures(made), "charge": charge})
    else:
        _show(made, output)
        say(f"Charged to {name}; see sfumato budget.")


def _figures(made: Synthesis) -> dict[str, Any]:
    return {
        "people": made.flows.total,
        "destinations": len(made.flows),
        "pairs": len(made.flows.origins),
        **claim_figures(made.claim),
        "epsilon_made_of": made.terms,
        "prior": {"least": float(made.plan.min_prior.min()), "most": float(made.plan.max_prior.max())},
        "drawn_from_data": made.plan.from_data,
    }


def _show(made: Synthesis, folder: Path) -> None:
    say(
        f"{folder}: people {made.flows.total:,}, destinations {len(made.flows):,}, pairs of origin and destination "
        f"{len(made.flows.origins):,}."
    )
    terms = " + ".join(f"{value:.4g} ({name})" for name, value in made.terms.items())
    say_claim(made.claim, *([f"Epsilon is made of {terms}."] if len(made.terms) > 1 else []))
    least, most = made.plan.min_prior.min(), made.plan.max_prior.max()
    prior = f"{least:.3g}" if least == most else f"{least:.3g} to {most:.3g}"
    say(
        f"About {made.plan.from_data:.0%} of the people are drawn from the data, the rest from the prior, which "
        f"counts as {prior} people at every place of a destination."
    )
