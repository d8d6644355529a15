"""How rows of cormode2013's figures 5 and 6 judge what the paper states of the tradeoff."""

from collections.abc import Callable

import numpy as np

from sfumato.reproduce.rows import Rows
from sfumato.reproduce.statement import Finding, any_reading, found, share_below

DP = "differential privacy"
SYNTACTIC = ("k-anonymity", "ℓ-diversity", "t-closeness")


def _curve(rows: Rows, series: str) -> Rows:
    return rows.where(series).sorted("error")


def breach_of(rows: Rows, series: str, error: float) -> float:
    """The breach of a curve at some error, between its settings."""
    own = _curve(rows, series)
    errors = own.numbers("error")
    if not errors[0] <= error <= errors[-1]:
        raise LookupError(f"{series} at an error of {error}")
    return float(np.interp(error, errors, own.numbers("breach")))


def best_at(errors: tuple[float, ...], winners: tuple[str, ...]) -> Callable[[Rows], Finding]:
    """Whether one of some models has the smallest breach at each of some errors."""

    def judge(rows: Rows) -> Finding:
        told, wins = [], []
        for error in errors:
            known = {}
            for series in (*SYNTACTIC, DP):
                try:
                    known[series] = breach_of(rows, series, error)
                except LookupError:
                    continue
            best = min(known, key=known.__getitem__)
            told.append(f"{error:.0%} error: {best} ({known[best]:.0%})")
            wins.append(best in winners)
        return found(", ".join(told), all(wins))

    return judge


def converge(rows: Rows) -> Finding:
    """How far apart breaches are where errors are small."""
    known = [
        breach_of(rows, series, 0.04) for series in ("k-anonymity", "t-closeness", DP) if _reaches(rows, series, 0.04)
    ]
    spread = max(known) - min(known)
    return found(f"at an error of 4% breaches are within {spread:.0%} of each other", spread <= 0.25)


def _reaches(rows: Rows, series: str, error: float) -> bool:
    errors = _curve(rows, series).numbers("error")
    return errors[0] <= error <= errors[-1]


def private_end(rows: Rows) -> Finding:
    """Where breaches are below 100%: the share of that range in which differential privacy has the smallest error."""
    shares = [share_below(rows.where(DP), rows.where(series), "breach", "error") for series in SYNTACTIC]
    strong = []
    for breach in np.linspace(0.3, 1.0, 15):
        errors = {
            series: float(np.interp(breach, own.numbers("breach"), own.numbers("error")))
            for series in (*SYNTACTIC, DP)
            if (own := rows.where(series).sorted("breach")).numbers("breach")[0] <= breach
        }
        strong.append(min(errors, key=errors.__getitem__) == DP)
    told = f"the least error for {np.mean(strong):.0%} of breaches from 30% to 100%, {min(shares):.0%} of all"
    return found(told, float(np.mean(strong)) >= 0.9)


def hardly_moves(rows: Rows) -> Finding:
    """What k-anonymity's breach loses while its error goes from 5% to 30%."""
    before, after = (breach_of(rows, "k-anonymity", error) for error in (0.05, 0.3))
    return found(f"{before:.0%} → {after:.0%}", before - after <= 0.15)


def alike(rows: Rows) -> Finding:
    """How far ℓ-diversity and t-closeness are apart at the same error."""
    apart = [
        abs(breach_of(rows, "ℓ-diversity", error) - breach_of(rows, "t-closeness", error))
        for error in (0.05, 0.1, 0.2, 0.3)
        if _reaches(rows, "ℓ-diversity", error) and _reaches(rows, "t-closeness", error)
    ]
    return found(f"breaches differ by {min(apart):.0%} to {max(apart):.0%}", max(apart) <= 0.15)


def nearly_nothing(rows: Rows) -> Finding:
    """The breach of differential privacy at an error of 25%, and the error at which others have no more."""
    breach = breach_of(rows, DP, 0.25)
    errors = [
        row.values["error"] for row in rows if row.series in SYNTACTIC and row.values["breach"] <= max(breach, 0.05)
    ]
    others = f"others reach that at {min(errors):.0%}" if errors else "no other reaches that"
    return found(f"{breach:.0%} at an error of 25%; {others}", breach <= 0.1)


def nobody_always(rows: Rows) -> Finding:
    """Which models have a setting that nothing else beats."""
    points = [(row.series, row.values["error"], row.values["breach"]) for row in rows]
    kept = {
        series
        for series, error, breach in points
        if not any(e <= error and b <= breach and (e, b) != (error, breach) for _, e, b in points)
    }
    return found(f"on the frontier: {', '.join(sorted(kept))}", len(kept) > 1)


def beaten_at_one(rows: Rows) -> Finding:
    """Whether a syntactic setting has less error and less breach than ε = 1."""
    one = rows.where(DP, epsilon=1.0)[0]
    better = [
        row
        for row in rows
        if row.series in SYNTACTIC
        and row.values["error"] <= one.values["error"]
        and row.values["breach"] <= one.values["breach"]
    ]
    told = f"ε = 1: error {one.values['error']:.1%}, breach {one.values['breach']:.0%}; {len(better)} settings beat it"
    return found(told, bool(better))


def same_curve(rows: Rows) -> Finding:
    """How far k = 8 and ε = 1 are apart in breach at the same error, over the heights."""
    readings = {}
    for series in ("ε = 1, kd-tree", "ε = 1, quad-tree"):
        one, other = (rows.where(name).sorted("error") for name in ("k = 8", series))
        low = max(one.numbers("error")[0], other.numbers("error")[0])
        high = min(one.numbers("error")[-1], other.numbers("error")[-1])
        grid = np.linspace(low, high, 50)
        values = [np.interp(grid, own.numbers("error"), own.numbers("breach")) for own in (one, other)]
        apart = float(np.abs(values[0] - values[1]).mean())
        told = f"{apart:.0%} apart on average, over errors from {low:.0%} to {high:.0%}"
        readings[series.removeprefix("ε = 1, ")] = found(told, apart <= 0.15)
    return any_reading(readings)


def less_data(rows: Rows) -> Finding:
    """Whether differential privacy has the smaller breach and the larger error with a tenth of the rows."""
    one, other = (rows.where(name, share=0.1)[0].values for name in ("ε = 1", "k = 8"))
    told = f"error {one['error']:.0%} and {other['error']:.0%}, breach {one['breach']:.0%} and {other['breach']:.0%}"
    return found(told, one["error"] > other["error"] and one["breach"] < other["breach"])


def more_data(rows: Rows) -> Finding:
    """Whether k-anonymity dominates with all rows: no more error and no more breach."""
    one, other = (rows.where(name, share=1.0)[0].values for name in ("ε = 1", "k = 8"))
    told = (
        f"error {other['error']:.1%} and breach {other['breach']:.0%}, ε = 1 {one['error']:.1%} and {one['breach']:.0%}"
    )
    return found(told, other["error"] <= one["error"] and other["breach"] <= one["breach"])
