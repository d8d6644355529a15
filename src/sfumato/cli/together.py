"""Releases of overlapping people, read one by one and looked at together."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sfumato.cli.show import note
from sfumato.data import Table
from sfumato.errors import ReleaseError
from sfumato.measures.attacks import BeliefShift
from sfumato.measures.attacks.composition import HIGHEST_BELIEF, together
from sfumato.measures.base import expect_same_axes
from sfumato.privacy.distances import shares
from sfumato.release import FlowRelease, ForeignRelease, Release, load_release
from sfumato.schema import Schema


def read_release(path: Path, schema: Schema) -> tuple[Release, int]:
    """The release, and how many rows it publishes as suppressed."""
    if not path.is_dir():
        foreign = ForeignRelease.read(path, schema)
        return foreign.release, foreign.suppressed
    found = load_release(path)
    if isinstance(found, FlowRelease):
        raise ReleaseError(f"{path}: this release holds flows; measure them with sfumato commute evaluate")
    return found, 0


def belief_figures(table: Table, releases: Sequence[Release]) -> dict[str, float]:
    """How sure and how right looking people up makes those who have all of these releases."""
    for release in releases:
        expect_same_axes(table, release, "a release has")
    columns = table.schema.secret_names
    each = [_figures_of(table.focused(column), [one.focused(column) for one in releases]) for column in columns]
    return {name: max(figures[name] for figures in each) for name in each[0]}


def _figures_of(table: Table, releases: Sequence[Release]) -> dict[str, float]:
    """The same for a single sensitive column."""
    prior = shares(table.overall)
    one = releases[0] if len(releases) == 1 else together(releases, table.points, prior)
    return {HIGHEST_BELIEF.name: float(one.posteriors(table.points, prior).max()), **BeliefShift().run(table, one)}


def say_together(table: Table, release: Release, beside: Sequence[Path], others: Sequence[Release]) -> dict[str, Any]:
    """Tell the publisher, and nobody else, what a release gives away with others beside it; the same as figures."""
    names = ("highest_belief", "guessed_right")
    alone, all_of_them = (belief_figures(table, having) for having in ([release], [release, *others]))
    note(
        f"For your eyes only: looking people up guesses {alone['guessed_right']:.1%} right in this release alone, and "
        f"{all_of_them['guessed_right']:.1%} together with {', '.join(map(str, beside))}. What it makes somebody "
        f"believe of a person, rightly or not, is at most {alone['highest_belief']:.0%} certain alone, and "
        f"{all_of_them['highest_belief']:.0%} together."
    )
    figures = {"alone": alone, "together": all_of_them}
    return {
        "releases": list(map(str, beside)),
        **{key: {name: of[name] for name in names} for key, of in figures.items()},
    }
