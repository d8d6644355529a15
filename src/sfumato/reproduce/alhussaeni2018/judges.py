"""How rows of alhussaeni2018's experiments judge what the paper states."""

from collections.abc import Callable

import numpy as np

from sfumato.reproduce.alhussaeni2018.experiments import BEST, PRINTED, REPAIRED
from sfumato.reproduce.rows import Measured, NotMeasuredError, Rows
from sfumato.reproduce.statement import Finding, Judge, any_reading, at_least, at_most, falls, found, near, rises

VARIANTS = (PRINTED, REPAIRED, BEST)
POINT = 0.01
"""Of accuracy."""


def each_variant(judge: Callable[[Rows], Finding]) -> Judge:
    """Printed, repaired and best, as far as they were measured."""

    def variants(rows: Rows) -> Finding:
        return any_reading({name: judge(rows.where(name)) for name in VARIANTS if rows.where(name)})

    return variants


def impossible(rows: Rows) -> Finding:
    """Whether outputs that are impossible for one table occur for its neighbour."""
    without, with_one = (rows.of("share", series).value for series in ("without", "with one person more"))
    told = f"{without:.1%} of outputs without the person, {with_one:.1%} with them"
    return found(told, not (without == 0 and with_one > 0))


def as_asked(limit: int) -> Callable[[Rows], Finding]:
    """How many of the specializations asked for are made, up to some h."""

    def judge(rows: Rows) -> Finding:
        shares = [
            row.values["specializations"] / float(row.setting["h"])
            for row in rows
            if float(row.setting["h"]) <= limit and "specializations" in row.values
        ]
        return found(f"{min(shares):.0%} to {max(shares):.0%} of h", min(shares) >= 0.9)

    return judge


def times_less(name: str, least: float) -> Judge:
    """How many times smaller a penalty is at the largest h than DiffGen's smallest."""

    def judge(rows: Rows) -> Finding:
        theirs = min(rows.where("DiffGen").numbers(name))
        readings = {}
        for variant in (PRINTED, REPAIRED):
            ours = rows.where(variant).sorted("h").all(name)[-1]
            ratio = Measured(theirs / ours.value, theirs / max(ours.high, 1e-12), theirs / max(ours.low, 1e-12))
            readings[variant] = at_least(ratio, least, f"{ratio.value:.1f} times below DiffGen's least")
        return any_reading(readings)

    return judge


def robust(name: str) -> Judge:
    """By how much a penalty changes from the smallest h to the largest."""

    def judge(rows: Rows) -> Finding:
        numbers = rows.sorted("h").numbers(name)
        factor = max(numbers) / min(numbers)
        return found(f"changes by a factor of {factor:.2f}", factor <= 1.5)

    return each_variant(judge)


def by_epsilon(rows: Rows) -> Finding:
    """Whether accuracy rises from the smallest ε to the largest, at h = 900."""
    numbers = rows.where(h=900).sorted("epsilon").all("accuracy")
    told = f"{numbers[0].text(percent=True)} → {numbers[-1].text(percent=True)}"
    return rises([numbers[0], numbers[-1]], told)


def decays(rows: Rows, first: int, last: int) -> Finding:
    """Whether accuracy falls from one h to another."""
    numbers = [rows.of("accuracy", h=h) for h in (first, last)]
    return falls(numbers, f"{numbers[0].text(percent=True)} → {numbers[1].text(percent=True)}")


def falls_with_h(rows: Rows) -> Finding:
    return decays(rows.where(epsilon=1.0), 300, 1_500)


def falls_to_10k(rows: Rows) -> Finding:
    return decays(rows, 1_000, 10_000)


def falls_beyond(rows: Rows) -> Finding:
    return decays(rows, 10_000, 100_000)


def _largest(rows: Rows, series: str) -> Measured:
    return max(rows.where(series).all("accuracy"), key=lambda number: number.value)


def above_diffgen(rows: Rows) -> Finding:
    """The lead of DiffMulti at each h up to 10,000 over the best of DiffGen."""
    theirs = _largest(rows, "DiffGen")
    readings = {}
    for variant in VARIANTS:
        own = [row for row in rows.where(variant) if float(row.setting["h"]) <= 10_000]
        leads = [rows.of("accuracy", variant, h=row.setting["h"]) - theirs for row in own]
        worst = min(leads, key=lambda lead: lead.value)
        told = f"{100 * worst.value:+.1f} points or more against {theirs.value:.1%}"
        readings[variant] = at_least(worst, 0.0, told)
    return any_reading(readings)


def mondrian_ahead(rows: Rows) -> Finding:
    """The lead of Mondrian over DiffMulti at h = 10,000, said to be at most two points."""
    theirs = rows.of("accuracy", "Mondrian, k = 60")
    readings = {}
    for variant in VARIANTS:
        lead = theirs - rows.of("accuracy", variant, h=10_000)
        within = 0 <= lead.value <= 2 * POINT
        readings[variant] = found(f"{100 * lead.value:+.1f} points", within)
    return any_reading(readings)


def ahead_of_mondrian(rows: Rows) -> Finding:
    theirs = rows.of("accuracy", "Mondrian, k = 60")
    return any_reading(
        {
            variant: at_least(lead, 0.0, f"{100 * lead.value:+.1f} points at h = 1,000")
            for variant in VARIANTS
            for lead in [rows.of("accuracy", variant, h=1_000) - theirs]
        }
    )


def between_bounds(rows: Rows) -> Finding:
    row = rows.sorted("h")[0]
    low, own, high = (row.values[name] for name in ("lower_bound", "accuracy", "baseline"))
    return found(f"{low:.1%} < {own:.1%} < {high:.1%}", low < own < high)


def leads(rival: str, *, name: str = "accuracy") -> Judge:
    """Whether DiffMulti is ahead of a rival at every ε."""

    def judge(rows: Rows) -> Finding:
        readings = {}
        for variant in VARIANTS:
            own = rows.where(variant)
            if not own:
                continue
            gaps = [
                rows.of(name, variant, epsilon=epsilon) - rows.of(name, rival, epsilon=epsilon)
                for epsilon in sorted({float(row.setting["epsilon"]) for row in own})
            ]
            worst = min(gaps, key=lambda gap: gap.value)
            told = f"{100 * worst.value:+.2f} to {100 * max(gap.value for gap in gaps):+.2f} points"
            readings[variant] = at_least(worst, 0.0, told)
        return any_reading(readings)

    return judge


def above_raw(rows: Rows) -> Finding:
    """Whether some setting is more accurate than learning from the raw rows."""

    def judge(own: Rows) -> Finding:
        gaps = [row.values["accuracy"] - row.values["baseline"] for row in own]
        return found(f"up to {100 * max(gaps):+.2f} points above the raw data", max(gaps) > 0)

    return any_reading({name: judge(rows.where(name)) for name in VARIANTS if rows.where(name)})


def raw_rps(rows: Rows) -> Finding:
    return near(rows.of("baseline", "RPS"), 0.8296, 0.005, f"{rows.of('baseline', 'RPS').value:.2%}")


def rps_accuracy(rows: Rows) -> Finding:
    number = rows.of("accuracy", "RPS")
    return near(number, 0.79, 0.005, number.text(percent=True, digits=4))


def reaches(printed: float) -> Judge:
    """Whether an accuracy is reached, whatever is above it."""

    def judge(rows: Rows) -> Finding:
        number = rows.of("accuracy")
        return at_least(number, printed - POINT / 2, number.text(percent=True, digits=4))

    return each_variant(judge)


def above_rps(rows: Rows) -> Finding:
    return any_reading(
        {
            variant: at_least(lead, 0.0, f"{100 * lead.value:+.2f} points")
            for variant in VARIANTS
            for lead in [rows.of("accuracy", variant) - rows.of("accuracy", "RPS")]
        }
    )


def match_points(rows: Rows) -> Finding:
    readings = {}
    for variant in (PRINTED, REPAIRED):
        own = rows.where(f"ClusterMP, {variant}").all("match_point")
        least = min(own, key=lambda number: number.value)
        readings[variant] = at_least(least, 0.9, f"at least {least.text(percent=True)}")
    return any_reading(readings)


def contrast(rows: Rows) -> Finding:
    """How much more Max keeps than DM, on average over h."""
    readings = {}
    for variant in (PRINTED, REPAIRED):
        ours, theirs = (
            np.mean(rows.where(f"{name}, {variant}").numbers("match_point")) for name in ("ClusterMP", "DistortMP")
        )
        readings[variant] = found(f"{ours:.1%} against {theirs:.1%}", bool(ours - theirs >= 5 * POINT))
    return any_reading(readings)


def match_falls(rows: Rows) -> Finding:
    readings = {}
    for variant in (PRINTED, REPAIRED):
        numbers = rows.where(f"ClusterMP, {variant}").sorted("h").all("match_point")
        told = f"{numbers[0].text(percent=True)} → {numbers[-1].text(percent=True)}"
        readings[variant] = falls([numbers[0], numbers[-1]], told)
    return any_reading(readings)


def seconds_at(h: int, most: float) -> Callable[[Rows], Finding]:
    def judge(rows: Rows) -> Finding:
        number = rows.of("seconds", h=h)
        return at_most(number, most, f"{number} s")

    return judge


def insensitive(rows: Rows) -> Finding:
    """Seconds at ten times the specializations over seconds at the fewest."""
    numbers = rows.sorted("h").numbers("seconds")
    return found(f"{numbers[-1] / numbers[0]:.2f} times the seconds for ten times the h", numbers[-1] / numbers[0] <= 2)


def longer_than_diffgen(rows: Rows) -> Finding:
    theirs = max(rows.where("DiffGen").numbers("seconds"))
    return any_reading(
        {
            variant: found(f"{own:.2f} s against {theirs:.2f} s", theirs < own < theirs + 10)
            for variant in (PRINTED, REPAIRED)
            for own in [max(rows.where(variant).numbers("seconds"))]
        }
    )


def slower(rival: str) -> Callable[[Rows], Finding]:
    def judge(rows: Rows) -> Finding:
        own, theirs = (max(rows.where(name).numbers("seconds")) for name in (REPAIRED, rival))
        return found(f"{theirs:.2f} s against {own:.2f} s of DiffMulti", theirs > own)

    return judge


def million(rows: Rows) -> Finding:
    last = rows.sorted("rows")[-1]
    told = f"{last.values['seconds']:.1f} s for {last.values['rows']:,.0f} rows"
    return found(told, last.values["seconds"] <= 120)


def nearly_linear(rows: Rows) -> Finding:
    own = rows.sorted("rows")
    if len(own) < 2:
        raise NotMeasuredError("several sizes")
    slope = float(np.polyfit(np.log(own.numbers("rows")), np.log(own.numbers("seconds")), 1)[0])
    return found(f"seconds grow as rows^{slope:.2f}", slope <= 1.2)


def unmoved(rows: Rows) -> Finding:
    numbers = rows.all("accuracy")
    spread = max(one.value for one in numbers) - min(one.value for one in numbers)
    return found(f"accuracies within {100 * spread:.2f} points", spread <= POINT)
