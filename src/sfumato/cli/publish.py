"""`sfumato publish`: one method, one setting, one release."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from sfumato.cli.budget import charge, show_charge
from sfumato.cli.options import File, Json, LedgerFile, Parquet, SchemaFile
from sfumato.cli.parameters import DiversityForm, Parameters, method_from
from sfumato.cli.show import measurements, print_json, say, to_json
from sfumato.cli.study import MEASURES, RELEASE
from sfumato.files import place

if TYPE_CHECKING:
    from sfumato.cli.study import Study
    from sfumato.privacy.ledger import Ledger
    from sfumato.release import Release
    from sfumato.trials.recommendation import Recommendation

EXAMPLE = "sfumato publish people.csv --schema people.toml --method mondrian --k 10 -o release"


def command(
    file: File,
    schema: SchemaFile,
    method: Annotated[
        str,
        typer.Option(
            "--method",
            metavar="NAME",
            show_default=False,
            help="mondrian, anatomy, suppression (the sensitive column alone) or original (no protection). "
            "Differentially private, with --epsilon: quad-tree, kd-tree, hybrid-tree, privtree, diffmulti, diffgen, "
            "rps, dpcube, privbayes or marginals. For sensitive values alone: dirichlet, with (epsilon, delta), "
            "or local, with noise on every one of them.",
        ),
    ],
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FOLDER", show_default=False, help="A new folder for the release.")
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
        typer.Option(
            "--distance",
            help="How --t measures: earth mover's with a ground distance (equal is the default), or Jensen-Shannon.",
        ),
    ] = None,
    delta: Annotated[
        float | None,
        typer.Option(
            "--delta",
            help="delta-disclosure: bounds log ratios. For mst and dirichlet, how likely their promise may fail.",
        ),
    ] = None,
    alpha: Annotated[
        float | None, typer.Option("--alpha", help="With --k, (alpha,k)-anonymity: the largest share of a value.")
    ] = None,
    beta: Annotated[float | None, typer.Option("--beta", help="beta-likeness: bounds relative gains.")] = None,
    enhanced: Annotated[bool, typer.Option("--enhanced", help="With --beta, enhanced beta-likeness.")] = False,
    cut: Annotated[
        Literal["ncp", "median"] | None,
        typer.Option(
            "--cut",
            help="How Mondrian cuts: for the least information loss (ncp, the default), or at "
            "the median of the widest axis.",
        ),
    ] = None,
    recoding: Annotated[
        Literal["generalize", "bucketize"] | None,
        typer.Option(
            "--recoding",
            help="Publish generalized rows (the default), or exact quasi-identifiers with "
            "the sensitive values per bucket.",
        ),
    ] = None,
    epsilon: Annotated[
        float | None, typer.Option("--epsilon", help="Differential privacy: what the release may cost.")
    ] = None,
    height: Annotated[int | None, typer.Option("--height", help="How many levels a private tree has.")] = None,
    h: Annotated[int | None, typer.Option("--h", help="How often DiffMulti and DiffGen specialize.")] = None,
    utility: Annotated[
        Literal["dm", "ncp", "max", "purity"] | None,
        typer.Option("--utility", help="By what DiffMulti chooses where to specialize."),
    ] = None,
    levels: Annotated[
        int | None, typer.Option("--levels", help="How often DiffMulti specializes one record at most.")
    ] = None,
    degree: Annotated[
        int | None, typer.Option("--degree", help="On how many others PrivBayes lets a column depend.")
    ] = None,
    mechanism: Annotated[
        Literal["randomized-response", "geometric", "laplace"] | None,
        typer.Option(
            "--mechanism",
            help="What local noise is: randomized response (the default), or noise that keeps near values near.",
        ),
    ] = None,
    rows: Annotated[
        Literal["generalized", "synthetic"] | None,
        typer.Option(
            "--rows",
            help="Publish noisy counts as rows generated from them: the boxes as they are, or "
            "exact values drawn inside them.",
        ),
    ] = None,
    ledger: LedgerFile = None,
    parquet: Parquet = False,
    as_json: Json = False,
) -> None:
    """Publish a table by one method at one setting.

    Mondrian takes any combination of requirements, Anatomy takes --l alone. The release is checked against its claim
    and written to a new folder. What a differentially private release costs is charged to the ledger before noise is
    drawn; see sfumato budget.
    """
    from sfumato.data import read
    from sfumato.privacy.ledger import Ledger
    from sfumato.publish.publication import publish_to

    parameters = Parameters(
        k=k,
        l=l,
        l_form=l_form,
        c=c,
        t=t,
        distance=distance,
        delta=delta,
        alpha=alpha,
        beta=beta,
        enhanced=enhanced or None,
        cut=cut,
        recoding=recoding,
        epsilon=epsilon,
        height=height,
        h=h,
        utility=utility,
        degree=degree,
        levels=levels,
        mechanism=mechanism,
    )
    chosen = method_from(method, parameters)
    book = Ledger(ledger)
    release, folder = publish_to(chosen, read(file, schema), output, ledger=book, parquet=parquet, rows=rows)
    about, charged = _about(release, chosen.label), charge(release, book)
    if as_json:
        print_json({"release": str(folder), **about, "charge": charged})
    else:
        _show(about, folder)
        show_charge(charged)


def publish_recommended(
    study: Study, recommendation: Recommendation, ledger: Ledger, *, parquet: bool = False
) -> Release:
    """Write the recommended release in place of a study's earlier one, and what it measures beside it."""
    from sfumato.measures.measure import measure
    from sfumato.publish.publication import settle

    release = recommendation.publish(ledger=ledger, folder=study.release)
    measured = measurements(measure(recommendation.table, release))
    place(study.folder / MEASURES, _private(recommendation, release, measured))
    with tempfile.TemporaryDirectory(prefix=f".{RELEASE}.", dir=study.folder) as temporary:
        earlier, new = Path(temporary) / "earlier", Path(temporary) / "new"
        release.save(new, parquet=parquet)
        if study.release.exists():
            study.release.rename(earlier)
        try:
            new.rename(study.release)
        except BaseException:
            if earlier.exists():
                earlier.rename(study.release)
            raise
    settle(release, ledger)
    return release


def _private(recommendation: Recommendation, release: Release, measured: dict[str, Any]) -> str:
    spec = {
        "about": "measured on the real data, for the publisher's eyes; not to be published",
        "release": RELEASE,
        "setting": recommendation.trial.method.label,
        "claim": release.claim.spec(),
        "measures": measured,
    }
    return to_json(spec) + "\n"


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
