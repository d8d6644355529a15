"""Advice: the column that makes a table hard is named, and following the advice gives a release that is fit."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field, replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest

from sfumato.data import read
from sfumato.methods import Mondrian, PrivBayes
from sfumato.schema import Schema
from sfumato.trials import probing
from sfumato.trials.advice import Adviser
from sfumato.trials.audience import FLOORS
from sfumato.trials.choice import Standard
from sfumato.trials.edits import possible_edits
from sfumato.trials.frontier import frontier
from sfumato.trials.probing import Probes
from sfumato.trials.trial import SEEDS, run_trial

if TYPE_CHECKING:
    from sfumato.data import Table
    from sfumato.trials.recommendation import Recommendation

ROWS = 600
SETTINGS = [*(Mondrian(k=k) for k in (2, 10, 50)), PrivBayes(epsilon=3)]


def people(code: bool, columns: int = 3) -> tuple[pl.DataFrame, dict[str, Any]]:
    """People with a few small columns; a `code` that nearly everybody has for themselves makes them hard to hide.

    The illness hangs on the code alone, so that whoever is found by the code is found out.
    """
    draw = np.random.default_rng(3)
    frame = {f"c{number}": draw.integers(0, 4, ROWS).astype(str) for number in range(columns)}
    spec: dict[str, Any] = {name: {"role": "quasi", "kind": "categorical", "values": list("0123")} for name in frame}
    numbers = draw.permutation(ROWS)
    if code:
        frame["code"] = numbers.astype(str)
        spec["code"] = {"role": "quasi", "kind": "numeric", "min": 0, "max": ROWS - 1}
    frame["illness"] = draw.integers(0, 6, ROWS).astype(str)
    spec["illness"] = {"role": "sensitive", "kind": "categorical", "values": list("012345")}
    return pl.DataFrame(frame), {"name": "hard", "columns": spec}


def table_of(code: bool, columns: int = 3) -> Table:
    rows, schema = people(code, columns)
    return read(rows, schema)


def expect_fit(best: Recommendation) -> None:
    assert best.trial is not None
    assert best.standard.floor is not None
    assert best.candidates[-1].risk <= best.standard.floor.most
    assert best.candidates[-1].use <= 0.3


def test_following_the_advice_gives_a_release_that_is_fit() -> None:
    """With the code, exact enough counts are found only in releases that give people away."""
    asked: dict[str, Any] = {"max_query_error": 0.06}
    rows, schema = people(code=True)
    best = frontier(read(rows, schema), SETTINGS, workers=1).recommend(**asked, audience="public")
    assert best.trial is None
    assert best.advice is not None
    assert best.advice.trial is not None
    assert "code" in {edit.column for edit in best.advice.edits}
    assert {one.edit.column for one in best.advice.columns} == {"c0", "c1", "c2", "code"}
    spelled = schema["columns"] | tomllib.loads(best.advice.toml)["columns"]
    edited = Schema.parse({"name": "hard", "columns": spelled})
    assert edited == best.advice.schema == best.advice.schema_for(Schema.parse(schema))
    again = frontier(read(rows, edited), SETTINGS, workers=1).recommend(**asked, audience="public")
    expect_fit(again)
    assert again.candidates[-1].use <= best.advice.trial.at_worst(again.standard.purpose.measure)


@dataclass
class Wishes:
    """Stands for probes: a table is fit if one of these sets is edited, `coarse` meaning coarsened or gone."""

    enough: list[set[str]]
    asked: list[list[str]] = field(default_factory=list)

    def fit(self, table: Table) -> str | None:
        whole = {axis.name: axis.size for axis in TOWN.schema.quasi}
        left = {axis.name: axis.size for axis in table.schema.quasi}
        gone = {name for name in whole if name not in left}
        coarse = {f"coarse {name}" for name in whole if left.get(name, 0) < whole[name]}
        self.asked.append(sorted(gone | coarse))
        return "fit" if any(needed <= gone | coarse for needed in self.enough) else None


TOWN = table_of(code=True)


def searched(*enough: set[str]) -> tuple[list[tuple[str, str]], Wishes]:
    """The edits that are found where each of these sets is enough, and what was tried."""
    adviser: Any = Adviser(table=TOWN, trials=[], standard=Standard(floor=None), settings=lambda _: [])
    wishes: Any = Wishes(list(enough))
    first: Any = [
        SimpleNamespace(edit=edit, nearness=place, fit=wishes.fit(edit.apply(TOWN)) is not None)
        for place, edit in enumerate(possible_edits(TOWN))
    ]
    edits, _ = adviser._search(first, wishes)
    return [(edit.action, edit.column) for edit in edits], wishes


@pytest.mark.parametrize(
    ("enough", "expected"),
    [
        ([{"coarse code"}], [("coarsen", "code")]),
        ([{"code"}, {"coarse c1"}], [("coarsen", "c1")]),
        ([{"code"}], [("drop", "code")]),
        ([{"coarse c0", "coarse code"}], [("coarsen", "c0"), ("coarsen", "code")]),
        ([{"c0", "coarse code"}], [("drop", "c0"), ("coarsen", "code")]),
        ([{"c0", "c2"}], [("drop", "c0"), ("drop", "c2")]),
        ([{"c0", "c1", "c2", "code"}], []),
    ],
)
def test_no_edit_is_advised_that_could_be_taken_back(enough: list[set[str]], expected: list[tuple[str, str]]) -> None:
    found, wishes = searched(*enough)
    assert found == expected
    assert len(wishes.asked) <= 8 + 16, "a bounded number of versions of the table is tried"


def test_risk_is_measured_only_where_it_decides_and_the_nearest_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    table, standard, asked = table_of(code=True), Standard(floor=FLOORS["public"], enough=0.01), []
    probes = Probes(methods=SETTINGS, standard=standard)
    every = [run_trial(table, method, SEEDS[:1]) for method in SETTINGS]
    measured = probing.assess

    def counting(*arguments: Any, only: set[str]) -> Any:
        asked.append(only)
        return measured(*arguments, only=only)

    monkeypatch.setattr(probing, "assess", counting)
    nearest = probes.nearest(table)
    assert nearest is not None
    best = min(filter(standard.admits, every), key=standard.share_used)
    assert (nearest.trial.id, nearest.nearness) == (best.id, standard.share_used(best))
    assert 0 < sum("disclosure_added" in only for only in asked) < len(SETTINGS)


def test_advice_says_how_far_it_is() -> None:
    told: list[tuple[str, int, int]] = []
    hard = frontier(table_of(code=True), SETTINGS, workers=1)
    hard.recommend(audience="public", max_query_error=0.03, progress=lambda *step: told.append(step))
    assert [done for _, done, _ in told] == list(range(len(told)))
    assert all(done < total for _, done, total in told)
    assert any("leave out code" in words for words, *_ in told)


def test_an_easy_table_gets_no_advice() -> None:
    best = frontier(table_of(code=False), SETTINGS, workers=1).recommend()
    expect_fit(best)
    assert best.advice is None


def test_a_table_that_nothing_helps_is_told_so() -> None:
    """One column cannot be left out, and no bins make noise small enough for errors below a millionth."""
    noisy = frontier(table_of(code=True, columns=0), [PrivBayes(epsilon=0.01)], workers=1)
    asked = noisy.recommend(max_query_error=1e3, advise=False)
    adviser = replace(asked.standard, enough=1e-6, limits={})
    told = Adviser(
        table=noisy.table, trials=noisy.trials, standard=adviser, settings=lambda _: [PrivBayes(epsilon=0.01)]
    )
    advice = told.advise()
    assert (advice.trial, advice.schema, advice.edits) == (None, None, ())
    assert advice.sentence == "No edit that was tried makes a release fit."
    assert [one.edit.action for one in advice.columns] == ["coarsen"]
    assert all("it would not do" in sentence for sentence in advice.more)
    assert len(advice.more) == 3
