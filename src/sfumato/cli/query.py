"""`sfumato query`: ask a release what its recipient would ask."""

from pathlib import Path
from typing import Any

from typer import Argument, Option

from sfumato.cli.options import Json, ReleaseFolder, output_option, refuse_existing
from sfumato.cli.show import note, print_columns, print_json, say
from sfumato.data.formats import require_format, table_bytes
from sfumato.errors import ParameterError
from sfumato.files import place
from sfumato.release import FlowRelease, Release, load_release
from sfumato.release.answer import Answer, Kind, spell_amount, spell_share
from sfumato.release.grouping import Marginal, parse_by

EXAMPLE = "sfumato query release \"age >= 40 and not sex = 'Male'\""
NO_BOUNDS = (
    "How far these can be from the truth is not known, so they have no bounds: rows were drawn from a model, or nobody "
    "says what made them."
)


def command(
    release: ReleaseFolder,
    conditions: str | None = Argument(
        None,
        metavar="CONDITIONS",
        help="Conditions joined by and, or, not and parentheses: = != < <= > >=, in (a, b), not in (a, b), between a "
        "and b, is missing. With --sum, --mean or --by there need be none: everybody.",
    ),
    total: str | None = Option(None, "--sum", metavar="COLUMN", help="What the numbers in a column add up to."),
    mean: str | None = Option(None, metavar="COLUMN", help="The mean of a column."),
    share: str | None = Option(None, metavar="CONDITIONS", help="The share who satisfy these conditions, too."),
    by: str | None = Option(
        None,
        metavar="A,B:N",
        help="One answer for every combination of groups: the values of a column, ranges of numbers N wide, or "
        "categories N levels up their taxonomy (of numbers with one: A:^N).",
    ),
    output: Path | None = output_option("FILE", "Write the table of --by: .csv or .parquet.", default=None),
    as_json: Json = False,
) -> None:
    """Estimate from a release how many people satisfy conditions.

    Or what the numbers of a column are in all or on average over these people, as one figure or as a table by groups.

    It says how far off that can be: for certain, where classes or buckets of people are published, and by an interval
    where there is noise.

    A release of flows is asked about origin and destination, such as "destination = 7 and origin not in (3, 4)".
    """
    asked = {"sum": total, "mean": mean, "share": share}
    given: dict[Kind, str] = {kind: text for kind, text in asked.items() if text is not None}  # type: ignore[misc]
    if len(given) > 1:
        raise ParameterError(f"--{' and --'.join(given)} are different questions; ask one of them")
    if output is not None:
        if by is None:
            raise ParameterError("only a table is written to a file; say with --by what its groups are")
        require_format(output)
        refuse_existing(output)
    if conditions is None and not given and by is None:
        raise ParameterError(
            'nothing is asked; give conditions, such as "age >= 40", or --by, --sum, --mean or --share'
        )
    published = load_release(release)
    if isinstance(published, FlowRelease):
        if given or by is not None or conditions is None:
            raise ParameterError(f"{release}: flows are asked how many people satisfy conditions, and nothing else")
        _show(published.answer(conditions), conditions, published.rows, as_json)
        return
    kind, of = next(iter(given.items()), (None, None))
    if by is None:
        _show(_answer(published, conditions, kind, of), conditions, published.rows, as_json, of)
        return
    found = published.marginal(parse_by(by), conditions, of=of, kind=kind)
    if output is not None:
        place(output, table_bytes(found.frame(), output))
    if as_json:
        print_json({"query": conditions, "of": of, "by": by, "rows": published.rows, "table": _lines(found)})
    else:
        _show_table(found)
    if output is not None:
        note(f"Written to {output}.")


def _answer(release: Release, conditions: str | None, kind: Kind | None, of: str | None) -> Answer:
    if of is None:
        return release.answer(conditions or "")
    if kind == "share":
        return release.share(of, conditions)
    return release.sum(of, conditions) if kind == "sum" else release.mean(of, conditions)


def _show(answer: Answer, conditions: str | None, rows: float, as_json: bool, of: str | None = None) -> None:
    if as_json:
        about = {} if of is None else {"of": of}
        print_json({"query": conditions, **about, **answer.spec(), "rows": rows})
    else:
        say(answer.sentence)


def _lines(found: Marginal) -> list[dict[str, Any]]:
    """The answers as JSON shows them, with the group of each."""
    names = list(found.labels)
    groups = zip(*found.labels.values(), strict=True)
    return [
        {"group": dict(zip(names, group, strict=True)), **answer.spec()}
        for group, answer in zip(groups, found.answers, strict=True)
    ]


def _show_table(found: Marginal) -> None:
    """The table, with digits that mean something, and a sentence on what its bounds are."""
    lines = []
    for group, answer in zip(zip(*found.labels.values(), strict=True), found.answers, strict=True):
        spell = spell_share if answer.kind == "share" else spell_amount
        bounds = (spell(answer.low), spell(answer.high)) if answer.hold else ("", "")
        lines.append((*group, *(text if text != "nan" else "" for text in (spell(answer.rounded), *bounds))))
    print_columns([*found.labels, "estimate", "low", "high"], lines)
    kinds = {answer.bounds for answer in found.answers}
    if kinds == {"certain"}:
        note("The bounds hold for certain.")
    elif kinds == {"noise"}:
        note("Each interval holds with 95% confidence, by the noise in the release; all at once they hold less often.")
    elif "noise" in kinds:
        note(f"Intervals hold with 95% confidence each, by the noise in the release. {NO_BOUNDS}")
    else:
        note(NO_BOUNDS)
