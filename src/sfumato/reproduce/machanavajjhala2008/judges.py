"""How rows of machanavajjhala2008's experiments judge what the paper states."""

import numpy as np

from sfumato.reproduce.machanavajjhala2008.flows import DOMAINS, PRINTED
from sfumato.reproduce.rows import Measured, Rows
from sfumato.reproduce.statement import Finding, Judge, any_reading, at_least, at_most, falls, found

STATE, NEAR = DOMAINS
EXACT = 1e-9


def never_above(name: str, series: str, limit: float) -> Judge:
    def judge(rows: Rows) -> Finding:
        own = [row.values[name] for row in rows.where(series) if name in row.values]
        return found(f"at most {max(own):.4g} in {len(own)} cases", max(own) <= limit + EXACT)

    return judge


def always(name: str, series: str, printed: float) -> Judge:
    def judge(rows: Rows) -> Finding:
        own = [row.values[name] for row in rows.where(series)]
        worst = max(abs(one - printed) for one in own)
        return found(f"off by {worst:.1e} at most in {len(own)} cases", worst <= EXACT)

    return judge


def certain(rows: Rows) -> Finding:
    own = rows.where("Lemmas 5.1 and 5.2").numbers("told_apart_for_certain")
    return found(f"{min(own):.0f} to {max(own):.0f} outputs tell two neighbours apart for certain", min(own) > 0)


def dropping(rows: Rows) -> Finding:
    told = "; ".join(
        f"n = {row.setting['n']}, k = {row.setting['k']:,}, f = {row.setting['f']}: {row.values['disclosure']:.2g} "
        f"where δ = {row.setting['delta']:g}"
        for row in rows
    )
    return found(told, all(row.values["over_delta"] <= 1 for row in rows))


def alpha(k: int, printed: float) -> Judge:
    """For which number of workers the theorem asks for the printed prior."""

    def judge(rows: Rows) -> Finding:
        own = {int(row.setting["n"]): row.values["reference"] for row in rows.where(k=k)}
        nearest = min(own, key=lambda n: abs(own[n] - printed))
        told = f"{own[nearest]:.5f} at n = {nearest}, {min(own.values()):.4f} to {max(own.values()):.4f} in all"
        return found(told, abs(own[nearest] - printed) <= 5e-5)

    return judge


def buys(k: int) -> Judge:
    def judge(rows: Rows) -> Finding:
        own = rows.where(k=k)
        exact, reference = min(own.numbers("exact")), max(own.numbers("reference"))
        told = f"ε from {exact:.2f} by exact tails to {reference:.2f} by Theorem 4.4"
        return found(told, exact <= 4.6)

    return judge


def small_prior(rows: Rows) -> Finding:
    ratios = rows.where(k=120_690).numbers("prior_over_data")
    return found(f"the prior sample is {min(ratios):,.0f} to {max(ratios):,.0f} times the data", max(ratios) < 1)


def growth(rows: Rows) -> Finding:
    slopes = {}
    for k in sorted({int(row.setting["k"]) for row in rows}):
        own = rows.where(k=k).sorted("n")
        slopes[k] = float(np.polyfit(np.log(own.numbers("n")), np.log(own.numbers("reference")), 1)[0])
    told = ", ".join(f"{k:,} blocks: n^{slope:.2f}" for k, slope in slopes.items())
    return found(f"α grows as {told}", max(slopes.values()) <= 0.5)


def elsewhere(name: str, what: str) -> Judge:
    """A number about Minnesota, of Rhode Island: it decides nothing."""

    def judge(rows: Rows) -> Finding:
        return Finding(f"{rows.of(name, 'Rhode Island').value:.3g} {what} in Rhode Island", "open")

    return judge


def series(variant: str, where: str) -> str:
    return f"{variant}, {where}"


def overall(rows: Rows, name: str, variant: str, where: str) -> Measured:
    """The mean over the classes of destinations."""
    own = rows.where(series(variant, where)).all(name)
    value = float(np.mean([one.value for one in own]))
    half = float(np.sqrt(np.sum([((one.high - one.low) / 2) ** 2 for one in own])) / len(own))
    return Measured(value, value - half, value + half)


def overestimated(name: str, where: str) -> Judge:
    def judge(rows: Rows) -> Finding:
        bias = overall(rows, name, PRINTED, where)
        return at_least(bias, 0.0, f"bias of {bias} miles")

    return judge


def underestimated(rows: Rows) -> Finding:
    bias = overall(rows, "short_bias", PRINTED, STATE)
    return at_most(bias, 0.0, f"bias of {bias} miles")


def fewer_workers(name: str, where: str = STATE) -> Judge:
    """Whether a figure falls from the smallest destinations to the largest; the classes between may waver."""

    def judge(rows: Rows) -> Finding:
        own = rows.where(series(PRINTED, where)).sorted("workers")
        numbers = own.all(name)
        told = " → ".join(f"{one.value:.2f}" for one in numbers)
        return falls([numbers[0], numbers[-1]], f"{told} miles, from few to many workers")

    return judge


def matches_better(rows: Rows) -> Finding:
    readings = {}
    for name, words in (("error", "in miles"), ("relative_error", "as a share of the true average")):
        every, short = (overall(rows, f"{prefix}{name}", PRINTED, STATE) for prefix in ("", "short_"))
        readings[words] = at_most(short - every, 0.0, f"error of {short}, of all commutes {every}")
    return any_reading(readings)


def narrower(name: str, slack: float = 0.0) -> Judge:
    """Whether the smaller domain has a smaller figure, or one that is larger by so many miles at most."""

    def judge(rows: Rows) -> Finding:
        wide, narrow = (overall(rows, name, PRINTED, where) for where in (STATE, NEAR))
        return at_most(narrow - wide, slack, f"{wide} miles in the whole state, {narrow} within 14 miles")

    return judge


def at_all_sizes(rows: Rows) -> Finding:
    wide, narrow = (rows.where(series(PRINTED, where)).sorted("from").numbers("bias") for where in (STATE, NEAR))
    told = ", ".join(f"{one:.2f} → {other:.2f}" for one, other in zip(wide, narrow, strict=True))
    return found(told, all(abs(other) <= abs(one) for one, other in zip(wide, narrow, strict=True)))
