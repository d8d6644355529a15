"""How rows of li2009's experiments judge what the paper states."""

from collections.abc import Callable

import numpy as np
from scipy.stats import spearmanr

from sfumato.reproduce.li2009.experiments import REQUIREMENTS
from sfumato.reproduce.queries import SELECTIVITIES
from sfumato.reproduce.rows import Measured, Rows
from sfumato.reproduce.statement import Finding, Judge, any_reading, falls, found, rises, share_below

PRINTED_SHARES = (
    *(0.1331, 0.1329, 0.1323, 0.1225, 0.1196, 0.1063, 0.0657, 0.0512, 0.0452),
    *(0.0327, 0.0314, 0.0216, 0.0052, 0.0003),
)
MOST = 0.75
"""Of a range, or of some settings: what is meant by almost everywhere."""
CUTS = {"median": "cuts at the median", "ncp": "cuts with the least information loss"}


def by_cut(judge: Callable[[Rows], Finding]) -> Judge:
    """The finding for each rule by which Mondrian can cut."""

    def both(rows: Rows) -> Finding:
        return any_reading({words: judge(rows.where(cut=cut)) for cut, words in CUTS.items() if rows.where(cut=cut)})

    return both


def shares(rows: Rows) -> Finding:
    shares = rows.where("a value revealed").numbers("share")
    worst = float(np.abs(np.array(shares) - PRINTED_SHARES).max())
    return found(f"differ by at most {worst:.5f}", worst <= 0.00015)


def k_5000(rows: Rows) -> Finding:
    p_loss, u_loss = (rows.of(name, "k-anonymity", k=5000).value for name in ("p_loss", "u_loss"))
    return found(f"({p_loss:.3f}, {u_loss:.4f})", abs(p_loss - 0.086) <= 0.0086 and abs(u_loss - 0.0288) <= 0.00288)


def spans(series: str) -> Judge:
    def judge(rows: Rows) -> Finding:
        p_loss = rows.where(series).numbers("p_loss")
        return found(f"{min(p_loss):.3f} to {max(p_loss):.3f}", max(p_loss) >= 0.5 and min(p_loss) <= 0.1)

    return by_cut(judge)


def best(rows: Rows) -> Finding:
    """Where the curve of t-closeness lies below those of the others that reach as far."""
    one = rows.where("t-closeness")
    shares = {
        name: share_below(one, rows.where(name), "p_loss", "u_loss")
        for name in ("k-anonymity", "ℓ-diversity", "semantic privacy")
    }
    told = ", ".join(f"below {name} over {share:.0%} of their range" for name, share in shares.items())
    return found(told, min(shares.values()) >= MOST)


def on_frontier(series: str, *, most: bool) -> Judge:
    """How many settings of a kind no other of the four kinds beats."""

    def judge(rows: Rows) -> Finding:
        of_four = Rows([row for row in rows if row.series in REQUIREMENTS])
        kept = [row.series for row in of_four if not beaten(row.values["p_loss"], row.values["u_loss"], of_four)]
        own, all_own = kept.count(series), len(of_four.where(series))
        return found(f"{own} of {all_own} on the frontier", (own >= MOST * all_own) == most)

    return by_cut(judge)


def beaten(p_loss: float, u_loss: float, rows: Rows) -> bool:
    pairs = zip(rows.numbers("p_loss"), rows.numbers("u_loss"), strict=True)
    return any(p <= p_loss and u <= u_loss and (p, u) != (p_loss, u_loss) for p, u in pairs)


def left_most(rows: Rows) -> Finding:
    """The three strictest t have most of what can be had: nine tenths of the way down from full suppression."""
    points = rows.where("t-closeness").sorted("t")[:3]
    trivial = 0.044
    gained = max(1 - row.values["u_loss"] / trivial for row in points)
    told = ", ".join(f"t = {row.setting['t']:g}: {1 - row.values['u_loss'] / trivial:.0%}" for row in points)
    return found(f"of the utility that suppression loses they keep {told}", gained >= 0.9)


def below_t(rows: Rows) -> Finding:
    """Releases that neither of the four kinds is needed for: other cuts, at the same requirement."""
    share = share_below(
        rows.where("t-closeness", cut="ncp"), rows.where("t-closeness", cut="median"), "p_loss", "u_loss"
    )
    return found(f"better cuts lie below it over {share:.0%} of its range", share > 0.5)


def all_below(limit: float, least: float) -> Judge:
    def judge(rows: Rows) -> Finding:
        losses = np.array([row.values["u_loss"] for row in rows if row.series in REQUIREMENTS])
        share = float((losses < limit).mean())
        return found(f"{share:.0%} of the settings, the largest {losses.max():.4f}", share >= least)

    return by_cut(judge)


def beyond_revealing(rows: Rows) -> Finding:
    losses = {l: rows.of("p_loss", "ℓ-diversity", l=l).value for l in (3, 3.5)}
    told = ", ".join(f"ℓ = {l}: {loss:.3f}" for l, loss in losses.items())
    return found(told, all(loss > 0.488 for loss in losses.values()))


def one_class(rows: Rows) -> Finding:
    classes = {float(row.setting["delta"]): row.values["classes"] for row in rows.where("δ below 1")}
    told = ", ".join(f"δ = {delta:g}: {number:.0f}" for delta, number in sorted(classes.items()))
    return found(f"{told} classes", all(number == 1 for number in classes.values()))


def few_classes(rows: Rows) -> Finding:
    most = max(rows.where("semantic privacy").numbers("classes"))
    others = min(max(rows.where(name).numbers("classes")) for name in ("k-anonymity", "ℓ-diversity", "t-closeness"))
    return found(f"at most {most:.0f} classes, the others up to {others:.0f} and more", most < others / 10)


def bucketized(rows: Rows) -> Finding:
    shares = [
        share_below(rows.where(f"{name}, bucketized"), rows.where(f"{name}, generalized"), "p_loss", "u_loss")
        for name in ("ℓ-diversity", "t-closeness")
    ]
    return found(f"below over {shares[0]:.0%} (ℓ) and {shares[1]:.0%} (t) of the range", min(shares) >= 0.95)


def substantially(rows: Rows) -> Finding:
    one, other = (rows.where(recoding=name).numbers("u_loss") for name in ("bucketize", "generalize"))
    ratio = float(np.median(np.array(one) / np.array(other)))
    return found(f"the median setting loses {1 - ratio:.0%} less utility", ratio <= 0.9)


def same_pattern(rows: Rows) -> Finding:
    ranks = {
        recoding: float(spearmanr(some.numbers("error"), some.numbers("u_loss")).statistic)
        for recoding in ("bucketize", "generalize")
        if (some := rows.where(recoding=recoding))
    }
    told = ", ".join(f"{recoding}d {rank:.2f}" for recoding, rank in ranks.items())
    return found(f"rank correlation {told}", min(ranks.values()) > 0.8)


def t_answers_best(rows: Rows) -> Finding:
    rows = rows.where(recoding="bucketize")
    shares = [
        share_below(rows.where("t-closeness"), rows.where(name), "p_loss", "error")
        for name in ("k-anonymity", "ℓ-diversity", "semantic privacy")
    ]
    return found(f"below the others over {min(shares):.0%} of their range and more", min(shares) >= MOST)


def _means(rows: Rows, by: str, name: str) -> list[Measured]:
    """The mean of a value over all t, by another part of the setting."""
    means = []
    for value in sorted({float(row.setting[by]) for row in rows}):
        some = Rows([row for row in rows if row.setting[by] == value]).all(name)
        mean, half = np.mean([one.value for one in some]), np.mean([(one.high - one.low) / 2 for one in some])
        means.append(Measured(float(mean), float(mean - half), float(mean + half)))
    return means


def falls_by(by: str) -> Callable[[Rows], Finding]:
    def judge(rows: Rows) -> Finding:
        numbers = _means(rows, by, "error")
        return falls(numbers, " → ".join(one.text(percent=True, digits=2) for one in numbers))

    return judge


def more_people(rows: Rows) -> Finding:
    """Whether more conditions at one selectivity are about more people."""
    shares = _means(rows, "qd", "people")
    return rises(shares, " → ".join(f"{share.value:.2%}" for share in shares))


def by_selectivity(judge: Callable[[Rows], Finding]) -> Judge:
    def each(rows: Rows) -> Finding:
        readings = [one for one in SELECTIVITIES if rows.where(reading=one)]
        return any_reading({one: judge(rows.where(reading=one)) for one in readings})

    return each


def loses_less(rows: Rows) -> Finding:
    """The share that a value could have in a class, and the largest that one has."""
    row = rows.where("ℓ-diversity", l=5.5)[0]
    return found(
        f"at ℓ = 5.5 no value has more than {row.values['largest_share']:.3f}, where 0.182 is allowed",
        row.values["largest_share"] < 1 / 5.5,
    )


def average(rows: Rows) -> Finding:
    """How much more than the average the worst-off person loses."""
    rows = rows.where("k-anonymity", cut="median")
    ratios = [row.values["p_loss"] / row.values["mean_p_loss"] for row in rows]
    return found(
        f"the worst-off person loses {min(ratios):.1f} to {max(ratios):.1f} times the average", min(ratios) > 1
    )


def at_most_share(rows: Rows) -> Finding:
    rows = rows.where("ℓ-diversity")
    slack = max(row.values["largest_share"] * float(row.setting["l"]) for row in rows)
    return found(f"largest share of a value times ℓ: {slack:.3f}", slack <= 1 + 1e-9)
