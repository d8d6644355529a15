"""`sfumato plan`: what publishing a table will cost by each method, before anything is done."""

from sfumato.cli.options import File, Json, SchemaFile
from sfumato.cli.reading import Text
from sfumato.cli.show import print_columns, print_json, say
from sfumato.data.extent import Extent
from sfumato.schema import Schema
from sfumato.trials.cost import Cost, Costs

EXAMPLE = "sfumato plan people.csv --schema people.toml"
MINUTE, HOUR = 60, 3600


def command(*, file: File, schema: SchemaFile, as_json: Json = False, text: Text) -> None:
    """Estimate what publishing a table costs by each method.

    That is processor time and memory. Only the first rows are read. How many rows and distinct combinations of values
    there are in all is estimated from them, which supposes that rows stand in no particular order. Figures are for your
    eyes only.
    """
    extent, costs = Extent.of(text.source(file), Schema.load(schema)), Costs.kept()
    found = {name: costs.publishing(name, extent) for name in costs.seconds}
    if as_json:
        print_json(
            {
                "rows": extent.rows,
                "cells": extent.cells,
                "columns": extent.columns,
                "reading_seconds": costs.reading(extent),
                "measured_on": costs.machine,
                "methods": {name: vars(cost) for name, cost in found.items()},
            }
        )
        return
    say(
        f"About {rough(extent.rows)} rows with {rough(extent.cells)} distinct combinations of {extent.columns} "
        f"columns; reading them takes {duration(costs.reading(extent))}."
    )
    say()
    print_columns(
        ("Method", "Time", "Memory", "May be off by"),
        [(name, duration(cost.seconds), memory(cost), f"{cost.off:.1f} times") for name, cost in found.items()],
    )
    say()
    say(f"Processor time of one core; measured on {costs.machine}. This is for your eyes only.")


def rough(number: float) -> str:
    """A number to two digits."""
    short = float(f"{number:.2g}")
    return f"{short:,.0f}" if short >= 10 else f"{short:g}"


def duration(seconds: float) -> str:
    """Seconds, minutes or hours."""
    if seconds < 1:
        return "under 1 s"
    if seconds < 2 * MINUTE:
        return f"{rough(seconds)} s"
    return f"{rough(seconds / MINUTE)} min" if seconds < 2 * HOUR else f"{rough(seconds / HOUR)} h"


def memory(cost: Cost) -> str:
    return f"{cost.gigabytes:.1f} GB" if cost.gigabytes < 10 else f"{rough(cost.gigabytes)} GB"
