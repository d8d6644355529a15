"""What makes a table hard, where nothing can be recommended, and the edit of its schema that helps.

Every quasi-identifier is left out and coarsened in turn, and a few settings are tried on what is left. If one such edit
is enough, it is advised, coarsening before leaving out. Otherwise several columns are coarsened, coarsened far or left
out, as few as it takes, those first that bring releases nearest to what is asked; then each edit is taken back or made
milder, as long as that is enough.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce

import numpy as np

from sfumato.data import Table
from sfumato.methods import DPMethod, Method
from sfumato.schema import Schema
from sfumato.trials.audience import risk_words
from sfumato.trials.choice import Standard, risk
from sfumato.trials.document import AdviceEntry, ColumnEntry
from sfumato.trials.edits import Edit, coarsening, possible_edits, toml_of
from sfumato.trials.probing import Nearest, Probes, Settings
from sfumato.trials.purpose import percent
from sfumato.trials.trial import Trial, trial_id

MAX_PROBES = 3
"""How many settings are tried on every version of the table."""
MAX_EDITS = 24
"""How many edits are tried by themselves: of wide tables, those of the columns with most values."""
RAREST = (0.01, 0.05)
MULTIPLES = (2, 4, 10)
MAX_EPSILON = 10.0

Progress = Callable[[str, int, int], None]
"""Told what is tried next, how many versions of the table were tried, and how many there will be at least."""


@dataclass(frozen=True, kw_only=True)
class Outcome(Nearest):
    """What an edit would make of the best of the settings that were tried."""

    edit: Edit
    sentence: str


@dataclass(frozen=True, kw_only=True)
class Advice:
    """The edits to make, what they would give, and what each quasi-identifier costs."""

    sentence: str
    edits: tuple[Edit, ...]
    schema: Schema | None = field(repr=False)
    toml: str
    trial: Trial | None
    columns: tuple[Outcome, ...] = field(repr=False)
    more: tuple[str, ...] = ()

    def schema_for(self, schema: Schema) -> Schema:
        """A schema with the edits made."""
        return reduce(lambda edited, edit: edit.schema(edited), self.edits, schema)

    def entry(self) -> AdviceEntry:
        """The advice as the report needs it."""
        return AdviceEntry(
            sentence=self.sentence,
            edits=[edit.words for edit in self.edits],
            toml=self.toml,
            columns=[
                ColumnEntry(column=one.edit.column, action=one.edit.action, sentence=one.sentence)
                for one in self.columns
            ],
            more=self.more,
        )


@dataclass(kw_only=True)
class Adviser:
    """Trials of a table of which none is fit, what was asked of them, and the settings that a table has by default."""

    table: Table
    trials: Sequence[Trial]
    standard: Standard
    settings: Settings
    progress: Progress | None = None
    _tried: int = 0
    _total: int = 0

    def advise(self) -> Advice:
        """Seek the edits after which a release is fit."""
        probes = self.probes()
        edits = self._single_edits()
        self._total = len(edits)
        first = [outcome for edit in edits if (outcome := self._outcome(edit, probes))]
        chosen, trial = self._search(first, probes)
        chosen = chosen if trial else ()
        schema = self._edited(chosen).schema
        return Advice(
            sentence=self._sentence(chosen, trial),
            edits=chosen,
            schema=schema if trial else None,
            toml=toml_of(schema, [edit.column for edit in chosen]),
            trial=trial,
            columns=tuple(first),
            more=tuple(self._more(probes)),
        )

    def probes(self) -> Probes:
        """The settings that come nearest to what is asked, each of another method."""
        usual = {trial_id(method) for method in self.settings(self.table)}
        known = [trial for trial in self.trials if trial.id in usual and self.standard.admits(trial)]
        ranked = sorted(known, key=lambda trial: (self.standard.share_used(trial), trial.id))
        leaders: dict[str, Method] = {}
        for trial in ranked:
            leaders.setdefault(trial.method.name, trial.method)
        return Probes(methods=[*leaders.values()][:MAX_PROBES], standard=self.standard, settings=self.settings)

    def _single_edits(self) -> list[Edit]:
        """Edits of the columns with most values, in the order of the schema."""
        sizes = {axis.name: axis.positions for axis in self.table.schema.quasi}
        edits = list(possible_edits(self.table))
        largest = sorted(edits, key=lambda edit: -sizes[edit.column])[:MAX_EDITS]
        return [edit for edit in edits if edit in largest]

    def _search(self, first: list[Outcome], probes: Probes) -> tuple[tuple[Edit, ...], Trial | None]:
        """One edit if that is enough, else several columns coarsened, coarsened far, or all but one left out."""
        ranked = sorted(first, key=lambda outcome: (outcome.edit.action == "drop", outcome.nearness))
        for one in ranked:
            if one.fit and (found := self._fit([one.edit], probes)):
                return self._softened([one.edit], found, probes)
        near, drops = ([one.edit for one in ranked if one.edit.action == action] for action in ("coarsen", "drop"))
        far = [coarsening(self.table, edit.column, far=True) or edit for edit in near]
        last = [edit for edit in far if edit.column == drops[-1].column] if drops else []
        for several in (near, far, drops[:-1], [*last, *drops[:-1]]):
            fewest, found = self._fewest(several, probes)
            if found:
                return self._softened(fewest, found, probes)
        return (), None

    def _fewest(self, edits: Sequence[Edit], probes: Probes) -> tuple[Sequence[Edit], Trial | None]:
        """The first of some edits, as many as it takes, if all of them together are enough."""
        found = self._fit(edits, probes) if edits else None
        too_few, count = 0, len(edits)
        while found and count - too_few > 1:
            middle = (too_few + count) // 2
            fewer = self._fit(edits[:middle], probes)
            too_few, count, found = (too_few, middle, fewer) if fewer else (middle, count, found)
        return edits[:count], found

    def _softened(self, edits: Sequence[Edit], found: Trial, probes: Probes) -> tuple[tuple[Edit, ...], Trial]:
        """The edits without those that are needless, and with milder ones in their place, as far as that is enough."""
        kept = list(edits)
        for edit in reversed(edits):
            for instead in ([], *([milder] for milder in self._milder(edit))):
                fewer = [one for one in kept if one is not edit] + instead
                if fewer and (still := self._fit(fewer, probes)):
                    kept, found = fewer, still
                    break
        order = [axis.name for axis in self.table.schema.quasi]
        return tuple(sorted(kept, key=lambda one: order.index(one.column))), found

    def _milder(self, edit: Edit) -> list[Edit]:
        """What could be done to a column in place of an edit, the mildest first."""
        several = [coarsening(self.table, edit.column, far=far) for far in (False, True)]
        size = edit.axis.size if edit.axis else 0
        return [milder for milder in several if milder and milder.axis and milder.axis.size > size]

    def _edited(self, edits: Sequence[Edit]) -> Table:
        return reduce(lambda table, edit: edit.apply(table), edits, self.table)

    def _fit(self, edits: Sequence[Edit], probes: Probes) -> Trial | None:
        self._tell(_in_words(edits))
        return probes.fit(self._edited(edits))

    def _outcome(self, edit: Edit, probes: Probes) -> Outcome | None:
        """What an edit would give, roughly."""
        self._tell(edit.words)
        best = probes.nearest(edit.apply(self.table))
        if best is None:
            return None
        sentence = f"{edit.words[0].upper()}{edit.words[1:]}: {self._figures(best.trial)}."
        return Outcome(edit=edit, sentence=sentence, **vars(best))

    def _tell(self, what: str) -> None:
        self._total = max(self._total, self._tried + 1)
        if self.progress:
            self.progress(f"what if: {what}", self._tried, self._total)
        self._tried += 1

    def _figures(self, trial: Trial) -> str:
        return (
            f"with {trial.method.label}, {self.standard.purpose.sentence(self.standard.use(trial))}, and "
            f"{risk_words(percent(risk(trial)))}"
        )

    def _sentence(self, edits: Sequence[Edit], trial: Trial | None) -> str:
        if trial is None:
            return "No edit that was tried makes a release fit."
        return f"To get a release that is fit, {_in_words(edits)}; then, {self._figures(trial)}, at worst."

    def _more(self, probes: Probes) -> list[str]:
        """What other people, more of them or more ε would give, with the nearest setting alone."""
        alone = replace(probes, methods=probes.methods[:1], settings=None)
        return [*self._without_the_rarest(alone), *self._with_more_epsilon(probes), *self._with_more_rows(alone)]

    def _without_the_rarest(self, probes: Probes) -> list[str]:
        """What leaving out the people would give whose values are rarest together; they count as lost."""
        shares = [np.bincount(column + 1, self.table.weights) / self.table.n for column in self.table.points.T]
        rarity = -sum(np.log(share[column + 1]) for share, column in zip(shares, self.table.points.T, strict=True))
        order = np.argsort(-rarity, kind="stable")
        gone = np.cumsum(self.table.weights[order])
        for share in RAREST:
            rare = order[gone <= share * self.table.n]
            weights = np.where(np.isin(self.table.cell_point, rare), 0, self.table.cell_weight)
            self._tell(f"without the rarest {share:.0%} of people")
            best = probes.nearest(self.table.reweight(weights), against=self.table)
            if best and best.fit:
                break
        people = int(self.table.weights[rare].sum())
        return self._told(f"the {people:,} people whose values are rarest together left out", best)

    def _with_more_epsilon(self, probes: Probes) -> list[str]:
        """How large an ε would do for the nearest of the methods that have one."""
        private = next((probe for probe in probes.methods if isinstance(probe, DPMethod)), None)
        if private is None:
            return []
        epsilon, found = private.epsilon, None
        while epsilon < MAX_EPSILON and not (found and found.fit):
            epsilon = min(2 * epsilon, MAX_EPSILON)
            setting = replace(private, epsilon=epsilon)
            self._tell(setting.label)
            found = replace(probes, methods=[setting], settings=None).nearest(self.table)
        return self._told(f"ε = {epsilon:g}", found)

    def _with_more_rows(self, probes: Probes) -> list[str]:
        """How many times as many people would do, were they like these."""
        for multiple in MULTIPLES:
            self._tell(f"{multiple} times as many people")
            best = probes.nearest(self.table.reweight(self.table.cell_weight * multiple))
            if best and best.fit:
                break
        return self._told(f"{multiple} times as many people like these", best)

    def _told(self, what: str, best: Nearest | None) -> list[str]:
        if best is None:
            return []
        would = "it would do" if best.fit else "it would not do"
        return [f"With {what}, {would}: {self._figures(best.trial)}."]


def _in_words(edits: Sequence[Edit]) -> str:
    """What to do, columns to leave out named together."""
    dropped = [edit.column for edit in edits if edit.action == "drop"]
    leave_out = [f"leave out {_listed(dropped)}"] if dropped else []
    return _listed([*(edit.words for edit in edits if edit.action != "drop"), *leave_out])


def _listed(words: Sequence[str]) -> str:
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)
