"""What the chart shows for a pair of measures: a point for each trial, and reference values on both axes.

`trial_rows` and `axes` hold everything that does not depend on the pair; the page combines them in the browser
exactly as `pair_rows` does here.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict
from textwrap import wrap
from typing import Any

from sfumato.errors import ParameterError
from sfumato.report.numbers import HINTS, axis_format, axis_unit, number_styles
from sfumato.trials.document import FrontierDocument

RECODINGS = {"generalize": "generalized", "bucketize": "bucketized", "noise": "noisy"}
MAIN_MEASURES = 6
NOTE_CHARACTERS, NOTE_MARGIN, PIXELS_PER_CHARACTER = 24, 14, 6.5


def measures_of(document: FrontierDocument, family: str) -> list[str]:
    """The measures of a family, in the order of the document."""
    return [name for name, measure in document.measures.items() if measure.family == family]


def main_measures(document: FrontierDocument) -> list[str]:
    """The measures shown first: the default pair, those the recommendation cites, then others in turn."""
    cited = [figure.measure for figure in document.recommendation.figures] if document.recommendation else []
    others = [name for name, measure in document.measures.items() if measure.family != "shape"]
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
    rows = []
    for trial in document.trials:
        is_recommended = trial.id == recommended_id(document)
        lines = ["Recommended:"] * is_recommended + wrap(trial.label, NOTE_CHARACTERS)
        rows.append(
            {"id": trial.id, "label": trial.label, "series": trial.series, "claim": trial.claim}
            | {
                "endpoint": trial.endpoint,
                "recoding": RECODINGS.get(trial.recoding or "", "other"),
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


def axes(document: FrontierDocument) -> dict[str, dict[str, Any]]:
    """How each measure stands on an axis: its title, number format, reference values, which way is better."""
    return {
        name: {
            "title": f"{measure.title} ({axis_unit(measure.unit)}), {HINTS[measure.direction]}",
            "short": measure.title,
            "lower": measure.direction != "higher",
            "format": axis_format(measure.unit),
            "scale": _telling_scale(document, name),
        }
        for name, measure in document.measures.items()
    }


def _telling_scale(document: FrontierDocument, name: str) -> list[dict[str, Any]]:
    """The reference values of a measure, unless they are just those of the end points, which have notes already."""
    ends = {trial.measures.get(name) for trial in document.trials if trial.endpoint}
    scale = document.measures[name].scale
    return [asdict(mark) for mark in scale] if any(mark.value not in ends for mark in scale) else []


def check_pair(document: FrontierDocument, privacy: str, utility: str) -> None:
    """Refuse measures that the document does not have."""
    for family, name in (("privacy", privacy), ("utility", utility)):
        if name not in measures_of(document, family):
            offered = ", ".join(measures_of(document, family))
            raise ParameterError(f"{name!r} is not a {family} measure of this frontier; expected one of {offered}")


def pair_rows(document: FrontierDocument, privacy: str, utility: str) -> list[dict[str, Any]]:
    """The points of a pair: trials that have both measures, with their place and whether they are efficient."""
    efficient = efficient_trials(document, privacy, utility)
    rows = []
    for trial, row in zip(document.trials, trial_rows(document), strict=True):
        place: dict[str, Any] = {}
        for axis, name in (("x", privacy), ("y", utility)):
            low, high = trial.intervals.get(name, (None, None))
            place |= {axis: trial.measures.get(name), f"{axis}_low": low, f"{axis}_high": high}
        if place["x"] is not None and place["y"] is not None:
            rows.append(row | place | {"efficient": trial.id in efficient})
    return rows


def extent(rows: list[dict[str, Any]], axis: str) -> tuple[float, float]:
    """The smallest and the largest value to show on an axis, intervals included."""
    fields = (axis, f"{axis}_low", f"{axis}_high")
    values = [row[field] for row in rows for field in fields if row[field] is not None] or [0]
    low, high = min(values), max(values)
    return (low, high) if low < high else (low - 0.5, high + 0.5)


def marks_within(scale: list[dict[str, Any]], low: float, high: float) -> list[dict[str, Any]]:
    """Reference values that fall on the axis.

    `late` marks the far half, where the meaning is written before the value instead of after it.
    """
    return [mark | {"late": mark["value"] > (low + high) / 2} for mark in scale if low <= mark["value"] <= high]
