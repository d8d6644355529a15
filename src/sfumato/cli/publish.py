"""`sfumato publish`: one method, one setting, one release."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from sfumato.cli.options import File, Json, Parquet, SchemaFile
from sfumato.cli.parameters import DiversityForm, Parameters, method_from
from sfumato.cli.show import print_json, say

if TYPE_CHECKING:
    from sfumato.release import Release

EXAMPLE = "sfumato publish people.csv --schema people.toml --method mondrian --k 10 -o release"


def command(
    file: File,
    schema: SchemaFile,
    method: Annotated[
        str,
        typer.Option(
            "--method", metavar="NAME", show_default=False,
            help="mondrian, anatomy, suppression (the sensitive column alone) or original (no protection).",
        ),
    ],
    output: Annotated[
        Path,
        typer.Option("--output", "-o", metavar="FOLDER", show_default=False, help="A new folder for the release."),
    ],
    k: Annotated[int | None, typer.Option("--k", help="k-anonymity: at least k people in a class.")] = None,
    l: Annotated[float | None, typer.Option("--l", help="l-diversity, in the form that --l-form names.")] = None,
    l_form: Annotated[
        DiversityForm | None,
        typer.Option(
            "--l-form",
            help="What --l bounds: the share of the commonest value (probabilistic, the default), the number of "
            "different values, their entropy, or with --c the rest against the commonest.",
        ),
    ] = None,
    c: Annotated[float | None, typer.Option("--c", help="The factor of recursive (c,l)-diversity.")] = None,
    t: Annotated[float | None, typer.Option("--t", help="t-closeness: no class farther from the table.")] = None,
    distance: Annotated[
        Literal["equal", "ordered", "hierarchical", "jensen-shannon"] | None,
        typer.Option("--distance", help="How --t measures: earth mover's with a ground distance (equal is the "
                     "default), or Jensen-Shannon."),
    ] = None,
    delta: Annotated[float | None, typer.Option("--delta", help="delta-disclosure: bounds log ratios.")] = None,
    alpha: Annotated[
        float | None, typer.Option("--alpha", help="With --k, (alpha,k)-anonymity: the largest share of a value.")
    ] = None,
    beta: Annotated[float | None, typer.Option("--beta", help="beta-likeness: bounds relative gains.")] = None,
    enhanced: Annotated[
        bool, typer.Option("--enhanced", help="With --beta, enhanced beta-likeness.")
    ] = False,
    cut: Annotated[
        Literal["ncp", "median"] | None,
        typer.Option("--cut", help="How Mondrian cuts: for the least information loss (ncp, the default), or at "
                     "the median of the widest axis."),
    ] = None,
    recoding: Annotated[
        Literal["generalize", "bucketize"] | None,
        typer.Option("--recoding", help="Publish generalized rows (the default), or exact quasi-identifiers with "
                     "the sensitive values per bucket."),
    ] = None,
    parquet: Parquet = False,
    as_json: Json = False,
) -> None:
    """Publish a table by one method at one setting.

    Mondrian takes any combination of requirements, Anatomy takes --l alone. The release is checked against its claim
    and written to a new folder.
    """
    from sfumato.engines import read

    parameters = Parameters(
        k=k, l=l, l_form=l_form, c=c, t=t, distance=distance, delta=delta, alpha=alpha, beta=beta,
        enhanced=enhanced or None, cut=cut, recoding=recoding,
    )
    chosen = method_from(method, parameters)
    release = chosen.publish(read(file, schema))
    about = _about(release, chosen.label)
    folder = release.save(output, parquet=parquet)
    if as_json:
        print_json({"release": str(folder), **about})
    else:
        _show(about, folder)


def _about(release: Release, label: str) -> dict[str, Any]:
    """What a release is and promises."""
    return {
        "label": label,
        "method": release.provenance.method,
        "parameters": release.provenance.parameters,
        "claim": release.claim.spec(),
        "sentence": release.claim.sentence(),
        "assumptions": list(getattr(release.claim, "assumptions", ())),
        "layout": release.layout,
        "rows": release.rows,
        "classes": len(release.histograms),
    }


def _show(about: dict[str, Any], folder: Path) -> None:
    classes = "buckets" if about["layout"] == "buckets" else "classes"
    say(f"{about['label']}: {about['rows']:,.0f} rows in {about['classes']:,} {classes}, in {folder}.")
    say(f"Claim: {about['sentence']}.")
    for assumption in about["assumptions"]:
        say(f"Assumes: {assumption}.")
