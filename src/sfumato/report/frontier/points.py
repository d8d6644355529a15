"""What the chart shows for a pair of measures: a point for each trial, and reference values on both axes.

`trial_rows` and `axes` hold everything that does not depend on the pair; the page combines them in the browser
exactly as `pair_rows` does here.
"""

import json
import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from textwrap import wrap
from typing import Any

from sfumato.errors import ParameterError
from sfumato.methods import FAMILIES
from sfumato.report.numbers import HINTS, axis_format, axis_unit, number_styles
from sfumato.trials.document import FrontierDocument, TrialEntry

RECODINGS = {"generalize": "generalized", "bucketize": "bucketized", "noise": "noisy"}
FAMILY_OF = {kind.name: family for family, kinds in FAMILIES.items() for kind in kinds}
FAMILY_TITLES = {
    "partition": "Partitions: classes and buckets",
    "trees": "Trees with noisy counts",
    "models": "Synthetic rows from models",
    "randomize": "Randomized sensitive values",
}
FORMS = {
    "partition": "One row for each person, with values blurred into ranges and groups",
    "trees": "Noisy counts of groups of people, and no row of anybody",
    "models": "Made-up rows that follow noisy statistics of the table, and no row of anybody",
    "randomize": "One row for each person, with a sensitive value that was changed at random",
}
BUCKETS = "One exact row for each person, with the sensitive values of each group of people beside them"
MAIN_MEASURES = 6
NOTE_CHARACTERS, NOTE_MARGIN, PIXELS_PER_CHARACTER = 24, 14, 6.5
MARGIN = 0.03
"""Of an axis, what is left free beyond the last value."""
CROWDED = 3
"""How many times as large as what matters the largest value is where a log scale is better."""
DECADES = 3
"""Powers of ten that a log scale shows above the part around zero, at the most."""


def measures_of(document: FrontierDocument, family: str) -> list[str]:
    """The measures of a family, in the order of the document."""
    return [name for name, measure in document.measures.items() if measure.family == family]


def main_measures(document: FrontierDocument) -> list[str]:
    """The measures shown first: the default pair, those the recommendation cites, then others in turn."""
    cited = [figure.measure for figure in document.recommendation.figures] if document.recommendation else []
    others = [name for name, measure in document.measures.items() if measure.direction != "none"]
    wanted = list(dict.fromkeys([*document.default_pair, *cited]))
    chosen = list(dict.fromkeys([*wanted, *others]))[: max(len(wanted), MAIN_MEASURES)]
    return [name for name in document.measures if name in chosen]


def efficient_trials(document: FrontierDocument, privacy: str, utility: str) -> set[str]:
    """The ids of the trials that no other beats on both measures."""
    return set(document.efficient.get(f"{privacy}|{utility}", ()))


def recommended_id(document: FrontierDocument) -> str | None:
    """The id of the recommended trial."""
    return document.recommendation.trial if document.recommendation else None


def format_parameters(parameters: Mapping[str, Any]) -> str:
    """Parameters as a reader would say them."""
    written = (value if isinstance(value, str) else json.dumps(value) for value in parameters.values())
    return ", ".join(f"{name} = {value}" for name, value in zip(parameters, written, strict=True)) or "none"


def trial_rows(document: FrontierDocument) -> list[dict[str, Any]]:
    """Each trial as the chart names it, with its measures in words, whatever the pair."""
    styles = number_styles(document.measures, [trial.measures for trial in document.trials])
    shared, rows = _shared_series(document), []
    steps: dict[str, int] = defaultdict(int)
    for trial in document.trials:
        is_recommended = trial.id == recommended_id(document)
        lines = ["Recommended:"] * is_recommended + wrap(trial.label, NOTE_CHARACTERS)
        recoding = RECODINGS.get(trial.recoding or "", "other")
        curve = f"{trial.series}, {recoding}" if trial.series in shared else trial.series
        steps[curve] += 1
        rows.append(
            {"id": trial.id, "label": trial.label, "series": trial.series, "claim": trial.claim}
            | {
                "endpoint": trial.endpoint,
                "eligible": trial.eligible,
                "family": FAMILY_OF.get(trial.method, "other"),
                "recoding": recoding,
                "curve": curve,
                "step": steps[curve],
                "parameters": format_parameters(trial.parameters),
                "recommended": is_recommended,
                "note": "\n".join(lines),
                "room": NOTE_MARGIN + PIXELS_PER_CHARACTER * max(map(len, lines), default=0),
                "text": {
                    name: style.with_interval(trial.measures.get(name), trial.intervals.get(name))
                    for name, style in styles.items()
                },
            }
        )
    return rows


def form_of(row: Mapping[str, Any]) -> str | None:
    """What is published, for who knows no method by name."""
    return BUCKETS if row["recoding"] == "bucketized" else FORMS.get(row["family"])


def _shared_series(document: FrontierDocument) -> set[str]:
    """The series that come in more than one recoding."""
    recodings = defaultdict(set)
    for trial in document.trials:
        recodings[trial.series].add(trial.recoding)
    return {series for series, several in recodings.items() if len(several) > 1}


def axes(document: FrontierDocument) -> dict[str, dict[str, Any]]:
    """How each measure stands on an axis: its title, number format, ends, reference values, which way is better.

    A log scale is linear up to `constant`, so that there is room for zero, and has `ticks` of its own. The measure is
    `skewed` if it shows more.
    """
    chosen = [trial for trial in document.trials if trial.id == recommended_id(document)]
    return {
        name: {
            "title": f"{measure.title} ({axis_unit(measure.unit)}), {HINTS[measure.direction]}",
            "short": measure.title,
            "lower": measure.direction != "higher",
            "format": axis_format(measure.unit),
            "scale": _telling_scale(document, name),
            "domain": extent(document.trials, name, chosen),
            **log_scale(_values(document.trials, name), *(mark["value"] for mark in _bounds(document, name))),
        }
        for name, measure in document.measures.items()
    }


def _values(trials: Sequence[TrialEntry], name: str) -> list[float]:
    return [value for trial in trials if (value := trial.measures.get(name)) is not None]


def _telling_scale(document: FrontierDocument, name: str) -> list[dict[str, Any]]:
    """What decides on a measure, or its reference values, unless they are just those of the end points, which have
    notes already."""
    bounds = _bounds(document, name)
    if bounds:
        return bounds
    ends = {trial.measures.get(name) for trial in document.trials if trial.endpoint}
    scale = document.measures[name].scale
    return [asdict(mark) for mark in scale] if any(mark.value not in ends for mark in scale) else []


def _bounds(document: FrontierDocument, name: str) -> list[dict[str, Any]]:
    """Where the floor under privacy lies, and from where on a release is of no use."""
    chosen = document.recommendation
    floor, use = (chosen.floor, chosen.use) if chosen else (None, None)
    found = []
    if floor and floor.measure == name:
        found.append({"value": floor.most, "text": f"the most that may be disclosed ({floor.audience})"})
    if use and use.measure == name and use.enough is not None:
        found.append({"value": use.enough, "text": "of use up to here"})
    return found


def extent(trials: Sequence[TrialEntry], name: str, whole: Sequence[TrialEntry] = ()) -> tuple[float, float]:
    """The ends of a measure's axis: all values, the intervals of `whole`, and a margin beyond those that are not zero.

    Intervals of others, which can be long, may end beyond the axis.
    """
    values = _values(trials, name) or [0.0]
    values += [end for trial in whole for end in trial.intervals.get(name, ())]
    low, high = min(values), max(values)
    if low == high:
        return low - 0.5 * (low != 0), high + 0.5
    margin = MARGIN * (high - low)
    return low - margin * (low != 0), high + margin * (high != 0)


def log_scale(values: Sequence[float], *bounds: float) -> dict[str, Any]:
    """Whether a log scale shows more, from where on it is one, and its ticks.

    It does where what matters lies in the first third of the way from zero to the largest value: a bound that decides,
    or half of the values. Far below a bound nothing is decided, and the scale is linear.
    """
    values = [value for value in values if math.isfinite(value)]
    sizes = sorted(abs(value) for value in values if value)
    if not sizes:
        return {"skewed": False, "constant": 1.0, "ticks": [0.0]}
    largest = sizes[-1]
    constant = max(sizes[0], largest / 10**DECADES, *(bound / 10 for bound in bounds))
    powers = range(math.floor(math.log10(constant)), math.ceil(math.log10(largest)) + 1)
    ticks = [tick for power in powers for step in (1, 2, 5) if constant <= (tick := step * 10.0**power) <= largest]
    middle = sorted(values)[len(values) // 2]
    skewed = min(values) >= 0 and CROWDED * min(middle, *bounds, largest) < largest
    below = [-tick for tick in reversed(ticks)] if min(values) < 0 else []
    return {"skewed": skewed, "constant": constant, "ticks": [*below, 0.0, *ticks]}


def share_of(axis: Mapping[str, Any], value: float, *, log: bool) -> float:
    """How far along an axis a value stands, from 0 to 1."""

    def place(number: float) -> float:
        return math.copysign(math.log1p(abs(number) / axis["constant"]), number) if log else number

    low, high = map(place, axis["domain"])
    return (place(value) - low) / (high - low)


def check_pair(document: FrontierDocument, privacy: str, utility: str) -> None:
    """Refuse measures that the document does not have."""
    for family, name in (("privacy", privacy), ("utility", utility)):
        if name not in measures_of(document, family):
            offered = ", ".join(measures_of(document, family))
            raise ParameterError(f"{name!r} is not a {family} measure of this frontier; expected one of {offered}")


def pair_rows(document: FrontierDocument, privacy: str, utility: str) -> list[dict[str, Any]]:
    """The points of a pair: trials that have both measures, with their place and whether they are efficient."""
    efficient, about = efficient_trials(document, privacy, utility), axes(document)
    rows = []
    for trial, row in zip(document.trials, trial_rows(document), strict=True):
        place: dict[str, Any] = {"efficient": trial.id in efficient}
        for axis, name in (("x", privacy), ("y", utility)):
            value, (low, high) = trial.measures.get(name), _on_axis(about[name], trial.intervals.get(name))
            place |= {axis: value, f"{axis}_low": low, f"{axis}_high": high}
            if value is not None:
                place[f"{axis}_share"] = share_of(about[name], value, log=about[name]["skewed"])
        if place["x"] is not None and place["y"] is not None:
            rows.append(row | place)
    return rows


def _on_axis(axis: Mapping[str, Any], bounds: Sequence[float] | None) -> tuple[float | None, ...]:
    """The part of an interval that its axis shows."""
    low, high = axis["domain"]
    return tuple(min(max(end, low), high) for end in bounds) if bounds else (None, None)


def reference_marks(axis: Mapping[str, Any], *, log: bool) -> list[dict[str, Any]]:
    """Reference values that fall on the axis, and how far along it they stand.

    `late` marks the far half, where the meaning is written before the value instead of after it.
    """
    low, high = axis["domain"]
    within = [mark for mark in axis["scale"] if low <= mark["value"] <= high]
    placed = [mark | {"share": share_of(axis, mark["value"], log=log)} for mark in within]
    return [mark | {"late": mark["share"] > 1 / 2} for mark in placed]
