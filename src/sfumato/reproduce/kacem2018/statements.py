"""What kacem2018 states that can be checked, and by which rows."""

import numpy as np

from sfumato.reproduce.kacem2018.experiments import ENDS, NEIGHBOURS, SIZE
from sfumato.reproduce.rows import Rows
from sfumato.reproduce.statement import Finding, Judge, Statement, about, any_reading, falls, found

EXACT = 1e-9
ENOUGH = 1.5
"""The ε above which geometric noise is found to be the best."""


def _most(name: str, limit: float = EXACT) -> Judge:
    """Whether a value stays within a limit in all rows that have it."""

    def judge(rows: Rows) -> Finding:
        worst = max(row.values[name] for row in rows if name in row.values)
        return found(f"at most {worst:.1e}", worst <= limit)

    return judge


def _invertible(rows: Rows) -> Finding:
    least = min(row.values["smallest_singular_value"] for row in rows if row.series != "another matrix")
    return found(f"smallest singular value {least:.2g} and more", least > EXACT)


def _diagonal(rows: Rows) -> Finding:
    row = rows.where("another matrix")[0]
    over, least = row.values["diagonal_over_others"], row.values["smallest_singular_value"]
    return found(
        f"a matrix whose diagonal exceeds all else by {over:.2f} has a singular value of {least:.0e}", least > EXACT
    )


def _unique(rows: Rows) -> Finding:
    told = ", ".join(f"{row.values['values']:.0f} values: {row.values['fixed_points']:.0f}" for row in rows)
    return found(f"fixed points of {told}", all(row.values["fixed_points"] == 1 for row in rows))


def _inverse(rows: Rows) -> Finding:
    share = float(np.mean([row.values["inverse_is_distribution"] for row in rows]))
    worst = max(row.values["from_inverse"] for row in rows)
    return found(f"differ by at most {worst:.1e} where it is one, which is {share:.0%} of cases", worst <= 1e-6)


def _approaches(name: str) -> Judge:
    """Whether a distance falls with the number of people in every series; the slowest and the fastest are told."""

    def judge(rows: Rows) -> Finding:
        findings: dict[str, Finding] = {}
        reached: dict[str, float] = {}
        for series in rows.series():
            for shape in dict.fromkeys(str(row.setting["shape"]) for row in rows):
                own = rows.where(series, shape=shape).sorted("people")
                label, numbers = f"{series}, {shape}", own.all(name)
                slope = np.polyfit(np.log(own.numbers("people")[-3:]), np.log(own.numbers(name)[-3:]), 1)[0]
                told = f"{label}: {numbers[0].value:.3f} → {numbers[-1].value:.4f}, as N^{slope:.2f} at the end"
                findings[label], reached[label] = Finding(told, falls(numbers).verdict), numbers[-1].value
        worst = [one.verdict for one in findings.values() if one.verdict != "holds"]
        slowest, fastest = max(reached, key=reached.__getitem__), min(reached, key=reached.__getitem__)
        return Finding(f"{findings[slowest].measured}; {findings[fastest].measured}", worst[0] if worst else "holds")

    return judge


def _more_people(rows: Rows) -> Finding:
    """How many times as many people the local model needs at ε = 0.5: errors fall as 1/√N in the centre."""
    row = rows.where("ε = 0.5", shape="falling", people=100_000)[0]
    times = (row.values["p_star"] / row.values["p"]) ** 2
    return found(f"{times:,.0f} times as many people for the same error at ε = 0.5", times >= 10)


def _optimal(*, small: bool) -> Judge:
    """Below and above the ε at which it changes; the bound tells how much better any channel could be."""

    def judge(rows: Rows) -> Finding:
        some = [
            row
            for row in rows
            if row.series != "2 values"
            and row.setting["epsilon"] != ENOUGH
            and (float(row.setting["epsilon"]) < ENOUGH) == small
        ]
        worst = max(some, key=lambda row: row.values["ratio"])
        where = f"{worst.series}, {worst.setting['shape']}, ε = {worst.setting['epsilon']}"
        told = f"up to {worst.values['ratio']:.4g} times the best squared error ({where})"
        return found(told, worst.values["ratio"] <= 1 + 1e-5)

    return judge


def _two_values(rows: Rows) -> Finding:
    worst = max(rows.where("2 values").numbers("ratio_at_most"))
    return found(f"at most {worst:.6f} times the best", worst <= 1 + 1e-5)


def _universal(rows: Rows) -> Finding:
    worst = max(abs(row.values["ratio"] - 1) for row in rows)
    return found(f"the error of the best mechanism, up to {worst:.1e}", worst <= 1e-6)


def _better(rows: Rows) -> Finding:
    readings = {}
    for reading in (NEIGHBOURS, ENDS):
        own = rows.where(reading)
        ratios = [row.values["geometric"] / row.values["randomized_response"] for row in own]
        readings[reading] = found(f"{min(ratios):.2f} to {max(ratios):.2f} times the error", max(ratios) < 1)
    return any_reading(readings)


STATEMENTS = (
    *about(
        "mechanism",
        (
            "Equation 4",
            "the geometric mechanism is (1 − α^|i−j|)/α",
            "rows sum to 1",
            _most("printed_row_sums", 1 + EXACT),
            "The fraction is garbled: it grows with the distance. (1 − α)/(1 + α) · α^|i−j| is meant, which Equation 5 "
            "truncates.",
        ),
        ("Equation 5", "the truncated mechanism G is stochastic", "rows sum to 1", _most("row_sums")),
        ("Proposition 3.1", "G is ε-d-private", "≤ e^(ε|i−h|)", _most("beyond_e_to_the_distance")),
        (
            "Proposition 3.1, proof",
            "G_ij ≤ α^|i−h| G_hj",
            "≤ α^|i−h|",
            _most("beyond_as_printed"),
            "The inequality is turned around: the triangle inequality gives G_ij ≥ α^|i−h| G_hj, which is what "
            "d-privacy needs.",
        ),
        ("Proposition 3.2", "G is invertible", "–", _invertible),
        (
            "Proposition 3.2, proof",
            "a matrix whose largest elements are on the diagonal has independent rows",
            "–",
            _diagonal,
            "That is not enough. G is invertible because its inverse is known: it has three diagonals.",
        ),
    ),
    *about(
        "iteration",
        ("Definition 4.1", "α^|i−j| may stand in for G_ij in the update", "–", _most("same_with_g")),
        ("Theorem 4.2 (1)", "the iteration from the reports converges", "–", _most("moves", 1e-6)),
        ("Theorem 4.2 (2)", "its limit is the likeliest distribution", "–", _most("likelihood_lost", 1e-6)),
        ("Proposition 4.5", "where qG⁻¹ is a distribution, it is the limit", "–", _inverse),
    ),
    *about(
        "fixed-points",
        (
            "Lemma 4.3",
            "the limit is the only fixed point of the update",
            "1",
            _unique,
            "A value that starts at zero stays there, so the likeliest distribution on every set of values is a fixed "
            "point, each point mass among them. It is the only one with no zeros.",
        ),
    ),
    *about(
        "convergence",
        ("Theorem 4.4 (1)", "the distribution of N people approaches π", "→ 0", _approaches("p")),
        ("Theorem 4.4 (2)", "the reconstruction p* approaches π", "→ 0", _approaches("p_star")),
        ("abstract", "local noise needs a huge collection for good statistics", "–", _more_people),
    ),
    *about(
        "conjecture",
        (
            "Conjecture 4.6",
            f"at ε below {ENOUGH} no ε-d-private mechanism reconstructs better than G",
            "–",
            _optimal(small=True),
            "Columns with two peaks carry more information about distant values. Error is the sum of the variances of "
            "the estimated shares; the best channel is certified by a bound.",
        ),
        (
            "Conjecture 4.6",
            f"at ε above {ENOUGH} no ε-d-private mechanism reconstructs better than G",
            "–",
            _optimal(small=False),
        ),
        ("Conjecture 4.6", "on two values no mechanism reconstructs better than G", "–", _two_values),
    ),
    *about(
        "punctual-utility",
        (
            "section 1",
            "geometric noise is the best for a single answer, whatever the prior, under differential privacy",
            "–",
            _universal,
        ),
    ),
    *about(
        "tradeoff",
        (
            "section 1",
            "d-privacy has a better tradeoff of privacy and statistical utility than local privacy",
            "–",
            _better,
            f"With the same ε between neighbours, values {SIZE - 1} apart are protected far less; with the same ε "
            "between the ends, geometric noise has to be spread over the whole axis.",
        ),
    ),
    Statement(
        place="section 4, after Theorem 4.2",
        says="the mutual information is directly related to ε and the distortion rate to the distance of the estimate",
        why="An intuition for the conjecture, not a statement with a number.",
    ),
)
