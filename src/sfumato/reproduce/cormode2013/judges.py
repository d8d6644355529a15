"""How rows of cormode2013's experiments judge what the paper states."""

from collections.abc import Callable
from itertools import pairwise

from sfumato.reproduce.cormode2013.measuring import ADULT, CENSUS
from sfumato.reproduce.rows import Measured, Rows
from sfumato.reproduce.statement import Finding, Judge, any_reading, at_least, at_most, falls, found, near, rises

BASELINES = {"breach": "baseline by definition", "breach_printed": "baseline 11% as printed"}


def on(name: str, judge: Callable[[Rows], Finding]) -> Judge:
    """The finding on one data set."""
    return lambda rows: judge(rows.where(data=name))


def each_series(judge: Callable[[Rows], Finding]) -> Callable[[Rows], Finding]:
    """Every reading that is a series of its own."""
    return lambda rows: any_reading({series: judge(rows.where(series)) for series in rows.series()})


def selectivity(printed: float, *, decides: bool = True) -> Callable[[Rows], Finding]:
    """The share of rows that the median query is about, for every reading of half and every order."""

    def judge(rows: Rows) -> Finding:
        readings = {}
        for row in rows:
            number = rows.of("selectivity", order=row.setting["order"], reading=row.setting["reading"])
            found_here = near(number, printed, 0.005, f"{number.value:.1%}")
            readings[f"{row.setting['reading']}, {row.setting['order']}"] = found_here
        finding = any_reading(readings)
        return finding if decides else Finding(finding.measured, "open")

    return judge


def moves(name: str, by: str, *, up: bool) -> Callable[[Rows], Finding]:
    """Whether a value rises or falls from the smallest to the largest setting."""

    def judge(rows: Rows) -> Finding:
        own = rows.sorted(by)
        numbers = own.all(name)
        told = f"{numbers[0].text(percent=True)} → {numbers[-1].text(percent=True)}"
        return (rises if up else falls)([numbers[0], numbers[-1]], told)

    return judge


def breach_at(ks: tuple[int, ...], least: float) -> Callable[[Rows], Finding]:
    """Whether the breach exceeds a bound at all of some k, for either baseline."""

    def judge(rows: Rows) -> Finding:
        readings = {}
        for series in rows.series():
            for name, words in BASELINES.items():
                numbers = [rows.of(name, series, k=k) for k in ks]
                least_of_all = min(numbers, key=lambda number: number.value)
                told = f"at least {least_of_all.value:.0%}"
                readings[f"{series}, {words}"] = at_least(least_of_all, least, told)
        return any_reading(readings)

    return judge


def at_root(l: int, *, decides: bool = True) -> Callable[[Rows], Finding]:
    """Whether from some ℓ on there is one class or none, and before there are more."""

    def judge(rows: Rows) -> Finding:
        several = [int(row.setting["l"]) for row in rows if row.values["classes"] > 1]
        finding = found(f"several classes up to ℓ = {max(several)}", max(several) == l - 1)
        return finding if decides else Finding(finding.measured, "open")

    return each_series(judge)


def root_breach(printed: float) -> Callable[[Rows], Finding]:
    """The breach of a single class."""

    def judge(rows: Rows) -> Finding:
        root = [row for row in rows.where("probabilistic") if row.values["classes"] == 1]
        if not root:
            raise LookupError("the root")
        readings = {
            words: found(f"{root[0].values[name]:.0%}", abs(root[0].values[name] - printed) <= 0.05)
            for name, words in BASELINES.items()
        }
        return any_reading(readings)

    return judge


def sharper(rows: Rows) -> Finding:
    """How much more error one step of ℓ costs than doubling k: the ratio of classes from one setting to the next."""
    classes = [row.values["classes"] for row in rows.where("probabilistic").sorted("l")]
    lost = [1 - after / before for before, after in pairwise(classes) if before > 1]
    return found(f"each step of ℓ costs {min(lost):.0%} to {max(lost):.0%} of the classes", min(lost) >= 0.5)


def levels_off(rows: Rows) -> Finding:
    """Of what t = 0.05 and no t at all differ by, how much is left above t = 0.35."""

    def judge(own: Rows) -> Finding:
        own = own.sorted("t")
        start, there, end = (own.of("error", t=t).value for t in (0.05, 0.35, 0.6))
        left = abs(there - end) / max(abs(start - end), 1e-9)
        return found(f"{left:.0%} of the change is still to come", left <= 0.1)

    return any_reading({series: judge(rows.where(series)) for series in rows.series()})


def within_t(rows: Rows) -> Finding:
    """Whether a smaller t makes larger leaves."""
    own = rows.where("as printed, equal").sorted("t")
    return rises([own.all("classes")[0], own.all("classes")[-1]])


def error_at(epsilon: float, bound: Callable[[Measured], Finding]) -> Callable[[Rows], Finding]:
    """The error at some ε, for every tree and every reading of half."""

    def judge(rows: Rows) -> Finding:
        names = {"error": "closed ranges", "error_half": "half of the values"}
        return any_reading(
            {
                f"{series}, {words}": bound(rows.of(name, series, epsilon=epsilon))
                for series in rows.series()
                for name, words in names.items()
            }
        )

    return judge


def about_all(number: Measured) -> Finding:
    return near(number, 1.0, 0.1, f"{number.value:.0%}")


def little(number: Measured) -> Finding:
    return at_most(number, 0.1, f"{number.value:.1%}")


def breach_below(epsilon: float) -> Callable[[Rows], Finding]:
    """Whether the adversary does worse than the baseline, for every tree."""

    def judge(rows: Rows) -> Finding:
        number = rows.of("breach", epsilon=epsilon)
        return at_most(number, 0.0, number.text(percent=True, digits=2))

    return each_series(judge)


def classifiers(rows: Rows) -> Finding:
    apart = {row.series: abs(row.values["naive_bayes"] - row.values["look_up"]) for row in rows}
    told = ", ".join(f"{series}: {100 * gap:.1f} points" for series, gap in apart.items())
    return found(told, max(apart.values()) < 0.05)


def elsewhere(name: str, text: str) -> Callable[[Rows], Finding]:
    """A number about IPUMS, of the excerpt: it decides nothing."""
    return lambda rows: Finding(text.format(rows.where(data=CENSUS)[0].values[name]), "open")


def baseline(rows: Rows) -> Finding:
    number = rows.where(data=ADULT)[0].values["baseline"]
    return found(f"{number:.1%}", abs(number - 0.11) <= 0.005)
