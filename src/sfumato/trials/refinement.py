"""Where to try more: between neighbouring settings where the floor is crossed, and again where chance may decide.

Both follow from what was tried before and from nothing else, so that a search that was interrupted goes the same way.
"""

import itertools
import json
from collections.abc import Sequence
from typing import Any, get_args, get_type_hints

from sfumato.methods import Method, make_method
from sfumato.trials.choice import Standard, risk
from sfumato.trials.dominance import efficient
from sfumato.trials.trial import Trial, trial_id

DIGITS = 2


def between(first: Method, second: Method) -> Method | None:
    """The setting halfway between two that differ in one number: their geometric mean in two digits, if it is new."""
    name = only_difference(first, second)
    if name is None:
        return None
    low, high = sorted((first.parameters()[name], second.parameters()[name]))
    middle: float = float(f"{(low * high) ** 0.5:.{DIGITS}g}")
    if name in _whole_numbers(first):
        middle = round(middle)
    return make_method(first.name, {**first.parameters(), name: middle}) if low < middle < high else None


def _whole_numbers(method: Method) -> set[str]:
    """The parameters of a method that are whole numbers."""
    kinds = get_type_hints(type(method))
    return {name for name, kind in kinds.items() if kind is int or int in get_args(kind)}


def only_difference(first: Method, second: Method) -> str | None:
    """The name of the number above 0 in which two settings of one method differ, if they differ in nothing else."""
    one, other = first.parameters(), second.parameters()
    names = [name for name in one.keys() | other.keys() if one.get(name) != other.get(name)]
    if first.name != second.name or len(names) != 1:
        return None
    return names[0] if all(_is_positive(found.get(names[0])) for found in (one, other)) else None


def _is_positive(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and value > 0


def finer_settings(trials: Sequence[Trial], standard: Standard, most: int) -> list[Method]:
    """Settings between neighbours of which one keeps the floor and the other does not, most promising first.

    What lies between can be at most about as useful as the neighbour that does not keep the floor, so only pairs
    matter in which that is more useful than the most useful trial that does.
    """
    known = [trial for trial in trials if trial.refused is None and standard.admits(trial)]
    kept = [standard.use(trial) for trial in known if standard.is_safe(trial) and standard.keeps_limits(trial)]
    best = min(kept, default=float("inf"))
    tried = {trial.id for trial in trials}
    found: dict[str, tuple[float, Method]] = {}
    for unsafe, safe in _crossings(known, standard):
        method = between(unsafe.method, safe.method)
        if method and trial_id(method) not in tried and standard.use(unsafe) < best:
            found.setdefault(trial_id(method), (standard.use(unsafe), method))
    ranked = sorted(found.items(), key=lambda each: (each[1][0], each[0]))
    return [method for _, (_, method) in ranked[:most]]


def _crossings(trials: Sequence[Trial], standard: Standard) -> list[tuple[Trial, Trial]]:
    """In each series of settings that differ in one number, the neighbours between which the floor is crossed."""
    series: dict[tuple[str, str], list[tuple[float, Trial]]] = {}
    for trial in trials:
        given = trial.method.parameters()
        for name, value in given.items():
            if _is_positive(value):
                rest = json.dumps([trial.method.name, {key: given[key] for key in sorted(given) if key != name}])
                series.setdefault((rest, name), []).append((value, trial))
    found = []
    for members in series.values():
        ordered = [trial for _, trial in sorted(members, key=lambda each: each[0])]
        for first, second in itertools.pairwise(ordered):
            if standard.is_safe(first) != standard.is_safe(second):
                found.append((second, first) if standard.is_safe(first) else (first, second))
    return found


def unsettled(trials: Sequence[Trial], standard: Standard, most: int) -> list[Trial]:
    """Trials with a single run that more runs could make a candidate, or that are efficient, most promising first.

    Over three runs the pessimistic end of an interval is worse than each of them: it is 2.48 standard deviations from
    the mean, and no run is further than 1.16. So what breaks the floor once will not be fit, and what is in no figure
    better than a trial that is fit will not be chosen.
    """
    known = [trial for trial in trials if trial.refused is None]
    fit = [trial for trial in known if standard.is_fit(trial)]
    chart = zip(known, efficient(*standard.losses(known)), strict=True)
    shown = {trial.id for trial, is_efficient in chart if is_efficient}
    found = [
        trial
        for trial in known
        if not trial.is_settled
        and (trial.id in shown or (standard.keeps_all(trial) and not any(beats(one, trial, standard) for one in fit)))
    ]
    return sorted(found, key=lambda trial: (standard.share_used(trial), trial.id))[:most]


def beats(first: Trial, second: Trial, standard: Standard) -> bool:
    """Whether a trial is at least as safe and as useful as another, at worst."""
    return risk(first) <= risk(second) and standard.use(first) <= standard.use(second)


def undecided(trials: Sequence[Trial], standard: Standard, most: int) -> list[Trial]:
    """Randomized trials of which more runs could show that they are the ones to recommend, most promising first.

    Those are the recommended one itself, as long as there are rivals, and every trial that would keep all that is asked
    and be more useful, were its means certain. What cannot win any more is not repeated.
    """
    known = [trial for trial in trials if trial.refused is None and trial.is_settled and standard.admits(trial)]
    fit = [trial for trial in known if standard.is_fit(trial)]
    use = min(map(standard.use, fit), default=float("inf"))
    rivals = [
        trial
        for trial in known
        if trial.runs and standard.could_be_chosen(trial, use) and not (trial in fit and standard.use(trial) == use)
    ]
    leader = [trial for trial in fit if trial.runs and standard.use(trial) == use] if rivals else []
    measure = standard.purpose.measure.name
    return [*leader, *sorted(rivals, key=lambda trial: (trial.measures[measure], trial.id))][:most]
