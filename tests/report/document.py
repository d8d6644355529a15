"""A hand-made frontier document: about forty releases of a town, with everything a real one can hold.

The figures follow smooth curves with a fixed wobble, so that the shape is that of a real frontier. `nasty`
replaces names and sentences by text that would do harm if any part of the page forgot to escape it.
"""

from __future__ import annotations

import math
from itertools import product
from random import Random
from typing import Any

from sfumato.measures.measurement import Mark, Verdict
from sfumato.trials.document import (
    AdviceEntry,
    CandidateEntry,
    ColumnEntry,
    FloorEntry,
    FrontierDocument,
    MeasureEntry,
    RecommendationEntry,
    TableEntry,
    TrialEntry,
    UseEntry,
)
from sfumato.trials.preview import ColumnPreview, Preview

NASTY = """</script><b>&"'<img src=x onerror="window.harmed=1"><!--<script>window.harmed=2</script>{{7*7}}"""

SHARES = [
    ["Healthy", 0.545],
    ["Hypertension", 0.142],
    ["Diabetes", 0.091],
    ["Asthma", 0.08],
    ["Depression", 0.07],
    ["Heart disease", 0.041],
    ["Cancer", 0.022],
    ["HIV", 0.009],
]


def measure(title: str, family: str, direction: str, unit: str, sentence: str, **more: Any) -> dict[str, Any]:
    return {
        "title": title,
        "family": family,
        "direction": direction,
        "unit": unit,
        "sentence": sentence,
        "range": more.get("range", [0, None]),
        "scale": [{"value": value, "text": text} for value, text in more.get("scale", [])],
    }


MEASURES = {
    "p_loss": measure(
        "Worst-case belief shift",
        "privacy",
        "lower",
        "of at most 0.693",
        "How far the release moves what can be believed about the sensitive value of the worst-off person, away "
        "from what is true of everybody (Jensen-Shannon divergence).",
        range=[0, 0.693],
        scale=[
            (0.0, "nothing is learned about anyone"),
            (0.16, "the commonest value is revealed outright"),
            (0.68, "the rarest value is revealed outright"),
        ],
    ),
    "mean_p_loss": measure(
        "Average belief shift",
        "privacy",
        "lower",
        "of at most 0.693",
        "The same belief shift, averaged over all people.",
        range=[0, 0.693],
    ),
    "breach": measure(
        "Breach increase",
        "privacy",
        "lower",
        "ratio",
        "How much more often a statistical adversary guesses a sensitive value right than by always naming the "
        "commonest one: 0 is no better, 1 is twice as often.",
        range=[-1, None],
        scale=[(0.0, "no better than naming the commonest value")],
    ),
    "empirical_privacy": measure(
        "Empirical privacy",
        "privacy",
        "higher",
        "share of people",
        "The share of people whose sensitive value a statistical adversary guesses wrong.",
        range=[0, 1],
        scale=[(0.455, "the adversary does no better than naming the commonest value")],
    ),
    "smallest_class": measure(
        "Smallest class (k)",
        "privacy",
        "higher",
        "rows",
        "The fewest people who share one published set of sensitive values, be it a class or a bucket.",
    ),
    "u_loss": measure(
        "Distortion of large populations",
        "utility",
        "lower",
        "of at most 0.693",
        "How far the release moves the distribution of the sensitive column within the populations a statistician "
        "would look at, on average.",
        range=[0, 0.693],
        scale=[(0.0, "every large population comes out right")],
    ),
    "query_error": measure(
        "Median query error",
        "utility",
        "lower",
        "relative error",
        "How far the answer to a typical count over half of every column is from the truth.",
        scale=[(0.1, "a typical count is 10% off")],
    ),
    "ncp": measure(
        "Blur of the published values",
        "utility",
        "lower",
        "share of the domain",
        "How wide the published intervals are, as a share of the widest possible (normalized certainty penalty).",
        range=[0, 1],
    ),
    "accuracy": measure(
        "Accuracy of a learned model",
        "utility",
        "higher",
        "share of rows",
        "How often a decision tree trained on the release is right about rows it has not seen.",
        range=[0, 1],
    ),
    "classes": measure("Classes", "shape", "none", "classes", "How many groups of rows the release has."),
}


def frontier_document(*, nasty: bool = False, refine: int = 1) -> dict[str, Any]:
    """A document of 41 trials; `refine` multiplies the settings tried, for a look at speed."""
    random = Random(7)
    trials = [endpoint_original(), endpoint_suppressed(), randomized(random)]
    for recoding in ("generalize", "bucketize"):
        trials += [trial(random, *setting, recoding) for setting in settings(refine)]
    trials[5]["measures"]["accuracy"] = None
    trials[6]["measures"].update(p_loss=None, query_error=None)
    if nasty:
        trials[7].update(label=f"t=0.3 {NASTY}", claim=NASTY, series="t-closeness", parameters={"note": NASTY})
    document = {
        "format": 1,
        "sfumato": "0.1.0",
        "created": "2026-11-15T20:00:00+00:00",
        "table": {
            "name": NASTY if nasty else "town",
            "rows": 5000,
            "quasi": ["age", "sex", "education", "marital_status", "occupation", "district"],
            "sensitive": "condition",
            "sensitive_shares": [[NASTY, 0.5], ["b", 0.5]] if nasty else SHARES,
            "unique_share": 0.83,
            "from_data": {"age": ["min", "max"], "district": ["values"]},
        },
        "pilot": None,
        "measures": MEASURES,
        "default_pair": ["p_loss", "u_loss"],
        "trials": trials,
        "refused": [
            {"label": "Mondrian l=6", "reason": "no release of this table can satisfy l=6: Healthy has 54.5% of rows"},
            {"label": "Mondrian l=8", "reason": NASTY if nasty else "no release of this table can satisfy l=8"},
        ],
        "efficient": efficient_sets(trials),
        "recommendation": None,
    }
    document["recommendation"] = recommendation(document)
    document["previews"] = [preview(document["recommendation"]["trial"], NASTY if nasty else "Mondrian")]
    document["sample"] = [["39", NASTY if nasty else "Male", "Healthy"]]
    return document


def preview(trial: str, label: str) -> dict[str, Any]:
    """Two columns of a release, and two of its rows."""
    shares = {"table": [0.5, 0.25, 0.25], "release": [0.25, 0.5, 0.25]}
    return {
        "trial": trial,
        "label": label,
        "header": ["age", "condition"],
        "rows": [["[30, 39]", label], ["*", "Healthy"]],
        "columns": [
            {"column": "age", "values": ["[0, 29]", "[30, 59]", label], **shares},
            {"column": "condition", "values": ["Healthy", "Asthma", "10 others"], **shares},
        ],
    }


def typed(document: dict[str, Any]) -> FrontierDocument:
    """The document that has these plain values."""
    measures = {
        name: MeasureEntry(**about | {"scale": [Mark(**mark) for mark in about["scale"]]})
        for name, about in document["measures"].items()
    }
    parts = {
        "table": TableEntry(**document["table"]),
        "measures": measures,
        "trials": [TrialEntry(**trial) for trial in document["trials"]],
        "recommendation": _recommendation(document["recommendation"]),
        "previews": [_preview(one) for one in document.get("previews", [])],
    }
    return FrontierDocument(**document | parts)


def _recommendation(chosen: dict[str, Any] | None) -> RecommendationEntry | None:
    if chosen is None:
        return None
    several = {"figures": Verdict, "candidates": CandidateEntry}
    lists = {name: [kind(**one) for one in chosen.get(name, [])] for name, kind in several.items()}
    kinds = {"floor": FloorEntry, "use": UseEntry}
    single = {name: kind(**chosen[name]) for name, kind in kinds.items() if chosen.get(name)}
    advice = chosen.get("advice")
    if advice:
        single["advice"] = AdviceEntry(**{**advice, "columns": [ColumnEntry(**one) for one in advice["columns"]]})
    return RecommendationEntry(**{**chosen, **lists, **single})


def _preview(shown: dict[str, Any]) -> Preview:
    return Preview(**{**shown, "columns": [ColumnPreview(**column) for column in shown["columns"]]})


def settings(refine: int) -> list[tuple[str, str, float, str]]:
    """(series, parameter, value, claim) in the order a grid would try them."""
    steps = [1 + step / refine for step in range(refine)]
    claims = {
        "k": "each person looks the same as at least {less:g} others",
        "l": "no sensitive value has more than 1/{value:g} of any class",
        "t": "in every class the sensitive column is within {value:g} of the whole table",
        "delta": "no class changes the odds of a sensitive value by more than e^{value:g}",
    }
    grids = [
        ("k-anonymity", "k", (5, 10, 20, 50, 100, 500)),
        ("l-diversity", "l", (1.2, 1.4, 1.6, 1.8)),
        ("t-closeness", "t", (0.075, 0.1, 0.15, 0.2, 0.3)),
        ("δ-disclosure", "delta", (0.5, 1, 1.5, 2)),
    ]
    found = []
    for series, name, grid in grids:
        for value, step in product(grid, steps):
            shown = round(value * step, 3)
            found.append((series, name, shown, claims[name].format(value=shown, less=shown - 1)))
    return found


def trial(random: Random, series: str, name: str, value: float, claim: str, recoding: str) -> dict[str, Any]:
    strength = {
        "k": lambda: math.log(value) / 9.5,
        "l": lambda: (value - 1) * 0.75,
        "t": lambda: 1 - 1.6 * value**0.75,
        "delta": lambda: 0.95 - value * 0.28,
    }[name]()
    wasted = {"k": 0.16, "l": 0.1, "t": 0.0, "delta": 0.08}[name] + random.uniform(0, 0.04)
    label = f"Mondrian {name}={value:g}" + (", bucketized" if recoding == "bucketize" else "")
    return {
        "id": label.lower().replace(" ", "-"),
        "method": "mondrian",
        "label": label,
        "series": series,
        "recoding": recoding,
        "parameters": {name: value, "recoding": recoding},
        "claim": claim,
        "endpoint": False,
        "measures": figures(strength, wasted, recoding),
        "intervals": {},
        "seconds": round(random.uniform(0.2, 1.5), 2),
        "eligible": True,
        "command": f"sfumato publish town.csv --method mondrian --{name} {value:g} -o release",
    }


def figures(strength: float, wasted: float, recoding: str | None) -> dict[str, float | None]:
    """Measures of a release that hides `strength` of everything and wastes some of it."""
    strength = min(strength, 1)
    belief = 0.66 * (1 - strength) ** 1.6 + wasted * 0.8
    loss = 0.05 * (strength + wasted) ** 2 * (0.7 if recoding == "bucketize" else 1)
    return {
        "p_loss": round(min(belief, 0.69), 5),
        "mean_p_loss": round(belief / 3.1, 5),
        "breach": round(belief * 0.9, 4),
        "empirical_privacy": round(0.455 - belief * 0.35, 4),
        "smallest_class": round(5 + 500 * strength**3),
        "u_loss": round(loss, 5),
        "query_error": round(0.004 * math.exp(6.5 * (strength + wasted)) / 3, 5),
        "ncp": 0.0 if recoding == "bucketize" else round(min(0.2 + 0.7 * strength, 1), 4),
        "accuracy": round(0.71 - loss * 3, 4),
        "classes": round(900 * (1 - strength) ** 2) + 1,
    }


def endpoint_original() -> dict[str, Any]:
    measures = figures(0, 0, None) | {
        "p_loss": 0.6821,
        "breach": 0.835,
        "empirical_privacy": 0.0,
        "u_loss": 0.0,
        "query_error": 0.0,
        "ncp": 0.0,
        "smallest_class": 1,
        "accuracy": 0.72,
        "mean_p_loss": 0.312,
        "classes": 4410,
    }
    return endpoint("original", "Original table", "nothing is hidden", measures)


def endpoint_suppressed() -> dict[str, Any]:
    measures = figures(1, 0, None) | {
        "p_loss": 0.0,
        "mean_p_loss": 0.0,
        "breach": 0.0,
        "empirical_privacy": 0.455,
        "smallest_class": 5000,
        "u_loss": 0.0458,
        "query_error": 1.31,
        "ncp": 1.0,
        "accuracy": 0.545,
        "classes": 1,
    }
    return endpoint("suppressed", "Everything suppressed", "all quasi-identifiers are left out", measures)


def endpoint(name: str, label: str, claim: str, measures: dict[str, Any]) -> dict[str, Any]:
    return {
        "id": name,
        "method": name,
        "label": label,
        "series": "end points",
        "recoding": None,
        "parameters": {},
        "claim": claim,
        "endpoint": True,
        "measures": measures,
        "intervals": {},
        "seconds": 0.01,
        "eligible": False,
        "command": None,
    }


def randomized(random: Random) -> dict[str, Any]:
    measures = figures(0.72, 0.07, None) | {"smallest_class": None}
    spread = {
        name: [round(measures[name] * 0.85, 5), round(measures[name] * 1.2, 5)]
        for name in ("p_loss", "u_loss", "query_error")
    }
    return {
        "id": "kd-tree-1",
        "method": "kd-tree",
        "label": "kd-tree ε=1",
        "series": "differential privacy",
        "recoding": None,
        "parameters": {"epsilon": 1, "height": 8},
        "endpoint": False,
        "measures": measures,
        "claim": "1-differentially private when a person is added or removed",
        "intervals": spread,
        "seconds": round(random.uniform(3, 5), 2),
        "eligible": True,
        "command": "sfumato publish town.csv --method kd-tree --epsilon 1 -o release",
    }


def efficient_sets(trials: list[dict[str, Any]]) -> dict[str, list[str]]:
    directed = {
        family: [name for name, about in MEASURES.items() if about["family"] == family]
        for family in ("privacy", "utility")
    }
    return {
        f"{privacy}|{utility}": efficient(trials, privacy, utility)
        for privacy, utility in product(directed["privacy"], directed["utility"])
    }


def efficient(trials: list[dict[str, Any]], privacy: str, utility: str) -> list[str]:
    def costs(one: dict[str, Any]) -> list[float]:
        signs = [1 if MEASURES[name]["direction"] == "lower" else -1 for name in (privacy, utility)]
        return [sign * one["measures"][name] for sign, name in zip(signs, (privacy, utility), strict=True)]

    measured = [one for one in trials if None not in (one["measures"][privacy], one["measures"][utility])]
    all_costs = {one["id"]: costs(one) for one in measured}
    kept = []
    for name, mine in all_costs.items():
        if not any(other != mine and other[0] <= mine[0] and other[1] <= mine[1] for other in all_costs.values()):
            kept.append(name)
    return kept


def recommendation(document: dict[str, Any]) -> dict[str, Any]:
    chosen = next(one for one in document["trials"] if one["id"] == "mondrian-t=0.15,-bucketized")
    values = chosen["measures"]
    verdicts = [
        ("p_loss", "fair", "Comparable to revealing the commonest value; far from revealing a rare one."),
        ("breach", "fair", "A statistical adversary guesses right 15% more often than by naming the commonest value."),
        ("empirical_privacy", "good", "Close to the 45.5% of people nobody could guess without the release."),
        ("u_loss", "good", "A third of the distortion that suppressing everything would cause."),
        ("query_error", "poor", "A typical count is about 8% off: good for shares, too coarse for small counts."),
    ]
    step = "Going on to the other, a typical count is off by 4% instead of 8%."
    return {
        "status": "recommended",
        "floor": None,
        "use": {"measure": "query_error", "enough": 0.3},
        "candidates": [
            {"role": role, "trial": chosen["id"], "label": chosen["label"], "risk": 0.1, "use": 0.2, "sentence": step}
            for role in ("safest", "most useful")
        ],
        "advice": None,
        "trial": chosen["id"],
        "claim": chosen["claim"],
        "rule": "the knee of the frontier",
        "constraints": {"p_loss": 0.2},
        "why": [
            "It is efficient: no other release is at least as good on both measures and better on one.",
            "Going one step more private costs twice as much utility as the step before.",
            "Its claim can be recomputed from the published table alone.",
        ],
        "recipient": [
            "5,000 rows with exact age, sex, education, marital status, occupation and district.",
            "A second table with how often each condition occurs in each of 118 buckets.",
            "Counts over large populations come out with a median error of 8%.",
        ],
        "adversary": [
            "Anyone can see that a person is in the table and in which bucket.",
            "The worst-off person's condition becomes likelier by a factor of at most 1.9.",
            "Someone who knows the conditions of others in a bucket learns more.",
        ],
        "figures": [
            {"measure": name, "value": values[name], "verdict": verdict, "sentence": sentence}
            for name, verdict, sentence in verdicts
        ],
    }
